/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The properties of every dtype, in one table, and predicates on them.  A number that is not a
 * dtype has no kind: every predicate returns 0 for it.
 */
#ifndef TN_BASE_DTYPE_H
#define TN_BASE_DTYPE_H

#include <tenon/backend.h>

/* Bits, so that one test covers several kinds. */
enum tn_dtype_kind {
	TN_KIND_BOOL = 1u << 0,
	TN_KIND_SIGNED = 1u << 1,
	TN_KIND_UNSIGNED = 1u << 2,
	TN_KIND_FLOATING = 1u << 3,
	TN_KIND_COMPLEX = 1u << 4,
	TN_KIND_INTEGER = TN_KIND_SIGNED | TN_KIND_UNSIGNED,
};

/* The size is in tn_dtype_size, which plugins need too. */
struct tn_dtype_info {
	const char *name;
	uint8_t kind; /* 0: no such dtype */
	/* The dtype in which programs compute values stored as this one; 0: none. */
	uint8_t compute;
	uint8_t digits; /* significand bits of a floating dtype, with the leading one; else 0 */
	/* Of a floating dtype, else NULL: the value of a bit pattern, exact; and the bit pattern of
	 * a value, to nearest with ties to even (f16 and bf16 round to f32 first). */
	double (*value_of)(uint64_t bits);
	uint64_t (*bits_of)(double value);
};

extern const struct tn_dtype_info tn_dtype_table[TN_DTYPES];

/* Never NULL; an unknown number has the name "unknown" and no kind. */
static inline const struct tn_dtype_info *tn_dtype_information(tn_dtype dtype)
{
	return &tn_dtype_table[dtype > 0 && dtype < TN_DTYPES ? dtype : 0];
}

static inline int tn_is_floating(tn_dtype dtype) /* f16, bf16, f32, f64 */
{
	return tn_dtype_information(dtype)->kind == TN_KIND_FLOATING;
}

static inline int tn_is_integer(tn_dtype dtype) /* i8 to i64, u8 to u64; not bool */
{
	return (tn_dtype_information(dtype)->kind & TN_KIND_INTEGER) != 0;
}

static inline int tn_is_unsigned(tn_dtype dtype) /* u8 to u64 */
{
	return tn_dtype_information(dtype)->kind == TN_KIND_UNSIGNED;
}

static inline int tn_is_complex(tn_dtype dtype) /* c64, c128 */
{
	return tn_dtype_information(dtype)->kind == TN_KIND_COMPLEX;
}

/* The dtype of the parts: f32 of c64, f64 of c128; any other itself. */
static inline tn_dtype tn_real_dtype(tn_dtype dtype)
{
	return dtype == TN_C64 ? TN_F32 : dtype == TN_C128 ? TN_F64 : dtype;
}

/* c64 for f32, c128 for f64; any other itself. */
static inline tn_dtype tn_complex_dtype(tn_dtype dtype)
{
	return dtype == TN_F32 ? TN_C64 : dtype == TN_F64 ? TN_C128 : dtype;
}

static inline int tn_is_inexact(tn_dtype dtype) /* floating or complex: has gradients */
{
	return (tn_dtype_information(dtype)->kind & (TN_KIND_FLOATING | TN_KIND_COMPLEX)) != 0;
}

/* Floating, and wider in programs than in memory: f16, bf16. */
static inline int tn_is_narrow(tn_dtype dtype)
{
	const struct tn_dtype_info *info = tn_dtype_information(dtype);
	return info->kind == TN_KIND_FLOATING && info->compute != dtype;
}

/* The largest relative rounding error: 2^-digits; 0 for a dtype that is not floating. */
static inline double tn_half_unit(tn_dtype dtype)
{
	double unit = tn_is_floating(dtype);
	for (int i = tn_dtype_information(dtype)->digits; i > 0; i--)
		unit /= 2;
	return unit;
}

/* The dtype in which programs compute values stored as `storage`; 0: none (complex). */
static inline tn_dtype tn_compute_dtype(tn_dtype storage)
{
	return tn_dtype_information(storage)->compute;
}

/* One of bool, i32, u32, i64, f32, f64? */
static inline int tn_is_compute_dtype(tn_dtype dtype)
{
	return dtype && tn_compute_dtype(dtype) == dtype;
}

/* Does the dtype hold the number, without its fraction if it is an integer? */
int tn_dtype_holds(tn_dtype dtype, double value);

#endif
