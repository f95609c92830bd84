/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Arithmetic, bits, comparison and selection of i32, u32 and i64.
 */
#include "variant.h"

#define T int32_t
#define U uint32_t
#define WIDTH 32
#define OF(name) name##_i32
#include "integer_type.h"

#define T uint32_t
#define U uint32_t
#define WIDTH 32
#define OF(name) name##_u32
#include "integer_type.h"

#define T int64_t
#define U uint64_t
#define WIDTH 64
#define OF(name) name##_i64
#include "integer_type.h"

const struct cpu_row VARIANT(cpu_rows_integer)[] = {
	{TN_OP_ADD, TN_COLUMN_I32, add_i32},       {TN_OP_SUB, TN_COLUMN_I32, sub_i32},
	{TN_OP_MUL, TN_COLUMN_I32, mul_i32},       {TN_OP_NEG, TN_COLUMN_I32, neg_i32},
	{TN_OP_MIN, TN_COLUMN_I32, min_i32},       {TN_OP_MAX, TN_COLUMN_I32, max_i32},
	{TN_OP_AND, TN_COLUMN_I32, and_i32},       {TN_OP_OR, TN_COLUMN_I32, or_i32},
	{TN_OP_XOR, TN_COLUMN_I32, xor_i32},       {TN_OP_NOT, TN_COLUMN_I32, not_i32},
	{TN_OP_SHL, TN_COLUMN_I32, shl_i32},       {TN_OP_SHR, TN_COLUMN_I32, shr_i32},
	{TN_OP_EQ, TN_COLUMN_I32, eq_i32},         {TN_OP_NE, TN_COLUMN_I32, ne_i32},
	{TN_OP_LT, TN_COLUMN_I32, lt_i32},         {TN_OP_LE, TN_COLUMN_I32, le_i32},
	{TN_OP_GT, TN_COLUMN_I32, gt_i32},         {TN_OP_GE, TN_COLUMN_I32, ge_i32},
	{TN_OP_SELECT, TN_COLUMN_I32, select_i32}, {TN_OP_ADD, TN_COLUMN_U32, add_u32},
	{TN_OP_SUB, TN_COLUMN_U32, sub_u32},       {TN_OP_MUL, TN_COLUMN_U32, mul_u32},
	{TN_OP_NEG, TN_COLUMN_U32, neg_u32},       {TN_OP_MIN, TN_COLUMN_U32, min_u32},
	{TN_OP_MAX, TN_COLUMN_U32, max_u32},       {TN_OP_AND, TN_COLUMN_U32, and_u32},
	{TN_OP_OR, TN_COLUMN_U32, or_u32},         {TN_OP_XOR, TN_COLUMN_U32, xor_u32},
	{TN_OP_NOT, TN_COLUMN_U32, not_u32},       {TN_OP_SHL, TN_COLUMN_U32, shl_u32},
	{TN_OP_SHR, TN_COLUMN_U32, shr_u32},       {TN_OP_EQ, TN_COLUMN_U32, eq_u32},
	{TN_OP_NE, TN_COLUMN_U32, ne_u32},         {TN_OP_LT, TN_COLUMN_U32, lt_u32},
	{TN_OP_LE, TN_COLUMN_U32, le_u32},         {TN_OP_GT, TN_COLUMN_U32, gt_u32},
	{TN_OP_GE, TN_COLUMN_U32, ge_u32},         {TN_OP_SELECT, TN_COLUMN_U32, select_u32},
	{TN_OP_ADD, TN_COLUMN_I64, add_i64},       {TN_OP_SUB, TN_COLUMN_I64, sub_i64},
	{TN_OP_MUL, TN_COLUMN_I64, mul_i64},       {TN_OP_NEG, TN_COLUMN_I64, neg_i64},
	{TN_OP_MIN, TN_COLUMN_I64, min_i64},       {TN_OP_MAX, TN_COLUMN_I64, max_i64},
	{TN_OP_AND, TN_COLUMN_I64, and_i64},       {TN_OP_OR, TN_COLUMN_I64, or_i64},
	{TN_OP_XOR, TN_COLUMN_I64, xor_i64},       {TN_OP_NOT, TN_COLUMN_I64, not_i64},
	{TN_OP_SHL, TN_COLUMN_I64, shl_i64},       {TN_OP_SHR, TN_COLUMN_I64, shr_i64},
	{TN_OP_EQ, TN_COLUMN_I64, eq_i64},         {TN_OP_NE, TN_COLUMN_I64, ne_i64},
	{TN_OP_LT, TN_COLUMN_I64, lt_i64},         {TN_OP_LE, TN_COLUMN_I64, le_i64},
	{TN_OP_GT, TN_COLUMN_I64, gt_i64},         {TN_OP_GE, TN_COLUMN_I64, ge_i64},
	{TN_OP_SELECT, TN_COLUMN_I64, select_i64}, {0},
};
