/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Elements as accumulators: floating ones as double, others as 64 bits, by the rules of the cast.
 */
#ifndef CPU_SCAN_VALUE_H
#define CPU_SCAN_VALUE_H

#include <string.h>
#include <tenon/backend.h>

static inline float cpu_float_of(uint32_t bits)
{
	float x;
	memcpy(&x, &bits, sizeof(x));
	return x;
}

static inline uint32_t cpu_bits_of(float x)
{
	uint32_t bits;
	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

static inline float cpu_float_of_f16(uint16_t half)
{
	uint32_t sign = (half & 0x8000u) << 16, exponent = half >> 10 & 31, fraction = half & 1023;
	if (exponent == 0)
		return cpu_float_of(sign | cpu_bits_of((float)fraction * 0x1p-24f));
	return cpu_float_of(sign | (exponent == 31 ? 255 : exponent + 112) << 23 | fraction << 13);
}

/* To nearest, ties to even. */
static inline uint16_t cpu_f16_of(float x)
{
	uint32_t bits = cpu_bits_of(x), sign = bits >> 16 & 0x8000;
	bits &= 0x7fffffff;
	if (bits > 0x7f800000)
		return (uint16_t)(sign | 0x7e00);
	if (bits >= 0x47800000)
		return (uint16_t)(sign | 0x7c00);
	/* Between 0.5 and 1 a float has steps of 2^-24, which are f16's in its subnormal range. */
	if (bits < 0x38800000)
		return (uint16_t)(sign | (cpu_bits_of(cpu_float_of(bits) + 0.5f) - 0x3f000000));
	bits += 0xc8000fffu + (bits >> 13 & 1);
	return (uint16_t)(sign | bits >> 13);
}

static inline uint16_t cpu_bf16_of(float x)
{
	uint32_t bits = cpu_bits_of(x);
	if (x != x)
		return (uint16_t)(bits >> 16 | 0x40);
	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static inline __attribute__((always_inline)) double cpu_real_at(const char *at, tn_dtype dtype)
{
	uint16_t narrow;
	float single;
	double wide;
	switch (dtype) {
	case TN_F32:
		memcpy(&single, at, sizeof(single));
		return single;
	case TN_F64:
		memcpy(&wide, at, sizeof(wide));
		return wide;
	default:
		memcpy(&narrow, at, sizeof(narrow));
		return dtype == TN_F16 ? cpu_float_of_f16(narrow)
				       : cpu_float_of((uint32_t)narrow << 16);
	}
}

static inline __attribute__((always_inline)) void cpu_real_to(char *at, tn_dtype dtype, double wide)
{
	float single = (float)wide;
	uint16_t narrow;
	switch (dtype) {
	case TN_F32:
		memcpy(at, &single, sizeof(single));
		return;
	case TN_F64:
		memcpy(at, &wide, sizeof(wide));
		return;
	default:
		narrow = dtype == TN_F16 ? cpu_f16_of(single) : cpu_bf16_of(single);
		memcpy(at, &narrow, sizeof(narrow));
	}
}

static inline __attribute__((always_inline)) uint64_t cpu_whole_at(const char *at, tn_dtype dtype)
{
	uint8_t b1;
	uint16_t b2;
	uint32_t b4;
	uint64_t b8;
	switch (tn_dtype_size(dtype)) {
	case 1:
		memcpy(&b1, at, 1);
		return dtype == TN_I8 ? (uint64_t)(int8_t)b1 : b1;
	case 2:
		memcpy(&b2, at, 2);
		return dtype == TN_I16 ? (uint64_t)(int16_t)b2 : b2;
	case 4:
		memcpy(&b4, at, 4);
		return dtype == TN_I32 ? (uint64_t)(int32_t)b4 : b4;
	default:
		memcpy(&b8, at, 8);
		return b8;
	}
}

static inline __attribute__((always_inline)) void cpu_whole_to(char *at, tn_dtype dtype,
							       uint64_t b8)
{
	uint8_t b1 = (uint8_t)(dtype == TN_BOOL ? b8 != 0 : b8);
	uint16_t b2 = (uint16_t)b8;
	uint32_t b4 = (uint32_t)b8;
	switch (tn_dtype_size(dtype)) {
	case 1:
		memcpy(at, &b1, 1);
		return;
	case 2:
		memcpy(at, &b2, 2);
		return;
	case 4:
		memcpy(at, &b4, 4);
		return;
	default:
		memcpy(at, &b8, 8);
	}
}

#endif
