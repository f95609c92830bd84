/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Included once for each type: T is the type, U that in which sums and products are made (they
 * wrap), LANES a power of two, OF(name) a fold's name, LOWEST and HIGHEST the ends of T, IS_NAN(x)
 * whether x is one.  All are undefined at the end.
 */

static inline T OF(plus)(T x, T y)
{
	return (T)((U)x + (U)y);
}

static inline T OF(times)(T x, T y)
{
	return (T)((U)x * (U)y);
}

/* NaN if any element is: the first one found stays. */
static inline T OF(larger)(T x, T y)
{
	return ((x > y) | IS_NAN(x)) ? x : y;
}

static inline T OF(smaller)(T x, T y)
{
	return ((x < y) | IS_NAN(x)) ? x : y;
}

static void OF(sum)(void *acc, const void *src, size_t n)
{
	T lane[LANES], *result = acc;
	const T *x = src;
#pragma omp simd
	for (int j = 0; j < LANES; j++)
		lane[j] = 0;
	for (; n >= LANES; n -= LANES, x += LANES) {
#pragma omp simd
		for (int j = 0; j < LANES; j++)
			lane[j] = OF(plus)(lane[j], x[j]);
	}
	for (size_t j = 0; j < n; j++)
		lane[j] = OF(plus)(lane[j], x[j]);
#pragma GCC unroll 6
	for (int half = LANES / 2; half > 0; half /= 2) {
#pragma omp simd
		for (int j = 0; j < half; j++)
			lane[j] = OF(plus)(lane[j], lane[j + half]);
	}
	*result = OF(plus)(*result, lane[0]);
}

static void OF(product)(void *acc, const void *src, size_t n)
{
	T lane[LANES], *result = acc;
	const T *x = src;
#pragma omp simd
	for (int j = 0; j < LANES; j++)
		lane[j] = 1;
	for (; n >= LANES; n -= LANES, x += LANES) {
#pragma omp simd
		for (int j = 0; j < LANES; j++)
			lane[j] = OF(times)(lane[j], x[j]);
	}
	for (size_t j = 0; j < n; j++)
		lane[j] = OF(times)(lane[j], x[j]);
#pragma GCC unroll 6
	for (int half = LANES / 2; half > 0; half /= 2) {
#pragma omp simd
		for (int j = 0; j < half; j++)
			lane[j] = OF(times)(lane[j], lane[j + half]);
	}
	*result = OF(times)(*result, lane[0]);
}

static void OF(max)(void *acc, const void *src, size_t n)
{
	T lane[LANES], *result = acc;
	const T *x = src;
#pragma omp simd
	for (int j = 0; j < LANES; j++)
		lane[j] = LOWEST;
	for (; n >= LANES; n -= LANES, x += LANES) {
#pragma omp simd
		for (int j = 0; j < LANES; j++)
			lane[j] = OF(larger)(lane[j], x[j]);
	}
	for (size_t j = 0; j < n; j++)
		lane[j] = OF(larger)(lane[j], x[j]);
#pragma GCC unroll 6
	for (int half = LANES / 2; half > 0; half /= 2) {
#pragma omp simd
		for (int j = 0; j < half; j++)
			lane[j] = OF(larger)(lane[j], lane[j + half]);
	}
	*result = OF(larger)(*result, lane[0]);
}

static void OF(min)(void *acc, const void *src, size_t n)
{
	T lane[LANES], *result = acc;
	const T *x = src;
#pragma omp simd
	for (int j = 0; j < LANES; j++)
		lane[j] = HIGHEST;
	for (; n >= LANES; n -= LANES, x += LANES) {
#pragma omp simd
		for (int j = 0; j < LANES; j++)
			lane[j] = OF(smaller)(lane[j], x[j]);
	}
	for (size_t j = 0; j < n; j++)
		lane[j] = OF(smaller)(lane[j], x[j]);
#pragma GCC unroll 6
	for (int half = LANES / 2; half > 0; half /= 2) {
#pragma omp simd
		for (int j = 0; j < half; j++)
			lane[j] = OF(smaller)(lane[j], lane[j + half]);
	}
	*result = OF(smaller)(*result, lane[0]);
}

#undef T
#undef U
#undef LANES
#undef OF
#undef LOWEST
#undef HIGHEST
#undef IS_NAN
