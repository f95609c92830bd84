/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Matrix products: NumPy's shapes, operands of any strides, and a product written into an array.
 */
#include "array_fixture.h"

/* sum_k a[..., i, k] b[..., k, j] by maps and a sum: (..., m, k, 1) times (..., 1, k, n). */
static tn_array *by_definition(const tn_array *a, const tn_array *b)
{
	int axis = -2;
	return tn_sum(tn_multiply(tn_expand_dims(a, -1), tn_expand_dims(b, -3)), 1, &axis, 0);
}

static void products_have_numpys_shapes(void **state)
{
	struct fixture *f = *state;
	tn_array *v = counted(f, 1, SHAPE(3)), *m = counted(f, 0, SHAPE(3, 2));
	assert_elements(tn_matmul(v, m), 16, 22);
	assert_int_equal(tn_array_rank(tn_matmul(v, v)), 0);
	assert_elements(tn_matmul(v, v), 14);
	assert_elements(tn_matmul(tn_transpose(m, NULL), v), 16, 22);
	assert_shape(tn_matmul(counted(f, 0, SHAPE(5, 1, 2, 3)), counted(f, 0, SHAPE(4, 3, 2))), 5,
		     4, 2, 2);
	assert_shape(tn_matmul(v, counted(f, 0, SHAPE(4, 3, 2))), 4, 2);
	assert_shape(tn_matmul(counted(f, 0, SHAPE(4, 2, 3)), v), 4, 2);
}

static void operands_of_any_strides_give_the_same(void **state)
{
	struct fixture *f = *state;
	tn_array *wide = noise(f, 1, SHAPE(2, 8, 10));
	const tn_array *lefts[] = {
		noise(f, 2, SHAPE(2, 3, 4)),
		tn_transpose(noise(f, 3, SHAPE(2, 4, 3)), (const int[]){0, 2, 1}),
		tn_transpose(noise(f, 4, SHAPE(4, 3, 2)), NULL),
		tn_slice(tn_slice(wide, 1, 0, 3, 1), 2, 0, 8, 2),
		tn_slice(tn_slice(wide, 1, 7, 1, -2), 2, 3, 7, 1),
		tn_broadcast_to(noise(f, 5, SHAPE(4)), SHAPE(2, 3, 4)),
		tn_broadcast_to(noise(f, 5, SHAPE(3, 1)), SHAPE(2, 3, 4)),
		tn_broadcast_to(noise(f, 6, SHAPE(3, 4)), SHAPE(2, 3, 4)),
		tn_slice(wide, 1, 0, 3, 1),
	};
	const tn_array *rights[] = {noise(f, 7, SHAPE(4, 5)), noise(f, 8, SHAPE(2, 4, 5)),
				    tn_transpose(noise(f, 9, SHAPE(5, 4)), NULL),
				    noise(f, 10, SHAPE(4, 1))};
	for (size_t i = 0; i < 9; i++) {
		for (size_t j = 0; j < 4; j++) {
			const tn_array *left = tn_slice(lefts[i], 2, 0, 4, 1);
			/* 4 terms below 1, each rounded twice. */
			assert_arrays_close(tn_matmul(left, rights[j]),
					    by_definition(left, rights[j]), 4 * 2 * 6e-8);
		}
	}
}

static void more_batch_axes_than_a_backend_takes_are_no_matter(void **state)
{
	struct fixture *f = *state;
	/* Transposed so that no two batch axes merge. */
	tn_array *a = tn_transpose(noise(f, 1, SHAPE(2, 2, 2, 2, 2, 2, 3)),
				   (const int[]){4, 3, 2, 1, 0, 5, 6});
	tn_array *b = noise(f, 2, SHAPE(2, 2, 2, 2, 2, 3, 2));
	assert_arrays_close(tn_matmul(a, b), by_definition(a, b), 3 * 2 * 6e-8);
}

static void a_product_is_added_to_what_is_there(void **state)
{
	struct fixture *f = *state;
	tn_array *a = counted(f, 0, SHAPE(3, 2)), *b = counted(f, 0, SHAPE(3, 2));
	tn_array *c = tn_ones(context_of(f), TN_F32, SHAPE(2, 2));
	assert_ok(tn_matmul_into(c, a, 1, b, 0, 2, 10));
	assert_elements(c, 50, 62, 62, 80);
	assert_ok(tn_matmul_into(c, a, 0, b, 1, 1, 0) == TN_SHAPE ? TN_OK : TN_INTERNAL);
	assert_kept(f, TN_SHAPE, "^T");
	/* beta 0 does not read C. */
	assert_ok(tn_fill(c, NAN));
	assert_ok(tn_matmul_into(c, a, 1, b, 0, 1, 0));
	assert_elements(c, 20, 26, 26, 35);
	/* Into a view without a unit stride, over one of the operands. */
	tn_array *whole = counted(f, 0, SHAPE(2, 4));
	tn_array *part = tn_slice(whole, 1, 0, 4, 2);
	assert_ok(tn_matmul_into(part, part, 0, part, 0, 1, 1));
	assert_elements(whole, 8, 1, 14, 3, 28, 5, 50, 7);
}

static void a_sum_over_nothing_is_zero(void **state)
{
	struct fixture *f = *state;
	tn_array *a = counted(f, 0, SHAPE(2, 0)), *b = counted(f, 0, SHAPE(0, 2));
	assert_elements(tn_matmul(a, b), 0, 0, 0, 0);
	tn_array *c = counted(f, 1, SHAPE(2, 2));
	assert_ok(tn_matmul_into(c, a, 0, b, 0, 1, 3));
	assert_elements(c, 3, 6, 9, 12);
	assert_shape(tn_matmul(b, a), 0, 0);
}

static void what_has_no_product_is_refused(void **state)
{
	struct fixture *f = *state;
	assert_null(tn_matmul(counted(f, 0, SHAPE(2, 3)), counted(f, 0, SHAPE(2, 3))));
	assert_kept(f, TN_SHAPE, "(2, 3) and (2, 3)");
	assert_null(tn_matmul(tn_scalar_f32(context_of(f), 1), counted(f, 0, SHAPE(1, 1))));
	assert_kept(f, TN_SHAPE, "single element");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)
	const struct CMUnitTest tests[] = {
		TEST(products_have_numpys_shapes),
		TEST(operands_of_any_strides_give_the_same),
		TEST(more_batch_axes_than_a_backend_takes_are_no_matter),
		TEST(a_product_is_added_to_what_is_there),
		TEST(a_sum_over_nothing_is_zero),
		TEST(what_has_no_product_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
