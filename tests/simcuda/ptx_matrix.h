/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Matrix instructions of a warp.
 */
#ifndef SIMCUDA_PTX_MATRIX_H
#define SIMCUDA_PTX_MATRIX_H

#include "ptx_module.h"

/* Places of the registers; m is 16 and n is 8. */
struct ptx_mma {
	char kind_a, kind_b; /* 'h' f16, 't' bf16, 'x' tf32, 's' and 'u' bytes */
	unsigned depth, per_register;
	unsigned a_count, b_count, c_count;
	uint8_t half_c, half_d;
	int32_t a[4], b[2], c[4], d[4];
};

struct ptx_ldmatrix {
	struct ptx_access access;
	unsigned count;
	uint8_t transposed;
	int32_t d[4];
};

enum ptx_next ptx_run_mma(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask);
enum ptx_next ptx_load_matrix(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask);

#endif
