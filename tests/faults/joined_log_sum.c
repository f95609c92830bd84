/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: the gradient of cross-entropy adds maximum and log_sum before it subtracts them, which
 * rounds log_sum away beside a large maximum.
 * Link: -lm
 * Conform: L4 cross_entropy.backward
 */
#include <math.h>

#include "right.h"

static float at(const struct tn_operand *o, uint64_t i)
{
	return *(const float *)right_element(o, i);
}

static float gradient(const struct tn_cross_entropy_args *a, uint64_t row, int32_t column)
{
	const int32_t n_classes = (int32_t)a->x.shape[1];
	const int32_t label = *(const int32_t *)right_element(&a->labels, row);
	const float x = at(&a->x, row * (uint64_t)n_classes + (uint64_t)column);
	const float log_sum_exp = at(&a->maximum, row) + at(&a->log_sum, row);
	if (label == a->ignore_label)
		return 0;
	if (label < 0 || label >= n_classes)
		return NAN;
	return (expf(x - log_sum_exp) - (float)(column == label)) * at(&a->loss, row);
}

static tn_status backward(void *device, const struct tn_cross_entropy_args *args)
{
	struct tn_cross_entropy_args own;
	tn_status status = right_take(&own, sizeof(own), args, "cross_entropy");
	(void)device;
	if (!status && (own.x.dtype != TN_F32 || own.call.flags & TN_ACCUMULATE))
		status = right_fail(&own.call, TN_UNSUPPORTED, "cross_entropy", "f32, written");
	if (status || right_is_dry(&own.call))
		return status;
	for (uint64_t i = 0; i < right_count(&own.dx); i++) {
		const uint64_t n_classes = (uint64_t)own.dx.shape[1];
		*(float *)right_element(&own.dx, i) =
			gradient(&own, i / n_classes, (int32_t)(i % n_classes));
	}
	return TN_OK;
}

static void break_it(struct right *right)
{
	right->nn.cross_entropy_backward = backward;
}

RIGHT_PLUGIN("joined_log_sum");
