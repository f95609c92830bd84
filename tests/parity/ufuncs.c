/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Universal functions against recorded NumPy numbers: dtypes, broadcasting, special values, and the
 * error in units in the last place that tn_ufunc(3) states; gradients against differences.
 */
#include "parity/ufuncs.h"

#include <float.h>
#include <math.h>
#include <tenon/tenon.h>

#include "parity/parity.h"
#include "unit/kept_error.h"

static tn_context *context;

/* ---- Recorded numbers ------------------------------------------------------------------------*/

static const struct ufunc *ufunc_named(const char *name)
{
	for (size_t i = 0; i < sizeof(ufuncs) / sizeof(ufuncs[0]); i++) {
		if (strcmp(ufuncs[i].name, name) == 0)
			return &ufuncs[i];
	}
	return NULL;
}

static tn_dtype dtype_of(const struct record *record, const char *name)
{
	return (tn_dtype)record_ints(record, name)[0];
}

static int is_complex(tn_dtype dtype)
{
	return dtype == TN_C64 || dtype == TN_C128;
}

/* The recorded array; a complex one has a last axis of two parts.  NULL: the case has none. */
static tn_array *input_of(const struct record *record, const char *name)
{
	const struct record_array *array = record_array(record, name);
	if (!array)
		return NULL;
	tn_dtype dtype = dtype_of(record, name);
	int rank = (int)array->rank - is_complex(dtype);
	tn_array *wide = tn_from_host(context, is_complex(dtype) ? TN_C128 : TN_F64, rank,
				      array->shape, array->values);
	tn_array *narrow = tn_astype(wide, dtype);
	assert_non_null(narrow);
	return narrow;
}

/* One unit in the last place of a number of that dtype. */
static double unit_of(tn_dtype dtype, double value)
{
	int digits = dtype == TN_F16 ? 11 : dtype == TN_F32 || dtype == TN_C64 ? 24 : 53;
	int lowest = digits == 11 ? -13 : digits == 24 ? -125 : -1021, exponent;
	frexp(value, &exponent);
	return ldexp(1, (exponent < lowest ? lowest : exponent) - digits);
}

static int is_near(const struct ufunc *f, tn_dtype dtype, double found, double expected)
{
	double ulps = f->ulps;
	if (isnan(expected) || isnan(found) || isinf(expected) || isinf(found))
		return (isnan(expected) && isnan(found)) || expected == found;
	if (expected == 0 && found == 0 && !is_complex(dtype))
		return f->any_zero || !signbit(found) == !signbit(expected);
	/* An f16 is rounded from f32; complex numbers bound the larger part. */
	if (dtype == TN_F16 && ulps > 0)
		ulps = 1;
	if (is_complex(dtype))
		return fabs(found - expected) <= 16 * unit_of(dtype, fmax(1, fabs(expected)));
	return fabs(found - expected) <=
	       ulps * unit_of(dtype, expected) + f->absolute * unit_of(dtype, 0.5);
}

static void check(const struct ufunc *f, const struct record *record, const tn_array *found)
{
	const struct record_array *array = record_array(record, f->name);
	tn_dtype dtype = dtype_of(record, f->name);
	double *values = malloc(array->count * sizeof(*values));
	assert_non_null(values);
	if (!found)
		fail_msg("%s: %s", f->name, tn_error(context)->text);
	if (tn_array_dtype(found) != dtype)
		fail_msg("%s of %s: expected %s, found %s", f->name,
			 tn_dtype_name(dtype_of(record, "x")), tn_dtype_name(dtype),
			 tn_dtype_name(tn_array_dtype(found)));
	assert_int_equal(tn_array_rank(found), (int)array->rank - is_complex(dtype));
	for (int i = 0; i < tn_array_rank(found); i++)
		assert_int_equal(tn_array_shape(found)[i], array->shape[i]);
	found = tn_astype(found, is_complex(dtype) ? TN_C128 : TN_F64);
	assert_ok(tn_to_host(found, values, array->count * sizeof(*values)));
	for (size_t i = 0; i < array->count; i++) {
		if (!is_near(f, dtype, values[i], array->values[i]))
			fail_msg("%s of %s: element %zu: NumPy has %.17g, found %.17g", f->name,
				 tn_dtype_name(dtype_of(record, "x")), i, array->values[i],
				 values[i]);
	}
	free(values);
}

/* Every other element of a buffer twice as long. */
static tn_array *strided(const tn_array *x)
{
	int64_t length = tn_array_shape(x)[0];
	tn_array *wide = tn_zeros(context, tn_array_dtype(x), 1, (int64_t[]){2 * length});
	tn_array *view = tn_slice(wide, 0, 1, INT64_MIN, 2);
	assert_ok(tn_assign(view, x));
	return view;
}

static void check_all(tn_context *given, const struct record *record, int number)
{
	(void)number;
	context = given;
	tn_array *x = input_of(record, "x"), *y = input_of(record, "y");
	tn_array *low = input_of(record, "low"), *high = input_of(record, "high");
	for (int i = 0; i < record->n_arrays; i++) {
		const struct ufunc *f = ufunc_named(record->arrays[i].name);
		if (!f)
			continue;
		if (f->one) {
			check(f, record, f->one(x));
			check(f, record, f->one(strided(x)));
		} else if (f->two) {
			check(f, record, f->two(x, y));
		} else {
			check(f, record, f->three(x, low, high));
		}
	}
}

static int is_of_f32(const struct record *record, int number)
{
	(void)number;
	return dtype_of(record, "x") == TN_F32;
}

/* ---- Gradients -------------------------------------------------------------------------------*/

static tn_array *sum_of(void *user, tn_array *const *x)
{
	const struct ufunc *f = user;
	tn_array *z = f->one   ? f->one(x[0])
		      : f->two ? f->two(x[0], x[1])
			       : f->three(x[0], x[1], x[2]);
	/* Weights that differ between elements. */
	tn_array *weights = tn_arange(context, TN_F64, 1, 1 + (double)tn_array_size(z), 1);
	weights = tn_reshape(weights, tn_array_rank(z), tn_array_shape(z));
	return tn_sum(tn_multiply(z, weights), TN_ALL_AXES, NULL, 0);
}

/* Numbers between the function's limits, where it has no kink. */
static void gradients_are_those_of_differences(void **state)
{
	static const double part[] = {0.06, 0.97, 0.53, 0.32, 0.81, 0.46};
	static const double other[] = {0.73, 0.14};
	(void)state;
	struct tn_context_options options = tn_context_defaults();
	options.backend = "reference!";
	assert_ok(tn_context_open(&options, &context, NULL));
	for (size_t i = 0; i < sizeof(ufuncs) / sizeof(ufuncs[0]); i++) {
		const struct ufunc *f = &ufuncs[i];
		struct tn_gradient_report report = {.struct_size = sizeof(report)};
		double size = f->high - f->low;
		if (size == 0)
			continue;
		assert_ok(tn_scope_begin(context));
		tn_array *x[] = {tn_from_host(context, TN_F64, 2, (int64_t[]){3, 2}, part),
				 tn_from_host(context, TN_F64, 1, (int64_t[]){2}, other),
				 tn_from_host(context, TN_F64, 0, NULL, (double[]){0.9})};
		for (int k = 0; k < 3; k++)
			x[k] = tn_affine(x[k], size, f->low);
		int n = f->one ? 1 : f->two ? 2 : 3;
		void *user = (void *)(uintptr_t)f;
		if (tn_gradient_check(context, sum_of, user, n, x, 0, 1e-6, 0, &report))
			fail_msg("%s: %s", f->name, tn_error(context)->text);
		tn_scope_end(context, NULL);
	}
	tn_context_close(context);
}

/* The sum of both parts of a function of complex numbers, from the parts. */
static tn_array *sum_of_parts(void *user, tn_array *const *x)
{
	const struct ufunc *f = user;
	tn_array *z = f->one(tn_complex(x[0], x[1]));
	return tn_sum(tn_add(tn_real(z), tn_affine(tn_imag(z), 2, 0)), TN_ALL_AXES, NULL, 0);
}

static void complex_gradients_are_those_of_differences(void **state)
{
	static const char *const names[] = {"reciprocal", "positive", "tan",    "sinh",
					    "cosh",       "log2",     "log10",  "log1p",
					    "expm1",      "exp2",     "arcsin", "arccos",
					    "arcsinh",    "arccosh",  "arctan", "arctanh"};
	(void)state;
	struct tn_context_options options = tn_context_defaults();
	options.backend = "reference!";
	assert_ok(tn_context_open(&options, &context, NULL));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct tn_gradient_report report = {.struct_size = sizeof(report)};
		assert_ok(tn_scope_begin(context));
		tn_array *x[] = {
			tn_from_host(context, TN_F64, 1, (int64_t[]){3}, (double[]){0.3, -0.9, 1}),
			tn_from_host(context, TN_F64, 1, (int64_t[]){3}, (double[]){0.5, 0.2, -2})};
		void *user = (void *)(uintptr_t)ufunc_named(names[i]);
		if (tn_gradient_check(context, sum_of_parts, user, 2, x, 0, 1e-6, 0, &report))
			fail_msg("%s: %s", names[i], tn_error(context)->text);
		tn_scope_end(context, NULL);
	}
	tn_context_close(context);
}

/* Pairs that take Euclid's algorithm longest, and numbers that a recorded f64 does not hold. */
static void divisors_of_64_bits(void **state)
{
	const int64_t slow[2] = {4660046610375530309, 7540113804746346429};
	const int64_t even[2] = {6 * 1000000007LL * 1000000009, 4 * 1000000007LL * 998244353};
	const uint64_t large[2] = {UINT64_MAX, UINT64_MAX / 5 * 2};
	(void)state;
	struct tn_context_options options = tn_context_defaults();
	options.backend = "reference!";
	assert_ok(tn_context_open(&options, &context, NULL));
	int64_t found;
	uint64_t large_found;
	for (int i = 0; i < 2; i++) {
		const int64_t *pair = i ? even : slow;
		tn_array *x = tn_from_host(context, TN_I64, 0, NULL, &pair[0]);
		tn_array *y = tn_from_host(context, TN_I64, 0, NULL, &pair[1]);
		assert_ok(tn_to_host(tn_gcd(tn_negative(x), y), &found, sizeof(found)));
		assert_int_equal(found, i ? 2 * 1000000007LL : 1);
	}
	tn_array *x = tn_from_host(context, TN_U64, 0, NULL, &large[0]);
	tn_array *y = tn_from_host(context, TN_U64, 0, NULL, &large[1]);
	assert_ok(tn_to_host(tn_gcd(x, y), &large_found, sizeof(large_found)));
	assert_int_equal(large_found, UINT64_MAX / 5);
	assert_ok(tn_to_host(tn_lcm(x, y), &large_found, sizeof(large_found)));
	assert_int_equal(large_found, UINT64_MAX * 2);
	x = tn_from_host(context, TN_U64, 0, NULL, (uint64_t[]){12200160415121876738u});
	y = tn_from_host(context, TN_U64, 0, NULL, (uint64_t[]){7540113804746346429u});
	assert_ok(tn_to_host(tn_gcd(x, y), &large_found, sizeof(large_found)));
	assert_int_equal(large_found, 1);
	x = tn_from_host(context, TN_I32, 0, NULL, (int32_t[]){INT32_MIN});
	y = tn_from_host(context, TN_U32, 0, NULL, (uint32_t[]){3});
	assert_ok(tn_to_host(tn_lcm(x, y), &found, sizeof(found)));
	assert_int_equal(found, 3 * (1LL << 31));
	tn_context_close(context);
}

/* bf16, which NumPy does not have: 8 bits, and exponents from -126 on. */
static void neighbours_of_bf16(void **state)
{
	static const double x[] = {1, -1, 2, 0x1p-126, 0x1.fep127, 0};
	static const double above[] = {1 + 0x1p-7,          -1 + 0x1p-8, 2 + 0x1p-6,
				       0x1p-126 + 0x1p-133, INFINITY,    0x1p-133};
	static const double below[] = {1 - 0x1p-8,          -1 - 0x1p-7, 2 - 0x1p-7,
				       0x1p-126 - 0x1p-133, 0x1.fcp127,  -0x1p-133};
	double found[6];
	const int64_t six[] = {6};
	(void)state;
	struct tn_context_options options = tn_context_defaults();
	options.backend = "reference!";
	assert_ok(tn_context_open(&options, &context, NULL));
	tn_array *a = tn_astype(tn_from_host(context, TN_F64, 1, six, x), TN_BF16);
	tn_array *end = tn_full(context, TN_BF16, 0, NULL, INFINITY);
	assert_ok(tn_to_host(tn_astype(tn_nextafter(a, end), TN_F64), found, sizeof(found)));
	assert_memory_equal(found, above, sizeof(found));
	tn_array *next = tn_nextafter(a, tn_negative(end));
	assert_ok(tn_to_host(tn_astype(next, TN_F64), found, sizeof(found)));
	assert_memory_equal(found, below, sizeof(found));
	tn_context_close(context);
}

/* Exponents are integers, which sum_of has not. */
static void ldexp_has_a_gradient(void **state)
{
	const int64_t two[] = {2};
	double found[2];
	(void)state;
	struct tn_context_options options = tn_context_defaults();
	options.backend = "reference!";
	assert_ok(tn_context_open(&options, &context, NULL));
	tn_array *x = tn_from_host(context, TN_F64, 1, two, (double[]){0.3, -5});
	tn_array *n = tn_from_host(context, TN_I32, 1, two, (int32_t[]){-3, 40});
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	tn_array *sum = tn_sum(tn_ldexp(x, n), TN_ALL_AXES, NULL, 0);
	assert_ok(tn_tape_backward(tape, sum, NULL));
	assert_ok(tn_to_host(tn_tape_gradient(tape, x), found, sizeof(found)));
	assert_true(found[0] == 0.125 && found[1] == 0x1p40);
	tn_tape_end(tape);
	tn_context_close(context);
}

/* Where x log(x) overflows, all numbers below 0 are poles. */
static void lgamma_is_infinite_at_the_ends(void **state)
{
	const float ends[] = {-3e38f, -1e36f, -INFINITY, 3e38f, INFINITY};
	const int64_t n = 5;
	float found[5];
	(void)state;
	struct tn_context_options options = tn_context_defaults();
	options.backend = "reference!";
	assert_ok(tn_context_open(&options, &context, NULL));
	tn_array *x = tn_from_host(context, TN_F32, 1, &n, ends);
	assert_ok(tn_to_host(tn_lgamma(x), found, sizeof(found)));
	for (int i = 0; i < n; i++)
		assert_true(found[i] == INFINITY);
	tn_context_close(context);
}

static void numbers_that_are_almost_real(void **state)
{
	(void)state;
	struct tn_context_options options = tn_context_defaults();
	options.backend = "reference!";
	assert_ok(tn_context_open(&options, &context, NULL));
	tn_array *x = tn_from_host(context, TN_F64, 1, (int64_t[]){2}, (double[]){1, 2});
	tn_array *y = tn_from_host(context, TN_F64, 1, (int64_t[]){2}, (double[]){3e-14, -2e-14});
	tn_array *z = tn_complex(x, y);
	assert_int_equal(tn_array_dtype(tn_real_if_close(z, 100)), TN_C128);
	assert_int_equal(tn_array_dtype(tn_real_if_close(z, 1000)), TN_F64);
	assert_int_equal(tn_array_dtype(tn_real_if_close(z, 1e-13)), TN_F64);
	assert_int_equal(tn_array_dtype(tn_real_if_close(x, 100)), TN_F64);
	tn_context_close(context);
}

/* The derivative of f at x, or at (x, y) in the first or second argument. */
static double slope_at(const char *name, double x, double y, int which)
{
	const struct ufunc *f = ufunc_named(name);
	double slope = NAN;
	assert_ok(tn_scope_begin(context));
	tn_array *inputs[] = {tn_full(context, TN_F64, 0, NULL, x),
			      tn_full(context, TN_F64, 0, NULL, y)};
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, inputs[which]));
	tn_array *z = f->one ? f->one(inputs[0]) : f->two(inputs[0], inputs[1]);
	assert_ok(tn_tape_backward(tape, z, NULL));
	assert_ok(tn_item(tn_tape_gradient(tape, inputs[which]), &slope));
	tn_tape_end(tape);
	tn_scope_end(context, NULL);
	return slope;
}

static void gradients_at_special_points(void **state)
{
	(void)state;
	struct tn_context_options options = tn_context_defaults();
	options.backend = "reference!";
	assert_ok(tn_context_open(&options, &context, NULL));
	assert_true(slope_at("hypot", 0, 0, 0) == 0);
	assert_true(slope_at("cbrt", 0, 0, 0) == INFINITY);
	assert_true(slope_at("sinc", 0, 0, 0) == 0);
	const double near = -M_PI * M_PI / 3 * 1e-4 * (1 - M_PI * M_PI * 1e-9);
	assert_true(fabs(slope_at("sinc", 1e-4, 0, 0) / near - 1) < 1e-14);
	assert_true(slope_at("logaddexp", 3, 3, 0) == 0.5);
	assert_true(slope_at("logaddexp", INFINITY, INFINITY, 1) == 0.5);
	assert_true(slope_at("logaddexp", -800, 800, 1) == 1);
	assert_true(slope_at("xlogy", 0, 0, 0) == 0);
	assert_true(fabs(slope_at("xlogy", 0, 2, 0) - log(2)) < 1e-15);
	assert_true(slope_at("xlogy", 0, 0, 1) == 0);
	assert_true(slope_at("fmax", 2, 2, 0) == 1 && slope_at("fmax", 2, 2, 1) == 0);
	assert_true(slope_at("fmin", 2, NAN, 0) == 1 && slope_at("fmin", 2, NAN, 1) == 0);
	assert_true(slope_at("remainder", 6, 3, 1) == -2);
	assert_true(slope_at("remainder", -7, 3, 1) == 3);
	assert_true(slope_at("arcsinh", 0, 0, 0) == 1);
	assert_true(slope_at("trunc", 1.5, 0, 0) == 0);
	assert_true(slope_at("i1", 0, 0, 0) == 0.5);
	assert_true(slope_at("i0e", 0, 0, 0) == 0);
	assert_true(fabs(slope_at("lgamma", -0.5, 0, 0) - 0.03648997397857652) < 1e-15);
	assert_true(fabs(slope_at("digamma", -0.5, 0, 0) - 8.934802200544679) < 1e-14);
	assert_true(fabs(slope_at("polygamma_1", -0.5, 0, 0) + 0.8287966442343199) < 1e-13);
	assert_true(slope_at("entr", 0, 0, 0) == INFINITY);
	assert_true(slope_at("xlog1py", 0, -1, 0) == 0);
	assert_true(fabs(slope_at("zeta", 2, 1, 1) + 2 * 1.2020569031595942) < 1e-14);
	assert_true(slope_at("zeta", 2, 1, 0) == 0);
	assert_true(slope_at("heaviside", 0, 3, 1) == 1);
	tn_context_close(context);
}

/* ---- Bad input -------------------------------------------------------------------------------*/

static void bad_input_is_an_error(void **state)
{
	(void)state;
	struct tn_context_options options = tn_context_defaults();
	options.backend = "reference!";
	assert_ok(tn_context_open(&options, &context, NULL));
	const int64_t three[] = {3}, four[] = {4};
	tn_array *x = tn_ones(context, TN_F32, 1, three), *y = tn_ones(context, TN_F32, 1, four);
	tn_array *z = tn_ones(context, TN_C64, 1, three), *b = tn_ones(context, TN_BOOL, 1, three);
	tn_array *i = tn_ones(context, TN_I64, 1, three), *u = tn_ones(context, TN_U64, 1, three);
	assert_refused(context, tn_hypot(x, y), TN_SHAPE, "hypot", "(4,)");
	assert_refused(context, tn_clip(x, x, y), TN_SHAPE, "clip", "(4,)");
	assert_refused(context, tn_positive(b), TN_DTYPE, "positive", "not defined for bool");
	assert_refused(context, tn_invert(x), TN_DTYPE, "invert", "not defined for f32");
	assert_refused(context, tn_bitwise_and(i, u), TN_DTYPE, "bitwise_and",
		       "not defined for i64 and u64");
	assert_refused(context, tn_left_shift(x, i), TN_DTYPE, "left_shift",
		       "not defined for f32 and i64");
	assert_refused(context, tn_deg2rad(z), TN_DTYPE, "deg2rad", "not defined for complex");
	assert_refused(context, tn_frexp(z, NULL), TN_DTYPE, "frexp", "not defined for c64");
	assert_refused(context, tn_nextafter(x, z), TN_DTYPE, "nextafter", "not defined for c64");
	assert_refused(context, tn_divmod(x, z, NULL), TN_DTYPE, "divmod",
		       "not defined for f32 and c64");
	assert_refused(context, tn_ldexp(x, x), TN_DTYPE, "ldexp", "other than u64, found f32");
	assert_refused(context, tn_ldexp(x, u), TN_DTYPE, "ldexp", "other than u64, found u64");
	assert_refused(context, tn_gcd(i, u), TN_DTYPE, "gcd", "not defined for i64 and u64");
	assert_refused(context, tn_lcm(x, i), TN_DTYPE, "lcm", "not defined for f32 and i64");
	assert_refused(context, tn_bitwise_count(x), TN_DTYPE, "bitwise_count",
		       "not defined for f32");
	assert_refused(context, tn_around(x, 39), TN_INVALID_ARGUMENT, "around",
		       "-38 to 38 for f32, found 39");
	assert_refused(context, tn_fmax(z, x), TN_DTYPE, "fmax", "not defined for complex");
	assert_refused(context, tn_lgamma(z), TN_DTYPE, "lgamma", "not defined for complex");
	assert_refused(context, tn_polygamma(1, z), TN_DTYPE, "polygamma",
		       "not defined for complex");
	assert_refused(context, tn_betaln(x, z), TN_DTYPE, "betaln", "not defined for complex");
	assert_refused(context, tn_multigammaln(z, 2), TN_DTYPE, "multigammaln",
		       "not defined for complex");
	assert_refused(context, tn_zeta(x, y), TN_SHAPE, "zeta", "(4,)");
	assert_refused(context, tn_polygamma(31, x), TN_INVALID_ARGUMENT, "polygamma",
		       "order: expected 0 to 30, found 31");
	assert_refused(context, tn_multigammaln(x, 0), TN_INVALID_ARGUMENT, "multigammaln",
		       "p: expected 1 to 100, found 0");
	assert_null(tn_arctan2(NULL, x));
	assert_null(tn_cbrt(NULL));
	tn_context_close(context);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(gradients_are_those_of_differences),
	cmocka_unit_test(complex_gradients_are_those_of_differences),
	cmocka_unit_test(gradients_at_special_points),
	cmocka_unit_test(divisors_of_64_bits),
	cmocka_unit_test(neighbours_of_bf16),
	cmocka_unit_test(ldexp_has_a_gradient),
	cmocka_unit_test(lgamma_is_infinite_at_the_ends),
	cmocka_unit_test(numbers_that_are_almost_real),
	cmocka_unit_test(bad_input_is_an_error),
};

const struct parity parity = {
	.claim = "has_numpys_functions",
	.records = {{"ufuncs.txt", 39}, {"numbers.txt", 45}, {"special.txt", 98}},
	.check = check_all,
	.is_brief = is_of_f32,
	.tests = tests,
	.n_tests = sizeof(tests) / sizeof(tests[0]),
};
