/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The gradients of a norm by recorded operations, for create_graph.
 */
#ifndef TN_LAYERS_NORM_DOUBLE_BACKWARD_H
#define TN_LAYERS_NORM_DOUBLE_BACKWARD_H

#include <tenon/array.h>

/* A norm that was computed; pointers that are not used are NULL. */
struct tn_norm_recorded {
	int kind; /* TN_NORM_... */
	int64_t groups;
	double epsilon;
	uint32_t activation;
	int64_t row; /* layer norm: the elements that share their statistics */
	const tn_array *x;
	const tn_array *w;
	const tn_array *mean, *rstd; /* batch norm: given, constants */
	const tn_array *result;      /* with an activation */
	/* Made; NULL after an error, which is kept: */
	tn_array *dx, *dw, *db, *dresidual;
};
void tn_norm_differentiate(struct tn_norm_recorded *norm, const tn_array *dy);

#endif
