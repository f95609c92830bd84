/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * No fault: the baseline of the others.
 */
#include "right_lines.h"

static void break_it(struct right *right)
{
	right->n_devices = 2;
	right->sort.sort = right_sort;
	right->scan.scan = right_scan;
}

RIGHT_PLUGIN("right");
