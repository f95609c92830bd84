/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The cases of a sweep: what they may cost, and what is drawn for them.
 */
#ifndef TN_TOOLS_CONFORM_SWEEP_PLAN_H
#define TN_TOOLS_CONFORM_SWEEP_PLAN_H

#include "sweep.h"

struct budget {
	uint64_t bytes; /* of one operand */
	double work;    /* of one call */
};

struct plan {
	struct kit *kit;
	const struct sweep *sweep;
	struct budget longest; /* of one long axis, in one dtype */
	struct budget others;  /* of cases that there are more of */
	struct budget every;   /* of one long axis, in every dtype */
	struct budget crowd;   /* of three long axes and more */
	tn_dtype dtypes[TN_DTYPES];
	unsigned n_dtypes;
	unsigned turn; /* of the rotation of dtypes */
	int runs;      /* the cases, or only adds up their work */
	double work;
	double begin; /* in seconds */
	/* NULL, or what sweeps of several forms share, and the lengths of the axes that are not
	 * long beside three that are. */
	struct sweep_cover *cover;
	const int64_t *least;
	unsigned left_out;
};

/* A random number that depends on the seed, the sweep and two numbers alone (sweep_draw.c). */
uint64_t sweep_random(const struct kit *kit, const struct sweep *sweep, uint64_t a, uint64_t b);
/* The same, for many b: that of b is sweep_random_of(sweep_random_state(kit, sweep, a), b). */
uint64_t sweep_random_state(const struct kit *kit, const struct sweep *sweep, uint64_t a);
uint64_t sweep_random_of(uint64_t state, uint64_t b);

/* From here on longer cases are left out after the kit's patience. */
void plan_begin(struct plan *plan);
/* Is there such a call, within the budget? */
int plan_fits(const struct plan *plan, const struct budget *budget, tn_dtype dtype,
	      const int64_t *lengths);
/* Adds up the work of a case, and runs it if the plan runs. */
void plan_case(struct plan *plan, tn_dtype dtype, const int64_t *lengths);
/* The dtype whose turn it is. */
tn_dtype plan_next_dtype(struct plan *plan);
/* The lengths that axes have while others are swept. */
void plan_bases(const struct sweep *sweep, int64_t *lengths);

static inline int64_t power_of_2(int k)
{
	return INT64_C(1) << k;
}

/* Three axes and more that are long at once, of so much work together (sweep_crowds.c). */
void sweep_crowds(struct plan *plan, double total);

#endif
