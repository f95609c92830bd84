/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Layer norm: independent rows, in blocks that depend on the shape alone.  Each block sums its own
 * part of dw and db, in the workspace; the parts are then combined in order and in double.
 */
#include <string.h>

#include "norm.h"

#define PIECE 16384 /* elements: about 10 us of work */
#define BLOCKS 64   /* at most */
#define CHUNK 64    /* channels whose parts are combined together */
#define LINE 16     /* floats: arrays of the workspace begin at cache lines */

struct job {
	struct cpu_norm norm;
	const struct cpu_norm_kernels *kernels;
	int64_t block_rows, blocks;
	const float *w, *b;
	float *parts; /* (block, 2, channel), rows rounded up to lines: dw and db */
	int64_t row;  /* floats from dw to db */
};

static int64_t divide_up(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

static tn_status begin_norm(struct job *job, void *device, const struct tn_norm_args *args)
{
	const struct cpu_instance *cpu = ((struct cpu_device *)device)->instance;
	float *memory = NULL;
	job->norm.device = device;
	tn_status status = cpu_norm_take(&job->norm, args);
	if (!status && job->norm.args.use_statistics)
		status = tn_plugin_fail(job->norm.args.call.error, TN_UNSUPPORTED, job->norm.name,
					"use_statistics: expected 0 for layer norm");
	if (status)
		return status;
	job->kernels = cpu->kernels->norm;
	const struct cpu_norm *n = &job->norm;
	int64_t rows = divide_up(n->rows, BLOCKS), least = divide_up(PIECE, n->channels);
	/* Kernels take four rows together. */
	job->block_rows = divide_up(rows > least ? rows : least, 4) * 4;
	job->blocks = divide_up(n->rows, job->block_rows);
	job->row = divide_up(n->channels, LINE) * LINE;
	int64_t parts = job->norm.is_backward ? job->blocks : 0;
	status = cpu_norm_workspace(
		&job->norm, (uint64_t)(job->row * 2 * (parts + 1)) * sizeof(float), &memory);
	job->w = memory;
	job->b = memory ? memory + job->row : NULL;
	job->parts = memory ? memory + 2 * job->row : NULL;
	return status;
}

/* The weights, contiguous: in `own` if they are not so in the operand, or absent. */
static const float *neighbours(const struct cpu_norm *n, const struct tn_operand *operand,
			       float absent, const float *own)
{
	float *copy = (float *)(uintptr_t)own;
	if (n->args.has_affine && operand->strides[0] == 1)
		return cpu_norm_value(operand, 0);
	for (int64_t c = 0; c < n->channels; c++)
		copy[c] = n->args.has_affine ? *cpu_norm_value(operand, c) : absent;
	return copy;
}

static const float *row_of(const struct cpu_norm_view *view, int64_t row)
{
	return view->is_used ? view->at + row * view->down : NULL;
}

static struct cpu_norm_rows rows_at(const struct job *job, int64_t row)
{
	const struct cpu_norm *n = &job->norm;
	int64_t left = n->rows - row;
	struct cpu_norm_rows rows = {
		.rows = left < job->block_rows ? left : job->block_rows,
		.channels = n->channels,
		.x = row_of(&n->x, row),
		.x_down = n->x.down,
		.w = job->w,
		.b = job->b,
		.mean = cpu_norm_value(&n->args.mean, row),
		.rstd = cpu_norm_value(&n->args.rstd, row),
		.mean_step = n->args.mean.strides[0],
		.rstd_step = n->args.rstd.strides[0],
		.epsilon = n->args.epsilon,
	};
	return rows;
}

/* ---- Forward ---------------------------------------------------------------------------------*/

static void forward_blocks(void *argument, uint64_t begin, uint64_t end)
{
	const struct job *job = argument;
	const struct cpu_norm *n = &job->norm;
	for (uint64_t block = begin; block < end; block++) {
		int64_t row = (int64_t)block * job->block_rows;
		struct cpu_norm_rows rows = rows_at(job, row);
		rows.residual = row_of(&n->residual, row);
		rows.residual_down = n->residual.down;
		rows.y = n->y.at + row * n->y.down;
		rows.y_down = n->y.down;
		cpu_norm_clamp(n, &rows.low, &rows.high);
		job->kernels->rows_forward(&rows);
	}
}

tn_status cpu_layer_norm_forward(void *device, const struct tn_norm_args *args)
{
	struct job job = {.norm = {.kind = CPU_NORM_LAYER, .name = "layer_norm_forward"}};
	const struct cpu_norm *n = &job.norm;
	tn_status status = begin_norm(&job, device, args);
	if (status || n->args.call.flags & TN_DRY_RUN)
		return status;
	job.w = neighbours(n, &n->args.w, 1, job.w);
	job.b = neighbours(n, &n->args.b, 0, job.b);
	cpu_parallel(device, (uint64_t)job.blocks, 1, forward_blocks, &job);
	return TN_OK;
}

/* ---- Backward --------------------------------------------------------------------------------*/

static void backward_blocks(void *argument, uint64_t begin, uint64_t end)
{
	const struct job *job = argument;
	const struct cpu_norm *n = &job->norm;
	for (uint64_t block = begin; block < end; block++) {
		int64_t row = (int64_t)block * job->block_rows;
		struct cpu_norm_rows rows = rows_at(job, row);
		rows.dy = row_of(&n->y, row);
		rows.dy_down = n->y.down;
		rows.result = row_of(&n->result, row);
		rows.result_down = n->result.down;
		rows.dx = (float *)(uintptr_t)row_of(&n->dx, row);
		rows.dx_down = n->dx.down;
		rows.dresidual = (float *)(uintptr_t)row_of(&n->dresidual, row);
		rows.dresidual_down = n->dresidual.down;
		rows.high = cpu_norm_limit(n);
		rows.dw = job->parts + (int64_t)block * 2 * job->row;
		rows.db = rows.dw + job->row;
		memset(rows.dw, 0, (size_t)(2 * job->row) * sizeof(float));
		job->kernels->rows_backward(&rows);
	}
}

/* Channels begin.. of dw or db, the operand, from its parts. */
static void join_parts(const struct job *job, const struct tn_operand *operand, const float *parts,
		       int64_t begin, int64_t channels)
{
	const struct cpu_norm *n = &job->norm;
	struct cpu_norm_parts all = {
		.first = parts + begin, .n_units = job->blocks, .step = 2 * job->row};
	double sum[CHUNK];
	job->kernels->merge_sums(&all, channels, sum);
	for (int64_t c = 0; c < channels; c++) {
		float *at = cpu_norm_value(operand, begin + c);
		*at = (float)(n->args.call.flags & TN_ACCUMULATE ? *at + sum[c] : sum[c]);
	}
}

tn_status cpu_layer_norm_backward(void *device, const struct tn_norm_args *args)
{
	struct job job = {
		.norm = {.kind = CPU_NORM_LAYER, .is_backward = 1, .name = "layer_norm_backward"}};
	const struct cpu_norm *n = &job.norm;
	tn_status status = begin_norm(&job, device, args);
	if (status || n->args.call.flags & TN_DRY_RUN)
		return status;
	job.w = neighbours(n, &n->args.w, 1, job.w);
	cpu_parallel(device, (uint64_t)job.blocks, 1, backward_blocks, &job);
	if (n->args.wants & CPU_NORM_DW) {
		for (int64_t c = 0; c < n->channels; c += CHUNK) {
			int64_t channels = n->channels - c < CHUNK ? n->channels - c : CHUNK;
			join_parts(&job, &n->args.dw, job.parts, c, channels);
			join_parts(&job, &n->args.db, job.parts + job.row, c, channels);
		}
	}
	return TN_OK;
}
