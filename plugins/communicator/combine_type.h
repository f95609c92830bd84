/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * One dtype's function of combine.c.  Macros: STORED, the type in memory; TYPE, that in which is
 * combined; WIDEN and NARROW between them; IS_FLOATING; NAME of the function.  Undefines them.
 *
 * A maximum is the first operand if that is larger or NaN, else the second, which is then larger or
 * NaN itself, or equal.  Sums of integers wrap: they are taken as unsigned.
 */
#if IS_FLOATING
#define IS_NAN(x) ((x) != (x))
#else
#define IS_NAN(x) 0
#endif

static void NAME(void *target, const void *const *sources, uint32_t n_sources, uint64_t n,
		 uint32_t combiner)
{
	TYPE block[BLOCK];
	for (uint64_t at = 0; at < n; at += BLOCK) {
		const uint32_t length = n - at < BLOCK ? (uint32_t)(n - at) : BLOCK;
		const STORED *first = (const STORED *)sources[0] + at;
		STORED *to = (STORED *)target + at;
#pragma omp simd
		for (uint32_t i = 0; i < length; i++)
			block[i] = WIDEN(first[i]);
		for (uint32_t s = 1; s < n_sources; s++) {
			const STORED *next = (const STORED *)sources[s] + at;
			if (combiner == TN_REDUCE_SUM) {
#pragma omp simd
				for (uint32_t i = 0; i < length; i++) {
#if IS_FLOATING
					block[i] += WIDEN(next[i]);
#else
					block[i] = (TYPE)((uint64_t)block[i] + (uint64_t)next[i]);
#endif
				}
			} else if (combiner == TN_REDUCE_MAX) {
#pragma omp simd
				for (uint32_t i = 0; i < length; i++) {
					const TYPE a = block[i], b = WIDEN(next[i]);
					block[i] = a >= b || IS_NAN(a) ? a : b;
				}
			} else {
#pragma omp simd
				for (uint32_t i = 0; i < length; i++) {
					const TYPE a = block[i], b = WIDEN(next[i]);
					block[i] = a <= b || IS_NAN(a) ? a : b;
				}
			}
		}
#pragma omp simd
		for (uint32_t i = 0; i < length; i++)
			to[i] = NARROW(block[i]);
	}
}

#undef TYPE
#undef STORED
#undef IS_FLOATING
#undef WIDEN
#undef NARROW
#undef NAME
#undef IS_NAN
