/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 */
#include <sys/mman.h>

#include "bench.h"

float *bench_floats(size_t n)
{
	size_t bytes = (n * sizeof(float) + ((2u << 20) - 1)) & ~(size_t)((2u << 20) - 1);
	float *x = tn_mem_aligned(bytes, 2u << 20);
	uint32_t state = 1;
	if (!x) {
		fprintf(stderr, "out of memory\n");
		exit(1);
	}
	(void)madvise(x, bytes, MADV_HUGEPAGE);
	for (size_t i = 0; i < n; i++) {
		state = state * 1664525u + 1013904223u;
		x[i] = (float)(int32_t)state * 0x1p-31f;
	}
	return x;
}
