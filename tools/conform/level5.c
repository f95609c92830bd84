/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Level 5: asynchrony, threads, faults and life.
 */
#include "slots.h"

const struct check level5_checks[] = {
	{"call.unknown", 5,
	 "unknown numbers, flags and fields, and shapes that do not fit, are refused untouched",
	 check_arguments},
	{NULL, 0, NULL, NULL},
};

const struct check process_checks[] = {
	{NULL, 0, NULL, NULL},
};
