/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Activation checkpointing (Chen et al. 2016).  Forward runs the function without recording and
 * adds one node that saves its inputs.  The node's backward computes the function again on views of
 * these inputs, recorded on the same tape behind its newest node, walks over what was recorded, and
 * removes it.  Arrays that the function reads besides its inputs have the entries of the tape, and
 * so get their gradients there.
 *
 * The function draws the same random numbers: the scalars of its draws are kept
 * (capture/stepped.h), which in captured work are places on the device that each replay fills.
 */
#include "autograd/recompute.h"

#include <stddef.h>
#include <string.h>

#include "array/array.h"
#include "array/make.h"
#include "autograd/backward.h"
#include "autograd/node.h"
#include "base/memory.h"
#include "capture/stepped.h"

struct recomputed {
	tn_recompute_function f;
	void *user;
	struct tn_draws *draws; /* owned */
	int is_copied;          /* `copy` takes the place of user */
	max_align_t copy[TN_RECOMPUTE_COPY / sizeof(max_align_t)];
};

static tn_array *compute(const struct recomputed *own, tn_array *const *inputs)
{
	return own->f(own->is_copied ? (void *)(uintptr_t)own->copy : own->user, inputs);
}

static void free_draws(struct tn_draws *draws)
{
	if (!draws)
		return;
	tn_mem_free(draws->scalars);
	tn_mem_free(draws);
}

static void release(struct tn_node *node)
{
	const struct recomputed *own = node->state;
	free_draws(own->draws);
}

/* f in a scope of its own, with its draws kept or repeated.  The result is a new view. */
static tn_array *call(struct tn_runtime *rt, const struct recomputed *own, tn_array *const *inputs)
{
	struct tn_draws *outer = rt->draws;
	if (tn_scope_begin(rt->context))
		return NULL;
	rt->draws = own->draws;
	tn_array *y = compute(own, inputs);
	rt->draws = outer;
	if (!y && !tn_runtime_status(rt))
		tn_runtime_fail(rt, TN_INVALID_ARGUMENT, "recompute", "the function returned NULL");
	y = y ? tn_reshape(y, y->rank, y->shape) : NULL;
	tn_scope_end(rt->context, y);
	return y;
}

/* ---- Backward --------------------------------------------------------------------------------*/

/* A leaf of the computation that is repeated: a view of input i. */
static tn_array *leaf_of(struct tn_node *node, uint32_t i)
{
	tn_array *view = tn_detach(node->saved[i].array);
	if (!view || !tn_node_wants(node, i))
		return view;
	struct tn_entry *entry = tn_entry_add(node->tape, view);
	if (!entry) {
		tn_runtime_no_memory(tn_node_runtime(node), "recompute", "the tape");
		return NULL;
	}
	entry->is_needed = 1;
	return view;
}

/* Records the function again; NULL: the error is kept. */
static tn_array *record_again(struct tn_node *node, tn_array *const *leaves, const tn_array *dy)
{
	struct tn_tape *tape = node->tape;
	struct tn_runtime *rt = tape->runtime;
	const struct recomputed *own = node->state;
	const struct tn_recorder *recorder = rt->recorder;
	int ran = tape->ran;
	own->draws->outer = rt->draws;
	own->draws->next = 0;
	own->draws->repeats = 1;
	tape->ran = 0;
	rt->recorder = &tape->recorder;
	tn_array *y = call(rt, own, leaves);
	rt->recorder = recorder;
	tape->ran = ran;
	if (!y || (y->rank == dy->rank && y->dtype == dy->dtype &&
		   !memcmp(y->shape, dy->shape, (size_t)y->rank * sizeof(int64_t))))
		return y;
	tn_runtime_fail(rt, TN_STATE, "recompute",
			"the function returned another shape or dtype when it was computed again");
	return NULL;
}

/* create_graph: the function's nodes stay on the tape, since the gradients depend on them, and read
 * the inputs themselves. */
static tn_status backward_recorded(struct tn_node *node, tn_array *dy)
{
	struct tn_tape *tape = node->tape;
	struct tn_node *newest = tape->last;
	tn_array *inputs[TN_NODE_LIMIT];
	for (uint32_t i = 0; i < node->n_inputs; i++)
		inputs[i] = node->saved[i].array;
	tn_array *y = record_again(node, inputs, dy);
	struct tn_entry *output = tn_entry_of(y);
	if (!y || !output)
		return tn_runtime_status(tape->runtime);
	tn_tape_mark_needed(tape, newest);
	tn_status status = tn_entry_give(tape, output, dy);
	return status ? status : tn_tape_walk(tape, newest, 0);
}

static tn_status backward(struct tn_node *node, tn_array *dy)
{
	if (tn_node_records(node))
		return backward_recorded(node, dy);
	struct tn_tape *tape = node->tape;
	struct tn_node *newest = tape->last;
	tn_array *leaves[TN_NODE_LIMIT];
	for (uint32_t i = 0; i < node->n_inputs; i++) {
		leaves[i] = leaf_of(node, i);
		if (!leaves[i])
			return tn_runtime_status(tape->runtime);
	}
	tn_array *y = record_again(node, leaves, dy);
	tn_status status = y ? TN_OK : tn_runtime_status(tape->runtime);
	struct tn_entry *output = tn_entry_of(y);
	if (!status && output) {
		if (tape->pass & TN_PASS_SELECTS)
			tn_tape_mark_needed(tape, newest);
		status = tn_entry_give(tape, output, dy);
	}
	if (!status)
		status = tn_tape_walk(tape, newest, 1);
	for (struct tn_node *left = tape->last; left != newest; left = left->previous)
		tn_node_drop_all(left);
	tape->last = newest;
	for (uint32_t i = 0; i < node->n_inputs; i++) {
		struct tn_entry *entry = tn_entry_of(leaves[i]);
		if (!entry)
			continue;
		if (entry->gradient && !status)
			status = tn_node_give(node, i, entry->gradient);
		tn_array_unhold(entry->gradient);
		entry->gradient = NULL;
	}
	return status;
}

/* ---- Forward ---------------------------------------------------------------------------------*/

static tn_array *record(struct recomputed own, size_t n_inputs, tn_array *const *inputs)
{
	if (tn_arrays_given((uint32_t)n_inputs, (const tn_array *const *)inputs, "recompute"))
		return NULL;
	struct tn_runtime *rt = inputs[0]->runtime;
	if (n_inputs > TN_NODE_LIMIT) {
		tn_runtime_fail(rt, TN_LIMIT, "recompute", "%zu inputs exceed the %d of a node",
				n_inputs, TN_NODE_LIMIT);
		return NULL;
	}
	/* Anomaly mode names the operations of f, so it records them. */
	if (!rt->recorder || rt->anomaly)
		return compute(&own, inputs);
	own.draws = tn_mem_zeroed(1, sizeof(*own.draws));
	if (!own.draws) {
		tn_runtime_no_memory(rt, "recompute", "what is computed again");
		return NULL;
	}
	struct tn_node_request request = {.operation = "recompute",
					  .backward = backward,
					  .n_inputs = (uint32_t)n_inputs,
					  .n_saved = (uint32_t)n_inputs,
					  .state = &own,
					  .state_size = sizeof(own),
					  .is_twice = 1,
					  .is_always = 1,
					  .release = release};
	for (size_t i = 0; i < n_inputs; i++)
		request.saved[i] = request.inputs[i] = inputs[i];
	struct tn_suspension suspension = tn_tape_suspend(inputs[0]);
	struct tn_tape *tape = suspension.recorder->user;
	const struct tn_node *before = tape->last;
	own.draws->outer = rt->draws;
	tn_array *y = tn_tape_resume(suspension, call(rt, &own, inputs), &request);
	if (tape->last == before)
		free_draws(own.draws);
	return y;
}

tn_array *tn_recompute(tn_recompute_function f, void *user, size_t n_inputs,
		       tn_array *const *inputs)
{
	if (!n_inputs || !inputs)
		return NULL;
	if (!f && inputs[0])
		tn_runtime_null(inputs[0]->runtime, "recompute", "f");
	if (!f)
		return NULL;
	return record((struct recomputed){.f = f, .user = user}, n_inputs, inputs);
}

tn_array *tn_recompute_copied(tn_recompute_function f, const void *state, size_t size,
			      size_t n_inputs, tn_array *const *inputs)
{
	struct recomputed own = {.f = f, .is_copied = 1};
	memcpy(own.copy, state, size);
	return record(own, n_inputs, inputs);
}
