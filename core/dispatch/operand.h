/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * From arrays to the operands that backends take: broadcast by stride 0, without axes of length 1,
 * neighbouring axes merged where every operand allows it.
 */
#ifndef TN_DISPATCH_OPERAND_H
#define TN_DISPATCH_OPERAND_H

#include "array/array.h"

/* An array unchanged: its own rank, shape and strides. */
void tn_operand_of(struct tn_operand *operand, const tn_array *array);

/* The array broadcast to a compatible shape. */
void tn_operand_broadcast(struct tn_operand *operand, const tn_array *array, int rank,
			  const int64_t *shape);

/* Drops axes of length 1 and merges neighbours among axes [first, last) of n operands that have the
 * same shape there.  Returns how many of these axes remain; an operand's later axes move down. */
uint32_t tn_operands_merge(struct tn_operand *const *operands, uint32_t n, uint32_t first,
			   uint32_t last);

/* Reorders axes [first, last) so that the strides of operands[leader] fall; for calls in which the
 * order of those axes does not matter. */
void tn_operands_sort(struct tn_operand *const *operands, uint32_t n, uint32_t leader,
		      uint32_t first, uint32_t last);

/* How two arrays overlap. */
enum tn_overlap {
	TN_OVERLAP_NONE,
	TN_OVERLAP_SAME,    /* the exact same view, once b is broadcast to a's shape */
	TN_OVERLAP_PARTIAL, /* or not cheap to decide */
};
enum tn_overlap tn_array_overlap(const tn_array *a, const tn_array *b);

#endif
