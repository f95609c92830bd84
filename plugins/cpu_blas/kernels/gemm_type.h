/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Included once for each type: T is the element, NAME(name) a name for it.  Both are undefined at
 * the end.
 */

typedef T NAME(vector) __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(T)), may_alias));

#define WIDTH ((int64_t)(VECTOR_BYTES / sizeof(T)))
#define NR (2 * WIDTH)

/* Rows k0..k0+kc-1 of B, columns j..j+n-1, as rows of NR with zeros after n. */
static void NAME(pack)(T *panel, const struct cpu_gemm *g, int64_t j, int64_t n, int64_t k0,
		       int64_t kc)
{
	const T *b = (const T *)g->b + k0 * g->b_down + j * g->b_across;
	for (int64_t k = 0; k < kc; k++) {
		T *row = panel + k * NR;
		const T *from = b + k * g->b_down;
		if (n == NR && g->b_across == 1) {
			memcpy(row, from, sizeof(T) * NR);
			continue;
		}
		for (int64_t c = 0; c < n; c++)
			row[c] = from[c * g->b_across];
		for (int64_t c = n; c < NR; c++)
			row[c] = 0;
	}
}

/* sum[r] := sum over k of a[r, k] panel[k], for MR rows. */
static void NAME(tile)(T sum[MR][NR], const T *a, int64_t down, int64_t across, const T *panel,
		       int64_t kc)
{
	NAME(vector) low[MR], high[MR];
#pragma GCC unroll 12
	for (int r = 0; r < MR; r++)
		low[r] = high[r] = (NAME(vector)){0};
	for (int64_t k = 0; k < kc; k++) {
		NAME(vector) b0 = *(const NAME(vector) *)(panel + k * NR);
		NAME(vector) b1 = *(const NAME(vector) *)(panel + k * NR + WIDTH);
#pragma GCC unroll 12
		for (int r = 0; r < MR; r++) {
			T x = a[r * down + k * across];
			low[r] += x * b0;
			high[r] += x * b1;
		}
	}
#pragma GCC unroll 12
	for (int r = 0; r < MR; r++) {
		*(NAME(vector) *)&sum[r][0] = low[r];
		*(NAME(vector) *)&sum[r][WIDTH] = high[r];
	}
}

/* The rows that are left, fewer than MR: each as a tile does it. */
static void NAME(rest)(T sum[MR][NR], const T *a, int64_t rows, int64_t down, int64_t across,
		       const T *panel, int64_t kc)
{
	for (int64_t r = 0; r < rows; r++) {
		NAME(vector) low = {0}, high = {0};
		for (int64_t k = 0; k < kc; k++) {
			T x = a[r * down + k * across];
			low += x * *(const NAME(vector) *)(panel + k * NR);
			high += x * *(const NAME(vector) *)(panel + k * NR + WIDTH);
		}
		*(NAME(vector) *)&sum[r][0] = low;
		*(NAME(vector) *)&sum[r][WIDTH] = high;
	}
}

/* c := alpha sum + beta c; `beta` is 1 from the second block of k on. */
static void NAME(store)(T *c, int64_t down, T sum[MR][NR], int64_t rows, int64_t n, T alpha, T beta)
{
	for (int64_t r = 0; r < rows; r++) {
		T *row = c + r * down;
		if (beta == 0) {
			for (int64_t j = 0; j < n; j++)
				row[j] = alpha * sum[r][j];
		} else {
			for (int64_t j = 0; j < n; j++)
				row[j] = beta * row[j] + alpha * sum[r][j];
		}
	}
}

static void NAME(panel)(const struct cpu_gemm *g, int64_t j, int64_t k0, int64_t kc)
{
	T panel[KC * NR], sum[MR][NR];
	int64_t n = g->n - j < NR ? g->n - j : NR;
	T beta = k0 ? (T)1 : (T)g->beta;
	NAME(pack)(panel, g, j, n, k0, kc);
	for (int64_t i = 0; i < g->m; i += MR) {
		int64_t rows = g->m - i < MR ? g->m - i : MR;
		const T *a = (const T *)g->a + i * g->a_down + k0 * g->a_across;
		if (rows == MR)
			NAME(tile)(sum, a, g->a_down, g->a_across, panel, kc);
		else
			NAME(rest)(sum, a, rows, g->a_down, g->a_across, panel, kc);
		NAME(store)
		((T *)g->c + i * g->c_down + j, g->c_down, sum, rows, n, (T)g->alpha, beta);
	}
}

static void NAME(product)(const struct cpu_gemm *g)
{
	for (int64_t j = 0; j < g->n; j += NR) {
		for (int64_t k = 0; k < g->k; k += KC)
			NAME(panel)(g, j, k, g->k - k < KC ? g->k - k : KC);
	}
}

#undef WIDTH
#undef NR
#undef T
#undef NAME
