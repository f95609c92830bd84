/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Included once for each type T: static void NAME(dst, a, b, c, n):  dst[i] := a[i] ? b[i] : c[i],
 * where a holds booleans.  NAME is undefined at the end.
 *
 * By masks: a `?:` becomes a jump in the part that is not a whole vector, and is mispredicted if
 * the choice is random.
 */
static void NAME(void *dst, const void *a, const void *b, const void *c, size_t n)
{
	typedef __typeof__(_Generic((T)0, float
				    : (uint32_t)0, double
				    : (uint64_t)0, default
				    : (T)0)) word;
	T *out = dst;
	const uint8_t *choice = a;
	const T *x = b, *y = c;
#pragma omp simd
	for (size_t i = 0; i < n; i++) {
		word yes, no, mask = (word)(0 - (word)choice[i]);
		__builtin_memcpy(&yes, &x[i], sizeof(yes));
		__builtin_memcpy(&no, &y[i], sizeof(no));
		yes = (word)((yes & mask) | (no & (word)~mask));
		__builtin_memcpy(&out[i], &yes, sizeof(yes));
	}
}

#undef NAME
