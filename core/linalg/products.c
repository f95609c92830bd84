/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Products of two arrays, most of them summed over axes of both: NumPy's names for what einsum
 * writes with subscripts.
 */
#include <tenon/linalg.h>

#include <inttypes.h>
#include <tenon/manipulate.h>

#include "array/make.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "linalg/contract.h"
#include "ops/axes.h"

/* ---- Checks ----------------------------------------------------------------------------------*/

static tn_status check_rank(const char *operation, const char *name, const tn_array *a, int least)
{
	char text[TN_SHAPE_TEXT];
	if (a->rank >= least)
		return TN_OK;
	return tn_runtime_fail(a->runtime, TN_SHAPE, operation,
			       "%s: expected at least %d %s, found shape %s", name, least,
			       least == 1 ? "axis" : "axes", tn_array_text(a, text));
}

/* The lengths of two axes over which products are summed. */
static tn_status check_lengths(const char *operation, const tn_array *a, int axis_a,
			       const tn_array *b, int axis_b)
{
	char left[TN_SHAPE_TEXT], right[TN_SHAPE_TEXT];
	if (a->shape[axis_a] == b->shape[axis_b])
		return TN_OK;
	return tn_runtime_fail(a->runtime, TN_SHAPE, operation,
			       "axis %d of shape %s and axis %d of shape %s: expected one length, "
			       "found %" PRId64 " and %" PRId64,
			       axis_a, tn_array_text(a, left), axis_b, tn_array_text(b, right),
			       a->shape[axis_a], b->shape[axis_b]);
}

/* The axes before the last n_a and n_b ones. */
static tn_status check_batch(const char *operation, const tn_array *a, int n_a, const tn_array *b,
			     int n_b)
{
	char left[TN_SHAPE_TEXT], right[TN_SHAPE_TEXT];
	int64_t shape[TN_MAX_RANK];
	int rank = 0;
	if (tn_shape_broadcast(&rank, shape, a->rank - n_a, a->shape) &&
	    tn_shape_broadcast(&rank, shape, b->rank - n_b, b->shape))
		return TN_OK;
	return tn_runtime_fail(a->runtime, TN_SHAPE, operation,
			       "the axes of a batch do not broadcast: shapes %s and %s",
			       tn_array_text(a, left), tn_array_text(b, right));
}

static tn_status check_result(const char *operation, const tn_array *a, const tn_array *b, int rank)
{
	char left[TN_SHAPE_TEXT], right[TN_SHAPE_TEXT];
	if (rank <= TN_MAX_RANK)
		return TN_OK;
	return tn_runtime_fail(a->runtime, TN_LIMIT, operation,
			       "shapes %s and %s give %d axes, and an array has at most %d",
			       tn_array_text(a, left), tn_array_text(b, right), rank, TN_MAX_RANK);
}

/* ---- Sums over axes --------------------------------------------------------------------------*/

/* a's axis i has the label i, and axis i of b the label 16 + i, or that of the axis of a with which
 * it is summed.  The other axes are the result's. */
static tn_array *sum_over(const char *operation, const tn_array *a, const tn_array *b, int n,
			  const int *axes_a, const int *axes_b)
{
	struct tn_labelled x = {.array = a}, y = {.array = b};
	int order[2 * TN_MAX_RANK], rank = 0;
	uint64_t summed = 0;
	for (int i = 0; i < TN_MAX_RANK; i++) {
		x.labels[i] = i;
		y.labels[i] = TN_MAX_RANK + i;
	}
	for (int i = 0; i < n; i++) {
		if (check_lengths(operation, a, axes_a[i], b, axes_b[i]))
			return NULL;
		y.labels[axes_b[i]] = axes_a[i];
		summed |= tn_label_bit(axes_a[i]);
	}
	for (int i = 0; i < a->rank; i++) {
		if (!(summed & tn_label_bit(i)))
			order[rank++] = i;
	}
	for (int i = 0; i < b->rank; i++) {
		if (y.labels[i] >= TN_MAX_RANK)
			order[rank++] = y.labels[i];
	}
	if (check_result(operation, a, b, rank))
		return NULL;
	return tn_contract_as(&x, &y, rank, order);
}

tn_array *tn_dot(const tn_array *a, const tn_array *b)
{
	if (!tn_begin(2, (const tn_array *[]){a, b}, "dot"))
		return NULL;
	if (!a->rank || !b->rank)
		return tn_multiply(a, b);
	const int last = a->rank - 1, row = b->rank > 1 ? b->rank - 2 : 0;
	if (check_lengths("dot", a, last, b, row))
		return NULL;
	return b->rank <= 2 ? tn_matmul(a, b) : sum_over("dot", a, b, 1, &last, &row);
}

tn_array *tn_inner(const tn_array *a, const tn_array *b)
{
	if (!tn_begin(2, (const tn_array *[]){a, b}, "inner"))
		return NULL;
	if (!a->rank || !b->rank)
		return tn_multiply(a, b);
	return sum_over("inner", a, b, 1, (const int[]){a->rank - 1}, (const int[]){b->rank - 1});
}

tn_array *tn_tensordot(const tn_array *a, const tn_array *b, int n, const int *axes_a,
		       const int *axes_b)
{
	int of_a[TN_MAX_RANK], of_b[TN_MAX_RANK], last[TN_MAX_RANK], first[TN_MAX_RANK];
	struct tn_runtime *runtime = tn_begin(2, (const tn_array *[]){a, b}, "tensordot");
	int n_b = n;
	if (!runtime)
		return NULL;
	if (n < 0 || n > a->rank || n > b->rank) {
		tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "tensordot",
				"n: expected 0 to %d axes of both, found %d",
				a->rank < b->rank ? a->rank : b->rank, n);
		return NULL;
	}
	if (!axes_a != !axes_b) {
		tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "tensordot",
				"axes_a and axes_b: expected two lists or none, found one");
		return NULL;
	}
	for (int i = 0; i < n; i++) {
		last[i] = a->rank - n + i;
		first[i] = i;
	}
	if (tn_axes_check(a, "tensordot", "axes_a", &n, axes_a ? axes_a : last, of_a) ||
	    tn_axes_check(b, "tensordot", "axes_b", &n_b, axes_b ? axes_b : first, of_b))
		return NULL;
	return sum_over("tensordot", a, b, n, of_a, of_b);
}

static const tn_array *conjugate(const tn_array *a)
{
	return tn_is_complex(a->dtype) ? tn_conj(a) : a;
}

tn_array *tn_vdot(const tn_array *a, const tn_array *b)
{
	const int64_t flat[] = {-1};
	char left[TN_SHAPE_TEXT], right[TN_SHAPE_TEXT];
	struct tn_runtime *runtime = tn_begin(2, (const tn_array *[]){a, b}, "vdot");
	if (!runtime)
		return NULL;
	if (a->size != b->size) {
		tn_runtime_fail(runtime, TN_SHAPE, "vdot",
				"expected as many elements of both, found shapes %s and %s",
				tn_array_text(a, left), tn_array_text(b, right));
		return NULL;
	}
	if (tn_scope_begin(runtime->context))
		return NULL;
	const tn_array *x = tn_reshape(a, 1, flat), *y = tn_reshape(b, 1, flat);
	return tn_scope_end(runtime->context, x && y ? tn_dot(conjugate(x), y) : NULL);
}

tn_array *tn_outer(const tn_array *a, const tn_array *b)
{
	const int64_t column[] = {-1, 1}, row[] = {1, -1};
	struct tn_runtime *runtime = tn_begin(2, (const tn_array *[]){a, b}, "outer");
	if (!runtime || tn_scope_begin(runtime->context))
		return NULL;
	return tn_scope_end(runtime->context,
			    tn_multiply(tn_reshape(a, 2, column), tn_reshape(b, 2, row)));
}

/* ---- Batches ---------------------------------------------------------------------------------*/

tn_array *tn_matvec(const tn_array *a, const tn_array *x)
{
	struct tn_runtime *runtime = tn_begin(2, (const tn_array *[]){a, x}, "matvec");
	if (!runtime || check_rank("matvec", "a", a, 2) || check_rank("matvec", "x", x, 1) ||
	    check_lengths("matvec", a, a->rank - 1, x, x->rank - 1) ||
	    check_batch("matvec", a, 2, x, 1) || tn_scope_begin(runtime->context))
		return NULL;
	if (x->rank == 1)
		return tn_scope_end(runtime->context, tn_matmul(a, x));
	return tn_scope_end(runtime->context, tn_squeeze(tn_matmul(a, tn_expand_dims(x, -1)), -1));
}

tn_array *tn_vecmat(const tn_array *x, const tn_array *a)
{
	struct tn_runtime *runtime = tn_begin(2, (const tn_array *[]){x, a}, "vecmat");
	if (!runtime || check_rank("vecmat", "x", x, 1) || check_rank("vecmat", "a", a, 2) ||
	    check_lengths("vecmat", x, x->rank - 1, a, a->rank - 2) ||
	    check_batch("vecmat", x, 1, a, 2) || tn_scope_begin(runtime->context))
		return NULL;
	const tn_array *y = conjugate(x);
	if (x->rank == 1)
		return tn_scope_end(runtime->context, tn_matmul(y, a));
	return tn_scope_end(runtime->context, tn_squeeze(tn_matmul(tn_expand_dims(y, -2), a), -2));
}

/* Labels the axis over which products are summed, and the others from the last one on. */
static struct tn_labelled label_vectors(const tn_array *a, int axis)
{
	struct tn_labelled labelled = {.array = a};
	int label = 0;
	for (int i = a->rank - 1; i >= 0; i--)
		labelled.labels[i] = i == axis ? TN_MAX_RANK : label++;
	return labelled;
}

/* Is each length that both have the same, or 1 in one of them? */
static int do_broadcast(const struct tn_labelled *a, const struct tn_labelled *b)
{
	for (int i = 0; i < a->array->rank; i++) {
		for (int k = 0; k < b->array->rank; k++) {
			const int64_t m = a->array->shape[i], n = b->array->shape[k];
			if (a->labels[i] == b->labels[k] && m != n && m != 1 && n != 1)
				return 0;
		}
	}
	return 1;
}

tn_array *tn_vecdot(const tn_array *a, const tn_array *b, int axis)
{
	struct tn_runtime *runtime = tn_begin(2, (const tn_array *[]){a, b}, "vecdot");
	int axis_a = axis, axis_b = axis, order[TN_MAX_RANK];
	char left[TN_SHAPE_TEXT], right[TN_SHAPE_TEXT];
	if (!runtime || tn_axis_check(a, "vecdot", "axis", &axis_a) ||
	    tn_axis_check(b, "vecdot", "axis", &axis_b) ||
	    check_lengths("vecdot", a, axis_a, b, axis_b))
		return NULL;
	struct tn_labelled x = label_vectors(a, axis_a), y = label_vectors(b, axis_b);
	if (!do_broadcast(&x, &y)) {
		tn_runtime_fail(runtime, TN_SHAPE, "vecdot",
				"the axes other than %d of shapes %s and %s do not broadcast", axis,
				tn_array_text(a, left), tn_array_text(b, right));
		return NULL;
	}
	if (tn_scope_begin(runtime->context))
		return NULL;
	const int rank = (a->rank > b->rank ? a->rank : b->rank) - 1;
	for (int i = 0; i < rank; i++)
		order[i] = rank - 1 - i;
	x.array = conjugate(a);
	return tn_scope_end(runtime->context, tn_contract_as(&x, &y, rank, order));
}
