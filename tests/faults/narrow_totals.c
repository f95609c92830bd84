/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: a scatter-add of f16 to f32 rounds each total to f16.
 * Conform: L2 copy.scatter_add
 */
#include <tenon/plugin.h>

#include "right.h"

/* The place in the output that element i of the input is added to; NULL: none. */
static float *place_of(const struct tn_gather_args *a, uint64_t i)
{
	const int64_t length = a->output.shape[a->axis];
	uint64_t at = 0, below = 1;
	for (uint32_t axis = a->input.rank; axis-- > 0;) {
		const uint64_t j = i % (uint64_t)a->input.shape[axis];
		i /= (uint64_t)a->input.shape[axis];
		int64_t index = (int64_t)j;
		if (axis == a->axis && a->indices.dtype == TN_I32)
			index = *(const int32_t *)right_element(&a->indices, j);
		else if (axis == a->axis)
			index = *(const int64_t *)right_element(&a->indices, j);
		if (axis == a->axis && index < 0)
			index += length;
		if (axis == a->axis && (index < 0 || index >= length))
			return NULL;
		at += (uint64_t)index * below;
		below *= (uint64_t)a->output.shape[axis];
	}
	return (float *)right_element(&a->output, at);
}

static tn_status scatter_add(void *device, const struct tn_gather_args *args)
{
	struct tn_gather_args own;
	(void)device;
	tn_status status = right_take(&own, sizeof(own), args, "scatter_add");
	if (!status && (own.input.dtype != TN_F16 || own.output.dtype != TN_F32))
		status = right_fail(&own.call, TN_UNSUPPORTED, "scatter_add", "f16 to f32 alone");
	if (status || right_is_dry(&own.call))
		return status;
	for (uint64_t i = 0, n = right_count(&own.input); i < n; i++) {
		const uint16_t term = *(const uint16_t *)right_element(&own.input, i);
		float *total = place_of(&own, i);
		if (total)
			*total = tn_plugin_f32_of_f16(
				tn_plugin_f16_of_f32(*total + tn_plugin_f32_of_f16(term)));
	}
	return TN_OK;
}

static void break_it(struct right *right)
{
	right->copy.scatter_add = scatter_add;
}

RIGHT_PLUGIN("narrow_totals");
