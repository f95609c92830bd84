/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: the gradient that a batch norm passes to the residual is dy unchanged, even where the
 * activation cut off the result.
 * Link: -lm
 * Conform: L4 norm.dresidual
 * Doctor: layers.batch_norm
 */
#include <math.h>

#include "right.h"

static float *at(const struct tn_operand *o, uint64_t i)
{
	return (float *)right_element(o, i);
}

/* dy after the activation's derivative. */
static float passed(const struct tn_norm_args *a, uint64_t i)
{
	float result = a->activation ? *at(&a->result, i) : 1;
	int stops = a->activation &&
		    (!(result > 0) || (a->activation == TN_ACTIVATION_RELU6 && !(result < 6)));
	return stops ? 0 : *at(&a->y, i);
}

static void one_channel(const struct tn_norm_args *a, uint64_t channel)
{
	uint64_t n = right_count(&a->x), channels = (uint64_t)a->x.shape[1], inner = 1;
	double mean = *at(&a->mean, channel), rstd = *at(&a->rstd, channel), sums[2] = {0, 0};
	double w = a->has_affine ? *at(&a->w, channel) : 1;
	for (uint32_t axis = 2; axis < a->x.rank; axis++)
		inner *= (uint64_t)a->x.shape[axis];
	for (uint64_t i = 0; i < n; i++) {
		if (i / inner % channels != channel)
			continue;
		sums[0] += passed(a, i);
		sums[1] += passed(a, i) * (*at(&a->x, i) - mean) * rstd;
	}
	double share = a->use_statistics ? 0 : (double)channels / (double)n;
	for (uint64_t i = 0; i < n; i++) {
		double xhat = (*at(&a->x, i) - mean) * rstd;
		if (i / inner % channels != channel)
			continue;
		if (a->wants & 1)
			*at(&a->dx, i) =
				(float)(rstd * w *
					(passed(a, i) - sums[0] * share - xhat * sums[1] * share));
		if (a->wants & 4)
			*at(&a->dresidual, i) = *at(&a->y, i);
	}
	if (a->wants & 2) {
		*at(&a->dw, channel) = (float)sums[1];
		*at(&a->db, channel) = (float)sums[0];
	}
}

static tn_status backward(void *device, const struct tn_norm_args *args)
{
	struct tn_norm_args own;
	tn_status status = right_take(&own, sizeof(own), args, "batch_norm_backward");
	(void)device;
	if (!status && own.x.dtype != TN_F32)
		status = right_fail(&own.call, TN_UNSUPPORTED, "batch_norm_backward", "f32");
	if (status || right_is_dry(&own.call))
		return status;
	for (uint64_t channel = 0; channel < (uint64_t)own.x.shape[1]; channel++)
		one_channel(&own, channel);
	return TN_OK;
}

static void break_it(struct right *right)
{
	right->nn.batch_norm_backward = backward;
}

RIGHT_PLUGIN("whole_dresidual");
