/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Guarantees: backward visits nodes newest first and each once; a node whose output got no gradient
 * is passed over; what a node saved, and the gradient of its output, are freed when backward has
 * passed it; whatever backward made is freed but the gradients of leaves; ending the tape frees all
 * it holds and leaves no array marked as tracked; what a node's backward makes lies where the
 * gradient of its output does, whichever device is the current one.
 */
#include "autograd/tape.h"

#include <string.h>

#include "array/array.h"
#include "autograd/arena.h"
#include "base/error.h"
#include "base/memory.h"
#include "capture/flags.h"

struct tn_tape {
	struct tn_runtime *runtime;
	struct tn_recorder recorder;
	struct tn_arena arena;
	struct tn_node *last;
	struct tn_entry *entries;
	int ran;
};

/* ---- Entries ---------------------------------------------------------------------------------*/

static struct tn_entry *entry_of(const tn_array *array)
{
	return array ? array->tracked : NULL;
}

static struct tn_entry *entry_add(struct tn_tape *tape, tn_array *array)
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

/* ---- Begin and end ---------------------------------------------------------------------------*/

tn_tape *tn_tape_begin(tn_context *context)
{
	if (!context)
		return NULL;
	struct tn_runtime *rt = tn_runtime_of(context);
	if (tn_runtime_ready(rt))
		return NULL;
	if (rt->tape) {
		tn_runtime_fail(rt, TN_STATE, "tape_begin", "the context has a tape already");
		return NULL;
	}
	struct tn_tape *tape = tn_mem_zeroed(1, sizeof(*tape));
	if (!tape) {
		tn_runtime_fail(rt, TN_OUT_OF_MEMORY, "tape_begin", "no memory for a tape");
		return NULL;
	}
	tape->runtime = rt;
	tape->recorder = (struct tn_recorder){.record = tn_tape_record, .user = tape};
	rt->recorder = &tape->recorder;
	rt->tape = tape;
	return tape;
}

static void drop_saved(struct tn_node *node)
{
	for (uint32_t i = 0; i < node->n_saved; i++)
		tn_array_unhold(node->saved[i].array);
	node->n_saved = 0;
}

void tn_node_drop(struct tn_node *node, uint32_t i)
{
	tn_array_unhold(node->saved[i].array);
	node->saved[i].array = NULL;
}

static void drop_entry(struct tn_entry *entry)
{
	tn_array *array = entry->array;
	if (array)
		array->tracked = NULL;
	if (entry->is_leaf)
		tn_array_unhold(array);
	tn_array_unhold(entry->gradient);
	tn_array_unhold(entry->target);
}

void tn_tape_end(tn_tape *tape)
{
	if (!tape)
		return;
	if (tape->runtime->recorder == &tape->recorder)
		tape->runtime->recorder = NULL;
	tape->runtime->tape = NULL;
	for (struct tn_node *node = tape->last; node; node = node->previous)
		drop_saved(node);
	for (struct tn_entry *entry = tape->entries; entry; entry = entry->next)
		drop_entry(entry);
	tn_arena_release(&tape->arena);
	tn_mem_free(tape);
}

/* ---- Leaves ----------------------------------------------------------------------------------*/

static tn_status check_leaf(struct tn_tape *tape, const tn_array *array)
{
	struct tn_runtime *rt = tape->runtime;
	if (array->runtime != rt)
		return tn_runtime_fail(rt, TN_DEVICE, "tape_watch",
				       "the array is of another context");
	if (array->dtype != TN_F32 && array->dtype != TN_F64)
		return tn_runtime_fail(rt, TN_DTYPE, "tape_watch",
				       "gradients are of f32 and f64 arrays, not %s",
				       tn_dtype_name(array->dtype));
	if (tape->ran)
		return tn_runtime_fail(rt, TN_STATE, "tape_watch", "backward has run on this tape");
	struct tn_entry *entry = entry_of(array);
	if (entry && !entry->is_leaf)
		return tn_runtime_fail(rt, TN_STATE, "tape_watch",
				       "the array is the result of a recorded operation");
	return TN_OK;
}

static tn_status watch(struct tn_tape *tape, tn_array *array, struct tn_entry **entry)
{
	if (!tape || !array)
		return TN_INVALID_ARGUMENT;
	tn_status status = tn_runtime_ready(tape->runtime);
	if (!status)
		status = check_leaf(tape, array);
	if (status)
		return status;
	*entry = entry_of(array);
	if (*entry)
		return TN_OK;
	*entry = entry_add(tape, array);
	if (!*entry)
		return tn_runtime_fail(tape->runtime, TN_OUT_OF_MEMORY, "tape_watch",
				       "no memory for the tape");
	tn_array_hold(array);
	(*entry)->is_leaf = 1;
	return TN_OK;
}

tn_status tn_tape_watch(tn_tape *tape, tn_array *array)
{
	struct tn_entry *entry;
	return watch(tape, array, &entry);
}

static tn_status watch_into(struct tn_tape *tape, tn_array *array, tn_array *gradient, int *filled,
			    int is_weight)
{
	struct tn_entry *entry;
	tn_status status = watch(tape, array, &entry);
	if (status || entry->target)
		return status;
	if (gradient->dtype != array->dtype || gradient->rank != array->rank ||
	    memcmp(gradient->shape, array->shape, (size_t)array->rank * sizeof(int64_t)) != 0)
		return tn_runtime_fail(tape->runtime, TN_SHAPE, "tape_watch",
				       "the gradient's shape or dtype is not the array's");
	if (tn_array_home(gradient) != tn_array_home(array))
		return tn_runtime_fail(tape->runtime, TN_DEVICE, "tape_watch",
				       "the gradient is on %s, the array on %s",
				       tn_array_home(gradient)->name, tn_array_home(array)->name);
	entry->target = tn_array_hold(gradient);
	entry->filled = filled;
	entry->is_weight = is_weight;
	return TN_OK;
}

tn_status tn_tape_watch_into(tn_tape *tape, tn_array *array, tn_array *gradient, int *filled)
{
	if (!gradient || !filled)
		return TN_INVALID_ARGUMENT;
	return watch_into(tape, array, gradient, filled, 0);
}

tn_status tn_tape_watch_weight(struct tn_tape *tape, tn_array *array, tn_array *gradient,
			       int *filled)
{
	return watch_into(tape, array, gradient, filled, 1);
}

tn_array *tn_tape_gradient(tn_tape *tape, const tn_array *array)
{
	struct tn_entry *entry = tape ? entry_of(array) : NULL;
	if (!entry)
		return NULL;
	if (entry->target)
		return *entry->filled ? tn_copy(entry->target) : NULL;
	return entry->gradient ? tn_copy(entry->gradient) : NULL;
}

/* ---- Nodes -----------------------------------------------------------------------------------*/

struct tn_runtime *tn_node_runtime(const struct tn_node *node)
{
	return node->tape->runtime;
}

static int any_tracked(const struct tn_node_request *request)
{
	for (uint32_t i = 0; i < request->n_inputs; i++) {
		if (entry_of(request->inputs[i]))
			return 1;
	}
	return 0;
}

static void save(struct tn_node *node, const struct tn_node_request *request)
{
	node->n_saved = request->n_saved;
	for (uint32_t i = 0; i < request->n_saved; i++) {
		tn_array *array = (tn_array *)(uintptr_t)request->saved[i];
		if (!array)
			continue;
		node->saved[i].array = tn_array_hold(array);
		node->saved[i].version = array->storage->version;
	}
}

tn_status tn_tape_add(struct tn_tape *tape, tn_array *output, const struct tn_node_request *request,
		      struct tn_error_info *error)
{
	if (tape->ran || !any_tracked(request))
		return TN_OK;
	struct tn_node *node = tn_arena_take(&tape->arena, sizeof(*node));
	void *state = tn_arena_take(&tape->arena, request->state_size);
	struct tn_entry *inputs[TN_NODE_MAX_INPUTS] = {0};
	for (uint32_t i = 0; i < request->n_inputs; i++)
		inputs[i] = entry_of(request->inputs[i]);
	struct tn_entry *entry = node && state ? entry_add(tape, output) : NULL;
	if (!entry)
		return tn_fail(error, TN_OUT_OF_MEMORY, request->operation,
			       "no memory for the tape");
	if (request->state_size)
		memcpy(state, request->state, request->state_size);
	node->operation = request->operation;
	node->tape = tape;
	node->backward = request->backward;
	node->n_inputs = request->n_inputs;
	memcpy(node->inputs, inputs, sizeof(inputs));
	node->output = entry;
	node->state = state;
	save(node, request);
	node->previous = tape->last;
	tape->last = node;
	return TN_OK;
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
	/* Dense in some order of its axes: no element stands for two. */
	int64_t span = 1;
	for (int i = 0; i < g->rank; i++) {
		if (g->shape[i] > 1 && g->strides[i] <= 0)
			return 0;
		span += (g->shape[i] - 1) * g->strides[i];
	}
	return span == g->size;
}

static tn_status wrote(struct tn_entry *entry, struct tn_runtime *runtime, tn_status status)
{
	if (status)
		return status;
	if (entry->is_weight)
		tn_capture_flag(runtime, entry->filled);
	*entry->filled = 1;
	return TN_OK;
}

/* target := or += g */
static tn_status give_target(struct tn_entry *entry, tn_array *g)
{
	tn_status status = *entry->filled ? tn_add_into(entry->target, entry->target, g)
					  : tn_assign(entry->target, g);
	return wrote(entry, g->runtime, status);
}

static tn_status give(struct tn_entry *entry, tn_array *g)
{
	if (entry->target)
		return give_target(entry, g);
	if (!entry->gradient) {
		entry->gradient = tn_array_hold(g);
		return TN_OK;
	}
	if (tn_gradient_is_free(entry->gradient))
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
	return node->inputs[i] ? give(node->inputs[i], g) : TN_OK;
}

tn_array *tn_node_target(struct tn_node *node, uint32_t i, int *accumulate)
{
	struct tn_entry *entry = node->inputs[i];
	if (!entry || !entry->target)
		return NULL;
	*accumulate = *entry->filled;
	return entry->target;
}

tn_status tn_node_wrote(struct tn_node *node, uint32_t i, tn_status status)
{
	return wrote(node->inputs[i], tn_node_runtime(node), status);
}

static tn_status check_saved(const struct tn_node *node)
{
	for (uint32_t i = 0; i < node->n_saved; i++) {
		const tn_array *array = node->saved[i].array;
		if (array && array->storage->version != node->saved[i].version)
			return tn_runtime_fail(node->tape->runtime, TN_MODIFIED, node->operation,
					       "an array that %s saved for backward was changed in "
					       "place %llu times since",
					       node->operation,
					       (unsigned long long)(array->storage->version -
								    node->saved[i].version));
	}
	return TN_OK;
}

static tn_status run_backward(struct tn_node *node, tn_context *context)
{
	struct tn_runtime *rt = node->tape->runtime;
	tn_status status = check_saved(node);
	if (!status)
		status = tn_scope_begin(context);
	if (status)
		return status;
	rt->device = tn_array_home(node->output->gradient);
	status = node->backward(node, node->output->gradient);
	if (!status)
		status = tn_runtime_status(rt);
	tn_scope_end(context, NULL);
	return status;
}

/* Runs the node where its output got a gradient, and lets go of what it held. */
static tn_status pass_node(struct tn_node *node, tn_context *context)
{
	struct tn_entry *output = node->output;
	tn_status status = output->gradient ? run_backward(node, context) : TN_OK;
	tn_array_unhold(output->gradient);
	output->gradient = NULL;
	drop_saved(node);
	return status;
}

/* The gradient that backward starts from. */
static tn_array *first_gradient(struct tn_tape *tape, const tn_array *output, const tn_array *given)
{
	struct tn_runtime *rt = tape->runtime;
	if (given && tn_array_home(given) != tn_array_home(output)) {
		tn_runtime_fail(rt, TN_DEVICE, "tape_backward",
				"output_gradient is on %s, the output on %s",
				tn_array_home(given)->name, tn_array_home(output)->name);
		return NULL;
	}
	if (given && given->rank == output->rank &&
	    !memcmp(given->shape, output->shape, (size_t)output->rank * sizeof(int64_t)))
		return tn_astype(given, given->dtype); /* a copy that lies as it does */
	if (!given && tn_array_size(output) == 1) {
		tn_array *one = tn_empty(tn_array_context(output), output->dtype, output->rank,
					 output->shape);
		return one && !tn_fill(one, 1.0) ? one : NULL;
	}
	tn_runtime_fail(
		rt, TN_SHAPE, "tape_backward",
		given ? "output_gradient has not the output's shape"
		      : "the output has more than one element and no output_gradient was given");
	return NULL;
}

tn_status tn_tape_backward(tn_tape *tape, tn_array *output, const tn_array *output_gradient)
{
	if (!tape || !output)
		return TN_INVALID_ARGUMENT;
	struct tn_runtime *rt = tape->runtime;
	tn_status status = tn_runtime_ready(rt);
	if (status)
		return status;
	struct tn_entry *entry = entry_of(output);
	if (!entry || tape->ran)
		return tn_runtime_fail(rt, TN_STATE, "tape_backward",
				       tape->ran ? "backward has run on this tape"
						 : "the output does not depend on a watched array");
	tn_context *context = tn_array_context(output);
	struct tn_device *current = rt->device;
	tape->ran = 1;
	rt->recorder = NULL;
	status = tn_scope_begin(context);
	if (status)
		return status;
	rt->device = tn_array_home(output);
	tn_array *first = first_gradient(tape, output, output_gradient);
	status = first ? give(entry, first) : rt->error.status;
	for (struct tn_node *node = tape->last; node && !status; node = node->previous)
		status = pass_node(node, context);
	rt->device = current;
	tn_scope_end(context, NULL);
	return status;
}
