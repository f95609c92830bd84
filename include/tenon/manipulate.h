/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * More ways to make arrays, and to change their shapes: NumPy's names and rules.
 *
 * What <tenon/array.h> says of ownership, errors and threads holds here too.  An axis below 0
 * counts from the end; one that a does not have is TN_INVALID_ARGUMENT.  A view shares the storage
 * of a; everything else is a copy.  Gradients flow through all functions of arrays but tn_*_like,
 * which have none, and tn_as_strided.
 * All functions: [thread: one per context | may return before the result is ready | since 0.1].
 */
#ifndef TENON_MANIPULATE_H
#define TENON_MANIPULATE_H

#include <tenon/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Making arrays ---------------------------------------------------------------------------
 * On the device of a, or the current one where there is no array.  Where neither a shape nor an
 * array gives the lengths, one below 0 is TN_INVALID_ARGUMENT.  A number is converted by the rules
 * of the cast (tenon-program(7)). */

/* Of a's shape and order of axes; dtype 0: a's. */
TN_API tn_array *tn_empty_like(const tn_array *a, tn_dtype dtype);
TN_API tn_array *tn_zeros_like(const tn_array *a, tn_dtype dtype);
TN_API tn_array *tn_ones_like(const tn_array *a, tn_dtype dtype);
TN_API tn_array *tn_full_like(const tn_array *a, double value, tn_dtype dtype);
TN_API tn_array *tn_full_like_number(const tn_array *a, tn_number value, tn_dtype dtype);

/* Matrices of 1 where the column is the row + k (eye), the row (identity), or at most the row + k
 * (tri); 0 elsewhere. */
TN_API tn_array *tn_eye(tn_context *context, tn_dtype dtype, int64_t rows, int64_t columns,
			int64_t k);
TN_API tn_array *tn_identity(tn_context *context, tn_dtype dtype, int64_t n);
TN_API tn_array *tn_tri(tn_context *context, tn_dtype dtype, int64_t rows, int64_t columns,
			int64_t k);

/* num numbers from start to stop, which with endpoint 0 is the first one left out: start + i step
 * (linspace, whose integers are rounded down), base to the power of these (logspace), or of one
 * ratio (geomspace; NaN where the signs differ).  Computed in f64.  TN_INVALID_ARGUMENT: num is
 * below 0, start or stop of geomspace is 0, or an element does not fit the dtype, an integer. */
TN_API tn_array *tn_linspace(tn_context *context, tn_dtype dtype, double start, double stop,
			     int64_t num, int endpoint);
TN_API tn_array *tn_logspace(tn_context *context, tn_dtype dtype, double start, double stop,
			     int64_t num, int endpoint, double base);
TN_API tn_array *tn_geomspace(tn_context *context, tn_dtype dtype, double start, double stop,
			      int64_t num, int endpoint);

/* (rank, *shape): element [k, i, j, ...] is the k-th of i, j, ...  Rank is at most 15. */
TN_API tn_array *tn_indices(tn_context *context, tn_dtype dtype, int rank, const int64_t *shape);

enum tn_indexing { TN_INDEXING_XY, TN_INDEXING_IJ };

/* grids[i], of n axes: the elements of arrays[i] along axis i, the same along all others; with
 * TN_INDEXING_XY the first two axes are swapped.  n is 1 to 16; grids are NULL on failure. */
TN_API tn_status tn_meshgrid(int n, const tn_array *const *arrays, uint32_t indexing,
			     tn_array **grids);

/* ---- Diagonals -------------------------------------------------------------------------------
 * k, or the offset, is above 0 right of the main diagonal, and below 0 left of it. */

/* A view: element [..., i] is a's at i and i + offset along axis1 and axis2, which are removed.
 * TN_SHAPE: a has less than two axes. */
TN_API tn_array *tn_diagonal(const tn_array *a, int64_t offset, int axis1, int axis2);
/* Of two axes, such a view; of one, a matrix with a on diagonal k and 0 elsewhere.  TN_SHAPE. */
TN_API tn_array *tn_diag(const tn_array *a, int64_t k);
/* 0 above (tril) or below (triu) diagonal k of the matrices of the last two axes; a vector
 * broadcasts to a square matrix first.  TN_SHAPE: a is 0-d. */
TN_API tn_array *tn_tril(const tn_array *a, int64_t k);
TN_API tn_array *tn_triu(const tn_array *a, int64_t k);
/* (len, n): the powers a^(n-1) to a^0 of a vector, or a^0 to a^(n-1) with increasing 1; in the
 * common dtype of a and i64.  TN_SHAPE: a has not one axis. */
TN_API tn_array *tn_vander(const tn_array *a, int64_t n, int increasing);

/* ---- Joining and splitting -------------------------------------------------------------------
 * tn_append and, below, tn_delete, tn_insert and tn_repeat take TN_AXIS_NONE for an axis: a is
 * reshaped to one axis first. */

/* n >= 1 arrays of one shape (TN_SHAPE), joined along a new axis. */
TN_API tn_array *tn_stack(int n, const tn_array *const *arrays, int axis);
/* NumPy's block of lists in lists, `depth` of them: counts[0] in the outermost, counts[1] in each
 * of these, ..., and the arrays of the innermost ones in row-major order.  Innermost ones are
 * joined along the last axis, those around them along the axis before, and so on; missing axes have
 * length 1, and come first.  TN_SHAPE.  TN_INVALID_ARGUMENT: depth or a count is below 1. */
TN_API tn_array *tn_block(int depth, const int *counts, const tn_array *const *arrays);
/* a, then values, along an axis; the result has their common dtype.  TN_SHAPE. */
TN_API tn_array *tn_append(const tn_array *a, const tn_array *values, int axis);
/* Views, as many as the axis is long, without it.  parts are NULL on failure. */
TN_API tn_status tn_unstack(const tn_array *a, int axis, tn_array **parts);
/* Views along an axis: n parts of equal length (split: TN_SHAPE if there are none), or whose first
 * ones are longer by 1 (array_split); or, unless indices is NULL, n + 1 parts that begin at 0 and
 * at the n indices, by the rules of tn_slice.  parts are NULL on failure. */
TN_API tn_status tn_split(const tn_array *a, int n, const int64_t *indices, int axis,
			  tn_array **parts);
TN_API tn_status tn_array_split(const tn_array *a, int n, const int64_t *indices, int axis,
				tn_array **parts);

/* ---- Repeating, removing, inserting ----------------------------------------------------------*/

/* a, repetitions[i] times along axis i.  Ones precede the shorter of shape and repetitions. */
TN_API tn_array *tn_tile(const tn_array *a, int n, const int64_t *repetitions);
/* Every element repeats[0] times (n = 1), or element i repeats[i] times, along an axis.
 * TN_INVALID_ARGUMENT: n is neither 1 nor the length. */
TN_API tn_array *tn_repeat(const tn_array *a, int64_t n, const int64_t *repeats, int axis);
/* Without the elements at n indices along an axis; negative ones count from the end, equal ones
 * count once.  TN_INVALID_ARGUMENT: out of range. */
TN_API tn_array *tn_delete(const tn_array *a, int64_t n, const int64_t *indices, int axis);
/* With values[i], converted to a's dtype, before element indices[i] of a (the length: behind all);
 * for n = 1, all values there.  The values broadcast to a's shape with n in place of the axis's
 * length (TN_SHAPE). */
TN_API tn_array *tn_insert(const tn_array *a, int64_t n, const int64_t *indices,
			   const tn_array *values, int axis);

enum tn_trim { TN_TRIM_FRONT = 1, TN_TRIM_BACK = 2 };

/* A view without the zeros at the front, at the back, or both, along n axes (TN_ALL_AXES): without
 * the planes that are zero altogether; of nothing but zeros nothing is left.  Waits for the device,
 * and reads two numbers for each axis.  TN_INVALID_ARGUMENT: another `trim`. */
TN_API tn_array *tn_trim_zeros(const tn_array *a, uint32_t trim, int n, const int *axes);
/* The elements in row-major order as an array of any shape, from the first again where they are too
 * few; of none zeros. */
TN_API tn_array *tn_resize(const tn_array *a, int rank, const int64_t *shape);

/* ---- Moving axes and elements ----------------------------------------------------------------*/

/* Views: axes source[i] become axes destination[i], the others keep their order; two swapped. */
TN_API tn_array *tn_moveaxis(const tn_array *a, int n, const int *source, const int *destination);
TN_API tn_array *tn_swapaxes(const tn_array *a, int axis1, int axis2);
/* Views with axes of length 1 up to rank 1, 2 or 3: before the others, except that atleast_3d makes
 * (1, N, 1) of (N) and (M, N, 1) of (M, N). */
TN_API tn_array *tn_atleast_1d(const tn_array *a);
TN_API tn_array *tn_atleast_2d(const tn_array *a);
TN_API tn_array *tn_atleast_3d(const tn_array *a);
/* A view, reversed along n axes (TN_ALL_AXES). */
TN_API tn_array *tn_flip(const tn_array *a, int n, const int *axes);
/* A view, turned k times by 90 degrees from axis1 towards axis2. */
TN_API tn_array *tn_rot90(const tn_array *a, int k, int axis1, int axis2);
/* Element i becomes element i + shifts[j], modulo the length, along each axes[j]; with axes NULL
 * and n = 1, in row-major order over all axes. */
TN_API tn_array *tn_roll(const tn_array *a, int n, const int64_t *shifts, const int *axes);

/* ---- Padding ---------------------------------------------------------------------------------*/

enum tn_pad_mode {
	TN_PAD_CONSTANT,    /* values[2 i] before and values[2 i + 1] after axis i; NULL: 0 */
	TN_PAD_EDGE,        /* a a | a b c | c c */
	TN_PAD_REFLECT,     /* c b | a b c | b a */
	TN_PAD_SYMMETRIC,   /* b a | a b c | c b */
	TN_PAD_WRAP,        /* b c | a b c | a b */
	TN_PAD_LINEAR_RAMP, /* evenly from values[] to the edge, integers rounded down */
	/* Of the first values[2 i] and the last values[2 i + 1] elements; 0, or NULL: of all.  All
	 * but the mean are for real dtypes (TN_DTYPE); of integers they are rounded. */
	TN_PAD_MAXIMUM,
	TN_PAD_MINIMUM,
	TN_PAD_MEAN,
	TN_PAD_MEDIAN,
	TN_PAD_EMPTY, /* any elements */
	/* Twice the edge less the reflected element; no bool (TN_DTYPE). */
	TN_PAD_REFLECT_ODD,
	TN_PAD_SYMMETRIC_ODD,
};

/* a with widths[2 i] elements before and widths[2 i + 1] after axis i, the axes in their order: a
 * later one extends what the earlier ones have added.  values is read in the modes above that name
 * it.  TN_SHAPE: an empty axis grows in another mode than TN_PAD_CONSTANT and TN_PAD_EMPTY.
 * TN_INVALID_ARGUMENT: a number of elements is below 0, or not whole. */
TN_API tn_array *tn_pad(const tn_array *a, const int64_t *widths, uint32_t mode,
			const double *values);

/* ---- Any strides -----------------------------------------------------------------------------*/

/* A view from a's first element on with any strides, in elements.  TN_INVALID_ARGUMENT: an element
 * lies outside of a's storage.  TN_STATE: a tape records a derivative of a. */
TN_API tn_array *tn_as_strided(const tn_array *a, int rank, const int64_t *shape,
			       const int64_t *strides);

#ifdef __cplusplus
}
#endif
#endif
