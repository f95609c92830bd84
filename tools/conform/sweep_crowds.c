/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Cases with three long axes and more.  A backend may take another path where three axes are long,
 * each from a length of its own on; a case shows that for all lengths up to its own.  There are
 * more of these than there is time for, so each case is the one of some drawn ones that shows most
 * of what no earlier case has shown, as covering arrays are made (Cohen et al. 1997, AETG).
 */
#include "sweep_plan.h"

/* Lengths are counted in levels: of level 0 is the base, and that of level i is above 2^(i + 1). */
enum { LEVELS = 9, TRIPLES = SWEEP_AXES * (SWEEP_AXES - 1) * (SWEEP_AXES - 2) / 6 };
enum { FEW = 6, TRIES = 8, CROWD_DTYPES = 4 };

/* Of each three axes, by the levels of the first two: those of the third that a case had, or a
 * higher one, as a set of bits. */
struct sweep_cover {
	uint16_t of[TRIPLES][LEVELS][LEVELS];
};

struct crowds {
	struct plan *plan;
	struct budget budget; /* of a case */
	tn_dtype dtype;
	uint32_t n, axes[SWEEP_AXES]; /* those that can be long */
	uint64_t random, n_drawn;
	struct sweep_cover *cover;
};

/* The levels of all axes that can be long, and their lengths. */
struct crowd {
	int levels[SWEEP_AXES];
	int64_t lengths[SWEEP_AXES];
};

static unsigned size_of(unsigned set)
{
	unsigned n = 0;
	for (; set; set &= set - 1)
		n++;
	return n;
}

/* What the case adds to the covered levels of three axes. */
static unsigned adds_to(const uint16_t covered[LEVELS][LEVELS], int a, int b, int c)
{
	const unsigned up_to_c = (2u << c) - 1;
	unsigned n = 0;
	for (int i = 0; i <= a; i++)
		for (int j = 0; j <= b; j++)
			n += size_of(up_to_c & ~(unsigned)covered[i][j]);
	return n;
}

static void add_to(uint16_t covered[LEVELS][LEVELS], int a, int b, int c)
{
	const unsigned up_to_c = (2u << c) - 1;
	for (int i = 0; i <= a; i++)
		for (int j = 0; j <= b; j++)
			covered[i][j] |= (uint16_t)up_to_c;
}

/* The same of every three axes: what the case would add, or adds. */
static unsigned visit(struct crowds *crowds, const struct crowd *crowd, int adds)
{
	const int *levels = crowd->levels;
	unsigned n = 0, triple = 0;
	const uint32_t n_axes = crowds->plan->sweep->n_axes;
	for (uint32_t a = 0; a < n_axes; a++)
		for (uint32_t b = a + 1; b < n_axes; b++)
			for (uint32_t c = b + 1; c < n_axes; c++, triple++) {
				uint16_t(*covered)[LEVELS] = crowds->cover->of[triple];
				if (adds)
					add_to(covered, levels[a], levels[b], levels[c]);
				else
					n += adds_to(covered, levels[a], levels[b], levels[c]);
			}
	return n;
}

static uint64_t draw(struct crowds *crowds, uint64_t n)
{
	return sweep_random_of(crowds->random, crowds->n_drawn++) % n;
}

/* Gives an axis that level, or what it has at most: that is its highest level. */
static int set_level(struct crowds *crowds, struct crowd *crowd, uint32_t a, int level)
{
	const struct sweep_axis *axis = &crowds->plan->sweep->axes[a];
	const int64_t old = crowd->lengths[a], below = power_of_2(level + 1);
	int64_t length = below + 1 + (int64_t)draw(crowds, 3);
	if (axis->most && length > axis->most)
		length = axis->most;
	if (level >= LEVELS || length <= old || (axis->most && axis->most <= below / 2))
		return 0;
	crowd->lengths[a] = length;
	if (plan_fits(crowds->plan, &crowds->budget, crowds->dtype, crowd->lengths)) {
		crowd->levels[a] = level;
		return 1;
	}
	crowd->lengths[a] = old;
	return 0;
}

static void begin_crowd(struct crowds *crowds, struct crowd *crowd)
{
	const struct plan *plan = crowds->plan;
	plan_bases(plan->sweep, crowd->lengths);
	if (plan->least)
		memcpy(crowd->lengths, plan->least, plan->sweep->n_axes * sizeof(int64_t));
	memset(crowd->levels, 0, sizeof(crowd->levels));
}

/* The axes that can be long in a drawn order, of which the first three get drawn levels that are
 * not covered.  Returns 0 if it finds none. */
static int draw_three(struct crowds *crowds, struct crowd *crowd, uint32_t *order)
{
	for (int tries = 0; tries < 100; tries++) {
		begin_crowd(crowds, crowd);
		for (uint32_t i = 0; i < crowds->n; i++) {
			const uint32_t j = (uint32_t)draw(crowds, i + 1);
			order[i] = order[j];
			order[j] = crowds->axes[i];
		}
		uint32_t n = 0;
		while (n < 3 &&
		       set_level(crowds, crowd, order[n], 1 + (int)draw(crowds, LEVELS - 1)))
			n++;
		if (n == 3 && visit(crowds, crowd, 0))
			return 1;
	}
	return 0;
}

/* Then drawn axes are raised until none can be. */
static int draw_crowd(struct crowds *crowds, struct crowd *crowd)
{
	uint32_t order[SWEEP_AXES], n = crowds->n;
	if (!draw_three(crowds, crowd, order))
		return 0;
	while (n > 0) {
		const uint32_t i = (uint32_t)draw(crowds, n), a = order[i];
		if (!set_level(crowds, crowd, a, crowd->levels[a] + 1))
			order[i] = order[--n];
	}
	return 1;
}

/* The best of some drawn cases; 0: what is drawn is covered. */
static int choose(struct crowds *crowds, struct crowd *best)
{
	unsigned most = 0;
	for (int i = 0; i < TRIES; i++) {
		struct crowd other;
		const unsigned n = draw_crowd(crowds, &other) ? visit(crowds, &other, 0) : 0;
		if (n > most) {
			most = n;
			*best = other;
		}
	}
	return most > 0;
}

/* Runs cases of a share of the total each until that is spent, or all is covered. */
static void run_some(struct crowds *crowds, struct sweep_cover *cover, double total, double n)
{
	struct plan *plan = crowds->plan;
	const double end = plan->work + total;
	struct crowd crowd;
	crowds->cover = cover;
	crowds->budget.bytes = plan->crowd.bytes;
	crowds->budget.work = fmin(total / n, plan->crowd.work);
	while (plan->work < end && choose(crowds, &crowd)) {
		visit(crowds, &crowd, 1);
		plan_case(plan, crowds->dtype, crowd.lengths);
	}
}

/* The axes that can be long. */
static void find_axes(struct crowds *crowds)
{
	const struct sweep *sweep = crowds->plan->sweep;
	for (uint32_t a = 0; a < sweep->n_axes; a++)
		if (!sweep->axes[a].most || sweep->axes[a].most > sweep->axes[a].base)
			crowds->axes[crowds->n++] = a;
}

struct sweep_cover *sweep_cover_new(struct kit *kit)
{
	struct sweep_cover *cover = (struct sweep_cover *)calloc(1, sizeof(*cover));
	if (!cover)
		kit_give_up(kit, "the kit is out of memory");
	return cover;
}

/* The axes of a set as long as each other, from a drawn one on. */
static void run_set(struct crowds *crowds, uint32_t set)
{
	const uint32_t first = (uint32_t)draw(crowds, crowds->n);
	struct crowd crowd;
	int is_raised = 1;
	begin_crowd(crowds, &crowd);
	for (int level = 1; level < LEVELS && is_raised; level++) {
		is_raised = 0;
		for (uint32_t i = 0; i < crowds->n; i++) {
			const uint32_t at = (first + i) % crowds->n;
			if (set >> at & 1)
				is_raised |= set_level(crowds, &crowd, crowds->axes[at], level);
		}
	}
	visit(crowds, &crowd, 1);
	plan_case(crowds->plan, crowds->dtype, crowd.lengths);
}

/* All sets of three axes and more; of many axes, each three of the first ones. */
static void run_sets(struct crowds *crowds, struct sweep_cover *cover, double total)
{
	const int is_few = crowds->n <= FEW;
	const uint32_t end = UINT32_C(1) << (is_few ? crowds->n : FEW);
	double n = 0;
	for (uint32_t set = 1; set < end; set++)
		n += is_few ? size_of(set) >= 3 : size_of(set) == 3;
	crowds->cover = cover;
	crowds->budget.bytes = crowds->plan->crowd.bytes;
	crowds->budget.work = fmin(total / n, crowds->plan->crowd.work);
	for (uint32_t set = 1; set < end; set++)
		if (is_few ? size_of(set) >= 3 : size_of(set) == 3)
			run_set(crowds, set);
}

/* The longest cases complement each other in all dtypes and forms of a slot; there are shorter ones
 * for each.  Few axes have few combinations. */
static void run_dtype(struct plan *plan, struct sweep_cover *cover, double total)
{
	struct crowds crowds = {.plan = plan,
				.dtype = plan_next_dtype(plan),
				.random = sweep_random_state(plan->kit, plan->sweep, 5000)};
	struct sweep_cover *own = sweep_cover_new(plan->kit);
	find_axes(&crowds);
	const double triples = crowds.n * (crowds.n - 1.0) * (crowds.n - 2.0) / 6;
	const double n = fmin(12 + 2 * triples, 40);
	if (crowds.n >= 3) {
		run_sets(&crowds, cover, total);
		if (crowds.n <= FEW) /* these cover most already */
			total /= 2;
		run_some(&crowds, cover, 0.6 * total, n);
		run_some(&crowds, own, 0.2 * total, 1.5 * n);
		run_some(&crowds, own, 0.2 * total, 7.5 * n);
	}
	free(own);
}

void sweep_crowds(struct plan *plan, double total)
{
	const unsigned n = plan->n_dtypes < CROWD_DTYPES ? plan->n_dtypes : CROWD_DTYPES;
	struct sweep_cover *cover = plan->cover ? plan->cover : sweep_cover_new(plan->kit);
	if (plan->cover) /* forms have the most axes */
		total *= 2.5;
	for (unsigned d = 0; d < n; d++)
		run_dtype(plan, cover, total / n);
	if (!plan->cover)
		free(cover);
}
