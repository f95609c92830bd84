/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reductions over every set of axes, of plain and strided arrays, and of nothing.
 */
#include "array_fixture.h"

/* Sums, products, maxima and minima over a set of axes by definition, in f64. */
struct expected {
	double sum[64], product[64], largest[64], smallest[64];
	size_t n;
};

static void by_definition(const float *x, int rank, const int64_t *shape, unsigned axes,
			  struct expected *e)
{
	int64_t size = 1;
	e->n = 1;
	for (int i = 0; i < rank; i++) {
		size *= shape[i];
		e->n *= axes >> i & 1 ? 1 : (size_t)shape[i];
	}
	for (size_t i = 0; i < e->n; i++) {
		e->sum[i] = 0;
		e->product[i] = 1;
		e->largest[i] = -INFINITY;
		e->smallest[i] = INFINITY;
	}
	for (int64_t i = 0; i < size; i++) {
		int64_t rest = i, place = 0, step = 1;
		for (int axis = rank - 1; axis >= 0; axis--) {
			if (!(axes >> axis & 1)) {
				place += rest % shape[axis] * step;
				step *= shape[axis];
			}
			rest /= shape[axis];
		}
		e->sum[place] += (double)x[i];
		e->product[place] *= (double)x[i];
		e->largest[place] = fmax(e->largest[place], (double)x[i]);
		e->smallest[place] = fmin(e->smallest[place], (double)x[i]);
	}
}

static void check_axes(tn_array *a, unsigned axes, int keepdims)
{
	struct expected e;
	float x[64];
	int list[TN_MAX_RANK], n = 0;
	assert_ok(tn_to_host(a, x, (size_t)a->size * sizeof(*x)));
	by_definition(x, a->rank, a->shape, axes, &e);
	for (int i = 0; i < a->rank; i++) {
		/* Every other axis is given from the end. */
		if (axes >> i & 1)
			list[n] = n % 2 ? i - a->rank : i, n++;
	}
	tn_array *sum = tn_sum(a, n, list, keepdims);
	assert_int_equal(tn_array_rank(sum), keepdims ? a->rank : a->rank - n);
	/* At most 24 terms below 24 with one rounding each of 2^-24 relative. */
	check_elements(sum, e.n, e.sum, 24 * 24 * 24 * 6e-8, __FILE__, __LINE__);
	check_elements(tn_max(a, n, list, keepdims), e.n, e.largest, 0, __FILE__, __LINE__);
	check_elements(tn_min(a, n, list, keepdims), e.n, e.smallest, 0, __FILE__, __LINE__);
	tn_array *product = tn_prod(a, n, list, keepdims);
	for (size_t i = 0; i < e.n; i++) {
		float found[64];
		assert_ok(tn_to_host(product, found, e.n * sizeof(*found)));
		assert_close((double)found[i], e.product[i], fabs(e.product[i]) * 24 * 6e-8);
	}
	double count = (double)a->size / (double)e.n;
	for (size_t i = 0; i < e.n; i++)
		e.sum[i] /= count;
	check_elements(tn_mean(a, n, list, keepdims), e.n, e.sum, 24 * 24 * 6e-8, __FILE__,
		       __LINE__);
}

static void every_set_of_axes_is_reduced(void **state)
{
	struct fixture *f = *state;
	tn_array *arrays[] = {
		counted(f, 1, SHAPE(2, 3, 4)),
		tn_transpose(counted(f, 1, SHAPE(4, 3, 2)), NULL),
		tn_transpose(counted(f, 1, SHAPE(2, 3, 4)), (const int[]){1, 0, 2}),
		tn_slice(counted(f, 1, SHAPE(2, 3, 8)), 2, INT64_MIN, INT64_MIN, -2),
		tn_broadcast_to(counted(f, 1, SHAPE(3, 1)), SHAPE(2, 3, 4)),
		tn_expand_dims(counted(f, 1, SHAPE(6, 4)), 1),
	};
	for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
		for (unsigned axes = 0; axes < 8; axes++) {
			check_axes(arrays[i], axes, 0);
			check_axes(arrays[i], axes, 1);
		}
	}
}

static void all_axes_have_a_name(void **state)
{
	struct fixture *f = *state;
	tn_array *sum = tn_sum(counted(f, 1, SHAPE(2, 3)), TN_ALL_AXES, NULL, 0);
	assert_int_equal(tn_array_rank(sum), 0);
	assert_elements(sum, 21);
	assert_elements(tn_sum(tn_scalar_f32(context_of(f), 4), TN_ALL_AXES, NULL, 0), 4);
	assert_elements(tn_max(counted(f, 1, SHAPE(2, 3)), TN_ALL_AXES, (int[]){0}, 0), 6);
}

/* As NumPy's axis=(); a list that is missing may be a mistake. */
static void an_empty_list_of_axes_reduces_nothing(void **state)
{
	struct fixture *f = *state;
	tn_array *a = counted(f, 1, SHAPE(3)), *i = tn_astype(a, TN_I32);
	assert_elements(tn_sum(a, 0, (int[]){0}, 0), 1, 2, 3);
	assert_elements(tn_logsumexp(a, 0, (int[]){0}, 1), 1, 2, 3);
	assert_elements(tn_mean(i, 0, (int[]){0}, 0), 1, 2, 3);
	assert_int_equal(tn_array_dtype(tn_sum(i, 0, (int[]){0}, 0)), TN_I64);
	assert_null(tn_sum(a, 0, NULL, 0));
	assert_kept(f, TN_INVALID_ARGUMENT, "axes: expected a list of 0, found NULL");
	assert_null(tn_sum(a, -2, (int[]){0}, 0));
	assert_kept(f, TN_INVALID_ARGUMENT, "n: expected TN_ALL_AXES, or 0 or more axes, found -2");
}

static void nothing_sums_to_zero_and_has_no_largest(void **state)
{
	struct fixture *f = *state;
	tn_array *none = counted(f, 0, SHAPE(2, 0));
	assert_elements(tn_sum(none, 1, (const int[]){1}, 0), 0, 0);
	assert_elements(tn_prod(none, 1, (const int[]){1}, 0), 1, 1);
	assert_elements(tn_mean(none, 1, (const int[]){1}, 0), NAN, NAN);
	assert_elements(tn_logsumexp(none, 1, (const int[]){1}, 0), -INFINITY, -INFINITY);
	assert_shape(tn_sum(none, 1, (const int[]){0}, 0), 0);
	assert_shape(tn_max(none, 1, (const int[]){0}, 0), 0);
	assert_null(tn_max(none, 1, (const int[]){1}, 0));
	assert_kept(f, TN_SHAPE, "(2, 0)");
}

static void integers_sum_in_i64(void **state)
{
	struct fixture *f = *state;
	tn_array *large = tn_full(context_of(f), TN_I32, SHAPE(4), 2147483647.0);
	tn_array *sum = tn_sum(large, TN_ALL_AXES, NULL, 0);
	assert_int_equal(tn_array_dtype(sum), TN_I64);
	assert_elements(sum, 8589934588.0);
	tn_array *yes = tn_full(context_of(f), TN_BOOL, SHAPE(5), 1);
	assert_elements(tn_sum(yes, TN_ALL_AXES, NULL, 0), 5);
	assert_int_equal(tn_array_dtype(tn_max(yes, TN_ALL_AXES, NULL, 0)), TN_BOOL);
	assert_elements(tn_mean(tn_arange(context_of(f), TN_U8, 1, 5, 1), TN_ALL_AXES, NULL, 0),
			2.5);
}

static void the_place_of_the_largest_is_the_first_of_equals(void **state)
{
	struct fixture *f = *state;
	static const float data[] = {1, 7, 7, 3, NAN, 9, 2, 2, 2};
	tn_array *a = tn_from_host(context_of(f), TN_F32, SHAPE(3, 3), data);
	tn_array *place = tn_argmax(a, 1, 0);
	assert_int_equal(tn_array_dtype(place), TN_I64);
	assert_elements(place, 1, 1, 0);
	assert_elements(tn_argmin(a, -1, 0), 0, 1, 0);
	assert_elements(tn_argmin(a, 0, 0), 0, 1, 2);
	assert_elements(tn_argmax(tn_slice(a, 1, INT64_MIN, INT64_MIN, -1), 1, 0), 0, 1, 0);
}

static void a_nan_is_the_largest_and_the_smallest(void **state)
{
	struct fixture *f = *state;
	static const float data[] = {1, NAN, 3};
	tn_array *a = tn_from_host(context_of(f), TN_F32, SHAPE(3), data);
	assert_elements(tn_max(a, TN_ALL_AXES, NULL, 0), NAN);
	assert_elements(tn_min(a, TN_ALL_AXES, NULL, 0), NAN);
}

static void logsumexp_does_not_overflow(void **state)
{
	struct fixture *f = *state;
	static const float data[] = {1000, 1000, -INFINITY, -INFINITY, -INFINITY, INFINITY, 1, 2};
	tn_array *a = tn_from_host(context_of(f), TN_F32, SHAPE(4, 2), data);
	tn_array *lse = tn_logsumexp(a, 1, (const int[]){1}, 0);
	const double expected[] = {1000.693147, -INFINITY, INFINITY, 2.31326169};
	/* Two roundings at 1000, where an ulp is 6e-5. */
	check_elements(lse, 4, expected, 1.3e-4, __FILE__, __LINE__);
	assert_shape(tn_logsumexp(a, 1, (const int[]){0}, 1), 1, 2);
}

static void wrong_axes_are_refused(void **state)
{
	struct fixture *f = *state;
	tn_array *a = counted(f, 0, SHAPE(2, 3));
	assert_null(tn_sum(a, 1, (const int[]){2}, 0));
	assert_kept(f, TN_INVALID_ARGUMENT,
		    "axes: expected an axis of shape (2, 3), from -2 to 1, found 2");
	assert_null(tn_sum(a, 2, (const int[]){1, -1}, 0));
	assert_kept(f, TN_INVALID_ARGUMENT, "twice");
	assert_null(tn_logsumexp(tn_astype(a, TN_I32), TN_ALL_AXES, NULL, 0));
	assert_kept(f, TN_DTYPE, "i32");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)
	const struct CMUnitTest tests[] = {
		TEST(every_set_of_axes_is_reduced),
		TEST(all_axes_have_a_name),
		TEST(an_empty_list_of_axes_reduces_nothing),
		TEST(nothing_sums_to_zero_and_has_no_largest),
		TEST(integers_sum_in_i64),
		TEST(the_place_of_the_largest_is_the_first_of_equals),
		TEST(a_nan_is_the_largest_and_the_smallest),
		TEST(logsumexp_does_not_overflow),
		TEST(wrong_axes_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
