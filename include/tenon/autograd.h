/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Gradients.  A tape records what is done to watched arrays between begin and end; backward walks it
 * once.  Without a tape nothing is saved.
 *
 *     tn_tape *tape = tn_tape_begin(ctx);
 *     tn_tape_watch(tape, w);
 *     tn_array *loss = tn_cross_entropy(tn_linear(x, w, b), labels, TN_NO_LABEL);
 *     tn_tape_backward(tape, loss, NULL);
 *     tn_array *dw = tn_tape_gradient(tape, w);
 *     tn_tape_end(tape);
 *
 * Every function of <tenon/array.h> with a derivative is recorded, user programs (tn_map) of up to 7
 * inputs included; writing into an array that has a gradient is TN_STATE while the tape records;
 * comparisons, argmax, rounding and integer results are constants.  One tape at a time per context.
 * Backward refuses (TN_MODIFIED, naming the operation) when an array that an operation saved was
 * changed in place since.
 * All functions: [thread: one per context | since 0.1]; errors are kept by the context.
 */
#ifndef TENON_AUTOGRAD_H
#define TENON_AUTOGRAD_H

#include <tenon/array.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tn_tape tn_tape;

/* Begins to record.  NULL: TN_STATE (the context has a tape already), TN_OUT_OF_MEMORY.  The tape is
 * owned (tn_tape_end). */
TN_API tn_tape *tn_tape_begin(tn_context *context);
/* Ends recording and drops everything that was saved, whether backward ran or not.  Takes NULL. */
TN_API void tn_tape_end(tn_tape *tape);

/* Asks for the gradient of `array`, which becomes a leaf.  Call it before the array is used.  TN_DTYPE:
 * not f32 or f64.  TN_STATE: it is a recorded result already, or backward has run. */
TN_API tn_status tn_tape_watch(tn_tape *tape, tn_array *array);
/* As tn_tape_watch; the gradient goes to `gradient`, of the same shape and dtype, on the same device.
 * *filled says whether gradient holds something to add to (1) or not (0); backward sets it to 1, once: when
 * it is captured (tenon/capture.h), and not with each replay. */
TN_API tn_status tn_tape_watch_into(tn_tape *tape, tn_array *array, tn_array *gradient,
				    int *filled);

/* Fills the gradients of all leaves that `output` depends on, starting from `output_gradient` of its
 * shape, or from 1 when that is NULL (then output must have one element).  Once per tape.
 * TN_STATE: nothing that leads to output was watched, or backward has run.  TN_SHAPE.  TN_MODIFIED.
 * TN_DEVICE: output_gradient is on another device than output. */
TN_API tn_status tn_tape_backward(tn_tape *tape, tn_array *output, const tn_array *output_gradient);

/* The gradient of a watched array after backward; NULL, without an error, when the output does not
 * depend on it.  A new array (counted), which outlives the tape. */
TN_API tn_array *tn_tape_gradient(tn_tape *tape, const tn_array *array);

/* ---- Layer operations ------------------------------------------------------------------------
 * One node on the tape each, with a backward of their own.  Without a tape they just compute. */

/* y = x w^T + bias;  x (..., in), w (out, in), bias (out) or NULL, y (..., out). */
TN_API tn_array *tn_linear(const tn_array *x, const tn_array *w, const tn_array *bias);

/* Windows of convolutions and pools, over height and width.  0 means the default. */
struct tn_conv2d_options {
	uint32_t struct_size;
	int64_t stride[2];   /* default 1 */
	int64_t padding[2];  /* on both sides; default 0 */
	int64_t dilation[2]; /* default 1 */
	int64_t groups;      /* default 1 */
};
/* x (N, C, H, W), w (O, C / groups, R, S), bias (O) or NULL; the formula is that of struct
 * tn_conv2d_args in <tenon/backend.h>.  `options` may be NULL. */
TN_API tn_array *tn_conv2d(const tn_array *x, const tn_array *w, const tn_array *bias,
			   const struct tn_conv2d_options *options);

struct tn_pool2d_options {
	uint32_t struct_size;
	int64_t kernel[2];
	int64_t stride[2];  /* default: kernel */
	int64_t padding[2]; /* at most kernel / 2 */
	int exclude_padding; /* average: 1 divides by the cells inside the plane (count_include_pad=False) */
};
/* The first of equal maxima gets the gradient, as in PyTorch. */
TN_API tn_array *tn_max_pool2d(const tn_array *x, const struct tn_pool2d_options *options);
TN_API tn_array *tn_avg_pool2d(const tn_array *x, const struct tn_pool2d_options *options);

/* Averages of an x (N, C, H, W) of any height and width over output_h x output_w parts, (N, C,
 * output_h, output_w): part i of n covers the cells from floor(i H / n) to ceil((i + 1) H / n) - 1, as
 * torch.nn.AdaptiveAvgPool2d.  TN_SHAPE: x is no (N, C, H, W); TN_INVALID_ARGUMENT: an output below 1.
 * Where the output does not divide the input the parts overlap, and it is two products on the tape. */
TN_API tn_array *tn_adaptive_avg_pool2d(const tn_array *x, int64_t output_h, int64_t output_w);
/* The mean over height and width: x (N, C, H, W) gives (N, C). */
TN_API tn_array *tn_global_avg_pool(const tn_array *x);

/* All axes from `start` on become one. */
TN_API tn_array *tn_flatten(const tn_array *x, int start);

/* Batch normalisation (Ioffe and Szegedy 2015) as torch.nn.functional.batch_norm.  For x (N, C, ...),
 * with statistics over all axes but the second:
 *
 *     y = activation((x - mean) / sqrt(var + epsilon) w + b + residual),   var = mean of (x - mean)^2.
 *
 * Training takes the batch's statistics, which carry gradient, and where running ones are given
 *     running_mean := (1 - momentum) running_mean + momentum mean,
 *     running_var  := (1 - momentum) running_var + momentum var n / (n - 1),   n = elements a channel;
 * otherwise the running statistics are taken, as constants. */
struct tn_batch_norm_options {
	uint32_t struct_size;
	int training;
	uint32_t activation;      /* TN_ACTIVATION_NONE, RELU or RELU6 */
	tn_array *running_mean;   /* (C), f32 (f64 for f64); both or none */
	tn_array *running_var;    /* needed unless training */
	const tn_array *residual; /* like y; NULL: 0 */
	double momentum;          /* 0: PyTorch's 0.1 */
	double epsilon;           /* 0: PyTorch's 1e-5 */
};
/* w and b (C), both or none (NULL: 1 and 0).  TN_SHAPE, also when training has one element a channel;
 * TN_DTYPE; TN_INVALID_ARGUMENT: evaluation without running statistics, one without the other, another
 * activation. */
TN_API tn_array *tn_batch_norm(const tn_array *x, const tn_array *w, const tn_array *b,
			       const struct tn_batch_norm_options *options);

/* Layer normalisation (Ba, Kiros and Hinton 2016), statistics over the last n_axes axes, as
 * torch.nn.functional.layer_norm:   y = (x - mean) / sqrt(var + epsilon) w + b.
 * w and b have the shape of those axes, both or none.  epsilon 0: PyTorch's 1e-5.  TN_SHAPE, TN_DTYPE;
 * TN_INVALID_ARGUMENT: n_axes is not in 1..rank. */
TN_API tn_array *tn_layer_norm(const tn_array *x, const tn_array *w, const tn_array *b, int n_axes,
			       double epsilon);
/* Group normalisation (Wu and He 2018): the same for x (N, C, ...) with statistics over each of `groups`
 * equal parts of the channels of a picture, w and b (C).  TN_SHAPE: groups does not divide C. */
TN_API tn_array *tn_group_norm(const tn_array *x, const tn_array *w, const tn_array *b,
			       int64_t groups, double epsilon);

TN_API tn_array *tn_softmax(const tn_array *x, int axis);
TN_API tn_array *tn_log_softmax(const tn_array *x, int axis);

/* y = x mask / (1 - p), mask 1 with probability 1 - p, from the context's random state (one stream a
 * call), the same bits on every backend.  p in [0, 1); p = 0 gives x. */
TN_API tn_array *tn_dropout(const tn_array *x, double p);

/* No label is ignored. */
#define TN_NO_LABEL INT32_MIN
/* The mean over rows of -log softmax(logits)[label]: 0-d.  logits (N, C), labels (N) i32; rows whose
 * label is ignore_label do not count; when none counts the mean is NaN, as in PyTorch. */
TN_API tn_array *tn_cross_entropy(const tn_array *logits, const tn_array *labels,
				  int32_t ignore_label);

/* ---- Checking --------------------------------------------------------------------------------*/

/* Compares the tape's gradients of a scalar function with central differences in the inputs' dtype:
 * f(inputs) must return a 0-d array made by recorded operations, and be the same function each time. */
struct tn_gradient_report {
	double worst; /* the largest of |tape - difference| / (tolerance scale), see below */
	int input;    /* where it was */
	int64_t element;
	double tape;
	double difference;
};
typedef tn_array *(*tn_gradient_function)(void *user, tn_array *const *inputs);
/* step: of the differences (0: 1e-3 for f32, 1e-6 for f64).  An element is right when
 * |tape - difference| <= tolerance (1 + |difference|).  TN_INTERNAL: one was not; the report says
 * which.  At most `max_elements` of each input are tried, evenly spread (0: all). */
TN_API tn_status tn_gradient_check(tn_context *context, tn_gradient_function f, void *user,
				   int n_inputs, tn_array *const *inputs, double step,
				   double tolerance, int64_t max_elements,
				   struct tn_gradient_report *report);

#ifdef __cplusplus
}
#endif
#endif
