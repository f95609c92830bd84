/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Universal functions as objects: NumPy's options of a call, and its methods reduce, accumulate,
 * outer and at, for every element function by name.
 *
 *     const tn_ufunc *add = tn_ufunc_find("add");
 *     const tn_array *both[] = {x, y}, *mask = tn_less(x, y);
 *     struct tn_ufunc_options options = tn_ufunc_defaults();
 *     options.out = x;
 *     options.where = mask;
 *     tn_ufunc_call(add, 2, both, &options);
 *     tn_array *rows = tn_ufunc_reduce(tn_ufunc_find("hypot"), x, 1, (int[]){-1}, 0, NULL);
 *
 * The functions are those of array.h and ufunc.h that take arrays alone; their results, dtypes and
 * gradients are the same.  Arrays made belong to the innermost open scope.  On failure a function
 * returns NULL or a status, and the context keeps the error, which names the argument; many have:
 *   TN_DTYPE             the function does not take that dtype, or the casting rule forbids it
 *   TN_SHAPE             the shapes do not broadcast, or not to that of `out`
 *   TN_INVALID_ARGUMENT  the function has not that number of inputs, or there is no such axis
 *   TN_STATE             a tape records, and an array that requires a gradient would be written
 *   TN_UNSUPPORTED       the struct is of a newer version of the library
 * All functions: [thread: one per context | may return before the result is ready | since 0.1].
 */
#ifndef TENON_UFUNC_CALL_H
#define TENON_UFUNC_CALL_H

#include <string.h>

#include <tenon/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The functions ---------------------------------------------------------------------------
 * Constants, for any context. */

typedef struct tn_element_operation tn_ufunc;

/* By the name after tn_ ("add", "floor_divide"), or one that NumPy has beside it ("true_divide",
 * "absolute", "mod"); NULL: there is none.  [thread: any | since 0.1] */
TN_API const tn_ufunc *tn_ufunc_find(const char *name);
/* All, for i from 0 to tn_ufunc_count() - 1; else NULL.  [thread: any | since 0.1] */
TN_API int tn_ufunc_count(void);
TN_API const tn_ufunc *tn_ufunc_number(int i);

/* [thread: any | since 0.1] */
TN_API const char *tn_ufunc_name(const tn_ufunc *ufunc); /* constant; NULL of NULL */
TN_API int tn_ufunc_inputs(const tn_ufunc *ufunc);       /* 1, 2 or 3; 0 of NULL */
/* The element that changes no other: 0 of "add".  0: the function has none, and *identity is as
 * before.  [thread: any | since 0.1] */
TN_API int tn_ufunc_identity(const tn_ufunc *ufunc, tn_number *identity);

/* ---- Calls -----------------------------------------------------------------------------------*/

/* NumPy's rules for conversions: which dtype may become which. */
enum {
	TN_CASTING_SAME_KIND = 0, /* safe ones, and to a narrower dtype of the kind or a higher
				   * kind: bool, unsigned, signed, floating, complex */
	TN_CASTING_NO = 1,        /* none */
	TN_CASTING_EQUIV = 2,     /* the same: Tenon has no two dtypes of equal meaning */
	TN_CASTING_SAFE = 3,      /* those that keep every value (i64 to f64 counts as one) */
	TN_CASTING_UNSAFE = 4,    /* all */
};

/* 1: the rule allows the conversion; 0: it does not, or one of the three is unknown.
 * [thread: any | since 0.1] */
TN_API int tn_can_cast(tn_dtype from, tn_dtype to, uint32_t casting);

struct tn_ufunc_options {
	uint32_t struct_size;
	uint32_t casting; /* TN_CASTING_..., of the inputs and of the result to out */
	/* Where the result is written, converted; NULL: a new array.  The inputs broadcast to
	 * its shape.  It may be an input, or overlap one in any way: the result is as if all had
	 * been read before. */
	tn_array *out;
	/* bool, broadcast with the inputs: where it is false, out is left as it is, and a new
	 * array is 0. */
	const tn_array *where;
	/* The dtype in which to compute, to which the inputs are converted; 0: NumPy's for
	 * theirs.  Functions whose result is bool take TN_BOOL alone, and compute as always. */
	tn_dtype dtype;
	uint32_t reserved;
	/* reduce alone: combined with the elements, as the first of them. */
	const tn_number *initial;
};
static inline struct tn_ufunc_options tn_ufunc_defaults(void)
{
	struct tn_ufunc_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	return options;
}

/* f(inputs), of the function's n inputs.  Returns a new array, or `out` itself.  TN_DTYPE: the
 * function does not compute in `dtype`. */
TN_API tn_array *tn_ufunc_call(const tn_ufunc *ufunc, int n, const tn_array *const *inputs,
			       const struct tn_ufunc_options *options);

/* f(a[i], b[j]) for all pairs, in the shape of a followed by that of b. */
TN_API tn_array *tn_ufunc_outer(const tn_ufunc *ufunc, const tn_array *a, const tn_array *b,
				const struct tn_ufunc_options *options);

/* ---- Along axes ------------------------------------------------------------------------------
 * Of functions of two inputs, whose result has the dtype in which they compute: sums and products
 * of integers narrower than 64 bits in i64 or u64, logical functions in bool, and comparisons of
 * bool alone.  `a` is converted to it, or to options->dtype, by any rule, as in NumPy. */

/* f(f(a0, a1), a2) ... over the n axes in `axes` (TN_ALL_AXES: all), as tn_sum.  Functions that
 * NumPy reorders (add, multiply, the extremes, hypot, logaddexp, the logical ones and those of
 * bits) are applied in pairs; the others take one axis (TN_INVALID_ARGUMENT), in order, by one call
 * for each element.  Elements where options->where is false are left out.  Over no elements: the
 * identity or `initial`; TN_SHAPE where there is neither.  TN_INVALID_ARGUMENT: `where` without
 * either. */
TN_API tn_array *tn_ufunc_reduce(const tn_ufunc *ufunc, const tn_array *a, int n, const int *axes,
				 int keepdims, const struct tn_ufunc_options *options);

/* y[0] = a[0], y[j] = f(y[j - 1], a[j]) along an axis: in pairs where NumPy reorders, else in
 * order.  TN_INVALID_ARGUMENT: `where` or `initial` is given. */
TN_API tn_array *tn_ufunc_accumulate(const tn_ufunc *ufunc, const tn_array *a, int axis,
				     const struct tn_ufunc_options *options);

/* a[indices[k]] = f(a[indices[k]], b[k]) for one k after another, so that equal indices accumulate;
 * in place, along the first axis.  indices (integers of any shape; negative ones count from the
 * end) as for tn_take; b broadcasts to indices' shape followed by a's other axes, and is NULL for a
 * function of one input.  The result must be castable to a's dtype by TN_CASTING_SAME_KIND.
 *
 * "add" and "subtract" of numbers are one scatter, and so are "multiply", "maximum" and "minimum"
 * on backends that have it; functions that reorder take log2 of the number of indices maps.  The
 * others take as many as the most frequent index occurs, which the host waits for and reads. */
TN_API tn_status tn_ufunc_at(const tn_ufunc *ufunc, tn_array *a, const tn_array *indices,
			     const tn_array *b);

#ifdef __cplusplus
}
#endif
#endif
