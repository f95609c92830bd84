/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Every recorded operation's gradient against central differences in double, on the built-in
 * backend and on the preferred one in f32.
 */
#include <tenon/backend.h>
#include <tenon/tenon.h>

#include "check.h"

static tn_context *context;

/* The most inputs that a gradient program has beside the output's gradient. */
enum { MOST = TN_PROGRAM_MAX_INPUTS - 1 };

/* A test case: a function of some arrays, and their shapes. */
struct row {
	const char *name;
	tn_array *(*f)(void *user, tn_array *const *x);
	int n_inputs;
	int rank[MOST];
	int64_t shape[MOST][4];
	int positive; /* inputs in (0.5, 1.5) instead of (-1, 1) */
};

static tn_array *total(tn_array *a)
{
	/* Weights that differ between elements, so that a misplaced gradient is detected. */
	return tn_sum(tn_multiply(a, tn_sin(tn_affine(a, 0.3, 0.7))), TN_ALL_AXES, NULL, 0);
}

static tn_array *f_add(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_add(x[0], x[1]));
}
static tn_array *f_subtract(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_subtract(x[0], x[1]));
}
static tn_array *f_multiply(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_multiply(x[0], x[1]));
}
static tn_array *f_divide(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_divide(x[0], x[1]));
}
static tn_array *f_power(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_power(x[0], x[1]));
}
static tn_array *f_maximum(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_maximum(x[0], x[1]));
}
static tn_array *f_where(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_where(tn_less(x[0], x[1]), x[0], tn_square(x[1])));
}
static tn_array *f_exp(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_exp(x[0]));
}
static tn_array *f_log(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_log(x[0]));
}
static tn_array *f_sqrt(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_sqrt(x[0]));
}
static tn_array *f_tanh(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_tanh(x[0]));
}
static tn_array *f_erf(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_erf(x[0]));
}
static tn_array *f_sigmoid(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_sigmoid(x[0]));
}
static tn_array *f_relu(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_relu(x[0]));
}
static tn_array *f_cos(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_cos(x[0]));
}
static tn_array *f_abs(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_abs(x[0]));
}
static tn_array *f_map(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_map("d = x - y; z = k * d * d / (1 + exp(-x))", 2,
			    (const char *[]){"x", "y"}, (const tn_array *[]){x[0], x[1]}, 1,
			    (const char *[]){"k"}, (double[]){1.5}));
}
static tn_array *f_map_largest(void *u, tn_array *const *x)
{
	static const char *const names[MOST] = {"a", "b", "c", "d", "e", "f", "g", "h",
						"i", "j", "k", "l", "m", "n", "o"};
	const tn_array *inputs[MOST];
	(void)u;
	for (int i = 0; i < MOST; i++)
		inputs[i] = x[i];
	return total(tn_map("z = a*b*c + d*e - f*f*g + exp(h)*i - j*k*l + m*n*2 + sin(o)", MOST,
			    names, inputs, 0, NULL, NULL));
}
static tn_array *f_map_of_eight(void *u, tn_array *const *x)
{
	static const char *const names[8] = {"a", "b", "c", "d", "e", "f", "g", "h"};
	(void)u;
	return total(tn_map("z = a*b + c*d*d + e/(f*f + 1) + g*h", 8, names,
			    (const tn_array *[]){x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]}, 0,
			    NULL, NULL));
}
static tn_array *f_sum(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_sum(x[0], 1, (int[]){1}, 0));
}
static tn_array *f_mean(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_mean(x[0], 2, (int[]){0, 2}, 1));
}
static tn_array *f_max(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_max(x[0], 1, (int[]){-1}, 0));
}
static tn_array *f_prod(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_prod(x[0], 1, (int[]){0}, 0));
}
static tn_array *f_logsumexp(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_logsumexp(x[0], 1, (int[]){1}, 0));
}
static tn_array *f_matmul(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_matmul(x[0], x[1]));
}
static tn_array *f_reshape(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_reshape(x[0], 2, (int64_t[]){-1, 4}));
}
static tn_array *f_transpose(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_matmul(tn_transpose(x[0], (int[]){2, 0, 1}),
			       tn_transpose(x[0], (int[]){2, 1, 0})));
}
static tn_array *f_slice(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_slice(tn_slice(x[0], 2, 1, INT64_MIN, 2), 1, INT64_MIN, INT64_MIN, -2));
}
static tn_array *f_broadcast(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_broadcast_to(x[0], 3, (int64_t[]){2, 3, 4}));
}
static tn_array *f_window(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_sliding_window_view(x[0], 2, (int64_t[]){2, 3}, (int[]){1, 2}));
}
static tn_array *f_take(void *u, tn_array *const *x)
{
	static const int32_t indices[] = {2, 0, 2, 1};
	(void)u;
	return total(tn_take(x[0], tn_from_host(context, TN_I32, 1, (int64_t[]){4}, indices), 1));
}
static tn_array *f_take_along_axis(void *u, tn_array *const *x)
{
	static const int32_t indices[] = {2, 0, 2, 1, -1, 1};
	(void)u;
	return total(tn_take_along_axis(
		tn_transpose(x[0], NULL),
		tn_from_host(context, TN_I32, 2, (int64_t[]){2, 3}, indices), 0));
}
static tn_array *f_sort(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_add(tn_sort(x[0], 1, 0), tn_sort(tn_square(x[0]), 1, 1)));
}
static tn_array *f_topk(void *u, tn_array *const *x)
{
	(void)u;
	return tn_add(total(tn_topk(x[0], 2, -1, 1, NULL)), total(tn_topk(x[0], 1, 0, 0, NULL)));
}
static tn_array *f_cumsum(void *u, tn_array *const *x)
{
	(void)u;
	return tn_add(total(tn_cumsum(x[0], 0)), total(tn_cumsum(x[0], -1)));
}
static tn_array *f_cumprod(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_cumprod(x[0], 1));
}
static tn_array *f_cummax(void *u, tn_array *const *x)
{
	(void)u;
	return tn_add(total(tn_cummax(x[0], 1)), total(tn_cummin(x[0], 2)));
}
static tn_array *f_concatenate(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_concatenate(2, (const tn_array *[]){x[0], x[1]}, 1));
}
static tn_array *f_diagonals(void *u, tn_array *const *x)
{
	(void)u;
	tn_array *line = tn_diagonal(x[0], 1, 0, -1);
	return tn_add(total(line), total(tn_diag(tn_slice(line, 0, 0, 1, 1), -1)));
}
static tn_array *f_triangles(void *u, tn_array *const *x)
{
	(void)u;
	return tn_add(total(tn_tril(x[0], 1)), total(tn_triu(x[0], 0)));
}
static tn_array *f_diag(void *u, tn_array *const *x)
{
	(void)u;
	return tn_add(total(tn_diag(x[0], -1)), total(tn_vander(x[0], 4, 0)));
}
static tn_array *f_stack(void *u, tn_array *const *x)
{
	(void)u;
	tn_array *parts[3];
	if (tn_array_split(tn_stack(2, (const tn_array *[]){x[0], x[1]}, 1), 3, NULL, 2, parts))
		return NULL;
	return total(tn_append(parts[0], parts[2], TN_AXIS_NONE));
}
static tn_array *f_tile(void *u, tn_array *const *x)
{
	(void)u;
	return tn_add(total(tn_tile(x[0], 3, (int64_t[]){2, 1, 3})),
		      total(tn_repeat(x[0], 2, (int64_t[]){1, 3}, 0)));
}
static tn_array *f_insert(void *u, tn_array *const *x)
{
	(void)u;
	tn_array *longer = tn_insert(x[0], 2, (int64_t[]){0, 3}, x[1], 1);
	return total(tn_delete(longer, 1, (int64_t[]){-2}, 1));
}
static tn_array *f_roll(void *u, tn_array *const *x)
{
	(void)u;
	tn_array *rolled = tn_roll(x[0], 1, (int64_t[]){2}, NULL);
	return total(tn_rot90(tn_multiply(rolled, x[0]), 1, 0, 1));
}
static tn_array *f_pad(void *u, tn_array *const *x)
{
	static const int64_t widths[] = {1, 2, 2, 1};
	(void)u;
	tn_array *sum = total(tn_pad(x[0], widths, TN_PAD_CONSTANT, NULL));
	for (uint32_t mode = TN_PAD_EDGE; mode <= TN_PAD_MEAN; mode++)
		sum = tn_add(sum, total(tn_pad(x[0], widths, mode, NULL)));
	return sum;
}
static tn_array *f_copy(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_copy(tn_transpose(x[0], NULL)));
}
static tn_array *f_twice(void *u, tn_array *const *x)
{
	(void)u;
	/* One array used three times: its gradients add up. */
	return total(tn_add(tn_multiply(x[0], x[0]), x[0]));
}
static tn_array *f_linear(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_linear(x[0], x[1], x[2]));
}
static tn_array *f_conv2d(void *u, tn_array *const *x)
{
	const struct tn_conv2d_options o = {
		.struct_size = sizeof(o), .stride = {2, 1}, .padding = {1, 0}, .dilation = {1, 2}};
	(void)u;
	return total(tn_conv2d(x[0], x[1], x[2], &o));
}
static tn_array *f_conv2d_groups(void *u, tn_array *const *x)
{
	const struct tn_conv2d_options o = {
		.struct_size = sizeof(o), .groups = 2, .padding = {1, 1}};
	(void)u;
	return total(tn_conv2d(x[0], x[1], NULL, &o));
}
static tn_array *f_max_pool(void *u, tn_array *const *x)
{
	const struct tn_pool2d_options o = {
		.struct_size = sizeof(o), .kernel = {3, 2}, .stride = {2, 1}, .padding = {1, 1}};
	(void)u;
	return total(tn_max_pool2d(x[0], &o));
}
static tn_array *f_avg_pool(void *u, tn_array *const *x)
{
	const struct tn_pool2d_options o = {.struct_size = sizeof(o),
					    .kernel = {3, 2},
					    .stride = {2, 2},
					    .padding = {1, 1},
					    .exclude_padding = 1};
	(void)u;
	return total(tn_avg_pool2d(x[0], &o));
}
static tn_array *f_softmax(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_softmax(x[0], 1));
}
static tn_array *f_log_softmax(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_log_softmax(x[0], -1));
}
static tn_array *f_cross_entropy(void *u, tn_array *const *x)
{
	static const int32_t labels[] = {2, 0, 9, 1};
	(void)u;
	return tn_cross_entropy(x[0], tn_from_host(context, TN_I32, 1, (int64_t[]){4}, labels),
				TN_OPTIONS(struct tn_cross_entropy_options, .has_ignore_label = 1,
					   .ignore_label = 9));
}
static tn_array *f_dropout(void *u, tn_array *const *x)
{
	(void)u;
	tn_random_state_set(context, (struct tn_random_state){5, 7}); /* the same mask each time */
	return total(tn_dropout(x[0], 0.4));
}
static tn_array *f_flatten(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_flatten(x[0], 1));
}
static tn_array *f_relu6(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_relu6(tn_affine(x[0], 9.1, 2.0)));
}
static tn_array *f_hardswish(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_hardswish(tn_affine(x[0], 4.2, 0.0)));
}
static tn_array *f_leaky_relu(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_leaky_relu(x[0], 0.3));
}
static tn_array *f_elu(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_elu(x[0], 0.7));
}
static tn_array *f_celu(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_celu(x[0], 0.7));
}
static tn_array *f_selu(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_selu(x[0]));
}
static tn_array *f_softplus(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_softplus(x[0], 1.5, 1));
}
static tn_array *f_mish(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_mish(x[0]));
}
static tn_array *f_softsign(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_softsign(x[0]));
}
static tn_array *f_log_sigmoid(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_log_sigmoid(x[0]));
}
static tn_array *f_hardsigmoid(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_hardsigmoid(tn_affine(x[0], 4.2, 0.0)));
}
static tn_array *f_hardtanh(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_hardtanh(x[0], -0.5, 0.56));
}
static tn_array *f_prelu(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_prelu(x[0], x[1]));
}
static tn_array *f_silu(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_silu(x[0]));
}
static tn_array *f_gelu(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_gelu(x[0]));
}
static tn_array *f_gelu_tanh(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_gelu_tanh(x[0]));
}
static tn_array *f_batch_norm(void *u, tn_array *const *x)
{
	const struct tn_batch_norm_options o = {.struct_size = sizeof(o), .training = 1};
	(void)u;
	return total(tn_batch_norm(x[0], x[1], x[2], &o));
}
static tn_array *f_batch_norm_fused(void *u, tn_array *const *x)
{
	/* The residual depends on x too: both paths add up. */
	const struct tn_batch_norm_options o = {.struct_size = sizeof(o),
						.training = 1,
						.activation = TN_ACTIVATION_RELU6,
						.residual = tn_affine(x[0], 3.0, 0.4)};
	(void)u;
	return total(tn_batch_norm(x[0], x[1], x[2], &o));
}
static tn_array *f_batch_norm_running(void *u, tn_array *const *x)
{
	tn_dtype dtype = tn_array_dtype(x[0]);
	const struct tn_batch_norm_options o = {
		.struct_size = sizeof(o),
		.activation = TN_ACTIVATION_RELU,
		.running_mean = tn_full(context, dtype, 1, (int64_t[]){3}, 0.1),
		.running_var = tn_full(context, dtype, 1, (int64_t[]){3}, 0.7)};
	(void)u;
	return total(tn_batch_norm(x[0], x[1], x[2], &o));
}
static tn_array *f_layer_norm(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_layer_norm(x[0], x[1], x[2], tn_array_rank(x[1]), 0));
}
static tn_array *f_layer_norm_plain(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_layer_norm(tn_transpose(x[0], (int[]){0, 2, 1}), NULL, NULL, 1, 1e-3));
}
static tn_array *f_group_norm(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_group_norm(x[0], x[1], x[2], 2, 1e-3));
}
static tn_array *f_adaptive_pool(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_adaptive_avg_pool2d(x[0], 3, 2));
}
static tn_array *f_global_pool(void *u, tn_array *const *x)
{
	(void)u;
	return total(tn_global_avg_pool(x[0]));
}

static const struct row rows[] = {
	{"add, broadcast", f_add, 2, {3, 2}, {{2, 3, 4}, {3, 1}}, 0},
	{"subtract", f_subtract, 2, {2, 2}, {{3, 4}, {1, 4}}, 0},
	{"multiply", f_multiply, 2, {2, 1}, {{3, 4}, {4}}, 0},
	{"divide", f_divide, 2, {2, 2}, {{3, 4}, {3, 4}}, 1},
	{"power", f_power, 2, {2, 2}, {{3, 4}, {3, 4}}, 1},
	{"maximum", f_maximum, 2, {2, 2}, {{3, 4}, {3, 4}}, 0},
	{"where", f_where, 2, {2, 2}, {{3, 4}, {3, 4}}, 0},
	{"exp", f_exp, 1, {2}, {{3, 4}}, 0},
	{"log", f_log, 1, {2}, {{3, 4}}, 1},
	{"sqrt", f_sqrt, 1, {2}, {{3, 4}}, 1},
	{"tanh", f_tanh, 1, {2}, {{3, 4}}, 0},
	{"erf", f_erf, 1, {2}, {{3, 4}}, 0},
	{"sigmoid", f_sigmoid, 1, {2}, {{3, 4}}, 0},
	{"relu", f_relu, 1, {2}, {{3, 4}}, 0},
	{"cos", f_cos, 1, {2}, {{3, 4}}, 0},
	{"abs", f_abs, 1, {2}, {{3, 4}}, 0},
	{"a user's program", f_map, 2, {2, 1}, {{3, 4}, {4}}, 0},
	{"a program of 8 inputs",
	 f_map_of_eight,
	 8,
	 {2, 1, 2, 0, 2, 1, 2, 2},
	 {{3, 4}, {4}, {3, 1}, {0}, {3, 4}, {4}, {3, 4}, {1, 4}},
	 0},
	{"a program of 15 inputs",
	 f_map_largest,
	 MOST,
	 {2, 1, 2, 0, 2, 1, 2, 2, 1, 2, 0, 2, 1, 2, 2},
	 {{3, 4},
	  {4},
	  {3, 1},
	  {0},
	  {3, 4},
	  {4},
	  {3, 4},
	  {1, 4},
	  {4},
	  {3, 1},
	  {0},
	  {3, 4},
	  {4},
	  {3, 4},
	  {3, 4}},
	 0},
	{"sum", f_sum, 1, {3}, {{2, 3, 4}}, 0},
	{"mean", f_mean, 1, {3}, {{2, 3, 4}}, 0},
	{"max", f_max, 1, {3}, {{2, 3, 4}}, 0},
	{"prod", f_prod, 1, {2}, {{3, 4}}, 0},
	{"logsumexp", f_logsumexp, 1, {2}, {{3, 4}}, 0},
	{"matmul", f_matmul, 2, {2, 2}, {{3, 4}, {4, 5}}, 0},
	{"matmul, batch and broadcast", f_matmul, 2, {3, 2}, {{2, 3, 4}, {4, 5}}, 0},
	{"matmul, vectors", f_matmul, 2, {1, 1}, {{4}, {4}}, 0},
	{"matmul, matrix by vector", f_matmul, 2, {2, 1}, {{3, 4}, {4}}, 0},
	{"reshape", f_reshape, 1, {3}, {{2, 3, 4}}, 0},
	{"transpose", f_transpose, 1, {3}, {{3, 3, 4}}, 0},
	{"slice", f_slice, 1, {3}, {{2, 3, 5}}, 0},
	{"broadcast_to", f_broadcast, 1, {2}, {{3, 1}}, 0},
	{"sliding_window_view", f_window, 1, {3}, {{2, 4, 5}}, 0},
	{"take", f_take, 1, {2}, {{3, 4}}, 0},
	{"take_along_axis", f_take_along_axis, 1, {2}, {{3, 4}}, 0},
	{"sort", f_sort, 1, {3}, {{2, 5, 3}}, 0},
	{"topk", f_topk, 1, {2}, {{3, 4}}, 0},
	{"cumsum", f_cumsum, 1, {3}, {{2, 3, 4}}, 0},
	{"cumprod", f_cumprod, 1, {3}, {{2, 5, 3}}, 0},
	{"cummax, cummin", f_cummax, 1, {3}, {{2, 3, 4}}, 0},
	{"concatenate", f_concatenate, 2, {2, 2}, {{3, 2}, {3, 4}}, 0},
	{"diagonal", f_diagonals, 1, {3}, {{3, 1, 3}}, 0},
	{"tril, triu", f_triangles, 1, {3}, {{2, 3, 4}}, 0},
	{"diag, vander", f_diag, 1, {1}, {{4}}, 0},
	{"stack, array_split, append", f_stack, 2, {2, 2}, {{2, 4}, {2, 4}}, 0},
	{"tile, repeat", f_tile, 1, {2}, {{2, 3}}, 0},
	{"insert, delete", f_insert, 2, {2, 1}, {{2, 3}, {2}}, 0},
	{"roll, rot90", f_roll, 1, {2}, {{3, 4}}, 0},
	{"pad", f_pad, 1, {2}, {{3, 4}}, 0},
	{"copy of a transpose", f_copy, 1, {2}, {{3, 4}}, 0},
	{"one array used thrice", f_twice, 1, {2}, {{3, 4}}, 0},
	{"linear", f_linear, 3, {3, 2, 1}, {{2, 3, 4}, {5, 4}, {5}}, 0},
	{"conv2d", f_conv2d, 3, {4, 4, 1}, {{2, 3, 5, 6}, {4, 3, 3, 2}, {4}}, 0},
	{"conv2d, groups", f_conv2d_groups, 2, {4, 4}, {{2, 4, 4, 5}, {6, 2, 3, 3}}, 0},
	{"max_pool2d", f_max_pool, 1, {4}, {{2, 2, 6, 5}}, 0},
	{"avg_pool2d", f_avg_pool, 1, {4}, {{2, 2, 6, 5}}, 0},
	{"softmax", f_softmax, 1, {3}, {{2, 3, 4}}, 0},
	{"log_softmax", f_log_softmax, 1, {2}, {{3, 4}}, 0},
	{"cross_entropy", f_cross_entropy, 1, {2}, {{4, 3}}, 0},
	{"dropout", f_dropout, 1, {2}, {{5, 6}}, 0},
	{"relu6", f_relu6, 1, {2}, {{3, 4}}, 0},
	{"hardswish", f_hardswish, 1, {2}, {{3, 4}}, 0},
	{"leaky_relu", f_leaky_relu, 1, {2}, {{3, 4}}, 0},
	{"elu", f_elu, 1, {2}, {{3, 4}}, 0},
	{"celu", f_celu, 1, {2}, {{3, 4}}, 0},
	{"selu", f_selu, 1, {2}, {{3, 4}}, 0},
	{"softplus", f_softplus, 1, {2}, {{3, 4}}, 0},
	{"mish", f_mish, 1, {2}, {{3, 4}}, 0},
	{"softsign", f_softsign, 1, {2}, {{3, 4}}, 0},
	{"log_sigmoid", f_log_sigmoid, 1, {2}, {{3, 4}}, 0},
	{"hardsigmoid", f_hardsigmoid, 1, {2}, {{3, 4}}, 0},
	{"hardtanh", f_hardtanh, 1, {2}, {{3, 4}}, 0},
	{"prelu", f_prelu, 2, {3, 1}, {{2, 3, 4}, {3}}, 0},
	{"prelu, one slope", f_prelu, 2, {2, 1}, {{3, 4}, {1}}, 0},
	{"silu", f_silu, 1, {2}, {{3, 4}}, 0},
	{"gelu", f_gelu, 1, {2}, {{3, 4}}, 0},
	{"gelu_tanh", f_gelu_tanh, 1, {2}, {{3, 4}}, 0},
	{"batch_norm", f_batch_norm, 3, {4, 1, 1}, {{3, 3, 2, 3}, {3}, {3}}, 0},
	{"batch_norm of rows", f_batch_norm, 3, {2, 1, 1}, {{7, 3}, {3}, {3}}, 0},
	{"batch_norm, residual, relu6",
	 f_batch_norm_fused,
	 3,
	 {4, 1, 1},
	 {{3, 3, 2, 3}, {3}, {3}},
	 0},
	{"batch_norm, running, relu",
	 f_batch_norm_running,
	 3,
	 {4, 1, 1},
	 {{3, 3, 2, 3}, {3}, {3}},
	 0},
	{"layer_norm", f_layer_norm, 3, {3, 1, 1}, {{2, 3, 5}, {5}, {5}}, 0},
	{"layer_norm, two axes", f_layer_norm, 3, {3, 2, 2}, {{2, 3, 5}, {3, 5}, {3, 5}}, 0},
	{"layer_norm, transposed", f_layer_norm_plain, 1, {3}, {{2, 5, 3}}, 0},
	{"group_norm", f_group_norm, 3, {4, 1, 1}, {{2, 4, 2, 3}, {4}, {4}}, 0},
	{"adaptive_avg_pool2d", f_adaptive_pool, 1, {4}, {{2, 2, 5, 6}}, 0},
	{"adaptive_avg_pool2d, equal parts", f_adaptive_pool, 1, {4}, {{2, 2, 6, 4}}, 0},
	{"global_avg_pool", f_global_pool, 1, {4}, {{2, 3, 5, 6}}, 0},
	{"flatten", f_flatten, 1, {3}, {{2, 3, 4}}, 0},
};

/* Numbers without ties: a low-discrepancy sequence. */
static tn_array *input(const struct row *row, int i, tn_dtype dtype)
{
	double doubles[512];
	float floats[512];
	int64_t n = 1;
	for (int axis = 0; axis < row->rank[i]; axis++)
		n *= row->shape[i][axis];
	for (int64_t k = 0; k < n; k++) {
		double u = fmod(0.5 + 0.6180339887498949 * (double)(k + 1) + 0.31 * i, 1.0);
		doubles[k] = row->positive ? 0.5 + u : 2.0 * u - 1.0;
		floats[k] = (float)doubles[k];
	}
	return tn_from_host(context, dtype, row->rank[i], row->shape[i],
			    dtype == TN_F64 ? (void *)doubles : (void *)floats);
}

static void check_row(const struct row *row, tn_dtype dtype, double step, double tolerance)
{
	tn_array *x[MOST];
	struct tn_gradient_report report;
	assert_ok(tn_scope_begin(context));
	for (int i = 0; i < row->n_inputs; i++)
		x[i] = input(row, i, dtype);
	tn_status status = tn_gradient_check(context, row->f, NULL, row->n_inputs, x, step,
					     tolerance, 0, &report);
	if (status)
		print_error("%s, %s: %s\n", row->name, tn_dtype_name(dtype),
			    tn_error(context)->text);
	assert_ok(status);
	tn_scope_end(context, NULL);
}

static void open_context(const char *backend)
{
	struct tn_error_info error;
	struct tn_context_options options = {.struct_size = sizeof(options), .backend = backend};
	assert_ok(tn_context_open(&options, &context, &error));
}

/* Differences with step h err by h^2 f''' / 6, and by eps |f| / h from rounding:
 * 1e-12 + 1e-10 here. */
static void every_gradient_is_right_in_double(void **state)
{
	(void)state;
	open_context("reference!");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_row(&rows[i], TN_F64, 1e-6, 1e-7);
	tn_context_close(context);
}

/* In f32 with step 1e-2: h^2 = 1e-4, eps |f| / h = 1e-7 * 10 / 1e-2 = 1e-4. */
static void every_gradient_is_right_in_f32_on_the_preferred_backend(void **state)
{
	(void)state;
	open_context("auto");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_row(&rows[i], TN_F32, 1e-2, 2e-2);
	tn_context_close(context);
}

/* The gradient of a product at a zero is the product of the others. */
static void zeros_in_a_running_product_have_their_gradients(void **state)
{
	static const double numbers[] = {0.5, 0, -1.2, 0.7, 0, 2, 0, 1.5, 1.1, 3, -0.4, 0.9};
	struct tn_gradient_report report;
	(void)state;
	open_context("reference!");
	assert_ok(tn_scope_begin(context));
	tn_array *x = tn_from_host(context, TN_F64, 3, (int64_t[]){2, 6, 1}, numbers);
	assert_ok(tn_gradient_check(context, f_cumprod, NULL, 1, &x, 1e-6, 1e-7, 0, &report));
	tn_scope_end(context, NULL);
	tn_context_close(context);
}

/* Zeros are counted in i64, which promotes narrow types to f32. */
static void a_running_product_of_a_narrow_type_has_a_gradient(void **state)
{
	float found[3];
	(void)state;
	open_context("reference!");
	assert_ok(tn_scope_begin(context));
	tn_array *x = tn_arange(context, TN_F32, 2, 5, 1);
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	tn_array *narrow = tn_astype(x, TN_F16);
	assert_ok(
		tn_tape_backward(tape, tn_sum(tn_cumprod(narrow, 0), TN_ALL_AXES, NULL, 0), NULL));
	assert_ok(tn_to_host(tn_tape_gradient(tape, x), found, sizeof(found)));
	/* 2 + 2 3 + 2 3 4 by each */
	assert_true(found[0] == 16 && found[1] == 10 && found[2] == 6);
	tn_tape_end(tape);
	tn_scope_end(context, NULL);
	tn_context_close(context);
}

/* The gradient of f for the n given numbers x, with the upstream gradient 1, 10, 100, ... */
static void gradient_of(tn_array *(*f)(const tn_array *x), int64_t n, const float *numbers,
			float *found)
{
	static const float weights[] = {1, 10, 100, 1000, 10000};
	assert_ok(tn_scope_begin(context));
	tn_array *x = tn_from_host(context, TN_F32, 1, &n, numbers);
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	tn_array *y = f(x);
	tn_array *dy = tn_from_host(context, TN_F32, 1, tn_array_shape(y), weights);
	assert_ok(tn_tape_backward(tape, y, dy));
	assert_ok(tn_to_host(tn_tape_gradient(tape, x), found, (size_t)n * sizeof(*found)));
	tn_tape_end(tape);
	tn_scope_end(context, NULL);
}

static tn_array *cummax(const tn_array *x)
{
	return tn_cummax(x, 0);
}
static tn_array *cummin(const tn_array *x)
{
	return tn_cummin(x, 0);
}
static tn_array *descending(const tn_array *x)
{
	return tn_sort(x, 0, 1);
}
static tn_array *largest_two(const tn_array *x)
{
	return tn_topk(x, 2, 0, 1, NULL);
}

static tn_array *largest(const tn_array *x)
{
	return tn_max(x, TN_ALL_AXES, NULL, 1);
}
static tn_array *product(const tn_array *x)
{
	return tn_prod(x, TN_ALL_AXES, NULL, 1);
}

/* Equal extremes share the gradient; for running extremes the last of equal elements gets the
 * gradient, and the last NaN; sorting is stable. */
static void equals_zeros_and_nans_have_their_gradients(void **state)
{
	static const struct {
		tn_array *(*f)(const tn_array *x);
		float x[5], expected[5];
	} cases[] = {
		{cummax, {1, 1, 0, 1, 2}, {1, 110, 0, 1000, 10000}},
		{cummax, {1, NAN, 3, NAN, 2}, {1, 110, 0, 11000, 0}},
		{cummin, {1, 1, 2, 1, 0}, {1, 110, 0, 1000, 10000}},
		{cummin, {1, NAN, 0, NAN, 2}, {1, 110, 0, 11000, 0}},
		{descending, {1, 2, 1, 2, NAN}, {1000, 10, 10000, 100, 1}},
		{largest, {1, 3, 0, 3, 2}, {0, 0.5f, 0, 0.5f, 0}},
		{largest, {2, 2, 2, 2, 1}, {0.25f, 0.25f, 0.25f, 0.25f, 0}},
		{product, {2, 5, 3, 1, 1}, {15, 6, 10, 30, 30}},
		{product, {2, 0, 3, 1, 1}, {0, 6, 0, 0, 0}},
		{product, {2, 0, 3, 0, 1}, {0, 0, 0, 0, 0}},
		{largest_two, {1, 2, 2, 2, 0}, {0, 1, 10, 0, 0}},
	};
	float found[5];
	(void)state;
	open_context("auto");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		gradient_of(cases[i].f, 5, cases[i].x, found);
		for (int k = 0; k < 5; k++)
			assert_float_equal(found[k], cases[i].expected[k], 0);
	}
	tn_context_close(context);
}

/* The sum of the inputs' products with 1, 2, 3, ... in one program of ten inputs, of which `wanted`
 * are watched. */
static void check_ten(const int *wanted, int n_wanted)
{
	static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
	const tn_array *inputs[10];
	tn_array *x[10];
	float found;
	assert_ok(tn_scope_begin(context));
	for (int k = 0; k < 10; k++)
		inputs[k] = x[k] = tn_full(context, TN_F32, 1, (int64_t[]){1}, k + 1);
	tn_tape *tape = tn_tape_begin(context);
	for (int k = 0; k < n_wanted; k++)
		assert_ok(tn_tape_watch(tape, x[wanted[k]]));
	tn_array *y = tn_map("y = a*b + 2*c + 3*d + 4*e + 5*f + 6*g + 7*h + 8*i + 9*j", 10, names,
			     inputs, 0, NULL, NULL);
	assert_ok(tn_tape_backward(tape, y, NULL));
	for (int k = 0; k < n_wanted; k++) {
		const int i = wanted[k];
		assert_ok(tn_to_host(tn_tape_gradient(tape, x[i]), &found, sizeof(found)));
		assert_true(found == (i == 0 ? 2 : i == 1 ? 1 : (float)i));
	}
	tn_tape_end(tape);
	tn_scope_end(context, NULL);
}

/* A derivative is kept for each choice of inputs, and serves no other. */
static void each_choice_of_inputs_has_its_own_derivative(void **state)
{
	static const int all[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
	(void)state;
	open_context("auto");
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 10; i++) {
			check_ten(&all[i], 1);
			check_ten((const int[]){i, (i + 8) % 10}, 2);
			check_ten((const int[]){i, (i + 1) % 10}, 2);
		}
		check_ten(all, 10);
	}
	tn_context_close(context);
}

/* A concatenation of two types has the wider one; each part's gradient has its own. */
static void parts_of_a_concatenation_have_gradients_of_their_types(void **state)
{
	float found[2];
	(void)state;
	open_context("auto");
	tn_array *narrow = tn_full(context, TN_F16, 1, (int64_t[]){2}, 2);
	tn_array *wide = tn_full(context, TN_F32, 1, (int64_t[]){2}, 3);
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, narrow));
	assert_ok(tn_tape_watch(tape, wide));
	tn_array *both = tn_concatenate(2, (const tn_array *[]){narrow, wide}, 0);
	assert_int_equal(tn_array_dtype(both), TN_F32);
	assert_ok(tn_tape_backward(tape, tn_sum(tn_square(both), TN_ALL_AXES, NULL, 0), NULL));
	tn_array *g = tn_tape_gradient(tape, narrow);
	assert_int_equal(tn_array_dtype(g), TN_F16);
	assert_ok(tn_to_host(tn_astype(g, TN_F32), found, sizeof(found)));
	assert_true(found[0] == 4 && found[1] == 4);
	tn_tape_end(tape);
	tn_context_close(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_gradient_is_right_in_double),
		cmocka_unit_test(every_gradient_is_right_in_f32_on_the_preferred_backend),
		cmocka_unit_test(equals_zeros_and_nans_have_their_gradients),
		cmocka_unit_test(zeros_in_a_running_product_have_their_gradients),
		cmocka_unit_test(a_running_product_of_a_narrow_type_has_a_gradient),
		cmocka_unit_test(each_choice_of_inputs_has_its_own_derivative),
		cmocka_unit_test(parts_of_a_concatenation_have_gradients_of_their_types),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
