/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The gradient check: (f(x + h e) - f(x - h e)) / 2h for each tested element e, compared with the
 * tape's gradient.
 */
#include <math.h>
#include <string.h>

#include "array/array.h"
#include "array/make.h"
#include "autograd/node.h"
#include "base/memory.h"

struct check {
	tn_context *context;
	struct tn_runtime *rt;
	tn_gradient_function f;
	void *user;
	int n_inputs;
	tn_array *const *inputs;
	double step;
	double tolerance;
	int64_t max_elements;
	struct tn_gradient_report report;
};

static double get_element(tn_dtype dtype, const void *data, int64_t i)
{
	return dtype == TN_F64 ? ((const double *)data)[i] : ((const float *)data)[i];
}

static void set_element(tn_dtype dtype, void *data, int64_t i, double value)
{
	if (dtype == TN_F64)
		((double *)data)[i] = value;
	else
		((float *)data)[i] = (float)value;
}

/* f with element i of the input at `value`. */
static tn_status value_at(struct check *check, tn_array *x, void *data, int64_t i, double value,
			  double *result)
{
	size_t size = (size_t)tn_array_size(x) * tn_dtype_size(x->dtype);
	double before = get_element(x->dtype, data, i);
	set_element(x->dtype, data, i, value);
	tn_status status = tn_assign_host(x, data, size);
	if (!status)
		status = tn_scope_begin(check->context);
	if (!status) {
		tn_array *y = check->f(check->user, check->inputs);
		status = y ? tn_item(y, result) : tn_runtime_status(check->rt);
		tn_scope_end(check->context, NULL);
	}
	set_element(x->dtype, data, i, before);
	return status;
}

static tn_status check_elements(struct check *check, int input, void *data, const void *gradient)
{
	tn_array *x = check->inputs[input];
	int64_t n = tn_array_size(x);
	int64_t tried = check->max_elements && check->max_elements < n ? check->max_elements : n;
	double step = check->step > 0 ? check->step : x->dtype == TN_F64 ? 1e-6 : 1e-3;
	for (int64_t k = 0; k < tried; k++) {
		int64_t i = tried == n ? k : (int64_t)((double)k * (double)n / (double)tried);
		double value = get_element(x->dtype, data, i), above, below;
		tn_status status = value_at(check, x, data, i, value + step, &above);
		if (!status)
			status = value_at(check, x, data, i, value - step, &below);
		if (status)
			return status;
		double tape = gradient ? get_element(x->dtype, gradient, i) : 0.0;
		double difference = (above - below) / (2.0 * step);
		double off = fabs(tape - difference) / (1.0 + fabs(difference));
		if (isnan(off))
			off = INFINITY;
		if (off > check->report.worst)
			check->report =
				(struct tn_gradient_report){.struct_size = sizeof(check->report),
							    .input = input,
							    .element = i,
							    .worst = off,
							    .tape = tape,
							    .difference = difference};
	}
	return tn_assign_host(x, data, (size_t)n * tn_dtype_size(x->dtype));
}

static tn_status check_input(struct check *check, int input, tn_array *gradient)
{
	tn_array *x = check->inputs[input];
	size_t size = (size_t)tn_array_size(x) * tn_dtype_size(x->dtype);
	void *data = tn_mem_alloc(size), *values = gradient ? tn_mem_alloc(size) : NULL;
	tn_status status = TN_OK;
	if (!data || (gradient && !values))
		status = tn_runtime_fail(check->rt, TN_OUT_OF_MEMORY, "gradient_check",
					 "no host memory for %zu bytes", size);
	if (!status)
		status = tn_to_host(x, data, size);
	if (!status && gradient)
		status = tn_to_host(gradient, values, size);
	if (!status)
		status = check_elements(check, input, data, values);
	tn_mem_free(data);
	tn_mem_free(values);
	return status;
}

/* The tape's gradients, as arrays of the current scope. */
static tn_status tape_gradients(struct check *check, tn_array **gradients)
{
	tn_tape *tape = tn_tape_begin(check->context);
	tn_status status = tape ? TN_OK : tn_runtime_status(check->rt);
	for (int i = 0; i < check->n_inputs && !status; i++) {
		const tn_array *x = check->inputs[i];
		if (x && x->dtype != TN_F32 && x->dtype != TN_F64)
			status = tn_runtime_fail(check->rt, TN_DTYPE, "gradient_check",
						 "input %d: expected an f32 or f64 array, found %s",
						 i, tn_dtype_name(x->dtype));
		else
			status = tn_tape_watch(tape, check->inputs[i]);
	}
	if (!status) {
		tn_array *y = check->f(check->user, check->inputs);
		status = y ? tn_tape_backward(tape, y, NULL) : tn_runtime_status(check->rt);
	}
	for (int i = 0; i < check->n_inputs && !status; i++)
		gradients[i] = tn_tape_gradient(tape, check->inputs[i]);
	tn_tape_end(tape);
	return status ? status : tn_runtime_status(check->rt);
}

/* The report so far; a caller may do without. */
static tn_status answer(struct check *check, struct tn_gradient_report *report)
{
	return report ? tn_runtime_answer(check->rt, report, &check->report, sizeof(check->report),
					  "struct tn_gradient_report", "gradient_check")
		      : TN_OK;
}

tn_status tn_gradient_check(tn_context *context, tn_gradient_function f, void *user, int n_inputs,
			    tn_array *const *inputs, double step, double tolerance,
			    int64_t max_elements, struct tn_gradient_report *report)
{
	tn_array *gradients[TN_NODE_MAX_INPUTS] = {0};
	if (!inputs)
		return tn_runtime_null(tn_runtime_of(context), "gradient_check", "inputs");
	if (n_inputs < 1 || n_inputs > TN_NODE_MAX_INPUTS || max_elements < 0)
		return TN_INVALID_ARGUMENT;
	const tn_array *const *given = (const tn_array *const *)inputs;
	tn_status status = tn_arrays_given((uint32_t)n_inputs, given, "gradient_check");
	if (!status && (!context || !f))
		status = tn_runtime_null(inputs[0]->runtime, "gradient_check",
					 context ? "f" : "context");
	if (status)
		return status;
	struct check check = {
		.context = context,
		.rt = tn_runtime_of(context),
		.f = f,
		.user = user,
		.n_inputs = n_inputs,
		.inputs = inputs,
		.step = step,
		.tolerance = tolerance,
		.max_elements = max_elements,
	};
	status = answer(&check, report);
	if (!status)
		status = tn_scope_begin(context);
	if (status)
		return status;
	status = tape_gradients(&check, gradients);
	for (int i = 0; i < n_inputs && !status; i++)
		status = check_input(&check, i, gradients[i]);
	tn_scope_end(context, NULL);
	(void)answer(&check, report);
	if (!status && !(check.report.worst <= tolerance))
		status = tn_runtime_fail(check.rt, TN_INTERNAL, "gradient_check",
					 "input %d, element %lld: the tape's gradient is %.9g, "
					 "that of differences %.9g",
					 check.report.input, (long long)check.report.element,
					 check.report.tape, check.report.difference);
	return status;
}
