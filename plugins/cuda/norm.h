/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A checked call of a norm, with the layout that kernels/norm.cu expects.
 */
#ifndef CUDA_NORM_H
#define CUDA_NORM_H

#include "plugin.h"

enum cuda_norm_kind { CUDA_BATCH_NORM, CUDA_LAYER_NORM, CUDA_GROUP_NORM };
enum { CUDA_NORM_DX = 1, CUDA_NORM_DW = 2, CUDA_NORM_DRESIDUAL = 4 }; /* bits of `wants` */

struct cuda_norm_call {
	struct tn_norm_args args; /* `wants` is 0 in forward */
	enum cuda_norm_kind kind;
	int is_backward;
	const struct tn_operand *extra; /* forward's residual, backward's result; NULL: none */
};

/* Strides are in elements. */
struct cuda_norm_view {
	uint64_t at;
	int64_t sample, channel;
	int64_t inner[TN_MAX_RANK - 2];
};

struct cuda_norm_list {
	uint64_t at;
	int64_t step;
};

struct cuda_norm {
	int64_t n_samples, n_channels, n_inner;
	int64_t groups; /* in a sample */
	int64_t n_chunks, chunk;
	int64_t inner[TN_MAX_RANK - 2];
	struct cuda_norm_view x, y, extra, dx, dresidual;
	struct cuda_norm_list w, b, mean, rstd, dw, db;
	uint64_t scratch;
	double epsilon;
	int32_t is_per_channel, has_affine, is_fixed, activation, has_residual, wants, adds;
};

/* Checks the arguments; sets `extra`. */
tn_status cuda_norm_check(struct cuda_norm_call *n, const char *operation);

#endif
