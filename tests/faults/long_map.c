/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: a map of more than a million elements skips the last one.
 * Conform: L2 map.long
 * Doctor: elements.long
 */
#include "right.h"

static tn_status map(void *device, const struct tn_map_args *args)
{
	struct tn_operand in[8], out[4];
	struct tn_map_args own = *args;
	if (args->outputs[0].rank != 1 || args->outputs[0].shape[0] < 1000000)
		return right_map(device, args);
	for (uint32_t i = 0; i < args->program->n_inputs; i++) {
		in[i] = args->inputs[i];
		in[i].shape[0]--;
	}
	for (uint32_t i = 0; i < args->program->n_outputs; i++) {
		out[i] = args->outputs[i];
		out[i].shape[0]--;
	}
	own.inputs = in;
	own.outputs = out;
	return right_map(device, &own);
}

static void break_it(struct right *right)
{
	right->compute.map = map;
}

RIGHT_PLUGIN("long_map");
