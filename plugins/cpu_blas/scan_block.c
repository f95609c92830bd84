/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Each block is combined independently, and the total before it is then combined with each result;
 * so a line has the same bits whether its blocks are scanned in sequence or in parallel.
 */
#include "scan_block.h"

#include <math.h>

#include "scan_value.h"

#define INLINE static inline __attribute__((always_inline))
#define NOINLINE __attribute__((noinline))

INLINE double combine_reals(uint32_t combiner, double a, double b)
{
	switch (combiner) {
	case TN_REDUCE_SUM:
		return a + b;
	case TN_REDUCE_PRODUCT:
		return a * b;
	case TN_REDUCE_MAX:
		return a >= b || a != a ? a : b;
	default:
		return a <= b || a != a ? a : b;
	}
}

INLINE uint64_t combine_wholes(uint32_t combiner, int is_unsigned, uint64_t a, uint64_t b)
{
	int is_less = is_unsigned ? a < b : (int64_t)a < (int64_t)b;
	switch (combiner) {
	case TN_REDUCE_SUM:
		return a + b;
	case TN_REDUCE_PRODUCT:
		return a * b;
	case TN_REDUCE_MAX:
		return is_less ? b : a;
	default:
		return is_less ? a : b;
	}
}

/* The smallest or largest value of a dtype that is not floating, in 64 bits. */
static uint64_t extreme(tn_dtype dtype, int largest)
{
	unsigned width = 8 * (unsigned)tn_dtype_size(dtype);
	uint64_t most = UINT64_MAX >> (64 - width);
	if (dtype == TN_BOOL)
		return (uint64_t)largest;
	if (tn_plugin_dtype_kind(dtype) == TN_PLUGIN_KIND_UNSIGNED)
		return largest ? most : 0;
	return largest ? most >> 1 : ~(most >> 1);
}

union cpu_sofar cpu_scan_nothing(const struct cpu_scan_kind *kind)
{
	int is_min = kind->combiner == TN_REDUCE_MIN;
	int is_extreme = is_min || kind->combiner == TN_REDUCE_MAX;
	union cpu_sofar sofar;
	if (is_extreme && kind->is_real)
		sofar.real = is_min ? INFINITY : -INFINITY;
	else if (is_extreme)
		sofar.whole = extreme(kind->input, is_min);
	else if (kind->is_real)
		sofar.real = kind->combiner == TN_REDUCE_PRODUCT;
	else
		sofar.whole = kind->combiner == TN_REDUCE_PRODUCT;
	return sofar;
}

union cpu_sofar cpu_scan_combine(const struct cpu_scan_kind *kind, union cpu_sofar a,
				 union cpu_sofar b)
{
	if (kind->is_real)
		a.real = combine_reals(kind->combiner, a.real, b.real);
	else
		a.whole = combine_wholes(kind->combiner, kind->is_unsigned, a.whole, b.whole);
	return a;
}

/* ---- Floating --------------------------------------------------------------------------------*/

INLINE void scan_reals(struct cpu_scan_block *b, uint32_t combiner, tn_dtype input, tn_dtype output,
		       int exclusive, uint32_t width)
{
	/* A local copy: the compiler must assume that stores may alias the original. */
	struct cpu_scan_block own = *b;
	double local[CPU_SCAN_WIDTH];
	for (uint32_t c = 0; c < width; c++)
		local[c] = cpu_scan_nothing(b->kind).real;
	for (int64_t i = 0; i < own.rows; i++) {
#pragma GCC unroll 8
		for (uint32_t c = 0; c < width; c++) {
			double before = local[c];
			local[c] = combine_reals(combiner, before, cpu_real_at(own.in[c], input));
			own.in[c] += own.in_step;
			if (!own.writes)
				continue;
			cpu_real_to(own.out[c], output,
				    combine_reals(combiner, own.carry[c].real,
						  exclusive ? before : local[c]));
			own.out[c] += own.out_step;
		}
	}
	for (uint32_t c = 0; c < width; c++)
		b->carry[c].real = combine_reals(combiner, own.carry[c].real, local[c]);
}

INLINE void scan_by_combiner(struct cpu_scan_block *b, tn_dtype dtype, uint32_t width)
{
	switch (b->kind->combiner) {
	case TN_REDUCE_SUM:
		return scan_reals(b, TN_REDUCE_SUM, dtype, dtype, 0, width);
	case TN_REDUCE_PRODUCT:
		return scan_reals(b, TN_REDUCE_PRODUCT, dtype, dtype, 0, width);
	case TN_REDUCE_MAX:
		return scan_reals(b, TN_REDUCE_MAX, dtype, dtype, 0, width);
	default:
		return scan_reals(b, TN_REDUCE_MIN, dtype, dtype, 0, width);
	}
}

/* Common cases have functions specialised for the elements and a whole block's width. */
INLINE void scan_known(struct cpu_scan_block *b, tn_dtype dtype)
{
	if (b->width == CPU_SCAN_WIDTH)
		scan_by_combiner(b, dtype, CPU_SCAN_WIDTH);
	else if (b->width == 1)
		scan_by_combiner(b, dtype, 1);
	else
		scan_by_combiner(b, dtype, b->width);
}

static NOINLINE void scan_f32(struct cpu_scan_block *b)
{
	scan_known(b, TN_F32);
}

static NOINLINE void scan_f64(struct cpu_scan_block *b)
{
	scan_known(b, TN_F64);
}

/* Other pairs of dtypes, and exclusive scans. */
static NOINLINE void scan_any_reals(struct cpu_scan_block *b)
{
	const struct cpu_scan_kind *kind = b->kind;
	if (kind->input == TN_F32 && kind->output == TN_F32)
		scan_reals(b, kind->combiner, TN_F32, TN_F32, 1, b->width);
	else if (kind->input == TN_F64)
		scan_reals(b, kind->combiner, TN_F64, TN_F64, 1, b->width);
	else if (kind->input == TN_F16 && kind->output == TN_F16)
		scan_reals(b, kind->combiner, TN_F16, TN_F16, kind->exclusive, b->width);
	else
		scan_reals(b, kind->combiner, kind->input, kind->output, kind->exclusive, b->width);
}

/* ---- All others ------------------------------------------------------------------------------*/

INLINE void scan_wholes(struct cpu_scan_block *b, uint32_t combiner, int is_unsigned,
			tn_dtype input, tn_dtype output, uint32_t width)
{
	struct cpu_scan_kind kind = *b->kind;
	struct cpu_scan_block own = *b;
	uint64_t local[CPU_SCAN_WIDTH];
	for (uint32_t c = 0; c < width; c++)
		local[c] = cpu_scan_nothing(&kind).whole;
	for (int64_t i = 0; i < own.rows; i++) {
#pragma GCC unroll 8
		for (uint32_t c = 0; c < width; c++) {
			uint64_t before = local[c];
			local[c] = combine_wholes(combiner, is_unsigned, before,
						  cpu_whole_at(own.in[c], input));
			own.in[c] += own.in_step;
			if (!own.writes)
				continue;
			cpu_whole_to(own.out[c], output,
				     combine_wholes(combiner, is_unsigned, own.carry[c].whole,
						    kind.exclusive ? before : local[c]));
			own.out[c] += own.out_step;
		}
	}
	for (uint32_t c = 0; c < width; c++)
		b->carry[c].whole =
			combine_wholes(combiner, is_unsigned, own.carry[c].whole, local[c]);
}

INLINE void scan_wholes_of(struct cpu_scan_block *b, uint32_t combiner, int is_unsigned)
{
	tn_dtype input = b->kind->input, output = b->kind->output;
	if (b->width == CPU_SCAN_WIDTH)
		scan_wholes(b, combiner, is_unsigned, input, output, CPU_SCAN_WIDTH);
	else if (b->width == 1)
		scan_wholes(b, combiner, is_unsigned, input, output, 1);
	else
		scan_wholes(b, combiner, is_unsigned, input, output, b->width);
}

static NOINLINE void scan_whole_sums(struct cpu_scan_block *b)
{
	if (b->width == CPU_SCAN_WIDTH && b->kind->input == TN_I64)
		scan_wholes(b, TN_REDUCE_SUM, 0, TN_I64, TN_I64, CPU_SCAN_WIDTH);
	else
		scan_wholes_of(b, TN_REDUCE_SUM, 0);
}

static NOINLINE void scan_unsigned(struct cpu_scan_block *b)
{
	scan_wholes_of(b, b->kind->combiner, 1);
}

static NOINLINE void scan_signed(struct cpu_scan_block *b)
{
	scan_wholes_of(b, b->kind->combiner, 0);
}

/* ---- The block -------------------------------------------------------------------------------*/

void cpu_scan_block(struct cpu_scan_block *b)
{
	const struct cpu_scan_kind *kind = b->kind;
	int is_same = kind->input == kind->output && !kind->exclusive;
	if (is_same && kind->input == TN_F32)
		scan_f32(b);
	else if (is_same && kind->input == TN_F64)
		scan_f64(b);
	else if (kind->is_real)
		scan_any_reals(b);
	else if (kind->combiner == TN_REDUCE_SUM)
		scan_whole_sums(b);
	else if (kind->is_unsigned)
		scan_unsigned(b);
	else
		scan_signed(b);
}
