/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: every fourth random word has a wrong lowest bit.
 * Conform: L2 map.random
 * Doctor: random.bits
 */
#include "right.h"

static int is_random(const struct tn_program *program)
{
	for (uint32_t i = 0; i < program->n_instructions; i++) {
		if (program->instructions[i].op == TN_OP_RANDOM)
			return 1;
	}
	return 0;
}

static tn_status map(void *device, const struct tn_map_args *args)
{
	tn_status status = right_map(device, args);
	const struct tn_operand *out = args->outputs;
	if (status || args->call.flags & TN_DRY_RUN || !is_random(args->program) ||
	    out->dtype != TN_U32)
		return status;
	for (uint64_t i = 3, n = right_count(out); i < n; i += 4)
		*(uint32_t *)right_element(out, i) ^= 1;
	return TN_OK;
}

static void break_it(struct right *right)
{
	right->compute.map = map;
}

RIGHT_PLUGIN("wrong_random");
