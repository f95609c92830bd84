/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * As cross.c, for operations that the tape records without a slot for their backward: products,
 * takes and element programs.  They have no composition: routes are native, lent and host.
 */
#include "layers.h"

struct taped {
	const char *check;
	const char *layer;         /* its name in the table of layers */
	const char *operations[2]; /* of forward and backward, as the ledger has them */
	uint64_t slots[2];
};

static const struct taped taped[] = {
	{"cross.matmul",
	 "linear",
	 {"matmul", "matmul"},
	 {SLOT_BIT(TN_SLOT_MATMUL), SLOT_BIT(TN_SLOT_MATMUL)}},
	{"cross.matmul",
	 "matmul of broadcast batches",
	 {"matmul", "matmul"},
	 {SLOT_BIT(TN_SLOT_MATMUL), SLOT_BIT(TN_SLOT_MATMUL)}},
	{"cross.gather",
	 "take of rows",
	 {"take", "scatter_add"},
	 {SLOT_BIT(TN_SLOT_GATHER), SLOT_BIT(TN_SLOT_SCATTER_ADD)}},
	{"cross.map",
	 "dropout",
	 {"dropout", "dropout"},
	 {SLOT_BIT(TN_SLOT_MAP), SLOT_BIT(TN_SLOT_MAP)}},
};
enum { N_TAPED = sizeof(taped) / sizeof(taped[0]) };

struct pair {
	const struct taped *taped;
	enum route forward, backward;
	int *is_taken;
};

static void step(struct kit *kit, const struct layer_case *c, enum layer_step step)
{
	const struct pair *pair = c->user;
	char routes[ROUTES_TEXT];
	int half = step == AFTER_ALL;
	if (step != BEFORE_FORWARD) {
		if (!route_took(kit, c->context, pair->taped->operations[half],
				half ? pair->backward : pair->forward))
			*pair->is_taken = 0;
	}
	if (step == BEFORE_BACKWARD)
		kit_take_ledger(kit, c->context, routes);
	if (step == AFTER_ALL)
		route_force(c->context, 0, NATIVE);
	else
		route_force(c->context, pair->taped->slots[step == BEFORE_BACKWARD],
			    step == BEFORE_BACKWARD ? pair->backward : pair->forward);
}

static const struct layer *find(struct kit *kit, const char *name)
{
	for (size_t i = 0; i < n_layers; i++) {
		if (strcmp(layers[i].name, name) == 0)
			return &layers[i];
	}
	kit_give_up(kit, "there is no layer %s", name);
}

static void cross(struct kit *kit, const struct taped *t, tn_context *context, enum route forward,
		  enum route backward)
{
	int is_taken = 1;
	const struct pair pair = {t, forward, backward, &is_taken};
	const struct layer_case c = {.layer = find(kit, t->layer),
				     .dtype = TN_F32,
				     .context = context,
				     .gradient = 1,
				     .step = step,
				     .user = &pair};
	char routes[ROUTES_TEXT];
	kit_case(kit, KIT_CONTEXT, "%s, forward %s, backward %s", t->layer, route_names[forward],
		 route_names[backward]);
	layer_try(kit, &c, routes);
	route_force(context, 0, NATIVE);
	if (is_taken && !kit->case_failed)
		kit_pass(kit);
	else
		kit_unsupported(kit);
}

static void cross_all(struct kit *kit, const struct taped *t, tn_context *context, int only_lent)
{
	for (int i = 0; i < ROUTES * ROUTES; i++) {
		enum route forward = (enum route)(i / ROUTES), backward = (enum route)(i % ROUTES);
		if (forward == COMPOSED || backward == COMPOSED ||
		    (only_lent && forward != LENT && backward != LENT) ||
		    !route_exists(context, t->slots[0], forward) ||
		    !route_exists(context, t->slots[1], backward))
			continue;
		cross(kit, t, context, forward, backward);
	}
}

void check_cross_tape(struct kit *kit)
{
	for (int i = 0; i < N_TAPED; i++) {
		if (strcmp(taped[i].check, kit->check->id) != 0)
			continue;
		cross_all(kit, &taped[i], kit_context(kit), 0);
		if (kit_has_lenders(kit))
			cross_all(kit, &taped[i], kit_lending_context(kit), 1);
	}
}
