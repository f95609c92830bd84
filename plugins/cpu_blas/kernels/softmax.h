/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Softmax of lines of n numbers, and cross-entropy of rows of logits.
 */
#ifndef CPU_SOFTMAX_H
#define CPU_SOFTMAX_H

#include <stdint.h>

/* Along rows the numbers of a line are contiguous, and lines are `line` apart; across rows the
 * lines are contiguous, and numbers of a line are `line` apart. */
struct cpu_softmax {
	int64_t lines, n;
	const float *in, *dy; /* x; backward: y, dy */
	float *out;           /* y; backward: dx */
	int64_t in_line, dy_line, out_line;
	int logarithm;
	int accumulate; /* backward */
};

struct cpu_cross_entropy {
	int64_t rows, classes;
	const float *x;
	const int32_t *labels;
	float *maximum, *log_sum, *loss; /* backward reads them: loss is dloss */
	float *dx;
	int64_t x_row, label_step, maximum_step, log_sum_step, loss_step, dx_row;
	int32_t ignored;
	int accumulate; /* backward */
};

struct cpu_softmax_kernels {
	void (*forward_along)(const struct cpu_softmax *s);
	void (*backward_along)(const struct cpu_softmax *s);
	void (*forward_across)(const struct cpu_softmax *s);
	void (*backward_across)(const struct cpu_softmax *s);
	void (*cross_entropy_forward)(const struct cpu_cross_entropy *c);
	void (*cross_entropy_backward)(const struct cpu_cross_entropy *c);
};

#endif
