/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: it runs captured work immediately, and nothing at a replay.
 * Conform: L1 capture.refused
 * Conform: L1 capture.replay
 */
#include "right.h"

static tn_status nothing(void *device, const struct tn_graph_args *args)
{
	(void)device;
	(void)args;
	return TN_OK;
}

static tn_status capture_end(void *device, const struct tn_graph_args *args, void **graph)
{
	(void)args;
	*graph = device;
	return TN_OK;
}

static void break_it(struct right *right)
{
	right->capture.capture_begin = nothing;
	right->capture.capture_end = capture_end;
	right->capture.graph_launch = nothing;
	right->capture.graph_release = nothing;
}

RIGHT_PLUGIN("captures_nothing");
