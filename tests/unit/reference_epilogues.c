/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The epilogues of the reference backend's products, convolutions and norms: bias, residual and
 * activation, by hand-computed values; and group norm.
 */
#include "reference_fixture.h"

static void adds_a_bias_and_activates_a_product(void **state)
{
	struct fixture *f = *state;
	const float a[4] = {1, 2, 3, 4}, b[4] = {1, 0, 0, 1}, bias[2] = {-2, 10};
	float c[4] = {0};
	const float expected[4] = {0, 6, 1, 6};
	struct tn_matmul_args args = {.call = CALL(struct tn_matmul_args, f),
				      .a = operand(TN_F32, a, SHAPE(2, 2)),
				      .b = operand(TN_F32, b, SHAPE(2, 2)),
				      .c = operand(TN_F32, c, SHAPE(2, 2)),
				      .alpha = 1,
				      .bias = operand(TN_F32, bias, SHAPE(2)),
				      .has_bias = 1,
				      .activation = TN_ACTIVATION_RELU6};
	assert_ok(f->compute->matmul(f->device, &args));
	assert_memory_equal(c, expected, sizeof(c));
	args.bias.shape[0] = 3;
	assert_status(f->compute->matmul(f->device, &args), TN_SHAPE);
	assert_contains(f->error.text, "bias: expected shape (2), found (3)");
	args.has_bias = 0;
	args.activation = TN_ACTIVATION_GELU + 1;
	assert_status(f->compute->matmul(f->device, &args), TN_UNSUPPORTED);
}

static void applies_every_activation(void **state)
{
	struct fixture *f = *state;
	const double x[4] = {-1, 0, 2, 8}, one[1] = {1};
	double y[4];
	static const double expected[7][4] = {
		{-1, 0, 2, 8},
		{0, 0, 2, 8},
		{0, 0, 2, 6},
		{0.2689414213699951, 0.5, 0.8807970779778823, 0.9996646498695336},
		{-0.7615941559557649, 0, 0.9640275800758169, 0.9999997749296758},
		{-0.2689414213699951, 0, 1.7615941559557646, 7.9973171989562688},
		{-0.15865525393145707, 0, 1.9544997361036416, 7.999999999999995},
	};
	struct tn_matmul_args args = {.call = CALL(struct tn_matmul_args, f),
				      .a = operand(TN_F64, x, SHAPE(4, 1)),
				      .b = operand(TN_F64, one, SHAPE(1, 1)),
				      .c = operand(TN_F64, y, SHAPE(4, 1)),
				      .alpha = 1};
	for (; args.activation <= TN_ACTIVATION_GELU; args.activation++) {
		assert_ok(f->compute->matmul(f->device, &args));
		for (int i = 0; i < 4; i++)
			assert_close(y[i], expected[args.activation][i], 1e-14);
	}
}

static void adds_a_residual_to_a_convolution(void **state)
{
	struct fixture *f = *state;
	const float x[4] = {1, 2, 3, 4}, w[1] = {10}, residual[4] = {1, -100, 2, -30};
	float y[4];
	const float expected[4] = {11, 0, 32, 10};
	struct tn_conv2d_args args = {.call = CALL(struct tn_conv2d_args, f),
				      .x = operand(TN_F32, x, SHAPE(1, 1, 2, 2)),
				      .w = operand(TN_F32, w, SHAPE(1, 1, 1, 1)),
				      .y = operand(TN_F32, y, SHAPE(1, 1, 2, 2)),
				      .groups = 1,
				      .stride = {1, 1},
				      .dilation = {1, 1},
				      .residual = operand(TN_F32, residual, SHAPE(1, 1, 2, 2)),
				      .has_residual = 1,
				      .activation = TN_ACTIVATION_RELU};
	assert_ok(f->nn->conv2d_forward(f->device, &args));
	assert_memory_equal(y, expected, sizeof(y));
	args.residual.shape[3] = 1;
	assert_status(f->nn->conv2d_forward(f->device, &args), TN_SHAPE);
	assert_contains(f->error.text, "residual: expected shape (1, 1, 2, 2)");
}

/* Channels (0 2), (4 6) and (1 3), (5 7) of one picture of 1 x 1: groups of two channels have mean
 * 1, 5, 2, 6 and deviation 1. */
static void normalises_groups_with_residual_and_activation(void **state)
{
	struct fixture *f = *state;
	const float x[8] = {0, 2, 4, 6, 1, 3, 5, 7}, w[4] = {1, 2, 3, 4}, b[4] = {0, 0, 0, 1};
	const float residual[8] = {0, 0, 0, 0, 2, -2, 0, 10};
	float y[8], mean[4], rstd[4];
	struct tn_norm_args args = {.call = CALL(struct tn_norm_args, f),
				    .x = operand(TN_F32, x, SHAPE(2, 4)),
				    .y = operand(TN_F32, y, SHAPE(2, 4)),
				    .w = operand(TN_F32, w, SHAPE(4)),
				    .b = operand(TN_F32, b, SHAPE(4)),
				    .mean = operand(TN_F32, mean, SHAPE(4)),
				    .rstd = operand(TN_F32, rstd, SHAPE(4)),
				    .has_affine = 1,
				    .groups = 2};
	const float plain[8] = {-1, 2, -3, 5, -1, 2, -3, 5}, done[8] = {0, 2, 0, 5, 1, 0, 0, 6};
	assert_ok(f->nn->group_norm_forward(f->device, &args));
	assert_memory_equal(y, plain, sizeof(y));
	assert_true(mean[0] == 1 && mean[1] == 5 && mean[2] == 2 && mean[3] == 6 && rstd[3] == 1);
	args.residual = operand(TN_F32, residual, SHAPE(2, 4));
	args.has_residual = 1;
	args.activation = TN_ACTIVATION_RELU6;
	assert_ok(f->nn->group_norm_forward(f->device, &args));
	assert_memory_equal(y, done, sizeof(y));
	args.groups = 3;
	assert_status(f->nn->group_norm_forward(f->device, &args), TN_SHAPE);
	args.groups = 2;
	args.activation = TN_ACTIVATION_TANH;
	assert_status(f->nn->group_norm_forward(f->device, &args), TN_UNSUPPORTED);
}

/* dx, dw, db and dresidual of a norm whose activation passed dy at two positions equal those of a
 * norm without one whose dy is 0 elsewhere; only dw and db are accumulated. */
static void takes_the_gradient_behind_the_activation(void **state)
{
	struct fixture *f = *state;
	const double x[4] = {1, 2, 4, 7}, w[2] = {3, 1}, mean[2] = {2.5, 4.5}, rstd[2] = {2, 1};
	const double dy[4] = {1, 5, 3, 4}, result[4] = {0.5, 6, NAN, 2}, passed[4] = {1, 0, 0, 4};
	double dx[2][4] = {{9}}, dw[2][2] = {{100, 100}}, db[2][2] = {{100, 100}};
	double dresidual[4] = {7, 7, 7, 7};
	struct tn_norm_args args = {.call = CALL(struct tn_norm_args, f),
				    .x = operand(TN_F64, x, SHAPE(2, 2)),
				    .y = operand(TN_F64, dy, SHAPE(2, 2)),
				    .w = operand(TN_F64, w, SHAPE(2)),
				    .mean = operand(TN_F64, mean, SHAPE(2)),
				    .rstd = operand(TN_F64, rstd, SHAPE(2)),
				    .dx = operand(TN_F64, dx[0], SHAPE(2, 2)),
				    .dw = operand(TN_F64, dw[0], SHAPE(2)),
				    .db = operand(TN_F64, db[0], SHAPE(2)),
				    .has_affine = 1,
				    .wants = 7,
				    .result = operand(TN_F64, result, SHAPE(2, 2)),
				    .dresidual = operand(TN_F64, dresidual, SHAPE(2, 2)),
				    .activation = TN_ACTIVATION_RELU6};
	args.call.flags = TN_ACCUMULATE;
	assert_ok(f->nn->batch_norm_backward(f->device, &args));
	assert_memory_equal(dresidual, passed, sizeof(passed));
	args.call.flags = 0;
	args.y = operand(TN_F64, passed, SHAPE(2, 2));
	args.dx = operand(TN_F64, dx[1], SHAPE(2, 2));
	args.dw = operand(TN_F64, dw[1], SHAPE(2));
	args.db = operand(TN_F64, db[1], SHAPE(2));
	args.wants = 3;
	args.activation = TN_ACTIVATION_NONE;
	assert_ok(f->nn->batch_norm_backward(f->device, &args));
	assert_memory_equal(dx[0], dx[1], sizeof(dx[0]));
	for (int i = 0; i < 2; i++) {
		assert_true(dw[0][i] == dw[1][i] + 100);
		assert_true(db[0][i] == db[1][i] + 100);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(adds_a_bias_and_activates_a_product),
		cmocka_unit_test(applies_every_activation),
		cmocka_unit_test(adds_a_residual_to_a_convolution),
		cmocka_unit_test(normalises_groups_with_residual_and_activation),
		cmocka_unit_test(takes_the_gradient_behind_the_activation),
	};
	return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
