/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Checks operands of layers, and chooses how many threads share a line.
 */
#include "layer.h"

#include "status.h"

struct cuda_team cuda_team_of(int64_t n, int columns)
{
	struct cuda_team team = {.ly = 8, .columns = columns};
	if (!columns && n > 32)
		team.ly = n > 256 ? 256 : 32;
	team.lx = CUDA_TEAM_BLOCK / team.ly;
	return team;
}

tn_dtype cuda_sum_dtype(tn_dtype dtype)
{
	return dtype == TN_F64 ? TN_F64 : TN_F32;
}

tn_status cuda_check_real(const struct tn_call *call, const char *operation, const char *name,
			  const struct tn_operand *operand, tn_dtype dtype,
			  enum tn_plugin_role role, uint32_t rank, const int64_t *shape)
{
	tn_status status =
		tn_plugin_check_operand(call, operation, name, 0, operand, CUDA_STORAGE, role);
	if (status)
		return status;
	if (tn_plugin_dtype_kind(operand->dtype) != TN_PLUGIN_KIND_FLOATING)
		return tn_plugin_fail(call->error, TN_UNSUPPORTED, operation,
				      "%s: dtype %d, expected f16, bf16, f32 or f64", name,
				      (int)operand->dtype);
	if (operand->dtype != dtype)
		return tn_plugin_fail(call->error, TN_DTYPE, operation,
				      "%s: expected dtype %d, found %d", name, (int)dtype,
				      (int)operand->dtype);
	return tn_plugin_check_shape(call, operation, name, 0, operand, rank, shape);
}
