/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Matrix products with what may follow them: a bias and an activation.  Nothing here is recorded.
 */
#ifndef TN_OPS_MATMUL_H
#define TN_OPS_MATMUL_H

#include "ops/matmul_real.h"

/* Checks and runs it, for every dtype. */
tn_status tn_matmul_run(struct tn_runtime *runtime, const struct tn_matmul_run *run);
/* The same for arrays of any device; errors are kept. */
tn_status tn_matmul_kept(const struct tn_matmul_run *run);

/* c := activation(op(a) op(b) + bias); bias may be NULL,
 * else it has as many elements as c's last axis. */
tn_status tn_matmul_epilogue(tn_array *c, const tn_array *a, int transpose_a, const tn_array *b,
			     int transpose_b, const tn_array *bias, uint32_t activation);

#endif
