/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Sets and orders: gradients, what is refused, who owns second results, and selected elements of
 * many.  Results: tests/parity/sets.
 */
#include "unit/formula_checks.h"
#include "test_context.h"

static tn_array *line(tn_dtype dtype, int64_t n)
{
	return tn_arange(context, dtype, 0, (double)n, 1);
}

/* ---- Gradients -------------------------------------------------------------------------------*/

static tn_array *f_unique(const tn_array *x)
{
	return tn_unique(x, TN_AXIS_NONE, 1, NULL, NULL, NULL);
}
static tn_array *f_unique_rows(const tn_array *x)
{
	tn_array *index;
	return tn_unique(x, 1, 1, &index, NULL, NULL);
}
static tn_array *f_union1d(const tn_array *x)
{
	return tn_union1d(x, tn_square(x));
}
static tn_array *f_intersect1d(const tn_array *x)
{
	return tn_intersect1d(x, tn_slice(x, 0, 1, 3, 1), 0, NULL, NULL);
}
static tn_array *f_setdiff1d(const tn_array *x)
{
	return tn_setdiff1d(x, tn_slice(x, 0, 1, 3, 1), 0);
}
static tn_array *f_setxor1d(const tn_array *x)
{
	return tn_setxor1d(x, tn_square(x), 0);
}

static tn_array *f_partition(const tn_array *x)
{
	return tn_partition(x, 2, (const int64_t[]){1, -2}, 0);
}
static tn_array *f_partition_of_all(const tn_array *x)
{
	return tn_partition(x, 1, (const int64_t[]){7}, TN_AXIS_NONE);
}
static tn_array *f_sort_complex(const tn_array *x)
{
	const tn_array *sorted = tn_sort_complex(tn_complex(x, tn_square(x)));
	return tn_add(tn_real(sorted), tn_imag(sorted));
}
static tn_array *f_sort_down(const tn_array *x)
{
	return tn_imag(tn_sort(tn_complex(tn_floor(x), x), 0, 1));
}

static tn_array *f_pad_odd(const tn_array *x)
{
	return tn_pad(x, (const int64_t[]){1, 4, 7, 2}, TN_PAD_REFLECT_ODD, NULL);
}
static tn_array *f_pad_median(const tn_array *x)
{
	return tn_pad(x, (const int64_t[]){0, 0, 2, 1}, TN_PAD_MEDIAN,
		      (const double[]){0, 0, 3, 2});
}
static tn_array *f_resize(const tn_array *x)
{
	return tn_resize(x, 2, (const int64_t[]){4, 7});
}
static tn_array *f_block(const tn_array *x)
{
	const tn_array *rows[] = {x, tn_square(x)};
	return tn_block(2, (const int[]){2, 1}, rows);
}
static tn_array *f_trim_zeros(const tn_array *x)
{
	return tn_trim_zeros(tn_pad(x, (const int64_t[]){1, 0, 0, 2}, TN_PAD_CONSTANT, NULL),
			     TN_TRIM_FRONT | TN_TRIM_BACK, TN_ALL_AXES, NULL);
}

static const struct formula_row rows[] = {
	{"unique", f_unique},
	{"unique along an axis", f_unique_rows},
	{"union1d", f_union1d},
	{"intersect1d", f_intersect1d},
	{"setdiff1d", f_setdiff1d},
	{"setxor1d", f_setxor1d},
	{"partition", f_partition},
	{"partition of all elements", f_partition_of_all},
	{"sort_complex", f_sort_complex},
	{"sort of complex numbers, descending", f_sort_down},
	{"pad, odd", f_pad_odd},
	{"pad, median", f_pad_median},
	{"resize", f_resize},
	{"block", f_block},
	{"trim_zeros", f_trim_zeros},
};

static void gradients_are_those_of_central_differences(void **state)
{
	(void)state;
	formula_expect_gradients(context, sizeof(rows) / sizeof(rows[0]), rows);
}

/* Of 2, 2 and 5 the first 2 has the gradient. */
static void a_gradient_flows_to_the_first_of_equals(void **state)
{
	const double values[] = {2, 2, 5}, expected[] = {1, 0, 1};
	double found[3];
	(void)state;
	tn_array *x = tn_from_host(context, TN_F64, 1, (int64_t[]){3}, values);
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	tn_array *distinct = tn_unique(x, TN_AXIS_NONE, 1, NULL, NULL, NULL);
	assert_ok(tn_tape_backward(tape, tn_sum(distinct, TN_ALL_AXES, NULL, 0), NULL));
	assert_ok(tn_to_host(tn_tape_gradient(tape, x), found, sizeof(found)));
	tn_tape_end(tape);
	assert_memory_equal(found, expected, sizeof(expected));
}

/* ---- Results ---------------------------------------------------------------------------------*/

static void second_results_live_in_the_callers_scope(void **state)
{
	tn_array *x = tn_remainder(line(TN_F32, 7), tn_scalar_f32(context, 3));
	tn_array *index = x, *inverse = x, *counts = x;
	double value;
	(void)state;
	assert_non_null(tn_unique(x, 0, 1, &index, &inverse, &counts));
	assert_ok(tn_item(tn_sum(index, TN_ALL_AXES, NULL, 0), &value));
	assert_close(value, 3, 0);
	assert_ok(tn_item(tn_sum(inverse, TN_ALL_AXES, NULL, 0), &value));
	assert_close(value, 6, 0);
	assert_ok(tn_item(tn_sum(counts, TN_ALL_AXES, NULL, 0), &value));
	assert_close(value, 7, 0);
	assert_null(tn_unique(x, 1, 1, &index, &inverse, &counts));
	assert_null(index);
	assert_null(inverse);
	assert_null(counts);
	tn_error_clear(context);
	index = inverse = x;
	assert_null(tn_intersect1d(x, NULL, 0, &index, &inverse));
	assert_null(index);
	assert_null(inverse);
}

/* Elements at places of a partition are those of the sorted array, in every dtype. */
static void selected_elements_are_those_of_the_sorted_array(void **state)
{
	enum { N = 3000, N_PLACES = 5 };
	static const int64_t places[N_PLACES] = {0, 17, N / 2, N / 2 + 1, N - 1};
	const tn_array *normal = tn_random_normal(context, 1, (int64_t[]){N}, 0, 40);
	const tn_array *at = tn_from_host(context, TN_I64, 1, (int64_t[]){N_PLACES}, places);
	(void)state;
	for (tn_dtype dtype = TN_BOOL; dtype <= TN_F64; dtype++) {
		double is_same, sum, expected;
		const tn_array *a = tn_astype(normal, dtype);
		const tn_array *parts = tn_partition(a, N_PLACES, places, 0);
		const tn_array *same = tn_equal(tn_take(parts, at, 0, TN_RAISE),
						tn_take(tn_sort(a, 0, 0), at, 0, TN_RAISE));
		assert_ok(tn_item(tn_all(same, TN_ALL_AXES, NULL, 0), &is_same));
		assert_close(is_same, 1, 0);
		same = tn_equal(tn_sort(parts, 0, 0), tn_sort(a, 0, 0));
		assert_ok(tn_item(tn_all(same, TN_ALL_AXES, NULL, 0), &sum));
		assert_close(sum, 1, 0);
		assert_ok(tn_item(tn_max(a, TN_ALL_AXES, NULL, 0), &expected));
		assert_ok(tn_item(tn_slice(parts, 0, N - 1, N, 1), &sum));
		assert_close(sum, expected, 0);
	}
}

/* A sequence of equal elements is in order, and NaN of either sign is behind. */
static void equal_elements_and_nan_are_selected(void **state)
{
	float values[100];
	double found;
	(void)state;
	for (int i = 0; i < 100; i++)
		values[i] = i % 3 == 0 ? -NAN : i % 3 == 1 ? NAN : 5;
	const tn_array *a = tn_from_host(context, TN_F32, 1, (int64_t[]){100}, values);
	const tn_array *parts = tn_partition(a, 1, (int64_t[]){32}, 0);
	assert_ok(tn_item(tn_max(tn_slice(parts, 0, 0, 33, 1), TN_ALL_AXES, NULL, 0), &found));
	assert_close(found, 5, 0);
	assert_ok(tn_item(
		tn_count_nonzero(tn_isnan(tn_slice(parts, 0, 33, 100, 1)), TN_ALL_AXES, NULL, 0),
		&found));
	assert_close(found, 67, 0);
}

static uint64_t host_reads(const char *operation)
{
	struct tn_ledger_row row = {.struct_size = sizeof(row)};
	for (size_t i = 0; i < tn_ledger_count(context); i++) {
		assert_ok(tn_ledger_at(context, i, &row));
		if (strcmp(row.operation, operation) == 0)
			return row.host;
	}
	return 0;
}

/* On any backend once for each array whose length depends on values. */
static void what_the_host_reads_is_counted(void **state)
{
	const tn_array *x = line(TN_F32, 5);
	(void)state;
	tn_ledger_reset(context);
	assert_non_null(tn_isin(x, x, 0));
	assert_int_equal(host_reads("isin"), 0);
	assert_non_null(tn_unique(x, 0, 1, NULL, NULL, NULL));
	assert_int_equal(host_reads("unique"), 1);
	assert_non_null(tn_intersect1d(x, x, 0, NULL, NULL));
	assert_int_equal(host_reads("intersect1d"), 3);
	assert_non_null(tn_trim_zeros(x, TN_TRIM_FRONT, TN_ALL_AXES, NULL));
	assert_int_equal(host_reads("trim_zeros"), 1);
	assert_non_null(tn_partition(x, 1, (int64_t[]){2}, 0));
	assert_non_null(tn_nanmedian(x, TN_ALL_AXES, NULL, 0));
	assert_int_equal(host_reads("partition") + host_reads("nanmedian"), 0);
}

static void errors_name_what_is_refused(void **state)
{
	tn_array *x = line(TN_F32, 4);
	(void)state;
	assert_refused(context, tn_unique(x, 1, 1, NULL, NULL, NULL), TN_INVALID_ARGUMENT, "unique",
		       "axis: expected an axis of shape (4,), from -1 to 0, found 1");
	const tn_array *keys[] = {x, line(TN_I32, 3)}, *z = tn_astype(x, TN_C64);
	assert_refused(context, tn_lexsort(2, keys, 0), TN_SHAPE, "lexsort",
		       "keys[1]: expected shape (4,) of keys[0], found (3,)");
	assert_refused(context, tn_lexsort(1, keys, 1), TN_INVALID_ARGUMENT, "lexsort", "found 1");
	assert_refused(context, tn_sort_complex(tn_scalar_f32(context, 1)), TN_INVALID_ARGUMENT,
		       "sort_complex", "0-d array");
	assert_refused(context, tn_partition(x, 1, (int64_t[]){4}, 0), TN_INVALID_ARGUMENT,
		       "partition", "kth[0]: expected -4 to 3 along axis 0, found 4");
	assert_refused(context, tn_argpartition(x, 0, NULL, 0), TN_INVALID_ARGUMENT, "argpartition",
		       "found n 0 and NULL");
	assert_refused(context, tn_partition(x, 1, (int64_t[]){0}, 2), TN_INVALID_ARGUMENT,
		       "partition", "axis: expected an axis of shape (4,)");
	assert_refused(context, tn_sort(z, 1, 0), TN_INVALID_ARGUMENT, "sort", "found 1");
	assert_refused(context, tn_nanargmax(z, 0, 0), TN_DTYPE, "nanargmax", "c64");
	assert_refused(context, tn_nanargmin(line(TN_F32, 0), TN_AXIS_NONE, 0), TN_SHAPE,
		       "nanargmin", "(0,)");
	assert_refused(context, tn_argmax(x, 3, 1), TN_INVALID_ARGUMENT, "argmax", "found 3");
	assert_refused(context, tn_isin(x, NULL, 0), TN_INVALID_ARGUMENT, "isin",
		       "operand 1 is NULL");
	assert_null(tn_unique(NULL, 0, 1, NULL, NULL, NULL));
	assert_null(tn_error(context));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, context_setup, context_teardown)
	const struct CMUnitTest tests[] = {
		TEST(gradients_are_those_of_central_differences),
		TEST(a_gradient_flows_to_the_first_of_equals),
		TEST(second_results_live_in_the_callers_scope),
		TEST(selected_elements_are_those_of_the_sorted_array),
		TEST(equal_elements_and_nan_are_selected),
		TEST(what_the_host_reads_is_counted),
		TEST(errors_name_what_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
