/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Universal functions by name, and calls with options.  A function is a row of the table of
 * operations.
 */
#include "numpy/ufunc_call.h"

#include <stdio.h>
#include <string.h>
#include <tenon/ufunc.h>

#include "array/make.h"
#include "array/result_type.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "dispatch/element_programs.h"
#include "ops/copy.h"
#include "ops/elementwise.h"
#include "ops/map.h"
#include "program/cast.h"

enum { MOST_INPUTS = 3 };

/* ---- The functions ---------------------------------------------------------------------------*/

/* Not those with numbers as parameters, nor tn_where, whose first array is a condition, nor
 * tn_complex, which has no program of its own, nor tn_modf, which has two results. */
static int is_ufunc(const tn_ufunc *row)
{
	return row->text && !row->scalars && !row->typed_from && row != &tn_operations[TN_DO_MODF];
}

const tn_ufunc *tn_ufunc_number(int i)
{
	for (int row = 0; i >= 0 && row < TN_ELEMENT_OPERATIONS; row++) {
		if (is_ufunc(&tn_operations[row]) && i-- == 0)
			return &tn_operations[row];
	}
	return NULL;
}

int tn_ufunc_count(void)
{
	int n = 0;
	for (int row = 0; row < TN_ELEMENT_OPERATIONS; row++)
		n += is_ufunc(&tn_operations[row]);
	return n;
}

/* NumPy's other names. */
static const struct {
	const char *alias, *name;
} aliases[] = {
	{"absolute", "abs"},          {"acos", "arccos"},
	{"acosh", "arccosh"},         {"asin", "arcsin"},
	{"asinh", "arcsinh"},         {"atan", "arctan"},
	{"atan2", "arctan2"},         {"atanh", "arctanh"},
	{"bitwise_invert", "invert"}, {"bitwise_left_shift", "left_shift"},
	{"bitwise_not", "invert"},    {"bitwise_right_shift", "right_shift"},
	{"conjugate", "conj"},        {"degrees", "rad2deg"},
	{"mod", "remainder"},         {"pow", "power"},
	{"radians", "deg2rad"},       {"true_divide", "divide"},
};

const tn_ufunc *tn_ufunc_find(const char *name)
{
	if (!name)
		return NULL;
	for (size_t i = 0; i < sizeof(aliases) / sizeof(*aliases); i++) {
		if (strcmp(aliases[i].alias, name) == 0)
			name = aliases[i].name;
	}
	for (int row = 0; row < TN_ELEMENT_OPERATIONS; row++) {
		if (is_ufunc(&tn_operations[row]) && strcmp(tn_operations[row].name, name) == 0)
			return &tn_operations[row];
	}
	return NULL;
}

const char *tn_ufunc_name(const tn_ufunc *ufunc)
{
	return ufunc ? tn_operations[tn_ufunc_operation(ufunc)].name : NULL;
}

int tn_ufunc_inputs(const tn_ufunc *ufunc)
{
	return ufunc ? (int)tn_count_words(ufunc->inputs) : 0;
}

int tn_ufunc_identity(const tn_ufunc *ufunc, tn_number *identity)
{
	if (!ufunc || !tn_operations[tn_ufunc_operation(ufunc)].fold.has_identity)
		return 0;
	const double value = tn_operations[tn_ufunc_operation(ufunc)].fold.identity;
	if (identity && value - value == 0)
		*identity = tn_number_i64((int64_t)value);
	else if (identity)
		*identity = tn_number_f64(value);
	return 1;
}

tn_array *tn_ufunc_run(const tn_ufunc *ufunc, const tn_array *const *inputs)
{
	const enum tn_operation operation = tn_ufunc_operation(ufunc);
	switch (operation) {
	case TN_DO_POWER: /* large exponents of integers are beyond one program */
		return tn_power(inputs[0], inputs[1]);
	case TN_DO_ARCSIN: /* of complex numbers, as the next three, composed */
		return tn_arcsin(inputs[0]);
	case TN_DO_ARCCOS:
		return tn_arccos(inputs[0]);
	case TN_DO_ARCSINH:
		return tn_arcsinh(inputs[0]);
	case TN_DO_ARCCOSH:
		return tn_arccosh(inputs[0]);
	default:
		return tn_element_run(operation, inputs, NULL);
	}
}

tn_array *tn_ufunc_combine(const void *user, const tn_array *x, const tn_array *y)
{
	const tn_array *both[] = {x, y};
	return x && y ? tn_ufunc_run(user, both) : NULL;
}

/* ---- Dtypes ----------------------------------------------------------------------------------*/

static const char *const casting_names[] = {"same_kind", "no", "equiv", "safe", "unsafe"};

int tn_can_cast(tn_dtype from, tn_dtype to, uint32_t casting)
{
	if (!tn_dtype_size(from) || !tn_dtype_size(to))
		return 0;
	const int is_safe = tn_result_type(from, to) == to;
	switch (casting) {
	case TN_CASTING_NO:
	case TN_CASTING_EQUIV:
		return from == to;
	case TN_CASTING_SAFE:
		return is_safe;
	case TN_CASTING_SAME_KIND:
		return is_safe || tn_is_same_kind(from, to);
	default:
		return casting == TN_CASTING_UNSAFE;
	}
}

static tn_status check_cast(struct tn_runtime *runtime, const char *operation, const char *argument,
			    tn_dtype from, tn_dtype to, uint32_t casting)
{
	if (tn_can_cast(from, to, casting))
		return TN_OK;
	return tn_runtime_fail(runtime, TN_DTYPE, operation,
			       "%s: casting '%s' does not allow %s to become %s", argument,
			       casting_names[casting], tn_dtype_name(from), tn_dtype_name(to));
}

tn_dtype tn_ufunc_loop(const tn_ufunc *ufunc, int n, const tn_dtype *dtypes)
{
	uint32_t set = 0;
	for (int i = 0; i < n; i++)
		set |= 1u << dtypes[i];
	const tn_dtype loop = tn_loop_type(ufunc->loop, set);
	return tn_is_complex(loop) && !ufunc->on_complex ? 0 : loop;
}

tn_array *tn_ufunc_cast(const tn_array *array, tn_dtype dtype)
{
	if (!array || array->dtype == dtype)
		return tn_array_const_cast(array);
	return tn_astype(array, dtype);
}

/* ---- Options ---------------------------------------------------------------------------------*/

tn_status tn_ufunc_take(struct tn_runtime *runtime, const char *operation,
			const struct tn_ufunc_options *options, struct tn_ufunc_options *own)
{
	memset(own, 0, sizeof(*own));
	if (!options)
		return TN_OK;
	tn_status status = tn_runtime_take(runtime, own, sizeof(*own), options,
					   "struct tn_ufunc_options", operation);
	if (status)
		return status;
	if (own->casting > TN_CASTING_UNSAFE)
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, operation,
				       "casting: expected TN_CASTING_SAME_KIND to "
				       "TN_CASTING_UNSAFE, found %u",
				       own->casting);
	if (own->dtype && !tn_dtype_size(own->dtype))
		return tn_runtime_fail(runtime, TN_DTYPE, operation,
				       "dtype: expected an element type, found %d",
				       (int)own->dtype);
	if (own->where && own->where->dtype != TN_BOOL)
		return tn_runtime_fail(runtime, TN_DTYPE, operation,
				       "where: expected bool, found %s",
				       tn_dtype_name(own->where->dtype));
	const tn_array *more[] = {own->where, own->out};
	for (int i = 0; i < 2; i++) {
		if (more[i] && more[i]->runtime != runtime)
			return tn_runtime_fail(runtime, TN_DEVICE, operation,
					       "%s: the array belongs to another context",
					       i ? "out" : "where");
	}
	return TN_OK;
}

/* Do the arrays broadcast, and to the shape of out unless it is NULL? */
static tn_status check_shape(const char *operation, const tn_array *out, uint32_t n,
			     const tn_array *const *arrays)
{
	struct tn_runtime *runtime = arrays[0]->runtime;
	char found[TN_SHAPE_TEXT], expected[TN_SHAPE_TEXT];
	int64_t shape[TN_MAX_RANK];
	int rank = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (tn_shape_broadcast(&rank, shape, arrays[i]->rank, arrays[i]->shape))
			continue;
		return tn_runtime_fail(runtime, TN_SHAPE, operation,
				       "shapes %s and %s of the inputs and of where do not "
				       "broadcast",
				       tn_shape_print(rank, shape, expected),
				       tn_array_text(arrays[i], found));
	}
	tn_shape_print(rank, shape, expected);
	if (!out || (tn_shape_broadcast(&rank, shape, out->rank, out->shape) &&
		     tn_shape_equal(rank, shape, out->rank, out->shape)))
		return TN_OK;
	return tn_runtime_fail(runtime, TN_SHAPE, operation,
			       "out: expected a shape to which %s broadcasts, found %s", expected,
			       tn_array_text(out, found));
}

tn_status tn_ufunc_store(const char *operation, const struct tn_ufunc_options *o,
			 const tn_array *where, tn_array *result)
{
	if (!result)
		return TN_PENDING_ERROR;
	const tn_array *both[] = {result, where};
	tn_status status = check_shape(operation, o->out, where ? 2 : 1, both);
	if (!status)
		status = check_cast(result->runtime, operation, "out", result->dtype, o->out->dtype,
				    o->casting);
	if (status)
		return status;
	if (!where)
		return tn_assign(o->out, result);
	/* Converted first, so that the choice changes neither. */
	const tn_array *chosen = tn_where(where, tn_ufunc_cast(result, o->out->dtype), o->out);
	return chosen ? tn_assign(o->out, chosen) : TN_PENDING_ERROR;
}

/* ---- Calls -----------------------------------------------------------------------------------*/

struct call {
	const tn_ufunc *ufunc;
	const char *name;
	struct tn_runtime *runtime;
	const tn_array *inputs[MOST_INPUTS];
	struct tn_ufunc_options o;
};

/* Converts the inputs to the dtype that is asked for. */
static tn_status cast_inputs(struct call *call)
{
	const int n = tn_ufunc_inputs(call->ufunc);
	tn_dtype dtypes[MOST_INPUTS] = {0}, asked = call->ufunc->gives_bool ? 0 : call->o.dtype;
	char argument[24];
	for (int i = 0; i < n; i++)
		dtypes[i] = asked ? asked : call->inputs[i]->dtype;
	const tn_dtype loop = tn_ufunc_loop(call->ufunc, n, dtypes);
	if ((asked && loop != asked) ||
	    (call->ufunc->gives_bool && call->o.dtype && call->o.dtype != TN_BOOL))
		return tn_runtime_fail(call->runtime, TN_DTYPE, call->name,
				       "dtype: it has no result of %s",
				       tn_dtype_name(call->o.dtype));
	for (int i = 0; loop && i < n; i++) {
		snprintf(argument, sizeof(argument), "input %d", i);
		tn_status status = check_cast(call->runtime, call->name, argument,
					      call->inputs[i]->dtype, loop, call->o.casting);
		if (status)
			return status;
		if (asked)
			call->inputs[i] = tn_ufunc_cast(call->inputs[i], asked);
		if (!call->inputs[i])
			return TN_PENDING_ERROR;
	}
	return TN_OK;
}

/* Runs the program on out itself, where that has the dtype and everything is written; else
 * *is_done is 0. */
static tn_status run_into(const struct call *call, int *is_done)
{
	const enum tn_operation operation = tn_ufunc_operation(call->ufunc);
	tn_array *out = call->o.out;
	struct tn_element_program element;
	tn_dtype dtypes[MOST_INPUTS];
	const int n = tn_ufunc_inputs(call->ufunc);
	*is_done = 0;
	for (int i = 0; i < n; i++) {
		dtypes[i] = call->inputs[i]->dtype;
		if (tn_is_complex(dtypes[i]))
			return TN_OK;
	}
	if (call->o.where || operation == TN_DO_POWER)
		return TN_OK;
	tn_status status =
		tn_element_program_find(call->runtime, operation, (uint32_t)n, dtypes, &element);
	if (status || element.result != out->dtype)
		return status;
	const struct tn_map_run run = {.operation = operation,
				       .program = element.program,
				       .inputs = call->inputs,
				       .outputs = &out};
	*is_done = 1;
	return tn_map_run(call->runtime, &run);
}

static tn_status call_into(const struct call *call, uint32_t n, const tn_array **all)
{
	int is_done = 0;
	all[n++] = call->o.out;
	tn_status status = tn_refuse_tracked(call->runtime, call->name, n, all);
	if (!status)
		status = tn_array_writable(call->runtime, call->name, call->o.out);
	if (!status)
		status = run_into(call, &is_done);
	if (status || is_done)
		return tn_end_into(call->runtime, status);
	return tn_ufunc_store(call->name, &call->o, call->o.where,
			      tn_ufunc_run(call->ufunc, call->inputs));
}

static tn_array *call_new(const struct call *call)
{
	tn_array *out = tn_ufunc_run(call->ufunc, call->inputs);
	if (!out || !call->o.where)
		return out;
	return tn_where(call->o.where, out, tn_array_filled(out, out->dtype, 0, NULL, 0));
}

/* In a scope of its caller.  *out: the new array, if one is to be made. */
static tn_status run_call(struct call *call, tn_array **out)
{
	const tn_array *all[MOST_INPUTS + 2];
	uint32_t n = (uint32_t)tn_ufunc_inputs(call->ufunc);
	memcpy(all, call->inputs, sizeof(call->inputs));
	if (call->o.where)
		all[n++] = call->o.where;
	tn_status status = check_shape(call->name, call->o.out, n, all);
	if (!status)
		status = cast_inputs(call);
	if (status || call->o.out)
		return status ? status : call_into(call, n, all);
	*out = call_new(call);
	return *out ? TN_OK : TN_PENDING_ERROR;
}

struct tn_runtime *tn_ufunc_begin(const char *method, const tn_ufunc *ufunc, int n,
				  const tn_array *const *arrays)
{
	struct tn_runtime *runtime =
		tn_begin((uint32_t)n, arrays, ufunc ? tn_ufunc_name(ufunc) : "ufunc");
	if (!runtime || ufunc)
		return runtime;
	tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "ufunc", "%s: the ufunc is NULL", method);
	return NULL;
}

tn_array *tn_ufunc_call(const tn_ufunc *ufunc, int n, const tn_array *const *inputs,
			const struct tn_ufunc_options *options)
{
	struct call call = {.ufunc = ufunc, .name = tn_ufunc_name(ufunc)};
	tn_array *out = NULL;
	if (!inputs || n < 1)
		return NULL;
	const int n_inputs = ufunc ? tn_ufunc_inputs(ufunc) : n;
	call.runtime = tn_ufunc_begin("call", ufunc, n < n_inputs ? n : n_inputs, inputs);
	if (!call.runtime || tn_ufunc_take(call.runtime, call.name, options, &call.o))
		return NULL;
	if (n != n_inputs) {
		tn_runtime_fail(call.runtime, TN_INVALID_ARGUMENT, call.name,
				"n: expected %d arrays, found %d", n_inputs, n);
		return NULL;
	}
	memcpy(call.inputs, inputs, (size_t)n * sizeof(*inputs));
	if (tn_scope_begin(call.runtime->context))
		return NULL;
	tn_status status = run_call(&call, &out);
	tn_scope_end(call.runtime->context, out);
	return call.o.out && !status ? call.o.out : out;
}

tn_array *tn_ufunc_outer(const tn_ufunc *ufunc, const tn_array *a, const tn_array *b,
			 const struct tn_ufunc_options *options)
{
	const tn_array *both[] = {a, b};
	struct tn_runtime *runtime = tn_ufunc_begin("outer", ufunc, 2, both);
	int64_t shape[TN_MAX_RANK];
	if (!runtime)
		return NULL;
	if (tn_ufunc_inputs(ufunc) != 2) {
		tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, tn_ufunc_name(ufunc),
				"outer: expected a function of 2 arrays, found one of %d",
				tn_ufunc_inputs(ufunc));
		return NULL;
	}
	if (a->rank + b->rank > TN_MAX_RANK) {
		tn_runtime_fail(runtime, TN_LIMIT, tn_ufunc_name(ufunc),
				"outer: the result has %d axes, expected at most %d",
				a->rank + b->rank, TN_MAX_RANK);
		return NULL;
	}
	for (int i = 0; i < a->rank + b->rank; i++)
		shape[i] = i < a->rank ? a->shape[i] : 1;
	both[0] = tn_reshape(a, a->rank + b->rank, shape);
	tn_array *out = both[0] ? tn_ufunc_call(ufunc, 2, both, options) : NULL;
	tn_array_discard(tn_array_const_cast(both[0]));
	return out;
}
