/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: it begins a capture, and has no slot to end it.
 * Conform: L1 capture.table
 */
#include "right.h"

static tn_status capture_begin(void *device, const struct tn_graph_args *args)
{
	(void)device;
	(void)args;
	return TN_OK;
}

static void break_it(struct right *right)
{
	right->capture.capture_begin = capture_begin;
}

RIGHT_PLUGIN("half_capture");
