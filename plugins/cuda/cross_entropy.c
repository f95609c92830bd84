/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Softmax cross-entropy of logits against labels, and its gradient.
 */
#include "kernel.h"
#include "layer.h"
#include "nn.h"
#include "ranges.h"
#include "status.h"

/* Same layout as in kernels/cross_entropy.cu. */
struct rows {
	int64_t n_rows, n_classes;
	uint64_t x, dx, labels, maximum, log_sum, loss;
	int64_t x_stride[2], dx_stride[2];
	int64_t labels_stride, maximum_stride, log_sum_stride, loss_stride;
	int64_t ignored;
	int32_t adds;
};

static tn_status check_labels(const struct tn_cross_entropy_args *args, const char *operation)
{
	const struct tn_call *call = &args->call;
	tn_status status = tn_plugin_check_operand(call, operation, "labels", 0, &args->labels,
						   CUDA_STORAGE, TN_PLUGIN_READS);
	if (!status && args->labels.dtype != TN_I32)
		status = tn_plugin_fail(call->error, TN_DTYPE, operation,
					"labels: expected i32, found dtype %d",
					(int)args->labels.dtype);
	return status ? status
		      : tn_plugin_check_shape(call, operation, "labels", 0, &args->labels, 1,
					      args->x.shape);
}

static struct rows rows_of(const struct tn_cross_entropy_args *args, int is_forward)
{
	struct rows rows = {.n_rows = args->x.shape[0],
			    .n_classes = args->x.shape[1],
			    .x = cuda_address(&args->x),
			    .labels = cuda_address(&args->labels),
			    .maximum = cuda_address(&args->maximum),
			    .log_sum = cuda_address(&args->log_sum),
			    .loss = cuda_address(&args->loss),
			    .x_stride = {args->x.strides[0], args->x.strides[1]},
			    .labels_stride = args->labels.strides[0],
			    .maximum_stride = args->maximum.strides[0],
			    .log_sum_stride = args->log_sum.strides[0],
			    .loss_stride = args->loss.strides[0],
			    .ignored = args->ignore_label,
			    .adds = (args->call.flags & TN_ACCUMULATE) != 0};
	if (is_forward)
		return rows;
	rows.dx = cuda_address(&args->dx);
	rows.dx_stride[0] = args->dx.strides[0];
	rows.dx_stride[1] = args->dx.strides[1];
	return rows;
}

static tn_status run_rows(struct cuda_job *job, const struct tn_cross_entropy_args *args,
			  int is_forward)
{
	struct rows rows = rows_of(args, is_forward);
	struct cuda_kernel *kernel;
	void *arguments[] = {&rows};
	const struct cuda_team team =
		cuda_team_of(rows.n_classes, rows.x_stride[1] != 1 && rows.x_stride[0] == 1);
	const struct cuda_define defines[] = {{"DTYPE", args->x.dtype},
					      {"LX", team.lx},
					      {"LY", team.ly},
					      {"COLUMNS", team.columns}};
	tn_status status =
		cuda_kernel_get(job, "cross_entropy", job->operation, defines, 4, &kernel);
	if (status)
		return status;
	const struct cuda_grid grid = {cuda_blocks(job->device, (uint64_t)rows.n_rows, team.lx),
				       1,
				       1,
				       CUDA_TEAM_BLOCK,
				       1,
				       1,
				       0};
	return cuda_kernel_launch(job, kernel, grid, arguments);
}

static tn_status check_and_run(struct cuda_job *job, const struct tn_cross_entropy_args *args,
			       int is_forward)
{
	int goes_on = 0;
	const struct tn_call *call = &args->call;
	const struct tn_operand *x = &args->x;
	const enum tn_plugin_role role = is_forward ? TN_PLUGIN_WRITES : TN_PLUGIN_READS;
	const tn_dtype wide = cuda_sum_dtype(x->dtype);
	tn_status status = cuda_check_real(call, job->operation, "x", x, x->dtype, TN_PLUGIN_READS,
					   x->rank, x->shape);
	if (!status && x->rank != 2)
		status = tn_plugin_fail(call->error, TN_SHAPE, job->operation,
					"x: rank %u, expected 2", x->rank);
	if (!status)
		status = check_labels(args, job->operation);
	if (!status)
		status = cuda_check_real(call, job->operation, "maximum", &args->maximum, wide,
					 role, 1, x->shape);
	if (!status)
		status = cuda_check_real(call, job->operation, "log_sum", &args->log_sum, wide,
					 role, 1, x->shape);
	if (!status)
		status = cuda_check_real(call, job->operation, "loss", &args->loss, wide, role, 1,
					 x->shape);
	if (!status && !is_forward)
		status = cuda_check_real(call, job->operation, "dx", &args->dx, x->dtype,
					 TN_PLUGIN_WRITES, 2, x->shape);
	if (!status)
		status = tn_plugin_workspace(&args->call, job->operation, 0, &goes_on);
	return status || !goes_on ? status : run_rows(job, args, is_forward);
}

tn_status cuda_cross_entropy_forward(void *device, const struct tn_cross_entropy_args *args)
{
	CUDA_RANGE range = cuda_range_begin(device, &args->call, "cross_entropy_forward");
	struct tn_cross_entropy_args own;
	struct cuda_job job;
	tn_status status =
		cuda_job_begin(&job, device, &own, sizeof(own), args, "cross_entropy_forward");
	return status ? status : check_and_run(&job, &own, 1);
}

tn_status cuda_cross_entropy_backward(void *device, const struct tn_cross_entropy_args *args)
{
	CUDA_RANGE range = cuda_range_begin(device, &args->call, "cross_entropy_backward");
	struct tn_cross_entropy_args own;
	struct cuda_job job;
	tn_status status = cuda_job_begin_adding(&job, device, &own, sizeof(own), args,
						 "cross_entropy_backward");
	return status ? status : check_and_run(&job, &own, 0);
}
