/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Checks of a norm's arguments.
 */
#include "layer.h"
#include "norm.h"
#include "status.h"

struct rule {
	const char *name;
	const struct tn_operand *operand;
	tn_dtype dtype;
	int is_used;
	enum tn_plugin_role role;
	uint32_t rank;
	const int64_t *shape;
};

static int64_t count_groups(const struct cuda_norm_call *n)
{
	const int64_t *shape = n->args.x.shape;
	return n->kind == CUDA_BATCH_NORM   ? shape[1]
	       : n->kind == CUDA_LAYER_NORM ? shape[0]
					    : shape[0] * n->args.groups;
}

static tn_status check_operands(const struct cuda_norm_call *n, const char *operation)
{
	const struct tn_norm_args *a = &n->args;
	const int is_forward = !n->is_backward;
	const int64_t *shape = a->x.shape, *channels = &shape[1], n_groups = count_groups(n);
	const uint32_t rank = a->x.rank;
	const tn_dtype own = a->x.dtype, wide = cuda_sum_dtype(own);
	const enum tn_plugin_role statistics =
		is_forward && !a->use_statistics ? TN_PLUGIN_WRITES : TN_PLUGIN_READS;
	const int wants_dw = (a->wants & CUDA_NORM_DW) != 0;
	const struct rule rules[] = {
		{"y", &a->y, own, 1, is_forward ? TN_PLUGIN_WRITES : TN_PLUGIN_READS, rank, shape},
		{"w", &a->w, own, a->has_affine != 0, TN_PLUGIN_READS, 1, channels},
		{"b", &a->b, own, a->has_affine && is_forward, TN_PLUGIN_READS, 1, channels},
		{"mean", &a->mean, wide, 1, statistics, 1, &n_groups},
		{"rstd", &a->rstd, wide, 1, statistics, 1, &n_groups},
		{"dx", &a->dx, own, a->wants & CUDA_NORM_DX, TN_PLUGIN_WRITES, rank, shape},
		{"dw", &a->dw, own, wants_dw, TN_PLUGIN_WRITES, 1, channels},
		{"db", &a->db, own, wants_dw, TN_PLUGIN_WRITES, 1, channels},
		{is_forward ? "residual" : "result", n->extra, own, n->extra != NULL,
		 TN_PLUGIN_READS, rank, shape},
		{"dresidual", &a->dresidual, own, a->wants & CUDA_NORM_DRESIDUAL, TN_PLUGIN_WRITES,
		 rank, shape},
	};
	tn_status status = TN_OK;
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]) && !status; i++)
		if (rules[i].is_used)
			status = cuda_check_real(&a->call, operation, rules[i].name,
						 rules[i].operand, rules[i].dtype, rules[i].role,
						 rules[i].rank, rules[i].shape);
	return status;
}

tn_status cuda_norm_check(struct cuda_norm_call *n, const char *operation)
{
	struct tn_norm_args *a = &n->args;
	tn_status status = cuda_check_real(&a->call, operation, "x", &a->x, a->x.dtype,
					   TN_PLUGIN_READS, a->x.rank, a->x.shape);
	if (status)
		return status;
	struct tn_error_info *error = a->call.error;
	if (a->x.rank < 2 || (n->kind == CUDA_LAYER_NORM && a->x.rank > 2))
		return tn_plugin_fail(error, TN_SHAPE, operation, "x: rank %u, expected %s",
				      a->x.rank, n->kind == CUDA_LAYER_NORM ? "2" : "at least 2");
	if (a->has_affine > 1 || a->use_statistics > 1 || a->has_residual > 1)
		return tn_plugin_fail(
			error, TN_INVALID_ARGUMENT, operation,
			"has_affine %u, use_statistics %u, has_residual %u: expected 0 or "
			"1",
			a->has_affine, a->use_statistics, a->has_residual);
	if (n->kind == CUDA_GROUP_NORM && (a->groups < 1 || a->x.shape[1] % a->groups))
		return tn_plugin_fail(
			error, TN_SHAPE, operation,
			"%lld channels in %u groups: expected an equal number in each",
			(long long)a->x.shape[1], a->groups);
	if (a->wants > (CUDA_NORM_DX | CUDA_NORM_DW | CUDA_NORM_DRESIDUAL))
		return tn_plugin_fail(error, TN_UNSUPPORTED, operation,
				      "wants 0x%x: expected only bits 0 to 2", a->wants);
	if (a->activation > TN_ACTIVATION_RELU6)
		return tn_plugin_fail(error, TN_UNSUPPORTED, operation,
				      "activation %u: expected NONE, RELU or RELU6", a->activation);
	if (!(a->epsilon >= 0))
		return tn_plugin_fail(error, TN_INVALID_ARGUMENT, operation,
				      "epsilon %g: expected at least 0", a->epsilon);
	if (n->is_backward) {
		n->extra = a->activation ? &a->result : NULL;
	} else {
		n->extra = a->has_residual ? &a->residual : NULL;
		a->wants = 0;
	}
	return check_operands(n, operation);
}
