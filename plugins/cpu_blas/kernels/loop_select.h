/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Included once for each type T: static void NAME(dst, a, b, c, n):  dst[i] := a[i] ? b[i] : c[i],
 * where a holds booleans.  NAME is undefined at the end.
 */
static void NAME(void *dst, const void *a, const void *b, const void *c, size_t n)
{
	T *out = dst;
	const uint8_t *choice = a;
	const T *x = b, *y = c;
#pragma omp simd
	for (size_t i = 0; i < n; i++) {
		T yes = x[i], no = y[i];
		out[i] = choice[i] ? yes : no;
	}
}

#undef NAME
