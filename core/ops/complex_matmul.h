/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Products of complex matrices.
 */
#ifndef TN_OPS_COMPLEX_MATMUL_H
#define TN_OPS_COMPLEX_MATMUL_H

#include "ops/matmul_real.h"

/* tn_matmul_real for arrays of one complex dtype, without bias and activation. */
tn_status tn_complex_matmul(struct tn_runtime *runtime, const struct tn_matmul_run *run);

#endif
