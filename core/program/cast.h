/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Promotion of element types, and the normative conversion between any two of them.
 */
#ifndef TN_PROGRAM_CAST_H
#define TN_PROGRAM_CAST_H

#include <string.h>

#include "base/dtype.h"

/* The common dtype of two, for programs and arrays alike (NumPy's and PyTorch's rules):
 *   bool with x is x; two signed, two unsigned or two floating types: the wider;
 *   signed with unsigned: the narrowest signed type that holds both, i64 where none does;
 *   integer with floating: the floating one; f16 with bf16: f32.
 * 0 when one is complex or unknown. */
tn_dtype tn_promote(tn_dtype a, tn_dtype b);

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

/* Between bit patterns and C's types. */
static inline float tn_f32_of_bits(uint64_t bits)
{
	uint32_t word = (uint32_t)bits;
	float value;
	memcpy(&value, &word, sizeof(value));
	return value;
}

static inline uint64_t tn_bits_of_f32(float value)
{
	uint32_t word;
	memcpy(&word, &value, sizeof(word));
	return word;
}

static inline double tn_f64_of_bits(uint64_t bits)
{
	double value;
	memcpy(&value, &bits, sizeof(value));
	return value;
}

static inline uint64_t tn_bits_of_f64(double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/* f16 and bf16: exact to f32, to nearest with ties to even from it. */
float tn_f32_of_f16(uint16_t half);
uint16_t tn_f16_of_f32(float value);
float tn_f32_of_bf16(uint16_t brain);
uint16_t tn_bf16_of_f32(float value);

#endif
