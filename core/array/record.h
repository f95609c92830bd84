/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What the array layer passes to the recorder: one differentiable operation that has just run.  The
 * layer operations of core/layers make their own nodes and run with runtime->recorder NULL.
 */
#ifndef TN_ARRAY_RECORD_H
#define TN_ARRAY_RECORD_H

#include "array/runtime.h"

enum tn_record_kind {
	TN_RECORD_MAP,      /* program over broadcast inputs; gradients by differentiating it */
	TN_RECORD_COMPLEX,  /* program over the parts of complex inputs, and real ones */
	TN_RECORD_PART,     /* the real (axis 0) or imaginary (axis 1) elements */
	TN_RECORD_SUM,      /* axes, keepdims, scale: output = scale * sum */
	TN_RECORD_EXTREMUM, /* max or min over axes: inputs[0], output; ties share in equal parts */
	TN_RECORD_PRODUCT,  /* axes, keepdims */
	TN_RECORD_LOGSUMEXP, /* axes, keepdims */
	TN_RECORD_MATMUL,    /* inputs a, b */
	/* Views, one kind each, so that the gradient need not examine strides: */
	TN_RECORD_RESHAPE, /* reshape, expand_dims, squeeze: the same elements in the same order */
	TN_RECORD_TRANSPOSE, /* permutation[i]: the input axis that becomes output axis i */
	TN_RECORD_SLICE,     /* axis, start, step (as applied: start is the first element taken) */
	TN_RECORD_BROADCAST, /* broadcast_to */
	TN_RECORD_WINDOW,    /* sliding_window_view: n_axes, permutation[0..n_axes) = its axes */
	TN_RECORD_DIAGONAL,  /* start = the diagonal, permutation[0..2) = its axes */
	TN_RECORD_COPY,      /* same elements, perhaps another floating dtype, device or shape */
	TN_RECORD_TAKE,      /* inputs a, indices; axis */
	TN_RECORD_TAKE_ALONG_AXIS, /* inputs a, indices in range; axis */
	TN_RECORD_CUMSUM,          /* axis, as the next two */
	TN_RECORD_CUMPROD,
	TN_RECORD_CUMULATIVE_EXTREMUM, /* running max or min */
	TN_RECORD_CONCATENATE,         /* inputs; axis */
};

/* The first inputs of a program, whose gradients may have texts of their own. */
enum { TN_DERIVATIVES = 2 };

struct tn_record {
	enum tn_record_kind kind;
	const char *operation; /* "add", "sum": a string that is never freed */
	uint32_t n_inputs;
	tn_array *const *inputs;
	tn_array *output;
	const struct tn_program *program; /* MAP: lives as long as the context */
	const struct tn_scalar *scalars;  /* MAP: by value */
	/* MAP: texts of the gradients of the first TN_DERIVATIVES inputs
	 * (autograd/derivatives.h), NULL where they are found by differentiation, and for none. */
	const char *const *derivatives;
	const char *input_names;  /* of the texts, in one string (dispatch/formulas.h) */
	const char *scalar_names; /* likewise; NULL: none */
	int output_serves;        /* MAP of one input: its gradient may read the output instead */
	uint32_t axes;            /* bit i: axis i */
	int axis;
	int n_axes;
	int permutation[TN_MAX_RANK];
	int64_t start;
	int64_t step;
	int keepdims;
	double scale;
};

#endif
