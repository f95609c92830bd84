/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: its report never ends: every line exists.
 * Conform: L1 report.lines
 */
#include "right.h"

static tn_status line(void *device, uint32_t index, struct tn_report_line *out)
{
	(void)index;
	return right_line(device, 0, out);
}

static void break_it(struct right *right)
{
	right->report.line = line;
}

RIGHT_PLUGIN("endless_report");
