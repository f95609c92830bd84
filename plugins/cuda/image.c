/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Checks image operands, and counts the windows that fit along an axis.
 */
#include "image.h"

#include "status.h"

tn_status cuda_check_image(const struct tn_call *call, const char *operation, const char *name,
			   const struct tn_operand *operand, tn_dtype dtype,
			   enum tn_plugin_role role)
{
	tn_status status =
		tn_plugin_check_operand(call, operation, name, 0, operand, CUDA_STORAGE, role);
	if (status)
		return status;
	if (operand->dtype != dtype || tn_plugin_dtype_kind(dtype) != TN_PLUGIN_KIND_FLOATING)
		return tn_plugin_fail(
			call->error, TN_UNSUPPORTED, operation,
			"%s: dtype %d with x of dtype %d: expected the same of f16, bf16, f32 "
			"and f64 for all",
			name, (int)operand->dtype, (int)dtype);
	if (operand->rank != 4)
		return tn_plugin_fail(call->error, TN_SHAPE, operation, "%s: rank %u, expected 4",
				      name, operand->rank);
	return TN_OK;
}

int cuda_is_channels_last(const struct tn_operand *operand)
{
	return operand->strides[1] == 1 && operand->shape[1] > 1;
}

int64_t cuda_windows(int64_t length, const int64_t padding[2], int64_t reach, int64_t stride)
{
	if (length > INT32_MAX || padding[0] > INT32_MAX || padding[1] > INT32_MAX)
		return 0;
	int64_t room = length + padding[0] + padding[1] - reach;
	return room < 0 ? 0 : room / stride + 1;
}
