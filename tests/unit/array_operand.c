/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The operands that a backend gets: axes of length 1 dropped, adjacent ones merged, and axes
 * unchanged if a program reads their index.
 */
#include "array_fixture.h"

/* The operands of the last call to the backend. */
static struct tn_operand seen_output, seen_input;
static uint32_t seen_reduced;

static tn_status see_map(void *device, const struct tn_map_args *args)
{
	(void)device;
	seen_output = args->outputs[0];
	seen_input = args->inputs[0];
	return TN_OK;
}

static tn_status see_reduce(void *device, const struct tn_reduce_args *args)
{
	(void)device;
	seen_output = args->outputs[0];
	seen_input = args->inputs[0];
	seen_reduced = args->n_reduced;
	return TN_OK;
}

static struct fixture *with_spy(void **state)
{
	struct fixture *f = *state;
	f->context.runtime.device = add_device(f, "spy", ALL_SLOTS, 0);
	f->backends[1].compute.map = see_map;
	f->backends[1].compute.reduce = see_reduce;
	return f;
}

static void check_operand(const struct tn_operand *operand, int rank, const int64_t *shape,
			  const int64_t *strides)
{
	assert_int_equal(operand->rank, rank);
	for (int i = 0; i < rank; i++) {
		assert_int_equal(operand->shape[i], shape[i]);
		assert_int_equal(operand->strides[i], strides[i]);
	}
}

#define STRIDES(...) ((const int64_t[]){__VA_ARGS__})

static void compact_arrays_are_one_axis(void **state)
{
	struct fixture *f = with_spy(state);
	tn_array *a = counted(f, 0, SHAPE(2, 3, 4));
	tn_add(a, a);
	check_operand(&seen_input, SHAPE(24), STRIDES(1));
	tn_add(a, tn_reshape(a, SHAPE(1, 2, 3, 4)));
	check_operand(&seen_output, SHAPE(24), STRIDES(1));
	tn_add(tn_scalar_f32(context_of(f), 1), tn_scalar_f32(context_of(f), 1));
	assert_int_equal(seen_output.rank, 0);
}

static void axes_merge_where_all_operands_allow_it(void **state)
{
	struct fixture *f = with_spy(state);
	tn_array *a = counted(f, 0, SHAPE(2, 3, 4, 5)), *row = counted(f, 0, SHAPE(4, 5));
	a = tn_slice(a, 1, 1, 3, 1);
	tn_add(a, a);
	check_operand(&seen_input, SHAPE(2, 40), STRIDES(60, 1));
	check_operand(&seen_output, SHAPE(2, 40), STRIDES(40, 1));
	tn_add(row, a);
	check_operand(&seen_input, SHAPE(2, 2, 20), STRIDES(0, 0, 1));
}

static void axes_are_put_in_the_order_of_memory(void **state)
{
	struct fixture *f = with_spy(state);
	tn_array *a = counted(f, 0, SHAPE(3, 4));
	assert_ok(tn_fill(tn_empty(context_of(f), TN_F32, SHAPE(1)), 0));
	assert_ok(tn_add_into(tn_transpose(a, NULL), tn_transpose(a, NULL), tn_transpose(a, NULL)));
	check_operand(&seen_output, SHAPE(12), STRIDES(1));
}

static void a_program_that_asks_for_an_axis_gets_the_axes_as_they_are(void **state)
{
	struct fixture *f = with_spy(state);
	const tn_array *a = counted(f, 0, SHAPE(2, 1, 3));
	const tn_array *turned = tn_transpose(counted(f, 0, SHAPE(3, 2)), NULL);
	tn_map("z = x + index(0)", 1, (const char *[]){"x"}, &a, 0, NULL, NULL);
	check_operand(&seen_input, SHAPE(2, 1, 3), STRIDES(3, 3, 1));
	tn_map("z = x + element()", 1, (const char *[]){"x"}, &a, 0, NULL, NULL);
	check_operand(&seen_input, SHAPE(6), STRIDES(1));
	/* Element numbers are row-major: axes must not be reordered. */
	tn_map("z = x + element()", 1, (const char *[]){"x"}, &turned, 0, NULL, NULL);
	check_operand(&seen_input, SHAPE(2, 3), STRIDES(1, 2));
}

static void reduced_axes_come_last_and_merge(void **state)
{
	struct fixture *f = with_spy(state);
	tn_array *a = counted(f, 0, SHAPE(2, 3, 1, 4, 5));
	tn_sum(a, 2, (const int[]){3, 4}, 0);
	check_operand(&seen_input, SHAPE(6, 20), STRIDES(20, 1));
	check_operand(&seen_output, SHAPE(6), STRIDES(1));
	assert_int_equal(seen_reduced, 1);
	tn_sum(a, 2, (const int[]){0, 3}, 1);
	check_operand(&seen_input, SHAPE(3, 5, 2, 4), STRIDES(20, 1, 60, 5));
	check_operand(&seen_output, SHAPE(3, 5), STRIDES(5, 1));
	assert_int_equal(seen_reduced, 2);
	/* An axis of one element is still a reduction. */
	tn_sum(a, 1, (const int[]){2}, 0);
	assert_int_equal(seen_reduced, 1);
	assert_int_equal(seen_input.shape[seen_input.rank - 1], 1);
	tn_sum(a, TN_ALL_AXES, NULL, 0);
	check_operand(&seen_input, SHAPE(120), STRIDES(1));
	assert_int_equal(seen_output.rank, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)
	const struct CMUnitTest tests[] = {
		TEST(compact_arrays_are_one_axis),
		TEST(axes_merge_where_all_operands_allow_it),
		TEST(axes_are_put_in_the_order_of_memory),
		TEST(a_program_that_asks_for_an_axis_gets_the_axes_as_they_are),
		TEST(reduced_axes_come_last_and_merge),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
