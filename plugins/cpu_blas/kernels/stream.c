/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A copy that bypasses the caches: whole lines are written to memory without being read first,
 * which saves a third of the traffic of a large output.  The interpreter orders these writes before
 * the call completes; a fence for each block would wait for the memory.
 */
#include <string.h>

#include "variant.h"

#if defined(__SSE2__)
#if defined(__AVX__)
#include <immintrin.h>
#else
#include <emmintrin.h>
#endif

static inline void stream_line(char *out, const char *in)
{
#if defined(__AVX512F__)
	_mm512_stream_si512((void *)out, _mm512_loadu_si512((const void *)in));
#elif defined(__AVX__)
	_mm256_stream_si256((__m256i *)(void *)out,
			    _mm256_loadu_si256((const __m256i *)(const void *)in));
	_mm256_stream_si256((__m256i *)(void *)(out + 32),
			    _mm256_loadu_si256((const __m256i *)(const void *)(in + 32)));
#else
	for (int i = 0; i < 64; i += 16)
		_mm_stream_si128((__m128i *)(void *)(out + i),
				 _mm_loadu_si128((const __m128i *)(const void *)(in + i)));
#endif
}

void VARIANT(cpu_stream_copy)(void *dst, const void *src, size_t n)
{
	char *out = dst;
	const char *in = src;
	size_t head = (size_t)(-(uintptr_t)out & 63);
	head = head < n ? head : n;
	memcpy(out, in, head);
	out += head;
	in += head;
	n -= head;
	for (; n >= 64; n -= 64, out += 64, in += 64)
		stream_line(out, in);
	memcpy(out, in, n);
}

#else

void VARIANT(cpu_stream_copy)(void *dst, const void *src, size_t n)
{
	memcpy(dst, src, n);
}

#endif
