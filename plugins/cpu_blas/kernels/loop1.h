/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Included once for each kernel of one argument: defines
 *
 *     static void NAME(dst, a, b, c, n):  dst[i] := VALUE(a[i])
 *
 * with dst of type TO (default float) and a of type FROM (default float).  All four are undefined
 * at the end.  dst may be a: each element is read before it is written, and no other.
 */
#ifndef FROM
#define FROM float
#endif
#ifndef TO
#define TO float
#endif

static void NAME(void *dst, const void *a, const void *b, const void *c, size_t n)
{
	TO *out = dst;
	const FROM *x = a;
	(void)b, (void)c;
#pragma omp simd
	for (size_t i = 0; i < n; i++)
		out[i] = VALUE(x[i]);
}

#undef NAME
#undef VALUE
#undef FROM
#undef TO
