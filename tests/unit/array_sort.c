/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Sorting along an axis, and taking elements by one index each.
 */
#include "array_fixture.h"
#include "base/dtype.h"
#include "ops/take_along.h"

static tn_array *floats(struct fixture *f, const float *data, int rank, const int64_t *shape)
{
	return tn_from_host(context_of(f), TN_F32, rank, shape, data);
}

static void lines_come_into_order_along_any_axis(void **state)
{
	struct fixture *f = *state;
	static const float data[] = {3, 1, 2, 6, 5, 4};
	tn_array *a = floats(f, data, SHAPE(2, 3));
	assert_elements(tn_sort(a, -1, 0), 1, 2, 3, 4, 5, 6);
	assert_elements(tn_sort(a, 1, 1), 3, 2, 1, 6, 5, 4);
	assert_elements(tn_sort(a, 0, 1), 6, 5, 4, 3, 1, 2);
	assert_elements(tn_sort(tn_transpose(a, NULL), 0, 0), 1, 4, 2, 5, 3, 6);
	tn_array *places = tn_argsort(a, 1, 0);
	assert_int_equal(places->dtype, TN_I64);
	assert_elements(places, 1, 2, 0, 2, 1, 0);
	assert_elements(tn_take_along_axis(a, places, 1), 1, 2, 3, 4, 5, 6);
}

static void equals_stay_as_they_stand(void **state)
{
	struct fixture *f = *state;
	const float data[] = {0, NAN, 1, -0.0f, INFINITY, 1, NAN, -INFINITY};
	tn_array *a = floats(f, data, SHAPE(8));
	assert_elements(tn_argsort(a, 0, 0), 7, 0, 3, 2, 5, 4, 1, 6);
	assert_elements(tn_argsort(a, 0, 1), 1, 6, 4, 2, 5, 0, 3, 7);
	assert_elements(tn_sort(a, 0, 0), -INFINITY, 0, 0, 1, 1, INFINITY, NAN, NAN);
	float found[8];
	assert_ok(tn_to_host(tn_sort(a, 0, 0), found, sizeof(found)));
	assert_true(!signbit(found[1]) && signbit(found[2]));
}

static void the_first_in_order_are_the_largest_or_smallest(void **state)
{
	struct fixture *f = *state;
	static const float data[] = {3, 1, 2, 6, 5, 4};
	tn_array *a = floats(f, data, SHAPE(2, 3)), *places = a;
	assert_elements(tn_topk(a, 2, 1, 1, &places), 3, 2, 6, 5);
	assert_elements(places, 0, 2, 0, 1);
	assert_elements(tn_topk(a, 1, -1, 0, NULL), 1, 4);
	tn_array *none = tn_topk(a, 0, 0, 1, &places);
	assert_shape(none, 0, 3);
	assert_shape(places, 0, 3);
	assert_null(tn_topk(a, 4, 1, 1, &places));
	assert_null(places);
	assert_kept(f, TN_INVALID_ARGUMENT, "expected 0 to 3, the length of axis 1, found 4");
	assert_null(tn_topk(a, -1, 1, 1, NULL));
	assert_kept(f, TN_INVALID_ARGUMENT, "found -1");
}

static void every_real_type_has_an_order(void **state)
{
	struct fixture *f = *state;
	static const float data[] = {5, 0, 7, 1};
	tn_array *a = floats(f, data, SHAPE(4));
	for (tn_dtype dtype = 1; dtype < TN_DTYPES; dtype++) {
		if (dtype == TN_BOOL || !tn_compute_dtype(dtype))
			continue;
		tn_array *sorted = tn_sort(tn_astype(a, dtype), 0, 1);
		assert_int_equal(sorted->dtype, dtype);
		assert_elements(sorted, 7, 5, 1, 0);
	}
	assert_elements(tn_sort(tn_astype(a, TN_BOOL), 0, 0), 0, 1, 1, 1);
	assert_elements(tn_argsort(tn_full(context_of(f), TN_U64, SHAPE(2), -1), 0, 0), 0, 1);
	assert_null(tn_topk(tn_zeros(context_of(f), TN_C64, SHAPE(2)), 1, 0, 1, NULL));
	assert_kept(f, TN_DTYPE, "c64: complex numbers cannot be ordered");
	assert_null(tn_argsort(a, 1, 0));
	assert_kept(f, TN_INVALID_ARGUMENT, "axis 1: the array has rank 1");
	assert_null(tn_sort(tn_scalar_f32(context_of(f), 1), 0, 0));
	assert_kept(f, TN_INVALID_ARGUMENT, "axis 0: the array has rank 0");
}

static void an_empty_array_is_in_order(void **state)
{
	struct fixture *f = *state;
	assert_shape(tn_sort(counted(f, 0, SHAPE(0, 3)), 0, 0), 0, 3);
	assert_shape(tn_argsort(counted(f, 0, SHAPE(2, 0)), 0, 1), 2, 0);
	assert_int_equal(ledger_row(f, "sort").native, 0);
}

static void elements_are_taken_by_an_index_for_each(void **state)
{
	struct fixture *f = *state;
	static const int32_t places[] = {1, -2, 0, -1, 1, 1, 0, 0};
	tn_array *a = counted(f, 0, SHAPE(2, 2, 2));
	tn_array *indices = tn_from_host(context_of(f), TN_I32, SHAPE(2, 2, 2), places);
	assert_elements(tn_take_along_axis(a, indices, 1), 2, 1, 0, 3, 6, 7, 4, 5);
	assert_elements(tn_take_along_axis(tn_transpose(a, NULL), indices, -1), 4, 0, 2, 6, 5, 5, 3,
			3);
	tn_array *one = tn_slice(indices, 0, 0, 1, 1);
	assert_elements(tn_take_along_axis(a, one, 0), 4, 1, 2, 7);
	tn_array *out = tn_zeros(context_of(f), TN_F32, SHAPE(2, 2, 2));
	assert_ok(tn_scatter_add_along_axis(out, indices, 1, a));
	assert_elements(out, 2, 1, 0, 3, 6, 7, 4, 5);
	assert_null(tn_take_along_axis(a, indices, 3));
	assert_kept(f, TN_INVALID_ARGUMENT, "axis 3");
	assert_null(tn_take_along_axis(a, one, 1));
	assert_kept(f, TN_SHAPE, "(1, 2, 2) do not fit (2, 2, 2) along axis 1");
	assert_null(tn_take_along_axis(a, tn_add(indices, indices), 2));
	assert_kept(f, TN_INVALID_ARGUMENT,
		    "index 2 at position 0 is out of range: the axis has length 2");
	assert_null(tn_take_along_axis(a, a, 0));
	assert_kept(f, TN_DTYPE, "expected integers");
}

static void every_way_gives_the_same(void **state)
{
	struct fixture *f = *state;
	static const struct {
		uint64_t slots;
		int is_far;
		int is_native;
	} cases[] = {{ALL_SLOTS, 0, 1}, {MANDATORY, 0, 0}, {MEMORY_ALONE, 1, 0}};
	tn_array *a = noise(f, 3, SHAPE(3, 5, 2)), *places;
	tn_array *sorted = tn_sort(a, 1, 0), *most = tn_topk(a, 2, 0, 1, &places);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tn_device *device = add_device(f, "odd", cases[i].slots, cases[i].is_far);
		tn_array *b, *first;
		tn_ledger_reset(context_of(f));
		if (cases[i].is_native)
			device = f->context.runtime.reference;
		f->context.runtime.device = device;
		b = tn_to(a, device);
		assert_arrays_close(tn_to(tn_sort(b, 1, 0), f->context.runtime.reference), sorted,
				    0);
		assert_arrays_close(
			tn_to(tn_topk(b, 2, 0, 1, &first), f->context.runtime.reference), most, 0);
		assert_arrays_close(tn_to(first, f->context.runtime.reference), places, 0);
		assert_arrays_close(
			tn_to(tn_take_along_axis(b, first, 0), f->context.runtime.reference), most,
			0);
		assert_int_equal(ledger_row(f, "sort").native, cases[i].is_native);
		assert_int_equal(ledger_row(f, "sort").host, !cases[i].is_native);
		assert_int_equal(ledger_row(f, "topk").host, !cases[i].is_native);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(lines_come_into_order_along_any_axis),
		TEST(equals_stay_as_they_stand),
		TEST(the_first_in_order_are_the_largest_or_smallest),
		TEST(every_real_type_has_an_order),
		TEST(an_empty_array_is_in_order),
		TEST(elements_are_taken_by_an_index_for_each),
		TEST(every_way_gives_the_same),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
