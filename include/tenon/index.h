/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Elements by index, as NumPy writes them in brackets: read, assigned, added to; and the functions
 * that find, choose and number elements.  NumPy's names and rules.
 *
 * What <tenon/array.h> says of ownership, errors, scopes and threads holds here too.  Indices may
 * have any integer dtype and count from the end if they are below 0; new arrays of indices are i64.
 * An index out of range is TN_INVALID_ARGUMENT, with the index, the axis and its length; on a
 * device that is asynchronous, or whose memory the host cannot read, the next call that waits for
 * the current stream reports it (as in tn_take), the element reads as zero, and nothing is written
 * for it.
 *
 * Where the shape of a result depends on values, the function waits for the device, and cannot be
 * captured (TN_NOT_CAPTURABLE): a mask of bool in tn_index and tn_index_put, tn_nonzero,
 * tn_argwhere, tn_flatnonzero, tn_compress, tn_extract, tn_place, and tn_ix of bool.
 *
 * Gradients flow through all functions that give elements of arrays: tn_index, tn_compress,
 * tn_extract, tn_choose, tn_select, tn_take.  Functions that write to an existing array reject
 * inputs that require a derivative while a tape records (TN_STATE).
 * All functions: [thread: one per context | may return before the result is ready | since 0.1].
 */
#ifndef TENON_INDEX_H
#define TENON_INDEX_H

#include <tenon/manipulate.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Indexing --------------------------------------------------------------------------------*/

enum tn_index_kind {
	TN_INDEX_SLICE = 1,    /* start:stop:step */
	TN_INDEX_AT = 2,       /* the element `start` of an axis, which is removed */
	TN_INDEX_NEW_AXIS = 3, /* None: a new axis of length 1 */
	TN_INDEX_ELLIPSIS = 4, /* ...: as many whole axes as the other terms leave; at most once */
	TN_INDEX_BY = 5,       /* `array`, of integers, or a mask of bool */
};

/* An end of a slice that is left out: None. */
#define TN_NONE INT64_MIN

/* One term between the brackets.  A member that its kind does not name is not read. */
struct tn_index_term {
	uint32_t kind;
	uint32_t reserved; /* 0 */
	int64_t start;     /* of a slice, or TN_NONE; the index of TN_INDEX_AT */
	int64_t stop;      /* or TN_NONE */
	int64_t step;      /* not 0; TN_NONE: 1 */
	const tn_array *array;
};

/* The terms as values, for lists of them:
 *
 *     x[1:5, ..., 3, rows]   tn_index(x, 4, (struct tn_index_term[]){
 *                                    TN_SLICE(1, 5, 1), TN_ELLIPSIS, TN_AT(3), TN_BY(rows)})
 *
 * C only: C++ has no such literals. */
#ifndef __cplusplus
#define TN_SLICE(first, end, by)                                                                   \
	((struct tn_index_term){                                                                   \
		.kind = TN_INDEX_SLICE, .start = (first), .stop = (end), .step = (by)})
#define TN_ALL TN_SLICE(TN_NONE, TN_NONE, 1)
#define TN_AT(index) ((struct tn_index_term){.kind = TN_INDEX_AT, .start = (index)})
#define TN_NEW_AXIS ((struct tn_index_term){.kind = TN_INDEX_NEW_AXIS})
#define TN_ELLIPSIS ((struct tn_index_term){.kind = TN_INDEX_ELLIPSIS})
#define TN_BY(indices) ((struct tn_index_term){.kind = TN_INDEX_BY, .array = (indices)})
#endif

/* a[terms].  Axes that no term is left for are whole.  n is at most 2 TN_MAX_RANK + 1.
 *
 * Without TN_INDEX_BY the result is a view, also where all axes are removed (a 0-d array).
 *
 * With it the result is a copy.  A mask of rank r stands for r axes of its own lengths, of which
 * any may be 0 instead (TN_SHAPE), and for the r arrays of indices at which it is true, as
 * tn_nonzero gives them; a 0-d mask stands for no axis, and for one index or none.  All index
 * arrays, and the terms TN_INDEX_AT as 0-d ones, are broadcast together (TN_SHAPE).  The axes of
 * their common shape replace the axes that they index where these terms are neighbours; where a
 * slice, a new axis or an ellipsis (even of no axes) lies between two of them, the common shape
 * comes first.
 *
 * TN_INVALID_ARGUMENT: a term of no such kind, a second ellipsis, a step of 0.  TN_SHAPE: more
 * terms than axes.  TN_DTYPE: an index array of neither integers nor bool.  TN_LIMIT: the result
 * has more axes than TN_MAX_RANK. */
TN_API tn_array *tn_index(const tn_array *a, int n, const struct tn_index_term *terms);

/* What becomes of an element x for which there is a value v. */
enum tn_index_mode {
	TN_PUT_ASSIGN = 0, /* v */
	TN_PUT_ADD = 1,    /* x + v; of bool, x or v */
	TN_PUT_MIN = 2,    /* the smaller, NaN if one of them is */
	TN_PUT_MAX = 3,    /* the larger, likewise */
};

/* a[terms] = values, or with another mode numpy.add.at, numpy.minimum.at or numpy.maximum.at.
 * Values are converted to a's dtype and broadcast to the shape that tn_index gives (TN_SHAPE);
 * leading axes of length 1 may be too many.  `values` may overlap `a`.  Where several values meet
 * in one element, the last in row-major order is assigned, and in the other modes all of them
 * count.  Sums are added in the order of the values, in f32 for f16 and bf16, so that the same call
 * gives the same bits; other vendors' backends may need TENON_DETERMINISTIC=1 for that.
 *
 * TN_DTYPE: values have a higher kind than `a` in another mode than TN_PUT_ASSIGN, as in
 * tn_add_into, or extremes of complex numbers are asked for.  TN_INVALID_ARGUMENT: the mode.
 * Terms fail as in tn_index. */
TN_API tn_status tn_index_put(tn_array *a, int n, const struct tn_index_term *terms,
			      const tn_array *values, uint32_t mode);

/* ---- Indices of elements ---------------------------------------------------------------------
 * Row-major, i64.  An element is true unless it is 0; NaN is true. */

/* indices[i]: along axis i, the indices of a's true elements, one array of one axis for each axis
 * of a.  They are NULL on failure.  TN_SHAPE: a is 0-d. */
TN_API tn_status tn_nonzero(const tn_array *a, tn_array **indices);
/* (true elements, a's rank): a row of indices for each. */
TN_API tn_array *tn_argwhere(const tn_array *a);
/* The numbers of the true elements in a line of all. */
TN_API tn_array *tn_flatnonzero(const tn_array *a);

/* indices[i]: the index along axis i of an array of that shape, for each element number; in the
 * shape of `numbers`.  Rank is 1 to 16, and numbers below 0 are out of range.  indices are NULL on
 * failure.  TN_LIMIT: the shape has more than 2^53 elements. */
TN_API tn_status tn_unravel_index(const tn_array *numbers, int rank, const int64_t *shape,
				  tn_array **indices);
/* The element number for each place, of which indices[i] has the index along axis i; all broadcast
 * together (TN_SHAPE).  bounds[i], an enum tn_bounds, is for axis i; NULL: TN_RAISE for all, in
 * which an index below 0 is out of range.  TN_LIMIT: as in tn_unravel_index. */
TN_API tn_array *tn_ravel_multi_index(int rank, const tn_array *const *indices,
				      const int64_t *shape, const uint32_t *bounds);

/* NumPy's ix_: lines of indices as an open grid, grids[i] with its elements along axis i and length
 * 1 along all others, so that x[ix_(rows, columns)] has a row for each of rows and a column for
 * each of columns.  Bool counts as tn_flatnonzero of it.  n is 1 to 16; grids are NULL on failure.
 * TN_SHAPE: an array has not one axis. */
TN_API tn_status tn_ix(int n, const tn_array *const *lines, tn_array **grids);

/* indices[0] to indices[rank - 1], all 0 to n - 1: the main diagonal of an array whose axes have
 * length n.  They are NULL on failure. */
TN_API tn_status tn_diag_indices(tn_context *context, int64_t n, int rank, tn_array **indices);
/* indices[0], the rows, and indices[1], the columns, of the elements of a matrix (n, m) not above
 * (tril) or not below (triu) diagonal k, in row-major order.  They are NULL on failure. */
TN_API tn_status tn_tril_indices(tn_context *context, int64_t n, int64_t k, int64_t m,
				 tn_array *indices[2]);
TN_API tn_status tn_triu_indices(tn_context *context, int64_t n, int64_t k, int64_t m,
				 tn_array *indices[2]);

/* ---- Chosen elements -------------------------------------------------------------------------*/

/* The elements along an axis, or TN_AXIS_NONE, at which the line `condition` is true; it may be
 * shorter than the axis.  TN_SHAPE: condition has not one axis. */
TN_API tn_array *tn_compress(const tn_array *condition, const tn_array *a, int axis);
/* One axis: the elements of a at whose number `condition`, of any shape, is true. */
TN_API tn_array *tn_extract(const tn_array *condition, const tn_array *a);
/* For each element i of a, which are integers, that of choices[i]; all broadcast together.  The
 * result has the common dtype of the n choices.  In TN_RAISE an index below 0 is out of range. */
TN_API tn_array *tn_choose(const tn_array *a, int n, const tn_array *const *choices,
			   uint32_t bounds);
/* For each element that of choices[i] with the first i for which conditions[i], bool (TN_DTYPE), is
 * true; where none is, that of `otherwise`, or 0 if that is NULL.  All broadcast together, and the
 * result has the common dtype of choices and otherwise. */
TN_API tn_array *tn_select(int n, const tn_array *const *conditions, const tn_array *const *choices,
			   const tn_array *otherwise);

/* ---- Elements written in place ---------------------------------------------------------------
 * Values are converted to the dtype of the array.  Where several meet in one element, the last one
 * stays.  TN_INVALID_ARGUMENT: the array addresses an element twice. */

/* Element number indices[i] of a := values[i], in row-major order; values are repeated as often as
 * needed, and without any nothing is written. */
TN_API tn_status tn_put(tn_array *a, const tn_array *indices, const tn_array *values,
			uint32_t bounds);
/* The reverse of tn_take_along_axis: a[i, j, indices[i, j, k]] := values[i, j, k] for the last of
 * three axes.  values broadcasts to the shape of indices, which is a's except for the axis
 * (TN_SHAPE). */
TN_API tn_status tn_put_along_axis(tn_array *a, const tn_array *indices, const tn_array *values,
				   int axis);
/* Where mask, of a's size (TN_SHAPE), is true: the values one after the other (place), or the value
 * of the element's own number (putmask); either is repeated as often as needed.  place fails with
 * TN_SHAPE for want of values, and putmask then writes nothing. */
TN_API tn_status tn_place(tn_array *a, const tn_array *mask, const tn_array *values);
TN_API tn_status tn_putmask(tn_array *a, const tn_array *mask, const tn_array *values);
/* out := a, broadcast, where `where`, bool (TN_DTYPE) and broadcast too, is true; NULL: everywhere.
 * `a` and `where` may be on another device of the context.  TN_DTYPE: a has a higher kind than out,
 * as in tn_add_into. */
TN_API tn_status tn_copyto(tn_array *out, const tn_array *a, const tn_array *where);
/* The main diagonal of a, whose axes, two or more, have one length unless they are two
 * (TN_SHAPE) := values in row-major order, repeated as often as needed.  With `wrap` the diagonal
 * of a matrix with more rows than columns begins anew after each block, with a row left out
 * between. */
TN_API tn_status tn_fill_diagonal(tn_array *a, const tn_array *values, int wrap);

#ifdef __cplusplus
}
#endif
#endif
