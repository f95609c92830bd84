/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: the last of equal elements comes first.
 * Conform: L2 sort.stable
 * Doctor: order.sort
 */
#include "right_lines.h"

static tn_status sort(void *device, const struct tn_sort_args *args)
{
	const struct lines lines = {.stands_before = right_stands_before,
				    .last_of_equals_first = 1};
	(void)device;
	return right_sort_by(&lines, args);
}

static void break_it(struct right *right)
{
	right->sort.sort = sort;
}

RIGHT_PLUGIN("unstable_sort");
