/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * tn_asarray on every backend: no copy where none is needed, and copies across devices that
 * convert.
 */
#include "nn_backends.h"

static const char *const backends[] = {"reference", "cpu", "mock"};
#define N_OF(list) (sizeof(list) / sizeof((list)[0]))

static void check_f64(const tn_array *a, size_t n, const double *expected)
{
	double found[32];
	assert_non_null(a);
	tn_array *wide = tn_astype(a, TN_F64);
	assert_ok(tn_to_host(wide, found, n * sizeof(*found)));
	for (size_t i = 0; i < n; i++)
		assert_true(found[i] == expected[i]);
	tn_array_destroy(wide);
}

#define assert_f64(a, ...)                                                                         \
	check_f64((a), sizeof((double[]){__VA_ARGS__}) / sizeof(double),                           \
		  (const double[]){__VA_ARGS__})

/* The device beside the current one: the built-in, unless that is current. */
static tn_device *other_device(tn_context *context)
{
	tn_device *last = tn_context_device(context, tn_context_device_count(context) - 1);
	return last == tn_device_current(context) ? tn_context_device(context, 0) : last;
}

static void nothing_is_copied_that_is_as_wanted(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_OF(backends); i++) {
		tn_context *context = open_backend(backends[i]);
		tn_array *x = tn_arange(context, TN_F32, 0, 6, 1);
		tn_array *same = tn_asarray(x, NULL);
		assert_ptr_equal(same, x);
		struct tn_asarray_options asarray = tn_asarray_defaults();
		asarray.dtype = TN_F32;
		asarray.copy = TN_COPY_NEVER;
		asarray.device = tn_device_current(context);
		asarray.is_compact = 1;
		assert_ptr_equal(tn_asarray(x, &asarray), x);
		tn_array *grid = tn_reshape(x, 2, (int64_t[]){2, 3});
		tn_array *turned = tn_transpose(grid, NULL);
		asarray = tn_asarray_defaults();
		asarray.copy = TN_COPY_NEVER;
		assert_ptr_equal(tn_asarray(turned, &asarray), turned);
		asarray.is_compact = 1;
		assert_null(tn_asarray(turned, &asarray));
		assert_kept(context, TN_UNSUPPORTED, "with gaps");
		asarray = tn_asarray_defaults();
		asarray.copy = TN_COPY_NEVER;
		asarray.dtype = TN_I32;
		assert_null(tn_asarray(x, &asarray));
		assert_kept(context, TN_UNSUPPORTED, "copy: the array is f32 on ");
		asarray = tn_asarray_defaults();
		asarray.copy = TN_COPY_ALWAYS;
		tn_array *copy = tn_asarray(x, &asarray);
		assert_true(copy != x);
		assert_ok(tn_fill(copy, 1));
		assert_f64(x, 0, 1, 2, 3, 4, 5);
		asarray = tn_asarray_defaults();
		asarray.is_compact = 1;
		assert_f64(tn_asarray(turned, &asarray), 0, 3, 1, 4, 2, 5);
		asarray = tn_asarray_defaults();
		asarray.dtype = TN_I8;
		assert_f64(tn_asarray(x, &asarray), 0, 1, 2, 3, 4, 5);
		tn_context_close(context);
	}
}

static void arrays_are_brought_to_other_devices(void **state)
{
	(void)state;
	for (size_t i = 1; i < N_OF(backends); i++) {
		tn_context *context = open_backend(backends[i]);
		tn_device *other = other_device(context);
		tn_array *x = tn_arange(context, TN_F64, 0, 4, 1);
		struct tn_asarray_options asarray = tn_asarray_defaults();
		asarray.device = other;
		asarray.copy = TN_COPY_NEVER;
		assert_null(tn_asarray(x, &asarray));
		assert_kept(context, TN_UNSUPPORTED, tn_device_name(other));
		asarray = tn_asarray_defaults();
		asarray.device = other;
		asarray.dtype = TN_F32;
		tn_array *y = tn_asarray(x, &asarray);
		assert_ptr_equal(tn_array_device(y), other);
		assert_int_equal(tn_array_dtype(y), TN_F32);
		assert_f64(y, 0, 1, 2, 3);
		asarray.device = tn_device_current(context);
		asarray.dtype = TN_C128;
		tn_array *z = tn_asarray(y, &asarray);
		assert_int_equal(tn_array_dtype(z), TN_C128);
		assert_f64(tn_real(z), 0, 1, 2, 3);
		tn_context_close(context);
	}
}

static void derivatives_flow_through(void **state)
{
	(void)state;
	tn_context *context = open_backend("reference");
	tn_tape *tape = tn_tape_begin(context);
	tn_array *x = tn_ones(context, TN_F32, 1, (int64_t[]){3});
	assert_ok(tn_tape_watch(tape, x));
	struct tn_asarray_options asarray = tn_asarray_defaults();
	asarray.dtype = TN_F64;
	tn_array *y = tn_sum(tn_square(tn_asarray(x, &asarray)), TN_ALL_AXES, NULL, 0);
	assert_ok(tn_tape_backward(tape, y, NULL));
	assert_f64(tn_tape_gradient(tape, x), 2, 2, 2);
	tn_tape_end(tape);
	tn_context_close(context);
}

static void count_up(void *user)
{
	++*(int *)user;
}

static void host_data_is_wrapped_where_it_can_be(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_OF(backends); i++) {
		static float numbers[6];
		static int released;
		tn_context *context = open_backend(backends[i]);
		int is_far = !strcmp(backends[i], "mock");
		const struct tn_wrap_options memory = {.struct_size = sizeof(memory),
						       .dtype = TN_F32,
						       .rank = 1,
						       .shape = (const int64_t[]){3},
						       .strides = (const int64_t[]){2},
						       .data = numbers,
						       .size_bytes = sizeof(numbers),
						       .release = count_up,
						       .user = &released};
		for (int j = 0; j < 6; j++)
			numbers[j] = (float)j;
		released = 0;
		tn_array *x = tn_asarray_host(context, &memory, NULL);
		assert_int_equal(released, is_far);
		numbers[2] = 9;
		assert_f64(x, 0, is_far ? 2 : 9, 4);
		tn_array_destroy(x);
		assert_int_equal(released, 1);
		/* Converted, packed or asked for: a copy, after which the memory is returned. */
		struct tn_asarray_options asarray = tn_asarray_defaults();
		asarray.dtype = TN_F64;
		assert_f64(tn_asarray_host(context, &memory, &asarray), 0, 9, 4);
		asarray = tn_asarray_defaults();
		asarray.is_compact = 1;
		assert_f64(tn_asarray_host(context, &memory, &asarray), 0, 9, 4);
		asarray = tn_asarray_defaults();
		asarray.copy = TN_COPY_ALWAYS;
		assert_f64(tn_asarray_host(context, &memory, &asarray), 0, 9, 4);
		assert_int_equal(released, 4);
		asarray.copy = TN_COPY_NEVER;
		asarray.dtype = TN_I32;
		assert_null(tn_asarray_host(context, &memory, &asarray));
		assert_kept(context, TN_UNSUPPORTED, "cannot use f32 in this memory as i32");
		struct tn_wrap_options bad = memory;
		bad.size_bytes = 8;
		assert_null(tn_asarray_host(context, &bad, NULL));
		assert_kept(context, TN_INVALID_ARGUMENT, "8 bytes hold 2 elements of f32");
		assert_int_equal(released, 4);
		tn_context_close(context);
	}
}

static void what_does_not_fit_is_refused(void **state)
{
	(void)state;
	tn_context *context = open_backend("reference"), *second = open_backend("reference");
	tn_array *x = tn_ones(context, TN_F32, 0, NULL);
	struct tn_asarray_options asarray = tn_asarray_defaults();
	asarray.device = tn_device_current(second);
	assert_null(tn_asarray(x, &asarray));
	assert_kept(context, TN_DEVICE, "reference:0 belongs to another context");
	asarray = tn_asarray_defaults();
	asarray.dtype = 99;
	assert_null(tn_asarray(x, &asarray));
	assert_kept(context, TN_DTYPE, "dtype: expected an element type, or 0");
	asarray = tn_asarray_defaults();
	asarray.copy = 3;
	assert_null(tn_asarray(x, &asarray));
	assert_kept(context, TN_INVALID_ARGUMENT, "copy: expected TN_COPY_IF_NEEDED (0)");
	assert_null(tn_asarray(NULL, NULL));
	tn_context_close(second);
	tn_context_close(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_copied_that_is_as_wanted),
		cmocka_unit_test(arrays_are_brought_to_other_devices),
		cmocka_unit_test(derivatives_flow_through),
		cmocka_unit_test(host_data_is_wrapped_where_it_can_be),
		cmocka_unit_test(what_does_not_fit_is_refused),
	};
	keep_plugin_path();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
