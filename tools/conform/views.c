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

/* Axes longer than 1 that the view of an operand may turn. */
static uint32_t long_axes(const struct trial_operand *o, enum view view)
{
	const uint32_t rank = o->shape.rank - (o->is_matrix && view >= VIEW_BACKWARD ? 2 : 0);
	uint32_t n = 0;
	for (uint32_t axis = 0; axis < rank; axis++)
		n += o->shape.lengths[axis] > 1;
	return n;
}

/* Is the operand used, and has it the axes that make a difference? */
static int is_worth(const struct trial *t, unsigned operand, enum view view)
{
	static const uint32_t least[VIEWS] = {0, 2, 2, 1, 0, 1, 1, 2};
	const struct trial_operand *o = &t->operand[operand];
	if (operand >= t->n || o->is_unread || !is_legal(o, view) ||
	    long_axes(o, view) < least[view])
		return 0;
	return view != VIEW_CHANNELS_LAST || (o->shape.rank > 2 && o->shape.lengths[1] > 1);
}

/* The views of the other operands: compact, as the chosen one where they may be so, or drawn. */
enum others { COMPACT_OTHERS, ALIKE, DRAWN, MODES };
enum { MOST_TURNS = 3 * MODES };
static const char *const other_names[MODES] = {"others compact", "all alike", "others drawn"};

static void choose_views(struct trial *t, unsigned operand, enum view view, enum others others,
			 enum view *views)
{
	for (unsigned i = 0; i < t->n; i++) {
		enum view drawn = (enum view)(kit_random(t->kit) % VIEWS);
		views[i] = i == operand || others == ALIKE ? view
			   : others == DRAWN               ? drawn
							   : VIEW_COMPACT;
		if (!is_legal(&t->operand[i], views[i]))
			views[i] = (enum view)(drawn % OUTPUT_VIEWS);
	}
}

static void name_case(struct trial *t, unsigned operand, enum view view, enum others others)
{
	snprintf(t->kit->case_name, sizeof(t->kit->case_name), "%s of %s: %s %s, %s%s, %s",
		 tn_slots[t->slot].name, tn_dtype_name(t->dtype), t->operand[operand].name,
		 view_names[view], other_names[others], t->accumulates ? ", accumulated" : "",
		 t->text);
}

/* Plans call `turn` in which the operand may be such a view; 0: there is none. */
static int plans(struct kit *kit, struct trial *t, const struct trial_slot *slot, tn_dtype dtype,
		 int accumulates, unsigned operand, enum view view, unsigned turn)
{
	enum { TRIES = 24 };
	for (uint64_t i = 0; i < TRIES; i++) {
		uint64_t number = ((uint64_t)operand * VIEWS + view) * MOST_TURNS + turn;
		trial_plan(kit, t, slot, dtype, accumulates, number * TRIES + i);
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
		     int accumulates, unsigned operand, enum view view, unsigned turn)
{
	const enum others others = (enum others)(turn % MODES);
	enum view views[TRIAL_OPERANDS];
	struct trial t;
	if (!kit_takes(kit) || !plans(kit, &t, slot, dtype, accumulates, operand, view, turn))
		return;
	name_case(&t, operand, view, others);
	choose_views(&t, operand, view, others, views);
	trial_make(&t, views);
	if (!trial_run(&t) && !trial_is_exact(&t))
		compares_with_compact(&t);
	trial_free(&t);
}

/* Does that dtype take the turn?  f32 takes all, and the others of slots that have floating dtypes
 * only, and f64, one of each mode.  Of the rest each operand and view is tried once, and half of
 * these where a device may compile a kernel for each. */
static int is_due(const struct trial_slot *slot, tn_dtype dtype, unsigned number, unsigned turn)
{
	const int is_program = slot->slot == TN_SLOT_MAP || slot->slot == TN_SLOT_REDUCE;
	if (slot->is_floating || dtype == TN_F32 || dtype == TN_F64)
		return turn < MODES || dtype == TN_F32;
	number += (unsigned)dtype;
	return turn == number % MODES && (!is_program || number / MODES % 2 == 0);
}

static void turns(struct kit *kit, const struct trial_slot *slot, tn_dtype dtype, int accumulates)
{
	for (unsigned operand = 0; operand < slot->n; operand++)
		for (unsigned view = 0; view < VIEWS; view++)
			for (unsigned turn = 0; turn < MOST_TURNS; turn++)
				if (is_due(slot, dtype, operand + view, turn))
					compares(kit, slot, dtype, accumulates, operand,
						 (enum view)view, turn);
}

void check_views(struct kit *kit)
{
	trial_each(kit, turns);
}
