/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The shared part of optimizers: a module's flat arenas, arenas of the same layout for the
 * optimizer's states, and the partition of the arena into runs that one program can step at once.
 */
#ifndef TN_OPTIM_OPTIMIZER_H
#define TN_OPTIM_OPTIMIZER_H

#include <tenon/optim.h>
#include <tenon/program.h>

#include "nn/module.h"

/* An output of the program is the weight, the others are states. */
#define TN_OPTIMIZER_MAX_STATES (TN_PROGRAM_MAX_OUTPUTS - 1)

/* The update rule of one optimizer: a program over the inputs w, dw and the states, and the named
 * scalars (all f32), with the outputs w and the states. */
struct tn_optimizer_rule {
	const char *name; /* "sgd": for errors and the ledger */
	const char *text;
	const char *const *states; /* names, up to a NULL */
	const char *const *scalars;
	uint32_t n_scalars;
	/* The scalars at a weight's step number `step`, from 1, in the order of their names. */
	void (*scalars_at)(const void *options, double lr, uint64_t step, double *scalars);
};

/* Consecutive weights with equal settings: elements [begin, end) of the arena, numbers
 * [first, last) of the listing. */
struct tn_run {
	int64_t begin;
	int64_t end;
	size_t first;
	size_t last;
	uint64_t step; /* of these weights, from 1 */
};

struct tn_captured_run;

struct tn_optimizer {
	tn_module *module;
	const struct tn_optimizer_rule *rule;
	void *options; /* the rule's own copy */
	double lr;
	tn_program *program;
	size_t n_states;
	tn_array *states[TN_OPTIMIZER_MAX_STATES]; /* arenas, kept */
	uint64_t *steps;                           /* of each weight: its number of steps */
	struct tn_captured_run *captured;          /* of existing graphs */
};

/* Makes an optimizer with a zeroed arena for each state.  The options, of `size` bytes, are copied;
 * the rule must never be freed.  NULL: the error is kept. */
tn_optimizer *tn_optimizer_create(tn_module *module, const struct tn_optimizer_rule *rule,
				  double lr, const void *options, size_t size);
/* The next run of weights to step, from weight *next on; 0: none. */
int tn_optimizer_next_run(const tn_module *module, const uint64_t *steps, size_t *next,
			  struct tn_run *run);

#endif
