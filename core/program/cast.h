/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Promotion of element types, and the normative conversion between any two of them.
 */
#ifndef TN_PROGRAM_CAST_H
#define TN_PROGRAM_CAST_H

#include "base/bits.h"
#include "base/dtype.h"

/* The common dtype of two, for programs and arrays alike (NumPy's and PyTorch's rules):
 *   bool with x is x; two signed, two unsigned or two floating types: the wider;
 *   signed with unsigned: the narrowest signed type that holds both, i64 where none does;
 *   integer with floating: the floating one; f16 with bf16: f32.
 * 0 when one is complex or unknown. */
tn_dtype tn_promote(tn_dtype a, tn_dtype b);

/* May a result of dtype `from` be stored as `to` without a cast by name?  As NumPy's "same_kind":
 * within a kind, or to a higher one in the order bool, unsigned, signed, floating, complex. */
int tn_is_same_kind(tn_dtype from, tn_dtype to);

/* Converts a value's bit pattern (low bytes; the rest is ignored) from one dtype to another; the
 * upper bytes of the result are 0.  All but complex dtypes:
 *   to bool                x != 0 (NaN gives 1)          from bool   0 or 1
 *   integer to integer     modulo 2^width
 *   integer to floating    to nearest, ties to even
 *   floating to integer    toward zero; saturates; NaN gives 0
 *   floating to floating   to nearest, ties to even; a NaN stays a NaN
 *   to f16 and bf16        through f32: rounded to f32 first
 * Complex or unknown dtypes give 0. */
uint64_t tn_cast_bits(tn_dtype from, tn_dtype to, uint64_t bits);

#endif
