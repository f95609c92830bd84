/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The structs of a module.  A weight is one parameter; slots give it names, and two slots may hold
 * one weight.  After building, the outermost module has the arena in which all weights of its tree
 * lie, in the order in which the tree names them.
 */
#ifndef TN_NN_MODULE_H
#define TN_NN_MODULE_H

#include <tenon/nn.h>

#include "array/array.h"
#include "array/handle.h"
#include "array/runtime.h"

struct tn_weight {
	unsigned n_slots; /* the number of modules that hold it */
	int rank;
	int64_t shape[TN_MAX_RANK];
	int64_t size;
	/* Initial values: normal with mean 0 if deviation is above 0, else uniform in +-bound, or
	 * `constant` when that is 0; and zeros in row zero_row - 1, unless zero_row is 0. */
	double bound;
	double constant;
	double deviation;
	int64_t zero_row;
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

/* State that is neither trained nor counted: one module owns it. */
struct tn_buffer {
	char *name;
	tn_dtype declared;
	tn_dtype dtype; /* after building; before, as declared */
	int rank;
	int64_t shape[TN_MAX_RANK];
	int64_t size;
	double initial;
	tn_array *value; /* after building; kept */
	int is_optional; /* files may lack it */
};

struct tn_member {
	char *name;
	tn_module *module;
};

/* A weight with its path from a given module. */
struct tn_named_weight {
	char *name;
	struct tn_weight *weight;
};

struct tn_named_buffer {
	char *name;
	struct tn_buffer *buffer;
};

/* Each weight begins at a multiple of this many elements (256 bytes of f32). */
enum { TN_ARENA_ALIGNMENT = 64 };
struct tn_named_module {
	char *path;
	tn_module *module;
};

struct tn_arena_arrays {
	tn_array *values;    /* of the network's dtype */
	tn_array *gradients; /* of tn_arena_dtype */
	int64_t size;        /* elements, padding included */
	size_t *order;       /* the listing's weights in the order in which they lie */
};

/* Optimizers' states spread over the ranks of a training (nn/shard.h).  n_ranks 0: they are not.
 * `gather` makes whole, on every rank, an arena of the module of which each rank has its share; the
 * label is for errors.  NULL: the caller does that.  Errors are kept. */
struct tn_shard {
	uint32_t rank;
	uint32_t n_ranks;
	tn_status (*gather)(void *user, tn_array *arena, const char *label);
	void *user;
};

/* The epilogue of a layer: activation(y + residual). */
struct tn_then {
	const tn_array *residual; /* NULL: nothing is added */
	uint32_t activation;      /* TN_ACTIVATION_... */
	int is_folded;            /* a frozen convolution includes the batch norm after it */
};

struct tn_freezing;
struct tn_gradient_hook;
struct tn_norm_ranks;

/* The functions of a frozen network, which tn_module_freeze installs. */
struct tn_frozen_functions {
	tn_array *(*forward)(tn_module *outermost, const tn_array *x);
	/* Of the forward that is being recorded: is there one?  Its next packed weights, where
	 * another context has made them (NULL: none has); and, after that, those that this one has
	 * made, for others: returns them, or what took their place. */
	int (*is_recording)(const tn_module *outermost);
	tn_array *(*find)(tn_module *outermost);
	tn_array *(*share)(tn_module *outermost, tn_array *packed);
	/* Keeps an array as long as the replay; 0: out of memory. */
	int (*keep)(tn_module *outermost, tn_array *array);
	void (*unfreeze)(tn_module *outermost);
};

/* A convolution with the batch norm after it, while frozen; the arrays are kept. */
struct tn_fold {
	tn_module *norm;
	tn_array *w;
	tn_array *b;
};

struct tn_module {
	tn_context *context;
	struct tn_runtime *runtime;
	struct tn_module_class class_;
	char *class_name;
	void *state;
	size_t state_size; /* of a class of the library, which may be copied as bytes */
	tn_module *parent; /* NULL: outermost */
	struct tn_member *members;
	size_t n_members;
	/* For chains.  forward_then: forward with its epilogue in one step; NULL: not supported.
	 * activation: this is a plain activation.  shortcut: the member of a residual block that is
	 * not in its chain. */
	tn_array *(*forward_then)(tn_module *module, const tn_array *x, const struct tn_then *then);
	uint32_t activation;
	int is_max_pool;
	tn_module *shortcut;
	int is_repeatable;
	uint32_t least_elements; /* of each channel of a batch, in training; 0: any number */
	int is_foreign;          /* of a class of the application */
	int is_recomputed;       /* tn_module_set_recompute */
	/* While the runtime has a watch (array/watch.h): its row there, from 1; 0: not watched. */
	uint32_t watch_row;
	/* While frozen, else NULL: of the outermost module, both or none; of a convolution. */
	struct tn_freezing *frozen;
	const struct tn_frozen_functions *when_frozen;
	struct tn_fold *fold;
	struct tn_slot_entry *slots;
	size_t n_slots;
	struct tn_buffer **buffers;
	size_t n_buffers;
	int training;
	int sealed;
	tn_dtype dtype; /* by tn_module_set_dtype; 0: not chosen */
	size_t n_users; /* optimizers, averages and scalers of the module */
	/* Every weight of the tree once, with its first name; made at the first request. */
	struct tn_named_weight *listing;
	size_t n_listing;
	struct tn_named_buffer *buffer_listing; /* every buffer of the tree */
	size_t n_buffer_listing;
	struct tn_named_module *module_listing; /* every module of the tree */
	size_t n_module_listing;
	int listed;
	tn_forward_hook forward_hook; /* NULL: none */
	void *forward_hook_user;
	tn_backward_hook backward_hook; /* NULL: none */
	void *backward_hook_user;
	struct tn_arena_arrays arena; /* of the outermost module, after building */
	/* Of the outermost module: told when a weight's gradient is complete; NULL: nobody is. */
	const struct tn_gradient_hook *gradient_hook;
	/* Of the outermost module: batch norms in training are over these; NULL: over one. */
	const struct tn_norm_ranks *norm_ranks;
	struct tn_shard shard; /* of the same */
};

/* The dtype of gradients and of optimizers' states, of a built outermost module: f64 of f64, else
 * f32. */
static inline tn_dtype tn_arena_dtype(const tn_module *module)
{
	return module->arena.gradients->dtype;
}

static inline int tn_module_has_hook(const tn_module *module)
{
	return module->forward_hook || module->backward_hook;
}

/* The end of what uses a module, which is a member of it: frees the user, or puts it
 * in the quarantine (array/handle.h). */
void tn_module_user_end(tn_module **module, void *user, const char *what);
/* A question to such a handle, which may outlive the module where handles are not checked. */
static inline tn_status tn_module_user_check(const tn_module *module, const char *operation)
{
	return tn_quarantine_is_open ? tn_handle_check(module->runtime, operation) : TN_OK;
}

/* A module whose state is allocated by the caller; `state` is freed on failure. */
/* Keeps that the module or the new member is NULL, and destroys the member. */
tn_status tn_module_no_member(const tn_module *module, tn_module *member, const char *operation);

tn_module *tn_module_of_class(tn_context *context, const struct tn_module_class *class_,
			      const void *state, size_t state_size);
/* A module of one of the library's classes: its forward can be replayed. */
tn_module *tn_module_make(tn_context *context, const struct tn_module_class *class_, void *state);

#endif
