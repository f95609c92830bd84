/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * User-defined kernels: element programs (tenon-program(7)) over arrays, beyond tn_map.
 *
 * tn_map_outputs computes up to 8 arrays in one pass, tn_reduce_map maps, combines along axes and
 * computes a result of that (CuPy's ReductionKernel), and tn_scan_map runs an associative operator
 * along an axis.
 *
 *     // the norm of each row of x - y
 *     struct tn_reduce_map_options options = tn_reduce_map_defaults();
 *     options.post = "z = sqrt(a)";
 *     options.n_axes = 1;
 *     options.axes = (int[]){-1};
 *     tn_array *norm = tn_reduce_map("d = x - y; z = d*d", 2, (const char *[]){"x", "y"},
 *                                    (const tn_array *[]){x, y}, &options);
 *
 * They run on every backend and have gradients.  A text is parsed once: the context keeps the
 * program by text, names and dtypes (tn_clear_memo).
 *
 * Inputs are 1 to 16 real arrays, named in order, and broadcast; numbers by name are i64, u64 or
 * f64.  All pointers are borrowed until the call returns.  Arrays made belong to the innermost open
 * scope.  On failure the result is NULL, and the context keeps the error; many have:
 *   TN_FORMAT            the text is not a valid program: line, column, expected and found
 *   TN_NOT_FOUND         the text uses an unknown name
 *   TN_DTYPE             an array or a number is complex, or types in the text do not match
 *   TN_SHAPE             the shapes do not broadcast
 *   TN_INVALID_ARGUMENT  a name or a list is NULL, or two names are equal
 *   TN_LIMIT             more inputs, numbers, outputs or instructions than a program has
 *   TN_UNSUPPORTED       a struct is of a newer version of the library
 * All functions: [thread: one per context | may return before the result is ready | since 0.1].
 */
#ifndef TENON_MAP_H
#define TENON_MAP_H

#include <string.h>

#include <tenon/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Several results -------------------------------------------------------------------------*/

struct tn_map_options {
	uint32_t struct_size;
	int32_t n_outputs;
	int32_t n_scalars;
	uint32_t reserved;
	const char *const *scalar_names;
	const tn_number *scalars;
	/* The names in the text of the n_outputs outputs, 1 to 8, in the order of the results;
	 * NULL: the name assigned last, alone. */
	const char *const *output_names;
	/* Their dtypes, to which values are converted; NULL, or 0 for one of them: that of its
	 * value, or the narrow dtype that all inputs have, as for tn_map. */
	const tn_dtype *output_dtypes;
};
static inline struct tn_map_options tn_map_defaults(void)
{
	struct tn_map_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	return options;
}

/* outputs[j] = the output j of the program for each element, in the inputs' broadcast shape; all
 * in one pass.  options may be NULL.  On failure all outputs are NULL. */
TN_API tn_status tn_map_outputs(const char *text, int n_inputs, const char *const *names,
				const tn_array *const *inputs, const struct tn_map_options *options,
				tn_array **outputs);

/* ---- Reductions ------------------------------------------------------------------------------*/

enum {
	TN_COMBINE_SUM = 1,
	TN_COMBINE_PRODUCT = 2,
	TN_COMBINE_MAX = 3, /* NaN if any value is NaN */
	TN_COMBINE_MIN = 4,
};

struct tn_reduce_map_options {
	uint32_t struct_size;
	uint32_t combiner; /* TN_COMBINE_...; default TN_COMBINE_SUM */
	/* A text over the combined value, by the name a, and the numbers: its name assigned last is
	 * the result; NULL: a itself. */
	const char *post;
	/* Combined with the values, as one of them; NULL: none.  TN_DTYPE: complex. */
	const tn_number *initial;
	int32_t n_scalars;
	int32_t n_axes;
	const char *const *scalar_names;
	const tn_number *scalars;
	const int *axes; /* n_axes of the inputs' broadcast shape; NULL: all */
	int32_t keepdims;
	uint32_t reserved;
};
static inline struct tn_reduce_map_options tn_reduce_map_defaults(void)
{
	struct tn_reduce_map_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.combiner = TN_COMBINE_SUM;
	return options;
}

/* post(combine over the axes of map(inputs)): the text maps each element to a value, the name
 * assigned last.  One pass, which stores no values, except while a tape records, or where the
 * values are bool or extremes of u64, or the text reads index() or element().  In the map these
 * mean the broadcast shape, in post that of the kept axes.
 *
 * Values are combined in f32 or f64; sums and products of integers and bool in i64, and of u32 and
 * u64, the unsigned types of the language, in u64; post reads a of this dtype.  The result is
 * narrowed as tn_map's: f16 for inputs of f16.  Over no elements a sum is 0 and a product 1; an
 * extreme is `initial`, or TN_SHAPE.
 *
 * Gradients are those of tn_sum, tn_prod, tn_max and tn_min, composed with those of map and post:
 * equal extremes share theirs in equal parts.
 * TN_INVALID_ARGUMENT: not one of these combiners; there is no such axis, or it is given
 * twice. */
TN_API tn_array *tn_reduce_map(const char *text, int n_inputs, const char *const *names,
			       const tn_array *const *inputs,
			       const struct tn_reduce_map_options *options);

/* ---- Scans -----------------------------------------------------------------------------------*/

struct tn_scan_map_options {
	uint32_t struct_size;
	int32_t reverse; /* from the end of the axis to its beginning */
	/* NULL: inclusive.  Else exclusive: element j of the result combines the elements before
	 * j, and the first is this number.  TN_DTYPE: complex. */
	const tn_number *exclusive;
};
static inline struct tn_scan_map_options tn_scan_map_defaults(void)
{
	struct tn_scan_map_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	return options;
}

/* Running combinations along an axis by an operator of two values, a text over the names x, of the
 * elements before, and y:
 *
 *     tn_array *total = tn_scan_map("z = hypot(x, y)", x, -1, NULL);
 *
 * y[0] = a[0], y[j] = op(y[j - 1], a[j]).  The operator must be associative, which nothing checks:
 * it is applied to neighbours in pairs, about twice as often as there are elements, in 2 log2 n
 * maps.  Sums, products, max and min of floating arrays (z = x + y, x * y, max(x, y), min(x, y))
 * are tn_cumsum and its neighbours.  The result and all values between have a's dtype.  Gradients
 * are those of the maps.
 * TN_INVALID_ARGUMENT: there is no such axis. */
TN_API tn_array *tn_scan_map(const char *text, const tn_array *a, int axis,
			     const struct tn_scan_map_options *options);

/* ---- Memory of programs ----------------------------------------------------------------------*/

/* What a context keeps of texts.  struct_size is to be set. */
struct tn_memo_statistics {
	uint32_t struct_size;
	uint32_t n_programs; /* kept now, of users: tn_clear_memo would free them */
	uint64_t n_found;    /* calls whose program was there */
	uint64_t n_parsed;   /* calls that parsed their text */
};

/* TN_INVALID_ARGUMENT: struct_size is not set.  Works while an error is kept. */
TN_API TN_CHECKED tn_status tn_memo_get_statistics(tn_context *context,
						   struct tn_memo_statistics *statistics);

/* Frees the programs of users' texts, and their derivatives; a later call parses its text again.
 * Programs that captured or recorded work reads stay.  TN_STATE: a tape exists, which refers to
 * programs. */
TN_API tn_status tn_clear_memo(tn_context *context);

#ifdef __cplusplus
}
#endif
#endif
