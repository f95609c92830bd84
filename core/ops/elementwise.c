/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Elementwise operations: each is a row of the table of operations and one program.
 */
#include "ops/elementwise.h"

#include <string.h>

#include "array/make.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "dispatch/element_programs.h"
#include "dispatch/ledger.h"
#include "dispatch/operand.h"
#include "dispatch/power.h"
#include "ops/complex.h"
#include "ops/copy.h"
#include "ops/layout.h"
#include "ops/map.h"
#include "ops/number.h"
#include "program/cast.h"

tn_array *tn_element_run(enum tn_operation operation, const tn_array *const *inputs,
			 const double *values)
{
	const struct tn_element_operation *row = &tn_operations[operation];
	const uint32_t n = tn_count_words(row->inputs);
	struct tn_runtime *runtime = tn_begin(n, inputs, row->name);
	struct tn_map_run run = {.operation = operation, .inputs = inputs};
	struct tn_element_program element;
	tn_dtype dtypes[3] = {0};
	struct tn_scalar scalars[2];
	tn_array *out = NULL;
	tn_status status;
	if (!runtime)
		return NULL;
	for (uint32_t i = 0; i < n; i++) {
		dtypes[i] = inputs[i]->dtype;
		if (tn_is_complex(dtypes[i]))
			return tn_complex_element(runtime, operation, inputs, values);
	}
	status = tn_element_program_find(runtime, operation, n, dtypes, &element);
	if (status)
		return tn_end(runtime, status, NULL);
	out = tn_array_make_broadcast(runtime, row->name, element.result, n, inputs);
	if (!out)
		return tn_end(runtime, runtime->report.status, NULL);
	run.program = element.program;
	if (row->scalars)
		tn_scalars_of(run.program, values, scalars);
	run.scalars = scalars;
	run.outputs = &out;
	status = tn_map_run(runtime, &run);
	if (!status && runtime->recorder && row->gradient != TN_GRADIENT_NONE &&
	    tn_is_floating(out->dtype)) {
		struct tn_record record = {.kind = TN_RECORD_MAP,
					   .operation = row->name,
					   .program = run.program,
					   .scalars = scalars,
					   .derivatives = row->derivatives,
					   .input_names = row->inputs,
					   .scalar_names = row->scalars,
					   .output_serves = row->gradient == TN_GRADIENT_BY_OUTPUT};
		status = tn_record_made(runtime, &record, n, inputs, out);
	}
	return tn_end(runtime, status, out);
}

tn_array *tn_element_unary(enum tn_operation operation, const tn_array *a)
{
	return tn_element_run(operation, &a, NULL);
}

tn_array *tn_element_binary(enum tn_operation operation, const tn_array *a, const tn_array *b)
{
	const tn_array *inputs[] = {a, b};
	return tn_element_run(operation, inputs, NULL);
}

/* For an output of another dtype than the result's, which must not be of a lower kind.  A result
 * that the program computes in another dtype (a narrow or unsigned one) wraps or is rounded in its
 * own first: then it is an array of its own. */
static tn_status store_converted(struct tn_runtime *runtime, struct tn_map_run *run,
				 tn_dtype result, tn_array *out)
{
	const char *name = tn_operations[run->operation].name;
	tn_array *apart;
	tn_status status;
	if (!tn_is_same_kind(result, out->dtype))
		return tn_fail(&runtime->report, TN_DTYPE, name,
			       "the result is %s, the output %s: a lower kind needs tn_astype",
			       tn_dtype_name(result), tn_dtype_name(out->dtype));
	if (tn_is_compute_dtype(result) && !tn_is_complex(out->dtype))
		return tn_map_run(runtime, run);
	apart = tn_array_make(runtime, tn_array_home(out), result, out->rank, out->shape);
	if (!apart)
		return runtime->report.status;
	struct tn_map_run into_apart = *run;
	into_apart.outputs = &apart;
	status = tn_map_run(runtime, &into_apart);
	if (!status)
		status = tn_copy_run(runtime, TN_DO_COPY, out, apart);
	tn_array_discard(apart);
	return status;
}

/* Does only what the backend's call needs: this is the cost of dispatch. */
static tn_status binary_into(enum tn_operation operation, tn_array *out, const tn_array *a,
			     const tn_array *b)
{
	const tn_array *inputs[] = {a, b, out};
	struct tn_map_run run = {.operation = operation, .inputs = inputs, .outputs = &out};
	const char *name = tn_operations[operation].name;
	tn_status status = tn_begin_into(3, inputs, name);
	struct tn_element_program element = {NULL, 0};
	struct tn_runtime *runtime;
	tn_dtype dtypes[2];
	if (status)
		return status;
	runtime = out->runtime;
	if (runtime->recorder) {
		status = tn_refuse_tracked(runtime, name, 3, inputs);
		if (status)
			return tn_end_into(runtime, status);
	}
	dtypes[0] = a->dtype;
	dtypes[1] = b->dtype;
	status = tn_element_program_find(runtime, operation, 2, dtypes, &element);
	run.program = element.program;
	if (!status && out->dtype == element.result)
		status = tn_map_run(runtime, &run);
	else if (tn_is_complex(a->dtype) || tn_is_complex(b->dtype))
		status = tn_complex_element_into(runtime, operation, inputs, out);
	else if (!status)
		status = store_converted(runtime, &run, element.result, out);
	return status ? tn_end_into(runtime, status) : TN_OK;
}

/* ---- Public functions ------------------------------------------------------------------------*/

tn_array *tn_add(const tn_array *a, const tn_array *b)
{
	return tn_element_binary(TN_DO_ADD, a, b);
}

tn_array *tn_subtract(const tn_array *a, const tn_array *b)
{
	return tn_element_binary(TN_DO_SUBTRACT, a, b);
}

tn_array *tn_multiply(const tn_array *a, const tn_array *b)
{
	return tn_element_binary(TN_DO_MULTIPLY, a, b);
}

tn_array *tn_divide(const tn_array *a, const tn_array *b)
{
	return tn_element_binary(TN_DO_DIVIDE, a, b);
}

/* The part of the exponents above the low 32 bits. */
static tn_status finish_power(tn_array *power, const tn_array *a, const tn_array *b)
{
	const tn_array *inputs[] = {a, b, power};
	const tn_dtype dtypes[] = {power->dtype, power->dtype, power->dtype};
	struct tn_map_run run = {.operation = TN_DO_POWER, .inputs = inputs, .outputs = &power};
	char text[TN_POWER_TEXT];
	const struct tn_formula formula = {.text = tn_power_text(power->dtype, 1, text),
					   .inputs = "x y low"};
	tn_status status =
		tn_formula_program(power->runtime, "power", &formula, dtypes, &run.program);
	return status ? status : tn_map_run(power->runtime, &run);
}

tn_array *tn_power(const tn_array *a, const tn_array *b)
{
	tn_array *power = tn_element_binary(TN_DO_POWER, a, b);
	if (!power || !tn_is_integer(power->dtype) || tn_dtype_size(power->dtype) < 8)
		return power;
	return tn_end(power->runtime, finish_power(power, a, b), power);
}

tn_array *tn_maximum(const tn_array *a, const tn_array *b)
{
	return tn_element_binary(TN_DO_MAXIMUM, a, b);
}

tn_array *tn_minimum(const tn_array *a, const tn_array *b)
{
	return tn_element_binary(TN_DO_MINIMUM, a, b);
}

tn_array *tn_equal(const tn_array *a, const tn_array *b)
{
	return tn_element_binary(TN_DO_EQUAL, a, b);
}

tn_array *tn_not_equal(const tn_array *a, const tn_array *b)
{
	return tn_element_binary(TN_DO_NOT_EQUAL, a, b);
}

tn_array *tn_less(const tn_array *a, const tn_array *b)
{
	return tn_element_binary(TN_DO_LESS, a, b);
}

tn_array *tn_less_equal(const tn_array *a, const tn_array *b)
{
	return tn_element_binary(TN_DO_LESS_EQUAL, a, b);
}

tn_array *tn_greater(const tn_array *a, const tn_array *b)
{
	return tn_element_binary(TN_DO_GREATER, a, b);
}

tn_array *tn_greater_equal(const tn_array *a, const tn_array *b)
{
	return tn_element_binary(TN_DO_GREATER_EQUAL, a, b);
}

tn_array *tn_where(const tn_array *condition, const tn_array *a, const tn_array *b)
{
	const tn_array *inputs[] = {condition, a, b};
	if (!condition || !tn_is_complex(condition->dtype))
		return tn_element_run(TN_DO_WHERE, inputs, NULL);
	/* Else the result would be complex too. */
	tn_array *nonzero = tn_astype(condition, TN_BOOL);
	inputs[0] = nonzero;
	tn_array *out = tn_element_run(TN_DO_WHERE, inputs, NULL);
	tn_array_destroy(nonzero);
	return out;
}

tn_status tn_add_into(tn_array *out, const tn_array *a, const tn_array *b)
{
	return binary_into(TN_DO_ADD, out, a, b);
}

tn_status tn_subtract_into(tn_array *out, const tn_array *a, const tn_array *b)
{
	return binary_into(TN_DO_SUBTRACT, out, a, b);
}

tn_status tn_multiply_into(tn_array *out, const tn_array *a, const tn_array *b)
{
	return binary_into(TN_DO_MULTIPLY, out, a, b);
}

tn_array *tn_negative(const tn_array *a)
{
	return tn_element_unary(TN_DO_NEGATIVE, a);
}

tn_array *tn_abs(const tn_array *a)
{
	return tn_element_unary(TN_DO_ABS, a);
}

tn_array *tn_angle(const tn_array *a)
{
	return tn_element_unary(TN_DO_ANGLE, a);
}

tn_array *tn_sign(const tn_array *a)
{
	return tn_element_unary(TN_DO_SIGN, a);
}

tn_array *tn_square(const tn_array *a)
{
	return tn_element_unary(TN_DO_SQUARE, a);
}

tn_array *tn_sqrt(const tn_array *a)
{
	return tn_element_unary(TN_DO_SQRT, a);
}

tn_array *tn_exp(const tn_array *a)
{
	return tn_element_unary(TN_DO_EXP, a);
}

tn_array *tn_log(const tn_array *a)
{
	return tn_element_unary(TN_DO_LOG, a);
}

tn_array *tn_sin(const tn_array *a)
{
	return tn_element_unary(TN_DO_SIN, a);
}

tn_array *tn_cos(const tn_array *a)
{
	return tn_element_unary(TN_DO_COS, a);
}

tn_array *tn_tanh(const tn_array *a)
{
	return tn_element_unary(TN_DO_TANH, a);
}

tn_array *tn_erf(const tn_array *a)
{
	return tn_element_unary(TN_DO_ERF, a);
}

tn_array *tn_sigmoid(const tn_array *a)
{
	return tn_element_unary(TN_DO_SIGMOID, a);
}

tn_array *tn_relu(const tn_array *a)
{
	return tn_element_unary(TN_DO_RELU, a);
}

tn_array *tn_relu6(const tn_array *a)
{
	return tn_element_unary(TN_DO_RELU6, a);
}

tn_array *tn_silu(const tn_array *a)
{
	return tn_element_unary(TN_DO_SILU, a);
}

tn_array *tn_hardswish(const tn_array *a)
{
	return tn_element_unary(TN_DO_HARDSWISH, a);
}

tn_array *tn_gelu(const tn_array *a)
{
	return tn_element_unary(TN_DO_GELU, a);
}

tn_array *tn_gelu_tanh(const tn_array *a)
{
	return tn_element_unary(TN_DO_GELU_TANH, a);
}

tn_array *tn_floor(const tn_array *a)
{
	return tn_element_unary(TN_DO_FLOOR, a);
}

tn_array *tn_ceil(const tn_array *a)
{
	return tn_element_unary(TN_DO_CEIL, a);
}

tn_array *tn_round(const tn_array *a)
{
	return tn_element_unary(TN_DO_ROUND, a);
}

tn_array *tn_affine(const tn_array *a, double alpha, double beta)
{
	const double values[] = {alpha, beta};
	return tn_element_run(TN_DO_AFFINE, &a, values);
}
