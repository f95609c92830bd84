/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * reduce and matmul on the reference backend, by hand-computed values.
 */
#include "reference_fixture.h"

static const struct tn_instruction load_f32[] = {{TN_OP_INPUT, TN_F32, 0, 0, 0, 0}};
static const struct tn_instruction load_i32[] = {{TN_OP_INPUT, TN_I32, 0, 0, 0, 0}};
static const uint16_t once[] = {0}, twice[] = {0, 0}, four_times[] = {0, 0, 0, 0};

static void sums_rows_and_counts_them_in_an_epilogue(void **state)
{
	static const struct tn_program prologue = PROGRAM(1, load_f32, once);
	/* out = acc * scale */
	static const struct tn_instruction scale[] = {
		{TN_OP_INPUT, TN_F32, 0, 0, 0, 0},
		{TN_OP_INPUT, TN_F32, 1, 0, 0, 0},
		{TN_OP_MUL, TN_F32, 0, 1, 0, 0},
	};
	static const uint16_t last[] = {2};
	static const struct tn_program epilogue = PROGRAM(2, scale, last);
	struct fixture *f = *state;
	const float x[6] = {1, 2, 3, 4, 5, 6}, factor[2] = {10, 100};
	float y[2];
	struct tn_operand in = operand(TN_F32, x, SHAPE(2, 3));
	struct tn_operand by = operand(TN_F32, factor, SHAPE(2));
	struct tn_operand out = operand(TN_F32, y, SHAPE(2));
	struct tn_reduce_args args = {.call = CALL(struct tn_reduce_args, f),
				      .prologue = &prologue,
				      .epilogue = &epilogue,
				      .inputs = &in,
				      .epilogue_inputs = &by,
				      .outputs = &out,
				      .n_reduced = 1,
				      .n_values = 1,
				      .combiners = {TN_REDUCE_SUM}};
	assert_ok(f->compute->reduce(f->device, &args));
	assert_true(y[0] == 60 && y[1] == 1500);
}

static void finds_the_first_nan_and_the_first_of_equals(void **state)
{
	static const struct tn_program prologue = PROGRAM(1, load_f32, four_times);
	struct fixture *f = *state;
	const float x[12] = {1, 5, 5, -2, NAN, 7, NAN, 0, 3, 3, 3, 3};
	float largest[3], smallest[3];
	int64_t first_largest[3];
	int32_t first_smallest[3];
	struct tn_operand in = operand(TN_F32, x, SHAPE(3, 2, 2));
	struct tn_operand out[4] = {operand(TN_F32, largest, SHAPE(3)),
				    operand(TN_F32, smallest, SHAPE(3)),
				    operand(TN_I64, first_largest, SHAPE(3)),
				    operand(TN_I32, first_smallest, SHAPE(3))};
	struct tn_reduce_args args = {
		.call = CALL(struct tn_reduce_args, f),
		.prologue = &prologue,
		.inputs = &in,
		.outputs = out,
		.n_reduced = 2,
		.n_values = 4,
		.combiners = {TN_REDUCE_MAX, TN_REDUCE_MIN, TN_REDUCE_ARGMAX, TN_REDUCE_ARGMIN}};
	assert_ok(f->compute->reduce(f->device, &args));
	assert_true(largest[0] == 5 && isnan(largest[1]) && largest[2] == 3);
	assert_true(smallest[0] == -2 && isnan(smallest[1]) && smallest[2] == 3);
	assert_int_equal(first_largest[0], 1);
	assert_int_equal(first_largest[1], 0);
	assert_int_equal(first_largest[2], 0);
	assert_int_equal(first_smallest[0], 3);
	assert_int_equal(first_smallest[1], 0);
}

static void accumulates_integers_in_64_bits(void **state)
{
	static const struct tn_program prologue = PROGRAM(1, load_i32, twice);
	struct fixture *f = *state;
	const int32_t x[3] = {INT32_MAX, INT32_MAX, 3};
	int64_t sum = 0, product = 0;
	struct tn_operand in = operand(TN_I32, x, SHAPE(3));
	struct tn_operand out[2] = {operand(TN_I64, &sum, 0, NULL),
				    operand(TN_I64, &product, 0, NULL)};
	struct tn_reduce_args args = {.call = CALL(struct tn_reduce_args, f),
				      .prologue = &prologue,
				      .inputs = &in,
				      .outputs = out,
				      .n_reduced = 1,
				      .n_values = 2,
				      .combiners = {TN_REDUCE_SUM, TN_REDUCE_PRODUCT}};
	assert_ok(f->compute->reduce(f->device, &args));
	assert_int_equal(sum, 2 * (int64_t)INT32_MAX + 3);
	assert_int_equal(product, (int64_t)(3 * (uint64_t)INT32_MAX * (uint64_t)INT32_MAX));
}

static void refuses_reductions_it_does_not_know(void **state)
{
	static const struct tn_program prologue = PROGRAM(1, load_f32, once);
	struct fixture *f = *state;
	const float x[2] = {1, 2};
	float y = 7;
	struct tn_operand in = operand(TN_F32, x, SHAPE(2)), out = operand(TN_F32, &y, 0, NULL);
	struct tn_reduce_args args = {.call = CALL(struct tn_reduce_args, f),
				      .prologue = &prologue,
				      .inputs = &in,
				      .outputs = &out,
				      .n_reduced = 1,
				      .n_values = 1,
				      .combiners = {99}};
	assert_status(f->compute->reduce(f->device, &args), TN_UNSUPPORTED);
	args.combiners[0] = TN_REDUCE_SUM;
	args.n_values = 2;
	assert_status(f->compute->reduce(f->device, &args), TN_INVALID_ARGUMENT);
	args.n_values = 1;
	args.n_reduced = 2;
	assert_status(f->compute->reduce(f->device, &args), TN_INVALID_ARGUMENT);
	args.n_reduced = 0;
	assert_status(f->compute->reduce(f->device, &args), TN_SHAPE);
	assert_true(y == 7);
}

static void multiplies_a_batch_with_one_shared_matrix(void **state)
{
	struct fixture *f = *state;
	/* A[0] = (1 2; 3 4), A[1] = (5 6; 7 8); B = (1 0 2; 0 1 3), kept transposed */
	const float a[8] = {1, 2, 3, 4, 5, 6, 7, 8}, b[6] = {1, 0, 0, 1, 2, 3};
	float c[12];
	struct tn_matmul_args args = {.call = CALL(struct tn_matmul_args, f),
				      .a = operand(TN_F32, a, SHAPE(2, 2, 2)),
				      .b = operand(TN_F32, b, SHAPE(2, 2, 3)),
				      .c = operand(TN_F32, c, SHAPE(2, 2, 3)),
				      .alpha = 1};
	const float expected[12] = {1, 2, 8, 3, 4, 18, 5, 6, 28, 7, 8, 38};
	const float halved[12] = {1.5, 3, 12, 4.5, 6, 27, 7.5, 9, 42, 10.5, 12, 57};
	args.b.strides[0] = 0;
	args.b.strides[1] = 1;
	args.b.strides[2] = 2;
	for (int i = 0; i < 12; i++)
		c[i] = NAN; /* beta is 0: C is not read */
	assert_ok(f->compute->matmul(f->device, &args));
	assert_memory_equal(c, expected, sizeof(c));
	args.alpha = 2;
	args.beta = -0.5;
	assert_ok(f->compute->matmul(f->device, &args));
	assert_memory_equal(c, halved, sizeof(c));
}

static void refuses_matrices_that_do_not_fit(void **state)
{
	struct fixture *f = *state;
	float a[6] = {0}, c[4] = {7, 7, 7, 7};
	struct tn_matmul_args args = {.call = CALL(struct tn_matmul_args, f),
				      .a = operand(TN_F32, a, SHAPE(2, 3)),
				      .b = operand(TN_F32, a, SHAPE(2, 2)),
				      .c = operand(TN_F32, c, SHAPE(2, 2)),
				      .alpha = 1};
	assert_status(f->compute->matmul(f->device, &args), TN_SHAPE);
	assert_contains(f->error.text, "b: expected shape (3, 2), found (2, 2)");
	args.b = operand(TN_F64, a, SHAPE(3, 2));
	assert_status(f->compute->matmul(f->device, &args), TN_UNSUPPORTED);
	args.a.dtype = args.b.dtype = args.c.dtype = TN_I32;
	assert_status(f->compute->matmul(f->device, &args), TN_UNSUPPORTED);
	assert_true(c[0] == 7 && c[3] == 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_rows_and_counts_them_in_an_epilogue),
		cmocka_unit_test(finds_the_first_nan_and_the_first_of_equals),
		cmocka_unit_test(accumulates_integers_in_64_bits),
		cmocka_unit_test(refuses_reductions_it_does_not_know),
		cmocka_unit_test(multiplies_a_batch_with_one_shared_matrix),
		cmocka_unit_test(refuses_matrices_that_do_not_fit),
	};
	return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
