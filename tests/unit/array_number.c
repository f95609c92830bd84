/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Numbers of every kind reach arrays, programs and the host exactly.
 */
#include <math.h>

#include "array_fixture.h"

#define ODD INT64_C(9007199254740993) /* 2^53 + 1: a double rounds it */

static tn_number item(const tn_array *array)
{
	tn_number number;
	assert_ok(tn_item_number(array, &number));
	return number;
}

static void assert_i64(const tn_array *array, int64_t expected)
{
	tn_number number = item(array);
	assert_int_equal(number.dtype, TN_I64);
	assert_true(number.i64 == expected);
}

static void assert_u64(const tn_array *array, uint64_t expected)
{
	tn_number number = item(array);
	assert_int_equal(number.dtype, TN_U64);
	assert_true(number.u64 == expected);
}

static tn_array *full(struct fixture *f, tn_dtype dtype, tn_number number)
{
	return tn_full_number(context_of(f), dtype, 0, NULL, number);
}

static void integers_keep_all_their_bits(void **state)
{
	struct fixture *f = *state;
	assert_i64(full(f, TN_I64, tn_number_i64(ODD)), ODD);
	assert_i64(full(f, TN_I64, tn_number_i64(INT64_MIN)), INT64_MIN);
	assert_u64(full(f, TN_U64, tn_number_u64(UINT64_MAX - 1)), UINT64_MAX - 1);
	assert_i64(full(f, TN_I8, tn_number_i64(-128)), -128);
	assert_u64(full(f, TN_U16, tn_number_u64(65535)), 65535);
	assert_i64(full(f, TN_BOOL, tn_number_i64(1)), 1);
	tn_array *a = tn_zeros(context_of(f), TN_I64, SHAPE(1));
	assert_ok(tn_fill_number(a, tn_number_i64(-ODD)));
	assert_i64(a, -ODD);
}

static void floating_numbers_keep_all_their_bits(void **state)
{
	struct fixture *f = *state;
	tn_number third = item(full(f, TN_F64, tn_number_f64(1.0 / 3)));
	assert_int_equal(third.dtype, TN_F64);
	assert_true(third.f64 == 1.0 / 3);
	assert_true(item(full(f, TN_F16, tn_number_f64(1.5))).f64 == 1.5);
	assert_true(isnan(item(full(f, TN_F32, tn_number_f64(NAN))).f64));
}

static void complex_numbers_have_two_parts(void **state)
{
	struct fixture *f = *state;
	tn_number z = item(full(f, TN_C128, tn_number_c128(0.1, -2)));
	assert_int_equal(z.dtype, TN_C128);
	assert_true(z.f64 == 0.1 && z.imaginary == -2);
	z = item(full(f, TN_C64, tn_number_c128(0.1, -2)));
	assert_true(z.f64 == (double)0.1f && z.imaginary == -2);
	z = item(full(f, TN_C64, tn_number_i64(7)));
	assert_true(z.f64 == 7 && z.imaginary == 0);
}

static void a_number_that_the_dtype_does_not_hold_is_an_error(void **state)
{
	static const struct {
		tn_dtype dtype;
		tn_number number;
		const char *text;
	} cases[] = {
		{TN_I8, {TN_I64, .i64 = 128}, "128 does not fit i8"},
		{TN_I8, {TN_I64, .i64 = -129}, "-129 does not fit i8"},
		{TN_U8, {TN_I64, .i64 = -1}, "-1 does not fit u8"},
		{TN_U64, {TN_I64, .i64 = -1}, "-1 does not fit u64"},
		{TN_I64, {TN_U64, .u64 = UINT64_MAX}, "18446744073709551615 does not fit i64"},
		{TN_BOOL, {TN_I64, .i64 = 2}, "2 does not fit bool"},
		{TN_F32, {TN_F32, .f64 = 2}, "found dtype 12"},
	};
	struct fixture *f = *state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_null(full(f, cases[i].dtype, cases[i].number));
		assert_kept(f, TN_INVALID_ARGUMENT, cases[i].text);
	}
	assert_null(full(f, TN_F32, tn_number_c128(1, 0)));
	assert_kept(f, TN_DTYPE, "a complex number for f32");
	double value;
	assert_status(tn_item(full(f, TN_C64, tn_number_i64(7)), &value), TN_DTYPE);
	assert_kept(f, TN_DTYPE, "tn_item_number");
}

static void ranges_of_integers_are_exact(void **state)
{
	struct fixture *f = *state;
	int64_t values[4];
	tn_array *a = tn_arange_number(context_of(f), TN_I64, tn_number_i64(ODD),
				       tn_number_i64(ODD + 4), tn_number_i64(1));
	assert_shape(a, 4);
	assert_ok(tn_to_host(a, values, sizeof(values)));
	for (int i = 0; i < 4; i++)
		assert_true(values[i] == ODD + i);
	a = tn_arange_number(context_of(f), TN_U64, tn_number_u64(UINT64_MAX),
			     tn_number_u64(UINT64_MAX - 4), tn_number_i64(-2));
	assert_shape(a, 2);
	assert_u64(tn_slice(a, 0, 1, 2, 1), UINT64_MAX - 2);
	assert_shape(tn_arange_number(context_of(f), TN_I32, tn_number_i64(5), tn_number_i64(5),
				      tn_number_i64(1)),
		     0);
	assert_elements(tn_arange_number(context_of(f), TN_F32, tn_number_i64(0), tn_number_f64(1),
					 tn_number_f64(0.25)),
			0, 0.25, 0.5, 0.75);
	assert_null(tn_arange_number(context_of(f), TN_I8, tn_number_i64(120), tn_number_i64(130),
				     tn_number_i64(1)));
	assert_kept(f, TN_INVALID_ARGUMENT, "128 does not fit i8");
	assert_null(tn_arange_number(context_of(f), TN_I64, tn_number_i64(0), tn_number_i64(1),
				     tn_number_i64(0)));
	assert_kept(f, TN_INVALID_ARGUMENT, "by 0 in i64");
}

static void programs_read_numbers_of_their_own_dtypes(void **state)
{
	struct fixture *f = *state;
	const char *const names[] = {"x"}, *const scalars[] = {"k"};
	const tn_array *inputs[] = {full(f, TN_I64, tn_number_i64(ODD))};
	const tn_number one = tn_number_i64(ODD);
	assert_i64(tn_map_number("z = x + k", 1, names, inputs, 1, scalars, &one), 2 * ODD);
	const tn_number large = tn_number_u64(UINT64_MAX);
	assert_u64(tn_map_number("z = k / 3", 1, names, inputs, 1, scalars, &large),
		   UINT64_MAX / 3);
	const tn_number half = tn_number_f64(0.5);
	tn_array *z = tn_map_number("z = x * k", 1, names, inputs, 1, scalars, &half);
	assert_int_equal(tn_array_dtype(z), TN_F32);
	const tn_number i = tn_number_c128(0, 1);
	assert_null(tn_map_number("z = x * k", 1, names, inputs, 1, scalars, &i));
	assert_kept(f, TN_DTYPE, "scalar 0");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)
	const struct CMUnitTest tests[] = {
		TEST(integers_keep_all_their_bits),
		TEST(floating_numbers_keep_all_their_bits),
		TEST(complex_numbers_have_two_parts),
		TEST(a_number_that_the_dtype_does_not_hold_is_an_error),
		TEST(ranges_of_integers_are_exact),
		TEST(programs_read_numbers_of_their_own_dtypes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
