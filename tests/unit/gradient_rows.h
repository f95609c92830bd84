/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The operations that have derivatives, a row each: a scalar function of some arrays, and their
 * shapes.  Tests compare first derivatives and second ones (create_graph) with differences, and
 * backends and dtypes with each other.
 */
#ifndef TN_TESTS_GRADIENT_ROWS_H
#define TN_TESTS_GRADIENT_ROWS_H

#include <tenon/backend.h>
#include <tenon/tenon.h>

#include "check.h"

/* The most inputs that a gradient program has beside the output's gradient. */
enum { GRADIENT_INPUTS = TN_PROGRAM_MAX_INPUTS - 1, GRADIENT_ELEMENTS = 192 };

struct gradient_row {
	const char *name;
	tn_array *(*f)(void *user, tn_array *const *x);
	const char *shapes; /* of its inputs: "2x3 4", and "-" for a number */
	int is_positive;    /* inputs in (0.5, 1.5) instead of (-1, 1) */
	int has_zeros;      /* every fifth element is 0 */
	int order;          /* 1: first derivatives alone; 2: second ones alone; 0: both */
	int is_layer;       /* it is tested in f16 and bf16 too */
	uint32_t batch;     /* bit i: the first axis of input i is that of samples */
};

/* Weights that differ between elements, so that a misplaced gradient is detected, and that are not
 * linear. */
static inline tn_array *total(tn_array *a)
{
	return tn_sum(tn_multiply(a, tn_sin(tn_affine(a, 0.9, 0.7))), TN_ALL_AXES, NULL, 0);
}

/* The function `name` of a row: the total of an expression of x[0], x[1], ... */
#define TOTAL(name, expression)                                                                    \
	static inline tn_array *name(void *user, tn_array *const *x)                               \
	{                                                                                          \
		(void)user;                                                                        \
		return total(expression);                                                          \
	}

static inline tn_array *gradient_integers(const tn_array *like, int rank, const int64_t *shape,
					  const int32_t *numbers)
{
	return tn_from_host(tn_array_context(like), TN_I32, rank, shape, numbers);
}

/* The same masks each time. */
static inline tn_array *with_masks(tn_array *x)
{
	tn_random_set_state(tn_array_context(x), (struct tn_random_state){5, 7});
	return x;
}

/* ---- Elements ---------------------------------------------------------------------------------*/

TOTAL(f_add, tn_add(x[0], x[1]))
TOTAL(f_subtract, tn_subtract(x[0], x[1]))
TOTAL(f_multiply, tn_multiply(x[0], x[1]))
TOTAL(f_divide, tn_divide(x[0], x[1]))
TOTAL(f_power, tn_power(x[0], x[1]))
TOTAL(f_maximum, tn_maximum(x[0], x[1]))
TOTAL(f_where, tn_where(tn_less(x[0], x[1]), x[0], tn_square(x[1])))
TOTAL(f_exp, tn_exp(x[0]))
TOTAL(f_tanh, tn_tanh(x[0]))
TOTAL(f_erf, tn_erf(x[0]))
TOTAL(f_sigmoid, tn_sigmoid(x[0]))
TOTAL(f_relu, tn_relu(x[0]))
TOTAL(f_cos, tn_cos(x[0]))
TOTAL(f_abs, tn_abs(x[0]))
TOTAL(f_silu, tn_silu(x[0]))
TOTAL(f_gelu, tn_gelu(x[0]))
TOTAL(f_gelu_tanh, tn_gelu_tanh(x[0]))
TOTAL(f_selu, tn_selu(x[0]))
TOTAL(f_softsign, tn_softsign(x[0]))
TOTAL(f_log, tn_log(x[0]))
TOTAL(f_sqrt, tn_sqrt(x[0]))
TOTAL(f_cbrt, tn_cbrt(x[0]))
TOTAL(f_sinc, tn_sinc(x[0]))
TOTAL(f_erfc, tn_erfc(x[0]))
TOTAL(f_mish, tn_mish(x[0]))
TOTAL(f_log_sigmoid, tn_log_sigmoid(x[0]))
TOTAL(f_relu_of_square, tn_multiply(tn_relu(x[0]), tn_square(x[0])))
TOTAL(f_relu6, tn_relu6(tn_affine(x[0], 9.1, 2.0)))
TOTAL(f_hardswish, tn_hardswish(tn_affine(x[0], 4.2, 0.0)))
TOTAL(f_hardsigmoid, tn_hardsigmoid(tn_affine(x[0], 4.2, 0.0)))
TOTAL(f_hardtanh, tn_hardtanh(x[0], -0.5, 0.56))
TOTAL(f_leaky_relu, tn_leaky_relu(x[0], 0.3))
TOTAL(f_elu, tn_elu(x[0], 0.7))
TOTAL(f_celu, tn_celu(x[0], 0.7))
TOTAL(f_softplus, tn_softplus(x[0], 1.5, 1))
TOTAL(f_softplus_of_zeros, tn_softplus(x[0], 2, 20))
TOTAL(f_prelu, tn_prelu(x[0], x[1]))
TOTAL(f_hypot, tn_hypot(x[0], x[1]))
TOTAL(f_logaddexp, tn_logaddexp(x[0], x[1]))
TOTAL(f_xlogy, tn_xlogy(x[0], x[1]))
TOTAL(f_complex, tn_abs(tn_multiply(tn_complex(x[0], x[1]), tn_exp(tn_complex(x[1], x[0])))))
TOTAL(f_thrice, tn_add(tn_multiply(tn_multiply(x[0], x[0]), x[0]), x[0]))

/* ---- Programs of the user's -------------------------------------------------------------------*/

TOTAL(f_map, tn_map("d = x - y; z = k * d * d / (1 + exp(-x))", 2, (const char *[]){"x", "y"},
		    (const tn_array *[]){x[0], x[1]}, 1, (const char *[]){"k"}, (double[]){1.5}))

static inline tn_array *f_map_of_eight(void *user, tn_array *const *x)
{
	static const char *const names[8] = {"a", "b", "c", "d", "e", "f", "g", "h"};
	(void)user;
	return total(tn_map("z = a*b + c*d*d + e/(f*f + 1) + g*h", 8, names,
			    (const tn_array *[]){x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]}, 0,
			    NULL, NULL));
}

static inline tn_array *f_map_largest(void *user, tn_array *const *x)
{
	static const char *const names[GRADIENT_INPUTS] = {"a", "b", "c", "d", "e", "f", "g", "h",
							   "i", "j", "k", "l", "m", "n", "o"};
	const tn_array *inputs[GRADIENT_INPUTS];
	(void)user;
	for (int i = 0; i < GRADIENT_INPUTS; i++)
		inputs[i] = x[i];
	return total(tn_map("z = a*b*c + d*e - f*f*g + exp(h)*i - j*k*l + m*n*2 + sin(o)",
			    GRADIENT_INPUTS, names, inputs, 0, NULL, NULL));
}

/* ---- Reductions and products ------------------------------------------------------------------*/

TOTAL(f_sum, tn_sum(x[0], 1, (int[]){1}, 0))
TOTAL(f_mean, tn_mean(x[0], 2, (int[]){0, 2}, 1))
TOTAL(f_max, tn_max(x[0], 1, (int[]){-1}, 0))
TOTAL(f_prod, tn_prod(x[0], 1, (int[]){0}, 0))
TOTAL(f_prod_of_two, tn_prod(x[0], 2, (int[]){0, 2}, 0))
TOTAL(f_logsumexp, tn_logsumexp(x[0], 1, (int[]){1}, 0))
TOTAL(f_matmul, tn_matmul(x[0], x[1]))
TOTAL(f_complex_matmul, tn_imag(tn_matmul(tn_complex(x[0], x[0]), tn_complex(x[1], tn_sin(x[1])))))
TOTAL(f_einsum, tn_einsum("iij,jk,k...->...i", 3, (const tn_array *const *)x))
TOTAL(f_einsum_lines, tn_einsum("ij,ij->j", 2, (const tn_array *const *)x))
TOTAL(f_tensordot, tn_tensordot(x[0], x[1], 2, (int[]){2, 0}, (int[]){0, 1}))
TOTAL(f_matrix_power, tn_matrix_power(x[0], 5))
TOTAL(f_norm, tn_norm(x[0], 1, (int[]){1}, 0))
TOTAL(f_vector_norm, tn_vector_norm(x[0], 2.5, 1, (int[]){0}, 1))
TOTAL(f_matrix_norm, tn_matrix_norm(x[0], TN_NORM_INF, 0))
TOTAL(f_complex_norm, tn_norm(tn_complex(x[0], x[1]), TN_ALL_AXES, NULL, 0))
TOTAL(f_linear, tn_linear(x[0], x[1], x[2]))

/* ---- Elements that move -----------------------------------------------------------------------*/

TOTAL(f_reshape, tn_reshape(tn_square(x[0]), 2, (int64_t[]){-1, 4}))
TOTAL(f_transpose,
      tn_matmul(tn_transpose(x[0], (int[]){2, 0, 1}), tn_transpose(x[0], (int[]){2, 1, 0})))
TOTAL(f_slice, tn_slice(tn_slice(x[0], 2, 1, INT64_MIN, 2), 1, INT64_MIN, INT64_MIN, -2))
TOTAL(f_broadcast, tn_broadcast_to(x[0], 3, (int64_t[]){2, 3, 4}))
TOTAL(f_window, tn_sliding_window_view(x[0], 2, (int64_t[]){2, 3}, (int[]){1, 2}))
TOTAL(f_concatenate, tn_concatenate(2, (const tn_array *[]){x[0], x[1]}, 1))
TOTAL(f_diagonal, tn_diagonal(x[0], -1, 2, 0))
TOTAL(f_copy, tn_copy(tn_transpose(x[0], NULL)))
TOTAL(f_flatten, tn_flatten(x[0], 1))
TOTAL(f_cumprod, tn_cumprod(x[0], 1))

static inline tn_array *f_take(void *user, tn_array *const *x)
{
	static const int32_t indices[] = {2, 0, 2, 1};
	(void)user;
	return total(
		tn_take(x[0], gradient_integers(x[0], 1, (int64_t[]){4}, indices), 1, TN_RAISE));
}

static inline tn_array *f_take_along_axis(void *user, tn_array *const *x)
{
	static const int32_t indices[] = {2, 0, 2, 1, -1, 1};
	(void)user;
	return total(tn_take_along_axis(tn_transpose(x[0], NULL),
					gradient_integers(x[0], 2, (int64_t[]){2, 3}, indices), 0));
}

TOTAL(f_sort, tn_add(tn_sort(x[0], 1, 0), tn_sort(tn_square(x[0]), 1, 1)))

static inline tn_array *f_topk(void *user, tn_array *const *x)
{
	(void)user;
	return tn_add(total(tn_topk(x[0], 2, -1, 1, NULL)), total(tn_topk(x[0], 1, 0, 0, NULL)));
}

static inline tn_array *f_cumsum(void *user, tn_array *const *x)
{
	(void)user;
	return tn_add(total(tn_cumsum(x[0], 0)), total(tn_cumsum(x[0], -1)));
}

static inline tn_array *f_cummax(void *user, tn_array *const *x)
{
	(void)user;
	return tn_add(total(tn_cummax(x[0], 1)), total(tn_cummin(x[0], 2)));
}

static inline tn_array *f_triangles(void *user, tn_array *const *x)
{
	(void)user;
	return tn_add(total(tn_tril(x[0], 1)), total(tn_triu(x[0], 0)));
}

static inline tn_array *f_diag(void *user, tn_array *const *x)
{
	(void)user;
	return tn_add(total(tn_diag(x[0], -1)), total(tn_vander(x[0], 4, 0)));
}

static inline tn_array *f_tile(void *user, tn_array *const *x)
{
	(void)user;
	return tn_add(total(tn_tile(x[0], 3, (int64_t[]){2, 1, 3})),
		      total(tn_repeat(x[0], 2, (int64_t[]){1, 3}, 0)));
}

static inline tn_array *f_diagonals(void *user, tn_array *const *x)
{
	(void)user;
	tn_array *line = tn_diagonal(x[0], 1, 0, -1);
	return tn_add(total(line), total(tn_diag(tn_slice(line, 0, 0, 1, 1), -1)));
}

static inline tn_array *f_stack(void *user, tn_array *const *x)
{
	(void)user;
	tn_array *parts[3];
	if (tn_array_split(tn_stack(2, (const tn_array *[]){x[0], x[1]}, 1), 3, NULL, 2, parts))
		return NULL;
	return total(tn_append(parts[0], parts[2], TN_AXIS_NONE));
}

static inline tn_array *f_insert(void *user, tn_array *const *x)
{
	(void)user;
	tn_array *longer = tn_insert(x[0], 2, (int64_t[]){0, 3}, x[1], 1);
	return total(tn_delete(longer, 1, (int64_t[]){-2}, 1));
}

static inline tn_array *f_roll(void *user, tn_array *const *x)
{
	(void)user;
	tn_array *rolled = tn_roll(x[0], 1, (int64_t[]){2}, NULL);
	return total(tn_rot90(tn_multiply(rolled, x[0]), 1, 0, 1));
}

static inline tn_array *f_pad(void *user, tn_array *const *x)
{
	static const int64_t widths[] = {1, 2, 2, 1};
	(void)user;
	tn_array *sum = total(tn_pad(x[0], widths, TN_PAD_CONSTANT, NULL));
	for (uint32_t mode = TN_PAD_EDGE; mode <= TN_PAD_MEAN; mode++)
		sum = tn_add(sum, total(tn_pad(x[0], widths, mode, NULL)));
	return sum;
}

TOTAL(f_pad_symmetric, tn_pad(x[0], (int64_t[]){1, 3, 0, 2}, TN_PAD_SYMMETRIC, NULL))

/* ---- Losses -----------------------------------------------------------------------------------*/

TOTAL(f_softmax, tn_softmax(x[0], 1))
TOTAL(f_log_softmax, tn_log_softmax(x[0], -1))

static inline tn_array *gradient_labels(const tn_array *x)
{
	return gradient_integers(x, 1, (int64_t[]){4}, (int32_t[]){2, 0, 1, 1});
}

static inline tn_array *gradient_signs(const tn_array *x)
{
	return gradient_integers(x, 1, (int64_t[]){4}, (int32_t[]){1, -1, 1, -1});
}

static inline tn_array *cross_entropy_of(tn_array *const *x, uint32_t reduction)
{
	static const int32_t labels[] = {2, 0, 9, 1};
	struct tn_cross_entropy_options cross_entropy = tn_cross_entropy_defaults();
	cross_entropy.reduction = reduction;
	cross_entropy.has_ignore_label = 1;
	cross_entropy.ignore_label = 9;
	return tn_cross_entropy(tn_affine(x[0], 2, 0),
				gradient_integers(x[0], 1, (int64_t[]){4}, labels), &cross_entropy);
}

static inline tn_array *f_cross_entropy(void *user, tn_array *const *x)
{
	(void)user;
	return cross_entropy_of(x, TN_REDUCTION_MEAN);
}

static inline tn_array *f_cross_entropy_smoothed(void *user, tn_array *const *x)
{
	static const double weights[] = {0.5, 1.5, 1.25};
	tn_array *weight = tn_from_host(tn_array_context(x[0]), TN_F64, 1, (int64_t[]){3}, weights);
	(void)user;
	struct tn_cross_entropy_options cross_entropy = tn_cross_entropy_defaults();
	cross_entropy.weight = tn_astype(weight, tn_array_dtype(x[0]));
	cross_entropy.label_smoothing = 0.1;
	return tn_cross_entropy(tn_affine(x[0], 2, 0), gradient_labels(x[0]), &cross_entropy);
}

TOTAL(f_cross_entropies, cross_entropy_of(x, TN_REDUCTION_NONE))
TOTAL(f_cross_entropy_of_probabilities, tn_cross_entropy(x[0], tn_softmax(x[1], 1), NULL))
TOTAL(f_mse, tn_mse_loss(x[0], x[1], TN_REDUCTION_NONE))
TOTAL(f_l1, tn_square(tn_l1_loss(x[0], x[1], TN_REDUCTION_NONE)))
TOTAL(f_huber, tn_huber_loss(x[0], x[1], 0.5, TN_REDUCTION_NONE))
TOTAL(f_smooth_l1, tn_smooth_l1_loss(x[0], x[1], 0.5, TN_REDUCTION_NONE))
TOTAL(f_binary, tn_binary_cross_entropy_with_logits(x[0], tn_sigmoid(x[1]), NULL))

static inline tn_array *f_binaries(void *user, tn_array *const *x)
{
	(void)user;
	struct tn_binary_cross_entropy_options options = tn_binary_cross_entropy_defaults();
	options.reduction = TN_REDUCTION_NONE;
	return total(tn_binary_cross_entropy_with_logits(x[0], tn_sigmoid(x[1]), &options));
}

TOTAL(f_hinge, tn_square(tn_hinge_embedding_loss(x[0], tn_sign(x[0]), 0.9, TN_REDUCTION_NONE)))
TOTAL(f_kl_div, tn_kl_div(tn_log_softmax(x[0], 1), tn_softmax(x[1], 1), 0, TN_REDUCTION_NONE))
TOTAL(f_cosine, tn_cosine_embedding_loss(x[0], x[1], gradient_signs(x[0]), -0.9, TN_REDUCTION_NONE))
TOTAL(f_nll, tn_nll_loss(tn_log_softmax(x[0], 1), gradient_labels(x[0]), NULL))
TOTAL(f_margin, tn_multi_margin_loss(x[0], gradient_labels(x[0]), 2, 1, NULL, TN_REDUCTION_NONE))

/* ---- Convolutions and pools -------------------------------------------------------------------*/

static inline tn_array *f_conv2d(void *user, tn_array *const *x)
{
	(void)user;
	struct tn_conv2d_options conv2d = tn_conv2d_defaults();
	conv2d.stride[0] = 2;
	conv2d.stride[1] = 1;
	conv2d.padding[0] = 1;
	conv2d.padding[1] = 0;
	conv2d.dilation[0] = 1;
	conv2d.dilation[1] = 2;
	return total(tn_conv2d(x[0], x[1], x[2], &conv2d));
}

static inline tn_array *f_conv2d_groups(void *user, tn_array *const *x)
{
	(void)user;
	struct tn_conv2d_options conv2d = tn_conv2d_defaults();
	conv2d.groups = 2;
	conv2d.padding[0] = conv2d.padding[1] = 1;
	return total(tn_conv2d(x[0], x[1], NULL, &conv2d));
}

static inline tn_array *f_conv1d(void *user, tn_array *const *x)
{
	(void)user;
	struct tn_conv1d_options conv1d = tn_conv1d_defaults();
	conv1d.stride = 2;
	conv1d.padding = 1;
	conv1d.dilation = 2;
	conv1d.groups = 2;
	return total(tn_conv1d(x[0], x[1], x[2], &conv1d));
}

static inline tn_array *f_conv_transpose2d(void *user, tn_array *const *x)
{
	(void)user;
	struct tn_conv_transpose2d_options options = tn_conv_transpose2d_defaults();
	options.stride[0] = 2;
	options.stride[1] = 3;
	options.padding[0] = 1;
	options.padding[1] = 0;
	options.output_padding[0] = 1;
	options.output_padding[1] = 2;
	options.dilation[0] = 1;
	options.dilation[1] = 2;
	options.groups = 2;
	return total(tn_conv_transpose2d(x[0], x[1], x[2], &options));
}

static inline tn_array *f_max_pool(void *user, tn_array *const *x)
{
	(void)user;
	struct tn_pool2d_options pool2d = tn_pool2d_defaults();
	pool2d.kernel[0] = 3;
	pool2d.kernel[1] = 2;
	pool2d.stride[0] = 2;
	pool2d.stride[1] = 1;
	pool2d.padding[0] = pool2d.padding[1] = 1;
	return total(tn_max_pool2d(x[0], &pool2d));
}

static inline tn_array *f_avg_pool(void *user, tn_array *const *x)
{
	(void)user;
	struct tn_pool2d_options pool2d = tn_pool2d_defaults();
	pool2d.kernel[0] = 3;
	pool2d.kernel[1] = 2;
	pool2d.stride[0] = pool2d.stride[1] = 2;
	pool2d.padding[0] = pool2d.padding[1] = 1;
	pool2d.exclude_padding = 1;
	return total(tn_avg_pool2d(x[0], &pool2d));
}

TOTAL(f_adaptive_avg_pool, tn_adaptive_avg_pool2d(x[0], 3, 2))
TOTAL(f_adaptive_max_pool, tn_adaptive_max_pool2d(x[0], 2, 3))
TOTAL(f_global_avg_pool, tn_global_avg_pool(x[0]))
TOTAL(f_global_max_pool, tn_global_max_pool(x[0]))

static inline tn_array *f_nearest(void *user, tn_array *const *x)
{
	(void)user;
	struct tn_interpolate_options interpolate = tn_interpolate_defaults();
	interpolate.size[0] = 5;
	interpolate.size[1] = 2;
	struct tn_interpolate_options options = tn_interpolate_defaults();
	options.scale[0] = 2;
	options.scale[1] = 3;
	return total(tn_interpolate(tn_interpolate(x[0], &interpolate), &options));
}

static inline tn_array *f_bilinear(void *user, tn_array *const *x)
{
	(void)user;
	struct tn_interpolate_options interpolate = tn_interpolate_defaults();
	interpolate.mode = TN_INTERPOLATE_BILINEAR;
	interpolate.size[0] = 5;
	interpolate.size[1] = 3;
	return total(tn_interpolate(x[0], &interpolate));
}

static inline tn_array *f_bilinear_corners(void *user, tn_array *const *x)
{
	(void)user;
	struct tn_interpolate_options interpolate = tn_interpolate_defaults();
	interpolate.mode = TN_INTERPOLATE_BILINEAR;
	interpolate.size[0] = 5;
	interpolate.size[1] = 7;
	interpolate.align_corners = 1;
	return total(tn_interpolate(x[0], &interpolate));
}

/* ---- Norms ------------------------------------------------------------------------------------*/

static inline tn_array *f_batch_norm(void *user, tn_array *const *x)
{
	(void)user;
	struct tn_batch_norm_options batch_norm = tn_batch_norm_defaults();
	batch_norm.training = 1;
	batch_norm.epsilon = 1e-2;
	return total(tn_batch_norm(x[0], x[1], x[2], &batch_norm));
}

static inline tn_array *f_batch_norm_fused(void *user, tn_array *const *x)
{
	(void)user;
	struct tn_batch_norm_options batch_norm = tn_batch_norm_defaults();
	batch_norm.training = 1;
	batch_norm.epsilon = 1e-2;
	batch_norm.activation = TN_ACTIVATION_RELU6;
	batch_norm.residual = tn_affine(tn_square(x[0]), 3.0, 0.4);
	return total(tn_batch_norm(x[0], x[1], x[2], &batch_norm));
}

static inline tn_array *batch_norm_running(tn_array *const *x, uint32_t activation)
{
	tn_context *context = tn_array_context(x[0]);
	const tn_dtype dtype = tn_array_dtype(x[0]);
	struct tn_batch_norm_options batch_norm = tn_batch_norm_defaults();
	batch_norm.activation = activation;
	batch_norm.running_mean = tn_full(context, dtype, 1, (int64_t[]){3}, 0.1);
	batch_norm.running_var = tn_full(context, dtype, 1, (int64_t[]){3}, 0.7);
	return tn_batch_norm(x[0], x[1], x[2], &batch_norm);
}

TOTAL(f_batch_norm_running, batch_norm_running(x, 0))
TOTAL(f_batch_norm_running_relu, batch_norm_running(x, TN_ACTIVATION_RELU))
TOTAL(f_layer_norm, tn_layer_norm(x[0], x[1], x[2], tn_array_rank(x[1]), 1e-2))
TOTAL(f_layer_norm_plain, tn_layer_norm(tn_transpose(x[0], (int[]){0, 2, 1}), NULL, NULL, 1, 1e-2))
TOTAL(f_group_norm, tn_group_norm(x[0], x[1], x[2], 2, 1e-2))
TOTAL(f_instance_norm, tn_instance_norm(x[0], x[1], x[2], 1e-2))

static inline tn_array *f_response(void *user, tn_array *const *x)
{
	(void)user;
	struct tn_local_response_norm_options options = tn_local_response_norm_defaults();
	options.k = 2;
	return total(tn_local_response_norm(x[0], 2, &options));
}

static inline tn_array *f_response_wide(void *user, tn_array *const *x)
{
	(void)user;
	struct tn_local_response_norm_options options = tn_local_response_norm_defaults();
	options.alpha = 2;
	return total(tn_local_response_norm(x[0], 4, &options));
}

/* ---- Sequences --------------------------------------------------------------------------------*/

static inline tn_array *f_embedding(void *user, tn_array *const *x)
{
	static const int32_t indices[] = {2, 0, -1, 2, 2, 1};
	(void)user;
	return total(tn_embedding(gradient_integers(x[0], 2, (int64_t[]){2, 3}, indices), x[0],
				  TN_NO_PADDING_INDEX));
}

static inline tn_array *f_embedding_padded(void *user, tn_array *const *x)
{
	static const int32_t indices[] = {3, 1, 0, 3};
	(void)user;
	return total(tn_embedding(gradient_integers(x[0], 2, (int64_t[]){2, 2}, indices),
				  tn_square(x[0]), 1));
}

static inline tn_array *f_attention(void *user, tn_array *const *x)
{
	(void)user;
	struct tn_attention_options attention = tn_attention_defaults();
	attention.mask = x[3];
	return total(tn_scaled_dot_product_attention(x[0], x[1], x[2], &attention));
}

static inline tn_array *f_attention_causal(void *user, tn_array *const *x)
{
	(void)user;
	struct tn_attention_options attention = tn_attention_defaults();
	attention.causal = 1;
	attention.scale = 0.7;
	return total(tn_scaled_dot_product_attention(x[0], x[1], x[2], &attention));
}

/* The output and the last states count. */
static inline tn_array *joined(tn_array *y, tn_array *h_n, tn_array *c_n)
{
	tn_array *sum = tn_add(total(y), total(h_n));
	return c_n ? tn_add(sum, total(tn_affine(c_n, 0.5, 0))) : sum;
}

static inline tn_array *lstm(tn_array *const *x, int reverse)
{
	tn_array *h_n, *c_n;
	struct tn_recurrent_options recurrent = tn_recurrent_defaults();
	recurrent.reverse = reverse;
	recurrent.h0 = x[5];
	recurrent.c0 = x[6];
	tn_array *y = tn_lstm(x[0], x[1], x[2], x[3], x[4], &recurrent, &h_n, &c_n);
	return joined(y, h_n, c_n);
}

static inline tn_array *f_lstm(void *user, tn_array *const *x)
{
	(void)user;
	return lstm(x, 0);
}

static inline tn_array *f_lstm_reverse(void *user, tn_array *const *x)
{
	(void)user;
	return lstm(x, 1);
}

static inline tn_array *gru(tn_array *const *x, int reverse)
{
	tn_array *h_n;
	struct tn_recurrent_options recurrent = tn_recurrent_defaults();
	recurrent.reverse = reverse;
	recurrent.h0 = x[5];
	tn_array *y = tn_gru(x[0], x[1], x[2], x[3], x[4], &recurrent, &h_n);
	return joined(y, h_n, NULL);
}

static inline tn_array *f_gru(void *user, tn_array *const *x)
{
	(void)user;
	return gru(x, 0);
}

static inline tn_array *f_gru_reverse(void *user, tn_array *const *x)
{
	(void)user;
	return gru(x, 1);
}

TOTAL(f_lstm_plain, tn_lstm(x[0], x[1], x[2], NULL, NULL, NULL, NULL, NULL))
TOTAL(f_gru_plain, tn_gru(x[0], x[1], x[2], NULL, NULL, NULL, NULL))

/* ---- Dropped parts ----------------------------------------------------------------------------*/

TOTAL(f_dropout, tn_dropout(with_masks(x[0]), 0.4))
TOTAL(f_dropout2d, tn_dropout2d(with_masks(x[0]), 0.4))
TOTAL(f_stochastic_depth, tn_stochastic_depth(with_masks(x[0]), 0.4))

/* ---- What is computed again, and nodes --------------------------------------------------------*/

static inline tn_array *gradient_block(void *user, tn_array *const *x)
{
	tn_array *const *all = user;
	return tn_dropout(tn_tanh(tn_matmul(x[0], all[1])), 0.2);
}

/* Of its two arrays one is an input of what is computed again. */
static inline tn_array *f_recompute(void *user, tn_array *const *x)
{
	(void)user;
	with_masks(x[0]);
	return total(tn_recompute(gradient_block, (void *)(uintptr_t)x, 1, x));
}

/* A node whose backward is made of recorded operations. */
static inline tn_status cube_backward(void *state, const struct tn_node_call *call)
{
	tn_array *const *x = call->saved;
	(void)state;
	call->input_gradients[0] =
		tn_multiply(call->output_gradients[0], tn_affine(tn_square(x[0]), 3.0, 0.0));
	return TN_OK;
}

static inline tn_array *f_node(void *user, tn_array *const *x)
{
	tn_context *context = tn_array_context(x[0]);
	(void)user;
	tn_no_grad_begin(context);
	tn_array *y = tn_multiply(x[0], tn_square(x[0]));
	tn_no_grad_end(context);
	struct tn_node_options node = tn_node_defaults();
	node.name = "cube";
	node.n_inputs = 1;
	node.inputs = x;
	node.n_outputs = 1;
	node.outputs = &y;
	node.n_saved = 1;
	node.saved = x;
	node.backward = cube_backward;
	node.is_differentiable = 1;
	tn_node_record(context, &node);
	return total(y);
}

static const struct gradient_row gradient_rows[] = {
	{.name = "add, broadcast", .f = f_add, .shapes = "2x3x4 3x1"},
	{.name = "subtract", .f = f_subtract, .shapes = "3x4 1x4"},
	{.name = "multiply", .f = f_multiply, .shapes = "3x4 4"},
	{.name = "divide", .f = f_divide, .shapes = "3x4 3x4", .is_positive = 1},
	{.name = "power", .f = f_power, .shapes = "3x4 3x4", .is_positive = 1},
	{.name = "maximum", .f = f_maximum, .shapes = "3x4 3x4"},
	{.name = "where", .f = f_where, .shapes = "3x4 3x4"},
	{.name = "exp", .f = f_exp, .shapes = "3x4"},
	{.name = "tanh", .f = f_tanh, .shapes = "3x4"},
	{.name = "erf", .f = f_erf, .shapes = "3x4"},
	{.name = "sigmoid", .f = f_sigmoid, .shapes = "3x4"},
	{.name = "relu", .f = f_relu, .shapes = "3x4"},
	{.name = "cos", .f = f_cos, .shapes = "3x4"},
	{.name = "abs", .f = f_abs, .shapes = "3x4"},
	{.name = "silu", .f = f_silu, .shapes = "3x4"},
	{.name = "gelu", .f = f_gelu, .shapes = "3x4"},
	{.name = "gelu_tanh", .f = f_gelu_tanh, .shapes = "3x4"},
	{.name = "selu", .f = f_selu, .shapes = "3x4"},
	{.name = "softsign", .f = f_softsign, .shapes = "3x4"},
	{.name = "log", .f = f_log, .shapes = "3x4", .is_positive = 1},
	{.name = "sqrt", .f = f_sqrt, .shapes = "3x4", .is_positive = 1},
	{.name = "cbrt", .f = f_cbrt, .shapes = "3x4", .is_positive = 1},
	{.name = "sinc", .f = f_sinc, .shapes = "3x4"},
	{.name = "sinc of zeros", .f = f_sinc, .shapes = "3x4", .has_zeros = 1},
	{.name = "erfc", .f = f_erfc, .shapes = "3x4"},
	{.name = "erfc of zeros", .f = f_erfc, .shapes = "3x4", .has_zeros = 1},
	{.name = "mish", .f = f_mish, .shapes = "3x4"},
	{.name = "mish of zeros", .f = f_mish, .shapes = "3x4", .has_zeros = 1},
	{.name = "log_sigmoid", .f = f_log_sigmoid, .shapes = "3x4"},
	{.name = "log_sigmoid of zeros", .f = f_log_sigmoid, .shapes = "3x4", .has_zeros = 1},
	{.name = "relu by a square", .f = f_relu_of_square, .shapes = "3x4"},
	{.name = "relu6", .f = f_relu6, .shapes = "3x4"},
	{.name = "hardswish", .f = f_hardswish, .shapes = "3x4"},
	{.name = "hardsigmoid", .f = f_hardsigmoid, .shapes = "3x4"},
	{.name = "hardtanh", .f = f_hardtanh, .shapes = "3x4"},
	{.name = "leaky_relu", .f = f_leaky_relu, .shapes = "3x4"},
	{.name = "elu", .f = f_elu, .shapes = "3x4"},
	{.name = "celu", .f = f_celu, .shapes = "3x4"},
	{.name = "softplus, partly linear", .f = f_softplus, .shapes = "3x4"},
	{.name = "softplus of zeros", .f = f_softplus_of_zeros, .shapes = "3x4", .has_zeros = 1},
	{.name = "prelu", .f = f_prelu, .shapes = "2x3x4 3"},
	{.name = "prelu, one slope", .f = f_prelu, .shapes = "3x4 1"},
	{.name = "hypot", .f = f_hypot, .shapes = "3x4 4"},
	{.name = "logaddexp", .f = f_logaddexp, .shapes = "3x4 4"},
	{.name = "xlogy", .f = f_xlogy, .shapes = "3x4 4", .is_positive = 1},
	{.name = "complex", .f = f_complex, .shapes = "3x4 4"},
	{.name = "one array used several times", .f = f_thrice, .shapes = "3x4"},
	{.name = "a user's program", .f = f_map, .shapes = "3x4 4"},
	{.name = "a program of 8 inputs",
	 .f = f_map_of_eight,
	 .shapes = "3x4 4 3x1 - 3x4 4 3x4 1x4"},
	{.name = "a program of 15 inputs",
	 .f = f_map_largest,
	 .shapes = "3x4 4 3x1 - 3x4 4 3x4 1x4 4 3x1 - 3x4 4 3x4 3x4",
	 .order = 1},
	{.name = "sum", .f = f_sum, .shapes = "2x3x4"},
	{.name = "mean", .f = f_mean, .shapes = "2x3x4"},
	{.name = "max", .f = f_max, .shapes = "2x3x4"},
	{.name = "prod", .f = f_prod, .shapes = "3x4"},
	{.name = "prod over two axes", .f = f_prod_of_two, .shapes = "2x3x2"},
	{.name = "prod of zeros", .f = f_prod_of_two, .shapes = "2x3x2", .has_zeros = 1},
	{.name = "logsumexp", .f = f_logsumexp, .shapes = "3x4"},
	{.name = "matmul", .f = f_matmul, .shapes = "3x4 4x5"},
	{.name = "matmul, batch and broadcast", .f = f_matmul, .shapes = "2x3x4 4x5"},
	{.name = "matmul, vectors", .f = f_matmul, .shapes = "4 4"},
	{.name = "einsum", .f = f_einsum, .shapes = "2x2x3 3x4 4x2"},
	{.name = "einsum, lines", .f = f_einsum_lines, .shapes = "3x4 3x4"},
	{.name = "tensordot", .f = f_tensordot, .shapes = "2x3x4 4x2x3"},
	{.name = "matrix_power", .f = f_matrix_power, .shapes = "2x3x3"},
	{.name = "norm", .f = f_norm, .shapes = "3x4"},
	{.name = "norm, complex", .f = f_complex_norm, .shapes = "3 3"},
	{.name = "vector_norm", .f = f_vector_norm, .shapes = "3x4"},
	{.name = "matrix_norm", .f = f_matrix_norm, .shapes = "2x3x2", .is_positive = 1},
	{.name = "matmul, matrix by vector", .f = f_matmul, .shapes = "3x4 4"},
	{.name = "matmul, complex", .f = f_complex_matmul, .shapes = "3x4 4x2"},
	{.name = "linear", .f = f_linear, .shapes = "2x3x4 5x4 5"},
	{.name = "reshape", .f = f_reshape, .shapes = "2x3x4"},
	{.name = "transpose", .f = f_transpose, .shapes = "3x3x4"},
	{.name = "slice", .f = f_slice, .shapes = "2x3x5"},
	{.name = "broadcast_to", .f = f_broadcast, .shapes = "3x1"},
	{.name = "sliding_window_view", .f = f_window, .shapes = "2x4x5"},
	{.name = "concatenate", .f = f_concatenate, .shapes = "3x2 3x4"},
	{.name = "diagonal", .f = f_diagonal, .shapes = "3x2x3"},
	{.name = "copy of a transpose", .f = f_copy, .shapes = "3x4"},
	{.name = "flatten", .f = f_flatten, .shapes = "2x3x4"},
	{.name = "cumprod", .f = f_cumprod, .shapes = "2x5x3", .order = 1},
	{.name = "take", .f = f_take, .shapes = "3x4"},
	{.name = "take_along_axis", .f = f_take_along_axis, .shapes = "3x4"},
	{.name = "sort", .f = f_sort, .shapes = "2x5x3"},
	{.name = "topk", .f = f_topk, .shapes = "3x4"},
	{.name = "cumsum", .f = f_cumsum, .shapes = "2x3x4"},
	{.name = "cummax, cummin", .f = f_cummax, .shapes = "2x3x4"},
	{.name = "tril, triu", .f = f_triangles, .shapes = "2x3x4"},
	{.name = "diag, vander", .f = f_diag, .shapes = "4"},
	{.name = "tile, repeat", .f = f_tile, .shapes = "2x3"},
	{.name = "diag of a diagonal", .f = f_diagonals, .shapes = "3x1x3"},
	{.name = "stack, array_split, append", .f = f_stack, .shapes = "2x4 2x4"},
	{.name = "insert, delete", .f = f_insert, .shapes = "2x3 2"},
	{.name = "roll, rot90", .f = f_roll, .shapes = "3x4"},
	{.name = "pad", .f = f_pad, .shapes = "3x4"},
	{.name = "pad, symmetric", .f = f_pad_symmetric, .shapes = "3x4"},
	{.name = "softmax", .f = f_softmax, .shapes = "2x3x4"},
	{.name = "log_softmax", .f = f_log_softmax, .shapes = "3x4"},
	{.name = "cross_entropy", .f = f_cross_entropy, .shapes = "4x3"},
	{.name = "cross_entropy, smoothed", .f = f_cross_entropy_smoothed, .shapes = "4x3"},
	{.name = "cross_entropy of rows", .f = f_cross_entropies, .shapes = "4x3"},
	{.name = "cross_entropy of probabilities",
	 .f = f_cross_entropy_of_probabilities,
	 .shapes = "4x3 4x3"},
	{.name = "mse_loss", .f = f_mse, .shapes = "4x3 4x3"},
	{.name = "l1_loss", .f = f_l1, .shapes = "4x3 4x3"},
	{.name = "huber_loss, of equal elements too",
	 .f = f_huber,
	 .shapes = "4x3 4x3",
	 .has_zeros = 1},
	{.name = "smooth_l1_loss, of equal elements too",
	 .f = f_smooth_l1,
	 .shapes = "4x3 4x3",
	 .has_zeros = 1},
	{.name = "binary_cross_entropy", .f = f_binary, .shapes = "4x3 4x3"},
	{.name = "binary_cross_entropy of zeros",
	 .f = f_binaries,
	 .shapes = "4x3 4x3",
	 .has_zeros = 1},
	{.name = "hinge_embedding_loss", .f = f_hinge, .shapes = "4x3"},
	{.name = "kl_div", .f = f_kl_div, .shapes = "4x3 4x3"},
	{.name = "cosine_embedding_loss", .f = f_cosine, .shapes = "4x3 4x3"},
	{.name = "nll_loss", .f = f_nll, .shapes = "4x3"},
	{.name = "multi_margin_loss", .f = f_margin, .shapes = "4x3"},
	{.name = "conv2d", .f = f_conv2d, .shapes = "2x3x5x6 4x3x3x2 4"},
	{.name = "conv2d, groups", .f = f_conv2d_groups, .shapes = "2x4x4x5 6x2x3x3"},
	{.name = "conv1d", .f = f_conv1d, .shapes = "2x4x9 6x2x3 6", .is_layer = 1, .batch = 1},
	{.name = "conv_transpose2d",
	 .f = f_conv_transpose2d,
	 .shapes = "2x4x2x3 4x3x3x2 6",
	 .is_layer = 1,
	 .batch = 1},
	{.name = "max_pool2d", .f = f_max_pool, .shapes = "2x2x6x5"},
	{.name = "avg_pool2d", .f = f_avg_pool, .shapes = "2x2x6x5"},
	{.name = "adaptive_avg_pool2d", .f = f_adaptive_avg_pool, .shapes = "2x2x5x6"},
	{.name = "adaptive_avg_pool2d, equal parts", .f = f_adaptive_avg_pool, .shapes = "2x2x6x4"},
	{.name = "adaptive_max_pool2d",
	 .f = f_adaptive_max_pool,
	 .shapes = "2x2x5x4",
	 .is_layer = 1,
	 .batch = 1},
	{.name = "global_avg_pool", .f = f_global_avg_pool, .shapes = "2x3x5x6"},
	{.name = "global_max_pool",
	 .f = f_global_max_pool,
	 .shapes = "2x2x3x4",
	 .is_layer = 1,
	 .batch = 1},
	{.name = "interpolate, nearest",
	 .f = f_nearest,
	 .shapes = "2x2x3x4",
	 .is_layer = 1,
	 .batch = 1},
	{.name = "interpolate, bilinear",
	 .f = f_bilinear,
	 .shapes = "1x2x3x4",
	 .is_layer = 1,
	 .batch = 1},
	{.name = "interpolate, bilinear, corners",
	 .f = f_bilinear_corners,
	 .shapes = "2x2x3x4",
	 .is_layer = 1,
	 .batch = 1},
	{.name = "batch_norm", .f = f_batch_norm, .shapes = "3x3x2x3 3 3"},
	{.name = "batch_norm of rows", .f = f_batch_norm, .shapes = "7x3 3 3"},
	{.name = "batch_norm, residual, relu6", .f = f_batch_norm_fused, .shapes = "3x3x2x3 3 3"},
	{.name = "batch_norm, running", .f = f_batch_norm_running, .shapes = "3x3x2x3 3 3"},
	{.name = "batch_norm, running, relu",
	 .f = f_batch_norm_running_relu,
	 .shapes = "3x3x2x3 3 3"},
	{.name = "layer_norm", .f = f_layer_norm, .shapes = "2x3x5 5 5"},
	{.name = "layer_norm, two axes", .f = f_layer_norm, .shapes = "2x3x5 3x5 3x5"},
	{.name = "layer_norm, transposed", .f = f_layer_norm_plain, .shapes = "2x5x3"},
	{.name = "group_norm", .f = f_group_norm, .shapes = "2x4x2x3 4 4"},
	{.name = "instance_norm",
	 .f = f_instance_norm,
	 .shapes = "2x3x3x2 3 3",
	 .is_layer = 1,
	 .batch = 1},
	{.name = "local_response_norm",
	 .f = f_response,
	 .shapes = "1x4x2x2",
	 .is_layer = 1,
	 .batch = 1},
	{.name = "local_response_norm, wide",
	 .f = f_response_wide,
	 .shapes = "2x5x2x2",
	 .is_layer = 1,
	 .batch = 1},
	{.name = "embedding", .f = f_embedding, .shapes = "3x4", .is_layer = 1},
	/* The row of padding counts, and has no gradient. */
	{.name = "embedding, padded", .f = f_embedding_padded, .shapes = "4x3", .order = 2},
	{.name = "attention",
	 .f = f_attention,
	 .shapes = "2x2x3x4 2x2x5x4 2x2x5x3 2x1x1x5",
	 .is_layer = 1,
	 .batch = 15},
	{.name = "attention, causal",
	 .f = f_attention_causal,
	 .shapes = "2x4x3 2x4x3 2x4x3",
	 .is_layer = 1,
	 .batch = 7},
	{.name = "attention, causal, more keys",
	 .f = f_attention_causal,
	 .shapes = "2x3x2 2x4x2 2x4x3",
	 .is_layer = 1,
	 .batch = 7},
	{.name = "lstm",
	 .f = f_lstm,
	 .shapes = "2x4x3 8x3 8x2 8 8 2x2 2x2",
	 .is_layer = 1,
	 .batch = 97},
	{.name = "lstm, reverse",
	 .f = f_lstm_reverse,
	 .shapes = "2x3x3 8x3 8x2 8 8 2x2 2x2",
	 .is_layer = 1,
	 .batch = 97},
	{.name = "gru", .f = f_gru, .shapes = "2x4x3 6x3 6x2 6 6 2x2", .is_layer = 1, .batch = 33},
	{.name = "gru, reverse",
	 .f = f_gru_reverse,
	 .shapes = "2x3x3 6x3 6x2 6 6 2x2",
	 .is_layer = 1,
	 .batch = 33},
	{.name = "lstm, one step",
	 .f = f_lstm_plain,
	 .shapes = "2x1x3 8x3 8x2",
	 .is_layer = 1,
	 .batch = 1},
	{.name = "gru, one step",
	 .f = f_gru_plain,
	 .shapes = "2x1x3 6x3 6x2",
	 .is_layer = 1,
	 .batch = 1},
	{.name = "dropout", .f = f_dropout, .shapes = "5x6"},
	{.name = "dropout2d", .f = f_dropout2d, .shapes = "3x4x2x2", .is_layer = 1, .batch = 1},
	{.name = "stochastic_depth",
	 .f = f_stochastic_depth,
	 .shapes = "8x3",
	 .is_layer = 1,
	 .batch = 1},
	{.name = "recompute", .f = f_recompute, .shapes = "3x4 4x5"},
	{.name = "a node of the user", .f = f_node, .shapes = "3x4"},
};

enum { GRADIENT_ROWS = sizeof(gradient_rows) / sizeof(gradient_rows[0]) };

/* ---- The numbers of a row ------------------------------------------------------------------- */

struct gradient_trial {
	const struct gradient_row *row;
	tn_context *context;
	tn_dtype dtype;
	int n;
	int rank[GRADIENT_INPUTS];
	int64_t shape[GRADIENT_INPUTS][4], size[GRADIENT_INPUTS];
	double x[GRADIENT_INPUTS][GRADIENT_ELEMENTS];
	/* Of second derivatives: the gradients of the weighted gradients. */
	double h[GRADIENT_INPUTS][GRADIENT_ELEMENTS];
};

/* A low-discrepancy sequence in 0 to 1, without ties. */
static inline double gradient_noise(int64_t k, int i)
{
	return fmod(0.5 + 0.6180339887498949 * (double)(k + 1) + 0.31 * i, 1.0);
}

static inline void gradient_read_shapes(struct gradient_trial *t)
{
	const char *text = t->row->shapes;
	for (t->n = 0; *text; t->n++) {
		const int i = t->n;
		t->size[i] = 1;
		for (; *text && *text != ' '; text += *text == 'x' || *text == '-') {
			char *end = (char *)(uintptr_t)text;
			if (*text != '-')
				t->shape[i][t->rank[i]] = strtol(text, &end, 10);
			if (*text != '-')
				t->size[i] *= t->shape[i][t->rank[i]++];
			text = end;
		}
		text += *text == ' ';
	}
}

static inline void gradient_begin(struct gradient_trial *t, const struct gradient_row *row,
				  tn_context *context, tn_dtype dtype)
{
	memset(t, 0, sizeof(*t));
	t->row = row;
	t->context = context;
	t->dtype = dtype;
	gradient_read_shapes(t);
	for (int i = 0; i < t->n; i++) {
		assert_true(t->size[i] <= GRADIENT_ELEMENTS);
		for (int64_t k = 0; k < t->size[i]; k++) {
			const double u = gradient_noise(k, i);
			t->x[i][k] = row->is_positive ? 0.5 + u : 2.0 * u - 1.0;
			if (row->has_zeros && k % 5 == 1)
				t->x[i][k] = 0;
		}
	}
}

static inline tn_array *gradient_array(const struct gradient_trial *t, int i, const double *numbers)
{
	tn_array *wide = tn_from_host(t->context, TN_F64, t->rank[i], t->shape[i], numbers);
	return t->dtype == TN_F64 ? wide : tn_astype(wide, t->dtype);
}

/* First derivatives against differences. */
static inline void check_gradient(tn_context *context, const struct gradient_row *row,
				  tn_dtype dtype, double step, double tolerance)
{
	static struct gradient_trial t;
	tn_array *x[GRADIENT_INPUTS];
	struct tn_gradient_report report = {.struct_size = sizeof(report)};
	if (row->order == 2)
		return;
	assert_ok(tn_scope_begin(context));
	gradient_begin(&t, row, context, dtype);
	for (int i = 0; i < t.n; i++)
		x[i] = gradient_array(&t, i, t.x[i]);
	if (tn_gradient_check(context, row->f, NULL, t.n, x, step, tolerance, 0, &report))
		fail_msg("%s, %s: %s", row->name, tn_dtype_name(dtype), tn_error(context)->text);
	tn_scope_end(context, NULL);
}

#endif
