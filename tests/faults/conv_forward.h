/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A correct convolution for faults in its options: f32, no activation, `w` as an operand.
 */
#ifndef TN_TESTS_CONV_FORWARD_H
#define TN_TESTS_CONV_FORWARD_H

#include "right.h"

static inline float conv_x(const struct tn_conv2d_args *a, const uint64_t *at, int64_t c, int64_t h,
			   int64_t v)
{
	const int64_t *x = a->x.shape;
	if (h < 0 || h >= x[2] || v < 0 || v >= x[3])
		return 0;
	uint64_t i = ((at[0] * (uint64_t)x[1] + (uint64_t)c) * (uint64_t)x[2] + (uint64_t)h) *
			     (uint64_t)x[3] +
		     (uint64_t)v;
	return *(const float *)right_element(&a->x, i);
}

/* Element (n, o, p, q) of y, without the residual. */
static inline float conv_sum(const struct tn_conv2d_args *a, const struct tn_operand *w,
			     const uint64_t *at)
{
	const int64_t *ws = a->w.shape;
	int64_t first = (int64_t)at[1] / (ws[0] / a->groups) * ws[1];
	float sum = a->has_bias ? *(const float *)right_element(&a->bias, at[1]) : 0;
	for (int64_t k = 0; k < ws[1] * ws[2] * ws[3]; k++) {
		int64_t c = k / ws[3] / ws[2], r = k / ws[3] % ws[2], s = k % ws[3];
		uint64_t i = at[1] * (uint64_t)(ws[1] * ws[2] * ws[3]) + (uint64_t)k;
		sum += *(const float *)right_element(w, i) *
		       conv_x(a, at, first + c,
			      (int64_t)at[2] * a->stride[0] + r * a->dilation[0] - a->padding[0],
			      (int64_t)at[3] * a->stride[1] + s * a->dilation[1] - a->padding[1]);
	}
	return sum;
}

static inline tn_status conv_take(struct tn_conv2d_args *own, const struct tn_conv2d_args *args,
				  const char *operation)
{
	tn_status status = right_take(own, sizeof(*own), args, operation);
	if (!status && (own->x.dtype != TN_F32 || own->w.dtype != TN_F32 || own->activation))
		status = right_fail(&own->call, TN_UNSUPPORTED, operation, "f32, no activation");
	return status;
}

static inline void conv_run(const struct tn_conv2d_args *a, const struct tn_operand *w,
			    int adds_residual)
{
	const int64_t *y = a->y.shape;
	for (uint64_t i = 0, n = right_count(&a->y); i < n; i++) {
		const uint64_t q = (uint64_t)y[3], p = (uint64_t)y[2], o = (uint64_t)y[1];
		const uint64_t at[] = {i / q / p / o, i / q / p % o, i / q % p, i % q};
		float sum = conv_sum(a, w, at);
		if (adds_residual && a->has_residual)
			sum += *(const float *)right_element(&a->residual, i);
		*(float *)right_element(&a->y, i) = sum;
	}
}

#endif
