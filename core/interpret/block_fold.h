/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Folds of one column: LANES partial results side by side, joined in pairs.  A sum of n terms thus
 * has chains of n / LANES additions.  The including file defines T, A (the type of sums and
 * products: T, or the unsigned type), LANES, NAME(x), IS_NAN(x), and LOWEST and HIGHEST of T.
 */
/* *acc := f(*acc, src[0], ..., src[n-1]) for the f that `join` applies to two values. */
static inline T NAME(fold)(T start, const T *src, size_t n, T identity, T (*join)(T, T))
{
	T lane[LANES];
	size_t i = 0;
	for (int j = 0; j < LANES; j++)
		lane[j] = identity;
	for (; i + LANES <= n; i += LANES) {
		for (int j = 0; j < LANES; j++)
			lane[j] = join(lane[j], src[i + (size_t)j]);
	}
	for (; i < n; i++)
		lane[i % LANES] = join(lane[i % LANES], src[i]);
	for (int half = LANES / 2; half > 0; half /= 2) {
		for (int j = 0; j < half; j++)
			lane[j] = join(lane[j], lane[j + half]);
	}
	return join(start, lane[0]);
}

/* acc[r] := f(acc[r], src[r][0], ..., src[r][length-1]) for short rows: ROWS of them at once, each
 * in order. */
static inline void NAME(fold_rows)(T *acc, const T *src, size_t rows, size_t length,
				   T (*join)(T, T))
{
	enum { ROWS = 8 };
	size_t r = 0;
	for (; r + ROWS <= rows; r += ROWS, src += ROWS * length) {
		T lane[ROWS];
		for (size_t k = 0; k < ROWS; k++)
			lane[k] = acc[r + k];
		for (size_t j = 0; j < length; j++) {
			for (size_t k = 0; k < ROWS; k++)
				lane[k] = join(lane[k], src[k * length + j]);
		}
		for (size_t k = 0; k < ROWS; k++)
			acc[r + k] = lane[k];
	}
	for (; r < rows; r++, src += length) {
		for (size_t j = 0; j < length; j++)
			acc[r] = join(acc[r], src[j]);
	}
}

static inline T NAME(plus)(T x, T y)
{
	return (T)((A)x + (A)y);
}

static inline T NAME(times)(T x, T y)
{
	return (T)((A)x * (A)y);
}

/* NaN if either is NaN. */
static inline T NAME(larger)(T x, T y)
{
	return ((y > x) | IS_NAN(y)) ? y : x;
}

static inline T NAME(smaller)(T x, T y)
{
	return ((y < x) | IS_NAN(y)) ? y : x;
}

static void NAME(sum)(void *acc, const void *src, size_t n)
{
	T *result = acc;
	*result = NAME(fold)(*result, src, n, 0, NAME(plus));
}

static void NAME(product)(void *acc, const void *src, size_t n)
{
	T *result = acc;
	*result = NAME(fold)(*result, src, n, 1, NAME(times));
}

static void NAME(max)(void *acc, const void *src, size_t n)
{
	T *result = acc;
	*result = NAME(fold)(*result, src, n, LOWEST, NAME(larger));
}

static void NAME(min)(void *acc, const void *src, size_t n)
{
	T *result = acc;
	*result = NAME(fold)(*result, src, n, HIGHEST, NAME(smaller));
}

static void NAME(rows_sum)(void *acc, const void *src, size_t rows, size_t length)
{
	NAME(fold_rows)(acc, src, rows, length, NAME(plus));
}

static void NAME(rows_product)(void *acc, const void *src, size_t rows, size_t length)
{
	NAME(fold_rows)(acc, src, rows, length, NAME(times));
}

static void NAME(rows_max)(void *acc, const void *src, size_t rows, size_t length)
{
	NAME(fold_rows)(acc, src, rows, length, NAME(larger));
}

static void NAME(rows_min)(void *acc, const void *src, size_t rows, size_t length)
{
	NAME(fold_rows)(acc, src, rows, length, NAME(smaller));
}
