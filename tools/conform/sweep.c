/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Chooses the lengths of a sweep.
 */
#include "frame.h"
#include "sweep_plan.h"

/* ---- Plan ------------------------------------------------------------------------------------*/

/* Each two of that many axes are long at once, of more axes each two neighbours. */
enum { OCTAVES = 40, DRAWN = 6, MOST_PAIRED = 6 };

/* 16 MiB and 1 GiB, and a little more: lengths are 2^k + 1. */
static const struct budget plain = {17 << 20, 2e8}, large = {UINT64_C(1025) << 20, 2e9};
/* Of a sweep: of one axis long in some dtype, two axes and drawn cases together; of one axis long
 * in every dtype; of crowds of long axes. */
static const struct totals {
	double some, every, crowds;
} totals_of_plain = {6e8, 8e8, 9e8}, totals_of_large = {5e9, 5e9, 5e9};

/* In the next dtype in which it fits. */
static void case_of_any(struct plan *plan, const int64_t *lengths)
{
	for (unsigned i = 0; i < plan->n_dtypes; i++) {
		tn_dtype dtype = plan_next_dtype(plan);
		if (plan_fits(plan, &plan->longest, dtype, lengths)) {
			plan_case(plan, dtype, lengths);
			return;
		}
	}
}

/* The number of octaves of an axis in that dtype: 2^k + 1 fits for all below. */
static int octaves_of(const struct plan *plan, const struct budget *budget, uint32_t axis,
		      tn_dtype dtype)
{
	int64_t lengths[SWEEP_AXES];
	int k = 0;
	plan_bases(plan->sweep, lengths);
	for (; k < OCTAVES; k++) {
		lengths[axis] = (INT64_C(1) << k) + 1;
		if (!plan_fits(plan, budget, dtype, lengths))
			break;
	}
	return k;
}

/* 2^k + 1 for the greatest k in every dtype. */
static void sweep_dtypes(struct plan *plan, uint32_t axis)
{
	int64_t lengths[SWEEP_AXES];
	plan_bases(plan->sweep, lengths);
	for (unsigned d = 0; d < plan->n_dtypes; d++) {
		int octaves = octaves_of(plan, &plan->every, axis, plan->dtypes[d]);
		if (!octaves)
			continue;
		lengths[axis] = power_of_2(octaves - 1) + 1;
		plan_case(plan, plan->dtypes[d], lengths);
	}
}

static void sweep_axis(struct plan *plan, uint32_t axis)
{
	const int64_t most = plan->sweep->axes[axis].most;
	int64_t lengths[SWEEP_AXES];
	int octaves = 0;
	plan_bases(plan->sweep, lengths);
	for (unsigned d = 0; d < plan->n_dtypes; d++) {
		int of_dtype = octaves_of(plan, &plan->longest, axis, plan->dtypes[d]);
		octaves = of_dtype > octaves ? of_dtype : octaves;
	}
	for (int k = 0; k < octaves; k++) {
		int one = (int)(sweep_random(plan->kit, plan->sweep, axis, (uint64_t)k) % 3);
		if (k == octaves - 1)
			one = 2;
		for (int i = 0; i < 3; i++) {
			lengths[axis] = power_of_2(k) + i - 1;
			if (k < 3 || i == one)
				case_of_any(plan, lengths);
		}
	}
	lengths[axis] = most;
	if (most)
		case_of_any(plan, lengths);
}

/* The axes of that set have 2^k + 1, or what they have at most. */
static void lengthen(const struct sweep *sweep, uint32_t axes, int k, int64_t *lengths)
{
	for (uint32_t a = 0; a < sweep->n_axes; a++) {
		const int64_t most = sweep->axes[a].most;
		if (axes >> a & 1)
			lengths[a] = most && most <= power_of_2(k) ? most : power_of_2(k) + 1;
	}
}

/* The axes of a set as long as each other; then twice as long, where that fits too, one by one from
 * a drawn one on. */
static void sweep_together(struct plan *plan, uint32_t axes, const struct budget *budget,
			   tn_dtype dtype)
{
	const struct sweep *sweep = plan->sweep;
	const uint64_t first = sweep_random(plan->kit, sweep, 4000, axes);
	int64_t lengths[SWEEP_AXES];
	int k = OCTAVES;
	plan_bases(sweep, lengths);
	do
		lengthen(sweep, axes, --k, lengths);
	while (k > 1 && !plan_fits(plan, budget, dtype, lengths));
	if (k <= 1)
		return;
	for (uint32_t i = 0; i < sweep->n_axes; i++) {
		const uint32_t one = axes & UINT32_C(1) << (first + i) % sweep->n_axes;
		lengthen(sweep, one, k + 1, lengths);
		if (!plan_fits(plan, budget, dtype, lengths))
			lengthen(sweep, one, k, lengths);
	}
	plan_case(plan, dtype, lengths);
}

static void sweep_pair(struct plan *plan, uint32_t a, uint32_t b)
{
	/* Of these there are few. */
	struct budget budget = {8 * plan->others.bytes, 8 * plan->others.work};
	if (budget.bytes > plan->longest.bytes)
		budget = plan->longest;
	sweep_together(plan, UINT32_C(1) << a | UINT32_C(1) << b, &budget, plan_next_dtype(plan));
}

/* One axis long, and one there at all that has the base 1. */
static void sweep_beside(struct plan *plan, uint32_t a, uint32_t b)
{
	tn_dtype dtype = plan_next_dtype(plan);
	int64_t lengths[SWEEP_AXES];
	plan_bases(plan->sweep, lengths);
	lengths[b] = 2 + (int64_t)(sweep_random(plan->kit, plan->sweep, 2000 + a, b) % 2);
	for (int k = OCTAVES; k-- > 2;) {
		lengths[a] = power_of_2(k) + 1;
		if (plan_fits(plan, &plan->others, dtype, lengths)) {
			plan_case(plan, dtype, lengths);
			return;
		}
	}
}

/* All lengths drawn, each octave as likely as any other; the longest is halved until all fit. */
static void sweep_drawn(struct plan *plan, uint64_t n)
{
	const struct sweep *sweep = plan->sweep;
	tn_dtype dtype = plan_next_dtype(plan);
	int64_t lengths[SWEEP_AXES];
	for (uint32_t a = 0; a < sweep->n_axes; a++) {
		int octaves = octaves_of(plan, &plan->others, a, dtype);
		uint64_t random = sweep_random(plan->kit, sweep, 1000 + n, a);
		int64_t length = INT64_C(1) << random % (uint64_t)(octaves ? octaves : 1);
		lengths[a] = length + (int64_t)(random >> 8) % length;
		if (lengths[a] > sweep->axes[a].most && sweep->axes[a].most)
			lengths[a] = sweep->axes[a].most;
	}
	while (!plan_fits(plan, &plan->others, dtype, lengths)) {
		uint32_t longest = 0;
		for (uint32_t a = 1; a < sweep->n_axes; a++)
			if (lengths[a] > lengths[longest])
				longest = a;
		if (lengths[longest] < 2)
			return;
		lengths[longest] -= lengths[longest] / 2;
	}
	plan_case(plan, dtype, lengths);
}

/* One axis in some dtype, two axes, and drawn cases. */
static void sweep_some(struct plan *plan)
{
	const uint32_t n = plan->sweep->n_axes;
	for (uint32_t a = 0; a < n; a++)
		sweep_axis(plan, a);
	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = a + 1; b < n; b++)
			if (n <= MOST_PAIRED || b == a + 1 || (a == 0 && b == n - 1))
				sweep_pair(plan, a, b);
	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = 0; b < n && n <= MOST_PAIRED; b++)
			if (a != b && plan->sweep->axes[b].base == 1)
				sweep_beside(plan, a, b);
	for (uint64_t i = 0; i < DRAWN; i++)
		sweep_drawn(plan, i);
}

/* Of one dtype the longest lengths are among those of each axis. */
static void sweep_every(struct plan *plan)
{
	for (uint32_t a = 0; a < plan->sweep->n_axes && plan->n_dtypes > 1; a++)
		sweep_dtypes(plan, a);
}

/* ---- All cases ---- */

static void begin(struct plan *plan, int runs)
{
	plan->runs = runs;
	plan->work = 0;
	plan->turn = (unsigned)(sweep_random(plan->kit, plan->sweep, 0, 0) % TN_DTYPES);
}

static int is_above(struct plan *plan, void (*cases)(struct plan *plan), double total)
{
	begin(plan, 0);
	cases(plan);
	return plan->work > total;
}

static void halve(struct budget *budget)
{
	budget->bytes /= 2;
	budget->work /= 2;
}

/* Until all cases are within the totals: first those that there are more of. */
static void shrink(struct plan *plan, const struct totals *totals)
{
	const double effort = plan->kit->effort;
	while (is_above(plan, sweep_some, effort * totals->some)) {
		halve(&plan->others);
		if (plan->others.work < plan->longest.work / 32)
			halve(&plan->longest);
	}
	while (is_above(plan, sweep_every, effort * totals->every))
		plan->every.work /= 2;
}

void sweep_axes(struct kit *kit, const struct sweep *sweep)
{
	sweep_form(kit, sweep, NULL, NULL);
}

int sweep_is_crowd(const struct sweep *sweep, const int64_t *lengths)
{
	int n = 0;
	for (uint32_t a = 0; a < sweep->n_axes; a++)
		n += lengths[a] > sweep->axes[a].base;
	return n >= 3;
}

void sweep_form(struct kit *kit, const struct sweep *sweep, struct sweep_cover *cover,
		const int64_t *least)
{
	const int is_large = check_is_large(kit->check);
	const struct totals *totals = is_large ? &totals_of_large : &totals_of_plain;
	struct plan plan = {.kit = kit,
			    .sweep = sweep,
			    .longest = is_large ? large : plain,
			    .cover = cover,
			    .least = least};
	if (!tn_backend_has(kit->backend, (enum tn_slot)sweep->slot))
		return kit_skip(kit, "the slot is empty");
	if (plan.longest.bytes > kit->description.max_alloc_bytes)
		plan.longest.bytes = kit->description.max_alloc_bytes;
	plan.others = plan.every = plan.crowd = plan.longest;
	plan.crowd.work /= 4; /* there are many */
	for (tn_dtype dtype = 1; dtype < TN_DTYPES; dtype++)
		if (kit_claims_storage(kit, dtype) && sweep->claims(kit, dtype))
			plan.dtypes[plan.n_dtypes++] = dtype;
	if (!plan.n_dtypes)
		return kit_skip(kit, "it claims no dtype of the slot");
	shrink(&plan, totals);
	plan_begin(&plan);
	begin(&plan, 1);
	sweep_some(&plan);
	sweep_every(&plan);
	sweep_crowds(&plan, kit->effort * totals->crowds);
	if (plan.left_out)
		kit_not_tried(kit, plan.left_out,
			      "%u longer cases of %s, which is slow: %g seconds", plan.left_out,
			      sweep->name, kit->patience_s);
}
