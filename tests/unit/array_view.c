/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Views, by NumPy's rules; copies into and out of them; taking and joining.
 */
#include "ops/take.h"
#include "array_fixture.h"

static void a_reshape_of_compact_elements_is_a_view(void **state)
{
	struct fixture *f = *state;
	tn_array *a = counted(f, 0, SHAPE(2, 6));
	tn_array *b = tn_reshape(a, SHAPE(3, -1));
	assert_shape(b, 3, 4);
	assert_ptr_equal(b->storage, a->storage);
	assert_shape(tn_reshape(a, SHAPE(2, 2, 3, 1)), 2, 2, 3, 1);
	assert_shape(tn_reshape(tn_reshape(a, SHAPE(12)), SHAPE(4, 3)), 4, 3);
	assert_int_equal(tn_array_rank(tn_reshape(counted(f, 0, SHAPE(1, 1)), 0, NULL)), 0);
}

static void a_reshape_that_splits_an_axis_stays_a_view_of_a_strided_array(void **state)
{
	struct fixture *f = *state;
	tn_array *a = counted(f, 0, SHAPE(3, 8));
	tn_array *every_other = tn_slice(a, 1, 0, INT64_MIN, 2);
	tn_array *split = tn_reshape(every_other, SHAPE(3, 2, 2));
	assert_ptr_equal(split->storage, a->storage);
	assert_elements(split, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22);
	/* Rows and their elements have different steps: this is a copy. */
	tn_array *flat = tn_reshape(tn_transpose(a, NULL), SHAPE(24));
	assert_ptr_not_equal(flat->storage, a->storage);
	assert_elements(tn_slice(flat, 0, 0, 4, 1), 0, 8, 16, 1);
}

static void a_reshape_keeps_the_number_of_elements(void **state)
{
	struct fixture *f = *state;
	tn_array *a = counted(f, 0, SHAPE(2, 3));
	assert_null(tn_reshape(a, SHAPE(4)));
	assert_kept(f, TN_SHAPE, "(2, 3)");
	assert_null(tn_reshape(a, SHAPE(-1, 4)));
	assert_kept(f, TN_SHAPE, "(-1, 4)");
	assert_null(tn_reshape(a, SHAPE(-1, -1)));
	assert_kept(f, TN_INVALID_ARGUMENT, "one length may be -1");
	assert_shape(tn_reshape(counted(f, 0, SHAPE(0, 3)), SHAPE(5, 0)), 5, 0);
}

static void slices_follow_python(void **state)
{
	struct fixture *f = *state;
	const int64_t open = INT64_MIN;
	const struct {
		int64_t start, stop, step;
		int n;
		int first; /* element */
	} cases[] = {
		{0, 6, 1, 6, 0},        {open, open, 1, 6, 0},   {1, -1, 1, 4, 1},
		{-2, open, 1, 2, 4},    {open, open, -1, 6, 5},  {4, 1, -1, 3, 4},
		{4, 1, -2, 2, 4},       {100, open, -3, 2, 5},   {-100, 100, 4, 2, 0},
		{3, 3, 1, 0, 0},        {4, 2, 1, 0, 0},         {2, 4, -1, 0, 0},
		{open, -100, -5, 2, 5}, {0, 6, INT64_MAX, 1, 0},
	};
	tn_array *a = counted(f, 0, SHAPE(6));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		tn_array *s = tn_slice(a, 0, cases[i].start, cases[i].stop, cases[i].step);
		double expected[6];
		for (int k = 0; k < cases[i].n; k++)
			expected[k] = (double)cases[i].first + (double)k * (double)cases[i].step;
		check_elements(s, (size_t)cases[i].n, expected, 0, __FILE__, __LINE__);
	}
	assert_null(tn_slice(a, 0, 0, 6, 0));
	assert_kept(f, TN_INVALID_ARGUMENT, "step");
}

static void axes_move_come_and_go(void **state)
{
	struct fixture *f = *state;
	tn_array *a = counted(f, 0, SHAPE(2, 3, 4));
	assert_shape(tn_transpose(a, NULL), 4, 3, 2);
	assert_shape(tn_transpose(a, (const int[]){1, -1, 0}), 3, 4, 2);
	assert_null(tn_transpose(a, (const int[]){1, 1, 0}));
	assert_kept(f, TN_INVALID_ARGUMENT, "once");
	assert_shape(tn_expand_dims(a, -1), 2, 3, 4, 1);
	assert_shape(tn_squeeze(tn_expand_dims(a, 1), 1), 2, 3, 4);
	assert_null(tn_squeeze(a, 1));
	assert_kept(f, TN_SHAPE, "length 3");
	assert_elements(tn_slice(tn_transpose(tn_slice(a, 0, 0, 1, 1), NULL), 0, 0, 1, 1), 0, 4, 8);
}

static void windows_slide(void **state)
{
	struct fixture *f = *state;
	tn_array *a = counted(f, 0, SHAPE(3, 4));
	tn_array *w = tn_sliding_window_view(a, 2, (const int64_t[]){2, 3}, (const int[]){0, 1});
	assert_shape(w, 2, 2, 2, 3);
	assert_elements(tn_slice(tn_slice(w, 0, 1, 2, 1), 1, 1, 2, 1), 5, 6, 7, 9, 10, 11);
	assert_elements(tn_sum(w, 2, (const int[]){2, 3}, 0), 18, 24, 42, 48);
	assert_null(tn_sliding_window_view(a, 1, (const int64_t[]){4}, (const int[]){0}));
	assert_kept(f, TN_SHAPE, "room for 1 to 3");
}

static void assigning_to_a_view_changes_the_whole(void **state)
{
	struct fixture *f = *state;
	tn_array *a = counted(f, 0, SHAPE(2, 3));
	tn_array *column = tn_slice(a, 1, 2, 3, 1);
	assert_ok(tn_assign(column, tn_scalar_f32(context_of(f), 9)));
	assert_elements(a, 0, 1, 9, 3, 4, 9);
	assert_ok(tn_fill(tn_slice(a, 0, 0, 1, 1), -1));
	assert_elements(a, -1, -1, -1, 3, 4, 9);
	assert_ok(tn_assign_host(tn_transpose(a, NULL), (const float[]){0, 1, 2, 3, 4, 5}, 24));
	assert_elements(a, 0, 2, 4, 1, 3, 5);
	assert_ok(tn_assign(a, tn_slice(a, 1, INT64_MIN, INT64_MIN, -1)));
	assert_elements(a, 4, 2, 0, 5, 3, 1);
}

static void conversions_round_and_saturate_like_casts(void **state)
{
	struct fixture *f = *state;
	static const float data[] = {-1.5f, 300, NAN, 0};
	tn_array *a = tn_from_host(context_of(f), TN_F32, SHAPE(4), data);
	assert_elements(tn_astype(a, TN_I32), -1, 300, 0, 0);
	assert_elements(tn_astype(a, TN_BOOL), 1, 1, 1, 0);
	assert_elements(tn_astype(tn_astype(a, TN_F16), TN_F64), -1.5, 300, NAN, 0);
	assert_int_equal(tn_array_dtype(tn_copy(tn_astype(a, TN_F16))), TN_F16);
}

static void complex_numbers_are_made_copied_and_viewed(void **state)
{
	struct fixture *f = *state;
	static const float data[] = {1, -1, 2, -2, 3, -3, 4, -4};
	float found[8];
	tn_array *a = tn_from_host(context_of(f), TN_C64, SHAPE(2, 2), data);
	assert_ok(tn_to_host(tn_transpose(a, NULL), found, sizeof(found)));
	assert_memory_equal(found, ((const float[]){1, -1, 3, -3, 2, -2, 4, -4}), sizeof(found));
	assert_ok(tn_to_host(tn_full(context_of(f), TN_C64, SHAPE(4), 2), found, sizeof(found)));
	assert_memory_equal(found, ((const float[]){2, 0, 2, 0, 2, 0, 2, 0}), sizeof(found));
	assert_elements(tn_astype(a, TN_F32), 1, 2, 3, 4);
}

static void elements_are_taken_by_index(void **state)
{
	struct fixture *f = *state;
	static const int32_t places[] = {2, 0, -1, 2};
	tn_array *a = counted(f, 0, SHAPE(3, 2));
	tn_array *indices = tn_from_host(context_of(f), TN_I32, SHAPE(2, 2), places);
	tn_array *rows = tn_take(a, indices, 0, TN_RAISE);
	assert_shape(rows, 2, 2, 2);
	assert_elements(rows, 4, 5, 0, 1, 4, 5, 4, 5);
	assert_elements(tn_take(tn_transpose(a, NULL), tn_slice(indices, 0, 0, 1, 1), 1, TN_RAISE),
			4, 0, 5, 1);
	tn_array *out = tn_zeros(context_of(f), TN_F32, SHAPE(3, 2));
	assert_ok(tn_scatter_add(out, indices, 0, rows));
	assert_elements(out, 0, 1, 0, 0, 12, 15);
	assert_null(tn_take(a, tn_full(context_of(f), TN_I64, SHAPE(2), 3), 0, TN_RAISE));
	assert_kept(f, TN_INVALID_ARGUMENT, "index 3 at position 0");
	assert_shape(tn_take(a, tn_zeros(context_of(f), TN_I32, SHAPE(0)), 0, TN_RAISE), 0, 2);
}

static void arrays_are_joined_along_an_axis(void **state)
{
	struct fixture *f = *state;
	const tn_array *parts[] = {counted(f, 0, SHAPE(2, 2)), counted(f, 10, SHAPE(2, 1)),
				   counted(f, 0, SHAPE(2, 0))};
	assert_elements(tn_concatenate(3, parts, -1), 0, 1, 10, 2, 3, 11);
	assert_null(tn_concatenate(2, parts, 0));
	assert_kept(f, TN_SHAPE, "of shape (2, 1) to shape (2, 2)");
}

static void sequences_count_in_either_direction(void **state)
{
	struct fixture *f = *state;
	assert_elements(tn_arange(context_of(f), TN_F32, 0, 1, 0.25), 0, 0.25, 0.5, 0.75);
	assert_elements(tn_arange(context_of(f), TN_I64, 3, -1, -2), 3, 1);
	assert_shape(tn_arange(context_of(f), TN_I64, 3, 3, 1), 0);
	assert_null(tn_arange(context_of(f), TN_I64, 0, 1, 0));
	assert_kept(f, TN_INVALID_ARGUMENT, "cannot create the range");
}

static void an_item_is_one_element_of_any_type(void **state)
{
	struct fixture *f = *state;
	double value;
	assert_ok(tn_item(tn_full(context_of(f), TN_BF16, SHAPE(1, 1), -2.5), &value));
	assert_close(value, -2.5, 0);
	assert_ok(tn_item(tn_slice(counted(f, 0, SHAPE(9)), 0, 4, 5, 1), &value));
	assert_close(value, 4, 0);
	assert_status(tn_item(counted(f, 0, SHAPE(2)), &value), TN_SHAPE);
	assert_kept(f, TN_SHAPE, "(2,)");
}

static void sizes_must_be_exact(void **state)
{
	struct fixture *f = *state;
	float data[4];
	assert_status(tn_to_host(counted(f, 0, SHAPE(3)), data, 16), TN_INVALID_ARGUMENT);
	assert_kept(f, TN_INVALID_ARGUMENT, "12 bytes, found 16");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)
	const struct CMUnitTest tests[] = {
		TEST(a_reshape_of_compact_elements_is_a_view),
		TEST(a_reshape_that_splits_an_axis_stays_a_view_of_a_strided_array),
		TEST(a_reshape_keeps_the_number_of_elements),
		TEST(slices_follow_python),
		TEST(axes_move_come_and_go),
		TEST(windows_slide),
		TEST(assigning_to_a_view_changes_the_whole),
		TEST(conversions_round_and_saturate_like_casts),
		TEST(complex_numbers_are_made_copied_and_viewed),
		TEST(elements_are_taken_by_index),
		TEST(arrays_are_joined_along_an_axis),
		TEST(sequences_count_in_either_direction),
		TEST(an_item_is_one_element_of_any_type),
		TEST(sizes_must_be_exact),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
