/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What optimizers share: a module's flat arenas, arenas of the same layout for what the optimizer
 * keeps, and the cutting of the arena into runs that one program can step at once.
 */
#ifndef TN_OPTIM_OPTIMIZER_H
#define TN_OPTIM_OPTIMIZER_H

#include <tenon/optim.h>
#include <tenon/program.h>

#include "nn/module.h"

#define TN_OPTIMIZER_MAX_STATES 2

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
	const char *name;
	double lr;
	/* The program's scalars at a weight's step number `step`, from 1. */
	void (*scalars_at)(const tn_optimizer *optimizer, uint64_t step, double *scalars);
	tn_program *program;
	size_t n_states;
	tn_array *states[TN_OPTIMIZER_MAX_STATES]; /* arenas, kept */
	uint64_t *steps;                           /* of each weight: how often it was stepped */
	struct tn_captured_run *captured;          /* of graphs that live */
	union {
		struct tn_sgd_options sgd;
		struct tn_adamw_options adamw;
	} options;
};

/* Makes an optimizer with n_states zeroed arenas and the program `text` over inputs w, dw and the
 * states, the named scalars (f32), and outputs w and the states.  NULL: the error is kept. */
tn_optimizer *tn_optimizer_create(tn_module *module, const char *name, size_t n_states,
				  const char *const *states, const char *text, uint32_t n_scalars,
				  const char *const *scalars);
/* The next run of weights that are to be stepped, from weight *next on; 0: there is none. */
int tn_optimizer_next_run(const tn_module *module, const uint64_t *steps, size_t *next,
			  struct tn_run *run);

#endif
