/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: the weight gradient of conv2d ignores the dilation.
 * Conform: L4 conv2d.backward
 * Conform: L4 cross.conv2d
 * Conform: L4 gradients.conv2d
 * Doctor: layers.conv2d
 */
#include "right.h"

/* dw[o,c,r,s] = sum over n,p,q of dy[n,o,p,q] x[n, c, p stride + r - pad, ...], x 0 outside. */
static float weight(const struct tn_conv2d_args *a, const int64_t *at)
{
	const struct tn_operand *x = &a->x, *y = &a->y;
	int64_t group = at[0] / (y->shape[1] / a->groups), channel = group * a->w.shape[1] + at[1];
	float sum = 0;
	for (int64_t n = 0; n < x->shape[0]; n++) {
		for (int64_t p = 0; p < y->shape[2]; p++) {
			for (int64_t q = 0; q < y->shape[3]; q++) {
				int64_t h = p * a->stride[0] + at[2] - a->padding[0];
				int64_t v = q * a->stride[1] + at[3] - a->padding[1];
				if (h < 0 || h >= x->shape[2] || v < 0 || v >= x->shape[3])
					continue;
				int64_t i = ((n * y->shape[1] + at[0]) * y->shape[2] + p) *
						    y->shape[3] +
					    q;
				int64_t j = ((n * x->shape[1] + channel) * x->shape[2] + h) *
						    x->shape[3] +
					    v;
				sum += *(float *)right_element(y, (uint64_t)i) *
				       *(float *)right_element(x, (uint64_t)j);
			}
		}
	}
	return sum;
}

static tn_status weight_gradient(void *device, const struct tn_conv2d_args *args)
{
	struct tn_conv2d_args own;
	(void)device;
	tn_status status = right_take(&own, sizeof(own), args, "conv2d_weight_gradient");
	if (!status && (own.x.dtype != TN_F32 || own.w.dtype != TN_F32 || own.y.dtype != TN_F32))
		status = right_fail(&own.call, TN_UNSUPPORTED, "conv2d_weight_gradient", "f32");
	if (status || right_is_dry(&own.call))
		return status;
	for (uint64_t i = 0, n = right_count(&own.w); i < n; i++) {
		uint64_t s = (uint64_t)own.w.shape[3], r = (uint64_t)own.w.shape[2];
		uint64_t c = (uint64_t)own.w.shape[1];
		int64_t at[4] = {(int64_t)(i / s / r / c), (int64_t)(i / s / r % c),
				 (int64_t)(i / s % r), (int64_t)(i % s)};
		*(float *)right_element(&own.w, i) = weight(&own, at);
	}
	return TN_OK;
}

static void break_it(struct right *right)
{
	right->nn.conv2d_weight_gradient = weight_gradient;
}

RIGHT_PLUGIN("conv_gradient");
