/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: a product that must not be contracted, and a sum, become one operation that rounds once.
 * Link: -lm
 * Conform: L2 map.opcodes
 */
#include <math.h>

#include "right.h"

/* z = mul_rounded(x, x) + c of f32? */
static int is_contracted(const struct tn_program *program)
{
	const struct tn_instruction *last = program->instructions + program->n_instructions - 1;
	return program->n_inputs == 2 && program->n_outputs == 1 && last->op == TN_OP_ADD &&
	       last->dtype == TN_F32 &&
	       (program->instructions[last->a].op == TN_OP_MUL_ROUNDED ||
		program->instructions[last->b].op == TN_OP_MUL_ROUNDED);
}

static tn_status map(void *device, const struct tn_map_args *args)
{
	struct tn_map_args own;
	tn_status status = right_take(&own, sizeof(own), args, "map");
	if (status || !is_contracted(own.program) || right_is_dry(&own.call))
		return right_map(device, args);
	for (uint64_t i = 0, n = right_count(own.outputs); i < n; i++) {
		const float x = *(const float *)right_element(&own.inputs[0], i);
		const float c = *(const float *)right_element(&own.inputs[1], i);
		*(float *)right_element(own.outputs, i) = fmaf(x, x, c);
	}
	return TN_OK;
}

static void break_it(struct right *right)
{
	right->compute.map = map;
}

RIGHT_PLUGIN("contracts");
