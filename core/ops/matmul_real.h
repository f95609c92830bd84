/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Products of real matrices.
 */
#ifndef TN_OPS_MATMUL_REAL_H
#define TN_OPS_MATMUL_REAL_H

#include "array/array.h"

/* C := activation(alpha op(A) op(B) + beta C + bias) for arrays of rank 2 and more; op transposes
 * the last two axes.  Batch axes of A and B broadcast to those of C; the bias, which may be NULL,
 * has as many elements as C's last axis. */
struct tn_matmul_run {
	uint32_t operation;
	tn_array *c;
	const tn_array *a;
	const tn_array *b;
	int transpose_a;
	int transpose_b;
	double alpha;
	double beta;
	const tn_array *bias;
	uint32_t activation; /* TN_ACTIVATION_... */
	int has_constants;   /* B and bias stay as they are: weights of a frozen network */
	tn_array *packed;    /* B, as tn_matmul_prepack made it for such a run; NULL: none */
};

/* Runs it for arrays of one real dtype and of shapes that fit; C has elements. */
tn_status tn_matmul_real(struct tn_runtime *runtime, const struct tn_matmul_run *run);

/* B in the form that the device's own backend reads fastest, for such runs whatever A's number of
 * rows: an array of bytes, or NULL in *packed where the backend has none.  The caller drops it when
 * B changes.  On failure runtime->report is filled. */
tn_status tn_matmul_prepack(struct tn_runtime *runtime, const struct tn_matmul_run *run,
			    tn_array **packed);

#endif
