/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * ROUNDS times ten independent multiply-adds in registers, on vectors of PEAK_LANES floats.
 * Included once per level, with PEAK_LANES, PEAK_NAME and PEAK_TARGET (the function's attribute).
 */
typedef float PEAK_NAME(lanes) __attribute__((vector_size(PEAK_LANES * sizeof(float))));

/* One variable per chain: an array would be kept in memory.  The initial values differ, or the
 * compiler would merge the chains. */
PEAK_TARGET static void PEAK_NAME(run)(void *argument, uint64_t begin, uint64_t end)
{
	PEAK_NAME(lanes) zero = {0}, f = zero + 0.5f, t = zero + 0.25f;
	PEAK_NAME(lanes) a = f, b = a + t, c = b + t, d = c + t, e = d + t, g = e + t;
	PEAK_NAME(lanes) h = g + t, k = h + t, l = k + t, m = l + t;
	for (uint64_t i = begin * ROUNDS; i < end * ROUNDS; i++) {
		a = a * f + t;
		b = b * f + t;
		c = c * f + t;
		d = d * f + t;
		e = e * f + t;
		g = g * f + t;
		h = h * f + t;
		k = k * f + t;
		l = l * f + t;
		m = m * f + t;
	}
	((volatile float *)argument)[begin] = (a + b + c + d + e + g + h + k + l + m)[0];
}

#undef PEAK_LANES
#undef PEAK_NAME
#undef PEAK_TARGET
