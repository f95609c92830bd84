/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Complex arrays, against C's complex numbers, and their gradients against differences.
 */
#include <complex.h>
#include <math.h>

#include <tenon/autograd.h>
#include <tenon/ufunc.h>

#include "array_fixture.h"

/* The C library defines it for gcc alone. */
#ifndef CMPLX
#define CMPLX(x, y) __builtin_complex((double)(x), (double)(y))
#endif

typedef double complex number;

enum { MOST = 64 };

static tn_array *of(struct fixture *f, tn_dtype dtype, int64_t n, const number *values)
{
	return tn_astype(tn_from_host(context_of(f), TN_C128, 1, &n, values), dtype);
}

static int64_t numbers_of(const tn_array *a, number *values)
{
	tn_array *wide = tn_astype(a, TN_C128);
	assert_non_null(wide);
	assert_true(tn_array_size(wide) <= MOST);
	assert_ok(tn_to_host(wide, values, (size_t)tn_array_size(wide) * sizeof(*values)));
	return tn_array_size(wide);
}

static void assert_number(number found, number expected, double tolerance)
{
	if (cabs(found - expected) <= tolerance * (1 + cabs(expected)))
		return;
	print_error("expected %.17g%+.17gi, found %.17g%+.17gi\n", creal(expected), cimag(expected),
		    creal(found), cimag(found));
	fail();
}

/* Points in all quadrants, on the axes, near and far from the unit circle. */
static const number points[] = {
	1,
	-1,
	I,
	-I,
	2 + 3 * I,
	-2 + 3 * I,
	-2 - 3 * I,
	2 - 3 * I,
	0.6 + 0.8 * I,
	1e-8 + I,
	1e-8 - 1e-8 * I,
	5 - 1e-9 * I,
	-5 + 1e-9 * I,
};
enum { POINTS = sizeof(points) / sizeof(points[0]) };

static number square_of(number z)
{
	return z * z;
}

static number sign_of(number z)
{
	return z / cabs(z);
}

static number negative_of(number z)
{
	return -z;
}

static const struct {
	tn_array *(*function)(const tn_array *);
	number (*expected)(number);
	int has_gradient;
} functions[] = {
	{tn_negative, negative_of, 1},
	{tn_square, square_of, 1},
	{tn_sign, sign_of, 1},
	{tn_sqrt, csqrt, 1},
	{tn_exp, cexp, 1},
	{tn_log, clog, 1},
	{tn_sin, csin, 1},
	{tn_cos, ccos, 1},
	{tn_tanh, ctanh, 1},
	{tn_conj, conj, 1},
};

static const struct {
	tn_array *(*function)(const tn_array *);
	double (*expected)(number);
} real_functions[] = {{tn_abs, cabs}, {tn_angle, carg}, {tn_real, creal}, {tn_imag, cimag}};

static void functions_agree_with_cs(void **state)
{
	struct fixture *f = *state;
	for (size_t k = 0; k < sizeof(functions) / sizeof(functions[0]); k++) {
		number found[MOST], single[MOST];
		tn_array *z = functions[k].function(of(f, TN_C128, POINTS, points));
		assert_int_equal(tn_array_dtype(z), TN_C128);
		numbers_of(z, found);
		z = functions[k].function(of(f, TN_C64, POINTS, points));
		assert_int_equal(tn_array_dtype(z), TN_C64);
		numbers_of(z, single);
		for (int i = 0; i < POINTS; i++) {
			number expected = functions[k].expected(points[i]);
			assert_number(found[i], expected, 1e-15 * 8);
			assert_number(single[i], expected, 1e-6 * 8);
		}
	}
	for (size_t k = 0; k < sizeof(real_functions) / sizeof(real_functions[0]); k++) {
		double found[MOST];
		tn_array *z = real_functions[k].function(of(f, TN_C128, POINTS, points));
		assert_int_equal(tn_array_dtype(z), TN_F64);
		assert_ok(tn_to_host(z, found, POINTS * sizeof(*found)));
		for (int i = 0; i < POINTS; i++)
			assert_number(found[i], real_functions[k].expected(points[i]), 1e-15);
		z = real_functions[k].function(of(f, TN_C64, POINTS, points));
		assert_int_equal(tn_array_dtype(z), TN_F32);
	}
}

static void extreme_values_neither_overflow_nor_cancel(void **state)
{
	struct fixture *f = *state;
	const number z[] = {3e200 + 4e200 * I, 3e-200 + 4e-200 * I, 0, -1e300, 1e-320 * I};
	number found[MOST];
	double size[MOST];
	tn_array *a = of(f, TN_C128, 5, z);
	assert_ok(tn_to_host(tn_abs(a), size, 5 * sizeof(*size)));
	for (int i = 0; i < 5; i++)
		assert_true(fabs(size[i] - cabs(z[i])) <= 4e-16 * cabs(z[i]));
	numbers_of(tn_sqrt(a), found);
	for (int i = 0; i < 5; i++)
		assert_true(cabs(found[i] - csqrt(z[i])) <= 1e-15 * cabs(csqrt(z[i])));
	numbers_of(tn_divide(a, a), found);
	assert_number(found[0], 1, 1e-15);
	assert_number(found[1], 1, 1e-15);
	const number infinite[] = {INFINITY + I, CMPLX(0, -INFINITY), CMPLX(NAN, 1),
				   CMPLX(-1, -0.0)};
	a = of(f, TN_C128, 4, infinite);
	assert_ok(tn_to_host(tn_abs(a), size, 4 * sizeof(*size)));
	assert_true(isinf(size[0]) && isinf(size[1]) && isnan(size[2]));
	numbers_of(tn_sqrt(a), found);
	assert_number(found[3], -I, 0);
	numbers_of(tn_log(of(f, TN_C128, 1, (number[]){0})), found);
	assert_true(isinf(creal(found[0])) && creal(found[0]) < 0);
}

/* A part that C leaves the sign of open may have either. */
static int is_part(double found, double expected)
{
	if (isnan(expected))
		return isnan(found);
	return fabs(found) == fabs(expected) ||
	       fabs(fabs(found) - fabs(expected)) <= 1e-15 * fabs(expected);
}

static number log1p_of(number z)
{
	return clog(CMPLX(1 + creal(z), cimag(z)));
}

static number expm1_of(number z)
{
	number power = cexp(z);
	return CMPLX(creal(power) - 1, cimag(power));
}

static void infinities_and_nan_give_what_c_gives(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *name;
		tn_array *(*function)(const tn_array *);
		number (*expected)(number);
	} with_cases[] = {
		{"sqrt", tn_sqrt, csqrt},        {"exp", tn_exp, cexp},
		{"log", tn_log, clog},           {"sin", tn_sin, csin},
		{"cos", tn_cos, ccos},           {"tan", tn_tan, ctan},
		{"sinh", tn_sinh, csinh},        {"cosh", tn_cosh, ccosh},
		{"tanh", tn_tanh, ctanh},        {"arcsin", tn_arcsin, casin},
		{"arccos", tn_arccos, cacos},    {"arctan", tn_arctan, catan},
		{"arcsinh", tn_arcsinh, casinh}, {"arccosh", tn_arccosh, cacosh},
		{"arctanh", tn_arctanh, catanh}, {"log1p", tn_log1p, log1p_of},
		{"expm1", tn_expm1, expm1_of},
	};
	static const double parts[] = {0.0, -0.0, 1.0, -1.0, -1e3, INFINITY, -INFINITY, NAN};
	enum { N = sizeof(parts) / sizeof(parts[0]) };
	number z[N * N], found[MOST];
	for (int i = 0; i < N * N; i++)
		z[i] = CMPLX(parts[i / N], parts[i % N]);
	for (size_t k = 0; k < sizeof(with_cases) / sizeof(with_cases[0]); k++) {
		numbers_of(with_cases[k].function(of(f, TN_C128, N * N, z)), found);
		for (int i = 0; i < N * N; i++) {
			number expected = with_cases[k].expected(z[i]);
			if (is_part(creal(found[i]), creal(expected)) &&
			    is_part(cimag(found[i]), cimag(expected)))
				continue;
			print_error("%s(%g%+gi): expected %g%+gi, found %g%+gi\n",
				    with_cases[k].name, creal(z[i]), cimag(z[i]), creal(expected),
				    cimag(expected), creal(found[i]), cimag(found[i]));
			fail();
		}
	}
}

static void angles_of_zeros_are_exact(void **state)
{
	struct fixture *f = *state;
	const number zeros[] = {CMPLX(0.0, 0.0), CMPLX(-0.0, 0.0), CMPLX(0.0, -0.0),
				CMPLX(-0.0, -0.0)};
	double angles[4];
	assert_ok(tn_to_host(tn_angle(of(f, TN_C128, 4, zeros)), angles, sizeof(angles)));
	for (int i = 0; i < 4; i++) {
		assert_true(angles[i] == carg(zeros[i]));
		assert_int_equal(signbit(angles[i]), signbit(carg(zeros[i])));
	}
}

static void ends_of_the_range_have_numpys_values(void **state)
{
	static const struct {
		tn_array *(*function)(const tn_array *);
		number z, expected;
	} cases[] = {
		{tn_sqrt, CMPLX(1, INFINITY), CMPLX(INFINITY, INFINITY)},
		{tn_sqrt, CMPLX(-1, INFINITY), CMPLX(INFINITY, INFINITY)},
		{tn_sqrt, CMPLX(-INFINITY, 1), CMPLX(0, INFINITY)},
		{tn_sqrt, CMPLX(1.5e308, 1.5e308), CMPLX(1.3456e154, 5.5737e153)},
		{tn_sqrt, CMPLX(5e-324, 0), CMPLX(2.2227587494850775e-162, 0)},
		{tn_exp, CMPLX(-INFINITY, INFINITY), 0},
		{tn_exp, CMPLX(710, 1.57), CMPLX(1.7790e305, INFINITY)},
		{tn_sin, CMPLX(0, 1000), CMPLX(0, INFINITY)},
		{tn_cos, CMPLX(0, 1000), CMPLX(INFINITY, 0)},
		{tn_sign, CMPLX(1.5e308, 1.5e308), CMPLX(0.70710678118654752, 0.70710678118654752)},
		{tn_log, CMPLX(1.5e308, 1.5e308), CMPLX(709.9488, 0.78539816339744831)},
		{tn_log, CMPLX(1, 1e-9), CMPLX(5e-19, 1e-9)},
	};
	struct fixture *f = *state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		number found;
		numbers_of(cases[i].function(of(f, TN_C128, 1, &cases[i].z)), &found);
		const double got[] = {creal(found), cimag(found)};
		const double wanted[] = {creal(cases[i].expected), cimag(cases[i].expected)};
		for (int k = 0; k < 2; k++) {
			if (isinf(wanted[k]) && i != 6)
				assert_true(got[k] == wanted[k]);
			else if (!isinf(wanted[k]))
				assert_true(fabs(got[k] - wanted[k]) <= 1e-4 * fabs(wanted[k]));
		}
	}
	number found[MOST];
	tn_array *zero = tn_zeros(context_of(f), TN_C128, SHAPE(1));
	numbers_of(tn_power(zero, of(f, TN_C128, 1, (number[]){-1})), found);
	assert_true(isnan(creal(found[0])) && isnan(cimag(found[0])));
	numbers_of(tn_mean(tn_zeros(context_of(f), TN_C64, SHAPE(0)), TN_ALL_AXES, NULL, 0), found);
	assert_true(isnan(creal(found[0])) && isnan(cimag(found[0])));
}

/* On the axes, where parts are 0, and at 0: PyTorch's values. */
static void gradients_at_kinks_are_pytorchs(void **state)
{
	static const struct {
		tn_array *(*function)(const tn_array *);
		number z, seed, expected;
	} cases[] = {
		{tn_sqrt, -4, 1, 0.25 * I}, {tn_sqrt, 4, 1, 0.25}, {tn_sqrt, 1, I, 0.5 * I},
		{tn_sign, 0, 1 + I, 0},     {tn_abs, 0, 1, 0},     {tn_angle, 0, 1, 0},
		{tn_angle, 2, 1, 0.5 * I},  {tn_log, I, 1, I},
	};
	struct fixture *f = *state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		number found[MOST];
		tn_array *z = of(f, TN_C128, 1, &cases[i].z);
		tn_tape *tape = tn_tape_begin(context_of(f));
		assert_ok(tn_tape_watch(tape, z));
		tn_array *y = cases[i].function(z);
		assert_ok(tn_tape_backward(tape, y, of(f, tn_array_dtype(y), 1, &cases[i].seed)));
		numbers_of(tn_tape_gradient(tape, z), found);
		assert_number(found[0], cases[i].expected, 1e-14);
		tn_tape_end(tape);
	}
}

static void seeds_have_the_outputs_dtype(void **state)
{
	struct fixture *f = *state;
	number found[MOST];
	tn_array *z = of(f, TN_C64, 1, (number[]){1 + I});
	tn_tape *tape = tn_tape_begin(context_of(f));
	assert_ok(tn_tape_watch(tape, z));
	assert_ok(tn_tape_backward(tape, tn_square(z), tn_ones(context_of(f), TN_F32, SHAPE(1))));
	numbers_of(tn_tape_gradient(tape, z), found);
	assert_number(found[0], 2 - 2 * I, 1e-6);
	tn_tape_end(tape);
	tape = tn_tape_begin(context_of(f));
	assert_ok(tn_tape_watch(tape, z));
	assert_status(tn_tape_backward(tape, tn_square(z), NULL), TN_DTYPE);
	assert_kept(f, TN_DTYPE, "an output of c64 needs an output_gradient");
	tn_tape_end(tape);
	tape = tn_tape_begin(context_of(f));
	assert_ok(tn_tape_watch(tape, z));
	assert_status(tn_tape_backward(tape, tn_abs(z), z), TN_DTYPE);
	assert_kept(f, TN_DTYPE, "output_gradient is c64, the output f32");
	tn_tape_end(tape);
}

static void a_product_of_one_element_is_a_copy(void **state)
{
	struct fixture *f = *state;
	number found[MOST];
	int64_t shape[TN_MAX_RANK];
	tn_array *a = tn_reshape(of(f, TN_C64, 2, (number[]){2, 3}), SHAPE(2, 1));
	tn_array *product = tn_prod(a, 1, (int[]){1}, 0);
	assert_ok(tn_fill(a, 9));
	numbers_of(product, found);
	assert_number(found[0], 2, 0);
	for (int i = 0; i < TN_MAX_RANK; i++)
		shape[i] = i % 8 ? 1 : 2;
	a = tn_full(context_of(f), TN_C64, TN_MAX_RANK, shape, 3);
	numbers_of(tn_prod(a, TN_ALL_AXES, NULL, 0), found);
	assert_number(found[0], 81, 0);
}

static number add_of(number x, number y)
{
	return x + y;
}

static number subtract_of(number x, number y)
{
	return x - y;
}

static number multiply_of(number x, number y)
{
	return x * y;
}

static number divide_of(number x, number y)
{
	return x / y;
}

static const struct {
	tn_array *(*function)(const tn_array *, const tn_array *);
	number (*expected)(number, number);
} binary_functions[] = {{tn_add, add_of},
			{tn_subtract, subtract_of},
			{tn_multiply, multiply_of},
			{tn_divide, divide_of},
			{tn_power, cpow}};
enum { BINARY = sizeof(binary_functions) / sizeof(binary_functions[0]) };

static void pairs_agree_with_cs_and_broadcast(void **state)
{
	struct fixture *f = *state;
	const number left[] = {2 + 3 * I, -1, 0.5 * I}, right[] = {1 - I, 3};
	tn_array *x = tn_reshape(of(f, TN_C64, 3, left), SHAPE(3, 1));
	tn_array *y = of(f, TN_C128, 2, right);
	for (size_t k = 0; k < BINARY; k++) {
		number found[MOST];
		tn_array *z = binary_functions[k].function(x, y);
		assert_int_equal(tn_array_dtype(z), TN_C128);
		assert_shape(z, 3, 2);
		numbers_of(z, found);
		for (int i = 0; i < 6; i++)
			assert_number(found[i],
				      binary_functions[k].expected(left[i / 2], right[i % 2]),
				      1e-14);
	}
	tn_array *zero = tn_zeros(context_of(f), TN_C64, SHAPE(1));
	number found[MOST];
	numbers_of(tn_power(zero, zero), found);
	assert_number(found[0], 1, 0);
	numbers_of(tn_power(zero, of(f, TN_C64, 1, left)), found);
	assert_number(found[0], 0, 0);
}

static void real_operands_are_promoted(void **state)
{
	static const struct {
		tn_dtype real, other, result;
	} cases[] = {{TN_F32, TN_C64, TN_C64},   {TN_F64, TN_C64, TN_C128},
		     {TN_I32, TN_C64, TN_C128},  {TN_BOOL, TN_C64, TN_C64},
		     {TN_F16, TN_C128, TN_C128}, {TN_U64, TN_C64, TN_C128}};
	struct fixture *f = *state;
	const number z = 2 + 3 * I;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		number found[MOST];
		tn_array *one = tn_ones(context_of(f), cases[i].real, SHAPE(1));
		tn_array *a = of(f, cases[i].other, 1, &z);
		assert_int_equal(tn_array_dtype(tn_add(one, a)), cases[i].result);
		numbers_of(tn_add(one, a), found);
		assert_number(found[0], 3 + 3 * I, 0);
		numbers_of(tn_subtract(a, one), found);
		assert_number(found[0], 1 + 3 * I, 0);
		numbers_of(tn_where(one, a, one), found);
		assert_number(found[0], z, 0);
	}
	number found[MOST];
	numbers_of(tn_affine(of(f, TN_C64, 1, &z), 2, 1), found);
	assert_number(found[0], 5 + 6 * I, 0);
	tn_array *made = tn_complex(tn_full(context_of(f), TN_F32, SHAPE(2), 3),
				    tn_full(context_of(f), TN_F32, SHAPE(1), -1));
	assert_int_equal(tn_array_dtype(made), TN_C64);
	numbers_of(made, found);
	assert_number(found[1], 3 - I, 0);
	assert_elements(tn_imag(tn_full(context_of(f), TN_F32, SHAPE(2), 3)), 0, 0);
	assert_elements(tn_angle(tn_full(context_of(f), TN_F64, SHAPE(1), -3)), acos(-1));
}

static void equality_compares_both_parts_and_there_is_no_order(void **state)
{
	struct fixture *f = *state;
	const number left[] = {1 + I, 1 + I, 1}, right[] = {1 + I, 1 - I, 1};
	tn_array *x = of(f, TN_C64, 3, left), *y = of(f, TN_C64, 3, right);
	assert_elements(tn_equal(x, y), 1, 0, 1);
	assert_elements(tn_not_equal(x, y), 0, 1, 0);
	assert_elements(tn_equal(x, tn_ones(context_of(f), TN_I32, SHAPE(1))), 0, 0, 1);
	assert_null(tn_less(x, y));
	assert_kept(f, TN_DTYPE, "not defined for complex");
	assert_null(tn_maximum(x, y));
	assert_kept(f, TN_DTYPE, "not defined for complex");
	assert_null(tn_max(x, TN_ALL_AXES, NULL, 0));
	assert_kept(f, TN_DTYPE, "no order");
	assert_null(tn_erf(x));
	assert_kept(f, TN_DTYPE, "not defined for complex");
}

static void views_and_outputs_of_every_kind_work(void **state)
{
	struct fixture *f = *state;
	number found[MOST];
	const number z[] = {1 + I, 2 + 2 * I, 3 + 3 * I, 4 + 4 * I, 5 + 5 * I, 6 + 6 * I};
	tn_array *a = tn_reshape(of(f, TN_C64, 6, z), SHAPE(2, 3));
	numbers_of(tn_negative(tn_slice(tn_transpose(a, NULL), 0, INT64_MIN, INT64_MIN, -2)),
		   found);
	assert_number(found[0], -3 - 3 * I, 0);
	assert_number(found[3], -4 - 4 * I, 0);
	assert_ok(tn_assign(tn_imag(a), tn_real(tn_multiply(a, a))));
	numbers_of(a, found);
	assert_number(found[5], 6, 0);
	tn_array *front = tn_slice(a, 1, 0, 2, 1), *back = tn_slice(a, 1, 1, 3, 1);
	assert_ok(tn_add_into(back, front, back));
	numbers_of(a, found);
	assert_number(found[1], 3, 0);
	assert_number(found[2], 5, 0);
	tn_array *real = tn_ones(context_of(f), TN_F32, SHAPE(2, 2));
	assert_status(tn_add_into(real, front, front), TN_DTYPE);
	assert_kept(f, TN_DTYPE, "a lower kind needs tn_astype");
	assert_ok(tn_add_into(front, real, real));
	numbers_of(front, found);
	assert_number(found[0], 2, 0);
}

static void conversions_keep_what_the_dtype_holds(void **state)
{
	struct fixture *f = *state;
	number found[MOST];
	const number z[] = {1.5 + 2 * I, -3};
	tn_array *a = of(f, TN_C64, 2, z);
	assert_elements(tn_astype(a, TN_F32), 1.5, -3);
	assert_elements(tn_astype(tn_astype(a, TN_I32), TN_F32), 1, -3);
	const number zeros[] = {0, 2 * I};
	tn_array *imaginary = of(f, TN_C128, 2, zeros);
	assert_elements(tn_astype(tn_astype(imaginary, TN_BOOL), TN_F32), 0, 1);
	/* Such a condition does not make a choice of real numbers complex. */
	tn_array *real = tn_arange(context_of(f), TN_F32, 5, 7, 1);
	assert_elements(tn_where(imaginary, real, tn_negative(real)), -5, 6);
	numbers_of(tn_astype(tn_full(context_of(f), TN_U8, SHAPE(2), 7), TN_C64), found);
	assert_number(found[1], 7, 0);
	numbers_of(tn_astype(a, TN_C128), found);
	assert_number(found[0], z[0], 0);
	int64_t shape[TN_MAX_RANK];
	for (int i = 0; i < TN_MAX_RANK; i++)
		shape[i] = i % 8 ? 1 : 2;
	tn_array *deep =
		tn_full_number(context_of(f), TN_C64, TN_MAX_RANK, shape, tn_number_c128(1, 2));
	numbers_of(tn_sum(deep, TN_ALL_AXES, NULL, 0), found);
	assert_number(found[0], 4 + 8 * I, 0);
}

static void sums_means_and_products_reduce_any_axes(void **state)
{
	struct fixture *f = *state;
	number found[MOST], z[24];
	for (int i = 0; i < 24; i++)
		z[i] = cexp(0.3 * I * i) * (1 + 0.01 * i);
	tn_array *a = tn_reshape(of(f, TN_C128, 24, z), SHAPE(2, 3, 4));
	for (int axis = 0; axis < 3; axis++) {
		int64_t shape[] = {2, 3, 4}, n = shape[axis], inner = axis == 2 ? 1 : axis ? 4 : 12;
		tn_array *results[] = {tn_sum(a, 1, &axis, 1), tn_mean(a, 1, &axis, 0),
				       tn_prod(a, 1, &axis, 0)};
		assert_int_equal(tn_array_rank(results[0]), 3);
		assert_int_equal(tn_array_rank(results[2]), 2);
		for (int k = 0; k < 3; k++) {
			int64_t size = numbers_of(results[k], found);
			assert_int_equal(size, 24 / n);
			for (int64_t i = 0; i < size; i++) {
				int64_t first = i / inner * inner * n + i % inner;
				number expected = k == 2;
				for (int64_t j = 0; j < n; j++)
					expected = k == 2 ? expected * z[first + j * inner]
							  : expected + z[first + j * inner];
				assert_number(found[i], k == 1 ? expected / n : expected, 1e-14);
			}
		}
	}
	number all = 1;
	for (int i = 0; i < 24; i++)
		all *= z[i];
	numbers_of(tn_prod(a, TN_ALL_AXES, NULL, 1), found);
	assert_number(found[0], all, 1e-13);
	numbers_of(tn_prod(a, 0, (int[]){0}, 0), found);
	assert_number(found[7], z[7], 0);
	numbers_of(tn_prod(tn_zeros(context_of(f), TN_C64, SHAPE(0)), TN_ALL_AXES, NULL, 0), found);
	assert_number(found[0], 1, 0);
	numbers_of(tn_cumsum(of(f, TN_C64, 3, z), 0), found);
	assert_number(found[2], z[0] + z[1] + z[2], 1e-6);
}

static void products_of_matrices_broadcast_and_accumulate(void **state)
{
	struct fixture *f = *state;
	number x[12], y[6], found[MOST], expected[8];
	for (int i = 0; i < 12; i++)
		x[i] = (1 + i) * cexp(I * i);
	for (int i = 0; i < 6; i++)
		y[i] = 2 - i * I;
	tn_array *a = tn_reshape(of(f, TN_C64, 12, x), SHAPE(2, 2, 3));
	tn_array *b = tn_reshape(of(f, TN_C128, 6, y), SHAPE(3, 2));
	tn_array *c = tn_matmul(a, b);
	assert_int_equal(tn_array_dtype(c), TN_C128);
	assert_shape(c, 2, 2, 2);
	for (int i = 0; i < 8; i++) {
		expected[i] = 0;
		for (int k = 0; k < 3; k++)
			expected[i] += x[i / 2 * 3 + k] * y[k * 2 + i % 2];
	}
	numbers_of(c, found);
	for (int i = 0; i < 8; i++)
		assert_number(found[i], expected[i], 1e-6);
	assert_ok(tn_matmul_into(c, a, 0, tn_transpose(b, NULL), 1, -2, 1));
	numbers_of(c, found);
	for (int i = 0; i < 8; i++)
		assert_number(found[i], -expected[i], 1e-6);
	tn_array *real = tn_ones(context_of(f), TN_F32, SHAPE(3));
	numbers_of(tn_matmul(real, tn_reshape(of(f, TN_C64, 6, y), SHAPE(3, 2))), found);
	assert_number(found[0], y[0] + y[2] + y[4], 1e-6);
	assert_status(
		tn_matmul_into(tn_zeros(context_of(f), TN_F32, SHAPE(2, 2, 2)), a, 0, b, 0, 1, 0),
		TN_DTYPE);
	assert_kept(f, TN_DTYPE, "the result is c128, the output f32");
}

/* ---- Gradients -------------------------------------------------------------------------------*/

typedef tn_array *(*operation)(const tn_array *, const tn_array *);
typedef tn_array *(*unary_operation)(const tn_array *);

static tn_array *apply_unary(unary_operation function, const tn_array *x)
{
	return function(x);
}

/* The real number sum(re(w f(x, y))), w complex and fixed; function 0 to BINARY - 1 is binary. */
static tn_array *loss_of(struct fixture *f, size_t which, const tn_array *x, const tn_array *y)
{
	const number weight = 0.7 - 1.3 * I;
	tn_array *w = of(f, TN_C128, 1, &weight), *z;
	if (which < BINARY)
		z = binary_functions[which].function(x, y);
	else if (which < BINARY + sizeof(functions) / sizeof(functions[0]))
		z = apply_unary(functions[which - BINARY].function, tn_multiply(x, y));
	else if (which == 15)
		z = tn_abs(tn_multiply(x, y));
	else if (which == 16)
		z = tn_angle(tn_multiply(x, y));
	else if (which == 17)
		z = tn_prod(tn_add(x, y), 1, (int[]){0}, 0);
	else if (which == 18)
		z = tn_mean(tn_where(tn_equal(x, y), x, tn_multiply(x, tn_imag(y))), TN_ALL_AXES,
			    NULL, 0);
	else if (which == 19)
		z = tn_complex(tn_real(x), tn_astype(tn_multiply(y, x), TN_F64));
	else if (which == 20)
		z = tn_matmul(tn_transpose(x, NULL), tn_multiply(x, y));
	else if (which == 21)
		z = tn_cumprod(tn_multiply(x, y), 0);
	else if (which == 22)
		z = tn_sinc(tn_multiply(x, y));
	else if (which == 23)
		z = tn_float_power(x, y);
	else
		z = tn_take(tn_cumsum(x, 0),
			    tn_from_host(context_of(f), TN_I32, SHAPE(3), (int32_t[]){2, 0, 2}), 0,
			    TN_RAISE);
	return tn_sum(tn_real(tn_multiply(w, z)), TN_ALL_AXES, NULL, 0);
}

static double loss_at(struct fixture *f, size_t which, const number *x, const number *y)
{
	double value;
	assert_ok(tn_item(loss_of(f, which, tn_reshape(of(f, TN_C128, 3, x), SHAPE(3, 1)),
				  of(f, TN_C128, 2, y)),
			  &value));
	return value;
}

static void gradients_are_those_of_the_parts(void **state)
{
	struct fixture *f = *state;
	const double step = 1e-6;
	for (size_t which = 0; which < 25; which++) {
		number x[] = {1.2 + 0.3 * I, -0.7 + 1.1 * I, 0.4 - 0.9 * I};
		number y[] = {0.8 - 0.6 * I, 1.5 + 0.2 * I}, gx[MOST], gy[MOST];
		tn_array *ax = tn_reshape(of(f, TN_C128, 3, x), SHAPE(3, 1));
		tn_array *ay = of(f, TN_C128, 2, y);
		tn_tape *tape = tn_tape_begin(context_of(f));
		assert_ok(tn_tape_watch(tape, ax));
		assert_ok(tn_tape_watch(tape, ay));
		tn_array *loss = loss_of(f, which, ax, ay);
		assert_ok(tn_tape_backward(tape, loss, NULL));
		assert_int_equal(numbers_of(tn_tape_gradient(tape, ax), gx), 3);
		if (which < 24)
			assert_int_equal(numbers_of(tn_tape_gradient(tape, ay), gy), 2);
		tn_tape_end(tape);
		for (int i = 0; i < (which < 24 ? 5 : 3); i++) {
			number *at = i < 3 ? &x[i] : &y[i - 3], before = *at, expected = 0;
			for (int part = 0; part < 2; part++) {
				number direction = part ? I : 1;
				*at = before + step * direction;
				double above = loss_at(f, which, x, y);
				*at = before - step * direction;
				double below = loss_at(f, which, x, y);
				*at = before;
				expected += direction * (above - below) / (2 * step);
			}
			assert_number(i < 3 ? gx[i] : gy[i - 3], expected, 1e-7);
		}
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)
	const struct CMUnitTest tests[] = {
		TEST(functions_agree_with_cs),
		TEST(extreme_values_neither_overflow_nor_cancel),
		TEST(infinities_and_nan_give_what_c_gives),
		TEST(angles_of_zeros_are_exact),
		TEST(ends_of_the_range_have_numpys_values),
		TEST(gradients_at_kinks_are_pytorchs),
		TEST(seeds_have_the_outputs_dtype),
		TEST(a_product_of_one_element_is_a_copy),
		TEST(pairs_agree_with_cs_and_broadcast),
		TEST(real_operands_are_promoted),
		TEST(equality_compares_both_parts_and_there_is_no_order),
		TEST(views_and_outputs_of_every_kind_work),
		TEST(conversions_keep_what_the_dtype_holds),
		TEST(sums_means_and_products_reduce_any_axes),
		TEST(products_of_matrices_broadcast_and_accumulate),
		TEST(gradients_are_those_of_the_parts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
