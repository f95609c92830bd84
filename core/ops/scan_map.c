/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Scans by a user's operator.
 */
#include <tenon/manipulate.h>
#include <tenon/map.h>

#include "array/make.h"
#include "base/dtype.h"
#include "dispatch/ledger.h"
#include "ops/axes.h"
#include "ops/combine.h"
#include "ops/copy.h"
#include "ops/users_program.h"

static const char operation[] = "scan_map";

/* The operator: a text over x and y. */
static struct tn_users_text text_over(const char *text, const tn_array *const *both)
{
	static const char *const names[] = {"x", "y"};
	return (struct tn_users_text){.operation = operation,
				      .number = tn_operation_named(both[0]->runtime, operation),
				      .argument = "text",
				      .text = text,
				      .n_inputs = 2,
				      .names = names,
				      .inputs = both};
}

static tn_status parse(const struct tn_users_text *text, struct tn_users_program *program)
{
	const tn_array *a = text->inputs[0];
	struct tn_error_info *error = &a->runtime->report;
	tn_status status = tn_users_parse(a->runtime, text, program);
	if (status || tn_users_dtype(program->results[0], 2, text->inputs) == a->dtype)
		return status;
	status = tn_fail(error, TN_DTYPE, operation,
			 "text: expected an operator that gives %s, found %s of two %s",
			 tn_dtype_name(a->dtype), tn_dtype_name(program->results[0]),
			 tn_dtype_name(a->dtype));
	tn_users_release(a->runtime, program);
	return status;
}

static tn_array *apply(const void *user, const tn_array *x, const tn_array *y)
{
	const tn_array *both[] = {x, y};
	struct tn_runtime *runtime = tn_begin(2, both, operation);
	struct tn_users_program program;
	tn_array *out = NULL;
	if (!runtime)
		return NULL;
	const struct tn_users_text text = text_over(user, both);
	tn_status status = parse(&text, &program);
	if (status)
		return tn_end(runtime, status, NULL);
	status = tn_users_run(runtime, &text, &program, &x->dtype, &out);
	tn_users_release(runtime, &program);
	return tn_end(runtime, status, out);
}

/* The library's scan by the operator of a program, which is one instruction on x and y; else NULL.
 * Sums and products of integers have another dtype there. */
static tn_array *(*known_scan(const struct tn_program *program, tn_dtype dtype))(const tn_array *a,
										 int axis)
{
	const struct tn_instruction *code = program->instructions;
	if (!tn_is_floating(dtype) || program->n_instructions != 3 || code[0].op != TN_OP_INPUT ||
	    code[1].op != TN_OP_INPUT || code[2].a == code[2].b)
		return NULL;
	switch (code[2].op) {
	case TN_OP_ADD:
		return tn_cumsum;
	case TN_OP_MUL:
		return tn_cumprod;
	case TN_OP_MAX:
		return tn_cummax;
	case TN_OP_MIN:
		return tn_cummin;
	default:
		return NULL;
	}
}

/* All elements but the last, after `first`. */
static tn_array *shift(tn_array *a, int axis, const tn_number *first)
{
	int64_t shape[TN_MAX_RANK];
	if (!a || !a->size)
		return a;
	for (int i = 0; i < a->rank; i++)
		shape[i] = i == axis ? 1 : a->shape[i];
	const tn_array *parts[] = {
		tn_array_filled_number(a, operation, "exclusive", a->dtype, a->rank, shape, *first),
		tn_slice(a, axis, 0, a->shape[axis] - 1, 1)};
	return parts[0] ? tn_concatenate(2, parts, axis) : NULL;
}

static tn_array *scan(const char *text, const tn_array *a, int axis,
		      const struct tn_scan_map_options *o)
{
	const tn_array *both[] = {a, a};
	const struct tn_users_text operator= text_over(text, both);
	struct tn_users_program program;
	tn_status status = parse(&operator, & program);
	if (status)
		return tn_end(a->runtime, status, NULL);
	tn_array *(*known)(const tn_array *, int) = known_scan(program.program, a->dtype);
	tn_users_release(a->runtime, &program);
	tn_array *line = o->reverse ? tn_flip(a, 1, &axis) : tn_reshape(a, a->rank, a->shape);
	line = known ? known(line, axis) : tn_combine_scan(line, axis, apply, text);
	if (o->exclusive)
		line = shift(line, axis, o->exclusive);
	line = o->reverse ? tn_flip(line, 1, &axis) : line;
	/* Of one element it is a itself. */
	return line && line->storage == a->storage ? tn_copy(line) : line;
}

tn_array *tn_scan_map(const char *text, const tn_array *a, int axis,
		      const struct tn_scan_map_options *options)
{
	struct tn_scan_map_options own = tn_scan_map_defaults();
	struct tn_runtime *runtime = tn_begin(1, &a, operation);
	if (!runtime)
		return NULL;
	if (options && tn_runtime_take(runtime, &own, sizeof(own), options,
				       "struct tn_scan_map_options", operation))
		return NULL;
	if (tn_axis_check(a, operation, "axis", &axis) || tn_scope_begin(runtime->context))
		return NULL;
	return tn_scope_end(runtime->context, scan(text, a, axis, &own));
}
