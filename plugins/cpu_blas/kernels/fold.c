/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Folds in the accumulator types of reductions: LANES partial results, the same number on every
 * level of the processor, combined in pairs.  So the bits depend on the length alone.
 */
#include "variant.h"

#define T float
#define U float
#define LANES 64
#define OF(name) name##_f32
#define LOWEST (-__builtin_inff())
#define HIGHEST __builtin_inff()
#define IS_NAN(x) ((x) != (x))
#include "fold_type.h"

#define T double
#define U double
#define LANES 32
#define OF(name) name##_f64
#define LOWEST (-__builtin_inf())
#define HIGHEST __builtin_inf()
#define IS_NAN(x) ((x) != (x))
#include "fold_type.h"

#define T int64_t
#define U uint64_t
#define LANES 32
#define OF(name) name##_i64
#define LOWEST INT64_MIN
#define HIGHEST INT64_MAX
#define IS_NAN(x) 0
#include "fold_type.h"

const struct cpu_fold_row VARIANT(cpu_folds)[] = {
	{TN_REDUCE_SUM, TN_COLUMN_F32, sum_f32},
	{TN_REDUCE_PRODUCT, TN_COLUMN_F32, product_f32},
	{TN_REDUCE_MAX, TN_COLUMN_F32, max_f32},
	{TN_REDUCE_MIN, TN_COLUMN_F32, min_f32},
	{TN_REDUCE_SUM, TN_COLUMN_F64, sum_f64},
	{TN_REDUCE_PRODUCT, TN_COLUMN_F64, product_f64},
	{TN_REDUCE_MAX, TN_COLUMN_F64, max_f64},
	{TN_REDUCE_MIN, TN_COLUMN_F64, min_f64},
	{TN_REDUCE_SUM, TN_COLUMN_I64, sum_i64},
	{TN_REDUCE_PRODUCT, TN_COLUMN_I64, product_i64},
	{TN_REDUCE_MAX, TN_COLUMN_I64, max_i64},
	{TN_REDUCE_MIN, TN_COLUMN_I64, min_i64},
	{0},
};
