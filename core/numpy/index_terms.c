/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Applies the terms of an index by NumPy's rules: slices and integers make a view; then index
 * arrays, and masks as the numbers of their true elements, choose along its other axes.
 */
#include "numpy/index_terms.h"

#include <inttypes.h>
#include <string.h>

#include "array/make.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "dispatch/operations.h"
#include "numpy/nonzero.h"
#include "ops/formula.h"
#include "ops/index_check.h"

enum { MOST_TERMS = 2 * TN_MAX_RANK + 1 };

/* The axes that a term uses up. */
static int axes_of(const struct tn_index_term *term)
{
	switch (term->kind) {
	case TN_INDEX_SLICE:
	case TN_INDEX_AT:
		return 1;
	case TN_INDEX_BY:
		return term->array->dtype == TN_BOOL ? term->array->rank : 1;
	default:
		return 0;
	}
}

/* ---- Checks ----------------------------------------------------------------------------------*/

static tn_status check_array(struct tn_runtime *runtime, const char *operation, int i,
			     const tn_array *a, const tn_array *array)
{
	const tn_array *both[] = {a, array};
	if (!array && !runtime->error.status)
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, operation,
				       "terms[%d]: expected an array, found NULL", i);
	tn_status status = tn_begin_into(2, both, operation);
	if (!status && array->dtype != TN_BOOL && !tn_is_integer(array->dtype))
		status = tn_runtime_fail(runtime, TN_DTYPE, operation,
					 "terms[%d]: expected an array of integers or bool, "
					 "found %s",
					 i, tn_dtype_name(array->dtype));
	return status;
}

static tn_status check_term(struct tn_runtime *runtime, const char *operation, int i,
			    const tn_array *a, const struct tn_index_term *term)
{
	if (term->kind < TN_INDEX_SLICE || term->kind > TN_INDEX_BY)
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, operation,
				       "terms[%d]: expected a kind of enum tn_index_kind, found "
				       "%" PRIu32,
				       i, term->kind);
	if (term->kind == TN_INDEX_SLICE && term->step == 0)
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, operation,
				       "terms[%d]: the step of a slice must not be 0", i);
	return term->kind == TN_INDEX_BY ? check_array(runtime, operation, i, a, term->array)
					 : TN_OK;
}

tn_status tn_terms_check(const char *operation, const tn_array *a, int n,
			 const struct tn_index_term *terms)
{
	struct tn_runtime *runtime = a->runtime;
	int n_ellipses = 0, n_axes = 0;
	char text[TN_SHAPE_TEXT];
	if (n < 0 || n > MOST_TERMS)
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, operation,
				       "n: expected 0 to %d terms, found %d", MOST_TERMS, n);
	if (n && !terms)
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, operation,
				       "terms: expected %d of them, found NULL", n);
	for (int i = 0; i < n; i++) {
		tn_status status = check_term(runtime, operation, i, a, &terms[i]);
		if (status)
			return status;
		n_axes += axes_of(&terms[i]);
		n_ellipses += terms[i].kind == TN_INDEX_ELLIPSIS;
		if (n_ellipses > 1)
			return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, operation,
					       "terms[%d]: expected at most one ellipsis, found a "
					       "second",
					       i);
	}
	if (n_axes > a->rank)
		return tn_runtime_fail(runtime, TN_SHAPE, operation,
				       "the terms index %d axes, a has shape %s", n_axes,
				       tn_array_text(a, text));
	return TN_OK;
}

/* ---- One term after the other ----------------------------------------------------------------*/

enum role { KEPT, REMOVED, INDEXED };

/* An index array, or the numbers of a mask's true elements, for some axes of a. */
struct indexing {
	const tn_array *indices;
	int axis;       /* of a; the first one */
	int64_t length; /* of the axis, or the size of the mask */
	int is_mask;    /* its numbers are in range */
};

/* Where the common shape of the index arrays goes, as NumPy decides it: `place` is -1 before the
 * first term that indexes, and 0 again after a second one that is not its neighbour. */
struct placing {
	int place;   /* among the axes of the result */
	int n_kept;  /* kept axes of a before that place */
	int is_over; /* a term that does not index came after the first one */
};

struct walk {
	const char *operation;
	int is_put;
	tn_array *view; /* a with the slices so far; an integer leaves length 1 */
	int axis;       /* of a, the next term's */
	int by_arrays;  /* is there an index array? */
	enum role roles[TN_MAX_RANK];
	int n_kept;
	int n_indexings;
	struct indexing indexings[MOST_TERMS];
	struct placing placing;
	int rank;                                /* of the result, without the index arrays */
	int64_t shape[MOST_TERMS + TN_MAX_RANK]; /* a new axis for each term, and all of a's */
};

static void keep_axis(struct walk *w)
{
	w->shape[w->rank++] = w->view->shape[w->axis];
	w->roles[w->axis++] = KEPT;
	w->n_kept++;
}

static void place_indexing(struct walk *w)
{
	struct placing *p = &w->placing;
	if (p->place < 0)
		*p = (struct placing){.place = w->rank, .n_kept = w->n_kept};
	else if (p->is_over)
		p->place = p->n_kept = 0;
}

static tn_status take_slice(struct walk *w, int i, const struct tn_index_term *term)
{
	const int64_t step = term->step == TN_NONE ? 1 : term->step;
	(void)i;
	if (term->start != TN_NONE || term->stop != TN_NONE || step != 1) {
		tn_array *view = tn_slice(w->view, w->axis, term->start, term->stop, step);
		if (!view)
			return w->view->runtime->error.status;
		w->view = view;
	}
	keep_axis(w);
	return TN_OK;
}

static tn_status take_element(struct walk *w, int i, const struct tn_index_term *term)
{
	struct tn_runtime *runtime = w->view->runtime;
	const int64_t length = w->view->shape[w->axis];
	const int64_t at = term->start < 0 ? term->start + length : term->start;
	if (at < 0 || at >= length)
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, w->operation,
				       "terms[%d]: index %" PRId64
				       " is out of range: axis %d has length %" PRId64,
				       i, term->start, w->axis, length);
	w->view = tn_slice(w->view, w->axis, at, at + 1, 1);
	w->roles[w->axis++] = REMOVED;
	if (w->by_arrays)
		place_indexing(w);
	return w->view ? TN_OK : runtime->error.status;
}

static tn_status take_mask(struct walk *w, int i, const tn_array *mask)
{
	struct tn_runtime *runtime = w->view->runtime;
	int64_t size = 1;
	for (int k = 0; k < mask->rank; k++) {
		const int64_t length = w->view->shape[w->axis + k];
		size *= length;
		if (mask->shape[k] != length && mask->shape[k] != 0)
			return tn_runtime_fail(runtime, TN_SHAPE, w->operation,
					       "terms[%d]: expected a mask of length %" PRId64
					       " for axis %d, found %" PRId64,
					       i, length, w->axis + k, mask->shape[k]);
		w->roles[w->axis + k] = INDEXED;
	}
	const tn_array *numbers = tn_true_numbers(w->operation, mask, -1);
	w->indexings[w->n_indexings++] = (struct indexing){numbers, w->axis, size, 1};
	w->axis += mask->rank;
	return numbers ? TN_OK : runtime->error.status;
}

static tn_status take_array(struct walk *w, int i, const struct tn_index_term *term)
{
	const tn_array *array = term->array;
	place_indexing(w);
	if (array->dtype == TN_BOOL)
		return take_mask(w, i, array);
	array = tn_indices_signed(w->operation, "terms", array);
	w->indexings[w->n_indexings++] =
		(struct indexing){array, w->axis, w->view->shape[w->axis], 0};
	w->roles[w->axis++] = INDEXED;
	return array ? TN_OK : w->view->runtime->error.status;
}

static void leave_indexing(struct walk *w)
{
	w->placing.is_over = 1;
}

static tn_status take_term(struct walk *w, int i, const struct tn_index_term *term, int n_left)
{
	if (term->kind == TN_INDEX_AT)
		return take_element(w, i, term);
	if (term->kind == TN_INDEX_BY)
		return take_array(w, i, term);
	leave_indexing(w);
	if (term->kind == TN_INDEX_SLICE)
		return take_slice(w, i, term);
	if (term->kind == TN_INDEX_NEW_AXIS)
		w->shape[w->rank++] = 1;
	for (int k = 0; term->kind == TN_INDEX_ELLIPSIS && k < n_left; k++)
		keep_axis(w);
	return TN_OK;
}

static tn_status take_terms(struct walk *w, int n, const struct tn_index_term *terms)
{
	int n_left = w->view->rank;
	for (int i = 0; i < n; i++) {
		n_left -= axes_of(&terms[i]);
		w->by_arrays |= terms[i].kind == TN_INDEX_BY;
	}
	for (int i = 0; i < n; i++) {
		tn_status status = take_term(w, i, &terms[i], n_left);
		if (status)
			return status;
	}
	while (w->axis < w->view->rank)
		keep_axis(w);
	return TN_OK;
}

/* ---- The indexed axes ------------------------------------------------------------------------*/

/* The removed axes go, and the indexed ones move together. */
static tn_array *arrange(const struct walk *w, struct tn_index_selection *chosen)
{
	int64_t shape[TN_MAX_RANK];
	int order[TN_MAX_RANK], rank = 0, n_kept = 0, first = w->placing.n_kept, next = first;
	for (int axis = 0; axis < w->view->rank; axis++)
		chosen->n_indexed += w->roles[axis] == INDEXED;
	for (int axis = 0; axis < w->view->rank; axis++) {
		if (w->roles[axis] == REMOVED)
			continue;
		if (w->roles[axis] == INDEXED)
			order[next++] = rank;
		else
			order[n_kept < first ? n_kept : n_kept + chosen->n_indexed] = rank;
		n_kept += w->roles[axis] == KEPT;
		shape[rank++] = w->view->shape[axis];
	}
	chosen->first = first;
	tn_array *view = tn_reshape(w->view, rank, shape);
	return tn_transpose(view, order);
}

static const struct tn_check checks[2][TN_MAX_RANK] = {
	{
		{"index", "index", "axis 0 has length"},
		{"index", "index", "axis 1 has length"},
		{"index", "index", "axis 2 has length"},
		{"index", "index", "axis 3 has length"},
		{"index", "index", "axis 4 has length"},
		{"index", "index", "axis 5 has length"},
		{"index", "index", "axis 6 has length"},
		{"index", "index", "axis 7 has length"},
		{"index", "index", "axis 8 has length"},
		{"index", "index", "axis 9 has length"},
		{"index", "index", "axis 10 has length"},
		{"index", "index", "axis 11 has length"},
		{"index", "index", "axis 12 has length"},
		{"index", "index", "axis 13 has length"},
		{"index", "index", "axis 14 has length"},
		{"index", "index", "axis 15 has length"},
	},
	{
		{"index_put", "index", "axis 0 has length"},
		{"index_put", "index", "axis 1 has length"},
		{"index_put", "index", "axis 2 has length"},
		{"index_put", "index", "axis 3 has length"},
		{"index_put", "index", "axis 4 has length"},
		{"index_put", "index", "axis 5 has length"},
		{"index_put", "index", "axis 6 has length"},
		{"index_put", "index", "axis 7 has length"},
		{"index_put", "index", "axis 8 has length"},
		{"index_put", "index", "axis 9 has length"},
		{"index_put", "index", "axis 10 has length"},
		{"index_put", "index", "axis 11 has length"},
		{"index_put", "index", "axis 12 has length"},
		{"index_put", "index", "axis 13 has length"},
		{"index_put", "index", "axis 14 has length"},
		{"index_put", "index", "axis 15 has length"},
	},
};

static tn_status check_range(const struct walk *w, const struct indexing *x)
{
	struct tn_runtime *runtime = w->view->runtime;
	const struct tn_index_range range = {.operation = TN_DO_TAKE,
					     .check = &checks[w->is_put][x->axis],
					     .lowest = -x->length,
					     .limit = x->length};
	return x->is_mask ? TN_OK
			  : tn_end_into(runtime, tn_indices_in_range(runtime, &range, x->indices));
}

/* The place of an index along an axis of that length; `outside` is out of every range. */
static const struct tn_formula number = {
	.text = "i = i64(indices); place = i < 0 ? i + length : i\n"
		"z = place < 0 || place >= length ? outside : place",
	.inputs = "indices",
	.scalars = "length outside",
	.scalar_dtype = TN_I64};
/* The same after the number within the axes before: the number within all of them. */
static const struct tn_formula next_number = {
	.text = "i = i64(indices); place = i < 0 ? i + length : i\n"
		"z = number >= outside || place < 0 || place >= length ? outside"
		" : i64(number) * length + place",
	.inputs = "indices number",
	.scalars = "length outside",
	.scalar_dtype = TN_I64};

/* The number of the element within all indexed axes, in the common shape of the index arrays; how
 * many there are stands for one out of range.  A gather takes indices of one axis as they are. */
static const tn_array *number_elements(const struct walk *w)
{
	const tn_array *numbers = NULL;
	int64_t size = 1;
	if (w->n_indexings == 1 && (w->indexings[0].is_mask || !w->is_put))
		return w->indexings[0].indices;
	for (int i = 0; i < w->n_indexings; i++)
		size *= w->indexings[i].length;
	/* Narrow numbers are sorted faster. */
	const tn_dtype dtype = size <= INT32_MAX ? TN_I32 : TN_I64;
	for (int i = 0; i < w->n_indexings; i++) {
		const struct indexing *x = &w->indexings[i];
		const tn_array *inputs[] = {x->indices, numbers};
		const double scalars[] = {(double)x->length, (double)size};
		numbers = tn_formula_operation(w->operation, i ? &next_number : &number, dtype,
					       inputs, scalars);
		if (!numbers)
			return NULL;
	}
	return numbers;
}

static tn_status broadcast_indices(const struct walk *w, int *rank, int64_t shape[TN_MAX_RANK])
{
	char found[TN_SHAPE_TEXT], others[TN_SHAPE_TEXT];
	*rank = 0;
	for (int i = 0; i < w->n_indexings; i++) {
		const tn_array *indices = w->indexings[i].indices;
		if (!tn_shape_broadcast(rank, shape, indices->rank, indices->shape))
			return tn_runtime_fail(w->view->runtime, TN_SHAPE, w->operation,
					       "index arrays of shapes %s and %s do not broadcast "
					       "together",
					       tn_shape_print(*rank, shape, others),
					       tn_array_text(indices, found));
	}
	return TN_OK;
}

/* The kept and new axes of the result with the common shape of the index arrays in its place. */
static tn_status result_shape(const struct walk *w, int n_common, const int64_t *common,
			      struct tn_index_selection *chosen)
{
	const int place = w->by_arrays ? w->placing.place : w->rank;
	const int rank = w->rank + n_common;
	if (rank > TN_MAX_RANK)
		return tn_runtime_fail(w->view->runtime, TN_LIMIT, w->operation,
				       "the result has %d axes, more than %d", rank, TN_MAX_RANK);
	memcpy(chosen->shape, w->shape, (size_t)place * sizeof(*common));
	memcpy(chosen->shape + place, common, (size_t)n_common * sizeof(*common));
	memcpy(chosen->shape + place + n_common, w->shape + place,
	       (size_t)(w->rank - place) * sizeof(*common));
	chosen->rank = rank;
	return TN_OK;
}

static tn_status apply_arrays(const struct walk *w, struct tn_index_selection *chosen)
{
	const int64_t all[] = {-1};
	int64_t common[TN_MAX_RANK] = {0};
	int n_common, is_empty = 0;
	tn_status status = broadcast_indices(w, &n_common, common);
	if (!status)
		status = result_shape(w, n_common, common, chosen);
	for (int k = 0; k < n_common; k++)
		is_empty |= common[k] == 0;
	/* Indices that meet an empty array are not read, but for single ones. */
	for (int i = 0; i < w->n_indexings && !status; i++) {
		if (!is_empty || !w->indexings[i].indices->rank)
			status = check_range(w, &w->indexings[i]);
	}
	if (status)
		return status;
	chosen->is_unique = w->n_indexings == 1 && w->indexings[0].is_mask;
	chosen->view = arrange(w, chosen);
	chosen->numbers = tn_reshape(number_elements(w), 1, all);
	return chosen->view && chosen->numbers ? TN_OK : w->view->runtime->error.status;
}

tn_status tn_terms_apply(int is_put, const tn_array *a, int n, const struct tn_index_term *terms,
			 struct tn_index_selection *chosen)
{
	struct walk w = {.operation = is_put ? "index_put" : "index",
			 .is_put = is_put,
			 .view = tn_reshape(a, a->rank, a->shape),
			 .placing = {.place = -1}};
	*chosen = (struct tn_index_selection){.view = NULL};
	if (!w.view)
		return a->runtime->error.status;
	tn_status status = take_terms(&w, n, terms);
	if (status || w.by_arrays)
		return status ? status : apply_arrays(&w, chosen);
	status = result_shape(&w, 0, (const int64_t[]){0}, chosen);
	if (status)
		return status;
	chosen->view = tn_reshape(w.view, chosen->rank, chosen->shape);
	return chosen->view ? TN_OK : a->runtime->error.status;
}

tn_array *tn_index_selection_base(const struct tn_index_selection *chosen)
{
	const tn_array *view = chosen->view;
	const int first = chosen->first, end = first + chosen->n_indexed;
	int64_t shape[TN_MAX_RANK], n = 1;
	int rank = 0;
	for (int i = 0; i < first; i++)
		shape[rank++] = view->shape[i];
	for (int i = first; i < end; i++)
		n *= view->shape[i];
	shape[rank++] = n;
	for (int i = end; i < view->rank; i++)
		shape[rank++] = view->shape[i];
	return tn_reshape(view, rank, shape);
}
