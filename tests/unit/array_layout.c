/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The layout of results in memory: the rules of ops/layout.h; no layout changes a value or what the
 * host reads.
 */
#include "array_fixture.h"
#include "layers/conv2d.h"
#include "layers/norm.h"
#include "layers/pool2d.h"
#include "layers/softmax.h"
#include "layers/window.h"
#include "ops/layout.h"

/* Images with the elements 0, 1, ... in logical order and their channels last in memory. */
static tn_array *images_last(struct fixture *f, int rank, const int64_t *shape)
{
	tn_array *a = tn_channels_last(counted(f, 0, rank, shape));
	assert_non_null(a);
	return a;
}

static void check_strides(const tn_array *a, int rank, const int64_t *strides, const char *file,
			  int line)
{
	assert_non_null(a);
	check_shape(a, a->rank, a->shape, file, line);
	if (tn_shape_equal(a->rank, a->strides, rank, strides))
		return;
	print_error("expected strides %s, found %s\n",
		    tn_shape_print(rank, strides, (char[TN_SHAPE_TEXT]){0}),
		    tn_shape_print(a->rank, a->strides, (char[TN_SHAPE_TEXT]){0}));
	_fail(file, line);
}

#define assert_strides(array, ...) check_strides((array), SHAPE(__VA_ARGS__), __FILE__, __LINE__)

/* A second, current device with all of the reference's slots, which prefers channels last. */
static struct tn_device *open_last(struct fixture *f)
{
	struct tn_device *device = add_device(f, "last", ALL_SLOTS, 0);
	device->description.preferred_layout = TN_LAYOUT_NHWC;
	f->context.runtime.device = device;
	return device;
}

static void elements_keep_the_order_that_inputs_share(void **state)
{
	struct fixture *f = *state;
	tn_array *last = images_last(f, SHAPE(2, 3, 4, 5)),
		 *rows = counted(f, 0, SHAPE(2, 3, 4, 5));
	tn_array *scale = counted(f, 1, SHAPE(3, 1, 1));
	assert_strides(last, 60, 1, 15, 3);
	assert_strides(tn_relu(last), 60, 1, 15, 3);
	assert_strides(tn_add(last, last), 60, 1, 15, 3);
	assert_strides(tn_multiply(scale, last), 60, 1, 15, 3);
	assert_strides(tn_where(tn_less(last, last), last, scale), 60, 1, 15, 3);
	assert_strides(tn_astype(last, TN_F64), 60, 1, 15, 3);
	assert_strides(tn_concatenate(2, (const tn_array *[]){last, last}, 1), 120, 1, 30, 6);
	/* Half of the channels: not dense, but still in that order. */
	assert_strides(tn_negative(tn_slice(images_last(f, SHAPE(2, 4, 4, 5)), 1, 0, 2, 1)), 40, 1,
		       10, 2);
	assert_strides(tn_negative(tn_transpose(counted(f, 0, SHAPE(3, 4)), NULL)), 1, 4);
	/* They share no memory order. */
	assert_strides(tn_add(last, rows), 60, 20, 5, 1);
	assert_strides(tn_add(rows, last), 60, 20, 5, 1);
	/* Broadcast only, and reduced. */
	assert_strides(tn_add(counted(f, 0, SHAPE(1, 3, 4, 1)), counted(f, 0, SHAPE(2, 1, 1, 5))),
		       60, 20, 5, 1);
	assert_strides(tn_sum(last, 1, (const int[]){0}, 0), 20, 5, 1);
	assert_strides(tn_copy(last), 60, 20, 5, 1);
	assert_arrays_close(tn_add(last, rows), tn_affine(rows, 2, 0), 0);
	assert_arrays_close(tn_multiply(scale, last), tn_multiply(scale, rows), 0);
}

/* An operand of map is merged into one axis, whatever the order. */
static uint32_t rank_of_map;

static tn_status watching_map(void *device, const struct tn_map_args *args)
{
	rank_of_map = args->outputs[0].rank;
	const struct tn_compute_table *table = tn_reference_backend.query(NULL, TN_TABLE_COMPUTE);
	return table->map(device, args);
}

static void permuted_arrays_are_walked_as_one_axis(void **state)
{
	struct fixture *f = *state;
	struct tn_device *device = open_last(f);
	tn_array *last = images_last(f, SHAPE(2, 3, 4, 5)), *sum;
	f->backends[f->n_backends - 1].compute.map = watching_map;
	assert_ptr_equal(tn_array_home(last), device);
	sum = tn_add(last, last);
	assert_int_equal(rank_of_map, 1);
	assert_ok(tn_add_into(sum, sum, last));
	assert_int_equal(rank_of_map, 1);
	assert_arrays_close(sum, tn_affine(counted(f, 0, SHAPE(2, 3, 4, 5)), 3, 0), 0);
	/* The number of an element is that of its logical position. */
	tn_array *numbers = tn_map("z = x * 0 + f32(element())", 1, (const char *[]){"x"},
				   (const tn_array *[]){last}, 0, NULL, NULL);
	assert_strides(numbers, 60, 1, 15, 3);
	assert_arrays_close(numbers, last, 0);
}

static void the_host_sees_logical_order(void **state)
{
	struct fixture *f = *state;
	tn_array *last = images_last(f, SHAPE(1, 2, 2, 2));
	float data[8] = {7, 6, 5, 4, 3, 2, 1, 0}, found[8];
	assert_strides(last, 8, 1, 4, 2);
	assert_elements(last, 0, 1, 2, 3, 4, 5, 6, 7);
	assert_ok(tn_assign_host(last, data, sizeof(data)));
	assert_ok(tn_to_host(last, found, sizeof(found)));
	assert_memory_equal(found, data, sizeof(data));
	/* A copy to another device keeps the layout. */
	tn_array *there = tn_to(last, open_last(f));
	assert_strides(there, 8, 1, 4, 2);
	assert_elements(there, 7, 6, 5, 4, 3, 2, 1, 0);
}

static void reshape_copies_only_where_it_must(void **state)
{
	struct fixture *f = *state;
	tn_array *last = images_last(f, SHAPE(2, 3, 4, 5));
	tn_array *pixels = tn_reshape(tn_transpose(last, (const int[]){0, 2, 3, 1}), SHAPE(-1, 3));
	assert_ptr_equal(pixels->storage, last->storage);
	assert_strides(pixels, 3, 1);
	assert_ptr_equal(tn_reshape(last, SHAPE(2, 3, 20))->storage, last->storage);
	tn_array *flat = tn_reshape(last, SHAPE(2, 60));
	assert_ptr_not_equal(flat->storage, last->storage);
	assert_arrays_close(flat, counted(f, 0, SHAPE(2, 60)), 0);
}

static void layouts_are_had_on_request(void **state)
{
	struct fixture *f = *state;
	tn_array *rows = counted(f, 0, SHAPE(2, 3, 4, 5)), *last = tn_channels_last(rows);
	assert_strides(last, 60, 1, 15, 3);
	assert_ptr_equal(tn_channels_last(last), last);
	assert_ptr_equal(tn_contiguous(rows), rows);
	assert_strides(tn_contiguous(last), 60, 20, 5, 1);
	assert_arrays_close(tn_contiguous(last), rows, 0);
	/* A single channel has both layouts. */
	tn_array *grey = counted(f, 0, SHAPE(2, 1, 4, 5));
	assert_ptr_equal(tn_channels_last(grey), grey);
	assert_null(tn_channels_last(counted(f, 0, SHAPE(3, 4))));
	assert_kept(f, TN_SHAPE, "(3, 4)");
}

static const struct tn_window three = {.padding = {1, 1, 1, 1}};

static void convolutions_take_the_layout_of_the_device(void **state)
{
	struct fixture *f = *state;
	const int64_t shape[] = {2, 3, 4, 5};
	for (int prefers = 0; prefers < 2; prefers++) {
		if (prefers)
			open_last(f);
		for (int is_last = 0; is_last < 2; is_last++) {
			tn_array *x = is_last ? images_last(f, 4, shape) : counted(f, 0, 4, shape);
			tn_array *w = noise(f, 1, SHAPE(6, 3, 3, 3));
			tn_array *y = tn_conv2d_forward(x, w, NULL, &three);
			tn_array *dx = tn_conv2d_input_gradient(y, w, shape, &three);
			if (prefers) {
				assert_strides(y, 120, 1, 30, 6);
				assert_strides(dx, 60, 1, 15, 3);
			} else {
				assert_strides(y, 120, 20, 5, 1);
				assert_strides(dx, 60, 20, 5, 1);
			}
		}
	}
}

static void pools_and_norms_keep_the_layout_of_their_input(void **state)
{
	struct fixture *f = *state;
	const struct tn_window max = {.kind = TN_POOL_MAX, .kernel = {2, 2}};
	const struct tn_window average = {.kind = TN_POOL_AVERAGE, .kernel = {4, 4}};
	const int64_t shape[] = {2, 3, 4, 4};
	tn_array *last = images_last(f, 4, shape), *rows = counted(f, 0, 4, shape);
	tn_array *index = NULL, *mean = NULL, *rstd = NULL;
	tn_array *y = tn_pool2d_forward(last, &max, &index);
	assert_strides(y, 12, 1, 6, 3);
	assert_strides(index, 12, 1, 6, 3);
	assert_arrays_close(y, tn_pool2d_forward(rows, &max, NULL), 0);
	/* The gradient has the layout of the index, also if dy was reshaped. */
	tn_array *dx = tn_pool2d_backward(tn_contiguous(y), index, shape, &max);
	assert_strides(dx, 48, 1, 12, 3);
	assert_strides(tn_pool2d_forward(rows, &max, NULL), 12, 4, 2, 1);
	tn_array *n = tn_norm_forward(0, last, NULL, NULL, 1e-5, 0, &mean, &rstd);
	assert_strides(n, 48, 1, 12, 3);
	assert_strides(tn_norm_backward(0, rows, last, NULL, mean, rstd, 0, NULL, NULL, 0), 48, 1,
		       12, 3);
	assert_strides(tn_softmax_forward(last, 1, 0), 48, 1, 12, 3);
	/* A global average loses the layout: the device's preference is used. */
	y = tn_pool2d_forward(last, &average, NULL);
	assert_strides(tn_pool2d_backward(y, NULL, shape, &average), 48, 16, 4, 1);
	open_last(f);
	y = tn_pool2d_forward(images_last(f, 4, shape), &average, NULL);
	assert_strides(tn_pool2d_backward(y, NULL, shape, &average), 48, 1, 12, 3);
}

/* Values of the whole chain are the same on a device of either preference, composed or not. */
static tn_array *chain(struct fixture *f, struct tn_device *device)
{
	const struct tn_window max = {.kind = TN_POOL_MAX, .kernel = {2, 2}};
	const struct tn_window one = {0}, split = {.groups = 2};
	tn_array *mean = NULL, *rstd = NULL, *y, *dy, *d1, *d2;
	f->context.runtime.device = device;
	tn_array *w1 = noise(f, 1, SHAPE(4, 3, 3, 3)), *w2 = noise(f, 2, SHAPE(6, 4, 1, 1));
	tn_array *w3 = noise(f, 4, SHAPE(4, 3, 1, 1)), *x = noise(f, 3, SHAPE(2, 3, 6, 8));
	tn_array *h1 = tn_conv2d_forward(x, w1, NULL, &three);
	tn_array *h2 = tn_norm_forward(0, h1, NULL, NULL, 1e-5, 0, &mean, &rstd);
	tn_array *h3 = tn_pool2d_forward(tn_relu(h2), &max, NULL);
	tn_array *h4 = tn_conv2d_forward(h3, w2, NULL, &one);
	y = tn_conv2d_forward(h4, w3, NULL, &split);
	dy = tn_reshape(tn_reshape(y, SHAPE(2, -1)), 4, y->shape);
	d1 = tn_conv2d_input_gradient(dy, w3, h4->shape, &split);
	d2 = tn_conv2d_input_gradient(d1, w2, h3->shape, &one);
	assert_null(tn_error(context_of(f)));
	return tn_concatenate(
		2, (const tn_array *[]){tn_reshape(y, SHAPE(-1)), tn_reshape(d2, SHAPE(-1))}, 0);
}

static void values_do_not_depend_on_the_layout(void **state)
{
	struct fixture *f = *state;
	tn_array *expected = chain(f, f->context.runtime.reference);
	for (int composed = 0; composed < 2; composed++) {
		struct tn_device *device =
			add_device(f, "last", composed ? MANDATORY : ALL_SLOTS, 0);
		device->description.preferred_layout = TN_LAYOUT_NHWC;
		/* Sums of up to 27 products below 1 and a norm, three layers deep. */
		assert_arrays_close(tn_to(chain(f, device), f->context.runtime.reference), expected,
				    1e-4);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(elements_keep_the_order_that_inputs_share,
						open_fixture, close_fixture),
		cmocka_unit_test_setup_teardown(permuted_arrays_are_walked_as_one_axis,
						open_fixture, close_fixture),
		cmocka_unit_test_setup_teardown(the_host_sees_logical_order, open_fixture,
						close_fixture),
		cmocka_unit_test_setup_teardown(reshape_copies_only_where_it_must, open_fixture,
						close_fixture),
		cmocka_unit_test_setup_teardown(layouts_are_had_on_request, open_fixture,
						close_fixture),
		cmocka_unit_test_setup_teardown(convolutions_take_the_layout_of_the_device,
						open_fixture, close_fixture),
		cmocka_unit_test_setup_teardown(pools_and_norms_keep_the_layout_of_their_input,
						open_fixture, close_fixture),
		cmocka_unit_test_setup_teardown(values_do_not_depend_on_the_layout, open_fixture,
						close_fixture),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
