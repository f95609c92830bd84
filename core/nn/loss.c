/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The checks, conversions and reductions that all losses share.
 */
#include "nn/loss.h"

#include <inttypes.h>

#include "array/make.h"
#include "array/shape.h"
#include "base/dtype.h"

tn_status tn_loss_check_reduction(struct tn_runtime *rt, const char *operation, uint32_t reduction,
				  uint32_t last)
{
	if (reduction <= last)
		return TN_OK;
	return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
			       "reduction: expected TN_REDUCTION_MEAN, SUM%s, found %" PRIu32,
			       last == TN_REDUCTION_NONE ? " or NONE" : ", NONE or BATCH_MEAN",
			       reduction);
}

tn_status tn_loss_check_input(const char *operation, const tn_array *input)
{
	if (tn_is_floating(input->dtype))
		return TN_OK;
	return tn_runtime_fail(input->runtime, TN_DTYPE, operation,
			       "input: expected a floating type, found %s",
			       tn_dtype_name(input->dtype));
}

tn_array *tn_loss_reduce(tn_array *losses, uint32_t reduction)
{
	tn_array *result = NULL;
	if (!losses || reduction == TN_REDUCTION_NONE)
		return losses;
	if (reduction == TN_REDUCTION_MEAN) {
		result = tn_mean(losses, TN_ALL_AXES, NULL, 0);
	} else {
		result = tn_sum(losses, TN_ALL_AXES, NULL, 0);
		if (reduction == TN_REDUCTION_BATCH_MEAN) {
			tn_array *sum = result;
			double n = losses->rank ? (double)losses->shape[0] : 1.0;
			result = tn_affine(sum, 1.0 / n, 0.0);
			tn_array_destroy(sum);
		}
	}
	tn_array_destroy(losses);
	return result;
}

tn_status tn_loss_check_weight(const char *operation, const tn_array *input, const tn_array *weight,
			       int64_t classes)
{
	const tn_array *both[] = {input, weight};
	char found[TN_SHAPE_TEXT];
	if (!weight)
		return TN_OK;
	tn_status status = tn_begin_into(2, both, operation);
	if (status)
		return status;
	if (!tn_is_floating(weight->dtype))
		return tn_runtime_fail(input->runtime, TN_DTYPE, operation,
				       "weight: expected a floating type, found %s",
				       tn_dtype_name(weight->dtype));
	if (weight->rank == 1 && weight->shape[0] == classes)
		return TN_OK;
	return tn_runtime_fail(input->runtime, TN_SHAPE, operation,
			       "weight: expected one for each of %lld classes, found shape %s",
			       (long long)classes, tn_array_text(weight, found));
}

const tn_array *tn_loss_in_dtype(const tn_array *a, tn_dtype dtype)
{
	return a && a->dtype != dtype ? tn_astype(a, dtype) : a;
}
