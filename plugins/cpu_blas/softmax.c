/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Softmax along an axis whose numbers are contiguous, or along another axis if some axis is
 * contiguous; the host composes other layouts.  The kernel takes one axis besides the softmax's
 * own: the longest along rows, the contiguous one across them.  Pieces are parts of it, at one
 * position of the other axes, and are cut by the shape alone.
 */
#include "softmax.h"

#include "kernels/softmax.h"
#include "plugin.h"

#define PIECE 8192 /* elements: about 10 us of work */
#define BAND 64    /* lines across rows in a piece, at least */

enum { IN, OUT, DY, OPERANDS }; /* x, y; backward: y, dx, dy */

struct axis {
	int64_t length, strides[OPERANDS];
};

struct job {
	const struct cpu_device *device;
	const char *name;
	int is_backward;
	struct tn_softmax_args args;
	const struct tn_operand *operands[OPERANDS]; /* DY is IN in forward */
	struct axis own, lines, others[TN_MAX_RANK];
	uint32_t n_others;
	int is_along;
	int64_t piece, pieces; /* lines of a piece, and the number of pieces at one position */
	void (*kernel)(const struct cpu_softmax *s);
};

/* ---- Checks ----------------------------------------------------------------------------------*/

static tn_status check_operand(const struct job *job, const struct tn_operand *o)
{
	const struct tn_operand *first = job->operands[OUT];
	struct tn_error_info *error = job->args.call.error;
	int fits = o->rank == first->rank;
	if (o->dtype != TN_F32)
		return tn_plugin_fail(error, TN_UNSUPPORTED, job->name,
				      "expected f32, found dtype %d", o->dtype);
	for (uint32_t i = 0; fits && i < o->rank; i++)
		fits = o->shape[i] == first->shape[i] && o->shape[i] > 0;
	if (!fits)
		return tn_plugin_fail(error, TN_SHAPE, job->name,
				      "expected arrays of equal shape, without lengths of 0");
	return TN_OK;
}

static tn_status check_arguments(const struct job *job)
{
	struct tn_error_info *error = job->args.call.error;
	uint32_t rank = job->operands[OUT]->rank;
	if (rank > TN_MAX_RANK)
		return tn_plugin_fail(error, TN_UNSUPPORTED, job->name,
				      "rank %u, expected at most %d", rank, TN_MAX_RANK);
	if (job->args.axis >= rank)
		return tn_plugin_fail(error, TN_SHAPE, job->name,
				      "axis %u: expected less than the rank %u", job->args.axis,
				      rank);
	tn_status status = TN_OK;
	for (int i = 0; i < OPERANDS && !status; i++)
		status = check_operand(job, job->operands[i]);
	if (status)
		return status;
	if (job->args.logarithm > 1)
		return tn_plugin_fail(error, TN_INVALID_ARGUMENT, job->name,
				      "logarithm is %u, expected 0 or 1", job->args.logarithm);
	return TN_OK;
}

/* ---- Layout ----------------------------------------------------------------------------------*/

static struct axis axis_at(const struct job *job, uint32_t i)
{
	struct axis axis = {.length = job->operands[OUT]->shape[i]};
	for (int o = 0; o < OPERANDS; o++)
		axis.strides[o] = job->operands[o]->strides[i];
	return axis;
}

/* Can `outer` and `inner` be merged in every operand? */
static int continues(const struct axis *outer, const struct axis *inner)
{
	int same = 1;
	for (int o = 0; o < OPERANDS; o++)
		same &= outer->strides[o] == inner->strides[o] * inner->length;
	return same;
}

static int is_compact(const struct axis *axis)
{
	int compact = 1;
	for (int o = 0; o < OPERANDS; o++)
		compact &= axis->length == 1 || axis->strides[o] == 1;
	return compact;
}

/* All axes but softmax's own and those of length 1, with neighbours merged. */
static void collect(struct job *job)
{
	job->own = axis_at(job, job->args.axis);
	for (uint32_t i = 0; i < job->operands[OUT]->rank; i++) {
		struct axis axis = axis_at(job, i);
		struct axis *last = job->n_others ? &job->others[job->n_others - 1] : NULL;
		if (i == job->args.axis || axis.length == 1)
			continue;
		if (last && continues(last, &axis)) {
			axis.length *= last->length;
			*last = axis;
		} else {
			job->others[job->n_others++] = axis;
		}
	}
}

/* Removes the axis of lines from the others; 0: no axis is suitable for a kernel. */
static int choose_lines(struct job *job)
{
	uint32_t chosen = job->n_others;
	job->is_along = is_compact(&job->own);
	job->lines = (struct axis){.length = 1, .strides = {1, 1, 1}};
	for (uint32_t i = 0; i < job->n_others; i++) {
		int is_better = chosen == job->n_others ||
				job->others[i].length > job->others[chosen].length;
		if (job->is_along ? is_better : is_compact(&job->others[i]))
			chosen = i;
	}
	if (chosen == job->n_others)
		return job->is_along || job->n_others == 0;
	job->lines = job->others[chosen];
	job->others[chosen] = job->others[--job->n_others];
	return 1;
}

static int64_t divide_up(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

/* ---- Work ------------------------------------------------------------------------------------*/

/* The address in operand o of the first line of a piece. */
static float *address(const struct job *job, int o, uint64_t piece)
{
	const struct tn_operand *operand = job->operands[o];
	int64_t line = (int64_t)(piece % (uint64_t)job->pieces) * job->piece;
	int64_t place = (int64_t)(piece / (uint64_t)job->pieces);
	int64_t at = line * job->lines.strides[o];
	for (uint32_t i = 0; i < job->n_others; i++) {
		at += place % job->others[i].length * job->others[i].strides[o];
		place /= job->others[i].length;
	}
	return (float *)(uintptr_t)(operand->buffer + operand->offset) + at;
}

static void run_pieces(void *argument, uint64_t begin, uint64_t end)
{
	const struct job *job = argument;
	const struct axis *walked = job->is_along ? &job->lines : &job->own;
	struct cpu_softmax s = {
		.n = job->own.length,
		.in_line = walked->strides[IN],
		.dy_line = walked->strides[DY],
		.out_line = walked->strides[OUT],
		.logarithm = (int)job->args.logarithm,
		.accumulate = (job->args.call.flags & TN_ACCUMULATE) != 0,
	};
	for (uint64_t i = begin; i < end; i++) {
		int64_t first = (int64_t)(i % (uint64_t)job->pieces) * job->piece;
		int64_t left = job->lines.length - first;
		s.lines = left < job->piece ? left : job->piece;
		s.in = address(job, IN, i);
		s.dy = address(job, DY, i);
		s.out = address(job, OUT, i);
		job->kernel(&s);
	}
}

static tn_status check_and_run(struct job *job)
{
	tn_status status = check_arguments(job);
	if (status)
		return status;
	collect(job);
	if (!choose_lines(job))
		return tn_plugin_fail(job->args.call.error, TN_UNSUPPORTED, job->name,
				      "strides: no axis has stride 1 in all arrays");
	int64_t least = job->is_along ? 1 : BAND;
	job->piece = divide_up(divide_up(PIECE, job->own.length), least) * least;
	job->pieces = divide_up(job->lines.length, job->piece);
	if (job->args.call.flags & TN_DRY_RUN)
		return tn_plugin_dry_run(&job->args.call, 0, 0);
	const struct cpu_softmax_kernels *kernels = job->device->instance->kernels->softmax;
	if (job->is_backward)
		job->kernel = job->is_along ? kernels->backward_along : kernels->backward_across;
	else
		job->kernel = job->is_along ? kernels->forward_along : kernels->forward_across;
	uint64_t places = 1;
	int64_t elements =
		(job->piece < job->lines.length ? job->piece : job->lines.length) * job->own.length;
	for (uint32_t i = 0; i < job->n_others; i++)
		places *= (uint64_t)job->others[i].length;
	cpu_parallel(job->device, places * (uint64_t)job->pieces,
		     (uint64_t)divide_up(PIECE, elements), run_pieces, job);
	return TN_OK;
}

tn_status cpu_softmax_forward(void *device, const struct tn_softmax_args *args)
{
	struct job job = {.device = device, .name = "softmax_forward"};
	tn_status status = tn_plugin_take(&job.args, sizeof(job.args), args,
					  TN_DRY_RUN | TN_DETERMINISTIC, job.name);
	job.operands[IN] = job.operands[DY] = &job.args.x;
	job.operands[OUT] = &job.args.y;
	return status ? status : check_and_run(&job);
}

tn_status cpu_softmax_backward(void *device, const struct tn_softmax_args *args)
{
	struct job job = {.device = device, .name = "softmax_backward", .is_backward = 1};
	tn_status status = tn_plugin_take(&job.args, sizeof(job.args), args,
					  TN_DRY_RUN | TN_DETERMINISTIC | TN_ACCUMULATE, job.name);
	job.operands[IN] = &job.args.y;
	job.operands[DY] = &job.args.dy;
	job.operands[OUT] = &job.args.dx;
	return status ? status : check_and_run(&job);
}
