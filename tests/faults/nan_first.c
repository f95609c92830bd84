/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: its sort puts NaN below all numbers.
 * Conform: L2 sort.stable
 * Doctor: order.sort
 */
#include "right_lines.h"

static int stands_before(float a, float b, int is_descending)
{
	if (a != a || b != b)
		return right_stands_before(a, b, !is_descending);
	return right_stands_before(a, b, is_descending);
}

static tn_status sort(void *device, const struct tn_sort_args *args)
{
	const struct lines lines = {.stands_before = stands_before};
	(void)device;
	return right_sort_by(&lines, args);
}

static void break_it(struct right *right)
{
	right->sort.sort = sort;
}

RIGHT_PLUGIN("nan_first");
