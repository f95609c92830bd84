/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Included once for each type: T is the element, VECTOR a register full of it, NAME(name) a name
 * for it, TRANSPOSE the function that transposes a square of elements in registers.  All are
 * undefined at the end.
 */

#define WIDTH ((int64_t)(VECTOR_BYTES / sizeof(T)))
#define NR (2 * WIDTH)

/* Packs the square at b, whose columns are `across` elements apart, to rows of NR. */
static inline void NAME(pack_square)(T *panel, const T *b, int64_t across)
{
	VECTOR r[WIDTH];
#pragma GCC unroll 16
	for (int i = 0; i < WIDTH; i++)
		r[i] = *(const VECTOR *)(b + i * across);
	TRANSPOSE(r);
#pragma GCC unroll 16
	for (int i = 0; i < WIDTH; i++)
		*(VECTOR *)(panel + i * NR) = r[i];
}

/* kc elements of n columns, with any strides. */
static void NAME(pack_columns)(T *panel, const T *b, int64_t down, int64_t across, int64_t n,
			       int64_t kc)
{
	for (int64_t k = 0; k < kc; k++) {
		for (int64_t j = 0; j < n; j++)
			panel[k * NR + j] = b[k * down + j * across];
	}
}

/* Columns with stride 1 down: square by square, the rest one by one. */
static void NAME(pack_transposed)(T *panel, const T *b, int64_t across, int64_t n, int64_t kc)
{
	int64_t squares = kc / WIDTH * WIDTH, j = 0;
	for (; j + WIDTH <= n; j += WIDTH) {
		for (int64_t k = 0; k < squares; k += WIDTH)
			NAME(pack_square)(panel + k * NR + j, b + j * across + k, across);
		NAME(pack_columns)
		(panel + squares * NR + j, b + j * across + squares, 1, across, WIDTH,
		 kc - squares);
	}
	NAME(pack_columns)(panel + j, b + j * across, 1, across, n - j, kc);
}

/* Rows k0..k0+kc-1 of B, columns j..j+n-1, as rows of NR with zeros after n. */
static void NAME(pack)(T *panel, const struct cpu_gemm *g, int64_t j, int64_t n, int64_t k0,
		       int64_t kc)
{
	const T *b = (const T *)g->b + k0 * g->b_down + j * g->b_across;
	if (n < NR)
		memset(panel, 0, sizeof(T) * (size_t)(kc * NR));
	if (g->b_down == 1 && g->b_across != 1) {
		NAME(pack_transposed)(panel, b, g->b_across, n, kc);
	} else if (n == NR && g->b_across == 1) {
		for (int64_t k = 0; k < kc; k++)
			memcpy(panel + k * NR, b + k * g->b_down, sizeof(T) * NR);
	} else {
		NAME(pack_columns)(panel, b, g->b_down, g->b_across, n, kc);
	}
}

struct NAME(tile) {
	const T *a; /* its first row, first k */
	const T *panel;
	T *c;
	int64_t down, across, c_down; /* of a and c */
	int64_t n, kc;
	T alpha, beta; /* `beta` is 1 from the second block of k on */
};

/* The last columns of a row, fewer than NR.  Out of line: inlined for each number of rows it would
 * take most of the compile time of this file. */
static __attribute__((noinline)) void NAME(store_part)(T *c, const struct NAME(tile) * t,
						       const T *sum)
{
	for (int64_t j = 0; j < t->n; j++)
		c[j] = t->beta == 0 ? sum[j] : sum[j] + t->beta * c[j];
}

/* A row of the tile: c := alpha sum + beta c. */
static inline __attribute__((always_inline)) void NAME(store)(T *c, const struct NAME(tile) * t,
							      VECTOR low, VECTOR high)
{
	T sum[NR];
	low *= t->alpha;
	high *= t->alpha;
	if (t->n == NR && t->beta != 0) {
		low += t->beta * *(const VECTOR *)c;
		high += t->beta * *(const VECTOR *)(c + WIDTH);
	}
	if (t->n == NR) {
		*(VECTOR *)c = low;
		*(VECTOR *)(c + WIDTH) = high;
		return;
	}
	memcpy(sum, &low, sizeof(low));
	memcpy(sum + WIDTH, &high, sizeof(high));
	NAME(store_part)(c, t, sum);
}

/* The rows of the tile, a compile-time number, so that their sums stay in registers. */
static inline __attribute__((always_inline)) void NAME(sum_rows)(int rows,
								 const struct NAME(tile) * given)
{
	const struct NAME(tile) t = *given;
	VECTOR low[MR], high[MR];
	const T *panel = t.panel, *a = t.a;
#pragma GCC unroll 16
	for (int r = 0; r < rows; r++)
		low[r] = high[r] = (VECTOR){0};
	for (int64_t k = 0; k < t.kc; k++, panel += NR, a += t.across) {
		VECTOR b0 = *(const VECTOR *)panel;
		VECTOR b1 = *(const VECTOR *)(panel + WIDTH);
#pragma GCC unroll 16
		for (int r = 0; r < rows; r++) {
			T x = a[r * t.down];
			low[r] += x * b0;
			high[r] += x * b1;
		}
	}
#pragma GCC unroll 16
	for (int r = 0; r < rows; r++)
		NAME(store)(t.c + r * t.c_down, &t, low[r], high[r]);
}

static void NAME(sum_tile)(int64_t rows, const struct NAME(tile) * t)
{
	switch (rows) {
	case 1:
		NAME(sum_rows)(1, t);
		break;
	case 2:
		NAME(sum_rows)(2, t);
		break;
	case 3:
		NAME(sum_rows)(3, t);
		break;
	case 4:
		NAME(sum_rows)(4, t);
		break;
	case 5:
		NAME(sum_rows)(5, t);
		break;
	case 6:
		NAME(sum_rows)(6, t);
		break;
#if MR > 6
	case 7:
		NAME(sum_rows)(7, t);
		break;
	case 8:
		NAME(sum_rows)(8, t);
		break;
	case 9:
		NAME(sum_rows)(9, t);
		break;
	case 10:
		NAME(sum_rows)(10, t);
		break;
	case 11:
		NAME(sum_rows)(11, t);
		break;
	case 12:
		NAME(sum_rows)(12, t);
		break;
	case 13:
		NAME(sum_rows)(13, t);
		break;
	case 14:
		NAME(sum_rows)(14, t);
		break;
#endif
	default:
		break;
	}
}

/* Rows i..i+m-1 of C below a packed panel, in tiles of equal height up to one row. */
static void NAME(panel)(const struct cpu_gemm *g, int64_t i, int64_t m, int64_t j, int64_t k0)
{
	T panel[KC * NR] __attribute__((aligned(VECTOR_BYTES)));
	struct NAME(tile) t = {.panel = panel,
			       .down = g->a_down,
			       .across = g->a_across,
			       .c_down = g->c_down,
			       .n = g->n - j < NR ? g->n - j : NR,
			       .kc = g->k - k0 < KC ? g->k - k0 : KC,
			       .alpha = (T)g->alpha,
			       .beta = k0 ? (T)1 : (T)g->beta};
	int64_t tiles = (m + MR - 1) / MR, height = m / tiles, higher = m % tiles;
	NAME(pack)(panel, g, j, t.n, k0, t.kc);
	for (int64_t tile = 0, row = i; tile < tiles; tile++) {
		int64_t rows = height + (tile < higher);
		t.a = (const T *)g->a + row * g->a_down + k0 * g->a_across;
		t.c = (T *)g->c + row * g->c_down + j;
		NAME(sum_tile)(rows, &t);
		row += rows;
	}
}

/* An element of a single row of C. */
static inline void NAME(put)(const struct cpu_gemm *g, int64_t j, T sum)
{
	T *c = (T *)g->c + j;
	sum *= (T)g->alpha;
	*c = g->beta == 0 ? sum : sum + (T)g->beta * *c;
}

/* Columns j..j+3 of a single row of C, from rows of A and columns of B with stride 1. */
static void NAME(dot4)(const struct cpu_gemm *g, int64_t j)
{
	const T *a = g->a, *b = (const T *)g->b + j * g->b_across;
	VECTOR sums[4] = {{0}, {0}, {0}, {0}};
	int64_t k = 0;
	for (; k + WIDTH <= g->k; k += WIDTH) {
		VECTOR x = *(const VECTOR *)(a + k);
#pragma GCC unroll 4
		for (int i = 0; i < 4; i++)
			sums[i] += x * *(const VECTOR *)(b + i * g->b_across + k);
	}
	for (int i = 0; i < 4; i++) {
		T sum = 0;
		for (int lane = 0; lane < WIDTH; lane++)
			sum += sums[i][lane];
		for (int64_t rest = k; rest < g->k; rest++)
			sum += a[rest] * b[i * g->b_across + rest];
		NAME(put)(g, j + i, sum);
	}
}

/* Four vectors of columns of a single row of C, from rows of B with stride 1. */
static void NAME(row4)(const struct cpu_gemm *g, int64_t j)
{
	const T *a = g->a, *b = (const T *)g->b + j;
	VECTOR sums[4] = {{0}, {0}, {0}, {0}};
	for (int64_t k = 0; k < g->k; k++, a += g->a_across, b += g->b_down) {
#pragma GCC unroll 4
		for (int i = 0; i < 4; i++)
			sums[i] += *a * *(const VECTOR *)(b + i * WIDTH);
	}
	for (int i = 0; i < 4; i++) {
		for (int lane = 0; lane < WIDTH; lane++)
			NAME(put)(g, j + i * WIDTH + lane, sums[i][lane]);
	}
}

/* While A is small, a panel of C stays in the cache for all of k; otherwise a block of A does, for
 * all panels. */
static void NAME(product)(const struct cpu_gemm *g)
{
	int is_large = (size_t)(g->m * g->k) * sizeof(T) > MC * KC * sizeof(float);
	int64_t j = 0;
	if (g->m == 1 && g->b_down == 1 && g->a_across == 1) {
		for (; j + 4 <= g->n; j += 4)
			NAME(dot4)(g, j);
	} else if (g->m == 1 && g->b_across == 1) {
		for (; j + 4 * WIDTH <= g->n; j += 4 * WIDTH)
			NAME(row4)(g, j);
	}
	for (int64_t i = 0; is_large && i < g->m; i += MC) {
		for (int64_t k = 0; k < g->k; k += KC) {
			for (int64_t at = j; at < g->n; at += NR)
				NAME(panel)(g, i, g->m - i < MC ? g->m - i : MC, at, k);
		}
	}
	for (; !is_large && j < g->n; j += NR) {
		for (int64_t k = 0; k < g->k; k += KC)
			NAME(panel)(g, 0, g->m, j, k);
	}
}

#undef WIDTH
#undef NR
#undef T
#undef NAME
#undef TRANSPOSE
#undef VECTOR
