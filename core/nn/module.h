/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What a module is made of.  A weight is one parameter; slots give it names, and two slots may hold
 * one weight.  After building, the outermost module has the arena in which all weights of its tree
 * lie, in the order in which the tree names them.
 */
#ifndef TN_NN_MODULE_H
#define TN_NN_MODULE_H

#include <tenon/nn.h>

#include "array/runtime.h"

struct tn_weight {
	unsigned n_slots; /* how many modules hold it */
	int rank;
	int64_t shape[TN_MAX_RANK];
	int64_t size;
	double bound; /* initial values: uniform in +-bound, or `constant` when it is 0 */
	double constant;
	int trainable;
	/* After building: views of the arena, kept. */
	tn_array *value;
	tn_array *gradient;
	int filled;     /* the gradient holds something */
	int64_t offset; /* elements from the arena's start */
	size_t number;  /* among the arena's weights */
};

struct tn_slot_entry {
	char *name;
	struct tn_weight *weight;
};

struct tn_member {
	char *name;
	tn_module *module;
};

/* A weight with its path from some module. */
struct tn_named_weight {
	char *name;
	struct tn_weight *weight;
};

struct tn_arena_arrays {
	tn_array *values;
	tn_array *gradients;
	int64_t size; /* elements, padding included */
};

struct tn_module {
	tn_context *context;
	struct tn_runtime *runtime;
	struct tn_module_class class_;
	char *class_name;
	void *state;
	tn_module *parent; /* NULL: outermost */
	struct tn_member *members;
	size_t n_members;
	struct tn_slot_entry *slots;
	size_t n_slots;
	int training;
	int sealed;
	/* Every weight of the tree once, with its first name; made when first asked for. */
	struct tn_named_weight *listing;
	size_t n_listing;
	int listed;
	struct tn_arena_arrays arena; /* of the outermost module, after building */
};

/* Makes the listing if need be.  TN_OUT_OF_MEMORY (kept). */
tn_status tn_module_list(const tn_module *module);
void tn_module_unlist(tn_module *module); /* of it and the modules around it */
/* TN_INVALID_ARGUMENT: empty, with a dot, or taken. */
tn_status tn_module_check_name(const tn_module *module, const char *name);
/* A module whose state is allocated by the caller; `state` is freed on failure. */
tn_module *tn_module_of_class(tn_context *context, const struct tn_module_class *class_,
			      const void *state, size_t state_size);
/* Did the outermost module get its arena? */
int tn_module_is_built(const tn_module *module);
const tn_module *tn_module_root(const tn_module *module);

#endif
