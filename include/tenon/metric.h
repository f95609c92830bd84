/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Metrics: numbers that say how good the answers of a network are, over all samples of many
 * batches.
 *
 *     struct tn_metric_options options = tn_metric_defaults();
 *     options.kind = TN_METRIC_TOP_K;
 *     options.k = 5;
 *     tn_metric *top5 = tn_metric_create(ctx, &options);
 *     double value = 0;
 *     tn_metric_begin(top5);
 *     for (int i = 0; i < n; i++)
 *             tn_metric_add(top5, tn_module_forward(net, x), labels);
 *     if (!tn_metric_value(top5, &value))
 *             printf("%g\n", value);
 *     tn_metric_destroy(top5);
 *
 * The sums stay on the device until the value is read, and counts are integers: a value does not
 * depend on how the samples were divided into batches, except for the rounding of sums of floating
 * numbers.  A trainer (tenon/train.h) takes metrics and does all this itself.
 * All functions: [thread: one per context | since 0.1]; errors are kept by the context.
 */
#ifndef TENON_METRIC_H
#define TENON_METRIC_H

#include <string.h>

#include <tenon/array.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tn_metric tn_metric;

/* Of classes.  An output has scores (N, C) or (N, C, ...); its answer is the class of the highest
 * score.  A target has labels, integers (N) or (N, ...); or the output's shape, for one-hot labels
 * and probabilities, of which the class of the highest counts.  A label that is not a class
 * counts as a wrong answer.
 *   accuracy   the fraction of labels that were answered
 *   top k      the fraction of labels that have one of the k highest scores: their score is not
 *              NaN, and fewer than k scores are higher or NaN
 *   F1         2 t / (a + l), where of a class t answers are right, a answers name it and l labels
 *              do; macro: the mean over the classes that are answered or labelled; micro: with the
 *              sums over the classes, which for one label per sample is the accuracy
 *   confusion  the matrix of the counts of labels (rows) and answers (columns), tn_metric_counts,
 *              without labels that are not a class; the value is the accuracy over the others
 * Of numbers; output and target have the same shape:
 *   MSE, MAE   the mean of d^2 and of |d|, d = output - target
 *   R2         1 - (the sum of d^2) / (the sum of (target - its mean)^2), for each column (of all
 *              axes but the first), and the mean of these
 */
enum {
	TN_METRIC_ACCURACY = 0,
	TN_METRIC_TOP_K = 1,
	TN_METRIC_F1 = 2,
	TN_METRIC_CONFUSION = 3,
	TN_METRIC_MSE = 4,
	TN_METRIC_MAE = 5,
	TN_METRIC_R2 = 6,
};

/* Of TN_METRIC_F1. */
enum { TN_F1_MACRO = 0, TN_F1_MICRO = 1 };

/* A member that the kind does not use must be 0. */
struct tn_metric_options {
	uint32_t struct_size;
	uint32_t kind; /* TN_METRIC_... */
	const char
		*name; /* copied; NULL: "accuracy", "top5", "f1", "confusion", "mse", "mae", "r2" */
	int64_t k;     /* of top k; default 5 */
	uint32_t average; /* of F1: TN_F1_... */
	/* Of accuracy and F1.  1: each sample has any number of labels, the target has the output's
	 * shape, a label is given where the target is above 1/2, and answered where the output is
	 * above the threshold: 0 for logits, 1/2 for probabilities. */
	int is_multi_label;
	double threshold;
	int has_ignore_label; /* of classes: 1: samples labelled ignore_label do not count */
	int32_t ignore_label;
};
static inline struct tn_metric_options tn_metric_defaults(void)
{
	struct tn_metric_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.k = 5;
	return options;
}
/* Owned: free it with tn_metric_destroy before the context is closed.
 * NULL: TN_INVALID_ARGUMENT (also a name that is empty or not UTF-8), TN_UNSUPPORTED (options of a
 * newer version), TN_OUT_OF_MEMORY. */
TN_API tn_metric *tn_metric_create(tn_context *context, const struct tn_metric_options *options);

/* A metric of the program's own.  One pass over the data has one state; several passes may be under
 * way at a time, as when a trainer evaluates in the middle of an epoch. */
struct tn_metric_class {
	uint32_t struct_size;
	const char *name; /* copied */
	int is_rising;    /* 1: a higher value is better */
	/* 1: add consists of operations on arrays, the same for all batches of one shape, so that
	 * it can be part of captured steps (tenon/capture.h). */
	int is_repeatable;
	void *user;
	/* The state of a new pass; NULL: the context keeps the reason. */
	void *(*begin)(void *user, tn_context *context);
	/* Adds a batch.  Runs outside of the tape, in a scope of its own. */
	tn_status (*add)(void *state, const tn_array *output, const tn_array *target);
	tn_status (*value)(void *state, double *value);
	/* The arrays in which the state keeps its sums from the beginning of the pass on, at most
	 * `room`, which is 8; returns their number.  A checkpoint saves and restores their
	 * elements.  NULL: it has none, and a pass that is continued from a checkpoint counts from
	 * there. */
	size_t (*arrays)(void *state, tn_array **arrays, size_t room);
	void (*end)(void *state); /* may be NULL */
	/* 1: all of the state is in `arrays`, whose dtypes can be summed over ranks, and the state
	 * of two passes together has the sums of their arrays: ranks (tenon/distributed.h) can each
	 * take a share of the samples. */
	int is_sum;
};
static inline struct tn_metric_class tn_metric_class_defaults(void)
{
	struct tn_metric_class class_;
	memset(&class_, 0, sizeof(class_));
	class_.struct_size = sizeof(class_);
	return class_;
}
/* Owned, as above.  TN_INVALID_ARGUMENT: no name, or no begin, add or value; is_sum without
 * arrays. */
TN_API tn_metric *tn_metric_custom(tn_context *context, const struct tn_metric_class *class_);

TN_API void tn_metric_destroy(tn_metric *metric); /* takes NULL */

/* Borrowed. */
TN_API const char *tn_metric_name(const tn_metric *metric);
/* 1: a higher value is better. */
TN_API int tn_metric_is_rising(const tn_metric *metric);

/* Begins a pass: nothing has been added. */
TN_API tn_status tn_metric_begin(tn_metric *metric);
/* Adds a batch; begins a pass if there is none.  Nothing is recorded by a tape, and nothing waits
 * for the device.
 * TN_SHAPE, TN_DTYPE: output and target do not fit the kind; the number of classes or columns
 * changed.  TN_NOT_CAPTURABLE: the first batch of a metric, which makes its arrays, is captured. */
TN_API tn_status tn_metric_add(tn_metric *metric, const tn_array *output, const tn_array *target);
/* The value over all samples added since the pass began.  Waits for the device.  TN_STATE: there
 * are none. */
TN_API tn_status tn_metric_value(tn_metric *metric, double *value);
/* Of a confusion matrix: n counts, the square of the number of classes; the label's row first.
 * TN_STATE: another kind, or nothing was added.  TN_SHAPE: n is another number.  Waits for the
 * device. */
TN_API tn_status tn_metric_counts(tn_metric *metric, uint64_t *counts, size_t n);

#ifdef __cplusplus
}
#endif
#endif
