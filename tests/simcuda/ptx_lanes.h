/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Lane functions: one elementary operation over the 32 lanes of a warp, as a loop that the compiler
 * turns into vector instructions.  They run over all lanes; the caller preserves inactive lanes.
 * Each family is a list of rows (name, types of the result and of the operands, expression in x, y,
 * z, w), and the decoder finds them by name.
 */
#ifndef SIMCUDA_PTX_LANES_H
#define SIMCUDA_PTX_LANES_H

#include <stddef.h>
#include <stdint.h>

#define PTX_LANES 32

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
typedef float f32;
typedef double f64;
typedef unsigned __int128 u128;
typedef __int128 s128;

/* The result may be the same register as an operand, and does not overlap otherwise. */
typedef void (*ptx_lanes)(void *d, const void *const s[4]);

struct ptx_lane_entry {
	const char *name;
	ptx_lanes run;
};

/* One of these tables exists for each level of the processor that the families are compiled for. */
struct ptx_lane_family {
	const struct ptx_lane_entry *entries;
	size_t count;
};

/* NULL if no family has it. */
ptx_lanes ptx_find_lanes(const char *name);

/* How a row becomes a function, and a line of the family's table. */
#define LANE_FUNCTION(name, D, A, B, C, expression)                                                \
	static void name(void *result, const void *const s[4])                                     \
	{                                                                                          \
		D *d = result;                                                                     \
		const A *a = s[0];                                                                 \
		const B *b = s[1];                                                                 \
		const C *c = s[2];                                                                 \
		_Pragma("omp simd") for (int l = 0; l < PTX_LANES; l++)                            \
		{                                                                                  \
			const A x = a[l];                                                          \
			const B y = b[l];                                                          \
			const C z = c[l];                                                          \
			(void)x, (void)y, (void)z;                                                 \
			d[l] = (D)(expression);                                                    \
		}                                                                                  \
	}
#define LANE_ENTRY(name, D, A, B, C, expression) {#name, name},

#define LANE_JOIN2(a, b) a##_##b
#define LANE_JOIN(a, b) LANE_JOIN2(a, b)
/* NAME_v2, NAME_v3, ...: the family as compiled for one level. */
#define LANE_LEVEL(name) LANE_JOIN(name, PTX_LEVEL)

#endif
