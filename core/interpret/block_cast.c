/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The conversions between storage dtypes.
 */
#include "interpret/block.h"

#include "base/bits.h"
#include "program/cast.h"

#define BLOCK void *dst, const void *a, const void *b, const void *c, size_t n

#define FROM uint8_t
#define VALUE uint8_t
#define LOAD(x) (uint8_t)((x) != 0)
#define IS_FLOATING 0
#define NAME(x) bool_##x
#include "interpret/block_cast.h"

#define FROM int8_t
#define VALUE int8_t
#define LOAD(x) (x)
#define IS_FLOATING 0
#define NAME(x) i8_##x
#include "interpret/block_cast.h"

#define FROM int16_t
#define VALUE int16_t
#define LOAD(x) (x)
#define IS_FLOATING 0
#define NAME(x) i16_##x
#include "interpret/block_cast.h"

#define FROM int32_t
#define VALUE int32_t
#define LOAD(x) (x)
#define IS_FLOATING 0
#define NAME(x) i32_##x
#include "interpret/block_cast.h"

#define FROM int64_t
#define VALUE int64_t
#define LOAD(x) (x)
#define IS_FLOATING 0
#define NAME(x) i64_##x
#include "interpret/block_cast.h"

#define FROM uint8_t
#define VALUE uint8_t
#define LOAD(x) (x)
#define IS_FLOATING 0
#define NAME(x) u8_##x
#include "interpret/block_cast.h"

#define FROM uint16_t
#define VALUE uint16_t
#define LOAD(x) (x)
#define IS_FLOATING 0
#define NAME(x) u16_##x
#include "interpret/block_cast.h"

#define FROM uint32_t
#define VALUE uint32_t
#define LOAD(x) (x)
#define IS_FLOATING 0
#define NAME(x) u32_##x
#include "interpret/block_cast.h"

#define FROM uint64_t
#define VALUE uint64_t
#define LOAD(x) (x)
#define IS_FLOATING 0
#define NAME(x) u64_##x
#include "interpret/block_cast.h"

#define FROM uint16_t
#define VALUE float
#define LOAD(x) tn_f32_of_f16(x)
#define IS_FLOATING 1
#define NAME(x) f16_##x
#include "interpret/block_cast.h"

#define FROM uint16_t
#define VALUE float
#define LOAD(x) tn_f32_of_bf16(x)
#define IS_FLOATING 1
#define NAME(x) bf16_##x
#include "interpret/block_cast.h"

#define FROM float
#define VALUE float
#define LOAD(x) (x)
#define IS_FLOATING 1
#define NAME(x) f32_##x
#include "interpret/block_cast.h"

#define FROM double
#define VALUE double
#define LOAD(x) (x)
#define IS_FLOATING 1
#define NAME(x) f64_##x
#include "interpret/block_cast.h"

static const tn_block_fn *const rows[TN_DTYPES] = {
	[TN_BOOL] = bool_casts, [TN_I8] = i8_casts,   [TN_I16] = i16_casts,   [TN_I32] = i32_casts,
	[TN_I64] = i64_casts,   [TN_U8] = u8_casts,   [TN_U16] = u16_casts,   [TN_U32] = u32_casts,
	[TN_U64] = u64_casts,   [TN_F16] = f16_casts, [TN_BF16] = bf16_casts, [TN_F32] = f32_casts,
	[TN_F64] = f64_casts,
};

tn_block_fn tn_block_cast(uint32_t from, uint32_t to)
{
	if (from >= TN_DTYPES || to >= TN_DTYPES || from == to || !rows[from])
		return NULL;
	return rows[from][to];
}
