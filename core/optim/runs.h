/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Runs: consecutive weights of the arena that are trainable, have a gradient and have equal
 * settings, so that one program updates them all.  The gaps between weights belong to the run: they
 * are zero and remain zero.
 */
#ifndef TN_OPTIM_RUNS_H
#define TN_OPTIM_RUNS_H

#include "nn/module.h"

/* What an optimizer knows of each weight. */
struct tn_weight_setting {
	uint64_t steps; /* done */
	double lr_factor;
	double weight_decay;
};

/* Elements [begin, end) of the arena, numbers [first, last) of its order. */
struct tn_run {
	int64_t begin;
	int64_t end;
	size_t first;
	size_t last;
};

/* The next run from weight *next of the arena's order on; 0: none.  `settings` has the listing's
 * order; NULL: all weights have equal ones. */
int tn_next_run(const tn_module *module, const struct tn_weight_setting *settings, size_t *next,
		struct tn_run *run);

/* The settings of the weight at place `place` of the arena's order, or its name. */
struct tn_weight_setting *tn_setting_at(const tn_module *module, struct tn_weight_setting *settings,
					size_t place);
const char *tn_weight_name_at(const tn_module *module, size_t place);
int tn_settings_equal(const struct tn_weight_setting *a, const struct tn_weight_setting *b);

/* A weight's part of an arena, in its shape, held; NULL: the error is kept. */
tn_array *tn_view_weight(const tn_module *module, const tn_array *arena,
			 const struct tn_weight *weight);
/* The run's part of an arena, in the innermost scope. */
tn_array *tn_slice_run(const tn_array *arena, const struct tn_run *run);

#endif
