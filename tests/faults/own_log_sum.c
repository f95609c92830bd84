/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: cross-entropy saves 0 and the sum, instead of maximum and logarithm.  Its own backward
 * expects that, so that the two agree, but no other backward can use it.
 * Link: -lm
 * Conform: L4 cross.cross_entropy
 */
#include <math.h>

#include "right.h"

static float *at(const struct tn_operand *o, uint64_t row, uint64_t column)
{
	return (float *)right_element(o, o->rank == 2 ? row * (uint64_t)o->shape[1] + column : row);
}

static int32_t label_of(const struct tn_cross_entropy_args *a, uint64_t row)
{
	return *(int32_t *)right_element(&a->labels, row);
}

static tn_status take(struct tn_cross_entropy_args *own, const struct tn_cross_entropy_args *args)
{
	tn_status status = right_take(own, sizeof(*own), args, "cross_entropy");
	if (!status && (own->x.dtype != TN_F32 || own->call.flags & TN_ACCUMULATE))
		status = right_fail(&own->call, TN_UNSUPPORTED, "cross_entropy", "f32, written");
	return status;
}

static tn_status forward(void *device, const struct tn_cross_entropy_args *args)
{
	struct tn_cross_entropy_args own;
	tn_status status = take(&own, args);
	(void)device;
	if (status || right_is_dry(&own.call))
		return status;
	for (uint64_t n = 0; n < right_count(&own.labels); n++) {
		int32_t label = label_of(&own, n);
		float sum = 0;
		for (int64_t c = 0; c < own.x.shape[1]; c++)
			sum += expf(*at(&own.x, n, (uint64_t)c));
		*at(&own.maximum, n, 0) = 0;
		*at(&own.log_sum, n, 0) = sum;
		if (label == own.ignore_label)
			*at(&own.loss, n, 0) = 0;
		else if (label < 0 || label >= own.x.shape[1])
			*at(&own.loss, n, 0) = NAN;
		else
			*at(&own.loss, n, 0) = logf(sum) - *at(&own.x, n, (uint64_t)label);
	}
	return TN_OK;
}

static float gradient(const struct tn_cross_entropy_args *a, uint64_t n, int64_t c)
{
	int32_t label = label_of(a, n);
	if (label == a->ignore_label)
		return 0;
	if (label < 0 || label >= a->x.shape[1])
		return NAN;
	return (expf(*at(&a->x, n, (uint64_t)c)) / *at(&a->log_sum, n, 0) - (float)(c == label)) *
	       *at(&a->loss, n, 0);
}

static tn_status backward(void *device, const struct tn_cross_entropy_args *args)
{
	struct tn_cross_entropy_args own;
	tn_status status = take(&own, args);
	(void)device;
	if (status || right_is_dry(&own.call))
		return status;
	for (uint64_t n = 0; n < right_count(&own.labels); n++)
		for (int64_t c = 0; c < own.x.shape[1]; c++)
			*at(&own.dx, n, (uint64_t)c) = gradient(&own, n, c);
	return TN_OK;
}

static void break_it(struct right *right)
{
	right->nn.cross_entropy_forward = forward;
	right->nn.cross_entropy_backward = backward;
}

RIGHT_PLUGIN("own_log_sum");
