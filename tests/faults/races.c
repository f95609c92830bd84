/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: the pieces of a parallel loop share one accumulator.
 * Conform: L2 matmul.shapes
 * Doctor: products.transposes
 */
#include "right.h"

#include <unistd.h>

struct work {
	const struct tn_matmul_args *args;
	volatile float sum;
};

/* On a busy machine one piece may end before another begins: it waits a little for the other. */
static void wait_for_another(const struct work *work)
{
	float sum = work->sum;
	for (int tries = 0; tries < 20 && work->sum == sum; tries++)
		usleep(500);
}

static void rows(void *argument, uint64_t begin, uint64_t end)
{
	struct work *work = (struct work *)argument;
	const struct tn_operand *a = &work->args->a, *b = &work->args->b, *c = &work->args->c;
	uint64_t n = (uint64_t)c->shape[1], k = (uint64_t)a->shape[1];
	for (uint64_t i = begin; i < end; i++) {
		float *out = (float *)right_element(c, i);
		work->sum = 0;
		for (uint64_t l = 0; l < k; l++) {
			work->sum += *(float *)right_element(a, i / n * k + l) *
				     *(float *)right_element(b, l * n + i % n);
			if (l == k / 2 && i == begin)
				wait_for_another(work);
		}
		*out = (float)work->args->alpha * work->sum +
		       (work->args->beta == 0 ? 0 : (float)work->args->beta * *out);
	}
}

static tn_status matmul(void *device, const struct tn_matmul_args *args)
{
	const struct tn_host *host = ((struct right *)device)->host;
	struct tn_matmul_args own;
	if (tn_arguments_take(&own, sizeof(own), args) || own.c.rank != 2 ||
	    own.call.flags & TN_DRY_RUN || right_take(&own, sizeof(own), args, "matmul") ||
	    right_matmul_check(&own))
		return right_matmul(device, args);
	struct work work = {.args = &own};
	host->parallel_for(host->context, right_count(&own.c), 4, rows, &work);
	return TN_OK;
}

static void break_it(struct right *right)
{
	right->compute.matmul = matmul;
}

RIGHT_PLUGIN("races");
