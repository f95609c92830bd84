/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * As loop1.h for three arguments of one type: dst[i] := VALUE(a[i], b[i], c[i]).
 */
static void NAME(void *dst, const void *a, const void *b, const void *c, size_t n)
{
	TO *out = dst;
	const FROM *x = a, *y = b, *z = c;
#pragma omp simd
	for (size_t i = 0; i < n; i++)
		out[i] = VALUE(x[i], y[i], z[i]);
}

#undef NAME
#undef VALUE
#undef FROM
#undef TO
