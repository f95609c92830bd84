/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A correct sort and a correct scan of f32, for right.h; a fault uses one of them and breaks it
 * through struct lines.
 */
#ifndef TN_TESTS_RIGHT_LINES_H
#define TN_TESTS_RIGHT_LINES_H

#include "right.h"

struct lines {
	int (*stands_before)(float a, float b, int is_descending); /* strictly */
	int last_of_equals_first;
	int64_t carries; /* the number of terms after which a sum restarts; 0: never */
};

static inline int right_stands_before(float a, float b, int is_descending)
{
	if (a != a || b != b)
		return is_descending ? a != a && b == b : a == a && b != b;
	return is_descending ? a > b : a < b;
}

static inline tn_status right_lines_check(const struct tn_call *call, const char *operation,
					  const struct tn_operand *in, const struct tn_operand *out,
					  tn_dtype dtype, uint32_t axis, int may_be_less)
{
	if (out->dtype != dtype)
		return right_fail(call, TN_DTYPE, operation, "another dtype");
	if (in->rank != out->rank || axis >= in->rank)
		return right_fail(call, TN_SHAPE, operation, "two ranks, or no such axis");
	for (uint32_t i = 0; i < in->rank; i++) {
		if (out->shape[i] != in->shape[i] &&
		    !(may_be_less && i == axis && out->shape[i] < in->shape[i]))
			return right_fail(call, TN_SHAPE, operation, "two shapes");
	}
	return TN_OK;
}

/* Element j of the line that starts at `line`. */
static inline char *right_in_line(const struct tn_operand *x, uint32_t axis, char *line, int64_t j)
{
	return line + j * x->strides[axis] * (int64_t)tn_dtype_size(x->dtype);
}

/* The operand with one element on the axis: its elements are the starts of lines. */
static inline struct tn_operand right_heads(const struct tn_operand *x, uint32_t axis)
{
	struct tn_operand heads = *x;
	heads.shape[axis] = 1;
	return heads;
}

/* ---- Sort ------------------------------------------------------------------------------------*/

/* The number of elements of the line that precede element j in the order. */
static inline int64_t right_rank(const struct lines *lines, const struct tn_sort_args *args,
				 char *line, int64_t j)
{
	int64_t n = args->input.shape[args->axis], rank = 0;
	float x = *(float *)(void *)right_in_line(&args->input, args->axis, line, j);
	for (int64_t i = 0; i < n; i++) {
		float y = *(float *)(void *)right_in_line(&args->input, args->axis, line, i);
		int before = lines->stands_before(y, x, (int)args->descending);
		int after = lines->stands_before(x, y, (int)args->descending);
		rank += before || (!after && (lines->last_of_equals_first ? i > j : i < j));
	}
	return rank;
}

static inline void right_sort_line(const struct lines *lines, const struct tn_sort_args *args,
				   uint64_t l)
{
	struct tn_operand in = right_heads(&args->input, args->axis);
	struct tn_operand values = right_heads(&args->values, args->axis);
	struct tn_operand indices = right_heads(&args->indices, args->axis);
	const struct tn_operand *any = args->has_values ? &args->values : &args->indices;
	char *from = right_element(&in, l);
	for (int64_t j = 0; j < args->input.shape[args->axis]; j++) {
		int64_t at = right_rank(lines, args, from, j);
		if (at >= any->shape[args->axis])
			continue;
		if (args->has_values)
			memcpy(right_in_line(&args->values, args->axis, right_element(&values, l),
					     at),
			       right_in_line(&args->input, args->axis, from, j), sizeof(float));
		if (args->has_indices)
			memcpy(right_in_line(&args->indices, args->axis, right_element(&indices, l),
					     at),
			       &j, sizeof(j));
	}
}

static inline tn_status right_sort_check(const struct tn_sort_args *own)
{
	const struct tn_call *call = &own->call;
	tn_status status = TN_OK;
	if (own->descending > 1 || own->has_values > 1 || own->has_indices > 1 ||
	    own->has_values + own->has_indices == 0)
		return right_fail(call, TN_INVALID_ARGUMENT, "sort", "flags");
	if (own->input.dtype != TN_F32)
		return right_fail(call, TN_UNSUPPORTED, "sort", "f32 alone");
	if (own->has_values)
		status = right_lines_check(call, "sort", &own->input, &own->values, TN_F32,
					   own->axis, 1);
	if (!status && own->has_indices)
		status = right_lines_check(call, "sort", &own->input, &own->indices, TN_I64,
					   own->axis, 1);
	if (!status && own->has_values && own->has_indices)
		status = right_lines_check(call, "sort", &own->values, &own->indices, TN_I64,
					   own->axis, 0);
	return status;
}

static inline tn_status right_sort_by(const struct lines *lines, const struct tn_sort_args *args)
{
	struct tn_sort_args own;
	tn_status status = right_take(&own, sizeof(own), args, "sort");
	if (!status)
		status = right_sort_check(&own);
	if (!status && own.input.shape[own.axis] > 6000)
		status = right_fail(&own.call, TN_UNSUPPORTED, "sort", "short lines alone");
	if (status || right_is_dry(&own.call))
		return status;
	struct tn_operand heads = right_heads(&own.input, own.axis);
	for (uint64_t l = 0, n = right_count(&heads); l < n; l++)
		right_sort_line(lines, &own, l);
	return TN_OK;
}

/* ---- Scan: sums ------------------------------------------------------------------------------*/

static inline void right_scan_line(const struct lines *lines, const struct tn_scan_args *args,
				   char *from, char *to)
{
	int64_t n = args->input.shape[args->axis];
	double sum = 0;
	for (int64_t i = 0; i < n; i++) {
		int64_t j = args->reverse ? n - 1 - i : i;
		float x = *(float *)(void *)right_in_line(&args->input, args->axis, from, j);
		if (lines->carries && i % lines->carries == 0)
			sum = 0;
		*(float *)(void *)right_in_line(&args->output, args->axis, to, j) =
			(float)(args->exclusive ? sum : sum + x);
		sum += x;
	}
}

static inline tn_status right_scan_by(const struct lines *lines, const struct tn_scan_args *args)
{
	struct tn_scan_args own;
	tn_status status = right_take(&own, sizeof(own), args, "scan");
	if (!status && (own.combiner != TN_REDUCE_SUM || own.accumulator != TN_F32 ||
			own.input.dtype != TN_F32 || own.output.dtype != TN_F32))
		status = right_fail(&own.call, TN_UNSUPPORTED, "scan", "sums of f32 alone");
	if (!status && (own.reverse > 1 || own.exclusive > 1))
		status = right_fail(&own.call, TN_INVALID_ARGUMENT, "scan", "flags");
	if (!status)
		status = right_lines_check(&own.call, "scan", &own.input, &own.output, TN_F32,
					   own.axis, 0);
	if (status || right_is_dry(&own.call))
		return status;
	struct tn_operand in = right_heads(&own.input, own.axis);
	struct tn_operand out = right_heads(&own.output, own.axis);
	for (uint64_t l = 0, n = right_count(&in); l < n; l++)
		right_scan_line(lines, &own, right_element(&in, l), right_element(&out, l));
	return TN_OK;
}

static const struct lines right_lines = {.stands_before = right_stands_before};

static inline tn_status right_sort(void *device, const struct tn_sort_args *args)
{
	(void)device;
	return right_sort_by(&right_lines, args);
}

static inline tn_status right_scan(void *device, const struct tn_scan_args *args)
{
	(void)device;
	return right_scan_by(&right_lines, args);
}

#endif
