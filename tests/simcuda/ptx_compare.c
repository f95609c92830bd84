/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Comparisons, whose result is a predicate (32 bits, all or none set), and choices by one.
 */
#include <math.h>

#include "ptx_levels.h"

#define WHERE(condition) (0 - (u32)(condition))

/* The ordered comparisons are false with a NaN, those that end in u are true. */
#define ROWS(X)                                                                                    \
	X(eq_b16, u32, u16, u16, u16, WHERE(x == y))                                               \
	X(eq_b32, u32, u32, u32, u32, WHERE(x == y))                                               \
	X(eq_b64, u32, u64, u64, u64, WHERE(x == y))                                               \
	X(ne_b16, u32, u16, u16, u16, WHERE(x != y))                                               \
	X(ne_b32, u32, u32, u32, u32, WHERE(x != y))                                               \
	X(ne_b64, u32, u64, u64, u64, WHERE(x != y))                                               \
	X(lt_u16, u32, u16, u16, u16, WHERE(x < y))                                                \
	X(lt_s16, u32, s16, s16, s16, WHERE(x < y))                                                \
	X(lt_u32, u32, u32, u32, u32, WHERE(x < y))                                                \
	X(lt_s32, u32, s32, s32, s32, WHERE(x < y))                                                \
	X(lt_u64, u32, u64, u64, u64, WHERE(x < y))                                                \
	X(lt_s64, u32, s64, s64, s64, WHERE(x < y))                                                \
	X(le_u16, u32, u16, u16, u16, WHERE(x <= y))                                               \
	X(le_s16, u32, s16, s16, s16, WHERE(x <= y))                                               \
	X(le_u32, u32, u32, u32, u32, WHERE(x <= y))                                               \
	X(le_s32, u32, s32, s32, s32, WHERE(x <= y))                                               \
	X(le_u64, u32, u64, u64, u64, WHERE(x <= y))                                               \
	X(le_s64, u32, s64, s64, s64, WHERE(x <= y))                                               \
	X(gt_u16, u32, u16, u16, u16, WHERE(x > y))                                                \
	X(gt_s16, u32, s16, s16, s16, WHERE(x > y))                                                \
	X(gt_u32, u32, u32, u32, u32, WHERE(x > y))                                                \
	X(gt_s32, u32, s32, s32, s32, WHERE(x > y))                                                \
	X(gt_u64, u32, u64, u64, u64, WHERE(x > y))                                                \
	X(gt_s64, u32, s64, s64, s64, WHERE(x > y))                                                \
	X(ge_u16, u32, u16, u16, u16, WHERE(x >= y))                                               \
	X(ge_s16, u32, s16, s16, s16, WHERE(x >= y))                                               \
	X(ge_u32, u32, u32, u32, u32, WHERE(x >= y))                                               \
	X(ge_s32, u32, s32, s32, s32, WHERE(x >= y))                                               \
	X(ge_u64, u32, u64, u64, u64, WHERE(x >= y))                                               \
	X(ge_s64, u32, s64, s64, s64, WHERE(x >= y))                                               \
	X(eq_f32, u32, f32, f32, f32, WHERE(x == y))                                               \
	X(ne_f32, u32, f32, f32, f32, WHERE((x < y) | (x > y)))                                    \
	X(lt_f32, u32, f32, f32, f32, WHERE(x < y))                                                \
	X(le_f32, u32, f32, f32, f32, WHERE(x <= y))                                               \
	X(gt_f32, u32, f32, f32, f32, WHERE(x > y))                                                \
	X(ge_f32, u32, f32, f32, f32, WHERE(x >= y))                                               \
	X(equ_f32, u32, f32, f32, f32, WHERE(!((x < y) | (x > y))))                                \
	X(neu_f32, u32, f32, f32, f32, WHERE(x != y))                                              \
	X(ltu_f32, u32, f32, f32, f32, WHERE(!(x >= y)))                                           \
	X(leu_f32, u32, f32, f32, f32, WHERE(!(x > y)))                                            \
	X(gtu_f32, u32, f32, f32, f32, WHERE(!(x <= y)))                                           \
	X(geu_f32, u32, f32, f32, f32, WHERE(!(x < y)))                                            \
	X(num_f32, u32, f32, f32, f32, WHERE((x == x) & (y == y)))                                 \
	X(nan_f32, u32, f32, f32, f32, WHERE((x != x) | (y != y)))                                 \
	X(eq_f64, u32, f64, f64, f64, WHERE(x == y))                                               \
	X(ne_f64, u32, f64, f64, f64, WHERE((x < y) | (x > y)))                                    \
	X(lt_f64, u32, f64, f64, f64, WHERE(x < y))                                                \
	X(le_f64, u32, f64, f64, f64, WHERE(x <= y))                                               \
	X(gt_f64, u32, f64, f64, f64, WHERE(x > y))                                                \
	X(ge_f64, u32, f64, f64, f64, WHERE(x >= y))                                               \
	X(equ_f64, u32, f64, f64, f64, WHERE(!((x < y) | (x > y))))                                \
	X(neu_f64, u32, f64, f64, f64, WHERE(x != y))                                              \
	X(ltu_f64, u32, f64, f64, f64, WHERE(!(x >= y)))                                           \
	X(leu_f64, u32, f64, f64, f64, WHERE(!(x > y)))                                            \
	X(gtu_f64, u32, f64, f64, f64, WHERE(!(x <= y)))                                           \
	X(geu_f64, u32, f64, f64, f64, WHERE(!(x < y)))                                            \
	X(num_f64, u32, f64, f64, f64, WHERE((x == x) & (y == y)))                                 \
	X(nan_f64, u32, f64, f64, f64, WHERE((x != x) | (y != y)))                                 \
	X(testp_finite_f32, u32, f32, f32, f32, WHERE(isfinite(x)))                                \
	X(testp_infinite_f32, u32, f32, f32, f32, WHERE(isinf(x)))                                 \
	X(testp_number_f32, u32, f32, f32, f32, WHERE(!isnan(x)))                                  \
	X(testp_notanumber_f32, u32, f32, f32, f32, WHERE(isnan(x)))                               \
	X(testp_normal_f32, u32, f32, f32, f32, WHERE(isnormal(x)))                                \
	X(testp_subnormal_f32, u32, f32, f32, f32, WHERE(fpclassify(x) == FP_SUBNORMAL))           \
	X(testp_finite_f64, u32, f64, f64, f64, WHERE(isfinite(x)))                                \
	X(testp_infinite_f64, u32, f64, f64, f64, WHERE(isinf(x)))                                 \
	X(testp_number_f64, u32, f64, f64, f64, WHERE(!isnan(x)))                                  \
	X(testp_notanumber_f64, u32, f64, f64, f64, WHERE(isnan(x)))                               \
	X(testp_normal_f64, u32, f64, f64, f64, WHERE(isnormal(x)))                                \
	X(testp_subnormal_f64, u32, f64, f64, f64, WHERE(fpclassify(x) == FP_SUBNORMAL))           \
	X(selp_b16, u16, u16, u16, u32, z ? x : y)                                                 \
	X(selp_b32, u32, u32, u32, u32, z ? x : y)                                                 \
	X(selp_b64, u64, u64, u64, u32, z ? x : y)                                                 \
	X(slct_b16_s32, u16, u16, u16, s32, z >= 0 ? x : y)                                        \
	X(slct_b32_s32, u32, u32, u32, s32, z >= 0 ? x : y)                                        \
	X(slct_b64_s32, u64, u64, u64, s32, z >= 0 ? x : y)                                        \
	X(slct_b16_f32, u16, u16, u16, f32, z >= 0 ? x : y)                                        \
	X(slct_b32_f32, u32, u32, u32, f32, z >= 0 ? x : y)                                        \
	X(slct_b64_f32, u64, u64, u64, f32, z >= 0 ? x : y)

ROWS(LANE_FUNCTION)

static const struct ptx_lane_entry rows[] = {ROWS(LANE_ENTRY)};

const struct ptx_lane_family LANE_LEVEL(ptx_compare) = {rows, sizeof rows / sizeof *rows};
