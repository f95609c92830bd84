/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Softmax cross-entropy of rows of logits with labels.  A loss is
 * log sum e^(x - max x) - (x[label] - max x), and the gradient subtracts the two in the same order:
 * so neither is a difference of large numbers.
 */
#include "log.h"
#include "softmax_rows.h"
#include "variant.h"

static int is_label(const struct cpu_cross_entropy *c, int32_t label)
{
	return label >= 0 && label < c->classes;
}

void VARIANT(cpu_cross_entropy_forward)(const struct cpu_cross_entropy *c)
{
	for (int64_t row = 0; row < c->rows; row++) {
		const float *x = c->x + row * c->x_row;
		int32_t label = c->labels[row * c->label_step];
		float largest = row_largest(x, c->classes);
		float log_sum = log_one(row_exp(x, c->classes, largest, NULL));
		float loss =
			is_label(c, label) ? log_sum - (x[label] - largest) : __builtin_nanf("");
		c->maximum[row * c->maximum_step] = largest;
		c->log_sum[row * c->log_sum_step] = log_sum;
		c->loss[row * c->loss_step] = label == c->ignored ? 0 : loss;
	}
}

/* dx (+)= e^((x - maximum) - log_sum) dloss */
static void backward_row(const struct cpu_cross_entropy *c, const float *x, int64_t row, float *dx)
{
	const float maximum = c->maximum[row * c->maximum_step];
	const float log_sum = c->log_sum[row * c->log_sum_step];
	const float dloss = c->loss[row * c->loss_step];
	for (int64_t i = 0; i < c->classes; i += LANES) {
		int64_t n = c->classes - i;
		vf value = vf_exp((vf_load_some(x + i, n) - maximum) - log_sum) * dloss;
		if (c->accumulate)
			value += vf_load_some(dx + i, n);
		vf_store_some(dx + i, value, n);
	}
}

/* A row of zeros (or unchanged), or of NaN. */
static void constant_row(const struct cpu_cross_entropy *c, float value, float *dx)
{
	for (int64_t i = 0; i < c->classes; i++)
		dx[i] = c->accumulate ? dx[i] + value : value;
}

void VARIANT(cpu_cross_entropy_backward)(const struct cpu_cross_entropy *c)
{
	for (int64_t row = 0; row < c->rows; row++) {
		const float *x = c->x + row * c->x_row;
		float *dx = c->dx + row * c->dx_row;
		int32_t label = c->labels[row * c->label_step];
		if (label == c->ignored) {
			constant_row(c, 0, dx);
		} else if (!is_label(c, label)) {
			constant_row(c, __builtin_nanf(""), dx);
		} else {
			backward_row(c, x, row, dx);
			dx[label] -= c->loss[row * c->loss_step];
		}
	}
}
