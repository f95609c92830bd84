/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A band of a transposed copy of 4-byte elements: squares of LANES x LANES are transposed in
 * registers.
 *
 * The band's rows are compact in the output, its columns in the input.  Each square reads a piece
 * of many distant columns, which hardware prefetchers do not predict: the line after each piece is
 * prefetched, for the next squares down or the next band.
 */
#include "variant.h"
#include "vector.h"

#define INLINE static inline __attribute__((always_inline))

enum { LINE = 16 }; /* elements of a cache line */

/* rows, columns <= LANES */
INLINE void square(float *out, int64_t out_down, const float *in, int64_t in_across, int64_t rows,
		   int64_t columns)
{
	vf x[VECTOR_BYTES / 4] = {{0}};
	for (int64_t i = 0; i < columns; i++) {
		const float *column = in + i * in_across;
		x[i] = rows == LANES ? vf_load(column) : vf_load_first(column, rows);
		__builtin_prefetch(column + LINE);
	}
	vf_transpose(x);
	for (int64_t i = 0; i < rows; i++) {
		if (columns == LANES)
			vf_store(out + i * out_down, x[i]);
		else
			vf_store_first(out + i * out_down, x[i], columns);
	}
}

void VARIANT(cpu_turn_band)(void *to, int64_t out_down, const void *from, int64_t in_across,
			    int64_t rows, int64_t columns)
{
	float *out = to;
	const float *in = from;
	for (int64_t r = 0; r < rows; r += LANES) {
		int64_t high = rows - r < LANES ? rows - r : LANES, c = 0;
		for (; high == LANES && c + LANES <= columns; c += LANES)
			square(out + r * out_down + c, out_down, in + c * in_across + r, in_across,
			       LANES, LANES);
		for (; c < columns; c += LANES)
			square(out + r * out_down + c, out_down, in + c * in_across + r, in_across,
			       high, columns - c < LANES ? columns - c : LANES);
	}
}
