/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: a running sum restarts at each block of a long line.
 * Conform: L2 scan.long
 * Doctor: order.scan
 */
#include "right_lines.h"

static tn_status scan(void *device, const struct tn_scan_args *args)
{
	const struct lines lines = {.carries = 4096};
	(void)device;
	return right_scan_by(&lines, args);
}

static void break_it(struct right *right)
{
	right->scan.scan = scan;
}

RIGHT_PLUGIN("forgets_carry");
