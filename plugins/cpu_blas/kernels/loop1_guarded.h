/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Included once for each kernel of one f32 argument that has a cheaper formula for ordinary
 * arguments: defines
 *
 *     static void NAME(dst, a, b, c, n):  dst[i] := VALUE(a[i])
 *
 * GUARD(bits) maps an argument's bits to a u32 that is at most LIMIT when FAST(x) may stand for
 * VALUE(x), with the same bits.  Arguments are tested in runs of 512, which stay in L1; a run with
 * any other argument is computed by VALUE.  All are undefined at the end.  dst may be a.
 */

static void NAME(void *dst, const void *a, const void *b, const void *c, size_t n)
{
	(void)b, (void)c;
	for (size_t done = 0; done < n; done += 512) {
		float *out = (float *)dst + done;
		const float *x = (const float *)a + done;
		size_t count = n - done < 512 ? n - done : 512;
		uint32_t largest = 0;
#pragma omp simd reduction(max : largest)
		for (size_t i = 0; i < count; i++) {
			uint32_t guard = GUARD(tn_plugin_bits_of_f32(x[i]));
			largest = guard > largest ? guard : largest;
		}
		if (largest <= LIMIT) {
#pragma omp simd
			for (size_t i = 0; i < count; i++)
				out[i] = FAST(x[i]);
		} else {
#ifndef VALUE_BY_ONE /* a VALUE with branches */
#pragma omp simd
#endif
			for (size_t i = 0; i < count; i++)
				out[i] = VALUE(x[i]);
		}
	}
}

#undef NAME
#undef VALUE
#undef FAST
#undef GUARD
#undef LIMIT
#undef VALUE_BY_ONE
