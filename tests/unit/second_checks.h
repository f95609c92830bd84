/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Second derivatives of each operation that has them, for tests on several backends: the Hessian of
 * a scalar function times weights, by create_graph.
 */
#ifndef TN_TESTS_SECOND_CHECKS_H
#define TN_TESTS_SECOND_CHECKS_H

#include <tenon/tenon.h>

#include "check.h"

enum { SECOND_INPUTS = 3, SECOND_ELEMENTS = 128 };

struct second_row {
	const char *name;
	tn_array *(*f)(tn_array *const *x);
	int n_inputs;
	int rank[SECOND_INPUTS];
	int64_t shape[SECOND_INPUTS][4];
	int positive; /* inputs in (0.5, 1.5) instead of (-1, 1) */
	int has_zeros;
};

static inline tn_array *second_total(tn_array *a)
{
	/* Weights that differ between elements, and that are not linear. */
	return tn_sum(tn_multiply(a, tn_sin(tn_affine(a, 0.9, 0.7))), TN_ALL_AXES, NULL, 0);
}

#define SECOND(name, expression)                                                                   \
	static inline tn_array *second_##name(tn_array *const *x)                                  \
	{                                                                                          \
		return second_total(expression);                                                   \
	}

SECOND(add, tn_add(x[0], x[1]))
SECOND(multiply, tn_multiply(x[0], x[1]))
SECOND(divide, tn_divide(x[0], x[1]))
SECOND(power, tn_power(x[0], x[1]))
SECOND(maximum, tn_maximum(x[0], x[1]))
SECOND(exp, tn_exp(x[0]))
SECOND(tanh, tn_tanh(x[0]))
SECOND(sigmoid, tn_sigmoid(x[0]))
SECOND(relu, tn_multiply(tn_relu(x[0]), tn_square(x[0])))
SECOND(gelu, tn_gelu(x[0]))
SECOND(silu, tn_silu(x[0]))
SECOND(softplus, tn_softplus(x[0], 2, 20))
SECOND(log_sigmoid, tn_log_sigmoid(x[0]))
SECOND(mish, tn_mish(x[0]))
SECOND(hypot, tn_hypot(x[0], x[1]))
SECOND(logaddexp, tn_logaddexp(x[0], x[1]))
SECOND(xlogy, tn_xlogy(x[0], x[1]))
SECOND(cbrt, tn_cbrt(x[0]))
SECOND(sinc, tn_sinc(x[0]))
SECOND(erfc, tn_erfc(x[0]))
SECOND(elu, tn_elu(x[0], 0.7))
SECOND(selu, tn_selu(x[0]))
SECOND(softsign, tn_softsign(x[0]))
SECOND(hardswish, tn_hardswish(tn_affine(x[0], 5, 0)))
SECOND(prelu, tn_square(tn_prelu(x[0], x[1])))
SECOND(twice, tn_multiply(tn_multiply(x[0], x[0]), x[0]))
SECOND(map, tn_map("d = x - y; z = 1.5 * d * d / (1 + exp(-x))", 2, (const char *[]){"x", "y"},
		   (const tn_array *[]){x[0], x[1]}, 0, NULL, NULL))
SECOND(sum, tn_sum(x[0], 1, (int[]){1}, 0))
SECOND(mean, tn_mean(x[0], 2, (int[]){0, 2}, 1))
SECOND(max, tn_max(x[0], 1, (int[]){-1}, 0))
SECOND(prod, tn_prod(x[0], 2, (int[]){0, 2}, 0))
SECOND(logsumexp, tn_logsumexp(x[0], 1, (int[]){1}, 0))
SECOND(matmul, tn_matmul(x[0], x[1]))
SECOND(linear, tn_linear(x[0], x[1], x[2]))
SECOND(reshape, tn_reshape(tn_square(x[0]), 2, (int64_t[]){-1, 4}))
SECOND(transpose,
       tn_matmul(tn_transpose(x[0], (int[]){2, 0, 1}), tn_transpose(x[0], (int[]){2, 1, 0})))
SECOND(slice, tn_slice(tn_slice(x[0], 2, 1, INT64_MIN, 2), 1, INT64_MIN, INT64_MIN, -2))
SECOND(broadcast, tn_broadcast_to(x[0], 3, (int64_t[]){2, 3, 4}))
SECOND(window, tn_sliding_window_view(x[0], 2, (int64_t[]){2, 3}, (int[]){1, 2}))
SECOND(concatenate, tn_concatenate(2, (const tn_array *[]){x[0], x[1]}, 1))
SECOND(diagonal, tn_diagonal(x[0], -1, 2, 0))
SECOND(triangle, tn_tril(x[0], 0))
SECOND(pad, tn_pad(x[0], (int64_t[]){1, 3, 0, 2}, TN_PAD_SYMMETRIC, NULL))
SECOND(copy, tn_copy(tn_transpose(x[0], NULL)))
SECOND(complex, tn_abs(tn_multiply(tn_complex(x[0], x[1]), tn_exp(tn_complex(x[1], x[0])))))
SECOND(complex_matmul, tn_imag(tn_matmul(tn_complex(x[0], x[0]), tn_complex(x[1], tn_sin(x[1])))))
SECOND(softmax, tn_softmax(x[0], -2))
SECOND(log_softmax, tn_log_softmax(x[0], 1))
SECOND(cumsum, tn_cumsum(x[0], 1))
SECOND(cummax, tn_cummax(x[0], 1))
SECOND(sort, tn_sort(x[0], 1, 0))

static inline tn_array *second_take(tn_array *const *x)
{
	static const int32_t indices[] = {2, 0, 2, 1};
	return second_total(tn_take(
		x[0], tn_from_host(tn_array_context(x[0]), TN_I32, 1, (int64_t[]){4}, indices), 1));
}

static inline tn_array *second_conv2d(tn_array *const *x)
{
	const struct tn_conv2d_options o = {
		.struct_size = sizeof(o), .stride = {2, 1}, .padding = {1, 0}, .dilation = {1, 2}};
	return second_total(tn_conv2d(x[0], x[1], x[2], &o));
}

static inline tn_array *second_conv2d_groups(tn_array *const *x)
{
	const struct tn_conv2d_options o = {
		.struct_size = sizeof(o), .groups = 2, .padding = {1, 1}};
	return second_total(tn_conv2d(x[0], x[1], NULL, &o));
}

static inline tn_array *second_labels(const tn_array *x)
{
	static const int32_t labels[] = {2, 0, 1, 1};
	return tn_from_host(tn_array_context(x), TN_I32, 1, (int64_t[]){4}, labels);
}

static inline tn_array *second_signs(const tn_array *x)
{
	static const int32_t signs[] = {1, -1, 1, -1};
	return tn_from_host(tn_array_context(x), TN_I32, 1, (int64_t[]){4}, signs);
}

SECOND(mse, tn_mse_loss(x[0], x[1], TN_REDUCTION_NONE))
SECOND(huber, tn_huber_loss(x[0], x[1], 0.5, TN_REDUCTION_NONE))
SECOND(smooth_l1, tn_smooth_l1_loss(x[0], x[1], 0.5, TN_REDUCTION_NONE))
SECOND(l1, tn_square(tn_l1_loss(x[0], x[1], TN_REDUCTION_NONE)))
SECOND(hinge, tn_square(tn_hinge_embedding_loss(x[0], tn_sign(x[0]), 0.9, TN_REDUCTION_NONE)))
SECOND(binary, tn_binary_cross_entropy_with_logits(x[0], tn_sigmoid(x[1]), NULL))
SECOND(binary_none,
       tn_binary_cross_entropy_with_logits(x[0], tn_sigmoid(x[1]),
					   TN_OPTIONS(struct tn_binary_cross_entropy_options,
						      .reduction = TN_REDUCTION_NONE)))
SECOND(kl_div, tn_kl_div(tn_log_softmax(x[0], 1), tn_softmax(x[1], 1), 0, TN_REDUCTION_NONE))
SECOND(cosine, tn_cosine_embedding_loss(x[0], x[1], second_signs(x[0]), -0.9, TN_REDUCTION_NONE))
SECOND(nll, tn_nll_loss(tn_log_softmax(x[0], 1), second_labels(x[0]), NULL))
SECOND(margin, tn_multi_margin_loss(x[0], second_labels(x[0]), 2, 1, NULL, TN_REDUCTION_NONE))
static inline tn_array *second_smoothed(tn_array *const *x)
{
	static const double weights[] = {0.5, 1.5, 1.25};
	tn_array *weight = tn_from_host(tn_array_context(x[0]), TN_F64, 1, (int64_t[]){3}, weights);
	return tn_cross_entropy(tn_affine(x[0], 2, 0), second_labels(x[0]),
				TN_OPTIONS(struct tn_cross_entropy_options,
					   .weight = tn_astype(weight, tn_array_dtype(x[0])),
					   .label_smoothing = 0.1));
}

SECOND(probabilities, tn_cross_entropy(x[0], tn_softmax(x[1], 1), NULL))

static inline tn_array *second_cross_entropy_of(tn_array *const *x, uint32_t reduction)
{
	static const int32_t labels[] = {2, 0, 9, 1};
	return tn_cross_entropy(
		tn_affine(x[0], 2, 0),
		tn_from_host(tn_array_context(x[0]), TN_I32, 1, (int64_t[]){4}, labels),
		TN_OPTIONS(struct tn_cross_entropy_options, .reduction = reduction,
			   .has_ignore_label = 1, .ignore_label = 9));
}

static inline tn_array *second_cross_entropy(tn_array *const *x)
{
	return second_cross_entropy_of(x, TN_REDUCTION_MEAN);
}

static inline tn_array *second_cross_entropies(tn_array *const *x)
{
	return second_total(second_cross_entropy_of(x, TN_REDUCTION_NONE));
}

static inline tn_array *second_max_pool(tn_array *const *x)
{
	const struct tn_pool2d_options o = {
		.struct_size = sizeof(o), .kernel = {3, 2}, .stride = {2, 1}, .padding = {1, 1}};
	return second_total(tn_max_pool2d(tn_square(x[0]), &o));
}

static inline tn_array *second_conv_transpose2d(tn_array *const *x)
{
	const struct tn_conv_transpose2d_options o = {.struct_size = sizeof(o),
						      .stride = {2, 1},
						      .padding = {1, 0},
						      .output_padding = {1, 0},
						      .groups = 2};
	return second_total(tn_conv_transpose2d(x[0], x[1], x[2], &o));
}

static inline tn_array *second_attention(tn_array *const *x)
{
	return second_total(tn_scaled_dot_product_attention(
		x[0], x[1], x[2], TN_OPTIONS(struct tn_attention_options, .causal = 1)));
}

static inline tn_array *second_lstm(tn_array *const *x)
{
	tn_array *h, *c, *y = tn_lstm(x[0], x[1], x[2], NULL, NULL, NULL, &h, &c);
	return tn_add(second_total(y), tn_add(second_total(h), second_total(c)));
}

static inline tn_array *second_gru(tn_array *const *x)
{
	tn_array *h, *y = tn_gru(x[0], x[1], x[2], NULL, NULL, NULL, &h);
	return tn_add(second_total(y), second_total(h));
}

static inline tn_array *second_constant(const tn_array *like, int rank, const int64_t *shape)
{
	return tn_full(tn_array_context(like), tn_array_dtype(like), rank, shape, 0.3);
}

/* From the last step to the first, of the states and biases. */
static inline tn_array *second_lstm_reverse(tn_array *const *x)
{
	const struct tn_recurrent_options o = {
		.struct_size = sizeof(o), .reverse = 1, .h0 = x[0], .c0 = x[1]};
	tn_array *w_ih = second_constant(x[0], 2, (int64_t[]){8, 3});
	tn_array *w_hh = second_constant(x[0], 2, (int64_t[]){8, 2});
	tn_array *steps = second_constant(x[0], 3, (int64_t[]){2, 3, 3}), *c;
	tn_array *y = tn_lstm(steps, w_ih, w_hh, x[2], tn_sin(x[2]), &o, NULL, &c);
	return tn_add(second_total(y), second_total(c));
}

static inline tn_array *second_gru_reverse(tn_array *const *x)
{
	const struct tn_recurrent_options o = {.struct_size = sizeof(o), .reverse = 1, .h0 = x[0]};
	tn_array *w_ih = second_constant(x[0], 2, (int64_t[]){6, 3});
	tn_array *w_hh = second_constant(x[0], 2, (int64_t[]){6, 2});
	tn_array *steps = second_constant(x[0], 3, (int64_t[]){2, 3, 3});
	return second_total(tn_gru(steps, w_ih, w_hh, x[1], x[2], &o, NULL));
}

static inline tn_array *second_embedding(tn_array *const *x)
{
	static const int32_t indices[] = {3, 1, 0, 3};
	tn_array *of = tn_from_host(tn_array_context(x[0]), TN_I32, 2, (int64_t[]){2, 2}, indices);
	return second_total(tn_embedding(of, tn_square(x[0]), 1));
}

static inline tn_array *second_bilinear(tn_array *const *x)
{
	const struct tn_interpolate_options o = {
		.struct_size = sizeof(o), .mode = TN_INTERPOLATE_BILINEAR, .size = {5, 3}};
	return second_total(tn_interpolate(x[0], &o));
}

SECOND(nearest, tn_interpolate(x[0], TN_OPTIONS(struct tn_interpolate_options, .size = {5, 3})))
SECOND(conv1d,
       tn_conv1d(x[0], x[1], x[2], TN_OPTIONS(struct tn_conv1d_options, .stride = 2, .padding = 1)))
SECOND(adaptive_avg, tn_adaptive_avg_pool2d(x[0], 2, 3))
SECOND(adaptive_max, tn_adaptive_max_pool2d(x[0], 2, 3))
SECOND(global_avg, tn_global_avg_pool(x[0]))
SECOND(response,
       tn_local_response_norm(x[0], 2, TN_OPTIONS(struct tn_local_response_norm_options, .k = 2)))
SECOND(instance_norm, tn_instance_norm(x[0], x[1], x[2], 1e-2))

static inline tn_array *second_avg_pool(tn_array *const *x)
{
	const struct tn_pool2d_options o = {.struct_size = sizeof(o),
					    .kernel = {3, 2},
					    .stride = {2, 2},
					    .padding = {1, 1},
					    .exclude_padding = 1};
	return second_total(tn_avg_pool2d(x[0], &o));
}

static inline tn_array *second_batch_norm(tn_array *const *x)
{
	const struct tn_batch_norm_options o = {
		.struct_size = sizeof(o), .training = 1, .epsilon = 1e-2};
	return second_total(tn_batch_norm(x[0], x[1], x[2], &o));
}

/* The residual depends on x too: both paths add up. */
static inline tn_array *second_batch_norm_fused(tn_array *const *x)
{
	const struct tn_batch_norm_options o = {.struct_size = sizeof(o),
						.training = 1,
						.epsilon = 1e-2,
						.activation = TN_ACTIVATION_RELU6,
						.residual = tn_affine(tn_square(x[0]), 3.0, 0.4)};
	return second_total(tn_batch_norm(x[0], x[1], x[2], &o));
}

static inline tn_array *second_batch_norm_running(tn_array *const *x)
{
	tn_context *context = tn_array_context(x[0]);
	tn_dtype dtype = tn_array_dtype(x[0]);
	const struct tn_batch_norm_options o = {
		.struct_size = sizeof(o),
		.running_mean = tn_full(context, dtype, 1, (int64_t[]){3}, 0.1),
		.running_var = tn_full(context, dtype, 1, (int64_t[]){3}, 0.7)};
	return second_total(tn_batch_norm(x[0], x[1], x[2], &o));
}

SECOND(layer_norm, tn_layer_norm(x[0], x[1], x[2], tn_array_rank(x[1]), 1e-2))
SECOND(layer_norm_plain, tn_layer_norm(tn_transpose(x[0], (int[]){0, 2, 1}), NULL, NULL, 1, 1e-2))
SECOND(group_norm, tn_group_norm(x[0], x[1], x[2], 2, 1e-2))

static inline tn_array *second_dropout(tn_array *const *x)
{
	/* The same mask each time. */
	tn_random_state_set(tn_array_context(x[0]), (struct tn_random_state){5, 7});
	return second_total(tn_dropout(x[0], 0.4));
}

static inline tn_array *second_drop_parts(tn_array *const *x)
{
	tn_random_state_set(tn_array_context(x[0]), (struct tn_random_state){5, 7});
	return second_total(tn_stochastic_depth(tn_dropout2d(tn_square(x[0]), 0.4), 0.3));
}

static inline tn_array *second_block(void *user, tn_array *const *x)
{
	tn_array *const *all = user;
	return tn_dropout(tn_tanh(tn_matmul(x[0], all[1])), 0.2);
}

/* Of its two arrays one is an input of what is computed again. */
static inline tn_array *second_recompute(tn_array *const *x)
{
	tn_random_state_set(tn_array_context(x[0]), (struct tn_random_state){5, 7});
	return second_total(tn_recompute(second_block, (void *)(uintptr_t)x, 1, x));
}

/* A node whose backward is made of recorded operations. */
static inline tn_status second_cube_backward(void *state, const struct tn_node_call *call)
{
	tn_array *const *x = call->saved;
	(void)state;
	call->input_gradients[0] =
		tn_multiply(call->output_gradients[0], tn_affine(tn_square(x[0]), 3.0, 0.0));
	return TN_OK;
}

static inline tn_array *second_node(tn_array *const *x)
{
	tn_context *context = tn_array_context(x[0]);
	tn_no_grad_begin(context);
	tn_array *y = tn_multiply(x[0], tn_square(x[0]));
	tn_no_grad_end(context);
	tn_node_record(context, TN_OPTIONS(struct tn_node_options, .name = "cube", .n_inputs = 1,
					   .inputs = x, .n_outputs = 1, .outputs = &y, .n_saved = 1,
					   .saved = x, .backward = second_cube_backward,
					   .is_differentiable = 1));
	return second_total(y);
}

static const struct second_row second_rows[] = {
	{"add, broadcast", second_add, 2, {3, 2}, {{2, 3, 4}, {3, 1}}, 0, 0},
	{"multiply", second_multiply, 2, {2, 1}, {{3, 4}, {4}}, 0, 0},
	{"divide", second_divide, 2, {2, 2}, {{3, 4}, {3, 4}}, 1, 0},
	{"power", second_power, 2, {2, 2}, {{3, 4}, {3, 4}}, 1, 0},
	{"maximum", second_maximum, 2, {2, 2}, {{3, 4}, {3, 4}}, 0, 0},
	{"exp", second_exp, 1, {2}, {{3, 4}}, 0, 0},
	{"tanh", second_tanh, 1, {2}, {{3, 4}}, 0, 0},
	{"sigmoid", second_sigmoid, 1, {2}, {{3, 4}}, 0, 0},
	{"relu", second_relu, 1, {2}, {{3, 4}}, 0, 0},
	{"gelu", second_gelu, 1, {2}, {{3, 4}}, 0, 0},
	{"silu", second_silu, 1, {2}, {{3, 4}}, 0, 0},
	{"softplus, of zeros too", second_softplus, 1, {2}, {{3, 4}}, 0, 1},
	{"log_sigmoid, of zeros too", second_log_sigmoid, 1, {2}, {{3, 4}}, 0, 1},
	{"mish, of zeros too", second_mish, 1, {2}, {{3, 4}}, 0, 1},
	{"hypot", second_hypot, 2, {2, 1}, {{3, 4}, {4}}, 0, 0},
	{"logaddexp", second_logaddexp, 2, {2, 1}, {{3, 4}, {4}}, 0, 0},
	{"xlogy", second_xlogy, 2, {2, 1}, {{3, 4}, {4}}, 1, 0},
	{"cbrt", second_cbrt, 1, {2}, {{3, 4}}, 1, 0},
	{"sinc, of zeros too", second_sinc, 1, {2}, {{3, 4}}, 0, 1},
	{"erfc, of zeros too", second_erfc, 1, {2}, {{3, 4}}, 0, 1},
	{"elu", second_elu, 1, {2}, {{3, 4}}, 0, 0},
	{"selu", second_selu, 1, {2}, {{3, 4}}, 0, 0},
	{"softsign", second_softsign, 1, {2}, {{3, 4}}, 0, 0},
	{"hardswish", second_hardswish, 1, {2}, {{3, 4}}, 0, 0},
	{"prelu", second_prelu, 2, {2, 1}, {{3, 4}, {4}}, 0, 0},
	{"one array used thrice", second_twice, 1, {2}, {{3, 4}}, 0, 0},
	{"a user's program", second_map, 2, {2, 1}, {{3, 4}, {4}}, 0, 0},
	{"sum", second_sum, 1, {3}, {{2, 3, 4}}, 0, 0},
	{"mean", second_mean, 1, {3}, {{2, 3, 4}}, 0, 0},
	{"max", second_max, 1, {3}, {{2, 3, 4}}, 0, 0},
	{"prod", second_prod, 1, {3}, {{2, 3, 2}}, 0, 0},
	{"prod of zeros", second_prod, 1, {3}, {{2, 3, 2}}, 0, 1},
	{"logsumexp", second_logsumexp, 1, {2}, {{3, 4}}, 0, 0},
	{"matmul", second_matmul, 2, {2, 2}, {{3, 4}, {4, 5}}, 0, 0},
	{"matmul, batch and broadcast", second_matmul, 2, {3, 2}, {{2, 3, 4}, {4, 5}}, 0, 0},
	{"matmul, matrix by vector", second_matmul, 2, {2, 1}, {{3, 4}, {4}}, 0, 0},
	{"linear", second_linear, 3, {3, 2, 1}, {{2, 3, 4}, {5, 4}, {5}}, 0, 0},
	{"complex", second_complex, 2, {2, 1}, {{3, 4}, {4}}, 0, 0},
	{"complex matmul", second_complex_matmul, 2, {2, 2}, {{3, 4}, {4, 2}}, 0, 0},
	{"reshape", second_reshape, 1, {3}, {{2, 3, 4}}, 0, 0},
	{"transpose", second_transpose, 1, {3}, {{3, 3, 4}}, 0, 0},
	{"slice", second_slice, 1, {3}, {{2, 3, 5}}, 0, 0},
	{"broadcast_to", second_broadcast, 1, {2}, {{3, 1}}, 0, 0},
	{"sliding_window_view", second_window, 1, {3}, {{2, 4, 5}}, 0, 0},
	{"take", second_take, 1, {2}, {{3, 4}}, 0, 0},
	{"sort", second_sort, 1, {3}, {{2, 5, 3}}, 0, 0},
	{"cumsum", second_cumsum, 1, {3}, {{2, 3, 4}}, 0, 0},
	{"cummax", second_cummax, 1, {3}, {{2, 3, 4}}, 0, 0},
	{"concatenate", second_concatenate, 2, {2, 2}, {{3, 2}, {3, 4}}, 0, 0},
	{"diagonal", second_diagonal, 1, {3}, {{3, 2, 3}}, 0, 0},
	{"tril", second_triangle, 1, {2}, {{3, 4}}, 0, 0},
	{"pad", second_pad, 1, {2}, {{3, 4}}, 0, 0},
	{"copy of a transpose", second_copy, 1, {2}, {{3, 4}}, 0, 0},
	{"conv2d", second_conv2d, 3, {4, 4, 1}, {{2, 2, 5, 6}, {3, 2, 3, 2}, {3}}, 0, 0},
	{"conv_transpose2d",
	 second_conv_transpose2d,
	 3,
	 {4, 4, 1},
	 {{1, 2, 3, 4}, {2, 2, 3, 2}, {4}},
	 0,
	 0},
	{"attention", second_attention, 3, {3, 3, 3}, {{2, 3, 2}, {2, 4, 2}, {2, 4, 3}}, 0, 0},
	{"lstm", second_lstm, 3, {3, 2, 2}, {{2, 3, 2}, {8, 2}, {8, 2}}, 0, 0},
	{"lstm, reverse", second_lstm_reverse, 3, {2, 2, 1}, {{2, 2}, {2, 2}, {8}}, 0, 0},
	{"gru", second_gru, 3, {3, 2, 2}, {{2, 3, 2}, {6, 2}, {6, 2}}, 0, 0},
	{"gru, reverse", second_gru_reverse, 3, {2, 1, 1}, {{2, 2}, {6}, {6}}, 0, 0},
	{"embedding", second_embedding, 1, {2}, {{4, 3}}, 0, 0},
	{"interpolate", second_bilinear, 1, {4}, {{1, 2, 3, 4}}, 0, 0},
	{"interpolate, nearest", second_nearest, 1, {4}, {{1, 2, 3, 4}}, 0, 0},
	{"conv1d", second_conv1d, 3, {3, 3, 1}, {{2, 2, 6}, {3, 2, 3}, {3}}, 0, 0},
	{"adaptive_avg_pool2d", second_adaptive_avg, 1, {4}, {{1, 2, 5, 4}}, 0, 0},
	{"adaptive_max_pool2d", second_adaptive_max, 1, {4}, {{1, 2, 5, 4}}, 0, 0},
	{"global_avg_pool", second_global_avg, 1, {4}, {{2, 2, 2, 3}}, 0, 0},
	{"local_response_norm", second_response, 1, {4}, {{1, 4, 2, 2}}, 0, 0},
	{"instance_norm", second_instance_norm, 3, {4, 1, 1}, {{2, 2, 2, 3}, {2}, {2}}, 0, 0},
	{"conv2d, groups", second_conv2d_groups, 2, {4, 4}, {{1, 4, 4, 5}, {6, 2, 3, 3}}, 0, 0},
	{"max_pool2d", second_max_pool, 1, {4}, {{2, 2, 6, 5}}, 0, 0},
	{"avg_pool2d", second_avg_pool, 1, {4}, {{2, 2, 6, 5}}, 0, 0},
	{"softmax", second_softmax, 1, {3}, {{2, 3, 4}}, 0, 0},
	{"log_softmax", second_log_softmax, 1, {2}, {{3, 4}}, 0, 0},
	{"batch_norm", second_batch_norm, 3, {4, 1, 1}, {{3, 3, 2, 3}, {3}, {3}}, 0, 0},
	{"batch_norm of rows", second_batch_norm, 3, {2, 1, 1}, {{7, 3}, {3}, {3}}, 0, 0},
	{"batch_norm, residual, relu6",
	 second_batch_norm_fused,
	 3,
	 {4, 1, 1},
	 {{3, 3, 2, 3}, {3}, {3}},
	 0,
	 0},
	{"batch_norm, running",
	 second_batch_norm_running,
	 3,
	 {4, 1, 1},
	 {{3, 3, 2, 3}, {3}, {3}},
	 0,
	 0},
	{"layer_norm", second_layer_norm, 3, {3, 1, 1}, {{2, 3, 5}, {5}, {5}}, 0, 0},
	{"layer_norm, two axes",
	 second_layer_norm,
	 3,
	 {3, 2, 2},
	 {{2, 3, 5}, {3, 5}, {3, 5}},
	 0,
	 0},
	{"layer_norm, transposed", second_layer_norm_plain, 1, {3}, {{2, 5, 3}}, 0, 0},
	{"group_norm", second_group_norm, 3, {4, 1, 1}, {{2, 4, 2, 3}, {4}, {4}}, 0, 0},
	{"cross_entropy", second_cross_entropy, 1, {2}, {{4, 3}}, 0, 0},
	{"cross_entropy of rows", second_cross_entropies, 1, {2}, {{4, 3}}, 0, 0},
	{"cross_entropy, smoothed", second_smoothed, 1, {2}, {{4, 3}}, 0, 0},
	{"cross_entropy of probabilities", second_probabilities, 2, {2, 2}, {{4, 3}, {4, 3}}, 0, 0},
	{"mse_loss", second_mse, 2, {2, 2}, {{4, 3}, {4, 3}}, 0, 0},
	{"l1_loss", second_l1, 2, {2, 2}, {{4, 3}, {4, 3}}, 0, 0},
	/* Equal elements too, and logits of 0. */
	{"huber_loss", second_huber, 2, {2, 2}, {{4, 3}, {4, 3}}, 0, 1},
	{"smooth_l1_loss", second_smooth_l1, 2, {2, 2}, {{4, 3}, {4, 3}}, 0, 1},
	{"binary_cross_entropy", second_binary, 2, {2, 2}, {{4, 3}, {4, 3}}, 0, 0},
	{"binary_cross_entropy of zeros", second_binary_none, 2, {2, 2}, {{4, 3}, {4, 3}}, 0, 1},
	{"hinge_embedding_loss", second_hinge, 1, {2}, {{4, 3}}, 0, 0},
	{"kl_div", second_kl_div, 2, {2, 2}, {{4, 3}, {4, 3}}, 0, 0},
	{"cosine_embedding_loss", second_cosine, 2, {2, 2}, {{4, 3}, {4, 3}}, 0, 0},
	{"nll_loss", second_nll, 1, {2}, {{4, 3}}, 0, 0},
	{"multi_margin_loss", second_margin, 1, {2}, {{4, 3}}, 0, 0},
	{"dropout", second_dropout, 1, {2}, {{5, 6}}, 0, 0},
	{"dropout2d, stochastic_depth", second_drop_parts, 1, {4}, {{3, 3, 2, 2}}, 0, 0},
	{"recompute", second_recompute, 2, {2, 2}, {{3, 4}, {4, 5}}, 0, 0},
	{"a node of one's own", second_node, 1, {2}, {{3, 4}}, 0, 0},
};

enum { SECOND_ROWS = sizeof(second_rows) / sizeof(second_rows[0]) };

/* The numbers of one row, and what was computed from them. */
struct second_trial {
	const struct second_row *row;
	tn_context *context;
	tn_dtype dtype;
	int64_t size[SECOND_INPUTS];
	double x[SECOND_INPUTS][SECOND_ELEMENTS];
	double h[SECOND_INPUTS][SECOND_ELEMENTS]; /* the gradients of the weighted gradients */
};

static inline double second_noise(int64_t k, int i)
{
	return fmod(0.5 + 0.6180339887498949 * (double)(k + 1) + 0.31 * i, 1.0);
}

static inline void second_begin(struct second_trial *t, const struct second_row *row,
				tn_context *context, tn_dtype dtype)
{
	memset(t, 0, sizeof(*t));
	t->row = row;
	t->context = context;
	t->dtype = dtype;
	for (int i = 0; i < row->n_inputs; i++) {
		t->size[i] = 1;
		for (int axis = 0; axis < row->rank[i]; axis++)
			t->size[i] *= row->shape[i][axis];
		assert_true(t->size[i] <= SECOND_ELEMENTS);
		for (int64_t k = 0; k < t->size[i]; k++) {
			double u = second_noise(k, i);
			t->x[i][k] = row->positive ? 0.5 + u : 2.0 * u - 1.0;
			if (row->has_zeros && k % 5 == 1)
				t->x[i][k] = 0;
		}
	}
}

static inline tn_array *second_array(const struct second_trial *t, int i, const double *numbers)
{
	tn_array *wide =
		tn_from_host(t->context, TN_F64, t->row->rank[i], t->row->shape[i], numbers);
	return t->dtype == TN_F64 ? wide : tn_astype(wide, t->dtype);
}

/* The weight of element k of the gradient of input i. */
static inline tn_array *second_weights(const struct second_trial *t, int i)
{
	double weights[SECOND_ELEMENTS];
	for (int64_t k = 0; k < t->size[i]; k++)
		weights[k] = second_noise(3 * k, i + 5) - 0.3;
	return second_array(t, i, weights);
}

/* The weighted gradients; with `second` also theirs. */
static inline double second_run(struct second_trial *t, int second)
{
	tn_array *x[SECOND_INPUTS], *g[SECOND_INPUTS], *h[SECOND_INPUTS];
	const struct tn_gradients_options o = {.struct_size = sizeof(o), .create_graph = second};
	size_t n = (size_t)t->row->n_inputs;
	double value;
	assert_ok(tn_scope_begin(t->context));
	tn_tape *tape = tn_tape_begin(t->context);
	for (size_t i = 0; i < n; i++) {
		x[i] = second_array(t, (int)i, t->x[i]);
		assert_ok(tn_tape_watch(tape, x[i]));
	}
	tn_array *y = t->row->f(x);
	if (!y || tn_tape_gradients(tape, 1, &y, NULL, n, x, g, &o))
		fail_msg("%s: %s: %s", t->row->name, tn_error(t->context)->operation,
			 tn_error(t->context)->text);
	tn_array *sum = NULL;
	for (size_t i = 0; i < n; i++) {
		tn_array *part =
			tn_sum(tn_multiply(g[i], second_weights(t, (int)i)), TN_ALL_AXES, NULL, 0);
		sum = sum ? tn_add(sum, part) : part;
	}
	if (second && tn_tape_gradients(tape, 1, &sum, NULL, n, x, h, NULL))
		fail_msg("%s: %s: %s", t->row->name, tn_error(t->context)->operation,
			 tn_error(t->context)->text);
	tn_tape_end(tape);
	for (size_t i = 0; i < n && second; i++) {
		assert_non_null(h[i]);
		assert_ok(tn_to_host(tn_astype(h[i], TN_F64), t->h[i],
				     (size_t)t->size[i] * sizeof(double)));
	}
	assert_ok(tn_item(sum, &value));
	tn_scope_end(t->context, NULL);
	return value;
}

/* On another backend in another type: the same second derivatives as `expected`'s. */
static inline void check_second(tn_context *context, tn_dtype dtype,
				const struct second_trial *expected, double tolerance)
{
	struct second_trial t;
	second_begin(&t, expected->row, context, dtype);
	second_run(&t, 1);
	for (int i = 0; i < t.row->n_inputs; i++) {
		for (int64_t k = 0; k < t.size[i]; k++) {
			double wanted = expected->h[i][k];
			if (fabs(t.h[i][k] - wanted) <= tolerance * (1 + fabs(wanted)))
				continue;
			fail_msg("%s: input %d, element %d: expected %.9g, found %.9g", t.row->name,
				 i, (int)k, wanted, t.h[i][k]);
		}
	}
}

/* In f32 against the reference in f64: sums of some 100 products of second derivatives below 100,
 * each rounded a few times. */
static inline void check_all_second(tn_context *context)
{
	const struct tn_context_options options = {.struct_size = sizeof(options),
						   .backend = "reference!"};
	tn_context *reference;
	assert_ok(tn_context_open(&options, &reference, NULL));
	for (int i = 0; i < SECOND_ROWS; i++) {
		struct second_trial expected;
		second_begin(&expected, &second_rows[i], reference, TN_F64);
		second_run(&expected, 1);
		check_second(context, TN_F32, &expected, 2e-4);
	}
	tn_context_close(reference);
}

#endif
