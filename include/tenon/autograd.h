/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Gradients.  A tape records the operations on watched arrays between begin and end; backward
 * traverses it once.  Without a tape nothing is saved.
 *
 *     tn_tape *tape = tn_tape_begin(ctx);
 *     tn_tape_watch(tape, w);
 *     tn_array *loss = tn_cross_entropy(tn_linear(x, w, b), labels, NULL);
 *     tn_tape_backward(tape, loss, NULL);
 *     tn_array *dw = tn_tape_gradient(tape, w);
 *     tn_tape_end(tape);
 *
 * The tape records every function of <tenon/array.h> that has a derivative, including user programs
 * (tn_map) of up to 15 inputs; while it records, writing to an array that has a gradient fails with
 * TN_STATE; comparisons, argmax, rounding and integer results are constants.  A context has one
 * tape at a time.  If an array that an operation saved was changed in place since, backward fails
 * with TN_MODIFIED and names the operation.
 * All functions: [thread: one per context | since 0.1]; errors are kept by the context.
 */
#ifndef TENON_AUTOGRAD_H
#define TENON_AUTOGRAD_H

#include <math.h>
#include <string.h>

#include <tenon/array.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tn_tape tn_tape;

/* Starts recording.  NULL: TN_STATE (the context already has a tape), TN_OUT_OF_MEMORY.  The tape
 * is owned (tn_tape_end). */
TN_API tn_tape *tn_tape_begin(tn_context *context);
/* Ends recording and frees everything that was saved, whether backward ran or not.  Takes NULL. */
TN_API void tn_tape_end(tn_tape *tape);

/* Requests the gradient of `array`, which becomes a leaf.  Call it before the array is used.
 * TN_DTYPE: its type is neither floating nor complex.  TN_STATE: it is a recorded result, or
 * backward has run. */
TN_API tn_status tn_tape_watch(tn_tape *tape, tn_array *array);
/* As tn_tape_watch; the gradient goes to `gradient`, of the same shape and dtype, on the same
 * device.  If *filled is 1, backward adds to gradient; if it is 0, backward overwrites gradient and
 * sets it to 1.  In a capture (tenon/capture.h) this happens once, and not with each replay. */
TN_API tn_status tn_tape_watch_into(tn_tape *tape, tn_array *array, tn_array *gradient,
				    int *filled);

/* Computes the gradients of all leaves that `output` depends on, starting from `output_gradient` of
 * its shape, or from 1 if that is NULL (then output must be real and have one element).
 * output_gradient is converted to output's dtype.  Once per tape.
 * TN_STATE: nothing that leads to output was watched, or backward has run.  TN_SHAPE.  TN_MODIFIED.
 * TN_DEVICE: output_gradient is on another device than output.  TN_DTYPE: output is complex and
 * output_gradient NULL, or output is real and output_gradient complex.  TN_LIMIT: a recorded
 * program has 16 inputs (tn_map). */
TN_API tn_status tn_tape_backward(tn_tape *tape, tn_array *output, const tn_array *output_gradient);

/* The gradient of a watched array after backward; NULL, without an error, if the output does not
 * depend on it.  A new array (counted), which outlives the tape. */
TN_API tn_array *tn_tape_gradient(tn_tape *tape, const tn_array *array);

/* tn_tape_backward from n outputs at once: the gradients of the sum over i of outputs[i] times
 * output_gradients[i].  output_gradients may be NULL, and each of them. */
TN_API tn_status tn_tape_backward_all(tn_tape *tape, size_t n, tn_array *const *outputs,
				      const tn_array *const *output_gradients);

struct tn_gradients_options {
	uint32_t struct_size;
	int retain_graph; /* 1: the tape keeps what it saved and goes on recording */
	int create_graph; /* 1: the tape also records how the gradients are computed */
};
static inline struct tn_gradients_options tn_gradients_defaults(void)
{
	struct tn_gradients_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	return options;
}
/* Computes the gradients of chosen arrays, as torch.autograd.grad: gradients[i] becomes the
 * gradient of inputs[i], which was watched or is a recorded result, as a new array (counted), or
 * NULL if no output depends on it.  Other leaves get none, and the arrays of tn_tape_watch_into are
 * not written.  output_gradients as for tn_tape_backward_all; `options` may be NULL.
 *
 * With neither option this is the tape's one backward.  With retain_graph others may follow, the
 * last of them by tn_tape_backward.  With create_graph, which includes retain_graph, the gradients
 * are recorded results themselves: of these, gradients can be computed again.
 *
 *     tn_tape *tape = tn_tape_begin(ctx);
 *     tn_tape_watch(tape, x);
 *     tn_array *loss = tn_sum(tn_exp(x), TN_ALL_AXES, NULL, 0), *g, *hy;
 *     struct tn_gradients_options options = tn_gradients_defaults();
 *     options.create_graph = 1;
 *     tn_tape_gradients(tape, 1, &loss, NULL, 1, &x, &g, &options);
 *     tn_tape_gradients(tape, 1, &g, (const tn_array *[]){y}, 1, &x, &hy, NULL);
 *
 * Here hy is the Hessian of loss, times y.
 *
 * create_graph passes through element programs, products, tn_linear, reductions, views and copies,
 * takes, tn_cumsum, tn_cummax, tn_conv2d, tn_conv_transpose2d, pools, norms, tn_softmax,
 * tn_dropout, tn_embedding, tn_lstm and tn_gru (which compute their steps again), losses
 * (tenon/loss.h), tn_recompute, what is recorded as these (attention, tn_conv1d, tn_interpolate),
 * and nodes that allow it (tn_node_record).
 * TN_UNSUPPORTED: another operation, which the error names.  TN_STATE: an input was neither watched
 * nor recorded.  Other errors as for tn_tape_backward; on failure all gradients are NULL. */
TN_API tn_status tn_tape_gradients(tn_tape *tape, size_t n_outputs, tn_array *const *outputs,
				   const tn_array *const *output_gradients, size_t n_inputs,
				   tn_array *const *inputs, tn_array **gradients,
				   const struct tn_gradients_options *options);

/* ---- What is not recorded --------------------------------------------------------------------*/

/* Between begin and end the context's tape records nothing: results are constants, parameters of
 * modules are not watched, and arrays that have a gradient may be written.  Scopes nest; both work
 * while an error is kept.  tn_no_grad_end: TN_STATE without a begin. */
TN_API tn_status tn_no_grad_begin(tn_context *context);
TN_API tn_status tn_no_grad_end(tn_context *context);

/* A view of the whole array that has no gradient: the same memory, whose changes in place the tape
 * still detects. */
TN_API tn_array *tn_detach(const tn_array *array);

/* ---- Memory and errors -----------------------------------------------------------------------*/

/* Computes y of inputs, by recorded operations; it may read other arrays and run modules. */
typedef tn_array *(*tn_recompute_function)(void *user, tn_array *const *inputs);
/* f(user, inputs), at most TN_NODE_LIMIT inputs, of which the tape saves only the inputs: backward
 * runs f again, records it and drops it (as torch.utils.checkpoint).  It takes about a third more
 * time, and the gradients are the same bits: f draws the same random numbers again, and batch norms
 * do not update their statistics twice.  `user`, and what f reads besides its inputs, must stay as
 * they are until backward has run; arrays that f reads get their gradients too.  Without a tape it
 * is f(user, inputs).  NULL also if n_inputs is 0.
 * During backward: TN_STATE (f drew more random numbers, or its result has another shape or
 * dtype).  create_graph keeps what it computes again. */
TN_API tn_array *tn_recompute(tn_recompute_function f, void *user, size_t n_inputs,
			      tn_array *const *inputs);

/* on = 1: the first operation whose result or gradient has an element that is infinite or NaN fails
 * with TN_NOT_FINITE (tenon/status.h); the error names it, forward or backward, in modules the
 * module's path, and the step: that of the trainer, else the number of tapes begun since the mode
 * is on.  Results are checked as they are recorded, the gradients of an operation's inputs
 * after its backward.  The host waits for each check: for finding an error, not for training; a
 * capture cannot contain checks (TN_NOT_CAPTURABLE), and tn_recompute saves what it computes, so
 * that its operations are named.  Default 0, which costs nothing. */
TN_API tn_status tn_anomaly_mode(tn_context *context, int on);

/* ---- User-defined nodes ----------------------------------------------------------------------*/

/* The most inputs, outputs and saved arrays of a node. */
#define TN_NODE_LIMIT 16

/* What the backward of a node gets and returns. */
struct tn_node_call {
	uint32_t struct_size;
	tn_context *context;
	uint32_t n_saved;
	uint32_t n_outputs;
	uint32_t n_inputs;
	tn_array *const *saved;                  /* as given; not changed since */
	const tn_array *const *output_gradients; /* NULL: that output has none */
	const int *needs;                        /* 1: input i needs a gradient */
	tn_array **input_gradients; /* to be set: of the input's shape and dtype; NULL: none */
};
/* Runs with recording off, or with create_graph on, in a scope of its own: arrays that it makes
 * need not be destroyed.  It must not write to the output gradients, nor use the tape.  A status
 * other than TN_OK ends backward. */
typedef tn_status (*tn_node_backward)(void *state, const struct tn_node_call *call);

struct tn_node_options {
	uint32_t struct_size;
	uint32_t n_inputs;
	uint32_t n_outputs;
	uint32_t n_saved;
	const char *name;         /* in errors; copied */
	tn_array *const *inputs;  /* floating or complex ones may have a gradient */
	tn_array *const *outputs; /* floating or complex */
	tn_array *const *saved;   /* what backward reads, kept; may hold NULL */
	tn_node_backward backward;
	void *state;
	void (*destroy)(void *state); /* may be NULL */
	int is_differentiable;        /* 1: backward consists of recorded operations, and may
				       * therefore be recorded itself (create_graph) */
};
static inline struct tn_node_options tn_node_defaults(void)
{
	struct tn_node_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	return options;
}
/* Records outputs = f(inputs) as one operation with its own backward, as torch.autograd.Function.
 * Compute the outputs before, in any way that is not recorded: by operations between
 * tn_no_grad_begin and tn_no_grad_end, or on the host.
 * The state is consumed unless options are refused for their struct_size.  It is destroyed when the
 * tape ends, or earlier; at once if nothing is recorded: no tape, no input with a gradient, or in a
 * scope of tn_no_grad_begin.
 * TN_STATE: an output has a gradient already.  TN_INVALID_ARGUMENT, TN_LIMIT, TN_DTYPE, TN_DEVICE.
 * During backward TN_SHAPE, TN_DTYPE and TN_DEVICE name the node and the input whose gradient does
 * not fit, and TN_MODIFIED the node of which a saved array was changed in place. */
TN_API tn_status tn_node_record(tn_context *context, const struct tn_node_options *options);

/* ---- Layer operations ------------------------------------------------------------------------
 * Each is a single node on the tape, with its own backward.  Without a tape they only compute.
 * Operands are floating and have one dtype, unless stated otherwise (TN_DTYPE). */

/* y = x w^T + bias;  x (..., in), w (out, in), bias (out) or NULL, y (..., out). */
TN_API tn_array *tn_linear(const tn_array *x, const tn_array *w, const tn_array *bias);

/* Windows of convolutions and pools, over height and width. */
struct tn_conv2d_options {
	uint32_t struct_size;
	int64_t stride[2];   /* default 1 */
	int64_t padding[2];  /* on both sides */
	int64_t dilation[2]; /* default 1 */
	int64_t groups;      /* default 1 */
};
static inline struct tn_conv2d_options tn_conv2d_defaults(void)
{
	struct tn_conv2d_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.stride[0] = 1;
	options.stride[1] = 1;
	options.dilation[0] = 1;
	options.dilation[1] = 1;
	options.groups = 1;
	return options;
}
/* x (N, C, H, W), w (O, C / groups, R, S), bias (O) or NULL; the formula is that of struct
 * tn_conv2d_args in <tenon/backend.h>.  `options` may be NULL. */
TN_API tn_array *tn_conv2d(const tn_array *x, const tn_array *w, const tn_array *bias,
			   const struct tn_conv2d_options *options);

/* The window of tn_conv1d. */
struct tn_conv1d_options {
	uint32_t struct_size;
	int64_t stride;   /* default 1 */
	int64_t padding;  /* on both sides */
	int64_t dilation; /* default 1 */
	int64_t groups;   /* default 1 */
};
static inline struct tn_conv1d_options tn_conv1d_defaults(void)
{
	struct tn_conv1d_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.stride = 1;
	options.dilation = 1;
	options.groups = 1;
	return options;
}
/* The same over one axis: x (N, C, L), w (O, C / groups, K), bias (O) or NULL.  `options` may be
 * NULL. */
TN_API tn_array *tn_conv1d(const tn_array *x, const tn_array *w, const tn_array *bias,
			   const struct tn_conv1d_options *options);

/* Of a transposed convolution. */
struct tn_conv_transpose2d_options {
	uint32_t struct_size;
	int64_t stride[2];         /* default 1 */
	int64_t padding[2];        /* rows and columns less on both sides */
	int64_t output_padding[2]; /* rows below and columns right, below stride */
	int64_t dilation[2];       /* default 1 */
	int64_t groups;            /* default 1 */
};
static inline struct tn_conv_transpose2d_options tn_conv_transpose2d_defaults(void)
{
	struct tn_conv_transpose2d_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.stride[0] = 1;
	options.stride[1] = 1;
	options.dilation[0] = 1;
	options.dilation[1] = 1;
	options.groups = 1;
	return options;
}
/* The input gradient of tn_conv2d as a layer, as torch.nn.functional.conv_transpose2d:
 * x (N, C, H, W), w (C, O / groups, R, S), bias (O) or NULL; y (N, O, P, Q) with
 *
 *     P = (H - 1) stride - 2 padding + dilation (R - 1) + output_padding + 1,
 *
 * Q likewise.  `options` may be NULL.  TN_SHAPE; TN_INVALID_ARGUMENT: output_padding is not below
 * the stride. */
TN_API tn_array *tn_conv_transpose2d(const tn_array *x, const tn_array *w, const tn_array *bias,
				     const struct tn_conv_transpose2d_options *options);

/* No row stands for padding. */
#define TN_NO_PADDING_INDEX INT64_MIN
/* The rows of w (rows, width) at `indices` (integers of any dtype and shape): y (..., width), as
 * torch.nn.functional.embedding.  The gradients of a row that is chosen repeatedly add up; row
 * padding_index (from the end if negative) receives none.  Indices are checked as by tn_take
 * (tenon/array.h).  TN_SHAPE: w has another rank; TN_INVALID_ARGUMENT: there is no row
 * padding_index. */
TN_API tn_array *tn_embedding(const tn_array *indices, const tn_array *w, int64_t padding_index);

struct tn_pool2d_options {
	uint32_t struct_size;
	int64_t kernel[2];
	int64_t stride[2];   /* 0: the kernel's */
	int64_t padding[2];  /* at most kernel / 2 */
	int exclude_padding; /* average: 1 divides by the cells inside the plane, as PyTorch with
			      * count_include_pad=False */
};
static inline struct tn_pool2d_options tn_pool2d_defaults(void)
{
	struct tn_pool2d_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	return options;
}
/* The gradient goes to the first of equal maxima, as in PyTorch. */
TN_API tn_array *tn_max_pool2d(const tn_array *x, const struct tn_pool2d_options *options);
TN_API tn_array *tn_avg_pool2d(const tn_array *x, const struct tn_pool2d_options *options);

/* Averages of an x (N, C, H, W) of any height and width over output_h x output_w parts, (N, C,
 * output_h, output_w): part i of n covers the cells from floor(i H / n) to ceil((i + 1) H / n) - 1,
 * as in torch.nn.AdaptiveAvgPool2d.  TN_SHAPE: x is not (N, C, H, W); TN_INVALID_ARGUMENT: an
 * output size is below 1.  If the output size does not divide the input size, the parts overlap,
 * and the operation is recorded as two products. */
TN_API tn_array *tn_adaptive_avg_pool2d(const tn_array *x, int64_t output_h, int64_t output_w);
/* Maxima over the same parts, as in torch.nn.AdaptiveMaxPool2d; the gradient goes to the first of
 * equal maxima. */
TN_API tn_array *tn_adaptive_max_pool2d(const tn_array *x, int64_t output_h, int64_t output_w);
/* The mean over height and width, and the maximum: x (N, C, H, W) gives (N, C). */
TN_API tn_array *tn_global_avg_pool(const tn_array *x);
TN_API tn_array *tn_global_max_pool(const tn_array *x);

enum { TN_INTERPOLATE_NEAREST = 0, TN_INTERPOLATE_BILINEAR = 1 };
struct tn_interpolate_options {
	uint32_t struct_size;
	uint32_t mode;     /* TN_INTERPOLATE_... */
	int64_t size[2];   /* of the output; either this */
	double scale[2];   /* or this: the output has floor(length scale) */
	int align_corners; /* bilinear: 1 maps the corner pixels' centres to each other */
};
static inline struct tn_interpolate_options tn_interpolate_defaults(void)
{
	struct tn_interpolate_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	return options;
}
/* x (N, C, H, W) resized to (N, C, P, Q), as torch.nn.functional.interpolate.  The positions in x
 * are those of PyTorch, also for a scale that is not the ratio of the sizes.  TN_SHAPE;
 * TN_INVALID_ARGUMENT: both size and scale or neither, a mode that is not known, an empty output,
 * align_corners with nearest. */
TN_API tn_array *tn_interpolate(const tn_array *x, const struct tn_interpolate_options *options);

/* Of a local response norm. */
struct tn_local_response_norm_options {
	uint32_t struct_size;
	double alpha; /* default 1e-4 */
	double beta;  /* default 0.75 */
	double k;     /* default 1 */
};
static inline struct tn_local_response_norm_options tn_local_response_norm_defaults(void)
{
	struct tn_local_response_norm_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.alpha = 1e-4;
	options.beta = 0.75;
	options.k = 1;
	return options;
}
/* Local response normalisation (Krizhevsky et al. 2012), as torch.nn.functional's: for x (N, C,
 * ...), y = x / (k + alpha / size s)^beta with s the sum of x^2 over `size` channels around its
 * own, where those beyond the ends count as 0.  `options` may be NULL.  TN_SHAPE: the rank is below
 * 3; TN_INVALID_ARGUMENT: size is below 1. */
TN_API tn_array *tn_local_response_norm(const tn_array *x, int64_t size,
					const struct tn_local_response_norm_options *options);

/* Merges all axes from `start` on into one. */
TN_API tn_array *tn_flatten(const tn_array *x, int start);

/* Batch normalisation (Ioffe and Szegedy 2015) as torch.nn.functional.batch_norm.  For x (N, C,
 * ...), with statistics over all axes but the second:
 *
 *     y = activation((x - mean) / sqrt(var + epsilon) w + b + residual),
 *     var = mean of (x - mean)^2.
 *
 * Training uses the statistics of the batch, through which gradients flow, and updates the running
 * statistics, if given:
 *     running_mean := (1 - momentum) running_mean + momentum mean,
 *     running_var  := (1 - momentum) running_var + momentum var n / (n - 1),
 * where n is the number of elements per channel.  Evaluation uses the running statistics, as
 * constants. */
struct tn_batch_norm_options {
	uint32_t struct_size;
	int training;
	uint32_t activation;      /* TN_ACTIVATION_NONE, RELU or RELU6 */
	tn_array *running_mean;   /* (C), f32 (f64 for f64); both or none */
	tn_array *running_var;    /* required unless training */
	const tn_array *residual; /* like y; NULL: 0 */
	double momentum;          /* in [0, 1]; default 0.1 */
	double epsilon;           /* at least 0; default 1e-5 */
};
static inline struct tn_batch_norm_options tn_batch_norm_defaults(void)
{
	struct tn_batch_norm_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.momentum = 0.1;
	options.epsilon = 1e-5;
	return options;
}
/* w and b (C), both or none (NULL: 1 and 0).  TN_SHAPE, also if training has one element per
 * channel; TN_DTYPE; TN_INVALID_ARGUMENT: evaluation without running statistics, only one of them,
 * another activation. */
TN_API tn_array *tn_batch_norm(const tn_array *x, const tn_array *w, const tn_array *b,
			       const struct tn_batch_norm_options *options);

/* Layer normalisation (Ba, Kiros and Hinton 2016), statistics over the last n_axes axes, as
 * torch.nn.functional.layer_norm:   y = (x - mean) / sqrt(var + epsilon) w + b.
 * w and b have the shape of those axes, both or none.  PyTorch's epsilon is 1e-5.
 * TN_SHAPE, TN_DTYPE; TN_INVALID_ARGUMENT: n_axes is not in 1..rank. */
TN_API tn_array *tn_layer_norm(const tn_array *x, const tn_array *w, const tn_array *b, int n_axes,
			       double epsilon);
/* Group normalisation (Wu and He 2018): the same for x (N, C, ...) with statistics over each of
 * `groups` equal parts of the channels of a picture, w and b (C).  TN_SHAPE: groups does not divide
 * C. */
TN_API tn_array *tn_group_norm(const tn_array *x, const tn_array *w, const tn_array *b,
			       int64_t groups, double epsilon);

/* Instance normalisation (Ulyanov, Vedaldi and Lempitsky 2016): group norm of x (N, C, ...)
 * with one channel in each group.  TN_SHAPE also if a channel has one element. */
TN_API tn_array *tn_instance_norm(const tn_array *x, const tn_array *w, const tn_array *b,
				  double epsilon);

TN_API tn_array *tn_softmax(const tn_array *x, int axis);
TN_API tn_array *tn_log_softmax(const tn_array *x, int axis);

/* y = x mask / (1 - p), mask 1 with probability 1 - p, from the context's random state (one stream
 * per call), the same bits on every backend.  p in [0, 1]: 0 gives x, 1 gives zeros. */
TN_API tn_array *tn_dropout(const tn_array *x, double p);
/* The same with one element of the mask for each channel of x (N, C, ...). */
TN_API tn_array *tn_dropout2d(const tn_array *x, double p);
/* The same with one element of the mask for each sample of x (N, ...), as
 * torchvision.ops.stochastic_depth in the mode "row" (Huang et al. 2016): at the end of the branch
 * of a residual block, it skips the branch. */
TN_API tn_array *tn_stochastic_depth(const tn_array *x, double p);

/* Of tn_scaled_dot_product_attention. */
struct tn_attention_options {
	uint32_t struct_size;
	const tn_array *mask; /* floating, added to the scores: -inf hides; NULL: none */
	int causal;           /* 1: row i sees columns 0 to i only */
	double dropout;       /* of the weights */
	double scale;         /* default NAN: 1 / sqrt(E) */
};
static inline struct tn_attention_options tn_attention_defaults(void)
{
	struct tn_attention_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.scale = NAN;
	return options;
}
/* softmax(scale q k^T + mask) v over the last two axes (Vaswani et al. 2017), as the function of
 * torch.nn.functional: q (..., L, E), k (..., S, E), v (..., S, F), mask broadcasting to
 * (..., L, S), y (..., L, F).  The other axes broadcast.  A row that sees nothing is NaN.  One
 * call of a backend that has it, for one type, equal other axes, no dropout, and a mask without
 * gradient; otherwise recorded as its parts.  `options` may be NULL.  TN_SHAPE; TN_DTYPE: the mask
 * is not floating. */
TN_API tn_array *tn_scaled_dot_product_attention(const tn_array *q, const tn_array *k,
						 const tn_array *v,
						 const struct tn_attention_options *options);

/* Of the recurrent layers. */
struct tn_recurrent_options {
	uint32_t struct_size;
	int reverse;        /* 1: from the last step to the first */
	const tn_array *h0; /* (N, H), before the first step; NULL: zeros */
	const tn_array *c0; /* the same, for tn_lstm */
};
static inline struct tn_recurrent_options tn_recurrent_defaults(void)
{
	struct tn_recurrent_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	return options;
}
/* One direction of one layer of torch.nn.LSTM, with its gates i, f, g, o:
 *
 *     gates = w_ih x + b_ih + w_hh h + b_hh,
 *     c := sigmoid(f) c + sigmoid(i) tanh(g),  h := sigmoid(o) tanh(c).
 *
 * x (N, L, I) with L >= 1, w_ih (4 H, I), w_hh (4 H, H), b_ih and b_hh (4 H) or both NULL; the
 * result (N, L, H) is h after each step.  *h_n and *c_n, unless the pointer is NULL, receive h and
 * c after the last step, (N, H) (NULL on failure).  `options` may be NULL.  TN_SHAPE;
 * TN_INVALID_ARGUMENT: one bias of two. */
TN_API tn_array *tn_lstm(const tn_array *x, const tn_array *w_ih, const tn_array *w_hh,
			 const tn_array *b_ih, const tn_array *b_hh,
			 const struct tn_recurrent_options *options, tn_array **h_n,
			 tn_array **c_n);
/* The same of torch.nn.GRU, with its gates r, z, n; the weights have 3 H rows:
 *
 *     r, z = sigmoid(w_ih x + b_ih + w_hh h + b_hh),
 *     n = tanh(w_ih x + b_ih + r (w_hh h + b_hh)),  h := (1 - z) n + z h. */
TN_API tn_array *tn_gru(const tn_array *x, const tn_array *w_ih, const tn_array *w_hh,
			const tn_array *b_ih, const tn_array *b_hh,
			const struct tn_recurrent_options *options, tn_array **h_n);

/* ---- Checking --------------------------------------------------------------------------------*/

/* Compares the tape's gradients of a scalar function with central differences in the inputs' dtype:
 * f(inputs) must return a 0-d array made by recorded operations, and be the same function each
 * time. */
struct tn_gradient_report {
	uint32_t struct_size;
	int input;    /* its position */
	double worst; /* the largest |tape - difference| / (tolerance scale), see below */
	int64_t element;
	double tape;
	double difference;
};
typedef tn_array *(*tn_gradient_function)(void *user, tn_array *const *inputs);
/* step: of the differences (0: 1e-3 for f32, 1e-6 for f64).  An element is correct if
 * |tape - difference| <= tolerance (1 + |difference|).  TN_INTERNAL: one is not; the report gives
 * it, unless it is NULL.  At most `max_elements` of each input are tested, evenly spread (0: all).
 */
TN_API tn_status tn_gradient_check(tn_context *context, tn_gradient_function f, void *user,
				   int n_inputs, tn_array *const *inputs, double step,
				   double tolerance, int64_t max_elements,
				   struct tn_gradient_report *report);

#ifdef __cplusplus
}
#endif
#endif
