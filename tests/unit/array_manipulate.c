/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Beside recorded results (tests/parity/manipulate): views share their storage, compositions leave
 * one array, complex numbers, any strides, and bad input.  Memory runs out at every allocation.
 */
#include <tenon/manipulate.h>

#include "array_fixture.h"

#define FAILING_MALLOC 0
#include "device/chunk.h"
#include "failing_memory.h"

#define AXES(...) ((const int[]){__VA_ARGS__})
#define LENGTHS(...) ((const int64_t[]){__VA_ARGS__})

/* ---- Views -----------------------------------------------------------------------------------*/

static void numpys_views_are_views(void **state)
{
	struct fixture *f = *state;
	tn_array *a = counted(f, 0, SHAPE(3, 4)), *parts[4];
	const tn_array *views[] = {tn_diagonal(a, 1, 0, 1),
				   tn_diag(a, -1),
				   tn_flip(a, TN_ALL_AXES, NULL),
				   tn_rot90(a, 1, 0, 1),
				   tn_moveaxis(a, 1, AXES(0), AXES(1)),
				   tn_swapaxes(a, 0, 1),
				   tn_atleast_1d(a),
				   tn_atleast_3d(a),
				   tn_as_strided(a, SHAPE(2, 2), LENGTHS(1, 1))};
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		assert_non_null(views[i]);
		assert_ptr_equal(views[i]->storage, a->storage);
	}
	assert_ok(tn_unstack(a, 1, parts));
	assert_ptr_equal(parts[3]->storage, a->storage);
	assert_ok(tn_fill(parts[3], -1));
	assert_ok(tn_split(a, 1, LENGTHS(2), 0, parts));
	assert_ok(tn_fill(tn_diagonal(parts[0], 0, 0, 1), 9));
	assert_elements(a, 9, 1, 2, -1, 4, 9, 6, -1, 8, 9, 10, -1);
}

static void the_rest_are_copies(void **state)
{
	struct fixture *f = *state;
	tn_array *a = counted(f, 0, SHAPE(2, 2));
	const int64_t no_width[] = {0, 0, 0, 0}, no_shift[] = {0};
	const tn_array *copies[] = {tn_tile(a, 1, LENGTHS(1)),
				    tn_roll(a, 1, no_shift, AXES(0)),
				    tn_roll(a, 0, no_shift, AXES(0)),
				    tn_pad(a, no_width, TN_PAD_WRAP, NULL),
				    tn_delete(a, 0, NULL, 0),
				    tn_repeat(a, 1, LENGTHS(1), 0),
				    tn_tril(a, 9)};
	for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++) {
		assert_arrays_close(copies[i], a, 0);
		assert_ptr_not_equal(copies[i]->storage, a->storage);
	}
}

static void strides_stay_inside_the_storage(void **state)
{
	struct fixture *f = *state;
	tn_array *a = counted(f, 0, SHAPE(6)), *b = tn_slice(a, 0, 2, 6, 1);
	assert_elements(tn_as_strided(a, SHAPE(2, 3), LENGTHS(1, 2)), 0, 2, 4, 1, 3, 5);
	assert_elements(tn_as_strided(b, SHAPE(3), LENGTHS(-1)), 2, 1, 0);
	assert_elements(tn_as_strided(b, SHAPE(1, 2), LENGTHS(1000, 0)), 2, 2);
	assert_shape(tn_as_strided(b, SHAPE(0, 9), LENGTHS(1000, 1000)), 0, 9);
	assert_null(tn_as_strided(a, SHAPE(2, 4), LENGTHS(1, 2)));
	assert_kept(f, TN_INVALID_ARGUMENT, "(2, 4) with strides (1, 2)");
	assert_null(tn_as_strided(b, SHAPE(4), LENGTHS(-1)));
	assert_kept(f, TN_INVALID_ARGUMENT, "storage of 6 elements");
	assert_null(tn_as_strided(a, SHAPE(3), LENGTHS(INT64_MAX)));
	assert_kept(f, TN_INVALID_ARGUMENT, "leaves the storage");
	assert_null(tn_as_strided(a, SHAPE(3), NULL));
	assert_kept(f, TN_INVALID_ARGUMENT, "strides is NULL");
	tn_array *overlapping = tn_as_strided(a, SHAPE(3, 2), LENGTHS(1, 1));
	assert_status(tn_fill(overlapping, 0), TN_INVALID_ARGUMENT);
	assert_kept(f, TN_INVALID_ARGUMENT, "share memory");
}

/* ---- Dtypes ----------------------------------------------------------------------------------*/

static void like_takes_dtype_and_order(void **state)
{
	struct fixture *f = *state;
	tn_array *a = tn_transpose(counted(f, 0, SHAPE(2, 3)), NULL);
	tn_array *b = tn_full_like_number(a, tn_number_c128(1, 2), TN_C64);
	assert_int_equal(tn_array_dtype(b), TN_C64);
	assert_int_equal(tn_array_strides(b)[0], 1);
	assert_elements(tn_imag(b), 2, 2, 2, 2, 2, 2);
	assert_int_equal(tn_array_dtype(tn_ones_like(a, TN_BOOL)), TN_BOOL);
	assert_null(tn_full_like_number(a, tn_number_i64(300), TN_U8));
	assert_kept(f, TN_INVALID_ARGUMENT, "value");
	assert_null(tn_zeros_like(a, 99));
	assert_kept(f, TN_DTYPE, "found 99");
}

static void spaces_have_every_kind_of_dtype(void **state)
{
	struct fixture *f = *state;
	tn_context *context = context_of(f);
	tn_array *z = tn_linspace(context, TN_C64, 0, 3, 4, 1);
	assert_elements(tn_real(z), 0, 1, 2, 3);
	assert_elements(tn_imag(z), 0, 0, 0, 0);
	assert_elements(tn_linspace(context, TN_BOOL, 0, 2, 3, 1), 0, 1, 1);
	assert_elements(tn_geomspace(context, TN_F64, 1, -4, 3, 1), 1, NAN, -4);
}

static void complex_numbers_have_powers_and_ramps(void **state)
{
	struct fixture *f = *state;
	const double numbers[] = {1, 2, -1, 0.5};
	tn_array *z = tn_from_host(context_of(f), TN_C128, SHAPE(2), numbers);
	tn_array *v = tn_vander(z, 3, 1);
	assert_elements(tn_real(v), 1, 1, -3, 1, -1, 0.75);
	assert_elements(tn_imag(v), 0, 2, 4, 0, 0.5, -1);
	tn_array *ramp = tn_pad(z, LENGTHS(2, 1), TN_PAD_LINEAR_RAMP, (const double[]){3, 7});
	assert_elements(tn_real(ramp), 3, 2, 1, -1, 7);
	assert_elements(tn_imag(ramp), 0, 1, 2, 0.5, 0);
	tn_array *mean = tn_pad(z, LENGTHS(0, 1), TN_PAD_MEAN, NULL);
	assert_elements(tn_imag(mean), 2, 0.5, 1.25);
	assert_null(tn_pad(z, LENGTHS(0, 1), TN_PAD_MAXIMUM, NULL));
	assert_kept(f, TN_DTYPE, "c128");
}

/* ---- Bad input -------------------------------------------------------------------------------*/

static void bad_axes_are_named(void **state)
{
	struct fixture *f = *state;
	tn_array *a = counted(f, 0, SHAPE(2, 3)), *parts[3];
	const int64_t one[] = {1};
	assert_null(tn_flip(a, 1, AXES(2)));
	assert_kept(f, TN_INVALID_ARGUMENT, "axes: expected an axis of shape (2, 3), from -2 to 1");
	assert_null(tn_flip(a, 2, AXES(0, -2)));
	assert_kept(f, TN_INVALID_ARGUMENT, "found 0 twice");
	assert_null(tn_flip(a, 3, AXES(0, 1, 2)));
	assert_kept(f, TN_INVALID_ARGUMENT, "expected 0 to 2 axes, found 3");
	assert_null(tn_swapaxes(a, 0, -3));
	assert_kept(f, TN_INVALID_ARGUMENT, "axis2");
	assert_null(tn_moveaxis(a, 1, AXES(0), AXES(5)));
	assert_kept(f, TN_INVALID_ARGUMENT, "destination");
	assert_null(tn_moveaxis(a, 1, NULL, AXES(0)));
	assert_kept(f, TN_INVALID_ARGUMENT, "source");
	assert_null(tn_rot90(a, 1, 1, 1));
	assert_kept(f, TN_INVALID_ARGUMENT, "found 1 twice");
	assert_null(tn_rot90(counted(f, 0, SHAPE(3)), 1, 0, 1));
	assert_kept(f, TN_SHAPE, "two axes");
	assert_null(tn_diagonal(counted(f, 0, SHAPE(3)), 0, 0, 1));
	assert_kept(f, TN_SHAPE, "(3,)");
	assert_null(tn_roll(a, 1, one, AXES(4)));
	assert_kept(f, TN_INVALID_ARGUMENT, "found 4");
	assert_null(tn_roll(a, 2, one, NULL));
	assert_kept(f, TN_INVALID_ARGUMENT, "found 2");
	assert_null(tn_repeat(counted(f, 0, 0, NULL), 1, one, 0));
	assert_kept(f, TN_INVALID_ARGUMENT, "0-d");
	assert_status(tn_unstack(a, 3, parts), TN_INVALID_ARGUMENT);
	assert_kept(f, TN_INVALID_ARGUMENT, "found 3");
}

static void bad_lengths_are_named(void **state)
{
	struct fixture *f = *state;
	tn_context *context = context_of(f);
	tn_array *a = counted(f, 0, SHAPE(2, 3)), *grid = a, *parts[2];
	const tn_array *one[] = {a};
	assert_null(tn_eye(context, TN_F32, -1, 2, 0));
	assert_kept(f, TN_INVALID_ARGUMENT, "found -1");
	assert_null(tn_eye(context, 77, 1, 2, 0));
	assert_kept(f, TN_DTYPE, "77");
	assert_null(tn_linspace(context, TN_F32, 0, 1, -5, 1));
	assert_kept(f, TN_INVALID_ARGUMENT, "num: expected 0 or more, found -5");
	assert_null(tn_geomspace(context, TN_F32, 0, 1, 5, 1));
	assert_kept(f, TN_INVALID_ARGUMENT, "other than 0");
	assert_null(tn_indices(context, TN_I64, 16, NULL));
	assert_kept(f, TN_INVALID_ARGUMENT, "found 16");
	assert_status(tn_meshgrid(1, one, 2, &grid), TN_INVALID_ARGUMENT);
	assert_kept(f, TN_INVALID_ARGUMENT, "indexing");
	assert_null(grid);
	assert_status(tn_meshgrid(1, one, 0, NULL), TN_INVALID_ARGUMENT);
	assert_kept(f, TN_INVALID_ARGUMENT, "grids is NULL");
	assert_status(tn_meshgrid(0, one, 0, &grid), TN_INVALID_ARGUMENT);
	tn_array *wide = tn_broadcast_to(tn_slice(a, 0, 0, 1, 1), SHAPE(1000000000, 3));
	assert_status(tn_meshgrid(2, (const tn_array *[]){wide, wide}, 0, parts), TN_LIMIT);
	assert_kept(f, TN_LIMIT, "bytes");
	assert_null(parts[0]);
	assert_null(tn_diag(counted(f, 0, 0, NULL), 0));
	assert_kept(f, TN_SHAPE, "one or two axes");
	assert_null(tn_diag(counted(f, 0, SHAPE(2)), INT64_MIN));
	assert_kept(f, TN_LIMIT, "too large");
	assert_null(tn_tril(counted(f, 0, 0, NULL), 0));
	assert_kept(f, TN_SHAPE, "0-d");
	assert_null(tn_vander(a, 2, 0));
	assert_kept(f, TN_SHAPE, "(2, 3)");
	assert_null(tn_vander(counted(f, 0, SHAPE(2)), -1, 0));
	assert_kept(f, TN_INVALID_ARGUMENT, "found -1");
	assert_null(tn_tile(a, 1, LENGTHS(-1)));
	assert_kept(f, TN_INVALID_ARGUMENT, "repetitions[0]");
	assert_null(tn_tile(a, 1, LENGTHS(INT64_MAX)));
	assert_kept(f, TN_LIMIT, "times the length 3");
	assert_null(tn_repeat(a, 2, LENGTHS(1, 1), 1));
	assert_kept(f, TN_INVALID_ARGUMENT, "expected 1 or 3 repeats");
	assert_null(tn_repeat(a, 3, LENGTHS(1, -2, 1), 1));
	assert_kept(f, TN_INVALID_ARGUMENT, "repeats[1]");
}

static void bad_parts_are_named(void **state)
{
	struct fixture *f = *state;
	tn_array *a = counted(f, 0, SHAPE(2, 3)), *b = counted(f, 0, SHAPE(3, 2)), *parts[3];
	const tn_array *both[] = {a, b};
	assert_null(tn_stack(2, both, 0));
	assert_kept(f, TN_SHAPE, "arrays[1]: expected shape (2, 3), found (3, 2)");
	assert_null(tn_stack(1, both, 4));
	assert_kept(f, TN_INVALID_ARGUMENT, "expected -3 to 2");
	assert_null(tn_append(a, b, 0));
	assert_kept(f, TN_SHAPE, "expected shape (2, 3) but for axis 0, found (3, 2)");
	parts[1] = a;
	assert_status(tn_split(a, 2, NULL, 1, parts), TN_SHAPE);
	assert_null(parts[1]);
	assert_kept(f, TN_SHAPE, "2 equal parts");
	assert_status(tn_split(a, 0, NULL, 1, parts), TN_INVALID_ARGUMENT);
	assert_kept(f, TN_INVALID_ARGUMENT, "found 0");
	assert_status(tn_array_split(a, 2, NULL, 1, NULL), TN_INVALID_ARGUMENT);
	assert_kept(f, TN_INVALID_ARGUMENT, "parts is NULL");
	assert_null(tn_delete(a, 1, LENGTHS(3), 1));
	assert_kept(f, TN_INVALID_ARGUMENT, "expected -3 to 2 along axis 1, found 3");
	assert_null(tn_insert(a, 1, LENGTHS(4), a, 1));
	assert_kept(f, TN_INVALID_ARGUMENT, "expected -3 to 3 along axis 1, found 4");
	assert_null(tn_insert(a, 2, LENGTHS(0, 0), b, 1));
	assert_kept(f, TN_SHAPE, "broadcasts to (2, 2), found (3, 2)");
	assert_null(tn_pad(a, LENGTHS(0, 0, 0, -1), TN_PAD_EDGE, NULL));
	assert_kept(f, TN_INVALID_ARGUMENT, "widths[3]");
	assert_null(tn_pad(a, LENGTHS(0, 0, 0, 1), 13, NULL));
	assert_kept(f, TN_INVALID_ARGUMENT, "found 13");
	assert_null(tn_pad(a, LENGTHS(0, 0, 0, 1), TN_PAD_MEDIAN, (const double[]){0, 0, 1.5, 1}));
	assert_kept(f, TN_INVALID_ARGUMENT, "values[2]: expected a number of elements");
	assert_null(tn_pad(tn_astype(a, TN_BOOL), LENGTHS(0, 0, 0, 1), TN_PAD_REFLECT_ODD, NULL));
	assert_kept(f, TN_DTYPE, "found bool");
	assert_null(tn_trim_zeros(a, 4, TN_ALL_AXES, NULL));
	assert_kept(f, TN_INVALID_ARGUMENT, "trim: expected TN_TRIM_FRONT (1)");
	assert_null(tn_trim_zeros(a, TN_TRIM_BACK, 1, (const int[]){2}));
	assert_kept(f, TN_INVALID_ARGUMENT, "found 2");
	assert_null(tn_resize(a, 1, LENGTHS(-1)));
	assert_kept(f, TN_INVALID_ARGUMENT, "-1");
	assert_null(tn_block(0, (const int[]){1}, (const tn_array *[]){a}));
	assert_kept(f, TN_INVALID_ARGUMENT, "depth: expected 1 to 16, found 0");
	assert_null(tn_block(1, (const int[]){0}, (const tn_array *[]){a}));
	assert_kept(f, TN_INVALID_ARGUMENT, "counts[0]: expected 1 or more, found 0");
	assert_null(tn_block(1, (const int[]){2}, (const tn_array *[]){a, b}));
	assert_kept(f, TN_SHAPE, "");
	assert_null(tn_pad(a, NULL, TN_PAD_EDGE, NULL));
	assert_kept(f, TN_INVALID_ARGUMENT, "widths is NULL");
	assert_null(tn_pad(counted(f, 0, SHAPE(0)), LENGTHS(0, 1), TN_PAD_EDGE, NULL));
	assert_kept(f, TN_SHAPE, "is empty");
}

static void nothing_gives_nothing(void **state)
{
	const int64_t one[] = {1, 1};
	(void)state;
	assert_null(tn_zeros_like(NULL, 0));
	assert_null(tn_eye(NULL, TN_F32, 1, 1, 0));
	assert_null(tn_linspace(NULL, TN_F32, 0, 1, 3, 1));
	assert_null(tn_geomspace(NULL, TN_F32, 1, 2, 3, 1));
	assert_null(tn_indices(NULL, TN_I64, 0, NULL));
	assert_null(tn_diag(NULL, 0));
	assert_null(tn_triu(NULL, 0));
	assert_null(tn_stack(0, NULL, 0));
	assert_null(tn_append(NULL, NULL, 0));
	assert_null(tn_atleast_3d(NULL));
	assert_null(tn_roll(NULL, 1, one, NULL));
	assert_null(tn_pad(NULL, one, 0, NULL));
	assert_null(tn_trim_zeros(NULL, TN_TRIM_BACK, TN_ALL_AXES, NULL));
	assert_null(tn_resize(NULL, 1, one));
	assert_null(tn_block(1, NULL, NULL));
	assert_status(tn_split(NULL, 1, NULL, 0, NULL), TN_INVALID_ARGUMENT);
}

/* ---- Memory ----------------------------------------------------------------------------------*/

static int count_arrays(const struct fixture *f)
{
	int n = 0;
	for (const tn_array *a = f->context.runtime.scope->arrays; a; a = a->next)
		n++;
	return n;
}

/* Makes one array with each function; the number that there are, or 0 on failure. */
static int make_each(struct fixture *f, const tn_array *a, const tn_array *line)
{
	tn_context *context = context_of(f);
	tn_array *parts[3] = {NULL};
	const tn_array *both[] = {a, a};
	const int64_t widths[] = {1, 1, 1, 1}, two[] = {2, 1}, shifts[] = {1, 1};
	const tn_array *made[] = {
		tn_full_like(a, 2, TN_C64),
		tn_eye(context, TN_C64, 2, 3, 1),
		tn_linspace(context, TN_F32, 0, 1, 3, 1),
		tn_indices(context, TN_F32, 2, two),
		tn_diag(line, 1),
		tn_tril(a, 0),
		tn_vander(line, 3, 0),
		tn_stack(2, both, 1),
		tn_append(a, a, TN_AXIS_NONE),
		tn_tile(a, 2, LENGTHS(2, 2)),
		tn_repeat(a, 2, two, 0),
		tn_repeat(a, 1, two, TN_AXIS_NONE),
		tn_delete(a, 1, two + 1, 0),
		tn_insert(a, 1, two, a, 0),
		tn_flip(a, TN_ALL_AXES, NULL),
		tn_rot90(a, 1, 0, 1),
		tn_rot90(a, 3, 0, 1),
		tn_roll(a, 2, shifts, AXES(0, 1)),
		tn_roll(a, 1, shifts, NULL),
		tn_pad(a, widths, TN_PAD_CONSTANT, NULL),
		tn_pad(a, widths, TN_PAD_REFLECT, NULL),
		tn_pad(a, widths, TN_PAD_LINEAR_RAMP, NULL),
		tn_pad(tn_eye(context, TN_C64, 2, 2, 0), widths, TN_PAD_LINEAR_RAMP, NULL),
		tn_pad(a, widths, TN_PAD_REFLECT_ODD, NULL),
		tn_pad(a, widths, TN_PAD_MEDIAN, (const double[]){1, 2, 1, 2}),
		tn_block(2, (const int[]){2, 1}, both),
		tn_trim_zeros(a, TN_TRIM_FRONT | TN_TRIM_BACK, TN_ALL_AXES, NULL),
		tn_resize(a, 2, LENGTHS(3, 4)),
		tn_pad(tn_eye(context, TN_I32, 2, 2, 0), widths, TN_PAD_MEAN, NULL)};
	const int n = sizeof(made) / sizeof(made[0]);
	for (int i = 0; i < n; i++)
		if (!made[i])
			return 0;
	if (tn_meshgrid(2, both, 0, parts) || tn_unstack(a, 0, parts) ||
	    tn_split(a, 1, two, 1, parts))
		return 0;
	return n + 2 + 2 + 2 + 2;
}

static void a_composition_leaves_its_result_alone(void **state)
{
	struct fixture *f = *state;
	tn_array *a = counted(f, 0, SHAPE(2, 3)), *line = counted(f, 0, SHAPE(3));
	const int before = count_arrays(f);
	const int made = make_each(f, a, line);
	assert_true(made);
	assert_int_equal(count_arrays(f) - before, made);
}

static void memory_runs_out_everywhere(void **state)
{
	struct fixture *f = *state;
	tn_array *a = counted(f, 0, SHAPE(2, 3)), *line = counted(f, 0, SHAPE(3));
	int worked = 0, n = 0;
	for (; !worked && n < 10000; n++) {
		assert_ok(tn_scope_begin(context_of(f)));
		memory_fails_at(n, 1);
		worked = make_each(f, a, line);
		memory_works();
		if (!worked) {
			assert_non_null(tn_error(context_of(f)));
			assert_int_equal(tn_error(context_of(f))->status, TN_OUT_OF_MEMORY);
		}
		tn_error_clear(context_of(f));
		tn_scope_end(context_of(f), NULL);
		tn_pool_trim(f->context.runtime.device);
	}
	assert_true(worked && n > 100);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)
	const struct CMUnitTest tests[] = {
		TEST(numpys_views_are_views),
		TEST(the_rest_are_copies),
		TEST(strides_stay_inside_the_storage),
		TEST(like_takes_dtype_and_order),
		TEST(spaces_have_every_kind_of_dtype),
		TEST(complex_numbers_have_powers_and_ramps),
		TEST(bad_axes_are_named),
		TEST(bad_lengths_are_named),
		TEST(bad_parts_are_named),
		TEST(nothing_gives_nothing),
		TEST(a_composition_leaves_its_result_alone),
		TEST(memory_runs_out_everywhere),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
