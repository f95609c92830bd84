/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: max-pooling returns the last of equal elements.
 * Conform: L3 pool2d.forward
 * Conform: L4 cross.pool2d
 * Doctor: layers.max_pool
 */
#include "right.h"

/* The largest x of a window, and its index in the plane. */
static void window(const struct tn_pool2d_args *a, uint64_t i)
{
	const struct tn_operand *x = &a->x, *y = &a->y;
	uint64_t q = i % (uint64_t)y->shape[3],
		 p = i / (uint64_t)y->shape[3] % (uint64_t)y->shape[2];
	uint64_t plane = i / (uint64_t)y->shape[3] / (uint64_t)y->shape[2];
	int64_t top = (int64_t)p * a->stride[0] - a->padding[0];
	int64_t left = (int64_t)q * a->stride[1] - a->padding[1], index = -1;
	float best = 0;
	for (int64_t h = top; h < top + a->kernel[0]; h++) {
		for (int64_t w = left; w < left + a->kernel[1]; w++) {
			if (h < 0 || w < 0 || h >= x->shape[2] || w >= x->shape[3])
				continue;
			int64_t at = h * x->shape[3] + w;
			float value = *(float *)right_element(
				x, plane * (uint64_t)(x->shape[2] * x->shape[3]) + (uint64_t)at);
			if (index < 0 || value >= best || value != value) {
				best = value;
				index = at;
			}
			if (value != value)
				h = top + a->kernel[0], w = left + a->kernel[1];
		}
	}
	*(float *)right_element(y, i) = best;
	if (a->has_index)
		*(int32_t *)right_element(&a->index, i) = (int32_t)index;
}

static tn_status pool2d_forward(void *device, const struct tn_pool2d_args *args)
{
	struct tn_pool2d_args own;
	(void)device;
	tn_status status = right_take(&own, sizeof(own), args, "pool2d_forward");
	if (!status && (own.kind != TN_POOL_MAX || own.x.dtype != TN_F32 || own.y.dtype != TN_F32))
		status = right_fail(&own.call, TN_UNSUPPORTED, "pool2d_forward", "max of f32");
	if (status || right_is_dry(&own.call))
		return status;
	for (uint64_t i = 0, n = right_count(&own.y); i < n; i++)
		window(&own, i);
	return TN_OK;
}

static void break_it(struct right *right)
{
	right->nn.pool2d_forward = pool2d_forward;
}

RIGHT_PLUGIN("pool_tie");
