/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What the array layer tells the recorder: one differentiable operation that has just run.  The layer
 * operations of core/autograd make their own nodes and run with runtime->recorder NULL.
 */
#ifndef TN_ARRAY_RECORD_H
#define TN_ARRAY_RECORD_H

#include "array/runtime.h"

enum tn_record_kind {
	TN_RECORD_MAP,      /* program over broadcast inputs; gradients by differentiating it */
	TN_RECORD_SUM,      /* axes, keepdims, scale: output = scale * sum */
	TN_RECORD_EXTREMUM, /* max or min over axes: inputs[0], output; ties share in equal parts */
	TN_RECORD_PRODUCT,  /* axes, keepdims */
	TN_RECORD_LOGSUMEXP, /* axes, keepdims */
	TN_RECORD_MATMUL,    /* inputs a, b */
	TN_RECORD_VIEW, /* output is a view of inputs[0]: strides and offset say which elements */
	TN_RECORD_COPY, /* same elements, perhaps another floating dtype, device or shape */
	TN_RECORD_TAKE, /* inputs a, indices; axes[0] */
	TN_RECORD_CONCATENATE, /* inputs; axes[0] */
};

struct tn_record {
	enum tn_record_kind kind;
	const char *operation; /* "add", "sum": a string that lives for ever */
	uint32_t n_inputs;
	tn_array *const *inputs;
	tn_array *output;
	const struct tn_program *program; /* MAP: lives as long as the context */
	const struct tn_scalar *scalars;  /* MAP: by value */
	uint32_t axes;                    /* bit i: axis i */
	int axis;
	int keepdims;
	double scale;
};

#endif
