/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What kind of numbers a dtype has.
 */
#ifndef CPU_DTYPE_H
#define CPU_DTYPE_H

#include <tenon/backend.h>

/* The kinds of numbers, bits; 0: no dtype that is known here. */
enum {
	CPU_BOOL = 1u << 0,
	CPU_SIGNED = 1u << 1,
	CPU_UNSIGNED = 1u << 2,
	CPU_FLOATING = 1u << 3,
	CPU_COMPLEX = 1u << 4,
	CPU_INTEGER = CPU_SIGNED | CPU_UNSIGNED,
	CPU_REAL = CPU_BOOL | CPU_INTEGER | CPU_FLOATING, /* what programs read and write */
};

static inline unsigned cpu_kind(tn_dtype dtype)
{
	static const uint8_t kinds[] = {
		[TN_BOOL] = CPU_BOOL,    [TN_I8] = CPU_SIGNED,     [TN_I16] = CPU_SIGNED,
		[TN_I32] = CPU_SIGNED,   [TN_I64] = CPU_SIGNED,    [TN_U8] = CPU_UNSIGNED,
		[TN_U16] = CPU_UNSIGNED, [TN_U32] = CPU_UNSIGNED,  [TN_U64] = CPU_UNSIGNED,
		[TN_F16] = CPU_FLOATING, [TN_BF16] = CPU_FLOATING, [TN_F32] = CPU_FLOATING,
		[TN_F64] = CPU_FLOATING, [TN_C64] = CPU_COMPLEX,   [TN_C128] = CPU_COMPLEX,
	};
	return dtype > 0 && (size_t)dtype < sizeof(kinds) ? kinds[dtype] : 0;
}

#endif
