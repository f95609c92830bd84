/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Matrix products with what may follow them: a bias and an activation.  Nothing here is recorded.
 */
#ifndef TN_OPS_MATMUL_H
#define TN_OPS_MATMUL_H

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
};
tn_status tn_matmul_run(struct tn_runtime *runtime, const struct tn_matmul_run *run);
/* The same for complex arrays of fitting shapes. */
tn_status tn_complex_matmul(struct tn_runtime *runtime, const struct tn_matmul_run *run);

/* c := activation(op(a) op(b) + bias); bias may be NULL,
 * else it has as many elements as c's last axis. */
tn_status tn_matmul_epilogue(tn_array *c, const tn_array *a, int transpose_a, const tn_array *b,
			     int transpose_b, const tn_array *bias, uint32_t activation);

#endif
