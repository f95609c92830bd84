/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: of equal indices a scatter that adds takes the last alone.
 * Conform: L2 copy.scatter
 */
#include "right.h"

/* The element of the output that index j of a vector chooses; NULL: none. */
static float *place_of(const struct tn_gather_args *a, uint64_t j)
{
	const int64_t length = a->output.shape[0];
	int64_t index = a->indices.dtype == TN_I32
				? *(const int32_t *)right_element(&a->indices, j)
				: *(const int64_t *)right_element(&a->indices, j);
	if (index < 0)
		index += length;
	return index < 0 || index >= length ? NULL
					    : (float *)right_element(&a->output, (uint64_t)index);
}

static tn_status scatter(void *device, const struct tn_gather_args *args)
{
	struct tn_gather_args own;
	float before[64];
	(void)device;
	tn_status status = right_take(&own, sizeof(own), args, "scatter");
	if (!status &&
	    (own.input.dtype != TN_F32 || own.output.dtype != TN_F32 || own.output.rank != 1 ||
	     own.output.shape[0] > 64 || own.mode != TN_SCATTER_ADD))
		status = right_fail(&own.call, TN_UNSUPPORTED, "scatter", "sums of vectors alone");
	if (status || right_is_dry(&own.call))
		return status;
	for (uint64_t i = 0, n = right_count(&own.output); i < n; i++)
		before[i] = *(const float *)right_element(&own.output, i);
	for (uint64_t j = 0, n = right_count(&own.input); j < n; j++) {
		float *to = place_of(&own, j);
		for (uint64_t i = 0; to && i < right_count(&own.output); i++)
			if (to == (float *)right_element(&own.output, i))
				*to = before[i] + *(const float *)right_element(&own.input, j);
	}
	return TN_OK;
}

static void break_it(struct right *right)
{
	right->copy.scatter = scatter;
}

RIGHT_PLUGIN("scatter_last");
