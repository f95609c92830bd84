/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Nodes and entries of a tape: adding them while operations run, and passing gradients in backward.
 */
#include "autograd/node.h"

#include <string.h>

#include "array/array.h"
#include "array/watch.h"
#include "autograd/anomaly.h"
#include "base/error.h"
#include "capture/capture.h"

/* ---- Entries ---------------------------------------------------------------------------------*/

struct tn_entry *tn_entry_add(struct tn_tape *tape, tn_array *array)
{
	struct tn_entry *entry = tn_arena_take(&tape->arena, sizeof(*entry));
	if (!entry)
		return NULL;
	entry->next = tape->entries;
	tape->entries = entry;
	entry->array = array;
	array->tracked = entry;
	return entry;
}

/* ---- Nodes -----------------------------------------------------------------------------------*/

/* The entries of the outputs; NULL: out of memory. */
static struct tn_entry **add_outputs(struct tn_tape *tape, struct tn_node *node, uint32_t n,
				     tn_array *const *outputs)
{
	node->n_outputs = n;
	node->outputs = &node->output;
	if (n > 1)
		node->outputs = tn_arena_take(&tape->arena, n * sizeof(struct tn_entry *));
	for (uint32_t i = 0; node->outputs && i < n; i++) {
		node->outputs[i] = tn_entry_add(tape, outputs[i]);
		if (!node->outputs[i])
			return NULL;
	}
	if (node->outputs)
		node->output = node->outputs[0];
	return node->outputs;
}

/* Anomaly mode: notes where the node is, and checks its results. */
static tn_status check_outputs(struct tn_node *node, uint32_t n, tn_array *const *outputs,
			       struct tn_error_info *error)
{
	struct tn_runtime *rt = tn_node_runtime(node);
	size_t length = rt->place ? strlen(rt->place) + 1 : 0;
	char *place = length ? tn_arena_take(&node->tape->arena, length) : NULL;
	if (place)
		node->place = memcpy(place, rt->place, length);
	for (uint32_t i = 0; i < n; i++) {
		tn_status status = tn_anomaly_check(outputs[i], node->operation, node->place, 0, i);
		if (status) {
			*error = rt->error;
			return status;
		}
	}
	return TN_OK;
}

tn_status tn_tape_add_node(struct tn_tape *tape, uint32_t n_outputs, tn_array *const *outputs,
			   const struct tn_node_request *request, struct tn_error_info *error)
{
	int any_tracked = request->is_always;
	for (uint32_t i = 0; i < request->n_inputs; i++)
		any_tracked |= tn_entry_of(request->inputs[i]) != NULL;
	if (tape->ran || !any_tracked)
		return TN_OK;
	struct tn_node *node = tn_arena_take(&tape->arena, sizeof(*node));
	struct tn_entry **inputs =
		tn_arena_take(&tape->arena, request->n_inputs * sizeof(struct tn_entry *));
	struct tn_saved *saved =
		tn_arena_take(&tape->arena, request->n_saved * sizeof(struct tn_saved));
	void *state = tn_arena_take(&tape->arena, request->state_size);
	/* Before the outputs have entries: one may be an input. */
	for (uint32_t i = 0; inputs && i < request->n_inputs; i++)
		inputs[i] = tn_entry_of(request->inputs[i]);
	if (!node || !inputs || !saved || !state || !add_outputs(tape, node, n_outputs, outputs))
		return tn_no_memory(error, request->operation, NULL, "the tape");
	if (request->state_size)
		memcpy(state, request->state, request->state_size);
	node->operation = request->operation;
	node->tape = tape;
	node->backward = request->backward;
	node->n_inputs = request->n_inputs;
	node->inputs = inputs;
	node->saved = saved;
	node->state = state;
	node->is_twice = request->is_twice;
	node->is_always = request->is_always;
	node->release = request->release;
	node->n_saved = request->n_saved;
	if (tape->runtime->watch)
		node->watch_row = tape->runtime->watch->row;
	for (uint32_t i = 0; i < request->n_saved; i++) {
		tn_array *array = tn_array_const_cast(request->saved[i]);
		if (!array)
			continue;
		node->saved[i].array = tn_array_hold(array);
		node->saved[i].version = array->storage->version;
	}
	node->previous = tape->last;
	tape->last = node;
	return tape->runtime->anomaly ? check_outputs(node, n_outputs, outputs, error) : TN_OK;
}

tn_status tn_tape_add(struct tn_tape *tape, tn_array *output, const struct tn_node_request *request,
		      struct tn_error_info *error)
{
	return tn_tape_add_node(tape, 1, &output, request, error);
}

struct tn_suspension tn_tape_suspend(const tn_array *any)
{
	struct tn_suspension suspension = {NULL, NULL, NULL};
	if (!any || tn_runtime_ready(any->runtime))
		return suspension;
	suspension.runtime = any->runtime;
	suspension.recorder = any->runtime->recorder;
	suspension.device = any->runtime->device;
	any->runtime->recorder = NULL;
	any->runtime->device = tn_array_home(any);
	return suspension;
}

tn_array *tn_tape_resume(struct tn_suspension suspension, tn_array *output,
			 const struct tn_node_request *request)
{
	struct tn_runtime *rt = suspension.runtime;
	if (!rt)
		return NULL;
	rt->recorder = suspension.recorder;
	rt->device = suspension.device;
	if (!output || !rt->recorder)
		return output;
	struct tn_error_info error;
	if (!tn_tape_add(rt->recorder->user, output, request, &error))
		return output;
	tn_runtime_keep(rt, &error);
	tn_array_destroy(output);
	return NULL;
}

/* ---- Backward --------------------------------------------------------------------------------*/

int tn_gradient_is_free(const tn_array *g)
{
	if (g->held != 1 || g->kept || g->scope || g->storage->references != 1)
		return 0;
	/* Dense in some order of its axes: no two elements share memory. */
	int64_t span = 1;
	for (int i = 0; i < g->rank; i++) {
		if (g->shape[i] > 1 && g->strides[i] <= 0)
			return 0;
		span += (g->shape[i] - 1) * g->strides[i];
	}
	return span == g->size;
}

static tn_status mark_filled(struct tn_entry *entry, struct tn_runtime *runtime, tn_status status)
{
	if (status)
		return status;
	if (entry->is_weight)
		tn_capture_flag(runtime, entry->filled);
	*entry->filled = 1;
	return TN_OK;
}

/* A gradient that is being recorded is never written over. */
tn_status tn_entry_give(struct tn_tape *tape, struct tn_entry *entry, tn_array *g)
{
	if (entry->target && !(tape->pass & TN_PASS_SELECTS)) {
		tn_status status = *entry->filled ? tn_add_into(entry->target, entry->target, g)
						  : tn_assign(entry->target, g);
		return mark_filled(entry, g->runtime, status);
	}
	if (!entry->gradient) {
		entry->gradient = tn_array_hold(g);
		return TN_OK;
	}
	if (!(tape->pass & TN_PASS_RECORDS) && tn_gradient_is_free(entry->gradient))
		return tn_add_into(entry->gradient, entry->gradient, g);
	tn_array *sum = tn_add(entry->gradient, g);
	if (!sum)
		return g->runtime->error.status;
	tn_array_unhold(entry->gradient);
	entry->gradient = tn_array_hold(sum);
	return TN_OK;
}

tn_status tn_node_give(struct tn_node *node, uint32_t i, tn_array *g)
{
	if (!g)
		return tn_node_runtime(node)->error.status;
	return tn_node_wants(node, i) ? tn_entry_give(node->tape, node->inputs[i], g) : TN_OK;
}

tn_array *tn_node_target(struct tn_node *node, uint32_t i, int *accumulate)
{
	struct tn_entry *entry = node->inputs[i];
	if (!entry || !entry->target || node->tape->pass & TN_PASS_SELECTS)
		return NULL;
	if (entry->target->dtype != entry->array->dtype)
		return NULL; /* tn_node_give converts */
	*accumulate = *entry->filled;
	return entry->target;
}

tn_status tn_node_wrote(struct tn_node *node, uint32_t i, tn_status status)
{
	return mark_filled(node->inputs[i], tn_node_runtime(node), status);
}

void tn_node_drop_all(struct tn_node *node)
{
	for (uint32_t i = 0; i < node->n_saved; i++)
		tn_array_unhold(node->saved[i].array);
	node->n_saved = 0;
	if (node->release)
		node->release(node);
	node->release = NULL;
}

void tn_node_drop(struct tn_node *node, uint32_t i)
{
	if (node->tape->pass & TN_PASS_RETAINS)
		return;
	tn_array_unhold(node->saved[i].array);
	node->saved[i].array = NULL;
}
