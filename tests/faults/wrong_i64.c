/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: i64 results are computed in double, so that large ones lose low bits.
 * Conform: L2 map.opcodes
 * Doctor: elements.integers
 */
#include "right.h"

static tn_status map(void *device, const struct tn_map_args *args)
{
	tn_status status = right_map(device, args);
	if (status || args->call.flags & TN_DRY_RUN)
		return status;
	for (uint32_t j = 0; j < args->program->n_outputs; j++) {
		const struct tn_operand *out = &args->outputs[j];
		for (uint64_t i = 0, n = right_count(out); out->dtype == TN_I64 && i < n; i++) {
			int64_t *element = (int64_t *)right_element(out, i);
			double rounded = (double)*element;
			if (rounded < 0x1p63)
				*element = (int64_t)rounded;
		}
	}
	return TN_OK;
}

static void break_it(struct right *right)
{
	right->compute.map = map;
}

RIGHT_PLUGIN("wrong_i64");
