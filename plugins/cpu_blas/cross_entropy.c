/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Softmax cross-entropy of rows of contiguous logits.
 */
#include <inttypes.h>

#include "kernels/softmax.h"
#include "plugin.h"
#include "softmax.h"

#define PIECE 8192 /* elements: about 10 us of work */

struct job {
	const struct cpu_device *device;
	const char *name;
	int is_backward;
	struct tn_cross_entropy_args args;
	struct cpu_cross_entropy rows; /* all of them */
	int64_t piece;                 /* rows */
};

/* ---- Checks ----------------------------------------------------------------------------------*/

static tn_status check_rows(const struct job *job, const char *which, const struct tn_operand *o)
{
	const struct tn_operand *x = &job->args.x;
	struct tn_error_info *error = job->args.call.error;
	if (o->dtype != TN_F32)
		return tn_plugin_fail(error, TN_UNSUPPORTED, job->name,
				      "%s: expected f32, found dtype %d", which, o->dtype);
	if (o->rank != 2 || o->shape[0] < 1 || o->shape[1] < 1 || o->shape[0] != x->shape[0] ||
	    o->shape[1] != x->shape[1])
		return tn_plugin_fail(error, TN_SHAPE, job->name,
				      "%s: expected x's shape (N, C), without zeros", which);
	if (o->shape[1] > 1 && o->strides[1] != 1)
		return tn_plugin_fail(error, TN_UNSUPPORTED, job->name,
				      "%s: stride %" PRId64 " along C, expected 1", which,
				      o->strides[1]);
	return TN_OK;
}

static tn_status check_values(const struct job *job, const char *which, const struct tn_operand *o,
			      tn_dtype dtype)
{
	struct tn_error_info *error = job->args.call.error;
	if (o->dtype != dtype)
		return tn_plugin_fail(error, TN_UNSUPPORTED, job->name,
				      "%s: dtype %d, expected %d with f32", which, o->dtype, dtype);
	if (o->rank != 1 || o->shape[0] != job->args.x.shape[0])
		return tn_plugin_fail(error, TN_SHAPE, job->name,
				      "%s: expected %" PRId64 " elements in one axis", which,
				      job->args.x.shape[0]);
	return TN_OK;
}

/* ---- Work ------------------------------------------------------------------------------------*/

static void *address(const struct tn_operand *o)
{
	return (void *)(uintptr_t)(o->buffer + o->offset);
}

static void run_rows(void *argument, uint64_t begin, uint64_t end)
{
	const struct job *job = argument;
	const struct cpu_softmax_kernels *kernels = job->device->instance->kernels->softmax;
	struct cpu_cross_entropy rows = job->rows;
	int64_t first = (int64_t)begin;
	rows.rows = (int64_t)(end - begin);
	rows.x += first * rows.x_row;
	rows.labels += first * rows.label_step;
	rows.maximum += first * rows.maximum_step;
	rows.log_sum += first * rows.log_sum_step;
	rows.loss += first * rows.loss_step;
	if (!job->is_backward) {
		kernels->cross_entropy_forward(&rows);
		return;
	}
	rows.dx += first * rows.dx_row;
	kernels->cross_entropy_backward(&rows);
}

static tn_status check_and_run(struct job *job)
{
	tn_status status = check_rows(job, "x", &job->args.x);
	if (!status)
		status = check_values(job, "labels", &job->args.labels, TN_I32);
	if (!status)
		status = check_values(job, "maximum", &job->args.maximum, TN_F32);
	if (!status)
		status = check_values(job, "log_sum", &job->args.log_sum, TN_F32);
	if (!status)
		status = check_values(job, job->is_backward ? "dloss" : "loss", &job->args.loss,
				      TN_F32);
	if (!status && job->is_backward)
		status = check_rows(job, "dx", &job->args.dx);
	if (status)
		return status;
	if (job->args.call.flags & TN_DRY_RUN)
		return tn_plugin_dry_run(&job->args.call, 0, 0);
	const struct tn_cross_entropy_args *a = &job->args;
	job->rows = (struct cpu_cross_entropy){
		.rows = a->x.shape[0],
		.classes = a->x.shape[1],
		.x = address(&a->x),
		.labels = address(&a->labels),
		.maximum = address(&a->maximum),
		.log_sum = address(&a->log_sum),
		.loss = address(&a->loss),
		.dx = job->is_backward ? address(&a->dx) : NULL,
		.x_row = a->x.strides[0],
		.label_step = a->labels.strides[0],
		.maximum_step = a->maximum.strides[0],
		.log_sum_step = a->log_sum.strides[0],
		.loss_step = a->loss.strides[0],
		.dx_row = job->is_backward ? a->dx.strides[0] : 0,
		.ignored = a->ignore_label,
		.accumulate = (a->call.flags & TN_ACCUMULATE) != 0,
	};
	job->piece = PIECE / job->rows.classes + 1;
	cpu_parallel(job->device, (uint64_t)job->rows.rows, (uint64_t)job->piece, run_rows, job);
	return TN_OK;
}

tn_status cpu_cross_entropy_forward(void *device, const struct tn_cross_entropy_args *args)
{
	struct job job = {.device = device, .name = "cross_entropy_forward"};
	tn_status status = tn_plugin_take(&job.args, sizeof(job.args), args,
					  TN_DRY_RUN | TN_DETERMINISTIC, job.name);
	return status ? status : check_and_run(&job);
}

tn_status cpu_cross_entropy_backward(void *device, const struct tn_cross_entropy_args *args)
{
	struct job job = {.device = device, .name = "cross_entropy_backward", .is_backward = 1};
	tn_status status = tn_plugin_take(&job.args, sizeof(job.args), args,
					  TN_DRY_RUN | TN_DETERMINISTIC | TN_ACCUMULATE, job.name);
	return status ? status : check_and_run(&job);
}
