/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Running sums, products and extremes along an axis.
 */
#include "ops/scan.h"
#include "array_fixture.h"

static void sums_and_products_run_along_any_axis(void **state)
{
	struct fixture *f = *state;
	tn_array *a = counted(f, 1, SHAPE(2, 3));
	assert_elements(tn_cumsum(a, -1), 1, 3, 6, 4, 9, 15);
	assert_elements(tn_cumsum(a, 0), 1, 2, 3, 5, 7, 9);
	assert_elements(tn_cumsum(tn_transpose(a, NULL), 1), 1, 5, 2, 7, 3, 9);
	assert_elements(tn_cumprod(a, 1), 1, 2, 6, 4, 20, 120);
	assert_elements(tn_cumsum(tn_slice(a, 1, INT64_MIN, INT64_MIN, -1), 1), 3, 5, 6, 6, 11, 15);
}

static void extremes_are_nan_from_the_first_nan_on(void **state)
{
	struct fixture *f = *state;
	const float data[] = {1, 3, 2, NAN, 9, -4, 5, -INFINITY};
	tn_array *a = tn_from_host(context_of(f), TN_F32, SHAPE(2, 4), data);
	assert_elements(tn_cummax(a, 1), 1, 3, 3, NAN, 9, 9, 9, 9);
	assert_elements(tn_cummin(a, 1), 1, 1, 1, NAN, 9, -4, -4, -INFINITY);
	assert_elements(tn_cummax(a, 0), 1, 3, 2, NAN, 9, 3, 5, NAN);
}

static void integers_are_summed_in_64_bits(void **state)
{
	struct fixture *f = *state;
	tn_array *a = tn_full(context_of(f), TN_I8, SHAPE(3), 100);
	tn_array *sum = tn_cumsum(a, 0);
	assert_int_equal(sum->dtype, TN_I64);
	assert_elements(sum, 100, 200, 300);
	assert_int_equal(tn_cumprod(a, 0)->dtype, TN_I64);
	assert_int_equal(tn_cummin(a, 0)->dtype, TN_I8);
	assert_int_equal(tn_cumsum(tn_astype(a, TN_U64), 0)->dtype, TN_U64);
	assert_elements(tn_cumsum(tn_astype(a, TN_BOOL), 0), 1, 2, 3);
	assert_elements(tn_cummax(tn_astype(a, TN_BOOL), 0), 1, 1, 1);
	/* Narrow floating types are summed in f32 and rounded once: 2048 + 1 + 1 is 2050. */
	const float data[] = {2048, 1, 1};
	tn_array *narrow = tn_astype(tn_from_host(context_of(f), TN_F32, SHAPE(3), data), TN_F16);
	assert_elements(tn_cumsum(narrow, 0), 2048, 2048, 2050);
}

static void scans_run_from_the_other_end_and_without_the_element(void **state)
{
	struct fixture *f = *state;
	tn_array *a = counted(f, 1, SHAPE(4)), *i = tn_astype(a, TN_I8);
	assert_elements(tn_scan(a, 0, TN_REDUCE_SUM, 1, 0), 10, 9, 7, 4);
	assert_elements(tn_scan(a, 0, TN_REDUCE_SUM, 0, 1), 0, 1, 3, 6);
	assert_elements(tn_scan(a, 0, TN_REDUCE_PRODUCT, 1, 1), 24, 12, 4, 1);
	assert_elements(tn_scan(a, 0, TN_REDUCE_MAX, 0, 1), -INFINITY, 1, 2, 3);
	assert_elements(tn_scan(a, 0, TN_REDUCE_MIN, 1, 1), 2, 3, 4, INFINITY);
	assert_elements(tn_scan(i, 0, TN_REDUCE_MAX, 0, 1), -128, 1, 2, 3);
	assert_elements(tn_scan(tn_astype(i, TN_U16), 0, TN_REDUCE_MIN, 0, 1), 65535, 1, 1, 1);
}

static void what_has_no_scan_is_refused_by_name(void **state)
{
	struct fixture *f = *state;
	assert_null(tn_cummax(tn_zeros(context_of(f), TN_C64, SHAPE(2)), 0));
	assert_kept(f, TN_DTYPE, "not defined for c64");
	assert_null(tn_cumprod(counted(f, 0, SHAPE(2)), -2));
	assert_kept(f, TN_INVALID_ARGUMENT, "axis -2: the array has rank 1");
	assert_shape(tn_cummax(counted(f, 0, SHAPE(2, 0)), 1), 2, 0);
	assert_shape(tn_cumsum(counted(f, 0, SHAPE(0)), 0), 0);
}

static void the_host_does_what_a_device_does_not(void **state)
{
	struct fixture *f = *state;
	tn_array *a = noise(f, 3, SHAPE(3, 5, 2)), *sum = tn_cumsum(a, 1);
	for (int is_far = 0; is_far < 2; is_far++) {
		f->context.runtime.device = add_device(f, "odd", MEMORY_ALONE, is_far);
		tn_array *b = tn_to(a, f->context.runtime.device);
		tn_ledger_reset(context_of(f));
		assert_arrays_close(tn_to(tn_cumsum(b, 1), f->context.runtime.reference), sum, 0);
		assert_int_equal(ledger_row(f, "cumsum").host, 1);
	}
	f->context.runtime.device = f->context.runtime.reference;
	tn_cummin(a, 0);
	assert_int_equal(ledger_row(f, "cummin").native, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sums_and_products_run_along_any_axis),
		TEST(extremes_are_nan_from_the_first_nan_on),
		TEST(integers_are_summed_in_64_bits),
		TEST(scans_run_from_the_other_end_and_without_the_element),
		TEST(what_has_no_scan_is_refused_by_name),
		TEST(the_host_does_what_a_device_does_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
