/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The shared part of optimizers: a module's flat arenas, arenas of the same layout for the
 * optimizer's states, and the settings of each weight, which partition the arena into runs.
 * Gradients and states have one dtype, tn_arena_dtype, in which rules compute: f32, or f64 in a
 * network of f64.  The weights of a network of f16 or bf16 have masters of that dtype (masters.h).
 */
#ifndef TN_OPTIM_OPTIMIZER_H
#define TN_OPTIM_OPTIMIZER_H

#include <tenon/optim.h>
#include <tenon/program.h>

#include "nn/shard.h"
#include "optim/captured.h"
#include "optim/row_sums.h"
#include "optim/runs.h"

/* Outputs of the program are the weight and its master, the others are states. */
#define TN_OPTIMIZER_MAX_STATES (TN_PROGRAM_MAX_OUTPUTS - 2)

/* The operands of a program: stored and master or w, dw or d, the states, and ratio. */
enum {
	TN_OPTIMIZER_MAX_INPUTS = 4 + TN_OPTIMIZER_MAX_STATES,
	TN_OPTIMIZER_MAX_OUTPUTS = 2 + TN_OPTIMIZER_MAX_STATES,
};

/* What the scalars of a run depend on. */
struct tn_rule_point {
	uint64_t step; /* from 1 */
	double lr;
	double weight_decay;
	int is_adapted;
};

/* The update rule of one optimizer: a formula over the inputs w, dw and the states, and the named
 * scalars, all of one dtype, with the outputs w and the states.
 *
 * A layer-wise rule has up to two formulas more, with the same scalars.  `ratio` computes a number
 * for each weight from the inputs w_squares and d_squares, the sums of the squares of w and dw; the
 * output, ratio, is an input of `text`.  `prepare` runs before: its inputs are those of a plain
 * rule, and its outputs are the states and d, which takes the place of dw for the sums, and of dw
 * and the states in `text`. */
struct tn_optimizer_rule {
	const char *name; /* "sgd": for errors and the ledger */
	/* Tells apart rules with the same name, states and scalars: "nesterov"; NULL: none. */
	const char *variant;
	const char *text;
	const char *prepare;                             /* may be NULL */
	const char *ratio;                               /* NULL: not a layer-wise rule */
	const char *states[TN_OPTIMIZER_MAX_STATES + 1]; /* up to a NULL */
	const char *scalars;                             /* words, as in a formula */
	/* The scalars of a step, in the order of their names.  The options are the rule's own copy,
	 * in which it may remember. */
	void (*scalars_at)(void *options, const struct tn_rule_point *at, double *scalars);
};

/* What a step adds to the gradients; 0: nothing. */
struct tn_gradient_hooks {
	double lasso;
	double eta; /* the variance of the noise at step 1 */
	double gamma;
	tn_array *mask; /* arena of u8, kept: 1 in weights, 0 in the gaps between them */
};

/* Views of one weight's parts of the states, of the masters and of the slow weights, kept; NULL:
 * not asked for yet. */
enum { TN_STATE_VIEWS = TN_OPTIMIZER_MAX_STATES + 2 };
struct tn_state_views {
	tn_array *states[TN_STATE_VIEWS];
};

struct tn_lookahead_state {
	uint64_t k;
	double alpha;
	uint64_t steps; /* done */
	tn_array *slow; /* of the share's size, kept; NULL: no Lookahead */
};

struct tn_optimizer {
	tn_module *module;
	const struct tn_optimizer_rule *rule;
	void *options; /* the rule's own copy */
	double lr;
	tn_program *program;
	tn_program *prepare; /* NULL: the rule has none */
	tn_program *ratio;   /* NULL: the rule has none */
	/* Of a layer-wise rule (layerwise.h): kept; and the sums of its rows. */
	tn_array *segments;
	struct tn_row_sums row_sums;
	size_t n_states;
	uint32_t n_scalars;
	/* The part of the arena that has states here: all of it unless it is sharded (shard.h). */
	struct tn_share share;
	tn_array *states[TN_OPTIMIZER_MAX_STATES]; /* of the share's size, kept */
	tn_array *masters; /* of the share's size, kept; NULL: the weights are wide */
	struct tn_weight_setting *settings; /* in the order of the module's listing */
	struct tn_state_views *views;       /* in the same order; NULL: not asked for yet */
	struct tn_gradient_hooks hooks;
	struct tn_lookahead_state lookahead;
	struct tn_captured_list captured; /* in existing graphs */
	/* Of a sharded one, else 0 and NULL. */
	uint32_t shard_rank;
	uint32_t n_shards;
	tn_array *values; /* the share of the weights, kept */
	int is_gathered;
	tn_array *gathered[TN_STATE_VIEWS]; /* whole arenas, kept; they replace the states */
};

/* Makes an optimizer with a zeroed arena for each state.  The options, of `size` bytes, are copied;
 * the rule must never be freed.  NULL: the error is kept. */
tn_optimizer *tn_optimizer_create(tn_module *module, const struct tn_optimizer_rule *rule,
				  double lr, double weight_decay, const void *options, size_t size);

/* 1: rules do not adapt weights of one axis and none.  Takes NULL. */
void tn_optimizer_spare_vectors(tn_optimizer *optimizer, int are_spared);

/* Nesterov's momentum: TN_INVALID_ARGUMENT, kept, without momentum or with dampening. */
tn_status tn_nesterov_check(struct tn_runtime *runtime, const char *operation, double momentum,
			    double dampening);

#endif
