/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Shared by the layer families: the check of an operand, and teams of threads.
 */
#ifndef CUDA_LAYER_H
#define CUDA_LAYER_H

#include "operand.h"

enum { CUDA_TEAM_BLOCK = 256 };

/* A block of CUDA_TEAM_BLOCK threads as lx teams of ly, each with a line of numbers (cu_team of
 * kernels/prelude.cu). */
struct cuda_team {
	uint32_t lx, ly;
	int columns; /* neighbouring threads have neighbouring lines */
};

/* For lines of n numbers. */
struct cuda_team cuda_team_of(int64_t n, int columns);

/* The type in which numbers of a floating type are computed and their statistics kept: f32, or f64
 * for f64. */
tn_dtype cuda_sum_dtype(tn_dtype dtype);

/* tn_plugin_check_operand, and checks the shape and that the dtype is the given floating type. */
tn_status cuda_check_real(const struct tn_call *call, const char *operation, const char *name,
			  const struct tn_operand *operand, tn_dtype dtype,
			  enum tn_plugin_role role, uint32_t rank, const int64_t *shape);

#endif
