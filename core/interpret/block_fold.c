/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Folds for the columns in which reductions accumulate.  i32 and u32 wrap; bool has no fold,
 * because its accumulator is i64.
 */
#include "interpret/block.h"

#include <math.h>

#define T int32_t
#define A uint32_t
#define LANES 16
#define NAME(x) x##_i32
#define IS_NAN(x) 0
#define LOWEST INT32_MIN
#define HIGHEST INT32_MAX
#include "interpret/block_fold.h"
#undef T
#undef A
#undef LANES
#undef NAME
#undef IS_NAN
#undef LOWEST
#undef HIGHEST

#define T uint32_t
#define A uint32_t
#define LANES 16
#define NAME(x) x##_u32
#define IS_NAN(x) 0
#define LOWEST 0
#define HIGHEST UINT32_MAX
#include "interpret/block_fold.h"
#undef T
#undef A
#undef LANES
#undef NAME
#undef IS_NAN
#undef LOWEST
#undef HIGHEST

#define T int64_t
#define A uint64_t
#define LANES 8
#define NAME(x) x##_i64
#define IS_NAN(x) 0
#define LOWEST INT64_MIN
#define HIGHEST INT64_MAX
#include "interpret/block_fold.h"
#undef T
#undef A
#undef LANES
#undef NAME
#undef IS_NAN
#undef LOWEST
#undef HIGHEST

#define T float
#define A float
#define LANES 16
#define NAME(x) x##_f32
#define IS_NAN(x) ((x) != (x))
#define LOWEST (-INFINITY)
#define HIGHEST INFINITY
#include "interpret/block_fold.h"
#undef T
#undef A
#undef LANES
#undef NAME
#undef IS_NAN
#undef LOWEST
#undef HIGHEST

#define T double
#define A double
#define LANES 8
#define NAME(x) x##_f64
#define IS_NAN(x) ((x) != (x))
#define LOWEST (-(double)INFINITY)
#define HIGHEST (double)INFINITY
#include "interpret/block_fold.h"

#define ROW(name)                                                                                  \
	{                                                                                          \
		NULL, name##_i32, name##_u32, name##_i64, name##_f32, name##_f64                   \
	}

const tn_fold_fn tn_block_folds[8][TN_COLUMNS] = {
	[TN_REDUCE_SUM] = ROW(sum),
	[TN_REDUCE_PRODUCT] = ROW(product),
	[TN_REDUCE_MAX] = ROW(max),
	[TN_REDUCE_MIN] = ROW(min),
};

const tn_fold_rows_fn tn_block_row_folds[8][TN_COLUMNS] = {
	[TN_REDUCE_SUM] = ROW(rows_sum),
	[TN_REDUCE_PRODUCT] = ROW(rows_product),
	[TN_REDUCE_MAX] = ROW(rows_max),
	[TN_REDUCE_MIN] = ROW(rows_min),
};
