/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The operations of `tenon bench ops`, with the arithmetic or traffic that each needs.
 */
#include "bench_parts.h"

static int matrix(struct bench_case *c, tn_context *context)
{
	c->x = tn_random_normal(context, 2, c->shape, 0, 1);
	c->y = tn_random_normal(context, 2, c->shape, 0, 1);
	return c->y != NULL;
}

/* A mask in y, numbers for where it is true and where not in x and z. */
static int choice(struct bench_case *c, tn_context *context)
{
	tn_array *zero = tn_zeros(context, TN_F32, 0, NULL);
	c->x = tn_random_normal(context, 2, c->shape, 0, 1);
	c->z = tn_random_normal(context, 2, c->shape, 0, 1);
	c->y = tn_less(c->z, zero);
	tn_array_destroy(zero);
	return c->y != NULL;
}

/* The columns of x in random order in y. */
static int places(struct bench_case *c, tn_context *context)
{
	tn_array *order = tn_random_normal(context, 1, &c->shape[1], 0, 1);
	c->x = tn_random_normal(context, 2, c->shape, 0, 1);
	c->y = tn_argsort(order, 0, 0);
	tn_array_destroy(order);
	return c->x && c->y;
}

static int product(struct bench_case *c, tn_context *context)
{
	c->x = tn_random_normal(context, 2, (int64_t[]){c->shape[0], c->shape[2]}, 0, 1);
	c->y = tn_random_normal(context, 2, (int64_t[]){c->shape[2], c->shape[1]}, 0, 1);
	return c->y != NULL;
}

static int images(struct bench_case *c, tn_context *context, int64_t per_group, int64_t kernel)
{
	int64_t channels = c->shape[1];
	c->x = tn_random_normal(context, 4, c->shape, 0, 1);
	c->y = tn_random_normal(context, 4, (int64_t[]){channels, per_group, kernel, kernel}, 0, 1);
	return c->y != NULL;
}

static int images3(struct bench_case *c, tn_context *context)
{
	return images(c, context, c->shape[1], 3);
}

static int images7(struct bench_case *c, tn_context *context)
{
	return images(c, context, 1, 7);
}

static tn_array *run_copy(const struct bench_case *c)
{
	return tn_copy(c->x);
}

static tn_array *run_add(const struct bench_case *c)
{
	return tn_add(c->x, c->y);
}

static tn_array *run_relu(const struct bench_case *c)
{
	return tn_relu(c->x);
}

static tn_array *run_exp(const struct bench_case *c)
{
	return tn_exp(c->x);
}

static tn_array *run_tanh(const struct bench_case *c)
{
	return tn_tanh(c->x);
}

static tn_array *run_gelu(const struct bench_case *c)
{
	return tn_gelu(c->x);
}

static tn_array *run_sum(const struct bench_case *c)
{
	return tn_sum(c->x, TN_ALL_AXES, NULL, 0);
}

static tn_array *run_sum_down(const struct bench_case *c)
{
	return tn_sum(c->x, 1, (int[]){0}, 0);
}

static tn_array *run_sum_across(const struct bench_case *c)
{
	return tn_sum(c->x, 1, (int[]){1}, 0);
}

static tn_array *run_argmax(const struct bench_case *c)
{
	return tn_argmax(c->x, 1);
}

static tn_array *run_sort(const struct bench_case *c)
{
	return tn_sort(c->x, 1, 0);
}

static tn_array *run_cumsum(const struct bench_case *c)
{
	return tn_cumsum(c->x, 1);
}

static tn_array *run_fused(const struct bench_case *c)
{
	return tn_map("z = exp(-x*x)*y + 0.5*x", 2, (const char *[]){"x", "y"},
		      (const tn_array *[]){c->x, c->y}, 0, NULL, NULL);
}

static tn_array *run_take(const struct bench_case *c)
{
	return tn_take(c->x, c->y, 1);
}

static tn_array *run_where(const struct bench_case *c)
{
	return tn_where(c->y, c->x, c->z);
}

static tn_array *run_uniform(const struct bench_case *c)
{
	return tn_random_uniform(tn_array_context(c->x), 2, c->shape, 0, 1);
}

static tn_array *run_softmax(const struct bench_case *c)
{
	return tn_softmax(c->x, 1);
}

static tn_array *run_transpose(const struct bench_case *c)
{
	tn_array *view = tn_transpose(c->x, (int[]){1, 0});
	tn_array *turned = tn_contiguous(view);
	tn_array_destroy(view);
	return turned;
}

static tn_array *run_matmul(const struct bench_case *c)
{
	return tn_matmul(c->x, c->y);
}

static tn_array *convolve(const struct bench_case *c, int64_t padding, int64_t groups)
{
	struct tn_conv2d_options options = tn_conv2d_defaults();
	options.padding[0] = options.padding[1] = padding;
	options.groups = groups;
	return tn_conv2d(c->x, c->y, NULL, &options);
}

static tn_array *run_conv2d(const struct bench_case *c)
{
	return convolve(c, 1, 1);
}

static tn_array *run_depthwise(const struct bench_case *c)
{
	return convolve(c, 3, c->shape[1]);
}

static tn_array *run_batch_norm(const struct bench_case *c)
{
	struct tn_batch_norm_options options = tn_batch_norm_defaults();
	options.training = 1;
	return tn_batch_norm(c->x, NULL, NULL, &options);
}

static tn_array *run_max_pool2d(const struct bench_case *c)
{
	struct tn_pool2d_options options = tn_pool2d_defaults();
	options.kernel[0] = options.kernel[1] = 2;
	return tn_max_pool2d(c->x, &options);
}

static tn_array *run_avg_pool2d(const struct bench_case *c)
{
	struct tn_pool2d_options options = tn_pool2d_defaults();
	options.kernel[0] = options.kernel[1] = 2;
	return tn_avg_pool2d(c->x, &options);
}

static tn_array *run_dropout(const struct bench_case *c)
{
	return tn_dropout(c->x, 0.5);
}

/* x, and y for its gradient. */
static int pair(struct bench_case *c, tn_context *context)
{
	c->x = tn_random_normal(context, c->operation->rank, c->shape, 0, 1);
	c->y = tn_random_normal(context, c->operation->rank, c->shape, 0, 1);
	return c->y != NULL;
}

static tn_array *last(tn_context *context, const int64_t shape[4])
{
	const int64_t order[4] = {shape[0], shape[2], shape[3], shape[1]};
	tn_array *x = tn_random_normal(context, 4, order, 0, 1);
	tn_array *view = tn_transpose(x, (int[]){0, 3, 1, 2});
	tn_array_destroy(x);
	return view;
}

/* The same with channels last, the layout that networks use. */
static int pair_last(struct bench_case *c, tn_context *context)
{
	c->x = last(context, c->shape);
	c->y = last(context, c->shape);
	return c->y != NULL;
}

/* Moves the channels to the end, and back. */
static tn_array *run_to_last(const struct bench_case *c)
{
	tn_array *view = tn_transpose(c->x, (int[]){0, 2, 3, 1});
	tn_array *turned = tn_contiguous(view);
	tn_array_destroy(view);
	return turned;
}

static tn_array *run_to_first(const struct bench_case *c)
{
	return tn_contiguous(c->x);
}

static tn_array *run_layer_norm(const struct bench_case *c)
{
	return tn_layer_norm(c->x, NULL, NULL, 1, 1e-5);
}

/* Forward and backward as in the middle of a network: the gradient is computed but not read.
 * Backward copies the upstream gradient here, which it does not do within a network. */
static tn_array *both(const struct bench_case *c, tn_array *(*forward)(const struct bench_case *c))
{
	tn_tape *tape = tn_tape_begin(tn_array_context(c->x));
	tn_status status = tn_tape_watch(tape, c->x);
	tn_array *z = status ? NULL : forward(c);
	if (z && tn_tape_backward(tape, z, c->y)) {
		tn_array_destroy(z);
		z = NULL;
	}
	tn_tape_end(tape);
	return z;
}

static tn_array *run_batch_norm_both(const struct bench_case *c)
{
	return both(c, run_batch_norm);
}

static tn_array *run_layer_norm_both(const struct bench_case *c)
{
	return both(c, run_layer_norm);
}

static double elements(const struct bench_case *c)
{
	double n = 1;
	for (int i = 0; i < c->operation->rank; i++)
		n *= (double)c->shape[i];
	return n;
}

static double once(const struct bench_case *c)
{
	return 4 * elements(c);
}

static double once_and_quarter(const struct bench_case *c)
{
	return 5 * elements(c);
}

static double twice(const struct bench_case *c)
{
	return 8 * elements(c);
}

static double three_times(const struct bench_case *c)
{
	return 12 * elements(c);
}

static double three_and_quarter(const struct bench_case *c)
{
	return 13 * elements(c);
}

static double five_times(const struct bench_case *c)
{
	return 20 * elements(c);
}

static double product_flops(const struct bench_case *c)
{
	return 2 * elements(c); /* M, N, K */
}

static double conv2d_flops(const struct bench_case *c)
{
	return 2 * elements(c) * (double)c->shape[1] * 9;
}

static double depthwise_flops(const struct bench_case *c)
{
	return 2 * elements(c) * 49;
}

static const struct bench_operation operations[] = {
	{"copy", "a copy", 2, {2000, 2000}, matrix, run_copy, NULL, twice},
	{"add", "x + y", 2, {2000, 2000}, matrix, run_add, NULL, three_times},
	{"relu", "max(x, 0)", 2, {2000, 2000}, matrix, run_relu, NULL, twice},
	{"exp", "exp x", 2, {2000, 2000}, matrix, run_exp, NULL, twice},
	{"tanh", "tanh x", 2, {2000, 2000}, matrix, run_tanh, NULL, twice},
	{"gelu", "GELU, with erf", 2, {2000, 2000}, matrix, run_gelu, NULL, twice},
	{"sum", "over all", 2, {2000, 2000}, matrix, run_sum, NULL, once},
	{"sum-down", "over axis 0", 2, {2000, 2000}, matrix, run_sum_down, NULL, once},
	{"sum-across", "over axis 1", 2, {2000, 2000}, matrix, run_sum_across, NULL, once},
	{"argmax", "over axis 1", 2, {2000, 2000}, matrix, run_argmax, NULL, once},
	{"sort", "along axis 1", 2, {1000, 1000}, matrix, run_sort, NULL, twice},
	{"cumsum", "along axis 1", 2, {2000, 2000}, matrix, run_cumsum, NULL, twice},
	{"fused", "exp(-x x) y + x / 2", 2, {2000, 2000}, matrix, run_fused, NULL, three_times},
	{"take", "along axis 1", 2, {1000, 1000}, places, run_take, NULL, twice},
	{"where", "of two by a mask", 2, {2000, 2000}, choice, run_where, NULL, three_and_quarter},
	{"uniform", "random, in [0, 1)", 2, {2000, 2000}, matrix, run_uniform, NULL, once},
	{"softmax", "over axis 1", 2, {2000, 2000}, matrix, run_softmax, NULL, twice},
	{"transpose", "and copy", 2, {2000, 2000}, matrix, run_transpose, NULL, twice},
	{"matmul", "M x N x K", 3, {512, 512, 512}, product, run_matmul, product_flops, NULL},
	{"conv2d", "3 x 3", 4, {8, 64, 32, 32}, images3, run_conv2d, conv2d_flops, NULL},
	{"depthwise", "7 x 7", 4, {8, 96, 16, 16}, images7, run_depthwise, depthwise_flops, NULL},
	{"batch-norm", "training", 4, {32, 64, 32, 32}, images7, run_batch_norm, NULL, twice},
	{"max-pool", "2 x 2", 4, {32, 64, 32, 32}, images7, run_max_pool2d, NULL, once_and_quarter},
	{"avg-pool", "2 x 2", 4, {32, 64, 32, 32}, images7, run_avg_pool2d, NULL, once_and_quarter},
	{"dropout", "of a half", 2, {2000, 2000}, matrix, run_dropout, NULL, twice},
	{"to-last", "NCHW to NHWC", 4, {32, 64, 32, 32}, pair, run_to_last, NULL, twice},
	{"to-first", "NHWC to NCHW", 4, {32, 64, 32, 32}, pair_last, run_to_first, NULL, twice},
	{"layer-norm", "over axis 1", 2, {2048, 384}, pair, run_layer_norm, NULL, twice},
	{"layer-norm-both",
	 "and backward",
	 2,
	 {2048, 384},
	 pair,
	 run_layer_norm_both,
	 NULL,
	 five_times},
	{"batch-norm-both",
	 "and backward",
	 4,
	 {32, 64, 32, 32},
	 pair_last,
	 run_batch_norm_both,
	 NULL,
	 five_times},
};

const struct bench_operation *bench_operation_at(size_t index)
{
	return index < sizeof(operations) / sizeof(operations[0]) ? &operations[index] : NULL;
}
