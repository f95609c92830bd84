/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The shared part of optimizers: a module's flat arenas, arenas of the same layout for the
 * optimizer's states, and the settings of each weight, which partition the arena into runs.
 */
#ifndef TN_OPTIM_OPTIMIZER_H
#define TN_OPTIM_OPTIMIZER_H

#include <tenon/optim.h>
#include <tenon/program.h>

#include "optim/captured.h"
#include "optim/runs.h"

/* An output of the program is the weight, the others are states. */
#define TN_OPTIMIZER_MAX_STATES (TN_PROGRAM_MAX_OUTPUTS - 1)

/* What the scalars of a run depend on. */
struct tn_rule_point {
	uint64_t step; /* from 1 */
	double lr;
	double weight_decay;
};

/* The update rule of one optimizer: a program over the inputs w, dw and the states, and the named
 * scalars (all f32), with the outputs w and the states. */
struct tn_optimizer_rule {
	const char *name; /* "sgd": for errors and the ledger */
	const char *text;
	const char *const *states; /* names, up to a NULL */
	const char *const *scalars;
	uint32_t n_scalars;
	/* The scalars of a step, in the order of their names.  The options are the rule's own copy,
	 * in which it may remember. */
	void (*scalars_at)(void *options, const struct tn_rule_point *at, double *scalars);
};

struct tn_optimizer {
	tn_module *module;
	const struct tn_optimizer_rule *rule;
	void *options; /* the rule's own copy */
	double lr;
	tn_program *program;
	size_t n_states;
	tn_array *states[TN_OPTIMIZER_MAX_STATES]; /* arenas, kept */
	struct tn_weight_setting *settings;        /* in the order of the module's listing */
	tn_array **views;                 /* of the states' parts; NULL: none was asked for */
	struct tn_captured_list captured; /* in existing graphs */
};

/* Makes an optimizer with a zeroed arena for each state.  The options, of `size` bytes, are copied;
 * the rule must never be freed.  NULL: the error is kept. */
tn_optimizer *tn_optimizer_create(tn_module *module, const struct tn_optimizer_rule *rule,
				  double lr, double weight_decay, const void *options, size_t size);

/* `value`, or `otherwise` when it is 0. */
double tn_or_default(double value, double otherwise);

#endif
