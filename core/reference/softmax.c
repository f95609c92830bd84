/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Softmax and its logarithm along one axis, and their gradients.
 */
#include <math.h>

#include "reference/view.h"

static tn_status check_arguments(const struct tn_softmax_args *args, const char *operation,
				 const struct tn_operand *read[2], const struct tn_operand *written)
{
	const struct tn_call *call = &args->call;
	const struct tn_operand *y = &args->y;
	tn_status status =
		tn_reference_check_real(call, operation, "the output", written, y->dtype, WRITE);
	for (int i = 0; i < 2 && !status; i++) {
		if (read[i])
			status = tn_reference_check_real(call, operation, "an input", read[i],
							 y->dtype, READ);
		if (!status && read[i])
			status = tn_reference_check_shape(call, operation, "an input", read[i],
							  written->rank, written->shape);
	}
	if (!status && args->axis >= y->rank)
		status = tn_reference_fail(call, TN_SHAPE, operation,
					   "axis %u: expected less than the rank %u", args->axis,
					   y->rank);
	if (!status && args->logarithm > 1)
		status = tn_reference_fail(call, TN_INVALID_ARGUMENT, operation,
					   "logarithm is %u, expected 0 or 1", args->logarithm);
	return status;
}

/* A compact array as (outer, n, inner), the axis in the middle: element j of line l is at
 * line_start + j inner. */
struct lines {
	int64_t n;
	int64_t inner;
	int64_t count;
};

static struct lines lines_of(const struct tn_operand *y, uint32_t axis)
{
	struct lines lines = {.n = y->shape[axis], .inner = 1};
	for (uint32_t later = axis + 1; later < y->rank; later++)
		lines.inner *= y->shape[later];
	lines.count = (int64_t)tn_reference_count(y) / lines.n;
	return lines;
}

static int64_t line_start(const struct lines *lines, int64_t line)
{
	return line / lines->inner * lines->n * lines->inner + line % lines->inner;
}

/* y := exp(x - max x) / sum exp(x - max x), or its logarithm x - max x - log sum */
static void forward_line(const double *x, double *y, int64_t n, int64_t step, int logarithm)
{
	double largest = x[0], sum = 0;
	for (int64_t j = 1; j < n; j++)
		if (x[j * step] > largest)
			largest = x[j * step];
	for (int64_t j = 0; j < n; j++)
		sum += exp(x[j * step] - largest);
	for (int64_t j = 0; j < n; j++) {
		double distance = x[j * step] - largest;
		y[j * step] = logarithm ? distance - log(sum) : exp(distance) / sum;
	}
}

tn_status tn_reference_softmax_forward(void *device, const struct tn_softmax_args *theirs)
{
	const struct tn_operand *read[2] = {NULL, NULL};
	struct tn_softmax_args args;
	struct lines lines;
	double *x, *y;
	tn_status status = tn_reference_take(&args, sizeof(args), theirs, 0, "softmax_forward");
	read[0] = &args.x;
	if (!status)
		status = check_arguments(&args, "softmax_forward", read, &args.y);
	if (status || tn_reference_is_dry(&args.call))
		return status;
	lines = lines_of(&args.y, args.axis);
	x = tn_reference_unpack(device, &args.x);
	y = tn_reference_numbers(device, tn_reference_count(&args.y));
	if (x && y) {
		for (int64_t line = 0; line < lines.count; line++)
			forward_line(x + line_start(&lines, line), y + line_start(&lines, line),
				     lines.n, lines.inner, (int)args.logarithm);
		tn_reference_write(&args.y, y, 0);
	} else {
		status = tn_reference_no_memory(&args.call, "softmax_forward");
	}
	tn_reference_release(device, x);
	tn_reference_release(device, y);
	return status;
}

/* dx := y (dy - sum y dy), from d y[i] / d x[j] = y[i] ((i == j) - y[j]);
 * for the logarithm dx := dy - exp(y) sum dy, from d y[i] / d x[j] = (i == j) - exp(y[j]).  dx
 * overwrites dy. */
static void backward_line(const double *y, double *dy, int64_t n, int64_t step, int logarithm)
{
	double sum = 0;
	for (int64_t j = 0; j < n; j++)
		sum += logarithm ? dy[j * step] : y[j * step] * dy[j * step];
	for (int64_t j = 0; j < n; j++) {
		if (logarithm)
			dy[j * step] -= exp(y[j * step]) * sum;
		else
			dy[j * step] = y[j * step] * (dy[j * step] - sum);
	}
}

tn_status tn_reference_softmax_backward(void *device, const struct tn_softmax_args *theirs)
{
	const struct tn_operand *read[2];
	struct tn_softmax_args args;
	struct lines lines;
	double *y, *dy;
	tn_status status =
		tn_reference_take(&args, sizeof(args), theirs, TN_ACCUMULATE, "softmax_backward");
	read[0] = &args.y;
	read[1] = &args.dy;
	if (!status)
		status = check_arguments(&args, "softmax_backward", read, &args.dx);
	if (status || tn_reference_is_dry(&args.call))
		return status;
	lines = lines_of(&args.y, args.axis);
	y = tn_reference_unpack(device, &args.y);
	dy = tn_reference_unpack(device, &args.dy);
	if (y && dy) {
		for (int64_t line = 0; line < lines.count; line++)
			backward_line(y + line_start(&lines, line), dy + line_start(&lines, line),
				      lines.n, lines.inner, (int)args.logarithm);
		tn_reference_write(&args.dx, dy, (args.call.flags & TN_ACCUMULATE) != 0);
	} else {
		status = tn_reference_no_memory(&args.call, "softmax_backward");
	}
	tn_reference_release(device, y);
	tn_reference_release(device, dy);
	return status;
}
