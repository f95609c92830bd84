/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The tape: nodes for operations that ran, newest first, and entries for arrays that have a
 * gradient.  Both are in an arena that tn_tape_end frees as a whole.
 *
 * A layer operation runs with recording suspended and then adds its node:
 *
 *     struct tn_suspension suspension = tn_tape_suspend(x);
 *     tn_array *y = ...array operations...;
 *     return tn_tape_resume(suspension, y, &(struct tn_node_request){.operation = "linear", ...});
 *
 * Its backward receives the gradient of its output and returns those of its inputs:
 *
 *     static tn_status linear_backward(struct tn_node *node, tn_array *dy)
 *     {
 *             if (tn_node_wants(node, 0))
 *                     tn_node_give(node, 0, tn_matmul(dy, node->saved[1].array));
 *             ...
 *     }
 * inside a scope of its own, so that it need not free what it makes.
 */
#ifndef TN_AUTOGRAD_NODE_H
#define TN_AUTOGRAD_NODE_H

#include <tenon/autograd.h>

#include "array/array.h"
#include "array/record.h"
#include "autograd/arena.h"

#define TN_NODE_MAX_INPUTS TN_PROGRAM_MAX_INPUTS
/* All inputs, and up to two arrays more. */
#define TN_NODE_MAX_SAVED (TN_NODE_MAX_INPUTS + 2)

/* The tape's entry for an array; array->tracked points to it.  The first member is the array, which
 * is set to NULL when the array is freed (core/array/array.c). */
struct tn_entry {
	tn_array *array;
	struct tn_entry *next; /* all entries of the tape */
	int is_leaf;           /* watched, and held; others are results */
	tn_array *gradient;    /* held; NULL until the first addition */
	tn_array *target;      /* where a leaf's gradient is written, held */
	int *filled;
	int is_weight; /* filled is noted while work is captured (capture/flags.h) */
	/* Called when the target is complete (gradient_ready.h); NULL: nothing is. */
	const struct tn_gradient_hook *hook;
	uint64_t last_use; /* the number of the oldest node that uses it; 0: none */
	int is_reported;
	/* In a pass that selects (backward.c): the gradient is returned; the gradients that are
	 * returned depend on this one. */
	int is_requested;
	int is_needed;
};

/* How a pass differs from the plain backward (backward.c). */
enum {
	TN_PASS_SELECTS = 1, /* only gradients that are needed for those requested */
	TN_PASS_RETAINS = 2, /* nodes keep what they saved */
	TN_PASS_RECORDS = 4, /* the operations of backward are recorded */
};

struct tn_gradient_hook;

struct tn_tape {
	struct tn_runtime *runtime;
	struct tn_recorder recorder;
	struct tn_arena arena;
	struct tn_node *last;
	struct tn_entry *entries;
	const void *network; /* whose weights were watched last; only compared */
	int ran;
	uint32_t pass; /* TN_PASS_..., of the backward that is running */
	/* For hooks of entries (gradient_ready.h): nodes of this pass that are done, and the number
	 * of the last that computes a part again. */
	int has_hooks;
	uint64_t walked;
	uint64_t last_again;
};

struct tn_saved {
	tn_array *array; /* kept; may be NULL */
	uint64_t version;
};

struct tn_node {
	struct tn_node *previous;
	const char *operation;
	struct tn_tape *tape;
	tn_status (*backward)(struct tn_node *node, tn_array *dy);
	uint32_t n_inputs;
	uint32_t n_saved;
	struct tn_entry **inputs; /* NULL: needs no gradient */
	struct tn_saved *saved;
	struct tn_entry *output;   /* the first */
	struct tn_entry **outputs; /* &output, or an array in the arena */
	uint32_t n_outputs;
	int is_twice;
	int is_always;
	const char *place;  /* of the module whose forward ran it; NULL: none, or not noted */
	uint32_t watch_row; /* the same module's row in the watch (array/watch.h); 0: none */
	void (*release)(struct tn_node *node);
	void *state; /* a copy of the request's state; like the arrays above in the arena */
};

struct tn_node_request {
	const char *operation; /* a string that is never freed */
	tn_status (*backward)(struct tn_node *node, tn_array *dy);
	uint32_t n_inputs;
	const tn_array *inputs[TN_NODE_MAX_INPUTS]; /* may hold NULL */
	uint32_t n_saved;
	const tn_array *saved[TN_NODE_MAX_SAVED]; /* what backward reads; may hold NULL */
	const void *state;
	size_t state_size;
	/* Backward consists of recorded operations, and of nodes that it adds itself, so that it
	 * has a derivative.  Otherwise create_graph fails with TN_UNSUPPORTED. */
	int is_twice;
	/* The node is added, and its backward runs, though no input has a gradient: it gives
	 * gradients to arrays that are not its inputs. */
	int is_always;
	void (*release)(struct tn_node *node); /* of the state; may be NULL */
};

/* A suspension of recording; runtime NULL: the operation cannot run. */
struct tn_suspension {
	struct tn_runtime *runtime;
	const struct tn_recorder *recorder;
	struct tn_device *device; /* the current one */
};

/* Stops recording until tn_tape_resume, and makes the device of `any`, one of the operation's
 * arrays, the current one until then: new arrays are made there.  NULL, or a kept error, gives a
 * suspension without runtime. */
struct tn_suspension tn_tape_suspend(const tn_array *any);
/* Resumes recording and, if an input is tracked, adds the node.  Returns output, or NULL when
 * output is NULL or the node could not be made (the error is kept). */
tn_array *tn_tape_resume(struct tn_suspension suspension, tn_array *output,
			 const struct tn_node_request *request);

/* Does input i of the node need a gradient? */
static inline int tn_node_wants(const struct tn_node *node, uint32_t i)
{
	const struct tn_entry *entry = node->inputs[i];
	return entry && (entry->is_needed || !(node->tape->pass & TN_PASS_SELECTS));
}
/* Is the backward that runs being recorded?  Then it neither overwrites dy nor calls operations
 * that are not recorded, unless it adds their nodes itself. */
static inline int tn_node_records(const struct tn_node *node)
{
	return (node->tape->pass & TN_PASS_RECORDS) != 0;
}
/* May a gradient that the tape holds be overwritten?  1 when it and its memory have no other user
 * and no two elements share memory: a backward that has read dy may write an input's gradient into
 * it. */
int tn_gradient_is_free(const tn_array *g);
/* Adds g (a new array of the current scope, or dy itself) to the gradient of input i.  NULL:
 * returns the kept error. */
tn_status tn_node_give(struct tn_node *node, uint32_t i, tn_array *g);
/* The array that the gradient of input i may be written to directly, with *accumulate 1 when it
 * already holds a value to add to; call tn_node_wrote afterwards.  NULL: none, use tn_node_give. */
tn_array *tn_node_target(struct tn_node *node, uint32_t i, int *accumulate);
/* Reports the status of writing to the target of input i; returns it. */
tn_status tn_node_wrote(struct tn_node *node, uint32_t i, tn_status status);

/* Releases saved array i, which the node's backward no longer reads: memory that only the tape held
 * is then free for later work. */
void tn_node_drop(struct tn_node *node, uint32_t i);

/* The status of the error that the runtime keeps: what a backward returns after array functions. */
static inline tn_status tn_runtime_status(const struct tn_runtime *runtime)
{
	return runtime->error.status;
}
static inline struct tn_runtime *tn_node_runtime(const struct tn_node *node)
{
	return node->tape->runtime;
}
/* Adds a node for arrays that have just been made, which have no entries yet.  Does nothing when no
 * input is tracked. */
tn_status tn_tape_add_node(struct tn_tape *tape, uint32_t n_outputs, tn_array *const *outputs,
			   const struct tn_node_request *request, struct tn_error_info *error);
/* The same for one array. */
tn_status tn_tape_add(struct tn_tape *tape, tn_array *output, const struct tn_node_request *request,
		      struct tn_error_info *error);

/* ---- For the tape ----------------------------------------------------------------------------*/

/* NULL: the tape has no entry for the array. */
static inline struct tn_entry *tn_entry_of(const tn_array *array)
{
	return array ? array->tracked : NULL;
}
/* A new entry for the array.  NULL: out of memory. */
struct tn_entry *tn_entry_add(struct tn_tape *tape, tn_array *array);
/* Adds g to the gradient of an entry of the tape. */
tn_status tn_entry_give(struct tn_tape *tape, struct tn_entry *entry, tn_array *g);
/* Releases all arrays that the node saved, and its state. */
void tn_node_drop_all(struct tn_node *node);

#endif
