/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Finds portable kernels by number; NULL for an unknown number.
 */
#include "interpret/block.h"

#include "program/random.h"

#include <string.h>

static const tn_block_fn *const columns[TN_COLUMNS] = {
	[TN_COLUMN_BOOL] = tn_block_bool, [TN_COLUMN_I32] = tn_block_i32,
	[TN_COLUMN_U32] = tn_block_u32,   [TN_COLUMN_I64] = tn_block_i64,
	[TN_COLUMN_F32] = tn_block_f32,   [TN_COLUMN_F64] = tn_block_f64,
};

static void copy_1(void *dst, const void *a, const void *b, const void *c, size_t n)
{
	(void)b, (void)c;
	if (dst != a)
		memcpy(dst, a, n);
}

static void copy_4(void *dst, const void *a, const void *b, const void *c, size_t n)
{
	(void)b, (void)c;
	if (dst != a)
		memcpy(dst, a, 4 * n);
}

static void copy_8(void *dst, const void *a, const void *b, const void *c, size_t n)
{
	(void)b, (void)c;
	if (dst != a)
		memcpy(dst, a, 8 * n);
}

tn_block_fn tn_block_copy(size_t size)
{
	return size == 1 ? copy_1 : size == 4 ? copy_4 : copy_8;
}

tn_block_fn tn_block_operation(uint32_t op, int column)
{
	if (op >= TN_OP_COUNT || column < 0 || column >= TN_COLUMNS)
		return NULL;
	if (op == TN_OP_RANDOM && column == TN_COLUMN_I64)
		return tn_block_random;
	if (op == TN_OP_NORMAL && column == TN_COLUMN_U32)
		return tn_block_normal;
	if (op == TN_OP_BITCAST &&
	    (column == TN_COLUMN_I32 || column == TN_COLUMN_U32 || column == TN_COLUMN_F32))
		return copy_4;
	return columns[column][op];
}

tn_fold_fn tn_block_fold(uint32_t combiner, int column)
{
	if (combiner >= 8 || column < 0 || column >= TN_COLUMNS)
		return NULL;
	return tn_block_folds[combiner][column];
}

tn_fold_rows_fn tn_block_fold_rows(uint32_t combiner, int column)
{
	if (combiner >= 8 || column < 0 || column >= TN_COLUMNS)
		return NULL;
	return tn_block_row_folds[combiner][column];
}

int tn_block_column(uint32_t dtype)
{
	switch (dtype) {
	case TN_BOOL:
		return TN_COLUMN_BOOL;
	case TN_I32:
		return TN_COLUMN_I32;
	case TN_U32:
		return TN_COLUMN_U32;
	case TN_I64:
		return TN_COLUMN_I64;
	case TN_F32:
		return TN_COLUMN_F32;
	case TN_F64:
		return TN_COLUMN_F64;
	default:
		return -1;
	}
}

int tn_block_fma_is_fast(void)
{
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
	return 1;
#else
	return 0;
#endif
}

void tn_block_random(void *dst, const void *a, const void *b, const void *c, size_t n)
{
	const uint64_t *seed = a, *stream = b, *index = c;
	uint32_t *d = dst;
	for (size_t i = 0; i < n;) {
		/* The elements from i on that draw consecutive numbers of one seed and stream. */
		size_t length = 1;
		while (i + length < n && seed[i + length] == seed[i] &&
		       stream[i + length] == stream[i] && index[i + length] == index[i] + length)
			length++;
		tn_random_block(seed[i], stream[i], index[i], d + i, length);
		i += length;
	}
}

void tn_block_normal(void *dst, const void *a, const void *b, const void *c, size_t n)
{
	(void)b, (void)c;
	tn_normal_block(a, dst, n);
}
