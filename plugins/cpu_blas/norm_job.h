/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A batch or group norm in progress: its pieces, and the results that they pass on in the
 * workspace.
 */
#ifndef CPU_NORM_JOB_H
#define CPU_NORM_JOB_H

#include "norm.h"

/* Rows of a part: two for the mean and one for the squares, or sums of g and of g (x - mean). */
#define CPU_NORM_PART_ROWS 3

struct cpu_norm_job {
	struct cpu_norm norm;
	const struct cpu_norm_kernels *kernels;
	const struct cpu_norm_form *form;
	int64_t block_rows, blocks;          /* of a sample */
	int64_t sets;                        /* of statistics: 1 or, for group norm, samples */
	float *parts;                        /* (sample, block, row of a part, channel) */
	float *mean, *scale, *shift, *slope; /* (set, channel) */
};

/* Forward: combines the parts to the statistics, or takes the given ones; sets mean, scale,
 * shift. */
void cpu_norm_join_statistics(struct cpu_norm_job *job);
void cpu_norm_given_statistics(struct cpu_norm_job *job);

/* Backward: sets mean, before the sums; then combines them to scale, shift and slope, and to dw and
 * db. */
void cpu_norm_find_means(struct cpu_norm_job *job);
void cpu_norm_join_sums(struct cpu_norm_job *job);

#endif
