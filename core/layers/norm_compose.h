/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * One norm, checked, and its compositions from maps and reductions.
 */
#ifndef TN_LAYERS_NORM_COMPOSE_H
#define TN_LAYERS_NORM_COMPOSE_H

#include "array/array.h"

/* Pointers that are not used are NULL. */
struct tn_norm {
	struct tn_runtime *runtime;
	int kind;
	int is_backward;
	int use_statistics;
	int accumulate;
	int64_t groups;
	double epsilon;
	uint32_t activation;
	tn_array *x;
	tn_array *y; /* backward: dy */
	tn_array *w;
	tn_array *b;
	tn_array *mean;
	tn_array *rstd;
	tn_array *residual;
	tn_array *result;
	tn_array *dx;
	tn_array *dw;
	tn_array *db;
	tn_array *dresidual;
};

/* Compositions of a struct tn_norm without empty arrays.  They support neither residual nor
 * activation. */
tn_status tn_compose_norm(void *norm);
tn_status tn_compose_norm_backward(void *norm);

#endif
