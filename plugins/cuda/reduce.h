/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A reduction as it is planned (reduce.c) and printed (reduce_print.c).
 */
#ifndef CUDA_REDUCE_H
#define CUDA_REDUCE_H

#include "geometry.h"

enum { CUDA_REDUCE_BLOCK = 256, CUDA_MAX_VALUES = 4 };
#define CUDA_ACCUMULATOR UINT64_C(16) /* bytes of the largest */

/* All of it; the accumulators of chunks; the second stage, which combines those. */
enum cuda_stage { CUDA_WHOLE, CUDA_PART, CUDA_JOIN };
/* The layout of an input along the last axis. */
enum cuda_walk { CUDA_STEPS, CUDA_CONSTANT, CUDA_DENSE };

struct cuda_reduction {
	const struct tn_reduce_args *args;
	enum cuda_stage stage;
	int is_rows;
	int is_wide;
	int has_tail;    /* the last group may be short: there is only one reduced axis */
	uint32_t vector; /* elements in a group */
	uint32_t lx, ly; /* results in a block, threads for each */
	uint32_t
		/* of the axes that programs may name: after one that was inserted in front */
		first_axis;
	uint32_t n_named; /* how many they may name */
	uint64_t n_kept, n_groups, n_elements;
	uint64_t n_chunks, chunk;        /* chunks for each result, groups in one */
	int64_t n_last;                  /* elements along the last axis */
	uint64_t scratch;                /* of the accumulators */
	uint64_t spilled;                /* where the words are; 0: among the parameters */
	tn_dtype value[CUDA_MAX_VALUES]; /* of the prologue's outputs */
	enum cuda_walk walk[TN_PROGRAM_MAX_INPUTS];
	int64_t step[TN_PROGRAM_MAX_INPUTS];
	struct tn_plugin_nest nest; /* last: it is not cleared */
};

static inline int cuda_is_place(uint32_t combiner)
{
	return combiner == TN_REDUCE_ARGMAX || combiner == TN_REDUCE_ARGMIN;
}

void cuda_reduce_words(struct cuda_words *words, const struct cuda_reduction *r);
/* `argument` is the reduction. */
void cuda_reduce_print(struct tn_plugin_text *text, const void *argument);

#endif
