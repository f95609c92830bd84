/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * One cuDNN convolution: its descriptors and the chosen algorithm, kept by shape.
 */
#ifndef CUDA_DNN_PLAN_H
#define CUDA_DNN_PLAN_H

#include "dnn.h"
#include "dnn_library.h"

enum { DNN_WORDS = 36, DNN_BUCKETS = 64, DNN_MOST_PLANS = 1024 };
/* The most workspace for an algorithm: no more than the host gives. */
#define DNN_MOST_WORKSPACE (UINT64_C(64) << 20)

/* Everything that a choice depends on. */
struct dnn_key {
	int64_t word[DNN_WORDS];
};

enum { DNN_NONE = -1 };

enum dnn_verdict { DNN_UNKNOWN, DNN_FASTER, DNN_SLOWER };

struct dnn_plan {
	struct dnn_plan *next;
	struct dnn_key key;
	enum cuda_dnn_pass pass;
	cudnnTensorDescriptor_t x, y;
	cudnnFilterDescriptor_t w;
	cudnnConvolutionDescriptor_t convolution;
	int algorithm; /* of the pass's own enumeration */
	size_t bytes;  /* of workspace */
	int spare;     /* an algorithm without workspace; DNN_NONE: none */
	int is_refused;
	int is_adding_refused; /* with beta other than 0 */
	unsigned has_run;      /* combinations whose kernels are loaded: captures may use them */
	int is_left_out;       /* excluded from captures: its call failed in one */
	enum dnn_verdict verdict;
};

struct cuda_dnn_state {
	struct cuda_dnn api;
	cudnnHandle_t handle;
	cudaStream_t stream; /* the stream last set in the handle */
	cudaEvent_t first, last;
	struct dnn_plan *plans[DNN_BUCKETS];
	unsigned n_plans;
	uint64_t n_calls;
	unsigned n_left;  /* calls until it is retried: memory ran short */
	char reason[160]; /* why it is disabled; empty: it is not */
};

/* A cuDNN function that did not return success. */
struct dnn_failure {
	cudnnStatus_t code;
	const char *function;
};

/* Does cuDNN support it?  Gives the order of the axes, from the outermost to the innermost, of all
 * three operands in memory; NULL: no. */
const int *dnn_order(const struct cuda_device *device, const struct tn_conv2d_args *args,
		     enum cuda_dnn_pass pass);

void dnn_key(struct dnn_key *key, const struct tn_conv2d_args *args, enum cuda_dnn_pass pass);
struct dnn_plan *dnn_plan_find(const struct cuda_dnn_state *dnn, const struct dnn_key *key);
/* Creates and keeps it, marked as refused if cuDNN does not support it; NULL and a code: a
 * failure. */
struct dnn_plan *dnn_plan_make(const struct cuda_device *device, const struct dnn_key *key,
			       const struct tn_conv2d_args *args, enum cuda_dnn_pass pass,
			       struct dnn_failure *failure);
/* Does that code mean that cuDNN does not support it? */
int dnn_is_refusal(cudnnStatus_t code);
/* Disables the plan. */
void dnn_plan_refuse(const struct cuda_dnn_state *dnn, struct dnn_plan *plan);
/* Frees all of them; is_lost: without calling cuDNN, which is no longer possible. */
void dnn_plans_drop(const struct cuda_device *device, int is_lost);

/* output := the convolution + beta output; is_spare: without workspace. */
struct dnn_failure dnn_plan_run(struct cuda_dnn_state *dnn, const struct dnn_plan *plan,
				const struct tn_conv2d_args *args, double beta, int is_spare);

#endif
