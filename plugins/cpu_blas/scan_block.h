/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A few blocks of lines, side by side, so that their additions are independent.
 */
#ifndef CPU_SCAN_BLOCK_H
#define CPU_SCAN_BLOCK_H

#include <tenon/plugin.h>

enum {
	CPU_SCAN_WIDTH = 8, /* blocks side by side */
	/* Elements of a block: slightly more than a power of two, or blocks of one line would have
	 * their elements in the same sets of the caches. */
	CPU_SCAN_ROWS = 1040,
};

/* The combination so far: `real` for floating dtypes, else `whole`. */
union cpu_sofar {
	double real;
	uint64_t whole;
};

struct cpu_scan_kind {
	tn_dtype input, output;
	uint32_t combiner;
	int exclusive;
	int is_real, is_unsigned;
};

struct cpu_scan_block {
	const struct cpu_scan_kind *kind;
	int64_t in_step, out_step; /* bytes from one element to the next */
	int64_t rows;              /* at most CPU_SCAN_ROWS */
	uint32_t width;
	int writes; /* 0: only the total of each block is requested */
	const char *in[CPU_SCAN_WIDTH];
	char *out[CPU_SCAN_WIDTH];
	/* The total before each block; afterwards with the block. */
	union cpu_sofar carry[CPU_SCAN_WIDTH];
};

void cpu_scan_block(struct cpu_scan_block *block);

/* A combiner over no elements, and over two. */
union cpu_sofar cpu_scan_nothing(const struct cpu_scan_kind *kind);
union cpu_sofar cpu_scan_combine(const struct cpu_scan_kind *kind, union cpu_sofar a,
				 union cpu_sofar b);

#endif
