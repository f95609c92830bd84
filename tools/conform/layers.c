/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The table of layers.  A new layer needs a row here.
 */
#include "layers.h"
#include "layers/norm.h"

#include <tenon/autograd.h>
#include <tenon/loss.h>

/* ---- What they run ---------------------------------------------------------------------------*/

static tn_array *unary(const struct layer *layer, tn_array *const *in)
{
	return layer->unary(in[0]);
}

static tn_array *binary(const struct layer *layer, tn_array *const *in)
{
	return layer->binary(in[0], in[1]);
}

static tn_array *linear(const struct layer *layer, tn_array *const *in)
{
	return tn_linear(in[0], in[1], layer->n_inputs > 2 ? in[2] : NULL);
}

/* a^T times the rows of b in reverse order: views, one with a negative stride */
static tn_array *matmul_of_views(const struct layer *layer, tn_array *const *in)
{
	(void)layer;
	return tn_matmul(tn_transpose(in[0], NULL), tn_slice(in[1], 0, INT64_MIN, INT64_MIN, -1));
}

/* numbers: stride, padding, dilation, groups */
static tn_array *conv2d(const struct layer *layer, tn_array *const *in)
{
	const int64_t *n = layer->numbers;
	const struct tn_conv2d_options options = {.struct_size = sizeof(options),
						  .stride = {n[0], n[1]},
						  .padding = {n[2], n[3]},
						  .dilation = {n[4], n[5]},
						  .groups = n[6]};
	return tn_conv2d(in[0], in[1], layer->n_inputs > 2 ? in[2] : NULL, &options);
}

/* The same for pictures with channels last. */
static tn_array *conv2d_of_nhwc(const struct layer *layer, tn_array *const *in)
{
	tn_array *const inputs[] = {tn_transpose(in[0], (const int[]){0, 3, 1, 2}), in[1]};
	return conv2d(layer, inputs);
}

/* numbers: kernel, stride, padding, exclude_padding */
static struct tn_pool2d_options pool_options(const struct layer *layer)
{
	const int64_t *n = layer->numbers;
	return (struct tn_pool2d_options){.struct_size = sizeof(struct tn_pool2d_options),
					  .kernel = {n[0], n[1]},
					  .stride = {n[2], n[3]},
					  .padding = {n[4], n[5]},
					  .exclude_padding = (int)n[6]};
}

static tn_array *max_pool(const struct layer *layer, tn_array *const *in)
{
	const struct tn_pool2d_options options = pool_options(layer);
	return tn_max_pool2d(in[0], &options);
}

static tn_array *average_pool(const struct layer *layer, tn_array *const *in)
{
	const struct tn_pool2d_options options = pool_options(layer);
	return tn_avg_pool2d(in[0], &options);
}

/* numbers: 0 batch norm, 1 layer norm; the inputs are x, w, b, or only x */
static tn_array *norm(const struct layer *layer, tn_array *const *in)
{
	int has_affine = layer->n_inputs > 1;
	tn_array *mean, *rstd;
	return tn_norm_forward((int)layer->numbers[0], in[0], has_affine ? in[1] : NULL,
			       has_affine ? in[2] : NULL, 1e-5, 0, &mean, &rstd);
}

/* numbers: axis, logarithm */
static tn_array *softmax(const struct layer *layer, tn_array *const *in)
{
	int axis = (int)layer->numbers[0];
	return layer->numbers[1] ? tn_log_softmax(in[0], axis) : tn_softmax(in[0], axis);
}

/* numbers: causal; the inputs are q, k, v, or also a mask */
static tn_array *attention(const struct layer *layer, tn_array *const *in)
{
	struct tn_attention_options options = tn_attention_defaults();
	options.mask = layer->n_inputs > 3 ? in[3] : NULL;
	options.causal = (int)layer->numbers[0];
	return tn_scaled_dot_product_attention(in[0], in[1], in[2], &options);
}

static tn_array *cross_entropy(const struct layer *layer, tn_array *const *in)
{
	struct tn_cross_entropy_options options = tn_cross_entropy_defaults();
	(void)layer;
	options.has_ignore_label = 1;
	options.ignore_label = IGNORED;
	return tn_cross_entropy(in[0], in[1], &options);
}

static tn_array *gelu(const struct layer *layer, tn_array *const *in)
{
	static const char *const names[] = {"x"}, *const scalars[] = {"r"};
	(void)layer;
	return tn_map("z = x * (1 + erf(x * r)) / 2", 1, names, (const tn_array *const *)in, 1,
		      scalars, (const double[]){0.70710678118654752});
}

static tn_array *dropout(const struct layer *layer, tn_array *const *in)
{
	(void)layer;
	return tn_dropout(in[0], 0.25);
}

static tn_array *take(const struct layer *layer, tn_array *const *in)
{
	return tn_take(in[0], in[1], (int)layer->numbers[0], TN_RAISE);
}

static tn_array *sum(const struct layer *layer, tn_array *const *in)
{
	(void)layer;
	return tn_sum(in[0], 1, (const int[]){1}, 0);
}

static tn_array *mean(const struct layer *layer, tn_array *const *in)
{
	(void)layer;
	return tn_mean(in[0], TN_ALL_AXES, NULL, 0);
}

static tn_array *largest(const struct layer *layer, tn_array *const *in)
{
	(void)layer;
	return tn_max(in[0], 1, (const int[]){0}, 1);
}

static tn_array *argmax(const struct layer *layer, tn_array *const *in)
{
	(void)layer;
	return tn_argmax(in[0], 1, 0);
}

static tn_array *logsumexp(const struct layer *layer, tn_array *const *in)
{
	(void)layer;
	return tn_logsumexp(in[0], 1, (const int[]){-1}, 0);
}

static tn_array *where(const struct layer *layer, tn_array *const *in)
{
	(void)layer;
	return tn_where(tn_less(in[0], in[1]), in[0], in[1]);
}

/* Every other column, backwards, times a broadcast row. */
static tn_array *views(const struct layer *layer, tn_array *const *in)
{
	tn_array *columns = tn_slice(tn_transpose(in[0], NULL), 0, INT64_MIN, INT64_MIN, -2);
	(void)layer;
	return tn_multiply(columns, tn_broadcast_to(in[1], 2, tn_array_shape(columns)));
}

static tn_array *window_sums(const struct layer *layer, tn_array *const *in)
{
	const int axes[] = {1};
	(void)layer;
	return tn_sum(tn_sliding_window_view(in[0], 1, (const int64_t[]){3}, axes), 1,
		      (const int[]){-1}, 0);
}

static tn_array *joined(const struct layer *layer, tn_array *const *in)
{
	const tn_array *parts[] = {in[0], tn_transpose(in[1], NULL)};
	(void)layer;
	return tn_reshape(tn_concatenate(2, parts, 0), 1, (const int64_t[]){-1});
}

/* ---- The table -------------------------------------------------------------------------------*/

#define X(...)                                                                                     \
	{                                                                                          \
		.rank = sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), .shape = {             \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
#define WITHIN(from, to, ...)                                                                      \
	{                                                                                          \
		.rank = sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t),                        \
		.shape = {__VA_ARGS__}, .low = (from), .high = (to)                                \
	}
#define WHOLE(what, below, ...)                                                                    \
	{                                                                                          \
		.content = (what), .rank = sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t),     \
		.shape = {__VA_ARGS__}, .high = (below)                                            \
	}

/* `terms` is the longest sum of the forward and of all gradients. */
const struct layer layers[] = {
	{.group = "products",
	 .name = "linear",
	 .run = linear,
	 .bound = LINEAR,
	 .family = TN_FAMILY_MATMUL,
	 .terms = 8,
	 .n_inputs = 3,
	 .inputs = {X(5, 7), X(4, 7), X(4)}},
	{.group = "products",
	 .name = "linear of rank 3",
	 .run = linear,
	 .bound = LINEAR,
	 .family = TN_FAMILY_MATMUL,
	 .terms = 130,
	 .n_inputs = 2,
	 .inputs = {X(3, 17, 129), X(65, 129)}},
	{.group = "products",
	 .name = "matmul of broadcast batches",
	 .run = binary,
	 .binary = tn_matmul,
	 .bound = LINEAR,
	 .family = TN_FAMILY_MATMUL,
	 .terms = 12,
	 .n_inputs = 2,
	 .inputs = {X(2, 1, 4, 5), X(3, 5, 6)}},
	{.group = "products",
	 .name = "matmul of views",
	 .run = matmul_of_views,
	 .bound = LINEAR,
	 .family = TN_FAMILY_MATMUL,
	 .terms = 31,
	 .n_inputs = 2,
	 .inputs = {X(31, 9), X(31, 6)}},
	{.group = "conv2d",
	 .name = "conv2d, padded",
	 .run = conv2d,
	 .bound = LINEAR,
	 .family = TN_FAMILY_CONV,
	 .terms = 84,
	 .n_inputs = 3,
	 .inputs = {X(2, 3, 7, 6), X(4, 3, 3, 3), X(4)},
	 .numbers = {1, 1, 1, 1, 1, 1, 1}},
	{.group = "conv2d",
	 .name = "conv2d, strides 2 and 3, dilation 2",
	 .run = conv2d,
	 .bound = LINEAR,
	 .family = TN_FAMILY_CONV,
	 .terms = 48,
	 .n_inputs = 3,
	 .inputs = {X(2, 3, 11, 13), X(5, 3, 3, 2), X(5)},
	 .numbers = {2, 3, 2, 1, 2, 1, 1}},
	{.group = "conv2d",
	 .name = "conv2d, 2 groups",
	 .run = conv2d,
	 .bound = LINEAR,
	 .family = TN_FAMILY_CONV,
	 .terms = 84,
	 .n_inputs = 3,
	 .inputs = {X(2, 4, 6, 7), X(6, 2, 3, 3), X(6)},
	 .numbers = {1, 1, 1, 1, 1, 1, 2}},
	{.group = "conv2d",
	 .name = "conv2d, depthwise",
	 .run = conv2d,
	 .bound = LINEAR,
	 .family = TN_FAMILY_CONV,
	 .terms = 50,
	 .n_inputs = 2,
	 .inputs = {X(2, 5, 9, 9), X(5, 1, 3, 3)},
	 .numbers = {2, 2, 1, 1, 1, 1, 5}},
	{.group = "conv2d",
	 .name = "conv2d, 1 x 1",
	 .run = conv2d,
	 .bound = LINEAR,
	 .family = TN_FAMILY_CONV,
	 .terms = 75,
	 .n_inputs = 3,
	 .inputs = {X(3, 8, 5, 5), X(7, 8, 1, 1), X(7)},
	 .numbers = {1, 1, 0, 0, 1, 1, 1}},
	{.group = "conv2d",
	 .name = "conv2d of channels last",
	 .run = conv2d_of_nhwc,
	 .bound = LINEAR,
	 .family = TN_FAMILY_CONV,
	 .terms = 98,
	 .n_inputs = 2,
	 .inputs = {X(2, 7, 7, 3), X(4, 3, 3, 3)},
	 .numbers = {1, 1, 1, 1, 1, 1, 1}},
	{.group = "pool2d",
	 .name = "max_pool2d, overlapping",
	 .run = max_pool,
	 .bound = CHOSEN,
	 .terms = 4,
	 .family = TN_FAMILY_POOL,
	 .n_inputs = 1,
	 .inputs = {X(2, 3, 9, 7)},
	 .numbers = {3, 3, 2, 2, 1, 1}},
	{.group = "pool2d",
	 .name = "max_pool2d, 2 x 2",
	 .run = max_pool,
	 .bound = CHOSEN,
	 .family = TN_FAMILY_POOL,
	 .n_inputs = 1,
	 .inputs = {X(2, 3, 8, 6)},
	 .numbers = {2, 2}},
	{.group = "pool2d",
	 .name = "avg_pool2d, padding counted",
	 .run = average_pool,
	 .bound = LINEAR,
	 .family = TN_FAMILY_POOL,
	 .terms = 9,
	 .n_inputs = 1,
	 .inputs = {X(2, 3, 9, 7)},
	 .numbers = {3, 2, 2, 2, 1, 1}},
	{.group = "pool2d",
	 .name = "avg_pool2d, padding excluded",
	 .run = average_pool,
	 .bound = LINEAR,
	 .family = TN_FAMILY_POOL,
	 .terms = 9,
	 .n_inputs = 1,
	 .inputs = {X(1, 2, 7, 11)},
	 .numbers = {3, 3, 2, 2, 1, 1, 1}},
	{.group = "norm",
	 .name = "batch_norm",
	 .run = norm,
	 .bound = SMOOTH,
	 .family = TN_FAMILY_NORM,
	 .terms = 84,
	 .has_no_gradient = 1,
	 .n_inputs = 3,
	 .inputs = {WITHIN(-2, 2, 4, 3, 3, 7), X(3), X(3)}},
	{.group = "norm",
	 .name = "batch_norm without weights",
	 .run = norm,
	 .bound = SMOOTH,
	 .family = TN_FAMILY_NORM,
	 .terms = 33,
	 .has_no_gradient = 1,
	 .n_inputs = 1,
	 .inputs = {WITHIN(-2, 2, 33, 5)}},
	{.group = "norm",
	 .name = "layer_norm",
	 .run = norm,
	 .bound = SMOOTH,
	 .family = TN_FAMILY_NORM,
	 .terms = 40,
	 .has_no_gradient = 1,
	 .n_inputs = 3,
	 .inputs = {WITHIN(-2, 2, 5, 40), X(40), X(40)},
	 .numbers = {1}},
	{.group = "softmax",
	 .name = "softmax",
	 .run = softmax,
	 .bound = SMOOTH,
	 .scale = 1,
	 .family = TN_FAMILY_SOFTMAX,
	 .terms = 37,
	 .n_inputs = 1,
	 .inputs = {WITHIN(-2, 2, 6, 37)},
	 .numbers = {1, 0}},
	{.group = "softmax",
	 .name = "softmax of the first axis",
	 .run = softmax,
	 .bound = SMOOTH,
	 .scale = 1,
	 .family = TN_FAMILY_SOFTMAX,
	 .terms = 5,
	 .n_inputs = 1,
	 .inputs = {WITHIN(-2, 2, 5, 3, 4)},
	 .numbers = {0, 0}},
	{.group = "softmax",
	 .name = "log_softmax",
	 .run = softmax,
	 .bound = SMOOTH,
	 .family = TN_FAMILY_SOFTMAX,
	 .terms = 37,
	 .n_inputs = 1,
	 .inputs = {WITHIN(-2, 2, 6, 37)},
	 .numbers = {1, 1}},
	{.group = "attention",
	 .name = "attention",
	 .run = attention,
	 .bound = SMOOTH,
	 .family = TN_FAMILY_SOFTMAX,
	 .terms = 25,
	 .n_inputs = 3,
	 .inputs = {X(2, 5, 8), X(2, 17, 8), X(2, 17, 3)}},
	{.group = "attention",
	 .name = "attention of heads, causal",
	 .run = attention,
	 .bound = SMOOTH,
	 .family = TN_FAMILY_SOFTMAX,
	 .terms = 13,
	 .n_inputs = 3,
	 .inputs = {X(2, 3, 7, 4), X(2, 3, 9, 4), X(2, 3, 9, 5)},
	 .numbers = {1}},
	{.group = "attention",
	 .name = "attention with a mask",
	 .run = attention,
	 .bound = SMOOTH,
	 .family = TN_FAMILY_SOFTMAX,
	 .terms = 11,
	 .n_inputs = 4,
	 .inputs = {X(3, 4, 6), X(3, 5, 6), X(3, 5, 6), X(4, 5)}},
	{.group = "cross_entropy",
	 .name = "cross_entropy",
	 .run = cross_entropy,
	 .bound = SMOOTH,
	 .family = TN_FAMILY_SOFTMAX,
	 .terms = 20,
	 .n_inputs = 2,
	 .inputs = {WITHIN(-2, 2, 13, 10), WHOLE(LABELS, 10, 13)}},
	{.group = "activations",
	 .name = "relu",
	 .run = unary,
	 .unary = tn_relu,
	 .bound = CHOSEN,
	 .n_inputs = 1,
	 .inputs = {WITHIN(-2, 2, 3, 5)}},
	{.group = "activations",
	 .name = "tanh",
	 .run = unary,
	 .unary = tn_tanh,
	 .bound = SMOOTH,
	 .scale = 1,
	 .n_inputs = 1,
	 .inputs = {WITHIN(-2, 2, 3, 5)}},
	{.group = "activations",
	 .name = "sigmoid",
	 .run = unary,
	 .unary = tn_sigmoid,
	 .bound = SMOOTH,
	 .scale = 1,
	 .n_inputs = 1,
	 .inputs = {WITHIN(-2, 2, 3, 5)}},
	{.group = "activations",
	 .name = "exp",
	 .run = unary,
	 .unary = tn_exp,
	 .bound = SMOOTH,
	 .n_inputs = 1,
	 .inputs = {WITHIN(-2, 2, 3, 5)}},
	{.group = "activations",
	 .name = "log",
	 .run = unary,
	 .unary = tn_log,
	 .bound = SMOOTH,
	 .n_inputs = 1,
	 .inputs = {WITHIN(0.25, 2, 3, 5)}},
	{.group = "activations",
	 .name = "gelu",
	 .run = gelu,
	 .bound = SMOOTH,
	 .n_inputs = 1,
	 .inputs = {WITHIN(-2, 2, 3, 5)}},
	{.group = "dropout",
	 .name = "dropout",
	 .run = dropout,
	 .bound = LINEAR,
	 .terms = 1,
	 .n_inputs = 1,
	 .inputs = {WITHIN(0.5, 1, 9, 31)}},
	{.group = "indexing",
	 .name = "take of rows",
	 .run = take,
	 .bound = LINEAR,
	 .terms = 12,
	 .n_inputs = 2,
	 .inputs = {X(9, 4), WHOLE(PLACES, 9, 3, 4)},
	 .numbers = {0}},
	{.group = "indexing",
	 .name = "take along the last axis",
	 .run = take,
	 .bound = LINEAR,
	 .terms = 5,
	 .n_inputs = 2,
	 .inputs = {X(3, 7), WHOLE(PLACES, 7, 5)},
	 .numbers = {1}},
	{.group = "reductions",
	 .name = "sum of an inner axis",
	 .run = sum,
	 .bound = LINEAR,
	 .terms = 50,
	 .n_inputs = 1,
	 .inputs = {X(3, 50, 4)}},
	{.group = "reductions",
	 .name = "mean of all",
	 .run = mean,
	 .bound = LINEAR,
	 .terms = 150,
	 .n_inputs = 1,
	 .inputs = {X(3, 50)}},
	{.group = "reductions",
	 .name = "max of the first axis",
	 .run = largest,
	 .bound = CHOSEN,
	 .n_inputs = 1,
	 .inputs = {X(11, 6)}},
	{.group = "reductions",
	 .name = "argmax of the last axis",
	 .run = argmax,
	 .bound = CHOSEN,
	 .has_no_gradient = 1,
	 .n_inputs = 1,
	 .inputs = {X(6, 11)}},
	{.group = "reductions",
	 .name = "logsumexp of the last axis",
	 .run = logsumexp,
	 .bound = SMOOTH,
	 .terms = 23,
	 .n_inputs = 1,
	 .inputs = {WITHIN(-2, 2, 4, 23)}},
	{.group = "elementwise",
	 .name = "add, broadcast",
	 .run = binary,
	 .binary = tn_add,
	 .bound = LINEAR,
	 .terms = 5,
	 .n_inputs = 2,
	 .inputs = {X(5, 1), X(4)}},
	{.group = "elementwise",
	 .name = "multiply, broadcast",
	 .run = binary,
	 .binary = tn_multiply,
	 .bound = LINEAR,
	 .terms = 6,
	 .n_inputs = 2,
	 .inputs = {X(2, 1, 3), X(6, 1)}},
	{.group = "elementwise",
	 .name = "divide",
	 .run = binary,
	 .binary = tn_divide,
	 .bound = SMOOTH,
	 .n_inputs = 2,
	 .inputs = {WITHIN(-2, 2, 4, 5), WITHIN(0.5, 2, 4, 5)}},
	{.group = "elementwise",
	 .name = "where of less",
	 .run = where,
	 .bound = CHOSEN,
	 .n_inputs = 2,
	 .inputs = {X(4, 5), X(4, 5)}},
	{.group = "views",
	 .name = "slice of a transpose, times a broadcast row",
	 .run = views,
	 .bound = LINEAR,
	 .terms = 8,
	 .n_inputs = 2,
	 .inputs = {X(6, 9), X(6)}},
	{.group = "views",
	 .name = "sum of sliding windows",
	 .run = window_sums,
	 .bound = LINEAR,
	 .terms = 3,
	 .n_inputs = 1,
	 .inputs = {X(4, 9)}},
	{.group = "views",
	 .name = "concatenate and reshape",
	 .run = joined,
	 .bound = CHOSEN,
	 .n_inputs = 2,
	 .inputs = {X(3, 4), X(4, 5)}},
};
const size_t n_layers = sizeof(layers) / sizeof(layers[0]);
