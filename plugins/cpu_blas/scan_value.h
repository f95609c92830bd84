/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Elements as accumulators: floating ones as double, others as 64 bits, by the rules of the cast.
 */
#ifndef CPU_SCAN_VALUE_H
#define CPU_SCAN_VALUE_H

#include <string.h>
#include <tenon/plugin.h>

/* A NaN loses its payload. */
static inline uint16_t cpu_f16_of(float x)
{
	return x == x ? tn_plugin_f16_of_f32(x)
		      : (uint16_t)((tn_plugin_bits_of_f32(x) >> 16 & 0x8000) | 0x7e00);
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
		return dtype == TN_F16 ? tn_plugin_f32_of_f16(narrow)
				       : tn_plugin_f32_of_bf16(narrow);
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
		narrow = dtype == TN_F16 ? cpu_f16_of(single) : tn_plugin_bf16_of_f32(single);
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
