/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: a product that must not be contracted, and a sum, become one operation that rounds once.
 * Link: -lm
 * Conform: L2 map.opcodes
 * Conform: L3 layers.compared
 */
#include <math.h>
#include <string.h>

#include "right.h"

/* A sum of f32 with a product that is rounded: z = mul_rounded(x, x) + c of two inputs, or
 * mul_rounded(s, x) + t of one and two scalars? */
static int is_contracted(const struct tn_program *program)
{
	const struct tn_instruction *last = program->instructions + program->n_instructions - 1;
	return (program->n_inputs == 2 || (program->n_inputs == 1 && program->n_scalars == 2)) &&
	       program->n_outputs == 1 && last->op == TN_OP_ADD && last->dtype == TN_F32 &&
	       (program->instructions[last->a].op == TN_OP_MUL_ROUNDED ||
		program->instructions[last->b].op == TN_OP_MUL_ROUNDED);
}

static float scalar(const struct tn_map_args *args, int i)
{
	const uint32_t bits = (uint32_t)args->scalars[i].bits;
	float value;
	memcpy(&value, &bits, sizeof(value));
	return value;
}

static tn_status map(void *device, const struct tn_map_args *args)
{
	struct tn_map_args own;
	tn_status status = right_take(&own, sizeof(own), args, "map");
	if (status || !is_contracted(own.program) || right_is_dry(&own.call))
		return right_map(device, args);
	for (uint64_t i = 0, n = right_count(own.outputs); i < n; i++) {
		const float x = *(const float *)right_element(&own.inputs[0], i);
		const int has_c = own.program->n_inputs == 2;
		const float s = has_c ? x : scalar(&own, 0);
		const float c =
			has_c ? *(const float *)right_element(&own.inputs[1], i) : scalar(&own, 1);
		*(float *)right_element(own.outputs, i) = fmaf(s, x, c);
	}
	return TN_OK;
}

static void break_it(struct right *right)
{
	right->compute.map = map;
}

RIGHT_PLUGIN("contracts");
