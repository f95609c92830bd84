/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What a backend does to its process: checks that run alone, or that the parent sees (verdict.c).
 */
#include "conform.h"

const struct check process_checks[] = {
	{"process.silence", 5, "nothing is written to standard output or error", NULL},
	{"process.close", 5, "close, destroy and the end of the process neither crash nor hang",
	 NULL},
	{"threads.races", 5, "no thread sanitizer has anything to report", NULL},
	{NULL, 0, NULL, NULL},
};
