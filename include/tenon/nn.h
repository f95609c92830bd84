/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Modules: layers with parameters, under PyTorch's names.
 *
 *     tn_module *net = tn_module_sequential(ctx);
 *     tn_module_sequential_add(net, "fc1", tn_module_linear(ctx, 784, 128, NULL));
 *     tn_module_sequential_add(net, "relu1", tn_module_relu(ctx));
 *     tn_module_sequential_add(net, "fc2", tn_module_linear(ctx, 128, 10, NULL));
 *     tn_module_build(net);
 *     tn_array *logits = tn_module_forward(net, x);
 *
 * The caller owns a module until it is added to another, which then owns it (consumed).  Building
 * the outermost module seals it: its parameters, their gradients and the state of optimizers are
 * placed in flat arenas, each parameter aligned to 64 elements (256 bytes of f32), and parameters
 * are initialised with values drawn on the host from the context's random state, the same on every
 * backend.  A parameter shared by two modules is stored once.  Changing the structure after that
 * fails with TN_STATE.
 * Parameters are f32 unless tn_module_set_dtype chooses another dtype for the network.
 *
 * A function that makes a module returns NULL on failure and if an argument is NULL, and the
 * context keeps the error.  All functions: [thread: one per context | since 0.1].
 */
#ifndef TENON_NN_H
#define TENON_NN_H

#include <string.h>

#include <tenon/autograd.h>
#include <tenon/text.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tn_module tn_module;

/* ---- Layers ----------------------------------------------------------------------------------*/

struct tn_module_linear_options {
	uint32_t struct_size;
	int no_bias;
};
static inline struct tn_module_linear_options tn_module_linear_defaults(void)
{
	struct tn_module_linear_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	return options;
}
/* y = x weight^T + bias.  weight (out, in) and bias (out) start uniform in +-1/sqrt(in), as in
 * PyTorch. */
TN_API tn_module *tn_module_linear(tn_context *context, int64_t in_features, int64_t out_features,
				   const struct tn_module_linear_options *options);

struct tn_module_conv2d_options {
	uint32_t struct_size;
	const struct tn_conv2d_options *window; /* NULL: the defaults */
	int no_bias;
};
static inline struct tn_module_conv2d_options tn_module_conv2d_defaults(void)
{
	struct tn_module_conv2d_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	return options;
}
/* weight (out, in / groups, kernel_h, kernel_w) and bias (out) start uniform in +-1/sqrt(in /
 * groups * kernel_h * kernel_w), as in PyTorch. */
TN_API tn_module *tn_module_conv2d(tn_context *context, int64_t in_channels, int64_t out_channels,
				   int64_t kernel_h, int64_t kernel_w,
				   const struct tn_module_conv2d_options *options);

struct tn_module_conv1d_options {
	uint32_t struct_size;
	const struct tn_conv1d_options *window; /* NULL: the defaults */
	int no_bias;
};
static inline struct tn_module_conv1d_options tn_module_conv1d_defaults(void)
{
	struct tn_module_conv1d_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	return options;
}
/* tn_conv1d of (N, C, L).  weight (out, in / groups, kernel) and bias (out) start as those of a
 * Conv2d. */
TN_API tn_module *tn_module_conv1d(tn_context *context, int64_t in_channels, int64_t out_channels,
				   int64_t kernel, const struct tn_module_conv1d_options *options);

struct tn_module_conv_transpose2d_options {
	uint32_t struct_size;
	const struct tn_conv_transpose2d_options *window; /* NULL: the defaults */
	int no_bias;
};
static inline struct tn_module_conv_transpose2d_options tn_module_conv_transpose2d_defaults(void)
{
	struct tn_module_conv_transpose2d_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	return options;
}
/* tn_conv_transpose2d.  weight (in, out / groups, kernel_h, kernel_w) and bias (out) start uniform
 * in +-1/sqrt(out / groups * kernel_h * kernel_w), as in PyTorch. */
TN_API tn_module *
tn_module_conv_transpose2d(tn_context *context, int64_t in_channels, int64_t out_channels,
			   int64_t kernel_h, int64_t kernel_w,
			   const struct tn_module_conv_transpose2d_options *options);

struct tn_module_embedding_options {
	uint32_t struct_size;
	int has_padding;       /* 1: padding_index counts */
	int64_t padding_index; /* its row starts as 0 and is not trained */
};
static inline struct tn_module_embedding_options tn_module_embedding_defaults(void)
{
	struct tn_module_embedding_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	return options;
}
/* tn_embedding of indices (i32 or i64, any shape).  weight (rows, width) starts with normal values
 * of mean 0 and deviation 1, as in PyTorch. */
TN_API tn_module *tn_module_embedding(tn_context *context, int64_t rows, int64_t width,
				      const struct tn_module_embedding_options *options);

TN_API tn_module *tn_module_max_pool2d(tn_context *context,
				       const struct tn_pool2d_options *options);
TN_API tn_module *tn_module_avg_pool2d(tn_context *context,
				       const struct tn_pool2d_options *options);
/* tn_adaptive_avg_pool2d.  TN_INVALID_ARGUMENT: an output below 1. */
TN_API tn_module *tn_module_adaptive_avg_pool2d(tn_context *context, int64_t output_h,
						int64_t output_w);
/* tn_adaptive_max_pool2d; 1 x 1 is the maximum of each plane. */
TN_API tn_module *tn_module_adaptive_max_pool2d(tn_context *context, int64_t output_h,
						int64_t output_w);
/* tn_global_avg_pool, tn_global_max_pool: (N, C, H, W) gives (N, C). */
TN_API tn_module *tn_module_global_avg_pool(tn_context *context);
TN_API tn_module *tn_module_global_max_pool(tn_context *context);
/* tn_interpolate. */
TN_API tn_module *tn_module_upsample(tn_context *context,
				     const struct tn_interpolate_options *options);
/* tn_local_response_norm.  TN_INVALID_ARGUMENT: size is below 1. */
TN_API tn_module *
tn_module_local_response_norm(tn_context *context, int64_t size,
			      const struct tn_local_response_norm_options *options);

struct tn_module_norm_options {
	uint32_t struct_size;
	double epsilon;  /* at least 0; default 1e-5 */
	double momentum; /* for batch norm; in [0, 1]; default 0.1 */
	int no_affine;   /* 1: no weight and bias */
	/* 1: a batch norm's running statistics are the means over the num_batches_tracked batches,
	 * as with PyTorch's momentum of None; momentum is not used. */
	int cumulative;
};
static inline struct tn_module_norm_options tn_module_norm_defaults(void)
{
	struct tn_module_norm_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.epsilon = 1e-5;
	options.momentum = 0.1;
	return options;
}
/* tn_batch_norm of (N, C, H, W).  weight (C) starts as 1, bias (C) as 0; the buffers running_mean
 * and running_var (C) and num_batches_tracked (i64, 0-d) start as 0, 1 and 0, and are updated in
 * training. */
TN_API tn_module *tn_module_batch_norm2d(tn_context *context, int64_t channels,
					 const struct tn_module_norm_options *options);
/* The same of (N, C) or (N, C, L). */
TN_API tn_module *tn_module_batch_norm1d(tn_context *context, int64_t channels,
					 const struct tn_module_norm_options *options);
/* tn_layer_norm over the last n_axes axes, which have that shape; so do weight and bias. */
TN_API tn_module *tn_module_layer_norm(tn_context *context, int n_axes, const int64_t *shape,
				       const struct tn_module_norm_options *options);
/* Layer norm over the channels of (N, C, H, W), like torchvision's LayerNorm2d. */
TN_API tn_module *tn_module_layer_norm2d(tn_context *context, int64_t channels,
					 const struct tn_module_norm_options *options);

/* tn_group_norm.  TN_INVALID_ARGUMENT: groups does not divide channels. */
TN_API tn_module *tn_module_group_norm(tn_context *context, int64_t groups, int64_t channels,
				       const struct tn_module_norm_options *options);

struct tn_module_instance_norm_options {
	uint32_t struct_size;
	int affine;     /* 1: weight (C) and bias (C), which start as 1 and 0 */
	double epsilon; /* default 1e-5 */
};
static inline struct tn_module_instance_norm_options tn_module_instance_norm_defaults(void)
{
	struct tn_module_instance_norm_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.epsilon = 1e-5;
	return options;
}
/* tn_instance_norm of (N, C, H, W), without running statistics; by default without parameters, as
 * in PyTorch. */
TN_API tn_module *tn_module_instance_norm2d(tn_context *context, int64_t channels,
					    const struct tn_module_instance_norm_options *options);

TN_API tn_module *tn_module_relu(tn_context *context);
TN_API tn_module *tn_module_relu6(tn_context *context);
TN_API tn_module *tn_module_tanh(tn_context *context);
TN_API tn_module *tn_module_sigmoid(tn_context *context);
TN_API tn_module *tn_module_silu(tn_context *context);
TN_API tn_module *tn_module_hardswish(tn_context *context);
TN_API tn_module *tn_module_gelu(tn_context *context, int tanh_form); /* 1: tn_gelu_tanh */
/* The functions of <tenon/array.h> with these names and values; TN_INVALID_ARGUMENT as there. */
TN_API tn_module *tn_module_leaky_relu(tn_context *context, double negative_slope);
TN_API tn_module *tn_module_elu(tn_context *context, double alpha);
TN_API tn_module *tn_module_celu(tn_context *context, double alpha);
TN_API tn_module *tn_module_selu(tn_context *context);
TN_API tn_module *tn_module_softplus(tn_context *context, double beta, double threshold);
TN_API tn_module *tn_module_mish(tn_context *context);
TN_API tn_module *tn_module_softsign(tn_context *context);
TN_API tn_module *tn_module_log_sigmoid(tn_context *context);
TN_API tn_module *tn_module_hardsigmoid(tn_context *context);
TN_API tn_module *tn_module_hardtanh(tn_context *context, double low, double high);
/* tn_prelu with the parameter weight (parameters), 1 or as many as channels, which starts as
 * `initial` (PyTorch: 0.25).  TN_INVALID_ARGUMENT: fewer than 1. */
TN_API tn_module *tn_module_prelu(tn_context *context, int64_t parameters, double initial);
/* tn_softmax, tn_log_softmax. */
TN_API tn_module *tn_module_softmax(tn_context *context, int axis);
TN_API tn_module *tn_module_log_softmax(tn_context *context, int axis);
TN_API tn_module *tn_module_identity(tn_context *context);
TN_API tn_module *tn_module_flatten(tn_context *context); /* from axis 1 on */
/* These do nothing unless the module is training: tn_dropout, tn_dropout2d and
 * tn_stochastic_depth. */
TN_API tn_module *tn_module_dropout(tn_context *context, double p);
TN_API tn_module *tn_module_dropout2d(tn_context *context, double p);
TN_API tn_module *tn_module_stochastic_depth(tn_context *context, double p);

struct tn_module_attention_options {
	uint32_t struct_size;
	int no_bias;
	int causal;     /* 1: an element sees no later ones */
	double dropout; /* of the weights, in training */
};
static inline struct tn_module_attention_options tn_module_attention_defaults(void)
{
	struct tn_module_attention_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	return options;
}
/* torch.nn.MultiheadAttention with batch_first: forward is the self-attention of x (N, L, width).
 * in_proj_weight (3 width, width) starts uniform in +-sqrt(6 / (4 width)), in_proj_bias (3 width)
 * and out_proj.bias (width) as 0, and out_proj.weight (width, width) as that of a Linear.
 * TN_INVALID_ARGUMENT: heads does not divide width. */
TN_API tn_module *tn_module_multihead_attention(tn_context *context, int64_t width, int64_t heads,
						const struct tn_module_attention_options *options);
/* The general forward of that module: query (N, L, width), key and value (N, S, width); the result
 * has query's shape.  mask is added to the scores, as that of tn_scaled_dot_product_attention; it
 * broadcasts to (N, heads, L, S), and may be NULL.  To be called like tn_module_forward.
 * TN_INVALID_ARGUMENT: `attention` is another kind of module. */
TN_API tn_array *tn_module_attention_forward(tn_module *attention, const tn_array *query,
					     const tn_array *key, const tn_array *value,
					     const tn_array *mask);

struct tn_module_recurrent_options {
	uint32_t struct_size;
	int n_layers;      /* default 1 */
	int no_bias;       /* 1: without biases */
	int bidirectional; /* 1: a second direction, from the last step to the first */
	double dropout;    /* between layers, in training */
};
static inline struct tn_module_recurrent_options tn_module_recurrent_defaults(void)
{
	struct tn_module_recurrent_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.n_layers = 1;
	return options;
}
/* torch.nn.LSTM and torch.nn.GRU with batch_first: x (N, L, in) gives (N, L, hidden), or with two
 * directions (N, L, 2 hidden).  The parameters weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0,
 * weight_ih_l0_reverse, ... start uniform in +-1/sqrt(hidden).  TN_INVALID_ARGUMENT: n_layers is
 * not in 0..TN_MAX_RECURRENT_LAYERS, dropout not in [0, 1]. */
TN_API tn_module *tn_module_lstm(tn_context *context, int64_t in_features, int64_t hidden,
				 const struct tn_module_recurrent_options *options);
TN_API tn_module *tn_module_gru(tn_context *context, int64_t in_features, int64_t hidden,
				const struct tn_module_recurrent_options *options);
enum { TN_MAX_RECURRENT_LAYERS = 64 };
/* The general forward of these modules.  h0 and c0 (layers directions, N, hidden), or NULL for
 * zeros; *h_n and *c_n, unless the pointer is NULL, receive the states after the last step, in this
 * shape (NULL on failure).  c0 and c_n are NULL for a GRU.  To be called like tn_module_forward.
 * TN_INVALID_ARGUMENT: `recurrent` is another kind of module, or a GRU is given c0 or c_n. */
TN_API tn_array *tn_module_recurrent_forward(tn_module *recurrent, const tn_array *x,
					     const tn_array *h0, const tn_array *c0, tn_array **h_n,
					     tn_array **c_n);

/* An empty chain: forward passes x through its members in order. */
TN_API tn_module *tn_module_sequential(tn_context *context);
/* Appends `member` (consumed, on failure too) under `name`, or under its number if that is NULL.
 * TN_STATE: sealed.  TN_INVALID_ARGUMENT: the name is taken, empty or contains a dot, or the module
 * is neither a chain nor a residual block. */
TN_API tn_status tn_module_sequential_add(tn_module *sequential, const char *name,
					  tn_module *member);

/* A residual block (He et al. 2016): activation(chain(x) + shortcut(x)).  Fill the chain with
 * tn_module_sequential_add; its members have their own names in the block ("layer1.0.conv1").
 * activation: TN_ACTIVATION_NONE, RELU or RELU6. */
TN_API tn_module *tn_module_residual(tn_context *context, uint32_t activation);
/* Makes `member` (consumed, on failure too) the shortcut, under `name`; the default shortcut is x
 * itself.  TN_STATE: there is one already.  Otherwise as tn_module_sequential_add. */
TN_API tn_status tn_module_residual_shortcut(tn_module *residual, const char *name,
					     tn_module *member);

/* Squeeze-and-excitation (Hu, Shen and Sun 2018), torchvision's SqueezeExcitation:
 *     x sigmoid(fc2(activation(fc1(mean of x over height and width)))),
 * where fc1 and fc2 are 1 x 1 convolutions.  activation: TN_ACTIVATION_RELU or SILU. */
TN_API tn_module *tn_module_squeeze_excitation(tn_context *context, int64_t channels,
					       int64_t squeezed, uint32_t activation);

struct tn_module_mbconv_options {
	uint32_t struct_size;
	uint32_t activation;     /* TN_ACTIVATION_RELU, RELU6 or SILU; default SILU */
	int64_t kernel;          /* of the depthwise convolution, odd; default 3 */
	int64_t stride;          /* of the same; default 1 */
	int64_t squeezed;        /* channels of the squeeze-and-excitation; 0: none */
	double stochastic_depth; /* the probability of skipping the branch */
};
static inline struct tn_module_mbconv_options tn_module_mbconv_defaults(void)
{
	struct tn_module_mbconv_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.activation = TN_ACTIVATION_SILU;
	options.kernel = 3;
	options.stride = 1;
	return options;
}
/* The inverted residual of MobileNetV2 and EfficientNet (Sandler et al. 2018; Tan and Le 2019):
 * Conv 1x1 to `expand` in_channels, depthwise Conv, optional squeeze-and-excitation, Conv 1x1, with
 * batch norms and, except for the last, activations; + x where stride is 1 and out_channels is
 * in_channels.  With `expand` 1 the first convolution is omitted.  The members have timm's names:
 * conv_pw, bn1, act1, conv_dw, bn2, act2, se, conv_pwl, bn3, or conv_dw, bn1, act1, se, conv_pw,
 * bn2; se is a tn_module_squeeze_excitation. */
TN_API tn_module *tn_module_mbconv(tn_context *context, int64_t in_channels, int64_t out_channels,
				   int64_t expand, const struct tn_module_mbconv_options *options);

struct tn_module_convnext_options {
	uint32_t struct_size;
	double layer_scale;      /* the initial value; default 1e-6 */
	double stochastic_depth; /* the probability of skipping the branch */
};
static inline struct tn_module_convnext_options tn_module_convnext_defaults(void)
{
	struct tn_module_convnext_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.layer_scale = 1e-6;
	return options;
}
/* The block of ConvNeXt (Liu et al. 2022) under torchvision's names:
 *     x + layer_scale Linear(GELU(Linear(LayerNorm(depthwise Conv 7x7 of x)))). */
TN_API tn_module *tn_module_convnext_block(tn_context *context, int64_t channels,
					   const struct tn_module_convnext_options *options);

/* Members that all get the same x; their results are joined along `axis`, or added up.  Both are
 * empty: add members with tn_module_add. */
TN_API tn_module *tn_module_concatenate(tn_context *context, int axis);
TN_API tn_module *tn_module_sum(tn_context *context);

/* ---- Custom layers ---------------------------------------------------------------------------*/

/* The class of a user's module.  forward computes the output by recorded operations. */
struct tn_module_class {
	uint32_t struct_size;
	const char *name; /* "MyBlock" */
	tn_array *(*forward)(tn_module *module, void *state, const tn_array *x);
	void (*destroy)(void *state); /* may be NULL */
	/* 1: outside of training, forward performs the same operations for all x of one shape and
	 * depends only on x, parameters and buffers, so that a frozen network may repeat them
	 * without calling it. */
	int is_repeatable;
	/* A copy of a state, to be freed by destroy: for tn_module_copy and tn_frozen_create
	 * (tenon/frozen.h), which may call it in any thread.  A state that points to modules cannot
	 * be copied: find members with tn_module_child.  NULL of the function: out of memory; NULL
	 * here: modules with a state cannot be copied. */
	void *(*copy)(const void *state);
};
static inline struct tn_module_class tn_module_class_defaults(void)
{
	struct tn_module_class class_;
	memset(&class_, 0, sizeof(class_));
	class_.struct_size = sizeof(class_);
	return class_;
}
/* `state` is consumed: destroy(state) is called once, on failure too, unless the class lacks its
 * struct_size.  TN_INVALID_ARGUMENT: it has no struct_size, name or forward. */
TN_API tn_module *tn_module_custom(tn_context *context, const struct tn_module_class *class_,
				   void *state);
/* Adds a member that forward may call; consumed, as with tn_module_sequential_add. */
TN_API tn_status tn_module_add(tn_module *module, const char *name, tn_module *member);
/* Declares a parameter of the network's dtype: uniform in [-bound, bound], or `constant` everywhere
 * if bound is 0. */
TN_API tn_status tn_module_add_parameter(tn_module *module, const char *name, int rank,
					 const int64_t *shape, double bound, double constant);
/* Uses a parameter of `other` under the name `name`: both names refer to the parameter of `other`.
 * If the module has a parameter of that name, as a layer of the library does, it is replaced; so a
 * Linear without bias can be tied to an Embedding.  TN_STATE: built.  TN_NOT_FOUND.  TN_SHAPE: the
 * replaced parameter has another shape. */
TN_API tn_status tn_module_share_parameter(tn_module *module, const char *name, tn_module *other,
					   const char *other_name);
/* A parameter of this module itself (no path), after building.  Borrowed.  NULL, with the error
 * kept: TN_NOT_FOUND, with the nearest name; TN_STATE: not built. */
TN_API tn_array *tn_module_own_parameter(const tn_module *module, const char *name);

/* ---- Buffers: saved and loaded like parameters, neither trained nor counted as parameters ----*/

/* Declares a buffer whose elements start as `value`.  One of f32 becomes f64 in a network of f64;
 * all others keep their dtype (tn_module_set_dtype).  TN_STATE: built.  TN_INVALID_ARGUMENT: the
 * name, the shape, or a dtype other than f32, f64, i32 and i64. */
TN_API tn_status tn_module_add_buffer(tn_module *module, const char *name, tn_dtype dtype, int rank,
				      const int64_t *shape, double value);
/* A buffer of this module itself (no path), after building.  As tn_module_own_parameter. */
TN_API tn_array *tn_module_own_buffer(const tn_module *module, const char *name);

struct tn_buffer_view {
	uint32_t struct_size;
	const char *name; /* "layer1.0.bn1.running_mean"; borrowed, valid like the module */
	tn_array *value;  /* borrowed; NULL before building */
	tn_dtype dtype;
	int rank;
	const int64_t *shape;
};
TN_API size_t tn_module_buffer_count(const tn_module *module);
/* In the order of the tree.  TN_INVALID_ARGUMENT: no such index. */
TN_API tn_status tn_module_buffer_at(const tn_module *module, size_t index,
				     struct tn_buffer_view *view);

/* ---- The life of a network -------------------------------------------------------------------*/

/* Frees a module with its members.  Takes NULL.  Members are freed only by their owner. */
TN_API void tn_module_destroy(tn_module *module);

/* The dtype of all parameters of a network: f32 (the default), f64, f16 or bf16.  A network has one
 * dtype; it is given to the outermost module, usually before tn_module_build.
 *
 *     f64        gradients, states of optimizers, and buffers declared as f32 are f64 too
 *     f16, bf16  gradients and states of optimizers are f32, and every optimizer has f32 masters of
 *                the parameters (tenon/optim.h); buffers keep their dtype, so running statistics
 *                are f32
 *
 * Initial values are those of the f32 network, converted: the same seed gives the same network.
 * tn_module_load reads files of other floating types with the option `convert`.
 * A built network is converted: pointers to its parameters, gradients and buffers, and graphs that
 * use it, are then no longer valid, and it has no gradients.
 * TN_STATE: a member of another module; or a built network that is frozen, or has an optimizer,
 * average or scaler, or while a tape is open.  TN_DTYPE: another dtype.  TN_OUT_OF_MEMORY.
 * TN_NOT_CAPTURABLE: a built network, while work is captured. */
TN_API tn_status tn_module_set_dtype(tn_module *module, tn_dtype dtype);
/* The dtype of the network that the module belongs to.  TN_F32 of NULL. */
TN_API tn_dtype tn_module_dtype(const tn_module *module);

/* Seals the module: makes the arenas on the current device and the initial values.  TN_STATE: it is
 * already sealed, or a member of another module.  TN_DTYPE: tn_module_set_dtype gave a module of
 * the tree another dtype than the outermost one. */
TN_API tn_status tn_module_build(tn_module *module);

/* The module's output for x.  While a tape records, it watches the trainable parameters of its
 * network; a program may call the members of a network itself, as for several inputs.  TN_STATE:
 * not built.  TN_DTYPE: the network's dtype is not f32, and x is of another floating type: use
 * tn_astype, and tn_module_dtype.  Networks whose outermost module is of a user's class take any
 * x. */
TN_API tn_array *tn_module_forward(tn_module *module, const tn_array *x);

/* on = 1: while a tape records, the module's forward saves nothing but x, and backward runs it
 * again (tn_recompute): less memory for more time.  Default 0.  A network of blocks keeps only what
 * goes from block to block if it is on for each block. */
TN_API void tn_module_set_recompute(tn_module *module, int on);

/* Training (1) or evaluation mode (0, the default), for the whole tree. */
TN_API void tn_module_set_training(tn_module *module, int training);
TN_API int tn_module_is_training(const tn_module *module);
/* Discards all gradients, so that the next backward overwrites instead of adding. */
TN_API void tn_module_zero_gradients(tn_module *module);

/* ---- Inference -------------------------------------------------------------------------------*/

/* Freezes an outermost, built module for inference, in place: batch norms are folded into the
 * convolutions before them, activations and residuals are fused into the calls of the layers,
 * weights are converted once to the form that the backend reads fastest, dropout is removed, and
 * the calls for an input shape are recorded and repeated without new planning.  Results differ by
 * rounding: by at most 1e-5 of the layer's largest |y| for each folded layer in f32.
 *
 * Parameters and buffers keep their names and values, can be saved, and may be changed or loaded
 * again; the next forward then makes new copies.  A frozen module cannot be trained: a forward in
 * training mode, or of an x that requires a gradient, fails with TN_STATE.
 * TN_STATE: not built, in training mode, a member of another module, already frozen, or a module
 * of the tree has a hook.  TN_OUT_OF_MEMORY. */
TN_API tn_status tn_module_freeze(tn_module *module);
/* Frees what freezing made.  Has no effect on a module that is not frozen. */
TN_API void tn_module_unfreeze(tn_module *module);
TN_API int tn_module_is_frozen(const tn_module *module);

/* ---- The tree --------------------------------------------------------------------------------*/

/* The class's name, "Conv2d" or that given to tn_module_custom; borrowed.  NULL of NULL. */
TN_API const char *tn_module_class_name(const tn_module *module);
/* The member at a path, "layer1.0.conv1", or the module itself at "".  Borrowed.  NULL, with the
 * error kept: TN_NOT_FOUND, with the nearest name. */
TN_API tn_module *tn_module_child(tn_module *module, const char *path);

struct tn_module_view {
	uint32_t struct_size;
	const char *path;       /* "layer1.0.conv1"; borrowed, valid until the structure changes */
	const char *class_name; /* borrowed, valid like the module */
	tn_module *module;      /* borrowed */
};
/* The number of modules of the tree, including the module itself. */
TN_API size_t tn_module_count(const tn_module *module);
/* In the order of the tree: number 0 is the module itself, and each is followed by its members.
 * TN_INVALID_ARGUMENT: no such index. */
TN_API tn_status tn_module_at(const tn_module *module, size_t index, struct tn_module_view *view);

/* ---- Hooks -----------------------------------------------------------------------------------*/

/* Called after each forward of a module, with its input and its result; with forwards of several
 * inputs, x is the first.  An error that it leaves in the context fails the forward. */
typedef void (*tn_forward_hook)(void *user, tn_module *module, const tn_array *x,
				const tn_array *y);
/* Called by backward with the gradient of a module's result, once for each forward while a tape
 * recorded.  An error that it leaves in the context fails the backward. */
typedef void (*tn_backward_hook)(void *user, tn_module *module, const tn_array *dy);
/* Sets a module's hook, or removes it if `hook` is NULL.  Chains then run the module separately, so
 * that x and y are its own: results may differ by rounding.  A module with a hook cannot be frozen.
 * The module outlives backward.  TN_STATE: the module is frozen. */
TN_API tn_status tn_module_set_forward_hook(tn_module *module, tn_forward_hook hook, void *user);
TN_API tn_status tn_module_set_backward_hook(tn_module *module, tn_backward_hook hook, void *user);

/* ---- Parameters ------------------------------------------------------------------------------*/

struct tn_parameter_view {
	uint32_t struct_size;
	const char *name; /* "layer1.0.conv1.weight"; borrowed, valid like the module */
	tn_array *value;  /* borrowed; NULL before building */
	/* Borrowed; NULL if none since the last tn_module_zero_gradients.  Of the value's dtype,
	 * but f32 where that is f16 or bf16. */
	tn_array *gradient;
	int trainable;
	int rank;
	const int64_t *shape;
};
TN_API size_t tn_module_parameter_count(const tn_module *module);
/* In the order of the tree.  TN_INVALID_ARGUMENT: no such index. */
TN_API tn_status tn_module_parameter_at(const tn_module *module, size_t index,
					struct tn_parameter_view *view);
/* By any of its names; the view has the first.  TN_NOT_FOUND, an answer that is not kept. */
TN_API tn_status tn_module_parameter(const tn_module *module, const char *name,
				     struct tn_parameter_view *view);
/* The number of elements of all parameters, or only of the trainable ones. */
TN_API int64_t tn_module_size(const tn_module *module, int trainable_only);
/* Whether optimizers update the parameters under the path `prefix` ("" means all).
 * TN_NOT_FOUND. */
TN_API tn_status tn_module_set_trainable(tn_module *module, const char *prefix, int trainable);

/* ---- Files -----------------------------------------------------------------------------------*/

/* Writes all parameters and buffers to a safetensors file under their names; the file is replaced
 * atomically.  TN_IO. */
TN_API tn_status tn_module_save(const tn_module *module, const char *path, size_t n_pairs,
				const struct tn_pair *pairs);

/* What tn_module_load finds that does not match, and the status if that is not allowed. */
enum {
	TN_LOAD_MISSING = 1,    /* the file lacks a tensor of the network: TN_NOT_FOUND */
	TN_LOAD_UNEXPECTED = 2, /* the network lacks a tensor of the file: TN_FORMAT */
	TN_LOAD_MISMATCH = 3,   /* another shape or type: TN_SHAPE, TN_DTYPE */
};
struct tn_module_load_options {
	uint32_t struct_size;
	/* 1: such tensors are skipped; those of the network keep their values. */
	int allow_missing;
	int allow_unexpected;
	int allow_mismatch;
	int convert; /* 1: between the floating types, rounded as by tn_astype */
	/* A name of the file that begins with `key` gets `value` in its place, by the first such
	 * pair: {"module.", ""}, or {"backbone.", "net."}. */
	size_t n_renames;
	const struct tn_pair *renames;
	/* Called for each tensor that does not match, under the network's name, whether it is
	 * allowed or not, before anything is changed.  problem: TN_LOAD_...; text: what was
	 * expected and found.  It must not call functions that take an object of the context.  May
	 * be NULL. */
	void (*report)(void *user, uint32_t problem, const char *name, const char *text);
	void *user;
};
static inline struct tn_module_load_options tn_module_load_defaults(void)
{
	struct tn_module_load_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	return options;
}
/* Reads parameters and buffers from a safetensors file.  `options` may be NULL: the file must have
 * exactly the network's tensors with their shapes and types, but may lack num_batches_tracked, and
 * may have a shared parameter under any of its names, as for PyTorch.  On failure nothing is
 * changed; the error names the first tensor that does not match and counts the others.  TN_FORMAT
 * also: two tensors are renamed to one; the file has a checksum (tn_safetensors_write) that is not
 * its own.  TN_IO, TN_OUT_OF_MEMORY. */
TN_API tn_status tn_module_load(tn_module *module, const char *path,
				const struct tn_module_load_options *options);

/* ---- Summary ---------------------------------------------------------------------------------*/

/* The input of which a summary is. */
struct tn_summary_options {
	uint32_t struct_size;
	int rank; /* with the axis of the batch; 0: no forward is run */
	const int64_t *shape;
	tn_dtype dtype; /* 0: that of the parameters */
	uint64_t depth; /* the levels in the text below the module itself; default TN_NO_LIMIT */
};
static inline struct tn_summary_options tn_summary_defaults(void)
{
	struct tn_summary_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.depth = TN_NO_LIMIT;
	return options;
}

/* A module in a summary.  All counts but `calls` include its members; a parameter that several
 * modules hold counts once in each module around them. */
struct tn_summary_row {
	uint32_t struct_size;
	const char *path; /* as in struct tn_module_view; borrowed, valid like the summary */
	const char *class_name;
	int depth;      /* 0: the module itself */
	uint32_t calls; /* of its forward; 0: the forward did not run it, and rank is -1 */
	tn_dtype dtype; /* of its result, that of the last call */
	int rank;
	int64_t shape[TN_MAX_RANK];
	int64_t parameters; /* elements */
	int64_t trainable;
	int64_t multiply_adds; /* of products and convolutions, as fvcore and torchinfo count */
	uint64_t parameter_bytes;
	uint64_t buffer_bytes;
	uint64_t output_bytes; /* the results of modules without members */
	/* torchinfo's "forward/backward pass size": twice the results of those among them that have
	 * parameters. */
	uint64_t pass_bytes;
	/* The most bytes of the device's memory that were in use during a forward beyond those at
	 * its beginning. */
	uint64_t peak_bytes;
};

typedef struct tn_summary tn_summary;

/* Runs the forward once, on zeros, in evaluation mode and without recording, and notes what every
 * module of the tree does; chains run each member separately.  Products and convolutions count
 * wherever they run, so also those of a user's modules.  The module's mode and the context's random
 * state are as before; hooks are called.  With rank 0, and for NULL options, no forward runs, and
 * only parameters and buffers are counted.  Owned (tn_summary_destroy).
 * NULL on failure: TN_STATE (not built, frozen, or a profile or a capture has begun),
 * TN_INVALID_ARGUMENT (a rank or a length out of range), TN_OUT_OF_MEMORY, or what the forward
 * answered. */
TN_API tn_summary *tn_summary_create(tn_module *module, const struct tn_summary_options *options);
TN_API void tn_summary_destroy(tn_summary *summary); /* takes NULL */
/* In the order of the tree: row 0 is the module itself.  TN_INVALID_ARGUMENT: no such index. */
TN_API size_t tn_summary_count(const tn_summary *summary);
TN_API tn_status tn_summary_at(const tn_summary *summary, size_t index, struct tn_summary_row *row);
/* A table of at most 80 columns, and the sums, as an owned string (tn_string_free).  NULL: out of
 * memory. */
TN_API char *tn_summary_text(const tn_summary *summary);

/* Without options, or with rank 0, a tree of names, shapes and counts, one line per module; else
 * the text of a summary.  An owned string (tn_string_free).  NULL on failure, as above. */
TN_API char *tn_module_summary(tn_module *module, const struct tn_summary_options *options);

#ifdef __cplusplus
}
#endif
#endif
