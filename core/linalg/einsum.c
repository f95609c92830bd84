/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Einstein's sums: diagonals of the operands, products in pairs along a path, and the axes of the
 * result in their order.
 */
#include <tenon/linalg.h>

#include <string.h>
#include <tenon/manipulate.h>

#include "array/make.h"
#include "array/result_type.h"
#include "linalg/einsum_path.h"

/* The operands and products of a call, by the numbers of the steps. */
struct einsum {
	struct tn_runtime *runtime;
	struct tn_subscripts subscripts;
	struct tn_einsum_step steps[TN_MOST_OPERANDS];
	uint64_t sets[2 * TN_MOST_OPERANDS];
	struct tn_labelled arrays[2 * TN_MOST_OPERANDS];
};

/* ---- Arguments -------------------------------------------------------------------------------*/

/* The labels of operand i, without those that broadcast from length 1. */
static uint64_t set_of(const struct tn_subscripts *s, int i, const tn_array *operand)
{
	const struct tn_term *term = &s->operands[i];
	uint64_t set = 0;
	for (int axis = 0; axis < term->n; axis++) {
		if (operand->shape[axis] != 1 || s->lengths[term->labels[axis]] == 1)
			set |= tn_label_bit(term->labels[axis]);
	}
	return set;
}

static tn_status begin(struct einsum *e, const char *operation, const char *subscripts, int n,
		       const tn_array *const *operands)
{
	if (n < 1 || !operands)
		return TN_INVALID_ARGUMENT;
	e->runtime = tn_begin((uint32_t)n, operands, operation);
	if (!e->runtime)
		return TN_PENDING_ERROR;
	if (!subscripts)
		return tn_runtime_null(e->runtime, operation, "subscripts");
	if (n > TN_MOST_OPERANDS)
		return tn_runtime_fail(e->runtime, TN_LIMIT, operation,
				       "operands: expected at most %d, found %d", TN_MOST_OPERANDS,
				       n);
	tn_status status = tn_subscripts_read(operation, subscripts, n, operands, &e->subscripts);
	if (status)
		return status;
	for (int i = 0; i < n; i++)
		e->sets[i] = set_of(&e->subscripts, i, operands[i]);
	if (!tn_einsum_find_path(&e->subscripts, e->sets, e->steps))
		return tn_runtime_fail(e->runtime, TN_LIMIT, operation,
				       "subscripts: every product of two operands has more than "
				       "%d axes",
				       TN_MAX_RANK);
	return TN_OK;
}

/* ---- Operands --------------------------------------------------------------------------------*/

/* The diagonals of labels that stand twice: each becomes the last axis. */
static struct tn_labelled take_diagonals(const tn_array *a, const struct tn_term *term)
{
	struct tn_labelled left = {.array = a};
	int n = term->n;
	memcpy(left.labels, term->labels, sizeof(left.labels));
	for (int j = 1; j < n && left.array; j++) {
		int i = 0;
		while (left.labels[i] != left.labels[j])
			i++;
		if (i == j)
			continue;
		const int label = left.labels[i];
		left.array = tn_diagonal(left.array, 0, i, j);
		memmove(left.labels + j, left.labels + j + 1, (size_t)(--n - j) * sizeof(int));
		memmove(left.labels + i, left.labels + i + 1, (size_t)(--n - i) * sizeof(int));
		left.labels[n++] = label;
		j = 0;
	}
	return left;
}

static uint32_t dtypes_of(int n, const tn_array *const *operands)
{
	uint32_t dtypes = 0;
	for (int i = 0; i < n; i++)
		dtypes |= (uint32_t)1 << operands[i]->dtype;
	return dtypes;
}

static void prepare(struct einsum *e, const tn_array *const *operands)
{
	const int n = e->subscripts.n_operands;
	const tn_dtype dtype = tn_result_type_of(dtypes_of(n, operands));
	for (int i = 0; i < n; i++) {
		const tn_array *a = operands[i];
		if (a->dtype != dtype)
			a = tn_astype(a, dtype);
		struct tn_labelled *to = &e->arrays[i];
		*to = take_diagonals(a, &e->subscripts.operands[i]);
		*to = tn_labelled_squeeze(to, tn_labelled_set(to) & ~e->sets[i]);
	}
}

/* ---- Products --------------------------------------------------------------------------------*/

/* The labels that another array than the two of a step, or the result, has. */
static uint64_t kept_by(const struct einsum *e, int step)
{
	uint64_t kept = tn_term_set(&e->subscripts.result);
	for (int i = 0; i < e->subscripts.n_operands + step; i++) {
		if (e->arrays[i].array && i != e->steps[step].a && i != e->steps[step].b)
			kept |= tn_labelled_set(&e->arrays[i]);
	}
	return kept;
}

/* An array that a step has used: products are freed. */
static void drop(struct einsum *e, int number)
{
	if (number >= e->subscripts.n_operands)
		tn_array_discard(tn_array_const_cast(e->arrays[number].array));
	e->arrays[number].array = NULL;
}

/* All steps but the last; what is temporary in one is freed at its end. */
static tn_status multiply_pairs(struct einsum *e, int n_steps)
{
	tn_context *context = e->runtime->context;
	for (int i = 0; i < n_steps; i++) {
		const struct tn_einsum_step step = e->steps[i];
		struct tn_labelled *product = &e->arrays[e->subscripts.n_operands + i];
		tn_status status = tn_scope_begin(context);
		if (status)
			return status;
		*product = tn_contract(&e->arrays[step.a], &e->arrays[step.b], kept_by(e, i));
		product->array = tn_scope_end(context, tn_array_const_cast(product->array));
		if (!product->array)
			return TN_PENDING_ERROR;
		drop(e, step.a);
		drop(e, step.b);
	}
	return TN_OK;
}

static tn_array *compute(struct einsum *e)
{
	const struct tn_term *result = &e->subscripts.result;
	const int n_steps = e->subscripts.n_operands - 1;
	if (!n_steps) {
		const struct tn_labelled sum = tn_labelled_sum(&e->arrays[0], tn_term_set(result));
		return tn_labelled_as(&sum, result->labels);
	}
	if (multiply_pairs(e, n_steps - 1))
		return NULL;
	const struct tn_einsum_step last = e->steps[n_steps - 1];
	return tn_contract_as(&e->arrays[last.a], &e->arrays[last.b], result->n, result->labels);
}

tn_array *tn_einsum(const char *subscripts, int n, const tn_array *const *operands)
{
	struct einsum e = {.runtime = NULL};
	if (begin(&e, "einsum", subscripts, n, operands) || tn_scope_begin(e.runtime->context))
		return NULL;
	prepare(&e, operands);
	tn_array *result = e.runtime->error.status ? NULL : compute(&e);
	return tn_scope_end(e.runtime->context, result);
}

/* ---- Paths -----------------------------------------------------------------------------------*/

/* Takes the array of that number out of a list; returns its position. */
static int remove_from(int *list, int *n, int number)
{
	int at = 0;
	while (list[at] != number)
		at++;
	memmove(list + at, list + at + 1, (size_t)(--*n - at) * sizeof(*list));
	return at;
}

tn_status tn_einsum_path(const char *subscripts, int n, const tn_array *const *operands, int *path)
{
	struct einsum e = {.runtime = NULL};
	int list[TN_MOST_OPERANDS], left = n;
	tn_status status = begin(&e, "einsum_path", subscripts, n, operands);
	if (!status && !path)
		status = tn_runtime_null(e.runtime, "einsum_path", "path");
	if (status)
		return status;
	for (int i = 0; i < n; i++)
		list[i] = i;
	for (int i = 0; i < n - 1; i++) {
		const int b = remove_from(list, &left, e.steps[i].b);
		const int rest = remove_from(list, &left, e.steps[i].a), a = rest + (rest >= b);
		path[2 * i] = a < b ? a : b;
		path[2 * i + 1] = a < b ? b : a;
		list[left++] = n + i;
	}
	return TN_OK;
}
