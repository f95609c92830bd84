/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Batch, layer and group norm.  Layer norm is group norm with one group and no axes after the
 * channels.  Sums over all samples (of batch norm, and of dw and db) are made in chunks, through
 * the workspace.
 */
#include "norm.h"

#include <string.h>

#include "kernel.h"
#include "layer.h"
#include "nn.h"
#include "ranges.h"
#include "status.h"

enum { DEFINES = 6, CHANNELS_OF_JOIN = 8, LEAST_STEPS = 8, BLOCKS = 512 };

struct sizes {
	struct cuda_team chunks, groups; /* of threads, for either */
	uint64_t scratch;                /* bytes */
	int channels_last;
	uint32_t inner; /* axes after the channels */
};

/* ---- Plan ------------------------------------------------------------------------------------*/

static struct tn_operand behind_channels(const struct tn_operand *operand)
{
	struct tn_operand rest = *operand;
	rest.rank -= 2;
	memmove(rest.shape, &operand->shape[2], rest.rank * sizeof(rest.shape[0]));
	memmove(rest.strides, &operand->strides[2], rest.rank * sizeof(rest.strides[0]));
	return rest;
}

static struct cuda_norm_list list_of(const struct tn_operand *operand, int is_used)
{
	struct cuda_norm_list list = {0, 0};
	if (is_used) {
		list.at = cuda_address(operand);
		list.step = operand->strides[0];
	}
	return list;
}

/* The arrays of x's shape, with inner axes merged if all of them allow it. */
static uint32_t fill_views(struct cuda_norm *norm, const struct cuda_norm_call *n)
{
	struct cuda_norm_view *views[] = {&norm->x, &norm->y, &norm->extra, &norm->dx,
					  &norm->dresidual};
	const struct tn_norm_args *a = &n->args;
	const struct tn_operand *operands[] = {
		&a->x, &a->y, n->extra, a->wants & CUDA_NORM_DX ? &a->dx : NULL,
		a->wants & CUDA_NORM_DRESIDUAL ? &a->dresidual : NULL};
	struct tn_operand rest = behind_channels(&a->x);
	struct tn_plugin_nest nest;
	tn_plugin_nest_begin(&nest, rest.rank, rest.rank, rest.shape);
	for (int k = 0; k < 5; k++) {
		if (!operands[k])
			continue;
		rest = behind_channels(operands[k]);
		tn_plugin_nest_add(&nest, &rest, 1);
	}
	tn_plugin_nest_simplify(&nest);
	tn_plugin_nest_pad(&nest, 1, 0);
	memcpy(norm->inner, nest.lengths, nest.rank * sizeof(int64_t));
	for (uint32_t k = 0, at = 0; k < 5; k++) {
		if (!operands[k])
			continue;
		views[k]->at = cuda_address(operands[k]);
		views[k]->sample = operands[k]->strides[0];
		views[k]->channel = operands[k]->strides[1];
		memcpy(views[k]->inner, nest.views[at++].strides, nest.rank * sizeof(int64_t));
	}
	return nest.rank;
}

static void plan_norm(struct cuda_norm *norm, struct sizes *sizes, const struct cuda_norm_call *n)
{
	const struct tn_norm_args *a = &n->args;
	const int wants_dw = (a->wants & CUDA_NORM_DW) != 0;
	memset(norm, 0, sizeof(*norm));
	norm->n_samples = a->x.shape[0];
	norm->n_channels = a->x.shape[1];
	norm->n_inner = (int64_t)tn_plugin_count(a->x.rank - 2, &a->x.shape[2]);
	norm->groups = n->kind == CUDA_GROUP_NORM ? a->groups : 1;
	norm->epsilon = a->epsilon;
	norm->w = list_of(&a->w, a->has_affine != 0);
	norm->b = list_of(&a->b, a->has_affine && !n->is_backward);
	norm->mean = list_of(&a->mean, 1);
	norm->rstd = list_of(&a->rstd, 1);
	norm->dw = list_of(&a->dw, wants_dw);
	norm->db = list_of(&a->db, wants_dw);
	norm->is_per_channel = n->kind == CUDA_BATCH_NORM;
	norm->has_affine = a->has_affine != 0;
	norm->is_fixed = a->use_statistics != 0;
	norm->activation = (int32_t)a->activation;
	norm->has_residual = !n->is_backward && a->has_residual;
	norm->wants = (int32_t)a->wants;
	norm->adds = (a->call.flags & TN_ACCUMULATE) != 0;
	sizes->inner = fill_views(norm, n);
	sizes->channels_last = norm->x.channel == 1 &&
			       (norm->n_inner == 1 || norm->x.inner[sizes->inner - 1] != 1);
	sizes->groups = cuda_team_of(norm->n_channels / norm->groups * norm->n_inner, 0);
	/* Enough chunks to fill a large device, but none too short for a team: by shape alone, so
	 * that sums are the same on every device. */
	const int64_t m = norm->n_samples * norm->n_inner;
	const struct cuda_team team = cuda_team_of(m, sizes->channels_last);
	const int64_t blocks = (norm->n_channels + team.lx - 1) / team.lx;
	const int64_t wanted = BLOCKS / blocks;
	const int64_t least = (int64_t)team.ly * LEAST_STEPS;
	norm->chunk = wanted > 1 ? (m + wanted - 1) / wanted : m;
	norm->chunk = norm->chunk < least ? least : norm->chunk;
	norm->n_chunks = (m + norm->chunk - 1) / norm->chunk;
	sizes->chunks = team;
	sizes->scratch = 2 * (uint64_t)(norm->n_channels * norm->n_chunks) *
			 tn_dtype_size(cuda_sum_dtype(a->x.dtype));
}

/* ---- Kernels ---------------------------------------------------------------------------------*/

struct step {
	const char *name; /* NULL: not needed */
	struct cuda_team team;
	struct cuda_grid grid;
	int is_join; /* it reads only sums, not x */
};

/* Everything that can fail to be created is created before anything is written. */
static tn_status run_steps(struct cuda_job *job, const struct cuda_norm_call *n,
			   const struct sizes *sizes, const struct cuda_norm *norm,
			   const struct step steps[3])
{
	struct cuda_norm own = *norm;
	struct cuda_kernel *kernels[3] = {NULL, NULL, NULL};
	void *arguments[] = {&own};
	tn_status status = TN_OK;
	for (int k = 0; k < 3 && !status; k++)
		if (steps[k].name) {
			const struct cuda_define defines[DEFINES] = {
				{"DTYPE", n->args.x.dtype},
				{"INNER", steps[k].is_join ? 1 : sizes->inner},
				{"CHANNELS_LAST", steps[k].is_join ? 0 : sizes->channels_last},
				{"LX", steps[k].team.lx},
				{"LY", steps[k].team.ly},
				{"COLUMNS", steps[k].team.columns}};
			status = cuda_kernel_get(job, "norm", steps[k].name, defines, DEFINES,
						 &kernels[k]);
		}
	for (int k = 0; k < 3 && !status; k++)
		if (steps[k].name)
			status = cuda_kernel_launch(job, kernels[k], steps[k].grid, arguments);
	return status;
}

/* For kernels without teams. */
static const struct cuda_team whole_block = {1, CUDA_TEAM_BLOCK, 0};

static struct step chunk_step(const struct cuda_norm *norm, const struct sizes *sizes,
			      const char *name)
{
	const uint64_t lx = sizes->chunks.lx;
	const uint32_t blocks = (uint32_t)(((uint64_t)norm->n_channels + lx - 1) / lx);
	return (struct step){name,
			     sizes->chunks,
			     {blocks, (uint32_t)norm->n_chunks, 1, CUDA_TEAM_BLOCK, 1, 1, 0},
			     0};
}

static struct step join_step(const struct cuda_norm *norm, const char *name)
{
	const uint32_t blocks =
		(uint32_t)((norm->n_channels + CHANNELS_OF_JOIN - 1) / CHANNELS_OF_JOIN);
	return (struct step){name, whole_block, {blocks, 1, 1, CUDA_TEAM_BLOCK, 1, 1, 0}, 1};
}

static struct step all_step(const struct cuda_job *job, const struct cuda_norm *norm,
			    const char *name)
{
	const uint64_t n = (uint64_t)(norm->n_samples * norm->n_channels * norm->n_inner);
	const uint32_t blocks = cuda_blocks(job->device, n, CUDA_TEAM_BLOCK);
	return (struct step){name, whole_block, {blocks, 1, 1, CUDA_TEAM_BLOCK, 1, 1, 0}, 0};
}

static struct step group_step(const struct cuda_job *job, const struct cuda_norm *norm,
			      const struct sizes *sizes, const char *name)
{
	const uint64_t n = (uint64_t)(norm->n_samples * norm->groups);
	const uint32_t blocks = cuda_blocks(job->device, n, sizes->groups.lx);
	return (struct step){name, sizes->groups, {blocks, 1, 1, CUDA_TEAM_BLOCK, 1, 1, 0}, 0};
}

/* ---- Forward ---------------------------------------------------------------------------------*/

static tn_status run_forward(struct cuda_job *job, const struct cuda_norm_call *n,
			     const struct sizes *sizes, const struct cuda_norm *norm)
{
	const int is_batch = n->kind == CUDA_BATCH_NORM, is_fixed = n->args.use_statistics != 0;
	struct step steps[3] = {{.name = NULL}};
	if (is_batch && !is_fixed) {
		steps[0] = chunk_step(norm, sizes, "norm_chunks");
		steps[1] = join_step(norm, "norm_join");
	}
	steps[2] = is_batch || is_fixed ? all_step(job, norm, "norm_apply")
					: group_step(job, norm, sizes, "norm_groups");
	return run_steps(job, n, sizes, norm, steps);
}

/* ---- Backward --------------------------------------------------------------------------------*/

/* Does dx depend on sums? */
static int has_sums(const struct cuda_norm_call *n)
{
	return n->args.wants & CUDA_NORM_DX && !n->args.use_statistics;
}

static int needs_chunks(const struct cuda_norm_call *n)
{
	if (!n->is_backward)
		return n->kind == CUDA_BATCH_NORM && !n->args.use_statistics;
	return n->args.wants & CUDA_NORM_DW || (n->kind == CUDA_BATCH_NORM && has_sums(n));
}

/* Kernels that read x and dy for the sums of channels run before those that may overwrite them.  dx
 * of batch norm needs these sums. */
static tn_status run_backward(struct cuda_job *job, const struct cuda_norm_call *n,
			      const struct sizes *sizes, const struct cuda_norm *norm)
{
	struct step steps[3] = {{.name = NULL}};
	if (needs_chunks(n)) {
		steps[0] = chunk_step(norm, sizes, "norm_chunk_gradients");
		steps[1] = join_step(norm, "norm_join_gradients");
	}
	if (n->kind != CUDA_BATCH_NORM && has_sums(n))
		steps[2] = group_step(job, norm, sizes, "norm_derive_groups");
	else if (n->args.wants & (CUDA_NORM_DX | CUDA_NORM_DRESIDUAL))
		steps[2] = all_step(job, norm, "norm_derive");
	return run_steps(job, n, sizes, norm, steps);
}

/* ---- Entries ---------------------------------------------------------------------------------*/

static tn_status run_norm(void *device, const struct tn_norm_args *args, enum cuda_norm_kind kind,
			  int is_backward, const char *operation)
{
	struct cuda_norm_call n = {.kind = kind, .is_backward = is_backward};
	struct cuda_job job;
	struct cuda_norm norm;
	struct sizes sizes;
	int goes_on = 0;
	tn_status status = is_backward ? cuda_job_begin_adding(&job, device, &n.args,
							       sizeof(n.args), args, operation)
				       : cuda_job_begin(&job, device, &n.args, sizeof(n.args), args,
							operation);
	if (!status)
		status = cuda_norm_check(&n, operation);
	if (status)
		return status;
	plan_norm(&norm, &sizes, &n);
	const uint64_t bytes = needs_chunks(&n) ? sizes.scratch : 0;
	status = tn_plugin_workspace(&n.args.call, operation, bytes, &goes_on);
	if (status || !goes_on)
		return status;
	if (bytes)
		norm.scratch = (uint64_t)(uintptr_t)cuda_workspace_at(&n.args.call);
	return is_backward ? run_backward(&job, &n, &sizes, &norm)
			   : run_forward(&job, &n, &sizes, &norm);
}

tn_status cuda_batch_norm_forward(void *device, const struct tn_norm_args *args)
{
	CUDA_RANGE range = cuda_range_begin(device, &args->call, "batch_norm_forward");
	return run_norm(device, args, CUDA_BATCH_NORM, 0, "batch_norm_forward");
}

tn_status cuda_batch_norm_backward(void *device, const struct tn_norm_args *args)
{
	CUDA_RANGE range = cuda_range_begin(device, &args->call, "batch_norm_backward");
	return run_norm(device, args, CUDA_BATCH_NORM, 1, "batch_norm_backward");
}

tn_status cuda_layer_norm_forward(void *device, const struct tn_norm_args *args)
{
	CUDA_RANGE range = cuda_range_begin(device, &args->call, "layer_norm_forward");
	return run_norm(device, args, CUDA_LAYER_NORM, 0, "layer_norm_forward");
}

tn_status cuda_layer_norm_backward(void *device, const struct tn_norm_args *args)
{
	CUDA_RANGE range = cuda_range_begin(device, &args->call, "layer_norm_backward");
	return run_norm(device, args, CUDA_LAYER_NORM, 1, "layer_norm_backward");
}

tn_status cuda_group_norm_forward(void *device, const struct tn_norm_args *args)
{
	CUDA_RANGE range = cuda_range_begin(device, &args->call, "group_norm_forward");
	return run_norm(device, args, CUDA_GROUP_NORM, 0, "group_norm_forward");
}

tn_status cuda_group_norm_backward(void *device, const struct tn_norm_args *args)
{
	CUDA_RANGE range = cuda_range_begin(device, &args->call, "group_norm_backward");
	return run_norm(device, args, CUDA_GROUP_NORM, 1, "group_norm_backward");
}
