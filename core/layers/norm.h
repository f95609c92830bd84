/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Batch, layer and group norm and their gradients, by the route of the slots (dispatch/route.h).
 * Nothing is recorded; errors are kept.
 */
#ifndef TN_LAYERS_NORM_H
#define TN_LAYERS_NORM_H

#include <tenon/array.h>

#include "array/make.h"

enum { TN_NORM_BATCH = 0, TN_NORM_LAYER = 1, TN_NORM_GROUP = 2 };

/* A norm with its optional epilogue.  Pointers that are not used are NULL.  w and b may both be
 * NULL. */
struct tn_norm_call {
	int kind;
	int64_t groups; /* of group norm */
	double epsilon;
	int use_statistics;  /* mean and rstd are given, and constants */
	uint32_t activation; /* TN_ACTIVATION_NONE, RELU or RELU6 */
	const tn_array *x;
	const tn_array *w;
	const tn_array *b;
	tn_array *mean; /* forward makes them unless they are given */
	tn_array *rstd;
	const tn_array *residual; /* forward: y = activation(norm + residual) */
	/* Backward: */
	const tn_array *dy;
	const tn_array *result; /* the forward's y; needed with an activation */
	tn_array *dw;           /* both or none: written, or added to with accumulate */
	tn_array *db;
	int accumulate;
	int wants_dresidual;
	tn_array *dresidual; /* made: the gradient of the residual */
};
/* tn_arrays_given for x, and for w or b, which may be NULL, where x is NULL. */
static inline tn_status tn_norm_given(const tn_array *x, const tn_array *w, const tn_array *b,
				      const char *operation)
{
	const tn_array *any = w ? w : b;
	return tn_arrays_given(any ? 2 : 1, (const tn_array *[]){x, any}, operation);
}

tn_array *tn_norm_call_forward(struct tn_norm_call *call);  /* y */
tn_array *tn_norm_call_backward(struct tn_norm_call *call); /* dx */

/* The same without residual and activation.  Statistics are made, unless use_statistics is 1 (batch
 * norm at inference). */
tn_array *tn_norm_forward(int kind, const tn_array *x, const tn_array *w, const tn_array *b,
			  double epsilon, int use_statistics, tn_array **mean, tn_array **rstd);
tn_array *tn_norm_backward(int kind, const tn_array *dy, const tn_array *x, const tn_array *w,
			   const tn_array *mean, const tn_array *rstd, int use_statistics,
			   tn_array *dw, tn_array *db, int accumulate);

#endif
