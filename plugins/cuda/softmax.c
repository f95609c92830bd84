/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Softmax, its logarithm, and their gradients.
 */
#include <string.h>

#include "kernel.h"
#include "layer.h"
#include "nn.h"
#include "ranges.h"
#include "status.h"

/* Same layout as in kernels/softmax.cu. */
struct lines {
	uint64_t n_lines;
	int64_t n;
	uint64_t at[3];
	int64_t step[3];
	uint64_t length[TN_MAX_RANK];
	int64_t stride[3][TN_MAX_RANK];
	int32_t is_logarithm, adds;
};

struct views {
	uint32_t n;
	const char *name[3];
	const struct tn_operand *operand[3]; /* the last is the output */
};

static tn_status check_arguments(const struct tn_softmax_args *args, const char *operation,
				 const struct views *v)
{
	const struct tn_call *call = &args->call;
	const struct tn_operand *model = &args->y;
	for (uint32_t k = 0; k < v->n; k++) {
		tn_status status =
			cuda_check_real(call, operation, v->name[k], v->operand[k], model->dtype,
					k + 1 == v->n ? TN_PLUGIN_WRITES : TN_PLUGIN_READS,
					model->rank, model->shape);
		if (status)
			return status;
	}
	if (args->axis >= model->rank)
		return tn_plugin_fail(call->error, TN_SHAPE, operation,
				      "axis %u: expected less than the rank %u", args->axis,
				      model->rank);
	if (args->logarithm > 1)
		return tn_plugin_fail(call->error, TN_INVALID_ARGUMENT, operation,
				      "logarithm is %u, expected 0 or 1", args->logarithm);
	return TN_OK;
}

/* Moves the axis after the others. */
static struct tn_operand move_axis(const struct tn_operand *operand, uint32_t axis)
{
	struct tn_operand moved = *operand;
	for (uint32_t d = axis; d + 1 < operand->rank; d++) {
		moved.shape[d] = operand->shape[d + 1];
		moved.strides[d] = operand->strides[d + 1];
	}
	moved.shape[operand->rank - 1] = operand->shape[axis];
	moved.strides[operand->rank - 1] = operand->strides[axis];
	return moved;
}

static void fill_lines(struct lines *lines, const struct tn_plugin_nest *nest)
{
	const uint32_t last = nest->rank - 1;
	memset(lines, 0, sizeof(*lines));
	lines->n_lines = tn_plugin_count(last, nest->lengths);
	lines->n = nest->lengths[last];
	for (uint32_t d = 0; d < last; d++)
		lines->length[d] = (uint64_t)nest->lengths[d];
	for (uint32_t k = 0; k < nest->n_views; k++) {
		lines->at[k] = cuda_view_address(&nest->views[k]);
		lines->step[k] = nest->views[k].strides[last];
		memcpy(lines->stride[k], nest->views[k].strides, last * sizeof(int64_t));
	}
}

static tn_status check_and_run(struct cuda_job *job, const struct tn_softmax_args *args,
			       const struct views *v)
{
	int goes_on = 0;
	tn_status status = check_arguments(args, job->operation, v);
	if (!status)
		status = tn_plugin_workspace(&args->call, job->operation, 0, &goes_on);
	if (status || !goes_on)
		return status;
	struct tn_plugin_nest nest;
	struct cuda_kernel *kernel;
	struct lines lines;
	void *arguments[] = {&lines};
	struct tn_operand moved = move_axis(&args->y, args->axis);
	tn_plugin_nest_begin(&nest, moved.rank, moved.rank - 1, moved.shape);
	for (uint32_t k = 0; k < v->n; k++) {
		moved = move_axis(v->operand[k], args->axis);
		tn_plugin_nest_add(&nest, &moved, 0);
	}
	tn_plugin_nest_simplify(&nest);
	tn_plugin_nest_pad(&nest, 1, 1);
	fill_lines(&lines, &nest);
	lines.is_logarithm = args->logarithm != 0;
	lines.adds = (args->call.flags & TN_ACCUMULATE) != 0;
	const uint32_t last = nest.rank - 1;
	const int64_t *stride = nest.views[0].strides;
	const struct cuda_team team =
		cuda_team_of(lines.n, stride[last] != 1 && stride[last - 1] == 1);
	const struct cuda_define defines[] = {{"DTYPE", args->y.dtype},
					      {"RANK", last},
					      {"LX", team.lx},
					      {"LY", team.ly},
					      {"COLUMNS", team.columns}};
	status = cuda_kernel_get(job, "softmax", job->operation, defines, 5, &kernel);
	if (status)
		return status;
	const struct cuda_grid grid = {
		cuda_blocks(job->device, lines.n_lines, team.lx), 1, 1, CUDA_TEAM_BLOCK, 1, 1, 0};
	return cuda_kernel_launch(job, kernel, grid, arguments);
}

tn_status cuda_softmax_forward(void *device, const struct tn_softmax_args *args)
{
	CUDA_RANGE range = cuda_range_begin(device, &args->call, "softmax_forward");
	struct tn_softmax_args own;
	struct cuda_job job;
	const struct views views = {2, {"x", "y"}, {&own.x, &own.y}};
	tn_status status = cuda_job_begin(&job, device, &own, sizeof(own), args, "softmax_forward");
	return status ? status : check_and_run(&job, &own, &views);
}

tn_status cuda_softmax_backward(void *device, const struct tn_softmax_args *args)
{
	CUDA_RANGE range = cuda_range_begin(device, &args->call, "softmax_backward");
	struct tn_softmax_args own;
	struct cuda_job job;
	const struct views views = {3, {"y", "dy", "dx"}, {&own.y, &own.dy, &own.dx}};
	tn_status status =
		cuda_job_begin_adding(&job, device, &own, sizeof(own), args, "softmax_backward");
	return status ? status : check_and_run(&job, &own, &views);
}
