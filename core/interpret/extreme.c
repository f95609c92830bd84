/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The kernels of ARGMAX and ARGMIN for every column; bool has no fold of its own: its values are
 * compared one by one.
 */
#include "interpret/extreme.h"

#include <string.h>

#include "interpret/block.h"
#include "interpret/move.h"

#define T uint8_t
#define IS_NAN(x) 0
#define BEATS(x, y) ((x) > (y))
#define NAME(x) largest_##x##_bool
#include "interpret/extreme_template.h"
#define BEATS(x, y) ((x) < (y))
#define NAME(x) smallest_##x##_bool
#include "interpret/extreme_template.h"
#undef T
#undef IS_NAN

#define T int32_t
#define IS_NAN(x) 0
#define BEATS(x, y) ((x) > (y))
#define NAME(x) largest_##x##_i32
#include "interpret/extreme_template.h"
#define BEATS(x, y) ((x) < (y))
#define NAME(x) smallest_##x##_i32
#include "interpret/extreme_template.h"
#undef T
#undef IS_NAN

#define T uint32_t
#define IS_NAN(x) 0
#define BEATS(x, y) ((x) > (y))
#define NAME(x) largest_##x##_u32
#include "interpret/extreme_template.h"
#define BEATS(x, y) ((x) < (y))
#define NAME(x) smallest_##x##_u32
#include "interpret/extreme_template.h"
#undef T
#undef IS_NAN

#define T int64_t
#define IS_NAN(x) 0
#define BEATS(x, y) ((x) > (y))
#define NAME(x) largest_##x##_i64
#include "interpret/extreme_template.h"
#define BEATS(x, y) ((x) < (y))
#define NAME(x) smallest_##x##_i64
#include "interpret/extreme_template.h"
#undef T
#undef IS_NAN

#define T float
#define IS_NAN(x) ((x) != (x))
#define BEATS(x, y) ((x) > (y))
#define NAME(x) largest_##x##_f32
#include "interpret/extreme_template.h"
#define BEATS(x, y) ((x) < (y))
#define NAME(x) smallest_##x##_f32
#include "interpret/extreme_template.h"
#undef T
#undef IS_NAN

#define T double
#define IS_NAN(x) ((x) != (x))
#define BEATS(x, y) ((x) > (y))
#define NAME(x) largest_##x##_f64
#include "interpret/extreme_template.h"
#define BEATS(x, y) ((x) < (y))
#define NAME(x) smallest_##x##_f64
#include "interpret/extreme_template.h"
#undef T
#undef IS_NAN

#define KERNELS(d, t)                                                                              \
	{                                                                                          \
		d##_step_##t, d##_fold_##t, d##_join_##t                                           \
	}

static const struct tn_extreme table[2][TN_COLUMNS] = {
	{
		[TN_COLUMN_BOOL] = KERNELS(smallest, bool),
		[TN_COLUMN_I32] = KERNELS(smallest, i32),
		[TN_COLUMN_U32] = KERNELS(smallest, u32),
		[TN_COLUMN_I64] = KERNELS(smallest, i64),
		[TN_COLUMN_F32] = KERNELS(smallest, f32),
		[TN_COLUMN_F64] = KERNELS(smallest, f64),
	},
	{
		[TN_COLUMN_BOOL] = KERNELS(largest, bool),
		[TN_COLUMN_I32] = KERNELS(largest, i32),
		[TN_COLUMN_U32] = KERNELS(largest, u32),
		[TN_COLUMN_I64] = KERNELS(largest, i64),
		[TN_COLUMN_F32] = KERNELS(largest, f32),
		[TN_COLUMN_F64] = KERNELS(largest, f64),
	},
};

const struct tn_extreme *tn_extreme_kernels(int column, int largest)
{
	return &table[largest != 0][column];
}
