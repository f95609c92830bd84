/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The portable block kernels: plain C, one function per opcode and column, that agree with
 * tn_op_evaluate.  Rows that an opcode does not have for a column are NULL, so the table also
 * defines what programs may do.
 */
#ifndef TN_INTERPRET_BLOCK_H
#define TN_INTERPRET_BLOCK_H

#include <tenon/backend.h>

/* The iterations of the loop that follows are independent, though destination and source may be the
 * same block. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed" /* a loop over libm is not vectorised */
#define TN_BLOCK_LOOP _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define TN_BLOCK_LOOP _Pragma("GCC ivdep")
#else
#define TN_BLOCK_LOOP
#endif

/* The kernel of an opcode for a column, NULL where programs have none. */
tn_block_fn tn_block_operation(uint32_t op, int column);

/* The conversion between two storage dtypes; NULL for equal or unknown ones. */
tn_block_fn tn_block_cast(uint32_t from, uint32_t to);

/* The plain copy of elements of 1, 4 or 8 bytes: a cast to the same dtype. */
tn_block_fn tn_block_copy(size_t size);

/* The fold of a combiner, sum to min, for a column; NULL for others. */
tn_fold_fn tn_block_fold(uint32_t combiner, int column);

/* acc[r] := combiner over src[r * length ... (r + 1) * length - 1] and acc[r],
 * one by one in order. */
typedef void (*tn_fold_rows_fn)(void *acc, const void *src, size_t rows, size_t length);

/* The fold of many short rows; NULL where tn_block_fold is. */
tn_fold_rows_fn tn_block_fold_rows(uint32_t combiner, int column);

/* The column of a dtype that programs compute in; -1 for others. */
int tn_block_column(uint32_t dtype);

/* Is the portable fused multiply-add one instruction here? */
int tn_block_fma_is_fast(void);

/* The tables behind these, each in a file of its own: a column of operations by opcode, a column of
 * folds by combiner, the casts from a dtype. */
extern const tn_block_fn tn_block_bool[TN_OP_COUNT];
extern const tn_block_fn tn_block_i32[TN_OP_COUNT];
extern const tn_block_fn tn_block_u32[TN_OP_COUNT];
extern const tn_block_fn tn_block_i64[TN_OP_COUNT];
extern const tn_block_fn tn_block_f32[TN_OP_COUNT];
extern const tn_block_fn tn_block_f64[TN_OP_COUNT];
extern const tn_fold_fn tn_block_folds[8][TN_COLUMNS];
extern const tn_fold_rows_fn tn_block_row_folds[8][TN_COLUMNS];

/* RANDOM and NORMAL. */
void tn_block_random(void *dst, const void *a, const void *b, const void *c, size_t n);
void tn_block_normal(void *dst, const void *a, const void *b, const void *c, size_t n);

#endif
