/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The layers of the reference backend by hand-computed values, and every backward against central
 * differences of its own forward, in f64.
 */
#include "reference_fixture.h"

/* ---- By hand ---------------------------------------------------------------------------------*/

static void convolves_with_padding_on_two_sides(void **state)
{
	struct fixture *f = *state;
	const float x[4] = {1, 2, 3, 4}, w[4] = {1, 10, 100, 1000}, bias[1] = {0.5};
	float y[4];
	/* Padded above and to the left, the plane is (0 0 0; 0 1 2; 0 3 4). */
	const float expected[4] = {1000.5, 2100.5, 3010.5, 4321.5};
	struct tn_conv2d_args args = {.call = CALL(struct tn_conv2d_args, f),
				      .x = operand(TN_F32, x, SHAPE(1, 1, 2, 2)),
				      .w = operand(TN_F32, w, SHAPE(1, 1, 2, 2)),
				      .y = operand(TN_F32, y, SHAPE(1, 1, 2, 2)),
				      .bias = operand(TN_F32, bias, SHAPE(1)),
				      .has_bias = 1,
				      .groups = 1,
				      .stride = {1, 1},
				      .dilation = {1, 1},
				      .padding = {1, 1, 0, 0}};
	assert_ok(f->nn->conv2d_forward(f->device, &args));
	assert_memory_equal(y, expected, sizeof(y));
	args.y.shape[3] = 3;
	assert_status(f->nn->conv2d_forward(f->device, &args), TN_SHAPE);
	assert_contains(f->error.text, "expected shape (1, 1, 2, 2), found (1, 1, 2, 3)");
}

static void pools_the_first_of_equals_and_the_first_nan(void **state)
{
	struct fixture *f = *state;
	const float x[8] = {1, 5, NAN, 2, 5, 5, 9, NAN}, dy[2] = {1, 10};
	float y[2], dx[8], expected[8] = {0, 1, 10};
	int32_t index[2];
	struct tn_pool2d_args args = {.call = CALL(struct tn_pool2d_args, f),
				      .x = operand(TN_F32, x, SHAPE(1, 1, 2, 4)),
				      .y = operand(TN_F32, y, SHAPE(1, 1, 1, 2)),
				      .index = operand(TN_I32, index, SHAPE(1, 1, 1, 2)),
				      .kind = TN_POOL_MAX,
				      .has_index = 1,
				      .kernel = {2, 2},
				      .stride = {2, 2}};
	assert_ok(f->nn->pool2d_forward(f->device, &args));
	assert_true(y[0] == 5 && isnan(y[1]));
	assert_int_equal(index[0], 1);
	assert_int_equal(index[1], 2);
	args.x = operand(TN_F32, dx, SHAPE(1, 1, 2, 4));
	args.y = operand(TN_F32, dy, SHAPE(1, 1, 1, 2));
	assert_ok(f->nn->pool2d_backward(f->device, &args));
	assert_memory_equal(dx, expected, sizeof(dx));
	index[1] = 8; /* outside the plane: adds nothing, and nothing is written outside */
	expected[2] = 0;
	assert_ok(f->nn->pool2d_backward(f->device, &args));
	assert_memory_equal(dx, expected, sizeof(dx));
}

static void averages_with_and_without_the_padding(void **state)
{
	struct fixture *f = *state;
	const float x[4] = {4, 8, 12, 36};
	float y[4];
	struct tn_pool2d_args args = {.call = CALL(struct tn_pool2d_args, f),
				      .x = operand(TN_F32, x, SHAPE(1, 1, 2, 2)),
				      .y = operand(TN_F32, y, SHAPE(1, 1, 2, 2)),
				      .kind = TN_POOL_AVERAGE,
				      .kernel = {2, 2},
				      .stride = {1, 1},
				      .padding = {1, 1, 0, 0}};
	const float counted[4] = {1, 3, 4, 15}, inside[4] = {4, 6, 8, 15};
	assert_ok(f->nn->pool2d_forward(f->device, &args));
	assert_memory_equal(y, inside, sizeof(y));
	args.count_padding = 1;
	assert_ok(f->nn->pool2d_forward(f->device, &args));
	assert_memory_equal(y, counted, sizeof(y));
}

static void normalises_channels_and_rows(void **state)
{
	struct fixture *f = *state;
	const float x[4] = {1, 10, 5, 30}, w[2] = {3, 1}, b[2] = {100, 0};
	float y[4], mean[2], rstd[2];
	struct tn_norm_args args = {.call = CALL(struct tn_norm_args, f),
				    .x = operand(TN_F32, x, SHAPE(2, 2)),
				    .y = operand(TN_F32, y, SHAPE(2, 2)),
				    .w = operand(TN_F32, w, SHAPE(2)),
				    .b = operand(TN_F32, b, SHAPE(2)),
				    .mean = operand(TN_F32, mean, SHAPE(2)),
				    .rstd = operand(TN_F32, rstd, SHAPE(2)),
				    .has_affine = 1};
	/* columns (1 5) and (10 30): mean 3 and 20, deviation 2 and 10 */
	const float by_channel[4] = {97, -1, 103, 1};
	assert_ok(f->nn->batch_norm_forward(f->device, &args));
	assert_memory_equal(y, by_channel, sizeof(y));
	assert_true(mean[0] == 3 && mean[1] == 20 && rstd[0] == 0.5f && rstd[1] == 0.1f);
	/* rows (1 10) and (5 30): mean 5.5 and 17.5, deviation 4.5 and 12.5 */
	const float by_row[4] = {97, 1, 97, 1};
	assert_ok(f->nn->layer_norm_forward(f->device, &args));
	assert_memory_equal(y, by_row, sizeof(y));
	assert_true(mean[0] == 5.5f && mean[1] == 17.5f);
	/* given statistics are used and unchanged */
	mean[0] = mean[1] = 0;
	rstd[0] = rstd[1] = 2;
	args.use_statistics = 1;
	const float given[4] = {106, 20, 130, 60};
	assert_ok(f->nn->batch_norm_forward(f->device, &args));
	assert_memory_equal(y, given, sizeof(y));
	assert_true(mean[0] == 0 && rstd[0] == 2);
}

static void takes_softmax_of_large_logits(void **state)
{
	struct fixture *f = *state;
	const double x[3] = {1000 + log(1), 1000 + log(2), 1000 + log(5)};
	double y[3];
	struct tn_softmax_args args = {.call = CALL(struct tn_softmax_args, f),
				       .x = operand(TN_F64, x, SHAPE(3)),
				       .y = operand(TN_F64, y, SHAPE(3))};
	/* x is rounded to 2^-43, which exp makes relative */
	assert_ok(f->nn->softmax_forward(f->device, &args));
	assert_close(y[0], 1.0 / 8, 1e-12);
	assert_close(y[1], 2.0 / 8, 1e-12);
	assert_close(y[2], 5.0 / 8, 1e-12);
	args.logarithm = 1;
	assert_ok(f->nn->softmax_forward(f->device, &args));
	assert_close(y[2], log(5.0 / 8), 1e-12);
}

static void ignores_a_label_and_marks_a_wrong_one(void **state)
{
	struct fixture *f = *state;
	const float x[6] = {0, 0, 0, 0, 0, 0}, dloss[1] = {3};
	const int32_t labels[3] = {1, -7, 2};
	float loss[3], maximum[3], log_sum[3], dx[6];
	struct tn_cross_entropy_args args = {.call = CALL(struct tn_cross_entropy_args, f),
					     .x = operand(TN_F32, x, SHAPE(3, 2)),
					     .labels = operand(TN_I32, labels, SHAPE(3)),
					     .maximum = operand(TN_F32, maximum, SHAPE(3)),
					     .log_sum = operand(TN_F32, log_sum, SHAPE(3)),
					     .loss = operand(TN_F32, loss, SHAPE(3)),
					     .dx = operand(TN_F32, dx, SHAPE(3, 2)),
					     .ignore_label = -7};
	assert_ok(f->nn->cross_entropy_forward(f->device, &args));
	assert_close(loss[0], log(2), 1e-7);
	assert_true(loss[1] == 0 && isnan(loss[2]));
	assert_close(maximum[2], 0, 0);
	assert_close(log_sum[2], log(2), 1e-7);
	args.loss = operand(TN_F32, dloss, SHAPE(3));
	args.loss.strides[0] = 0;
	assert_ok(f->nn->cross_entropy_backward(f->device, &args));
	assert_close(dx[0], 1.5, 1e-6);
	assert_close(dx[1], -1.5, 1e-6);
	assert_true(dx[2] == 0 && dx[3] == 0 && isnan(dx[4]) && isnan(dx[5]));
}

/* ---- By central differences ------------------------------------------------------------------*/

/* A layer as y = f(v) for one of its inputs, and its gradient by the slot under test. */
struct gradient_case {
	struct fixture *f;
	double *variable;
	size_t n_variables;
	double *y;
	const double *dy;
	size_t n_y;
	void (*forward)(struct gradient_case *self);
	void *args;
};

/* dv[i] must be sum_j dy[j] (f(v + h e_i) - f(v - h e_i))[j] / 2 h.  With h = 1e-5 the error is h^2
 * = 1e-10 times a third derivative plus 1e-16 / h = 1e-11. */
static void expect_gradient(struct gradient_case *g, const double *dv)
{
	const double h = 1e-5;
	for (size_t i = 0; i < g->n_variables; i++) {
		double kept = g->variable[i], expected = 0;
		for (int sign = -1; sign <= 1; sign += 2) {
			g->variable[i] = kept + sign * h;
			g->forward(g);
			for (size_t j = 0; j < g->n_y; j++)
				expected += g->dy[j] * sign * g->y[j] / (2 * h);
		}
		g->variable[i] = kept;
		assert_close(dv[i], expected, 1e-8);
	}
}

/* Pseudo-random numbers between -1 and 1. */
static void fill(double *values, size_t n, double seed)
{
	for (size_t i = 0; i < n; i++)
		values[i] = sin(seed + 1.7 * (double)i + 0.3 * (double)(i * i));
}

static void run_conv2d(struct gradient_case *g)
{
	assert_ok(g->f->nn->conv2d_forward(g->f->device, g->args));
}

static void differentiates_convolutions(void **state)
{
	struct fixture *f = *state;
	double x[40], w[24], y[36], dy[36], gradient[40];
	struct tn_conv2d_args forward = {.call = CALL(struct tn_conv2d_args, f),
					 .x = operand(TN_F64, x, SHAPE(1, 2, 4, 5)),
					 .w = operand(TN_F64, w, SHAPE(4, 1, 2, 3)),
					 .y = operand(TN_F64, y, SHAPE(1, 4, 3, 3)),
					 .groups = 2,
					 .stride = {2, 1},
					 .dilation = {1, 2},
					 .padding = {1, 1, 1, 1}};
	struct tn_conv2d_args backward = forward;
	struct gradient_case g = {.f = f,
				  .variable = x,
				  .n_variables = 40,
				  .y = y,
				  .dy = dy,
				  .n_y = 36,
				  .forward = run_conv2d,
				  .args = &forward};
	fill(x, 40, 0.1);
	fill(w, 24, 0.2);
	fill(dy, 36, 0.3);
	backward.y = operand(TN_F64, dy, SHAPE(1, 4, 3, 3));
	backward.x = operand(TN_F64, gradient, SHAPE(1, 2, 4, 5));
	assert_ok(f->nn->conv2d_input_gradient(f->device, &backward));
	expect_gradient(&g, gradient);
	backward.x = forward.x;
	backward.w = operand(TN_F64, gradient, SHAPE(4, 1, 2, 3));
	assert_ok(f->nn->conv2d_weight_gradient(f->device, &backward));
	g.variable = w;
	g.n_variables = 24;
	expect_gradient(&g, gradient);
}

static void run_pool2d(struct gradient_case *g)
{
	assert_ok(g->f->nn->pool2d_forward(g->f->device, g->args));
}

static void differentiates_pools(void **state)
{
	struct fixture *f = *state;
	double x[40], y[12], dy[12], dx[40];
	int32_t index[12];
	struct tn_pool2d_args forward = {.call = CALL(struct tn_pool2d_args, f),
					 .x = operand(TN_F64, x, SHAPE(2, 1, 4, 5)),
					 .y = operand(TN_F64, y, SHAPE(2, 1, 2, 3)),
					 .index = operand(TN_I32, index, SHAPE(2, 1, 2, 3)),
					 .has_index = 1,
					 .kernel = {3, 3},
					 .stride = {2, 2},
					 .padding = {1, 1, 1, 1}};
	struct gradient_case g = {.f = f,
				  .variable = x,
				  .n_variables = 40,
				  .y = y,
				  .dy = dy,
				  .n_y = 12,
				  .forward = run_pool2d,
				  .args = &forward};
	fill(x, 40, 0.4);
	fill(dy, 12, 0.5);
	for (forward.kind = TN_POOL_MAX; forward.kind <= TN_POOL_AVERAGE; forward.kind++) {
		struct tn_pool2d_args backward = forward;
		run_pool2d(&g);
		backward.x = operand(TN_F64, dx, SHAPE(2, 1, 4, 5));
		backward.y = operand(TN_F64, dy, SHAPE(2, 1, 2, 3));
		assert_ok(f->nn->pool2d_backward(f->device, &backward));
		expect_gradient(&g, dx);
	}
}

static void run_batch_norm(struct gradient_case *g)
{
	assert_ok(g->f->nn->batch_norm_forward(g->f->device, g->args));
}

static void run_layer_norm(struct gradient_case *g)
{
	assert_ok(g->f->nn->layer_norm_forward(g->f->device, g->args));
}

static void run_group_norm(struct gradient_case *g)
{
	assert_ok(g->f->nn->group_norm_forward(g->f->device, g->args));
}

static void differentiates_group_norm(void **state)
{
	struct fixture *f = *state;
	double x[24], w[6], b[6], y[24], mean[4], rstd[4], dy[24], dx[24], dw[6], db[6];
	struct tn_norm_args forward = {.call = CALL(struct tn_norm_args, f),
				       .x = operand(TN_F64, x, SHAPE(2, 6, 2)),
				       .y = operand(TN_F64, y, SHAPE(2, 6, 2)),
				       .w = operand(TN_F64, w, SHAPE(6)),
				       .b = operand(TN_F64, b, SHAPE(6)),
				       .mean = operand(TN_F64, mean, SHAPE(4)),
				       .rstd = operand(TN_F64, rstd, SHAPE(4)),
				       .has_affine = 1,
				       .groups = 2,
				       .epsilon = 0.1};
	struct tn_norm_args backward = forward;
	struct gradient_case g = {
		.f = f, .y = y, .dy = dy, .n_y = 24, .args = &forward, .forward = run_group_norm};
	fill(x, 24, 0.6);
	fill(w, 6, 0.7);
	fill(b, 6, 0.8);
	fill(dy, 24, 0.9);
	run_group_norm(&g);
	backward.y = operand(TN_F64, dy, SHAPE(2, 6, 2));
	backward.dx = operand(TN_F64, dx, SHAPE(2, 6, 2));
	backward.dw = operand(TN_F64, dw, SHAPE(6));
	backward.db = operand(TN_F64, db, SHAPE(6));
	backward.wants = 3;
	assert_ok(f->nn->group_norm_backward(f->device, &backward));
	g.variable = x;
	g.n_variables = 24;
	expect_gradient(&g, dx);
	g.n_variables = 6;
	g.variable = w;
	expect_gradient(&g, dw);
	g.variable = b;
	expect_gradient(&g, db);
}

static void differentiates_norms(void **state)
{
	struct fixture *f = *state;
	double x[15], w[5], b[5], y[15], mean[5], rstd[5], dy[15], dx[15], dw[5], db[5];
	struct tn_norm_args forward = {.call = CALL(struct tn_norm_args, f),
				       .x = operand(TN_F64, x, SHAPE(3, 5)),
				       .y = operand(TN_F64, y, SHAPE(3, 5)),
				       .w = operand(TN_F64, w, SHAPE(5)),
				       .b = operand(TN_F64, b, SHAPE(5)),
				       .has_affine = 1,
				       .epsilon = 0.1};
	struct gradient_case g = {.f = f, .y = y, .dy = dy, .n_y = 15, .args = &forward};
	fill(x, 15, 0.6);
	fill(w, 5, 0.7);
	fill(b, 5, 0.8);
	fill(dy, 15, 0.9);
	for (int variant = 0; variant < 3; variant++) {
		int is_layer = variant == 2;
		int64_t groups = is_layer ? 3 : 5;
		struct tn_norm_args backward;
		forward.mean = operand(TN_F64, mean, 1, &groups);
		forward.rstd = operand(TN_F64, rstd, 1, &groups);
		forward.use_statistics = variant == 1; /* those of variant 0, kept */
		g.forward = is_layer ? run_layer_norm : run_batch_norm;
		g.forward(&g);
		backward = forward;
		backward.y = operand(TN_F64, dy, SHAPE(3, 5));
		backward.dx = operand(TN_F64, dx, SHAPE(3, 5));
		backward.dw = operand(TN_F64, dw, SHAPE(5));
		backward.db = operand(TN_F64, db, SHAPE(5));
		backward.wants = 3;
		assert_ok((is_layer ? f->nn->layer_norm_backward
				    : f->nn->batch_norm_backward)(f->device, &backward));
		g.variable = x;
		g.n_variables = 15;
		expect_gradient(&g, dx);
		g.n_variables = 5;
		g.variable = w;
		expect_gradient(&g, dw);
		g.variable = b;
		expect_gradient(&g, db);
	}
}

static void run_softmax(struct gradient_case *g)
{
	assert_ok(g->f->nn->softmax_forward(g->f->device, g->args));
}

static void differentiates_softmax_and_adds_to_what_is_there(void **state)
{
	struct fixture *f = *state;
	double x[12], y[12], dy[12], dx[12];
	struct tn_softmax_args forward = {.call = CALL(struct tn_softmax_args, f),
					  .x = operand(TN_F64, x, SHAPE(3, 4)),
					  .y = operand(TN_F64, y, SHAPE(3, 4))};
	struct gradient_case g = {.f = f,
				  .variable = x,
				  .n_variables = 12,
				  .y = y,
				  .dy = dy,
				  .n_y = 12,
				  .forward = run_softmax,
				  .args = &forward};
	fill(x, 12, 1.0);
	fill(dy, 12, 1.1);
	for (int variant = 0; variant < 4; variant++) {
		struct tn_softmax_args backward;
		forward.axis = variant & 1;
		forward.logarithm = variant >> 1;
		run_softmax(&g);
		backward = forward;
		backward.dy = operand(TN_F64, dy, SHAPE(3, 4));
		backward.dx = operand(TN_F64, dx, SHAPE(3, 4));
		backward.call.flags = TN_ACCUMULATE;
		for (int i = 0; i < 12; i++)
			dx[i] = 100;
		assert_ok(f->nn->softmax_backward(f->device, &backward));
		for (int i = 0; i < 12; i++)
			dx[i] -= 100;
		expect_gradient(&g, dx);
	}
}

static void run_cross_entropy(struct gradient_case *g)
{
	assert_ok(g->f->nn->cross_entropy_forward(g->f->device, g->args));
}

static void differentiates_cross_entropy(void **state)
{
	static const int32_t labels[3] = {2, -1, 0};
	struct fixture *f = *state;
	double x[12], loss[3], maximum[3], log_sum[3], dloss[3], dx[12];
	struct tn_cross_entropy_args forward = {.call = CALL(struct tn_cross_entropy_args, f),
						.x = operand(TN_F64, x, SHAPE(3, 4)),
						.labels = operand(TN_I32, labels, SHAPE(3)),
						.maximum = operand(TN_F64, maximum, SHAPE(3)),
						.log_sum = operand(TN_F64, log_sum, SHAPE(3)),
						.loss = operand(TN_F64, loss, SHAPE(3)),
						.ignore_label = -1};
	struct gradient_case g = {.f = f,
				  .variable = x,
				  .n_variables = 12,
				  .y = loss,
				  .dy = dloss,
				  .n_y = 3,
				  .forward = run_cross_entropy,
				  .args = &forward};
	struct tn_cross_entropy_args backward;
	fill(x, 12, 1.2);
	fill(dloss, 3, 1.3);
	run_cross_entropy(&g);
	backward = forward;
	backward.loss = operand(TN_F64, dloss, SHAPE(3));
	backward.dx = operand(TN_F64, dx, SHAPE(3, 4));
	assert_ok(f->nn->cross_entropy_backward(f->device, &backward));
	expect_gradient(&g, dx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(convolves_with_padding_on_two_sides),
		cmocka_unit_test(pools_the_first_of_equals_and_the_first_nan),
		cmocka_unit_test(averages_with_and_without_the_padding),
		cmocka_unit_test(normalises_channels_and_rows),
		cmocka_unit_test(takes_softmax_of_large_logits),
		cmocka_unit_test(ignores_a_label_and_marks_a_wrong_one),
		cmocka_unit_test(differentiates_convolutions),
		cmocka_unit_test(differentiates_pools),
		cmocka_unit_test(differentiates_norms),
		cmocka_unit_test(differentiates_group_norm),
		cmocka_unit_test(differentiates_softmax_and_adds_to_what_is_there),
		cmocka_unit_test(differentiates_cross_entropy),
	};
	return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
