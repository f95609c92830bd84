/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Level 0: the file and its version.
 */
#include "conform.h"

const struct check level0_checks[] = {
	{"file.loads", 0, "the plugin loads, makes an instance, and opens its device", NULL},
	{NULL, 0, NULL, NULL},
};
