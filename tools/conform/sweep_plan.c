/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Runs the cases of a sweep that fit its budgets.
 */
#include "sweep_plan.h"

#include <time.h>

/* An interpreted device, or a program under a sanitizer, does not finish a sweep in reasonable
 * time: after the kit's patience it runs only cases of less work than this. */
enum { LITTLE_WORK = 100000 };

int plan_fits(const struct plan *plan, const struct budget *budget, tn_dtype dtype,
	      const int64_t *lengths)
{
	const struct sweep *sweep = plan->sweep;
	double all = 1;
	for (uint32_t a = 0; a < sweep->n_axes; a++) {
		if (lengths[a] < 1 || (sweep->axes[a].most && lengths[a] > sweep->axes[a].most))
			return 0;
		all *= (double)lengths[a];
	}
	if (all > 0x1p60) /* what the sweep multiplies does not fit */
		return 0;
	uint64_t bytes = sweep->bytes(dtype, lengths);
	return bytes && bytes <= budget->bytes && sweep->work(lengths) <= budget->work;
}

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void plan_begin(struct plan *plan)
{
	plan->begin = seconds();
}

void plan_case(struct plan *plan, tn_dtype dtype, const int64_t *lengths)
{
	const double work = plan->sweep->work(lengths);
	plan->work += work;
	if (!plan->runs)
		return;
	if (work > LITTLE_WORK && seconds() - plan->begin >= plan->kit->patience_s)
		plan->left_out++;
	else
		plan->sweep->run(plan->kit, plan->sweep, dtype, lengths);
}

tn_dtype plan_next_dtype(struct plan *plan)
{
	return plan->dtypes[plan->turn++ % plan->n_dtypes];
}

void plan_bases(const struct sweep *sweep, int64_t *lengths)
{
	for (uint32_t a = 0; a < sweep->n_axes; a++)
		lengths[a] = sweep->axes[a].base;
}
