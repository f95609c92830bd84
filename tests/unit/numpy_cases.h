/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Calls whose result one more rounding, another order of operands, a narrow total or an index read
 * as negative would change, with NumPy's results; for tests on several backends.
 */
#ifndef TN_TESTS_NUMPY_CASES_H
#define TN_TESTS_NUMPY_CASES_H

#include <math.h>
#include <string.h>
#include <tenon/tenon.h>

#include "check.h"

static tn_context *cases_context;

enum { CASE_ELEMENTS = 12, CASE_TERMS = 4096 };

/* ---- Inputs ----------------------------------------------------------------------------------*/

static inline tn_array *case_line(tn_dtype dtype, int64_t n, const double *values)
{
	return tn_astype(tn_from_host(cases_context, TN_F64, 1, &n, values), dtype);
}
#define LINE(dtype, ...)                                                                           \
	case_line(dtype, sizeof((double[]){__VA_ARGS__}) / sizeof(double), (double[]){__VA_ARGS__})

static inline tn_array *case_u64(uint64_t value)
{
	return tn_from_host(cases_context, TN_U64, 1, (int64_t[]){1}, &value);
}

static inline tn_array *case_complex(tn_dtype dtype, double real, double imaginary)
{
	return tn_astype(tn_complex(LINE(TN_F64, real), LINE(TN_F64, imaginary)), dtype);
}

static inline tn_array *case_ones(tn_dtype dtype)
{
	return tn_ones(cases_context, dtype, 1, (int64_t[]){CASE_TERMS});
}

static inline tn_array *case_zeros(tn_dtype dtype, int64_t n)
{
	return tn_zeros(cases_context, dtype, 1, &n);
}

static inline tn_array *case_histogram(const tn_array *a, int64_t n_bins, const double *range,
				       const tn_array *weights, tn_array **edges)
{
	struct tn_histogram_options options = tn_histogram_defaults();
	options.n_bins = n_bins;
	options.range = range;
	options.weights = weights;
	return tn_histogram(a, &options, edges);
}

/* ---- Rounding --------------------------------------------------------------------------------*/

static inline tn_array *zeros_in_bins(void)
{
	return case_histogram(case_zeros(TN_I64, 3), 10, NULL, NULL, NULL);
}
static inline tn_array *tenths_in_bins(void)
{
	static const double range[] = {-5, 5};
	return case_histogram(LINE(TN_F64, -4.4, -0.1, 0.3, 2.3, 4.9, 1.3, -2.7), 10, range, NULL,
			      NULL);
}
static inline tn_array *edges_in_range(void)
{
	static const double range[] = {0.1, 0.7};
	tn_array *edges = NULL;
	case_histogram(LINE(TN_F32, 0.5), 3, range, NULL, &edges);
	return edges;
}
static inline tn_array *last_bin_of_the_least_numbers(void)
{
	return case_histogram(LINE(TN_F64, 0, 0x1p-1074, 4 * 0x1p-1074), 4, NULL, NULL, NULL);
}
static inline tn_array *close_at_the_bound(void)
{
	return tn_isclose(LINE(TN_F64, 0.12000000000000001, 1.11, -1.11), LINE(TN_F64, 0.1, 1, -1),
			  0.1, 0.01, 0);
}

/* ---- Sums at equal indices -------------------------------------------------------------------*/

static inline tn_array *added_by_ufunc(tn_dtype dtype)
{
	tn_array *a = case_zeros(dtype, 2);
	assert_ok(tn_ufunc_at(tn_ufunc_find("add"), a, case_zeros(TN_U8, CASE_TERMS),
			      case_ones(dtype)));
	return a;
}
static inline tn_array *added_in_f16(void)
{
	return added_by_ufunc(TN_F16);
}
static inline tn_array *added_in_bf16(void)
{
	return added_by_ufunc(TN_BF16);
}
static inline tn_array *put_in_bf16(void)
{
	tn_array *a = case_zeros(TN_BF16, 2);
	const tn_array *zeros = case_zeros(TN_I64, CASE_TERMS);
	assert_ok(tn_index_put(a, 1, &TN_BY(zeros), case_ones(TN_BF16), TN_PUT_ADD));
	return a;
}
static inline tn_array *gradient_of_take(void)
{
	tn_tape *tape = tn_tape_begin(cases_context);
	tn_array *w = case_zeros(TN_BF16, 2);
	assert_ok(tn_tape_watch(tape, w));
	const tn_array *y = tn_take(w, case_zeros(TN_I64, CASE_TERMS), 0, TN_RAISE);
	assert_ok(tn_tape_backward(tape, tn_sum(y, TN_ALL_AXES, NULL, 0), NULL));
	tn_array *gradient = tn_tape_gradient(tape, w);
	tn_tape_end(tape);
	return gradient;
}
static inline tn_array *gradient_of_embedding(void)
{
	tn_tape *tape = tn_tape_begin(cases_context);
	tn_array *w = tn_reshape(case_zeros(TN_F16, 2), 2, (int64_t[]){2, 1});
	assert_ok(tn_tape_watch(tape, w));
	const tn_array *y = tn_embedding(case_zeros(TN_U16, CASE_TERMS), w, TN_NO_PADDING_INDEX);
	assert_ok(tn_tape_backward(tape, tn_sum(y, TN_ALL_AXES, NULL, 0), NULL));
	tn_array *gradient = tn_reshape(tn_tape_gradient(tape, w), 1, (int64_t[]){2});
	tn_tape_end(tape);
	return gradient;
}
static inline tn_array *weights_of_bf16(void)
{
	return case_histogram(case_zeros(TN_F32, CASE_TERMS), 1, NULL, case_ones(TN_BF16), NULL);
}
static inline tn_array *weights_of_f16(void)
{
	return tn_bincount(case_zeros(TN_I32, CASE_TERMS), case_ones(TN_F16), 0);
}
static inline tn_array *weights_of_u8(void)
{
	return case_histogram(case_zeros(TN_F32, 3), 1, NULL, LINE(TN_U8, 100, 100, 100), NULL);
}
static inline tn_array *weights_of_i8(void)
{
	return case_histogram(case_zeros(TN_F32, 3), 1, NULL, LINE(TN_I8, -100, -100, -1), NULL);
}
static inline tn_array *weights_of_bool(void)
{
	return tn_bincount(LINE(TN_U64, 1, 2, 2), LINE(TN_BOOL, 1, 0, 1), 0);
}

/* ---- Indices ---------------------------------------------------------------------------------*/

static inline tn_array *wrapped_u64(void)
{
	return tn_take(LINE(TN_F64, 0, 1, 2, 3, 4), case_u64(UINT64_MAX - 1), 0, TN_WRAP);
}
static inline tn_array *clipped_u64(void)
{
	return tn_take(LINE(TN_F64, 0, 1, 2, 3, 4), case_u64(UINT64_MAX - 1), 0, TN_CLIP);
}
static inline tn_array *along_by_u8(void)
{
	return tn_take_along_axis(LINE(TN_F64, 5, 6, 7), LINE(TN_U8, 2, 0), 0);
}
static inline tn_array *along_by_i16(void)
{
	return tn_take_along_axis(LINE(TN_F64, 5, 6, 7), LINE(TN_I16, -1, 0), 0);
}

/* ---- Dtypes ----------------------------------------------------------------------------------*/

static inline tn_array *selected(void)
{
	const tn_array *conditions[] = {LINE(TN_BOOL, 1), LINE(TN_BOOL, 1)};
	const tn_array *choices[] = {LINE(TN_U16, 3), LINE(TN_I16, 4)};
	return tn_select(2, conditions, choices, LINE(TN_F32, 5));
}
static inline tn_array *clipped(void)
{
	return tn_clip(LINE(TN_I16, 9), LINE(TN_U16, 3), LINE(TN_F32, 5));
}
static inline tn_array *clipped_f16(void)
{
	return tn_clip(LINE(TN_I8, 9), LINE(TN_U8, 3), LINE(TN_F16, 5));
}
static inline tn_array *interpolated(void)
{
	return tn_interp(LINE(TN_U16, 1), LINE(TN_I16, 0, 2), LINE(TN_F32, 4, 6), NULL, NULL, 0);
}

/* ---- Values ----------------------------------------------------------------------------------*/

static inline tn_array *interp_of_nan(void)
{
	return tn_interp(LINE(TN_F64, NAN, 2), LINE(TN_F64, 0, 1), LINE(TN_F64, 3, 3), NULL, NULL,
			 0);
}
static inline tn_array *sign_of_infinity(void)
{
	return tn_sign(case_complex(TN_C64, -INFINITY, 2));
}
static inline tn_array *sign_of_nan(void)
{
	return tn_sign(case_complex(TN_C128, NAN, INFINITY));
}
static inline tn_array *cube(void)
{
	return tn_power(case_complex(TN_C128, 2, 0), case_complex(TN_C128, 3, 0));
}
static inline tn_array *square_of_i(void)
{
	return tn_power(case_complex(TN_C64, 0, 1), case_complex(TN_C64, 2, 0));
}
static inline tn_array *large_square(void)
{
	return tn_power(case_complex(TN_C128, 1e200, 0), case_complex(TN_C128, 2, 0));
}
static inline tn_array *float_power_of_complex(void)
{
	return tn_float_power(case_complex(TN_C64, 1, 2), LINE(TN_I8, 2));
}
static inline tn_array *round_of_complex(void)
{
	return tn_round(case_complex(TN_C64, 1.5, -2.5));
}
static inline tn_array *rint_of_complex(void)
{
	return tn_rint(case_complex(TN_C128, 0.5, 3.5));
}
static inline tn_array *sinc_of_complex(void)
{
	return tn_sinc(case_complex(TN_C64, 0, 0));
}
static inline tn_array *cumprod_of_complex(void)
{
	const tn_array *a = tn_complex(LINE(TN_F32, 1, 0, 2), LINE(TN_F32, 1, 1, 0));
	return tn_cumprod(a, 0);
}
static inline tn_array *floor_divide_by_infinity(void)
{
	return tn_floor_divide(LINE(TN_F64, 1, -1, INFINITY, 0), LINE(TN_F64, INFINITY));
}
static inline tn_array *no_quantile(void)
{
	return tn_nanquantile(case_zeros(TN_F32, 0), TN_SCALAR, (double[]){0.5}, NULL);
}
/* 49 * (1 / 49) is below 1. */
static inline tn_array *mean_of_ones(void)
{
	return tn_mean(tn_exp(case_zeros(TN_F64, 49)), TN_ALL_AXES, NULL, 0);
}
static inline tn_array *any_from_two(void)
{
	const tn_number two = tn_number_i64(2);
	struct tn_ufunc_options options = tn_ufunc_defaults();
	options.initial = &two;
	return tn_ufunc_reduce(tn_ufunc_find("logical_or"), LINE(TN_BOOL, 0, 0), TN_ALL_AXES, NULL,
			       0, &options);
}
static inline tn_array *range_up_to_the_last(void)
{
	return tn_arange(cases_context, TN_I8, -128, 128, 127);
}

static const struct numpy_case {
	const char *name;
	tn_array *(*make)(void);
	tn_dtype dtype;
	int n; /* numbers, of complex elements two each */
	double expected[CASE_ELEMENTS];
} numpy_cases[] = {
	{"zeros in bins", zeros_in_bins, TN_I64, 10, {[5] = 3}},
	{"tenths in bins", tenths_in_bins, TN_I64, 10, {1, 0, 1, 0, 1, 1, 1, 1, 0, 1}},
	{"edges in a range",
	 edges_in_range,
	 TN_F32,
	 4,
	 {(double)0.1f, (double)(float)(0.1 + (0.7 - 0.1) / 3),
	  (double)(float)(0.1 + 2 * ((0.7 - 0.1) / 3)), (double)0.7f}},
	{"least numbers", last_bin_of_the_least_numbers, TN_I64, 4, {1, 1, 0, 1}},
	{"isclose", close_at_the_bound, TN_BOOL, 3, {1, 0, 0}},
	{"add.at of f16", added_in_f16, TN_F16, 2, {CASE_TERMS, 0}},
	{"add.at of bf16", added_in_bf16, TN_BF16, 2, {CASE_TERMS, 0}},
	{"index_put", put_in_bf16, TN_BF16, 2, {CASE_TERMS, 0}},
	{"take's gradient", gradient_of_take, TN_BF16, 2, {CASE_TERMS, 0}},
	{"embedding's gradient", gradient_of_embedding, TN_F16, 2, {CASE_TERMS, 0}},
	{"weights of bf16", weights_of_bf16, TN_BF16, 1, {CASE_TERMS}},
	{"weights of f16", weights_of_f16, TN_F64, 1, {CASE_TERMS}},
	{"weights of u8", weights_of_u8, TN_U8, 1, {44}},
	{"weights of i8", weights_of_i8, TN_I8, 1, {55}},
	{"weights of bool", weights_of_bool, TN_F64, 3, {0, 1, 1}},
	{"wrapped u64", wrapped_u64, TN_F64, 1, {4}},
	{"clipped u64", clipped_u64, TN_F64, 1, {4}},
	{"along by u8", along_by_u8, TN_F64, 2, {7, 5}},
	{"along by i16", along_by_i16, TN_F64, 2, {7, 5}},
	{"select", selected, TN_F32, 1, {3}},
	{"clip", clipped, TN_F32, 1, {5}},
	{"clip of f16", clipped_f16, TN_F16, 1, {5}},
	{"interp's dtype", interpolated, TN_F32, 1, {5}},
	{"interp of NaN", interp_of_nan, TN_F64, 2, {NAN, 3}},
	{"sign of infinity", sign_of_infinity, TN_C64, 2, {-1, 0}},
	{"sign of NaN", sign_of_nan, TN_C128, 2, {0, 1}},
	{"cube", cube, TN_C128, 2, {8, 0}},
	{"square of i", square_of_i, TN_C64, 2, {-1, 0}},
	{"large square", large_square, TN_C128, 2, {INFINITY, 0}},
	{"float_power", float_power_of_complex, TN_C128, 2, {-3, 4}},
	{"round", round_of_complex, TN_C64, 2, {2, -2}},
	{"rint", rint_of_complex, TN_C128, 2, {0, 4}},
	{"sinc", sinc_of_complex, TN_C64, 2, {1, 0}},
	{"cumprod", cumprod_of_complex, TN_C64, 6, {1, 1, -1, 1, -2, 2}},
	{"floor_divide", floor_divide_by_infinity, TN_F64, 4, {0, -1, NAN, 0}},
	{"nanquantile", no_quantile, TN_F32, 1, {NAN}},
	{"mean", mean_of_ones, TN_F64, 1, {1}},
	{"logical_or", any_from_two, TN_BOOL, 1, {1}},
	{"arange", range_up_to_the_last, TN_I8, 3, {-128, -1, 126}},
};

/* ---- Refusals --------------------------------------------------------------------------------*/

static inline tn_array *narrow_bins(void)
{
	return case_histogram(LINE(TN_F32, 0x1p24, 0x1p24 + 4), 1000, NULL, NULL, NULL);
}
static inline tn_array *u64_out_of_range(void)
{
	return tn_take(LINE(TN_F64, 0, 1, 2, 3, 4), case_u64(UINT64_MAX), 0, TN_RAISE);
}
static inline tn_array *along_by_f32(void)
{
	return tn_take_along_axis(LINE(TN_F64, 5, 6, 7), LINE(TN_F32, 2), 0);
}
static inline tn_array *arange_of_i8(void)
{
	return tn_arange(cases_context, TN_I8, 0, 300, 200);
}
static inline tn_array *arange_below_0(void)
{
	return tn_arange(cases_context, TN_U8, -2, 1, 1);
}
static inline tn_array *linspace_of_i8(void)
{
	return tn_linspace(cases_context, TN_I8, 0, 200, 5, 1);
}
static inline tn_array *logspace_of_i8(void)
{
	return tn_logspace(cases_context, TN_I8, 0, 3, 4, 1, 10);
}
static inline tn_array *geomspace_of_u8(void)
{
	return tn_geomspace(cases_context, TN_U8, 1, 1000, 4, 1);
}
static inline tn_array *bits_of_f64(void)
{
	tn_array *a = LINE(TN_F64, 1);
	return tn_ufunc_at(tn_ufunc_find("bitwise_and"), a, case_zeros(TN_I64, 0),
			   case_zeros(TN_F64, 0))
		       ? NULL
		       : a;
}

static const struct numpy_refusal {
	const char *name;
	tn_array *(*make)(void);
	tn_status status;
} numpy_refusals[] = {
	{"narrow bins", narrow_bins, TN_INVALID_ARGUMENT},
	{"u64 out of range", u64_out_of_range, TN_INVALID_ARGUMENT},
	{"indices of f32", along_by_f32, TN_DTYPE},
	{"arange of i8", arange_of_i8, TN_INVALID_ARGUMENT},
	{"arange of u8", arange_below_0, TN_INVALID_ARGUMENT},
	{"linspace of i8", linspace_of_i8, TN_INVALID_ARGUMENT},
	{"logspace of i8", logspace_of_i8, TN_INVALID_ARGUMENT},
	{"geomspace of u8", geomspace_of_u8, TN_INVALID_ARGUMENT},
	{"bitwise_and.at of f64", bits_of_f64, TN_DTYPE},
};

/* ---- The checks ------------------------------------------------------------------------------*/

static inline void check_numpy_case(const struct numpy_case *c)
{
	double found[CASE_ELEMENTS];
	assert_ok(tn_scope_begin(cases_context));
	tn_array *a = c->make();
	if (!a)
		fail_msg("%s: %s", c->name, tn_error_text(cases_context));
	if (tn_array_dtype(a) != c->dtype)
		fail_msg("%s: found %s", c->name, tn_dtype_name(tn_array_dtype(a)));
	const int is_complex = c->dtype == TN_C64 || c->dtype == TN_C128;
	assert_int_equal(tn_array_size(a) * (1 + is_complex), c->n);
	const tn_array *wide = tn_astype(a, is_complex ? TN_C128 : TN_F64);
	assert_ok(tn_to_host(wide, found, (size_t)c->n * sizeof(double)));
	for (int i = 0; i < c->n; i++) {
		if (found[i] != c->expected[i] && !(isnan(found[i]) && isnan(c->expected[i])))
			fail_msg("%s: number %d is %.17g, not %.17g", c->name, i, found[i],
				 c->expected[i]);
	}
	tn_scope_end(cases_context, NULL);
}

/* At once, or by the next call that waits. */
static inline void check_numpy_refusal(const struct numpy_refusal *c)
{
	assert_ok(tn_scope_begin(cases_context));
	if (c->make())
		(void)tn_synchronize(cases_context);
	const struct tn_error_info *error = tn_error(cases_context);
	if (!error || error->status != c->status)
		fail_msg("%s: found %s", c->name, error ? error->text : "an array");
	tn_error_clear(cases_context);
	tn_scope_end(cases_context, NULL);
}

static inline void check_numpy_cases(tn_context *context)
{
	cases_context = context;
	for (size_t i = 0; i < sizeof(numpy_cases) / sizeof(numpy_cases[0]); i++)
		check_numpy_case(&numpy_cases[i]);
	for (size_t i = 0; i < sizeof(numpy_refusals) / sizeof(numpy_refusals[0]); i++)
		check_numpy_refusal(&numpy_refusals[i]);
}

#endif
