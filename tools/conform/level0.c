/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Level 0: the file and its version.
 */
#include "conform.h"

const struct check level0_checks[] = {
	{NULL, 0, NULL, NULL},
};
