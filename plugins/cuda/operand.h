/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Operands: what can be wrong with them, and a nest of loops over several at once.
 */
#ifndef CUDA_OPERAND_H
#define CUDA_OPERAND_H

#include "plugin.h"

#define CUDA_MAX_VIEWS (TN_PROGRAM_MAX_INPUTS * 2 + TN_PROGRAM_MAX_OUTPUTS)

/* An operand as a kernel sees it; strides are in elements. */
struct cuda_view {
	uint64_t address;
	int64_t stride[TN_MAX_RANK];
	tn_dtype dtype;
	int kept_only; /* it has the kept axes alone; its other strides are 0 */
};

/* Axes 0 to n_kept - 1 are kept, the rest is reduced. */
struct cuda_nest {
	uint32_t rank, n_kept;
	int64_t length[TN_MAX_RANK];
	uint32_t n_views;
	struct cuda_view view[CUDA_MAX_VIEWS];
};

enum cuda_role { CUDA_READS, CUDA_WRITES };

/* The kinds of numbers, bits; 0: a dtype that is not stored on this device. */
enum {
	CUDA_BOOL = 1u << 0,
	CUDA_SIGNED = 1u << 1,
	CUDA_UNSIGNED = 1u << 2,
	CUDA_FLOATING = 1u << 3,
	CUDA_COMPLEX = 1u << 4,
	CUDA_INTEGER = CUDA_SIGNED | CUDA_UNSIGNED,
	CUDA_REAL = CUDA_BOOL | CUDA_INTEGER | CUDA_FLOATING, /* what programs read and write */
};
unsigned cuda_kind(tn_dtype dtype);

/* Everything that can be wrong with one operand, by itself. */
tn_status cuda_check_operand(const struct tn_call *call, const char *operation, const char *name,
			     unsigned number, const struct tn_operand *operand,
			     enum cuda_role role);
/* TN_SHAPE: the operand has not that rank, or not those lengths. */
tn_status cuda_check_shape(const struct tn_call *call, const char *operation, const char *name,
			   unsigned number, const struct tn_operand *operand, uint32_t rank,
			   const int64_t *shape);

/* The address of its first element. */
static inline uint64_t cuda_address(const struct tn_operand *operand)
{
	return operand->buffer + operand->offset;
}

/* The same without an axis: what is there for each place on it. */
struct tn_operand cuda_without_axis(const struct tn_operand *operand, uint32_t axis);
/* The unsigned dtype of the same size, for what moves elements alone; those of 16 bytes stay. */
tn_dtype cuda_bits_dtype(tn_dtype dtype);

uint64_t cuda_product(const int64_t *length, uint32_t rank);

/* A nest of those lengths, without views. */
void cuda_nest_begin(struct cuda_nest *nest, uint32_t rank, uint32_t n_kept, const int64_t *length);
/* Adds a checked operand and gives its number. */
uint32_t cuda_nest_add(struct cuda_nest *nest, const struct tn_operand *operand, int kept_only);
/* Leaves out axes of length 1, and merges two into one where all views allow it. */
void cuda_nest_simplify(struct cuda_nest *nest);
/* Puts axes of length 1 in front of the kept and of the reduced ones, so that there are so many. */
void cuda_nest_pad(struct cuda_nest *nest, uint32_t n_kept, uint32_t n_reduced);
/* Do numbers of elements, and their distances in every view, need more than 31 bits? */
int cuda_nest_is_wide(const struct cuda_nest *nest);

#endif
