/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: map walks an axis forwards even if its stride is negative.
 * Conform: L2 map.layouts
 * Conform: L3 layers.views
 * Doctor: copies.strided
 */
#include "right.h"

static tn_status map(void *device, const struct tn_map_args *args)
{
	struct tn_operand inputs[TN_PROGRAM_MAX_INPUTS];
	struct tn_map_args own;
	if (tn_arguments_take(&own, sizeof(own), args) || !own.program ||
	    own.program->n_inputs > TN_PROGRAM_MAX_INPUTS || !own.inputs)
		return right_map(device, args);
	for (uint32_t i = 0; i < own.program->n_inputs; i++) {
		struct tn_operand *x = &inputs[i];
		*x = own.inputs[i];
		for (uint32_t axis = 0; x->rank <= TN_MAX_RANK && axis < x->rank; axis++) {
			if (x->strides[axis] >= 0 || !x->buffer)
				continue;
			x->offset += (uint64_t)((x->shape[axis] - 1) * x->strides[axis]) *
				     tn_dtype_size(x->dtype);
			x->strides[axis] = -x->strides[axis];
		}
	}
	own.inputs = inputs;
	return right_map(device, &own);
}

static void break_it(struct right *right)
{
	right->compute.map = map;
}

RIGHT_PLUGIN("ignores_sign");
