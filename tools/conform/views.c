/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Every operand of every computing slot as every kind of view, with TN_ACCUMULATE and without, in
 * every dtype: each such combination is set by one call or more, while the call's lengths, settings
 * and other views are drawn.  Results are compared with the formula, and with those of the same
 * call on compact copies of the operands.
 */
#include <stdio.h>

#include "loader/slots.h"
#include "trial.h"

static int is_legal(const struct trial_operand *o, enum view view)
{
	return view < (o->role == OUTPUT ? OUTPUT_VIEWS : o->is_own ? OWN_VIEWS : VIEWS);
}

/* Is the operand used, and has it the axes that make a difference? */
static int is_worth(const struct trial *t, unsigned operand, enum view view)
{
	static const uint32_t least_rank[VIEWS] = {0, 2, 3, 0, 0, 1, 1, 2};
	const struct trial_operand *o = &t->operand[operand];
	return operand < t->n && !o->is_unread && is_legal(o, view) &&
	       o->shape.rank >= least_rank[view] + (o->is_matrix && view >= VIEW_BACKWARD ? 2 : 0);
}

/* The other operands: as the chosen one where they may be, or drawn. */
static void choose_views(struct trial *t, unsigned operand, enum view view, int alike,
			 enum view *views)
{
	for (unsigned i = 0; i < t->n; i++) {
		enum view drawn = (enum view)(kit_random(t->kit) % VIEWS);
		views[i] = i == operand || alike ? view : drawn;
		if (!is_legal(&t->operand[i], views[i]))
			views[i] = i == operand ? VIEW_ANY : (enum view)(drawn % OUTPUT_VIEWS);
	}
}

static void name_case(struct trial *t, unsigned operand, enum view view, int alike)
{
	snprintf(t->kit->case_name, sizeof(t->kit->case_name), "%s of %s: %s %s%s%s, %s",
		 tn_slots[t->slot].name, tn_dtype_name(t->dtype), t->operand[operand].name,
		 view_names[view], alike ? ", all alike" : "",
		 t->accumulates ? ", accumulated" : "", t->text);
}

/* Plans a call in which the operand may be such a view; 0: there is none. */
static int plans(struct kit *kit, struct trial *t, const struct trial_slot *slot, tn_dtype dtype,
		 int accumulates, unsigned operand, enum view view)
{
	enum { TRIES = 24 };
	for (uint64_t i = 0; i < TRIES; i++) {
		trial_plan(kit, t, slot, dtype, accumulates,
			   ((uint64_t)operand * VIEWS + view) * TRIES + i);
		if (is_worth(t, operand, view))
			return 1;
		trial_free(t);
	}
	return 0;
}

/* The same call on compact copies of the operands as they were. */
static void compares_with_compact(const struct trial *t)
{
	struct trial twin;
	trial_twin(t, &twin);
	if (!trial_run(&twin))
		trial_agree(t, &twin);
	trial_free(&twin);
}

static void compares(struct kit *kit, const struct trial_slot *slot, tn_dtype dtype,
		     int accumulates, unsigned operand, enum view view, int alike)
{
	enum view views[TRIAL_OPERANDS];
	struct trial t;
	if (!plans(kit, &t, slot, dtype, accumulates, operand, view))
		return;
	name_case(&t, operand, view, alike);
	choose_views(&t, operand, view, alike, views);
	trial_make(&t, views);
	if (!trial_run(&t) && !trial_is_exact(&t))
		compares_with_compact(&t);
	trial_free(&t);
}

/* Of the slots that take every dtype, f32 and f64 are tried in all turns, others in a quarter. */
static int is_due(tn_dtype dtype, unsigned turn)
{
	return dtype == TN_F32 || dtype == TN_F64 || turn % 4 == (unsigned)dtype % 4;
}

static void turns(struct kit *kit, const struct trial_slot *slot, tn_dtype dtype, int accumulates)
{
	unsigned turn = 0;
	for (unsigned operand = 0; operand < slot->n; operand++)
		for (int view = 0; view < VIEWS; view++, turn++)
			for (int alike = 0; alike < 2; alike++)
				if (slot->is_floating || is_due(dtype, turn + (unsigned)alike))
					compares(kit, slot, dtype, accumulates, operand,
						 (enum view)view, alike);
}

void check_views(struct kit *kit)
{
	trial_each(kit, turns);
}
