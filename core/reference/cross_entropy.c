/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Softmax cross-entropy of logits against labels, one loss per row, and its gradient.  With p =
 * softmax(x[n]):  loss = -log p[label],  d loss / d x[c] = p[c] - (c == label).
 */
#include <math.h>

#include "reference/view.h"

static tn_status check_arguments(const struct tn_cross_entropy_args *args, const char *operation,
				 int is_forward)
{
	const struct tn_call *call = &args->call;
	const struct tn_operand *x = &args->x, *labels = &args->labels;
	tn_status status = tn_reference_check_real(call, operation, "x", x, x->dtype, READ);
	if (!status && x->rank != 2)
		status = tn_reference_fail(call, TN_SHAPE, operation, "x: rank %u, expected 2",
					   x->rank);
	if (!status)
		status = tn_reference_check(call, operation, "labels", labels, READ);
	if (!status && labels->dtype != TN_I32)
		status = tn_reference_fail(call, TN_DTYPE, operation,
					   "labels: expected i32, found dtype %d", labels->dtype);
	if (!status)
		status = tn_reference_check_shape(call, operation, "labels", labels, 1, x->shape);
	const struct tn_operand *operands[] = {&args->maximum, &args->log_sum, &args->loss};
	static const char *const names[] = {"maximum", "log_sum", "loss"};
	for (int i = 0; i < 3 && !status; i++) {
		status = tn_reference_check_real(call, operation, names[i], operands[i], x->dtype,
						 is_forward ? WRITE : READ);
		if (!status)
			status = tn_reference_check_shape(call, operation, names[i], operands[i], 1,
							  x->shape);
	}
	if (!status && !is_forward)
		status = tn_reference_check_real(call, operation, "dx", &args->dx, x->dtype, WRITE);
	if (!status && !is_forward)
		status = tn_reference_check_shape(call, operation, "dx", &args->dx, 2, x->shape);
	return status;
}

/* NaN if any is NaN */
static double largest(const double *x, int64_t n_classes)
{
	double most = x[0];
	for (int64_t c = 1; c < n_classes; c++)
		if (x[c] > most || isnan(x[c]))
			most = x[c];
	return most;
}

/* log sum_c exp(x[c] - maximum) */
static double log_sum_of(const double *x, int64_t n_classes, double maximum)
{
	double sum = exp(x[0] - maximum);
	for (int64_t c = 1; c < n_classes; c++)
		sum += exp(x[c] - maximum);
	return log(sum);
}

/* loss[n] := log_sum[n] - (x[n, label] - maximum[n]) */
static void forward(const struct tn_cross_entropy_args *args, const double *x, double *maximum,
		    double *log_sum, double *loss)
{
	int64_t n_classes = args->x.shape[1];
	struct cursor labels;
	tn_reference_cursor(&labels, &args->labels);
	for (int64_t n = 0; n < args->x.shape[0]; n++, x += n_classes, cursor_next(&labels)) {
		int32_t label = (int32_t)bits_load(labels.at, sizeof(label));
		maximum[n] = largest(x, n_classes);
		log_sum[n] = log_sum_of(x, n_classes, maximum[n]);
		if (label == args->ignore_label)
			loss[n] = 0;
		else if (label < 0 || label >= n_classes)
			loss[n] = NAN;
		else
			loss[n] = log_sum[n] - (x[label] - maximum[n]);
	}
}

tn_status tn_reference_cross_entropy_forward(void *device,
					     const struct tn_cross_entropy_args *theirs)
{
	struct tn_cross_entropy_args args;
	double *x, *maximum, *log_sum, *loss;
	uint64_t n;
	tn_status status =
		tn_reference_take(&args, sizeof(args), theirs, 0, "cross_entropy_forward");
	if (!status)
		status = check_arguments(&args, "cross_entropy_forward", 1);
	if (status || tn_reference_is_dry(&args.call))
		return status;
	n = (uint64_t)args.x.shape[0];
	x = tn_reference_unpack(device, &args.x);
	maximum = tn_reference_numbers(device, n);
	log_sum = tn_reference_numbers(device, n);
	loss = tn_reference_numbers(device, n);
	if (x && maximum && log_sum && loss) {
		forward(&args, x, maximum, log_sum, loss);
		tn_reference_write(&args.maximum, maximum, 0);
		tn_reference_write(&args.log_sum, log_sum, 0);
		tn_reference_write(&args.loss, loss, 0);
	} else {
		status = tn_reference_no_memory(&args.call, "cross_entropy_forward");
	}
	tn_reference_release(device, x);
	tn_reference_release(device, maximum);
	tn_reference_release(device, log_sum);
	tn_reference_release(device, loss);
	return status;
}

static void set_row(double *x, int64_t n_classes, double value)
{
	for (int64_t c = 0; c < n_classes; c++)
		x[c] = value;
}

static void backward(const struct tn_cross_entropy_args *args, double *x, const double *maximum,
		     const double *log_sum, const double *dloss)
{
	int64_t n_classes = args->x.shape[1];
	struct cursor labels;
	tn_reference_cursor(&labels, &args->labels);
	for (int64_t n = 0; n < args->x.shape[0]; n++, x += n_classes, cursor_next(&labels)) {
		int32_t label = (int32_t)bits_load(labels.at, sizeof(label));
		if (label == args->ignore_label) {
			set_row(x, n_classes, 0);
		} else if (label < 0 || label >= n_classes) {
			set_row(x, n_classes, NAN);
		} else {
			/* in place of x */
			for (int64_t c = 0; c < n_classes; c++) {
				double p = exp((x[c] - maximum[n]) - log_sum[n]);
				x[c] = (p - (c == label)) * dloss[n];
			}
		}
	}
}

tn_status tn_reference_cross_entropy_backward(void *device,
					      const struct tn_cross_entropy_args *theirs)
{
	struct tn_cross_entropy_args args;
	double *x, *maximum, *log_sum, *dloss;
	tn_status status = tn_reference_take(&args, sizeof(args), theirs, TN_ACCUMULATE,
					     "cross_entropy_backward");
	if (!status)
		status = check_arguments(&args, "cross_entropy_backward", 0);
	if (status || tn_reference_is_dry(&args.call))
		return status;
	x = tn_reference_unpack(device, &args.x);
	maximum = tn_reference_unpack(device, &args.maximum);
	log_sum = tn_reference_unpack(device, &args.log_sum);
	dloss = tn_reference_unpack(device, &args.loss);
	if (x && maximum && log_sum && dloss) {
		backward(&args, x, maximum, log_sum, dloss);
		tn_reference_write(&args.dx, x, (args.call.flags & TN_ACCUMULATE) != 0);
	} else {
		status = tn_reference_no_memory(&args.call, "cross_entropy_backward");
	}
	tn_reference_release(device, x);
	tn_reference_release(device, maximum);
	tn_reference_release(device, log_sum);
	tn_reference_release(device, dloss);
	return status;
}
