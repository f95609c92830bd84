/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The product of Winograd's planes: rows of A by one panel of B, two registers wide.  A block of up
 * to ROWS rows of C stays in registers over the whole of k: with 32 registers 12 rows (24
 * accumulators), with 16 registers 6.  Rows are divided evenly, so that no block has only one or
 * two.  A step of k takes 12 broadcasts and two loads for 24 FMAs, which the processor issues in 12
 * cycles.
 */
#include "winograd_family.h"

/* Floats in a cache line. */
#define LINE 16
/* Of k, between two counts of the loop. */
#define STEPS 4

/* The empty instruction keeps the pointers in separate registers: compilers put them into one
 * vector register and extract them for each load. */
static inline __attribute__((always_inline)) void advance(const float **a, int n, int64_t by)
{
#pragma GCC unroll 12
	for (int i = 0; i < n; i++) {
		a[i] += by;
		__asm__("" : "+r"(a[i]));
	}
}

/* Both `rows` and `compact` are constants in every use.  Rows of A are either compact, and then
 * three share a pointer, because the processor adds an index once or twice but not three times, or
 * they are columns of the stored matrix: their elements are contiguous. */
static inline __attribute__((always_inline)) void step(vf *low, vf *high, const float *const *a,
						       int64_t down, int k, const float *b,
						       int rows, int compact)
{
	vf b0 = vf_load(b), b1 = vf_load(b + LANES);
#pragma GCC unroll 12
	for (int r = 0; r < rows; r++) {
		float x = compact ? a[r / 3][r % 3 * down + k] : a[0][r];
		low[r] += x * b0;
		high[r] += x * b1;
	}
}

static inline __attribute__((always_inline)) void block(const struct cpu_winograd_product *p,
							int64_t first, const float *ahead, int rows,
							int compact)
{
	vf low[ROWS], high[ROWS];
	const float *a[(ROWS + 2) / 3], *b = p->panel;
	int64_t down = p->down, k = 0;
#pragma GCC unroll 12
	for (int r = 0; r < rows; r++)
		low[r] = high[r] = (vf){0};
#pragma GCC unroll 12
	for (int i = 0; i < (rows + 2) / 3; i++)
		a[i] = p->a + (first + 3 * i) * down;
	for (; k + STEPS <= p->k; k += STEPS) {
#pragma GCC unroll 4
		for (int i = 0; i < STEPS; i++) {
			step(low, high, a, down, i, b, rows, compact);
			__builtin_prefetch(ahead + i * LINE);
			if (!compact)
				a[0] += p->across;
			b += PANEL;
		}
		ahead += STEPS * LINE;
		if (compact)
			advance(a, (rows + 2) / 3, STEPS);
	}
	for (; k < p->k; k++, b += PANEL) {
		step(low, high, a, down, 0, b, rows, compact);
		advance(a, (rows + 2) / 3, p->across);
	}
	float *c = p->c + first * p->c_down;
#pragma GCC unroll 12
	for (int r = 0; r < rows; r++, c += p->c_down) {
		if (p->accumulate) {
			low[r] += vf_load(c);
			high[r] += vf_load(c + LANES);
		}
		vf_store(c, low[r]);
		vf_store(c + LANES, high[r]);
	}
}

static inline __attribute__((always_inline)) void some_rows(const struct cpu_winograd_product *p,
							    int64_t first, int64_t rows,
							    const float *ahead, int compact)
{
	switch (rows) {
#if VECTOR_REGISTERS == 32
	case 12:
		block(p, first, ahead, 12, compact);
		break;
	case 11:
		block(p, first, ahead, 11, compact);
		break;
	case 10:
		block(p, first, ahead, 10, compact);
		break;
	case 9:
		block(p, first, ahead, 9, compact);
		break;
	case 8:
		block(p, first, ahead, 8, compact);
		break;
	case 7:
		block(p, first, ahead, 7, compact);
		break;
#endif
	case 6:
		block(p, first, ahead, 6, compact);
		break;
	case 5:
		block(p, first, ahead, 5, compact);
		break;
	case 4:
		block(p, first, ahead, 4, compact);
		break;
	case 3:
		block(p, first, ahead, 3, compact);
		break;
	case 2:
		block(p, first, ahead, 2, compact);
		break;
	default:
		block(p, first, ahead, 1, compact);
	}
}

void VARIANT(cpu_winograd_product)(const struct cpu_winograd_product *p)
{
	int64_t blocks = (p->m + ROWS - 1) / ROWS;
	int64_t first = 0;
	for (int64_t i = 0; i < blocks; i++) {
		int64_t rows = (p->m - first) / (blocks - i);
		const float *ahead = p->next_panel ? p->next_panel + i * p->k * LINE
						   : p->a + (first + rows) * p->k;
		if (p->across == 1)
			some_rows(p, first, rows, ahead, 1);
		else
			some_rows(p, first, rows, ahead, 0);
		first += rows;
	}
}
