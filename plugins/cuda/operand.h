/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Operands as kernels see them.
 */
#ifndef CUDA_OPERAND_H
#define CUDA_OPERAND_H

#include "plugin.h"

/* The stored dtypes, and those that programs compute in. */
#define CUDA_STORAGE TN_PLUGIN_ALL_DTYPES
#define CUDA_COMPUTES                                                                              \
	(TN_PLUGIN_DTYPE(TN_BOOL) | TN_PLUGIN_DTYPE(TN_I32) | TN_PLUGIN_DTYPE(TN_U32) |            \
	 TN_PLUGIN_DTYPE(TN_I64) | TN_PLUGIN_DTYPE(TN_F32) | TN_PLUGIN_DTYPE(TN_F64))

/* The address of its first element. */
static inline uint64_t cuda_address(const struct tn_operand *operand)
{
	return operand->buffer + operand->offset;
}

static inline uint64_t cuda_view_address(const struct tn_plugin_view *view)
{
	return view->buffer + view->offset;
}

/* The same without an axis: an operand with one element per position on it. */
struct tn_operand cuda_without_axis(const struct tn_operand *operand, uint32_t axis);
/* The unsigned dtype of the same size, for kernels that only move elements; those of 16 bytes
 * stay. */
tn_dtype cuda_bits_dtype(tn_dtype dtype);

#endif
