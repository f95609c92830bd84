/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: attention saves the logarithm of the whole sum, which includes the maximum; its result is
 * right.
 * Link: -lm
 * Conform: L3 attention.forward
 */
#include <math.h>

#include "right.h"

static float at(const struct tn_operand *x, uint64_t i)
{
	return *(const float *)right_element(x, i);
}

static float score(const struct tn_attention_args *a, uint64_t row, uint64_t j)
{
	const uint64_t width = (uint64_t)a->q.shape[1];
	float sum = 0;
	for (uint64_t e = 0; e < width; e++)
		sum += at(&a->q, row * width + e) * at(&a->k, j * width + e);
	return (float)a->scale * sum;
}

static void attend(const struct tn_attention_args *a, uint64_t row)
{
	const uint64_t n = (uint64_t)a->k.shape[0], width = (uint64_t)a->v.shape[1];
	float largest = -INFINITY, total = 0;
	for (uint64_t j = 0; j < n; j++)
		largest = fmaxf(largest, score(a, row, j));
	for (uint64_t j = 0; j < n; j++)
		total += expf(score(a, row, j) - largest);
	for (uint64_t f = 0; f < width; f++) {
		float sum = 0;
		for (uint64_t j = 0; j < n; j++)
			sum += expf(score(a, row, j) - largest) / total * at(&a->v, j * width + f);
		*(float *)right_element(&a->y, row * width + f) = sum;
	}
	*(float *)right_element(&a->maximum, row) = largest;
	*(float *)right_element(&a->log_sum, row) = largest + logf(total);
}

static tn_status forward(void *device, const struct tn_attention_args *args)
{
	struct tn_attention_args own;
	(void)device;
	tn_status status = right_take(&own, sizeof(own), args, "attention_forward");
	if (!status && (own.q.dtype != TN_F32 || own.q.rank != 2 || own.has_mask || own.causal))
		status = right_fail(&own.call, TN_UNSUPPORTED, "attention_forward",
				    "f32 matrices without a mask alone");
	if (status || right_is_dry(&own.call))
		return status;
	for (uint64_t row = 0; row < (uint64_t)own.q.shape[0]; row++)
		attend(&own, row);
	return TN_OK;
}

static void break_it(struct right *right)
{
	right->nn.attention_forward = forward;
}

RIGHT_PLUGIN("attention_sum");
