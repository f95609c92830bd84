/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Rewrites operands: without an axis, or with the unsigned dtype of the same size.
 */
#include "operand.h"

struct tn_operand cuda_without_axis(const struct tn_operand *operand, uint32_t axis)
{
	struct tn_operand rest = *operand;
	rest.rank--;
	for (uint32_t d = axis; d < rest.rank; d++) {
		rest.shape[d] = operand->shape[d + 1];
		rest.strides[d] = operand->strides[d + 1];
	}
	return rest;
}

tn_dtype cuda_bits_dtype(tn_dtype dtype)
{
	const size_t size = tn_dtype_size(dtype);
	return size == 1   ? TN_U8
	       : size == 2 ? TN_U16
	       : size == 4 ? TN_U32
	       : size == 8 ? TN_U64
			   : dtype;
}
