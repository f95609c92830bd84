/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The arenas of a network: one for the values and one for the gradients, each weight a view at a
 * multiple of TN_ARENA_ALIGNMENT elements, the gaps between them always zero.  The values have the
 * network's dtype.  Gradients of f16 and bf16 are kept in f32: they add up over several backwards,
 * and what remains of a small one after it is unscaled (tn_grad_scaler_unscale) is below f16.
 * Weights with two axes or more come first and then the others, both in the order of the listing:
 * an optimizer that sets biases and norms apart has two runs of weights, not one for each weight.
 */
#ifndef TN_NN_ARENA_H
#define TN_NN_ARENA_H

#include "nn/module.h"

/* Arenas that are not installed yet; the lists have the order of the listing. */
struct tn_network_arena {
	struct tn_arena_arrays arrays;
	int64_t *offsets;
	tn_array **values; /* views, kept, like those of the gradients */
	tn_array **gradients;
	size_t n;
};

/* Makes arenas of zeros for a listed module on the current device, in the innermost scope.  Call
 * tn_network_arena_free or tn_network_arena_install afterwards, on failure the first.  Errors are
 * kept. */
tn_status tn_network_arena_make(const tn_module *module, tn_dtype dtype,
				struct tn_network_arena *arena);
/* The same with the values in `values`, an array of the arena's size, and without gradients: of a
 * network that does not train. */
tn_status tn_network_arena_over(const tn_module *module, tn_array *values,
				struct tn_network_arena *arena);
void tn_network_arena_free(struct tn_network_arena *arena);

/* Gives them to the module, in the place of those that it has; no weight has a gradient then. */
void tn_network_arena_install(tn_module *module, struct tn_network_arena *arena);

#endif
