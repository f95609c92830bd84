/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Losses, under the names and with the values and gradients of torch.nn.functional; and losses as
 * objects.
 *
 *     struct tn_cross_entropy_options options = tn_cross_entropy_defaults();
 *     options.label_smoothing = 0.1;
 *     tn_array *loss = tn_cross_entropy(tn_module_forward(net, x), labels, &options);
 *
 * Each gives a 0-d array, or with TN_REDUCTION_NONE one value for each element or row.  Inputs are
 * floating.  A target has its input's shape: unlike PyTorch, which broadcasts and warns, another
 * shape is TN_SHAPE.  A target has its input's dtype, or is of integers or bools; those of the two
 * embedding losses have their input's dtype or are of signed integers.  Gradients flow to inputs
 * and to floating targets, not to labels or weights of classes.  Options may be NULL.
 *   TN_SHAPE, TN_DTYPE   an argument has another shape or dtype than stated
 *   TN_INVALID_ARGUMENT  a number is outside of its range
 * All functions: [thread: one per context | since 0.1]; errors are kept by the context.
 */
#ifndef TENON_LOSS_H
#define TENON_LOSS_H

#include <string.h>

#include <tenon/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What becomes of the values of the elements or rows. */
enum {
	TN_REDUCTION_MEAN = 0,
	TN_REDUCTION_SUM = 1,
	TN_REDUCTION_NONE = 2,       /* they remain */
	TN_REDUCTION_BATCH_MEAN = 3, /* tn_kl_div alone: the sum, divided by the first length */
};

/* ---- Of elements: d = input - target ---------------------------------------------------------*/

/* d^2 */
TN_API tn_array *tn_mse_loss(const tn_array *input, const tn_array *target, uint32_t reduction);
/* |d|; its derivative is 0 where d is 0. */
TN_API tn_array *tn_l1_loss(const tn_array *input, const tn_array *target, uint32_t reduction);
/* d^2 / (2 beta) where |d| < beta, else |d| - beta / 2.  beta is finite and at least 0,
 * PyTorch's default 1; 0 gives tn_l1_loss. */
TN_API tn_array *tn_smooth_l1_loss(const tn_array *input, const tn_array *target, double beta,
				   uint32_t reduction);
/* d^2 / 2 where |d| < delta, else delta (|d| - delta / 2).  delta is finite and above 0,
 * PyTorch's default 1.  Half of tn_mse_loss is what an infinite delta would give. */
TN_API tn_array *tn_huber_loss(const tn_array *input, const tn_array *target, double delta,
			       uint32_t reduction);

/* weight (-pos_weight target log sigmoid(input) - (1 - target) log(1 - sigmoid(input))), without
 * overflow for any input.  Weights are floating and broadcast to the input's shape; NULL: 1. */
struct tn_binary_cross_entropy_options {
	uint32_t struct_size;
	uint32_t reduction;
	const tn_array *weight;
	const tn_array *pos_weight; /* of target 1: above 1 favours recall, below 1 precision */
};
static inline struct tn_binary_cross_entropy_options tn_binary_cross_entropy_defaults(void)
{
	struct tn_binary_cross_entropy_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	return options;
}
TN_API tn_array *
tn_binary_cross_entropy_with_logits(const tn_array *input, const tn_array *target,
				    const struct tn_binary_cross_entropy_options *options);

/* The divergence of the distribution target from that whose logarithms are input:
 *     target (log target - input), 0 log 0 being 0;
 * with log_target 1, target holds logarithms too: exp(target) (target - input).  The mean over all
 * elements is TN_REDUCTION_MEAN, as in PyTorch; the divergence itself, a mean over the first axis,
 * is TN_REDUCTION_BATCH_MEAN.  The derivative to a target of exactly 0 is -input, unless
 * log_target is 1. */
TN_API tn_array *tn_kl_div(const tn_array *input, const tn_array *target, int log_target,
			   uint32_t reduction);

/* input where target is 1, max(0, margin - input) where it is -1, the sum of both where it is
 * another number.  The target is floating or of signed integers.  PyTorch's default margin is 1. */
TN_API tn_array *tn_hinge_embedding_loss(const tn_array *input, const tn_array *target,
					 double margin, uint32_t reduction);

/* ---- Of rows ---------------------------------------------------------------------------------*/

/* 1 - cos(a, b) where target is 1, max(0, cos(a, b) - margin) where it is -1, 0 where it is another
 * number, for the rows of a and b (N, D) and target (N), or a and b (D) and a 0-d target.  The
 * target is floating or of signed integers.  1e-12 is added to the squares of the norms.  PyTorch's
 * default margin is 0. */
TN_API tn_array *tn_cosine_embedding_loss(const tn_array *a, const tn_array *b,
					  const tn_array *target, double margin,
					  uint32_t reduction);

/* In the losses below, classes are axis 1 of an input (N, C) or (N, C, ...) with labels (N) or (N,
 * ...), and the only axis of an input (C) with a 0-d label.  Labels are i32; one that is neither
 * ignored nor in 0..C-1 is TN_INVALID_ARGUMENT, reported as by tn_take (tenon/array.h), and the
 * loss is NaN meanwhile.  A weight (C) is floating and has one factor per class; the mean is then
 * the weighted mean: the sum divided by that of the labels' weights.  A weight that requires a
 * gradient is a constant here: none flows to it.  A mean over no label is NaN.  Losses of f16 and
 * bf16 are f32. */

struct tn_cross_entropy_options {
	uint32_t struct_size;
	uint32_t reduction;
	const tn_array *weight; /* NULL: 1 */
	double label_smoothing; /* in [0, 1] */
	int has_ignore_label;   /* 1: rows labelled ignore_label count for nothing */
	int32_t ignore_label;
};
static inline struct tn_cross_entropy_options tn_cross_entropy_defaults(void)
{
	struct tn_cross_entropy_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	return options;
}
/* -log softmax(input)[label], of logits.  label_smoothing e mixes the labels with the uniform
 * distribution: the target is 1 - e + e / C for the label and e / C for the other classes.
 *
 * A target of the input's shape holds probabilities: -sum of weight target log softmax(input) over
 * the classes, whose mean is the sum divided by the number of rows, weighted or not.  One-hot
 * labels may be integers or bools.  TN_INVALID_ARGUMENT: probabilities and has_ignore_label. */
TN_API tn_array *tn_cross_entropy(const tn_array *input, const tn_array *target,
				  const struct tn_cross_entropy_options *options);

struct tn_nll_loss_options {
	uint32_t struct_size;
	uint32_t reduction;
	const tn_array *weight; /* NULL: 1 */
	int has_ignore_label;   /* as for tn_cross_entropy */
	int32_t ignore_label;
};
static inline struct tn_nll_loss_options tn_nll_loss_defaults(void)
{
	struct tn_nll_loss_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	return options;
}
/* -input[label], of logarithms of probabilities (tn_log_softmax). */
TN_API tn_array *tn_nll_loss(const tn_array *input, const tn_array *labels,
			     const struct tn_nll_loss_options *options);

/* The hinge loss of several classes: the mean over the classes, which counts 0 for the label, of
 *     weight[label] max(0, margin - input[label] + input[class])^p,  p = 1 or 2.
 * The input is (N, C) or (C).  Its mean is that over the rows, weighted or not.  weight may be
 * NULL; PyTorch's defaults are p 1 and margin 1. */
TN_API tn_array *tn_multi_margin_loss(const tn_array *input, const tn_array *labels, int p,
				      double margin, const tn_array *weight, uint32_t reduction);

/* ---- Losses as objects -----------------------------------------------------------------------*/

/* What a trainer minimises (tenon/train.h).  A loss gives a sum and a weight, whose quotient is its
 * mean, so that those of batches, of accumulated batches and of ranks can be added up before they
 * are divided:
 *
 *     struct tn_loss_options ignoring = tn_loss_defaults();
 *     ignoring.has_ignore_label = 1;
 *     ignoring.ignore_label = -100;
 *     tn_loss *loss = tn_loss_create(ctx, &ignoring);
 *     tn_array *weight, *sum = tn_loss_sum(loss, tn_module_forward(net, x), labels, &weight);
 *     tn_array *mean = tn_divide(sum, weight);
 */
typedef struct tn_loss tn_loss;

/* The functions above, the members of tn_loss_options that each uses, and its weight. */
enum {
	/* weight, label_smoothing, has_ignore_label, ignore_label: the number of rows; of labels
	 * with class weights, the sum of those of the labels; labels that are ignored weigh 0 */
	TN_LOSS_CROSS_ENTROPY = 0,
	TN_LOSS_NLL = 1, /* weight, has_ignore_label, ignore_label: as for cross-entropy */
	/* With logits.  weight, pos_weight: the number of elements */
	TN_LOSS_BINARY_CROSS_ENTROPY = 2,
	TN_LOSS_MSE = 3,             /* the number of elements */
	TN_LOSS_L1 = 4,              /* the number of elements */
	TN_LOSS_SMOOTH_L1 = 5,       /* beta: the number of elements */
	TN_LOSS_KL_DIV = 6,          /* log_target: the first length */
	TN_LOSS_HUBER = 7,           /* delta: the number of elements */
	TN_LOSS_HINGE_EMBEDDING = 8, /* margin: the number of elements */
	TN_LOSS_MULTI_MARGIN = 9,    /* weight, p, margin: the number of rows */
};

/* A member that the kind does not use must have its default. */
struct tn_loss_options {
	uint32_t struct_size;
	uint32_t kind;              /* TN_LOSS_... */
	const tn_array *weight;     /* held by the loss, as is pos_weight; NULL: 1 */
	const tn_array *pos_weight; /* NULL: 1 */
	double label_smoothing;     /* in [0, 1] */
	int has_ignore_label;
	int32_t ignore_label;
	double beta;  /* default 1 */
	double delta; /* default 1 */
	int log_target;
	int p;         /* 1 or 2; default 1 */
	double margin; /* default 1 */
};
static inline struct tn_loss_options tn_loss_defaults(void)
{
	struct tn_loss_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.beta = 1.0;
	options.delta = 1.0;
	options.p = 1;
	options.margin = 1.0;
	return options;
}

/* A loss of the program's own. */
struct tn_loss_class {
	uint32_t struct_size;
	const char *name; /* copied */
	void *user;
	/* 1: `sum` does the same operations on arrays for all batches of one shape, so that
	 * captured steps may repeat them. */
	int is_repeatable;
	/* The sum over the samples of a batch as an array of one element, by recorded operations;
	 * NULL: the context keeps the error.  *weight, which is NULL before, may become an array of
	 * one element by which sums are divided; else that is the number of samples.  The output
	 * and the target have the dtypes of the network and of the data. */
	tn_array *(*sum)(void *user, const tn_array *output, const tn_array *target,
			 tn_array **weight);
	void (*destroy)(void *user); /* with the loss; may be NULL */
};
static inline struct tn_loss_class tn_loss_class_defaults(void)
{
	struct tn_loss_class class_;
	memset(&class_, 0, sizeof(class_));
	class_.struct_size = sizeof(class_);
	return class_;
}

/* Owned: free it with tn_loss_destroy.  NULL as options: cross-entropy.  NULL: TN_INVALID_ARGUMENT,
 * TN_UNSUPPORTED (options of a newer version), TN_OUT_OF_MEMORY. */
TN_API tn_loss *tn_loss_create(tn_context *context, const struct tn_loss_options *options);
TN_API tn_loss *tn_loss_custom(tn_context *context, const struct tn_loss_class *class_);
TN_API void tn_loss_destroy(tn_loss *loss); /* takes NULL */
/* That of the class, or the kind: "cross_entropy", "mse".  Borrowed. */
TN_API const char *tn_loss_name(const tn_loss *loss);
/* The sum of a batch's losses, and its weight: 0-d arrays of f64 for outputs of f64, and for sums
 * of f64 of a program's own, else of f32.  Gradients flow from the sum.  A kind takes labels of any
 * integer type, and targets of any floating type.  NULL: TN_INVALID_ARGUMENT, and the errors of the
 * kind's function. */
TN_API tn_array *tn_loss_sum(tn_loss *loss, const tn_array *output, const tn_array *target,
			     tn_array **weight);
/* Their quotient; over no weight it is NaN. */
TN_API tn_array *tn_loss_mean(tn_loss *loss, const tn_array *output, const tn_array *target);

#ifdef __cplusplus
}
#endif
#endif
