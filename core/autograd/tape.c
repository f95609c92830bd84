/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Guarantees: backward visits nodes newest first and each once; a node whose output got no gradient
 * is skipped; what a node saved, and the gradient of its output, are freed when backward has passed
 * it; all that backward made is freed except the gradients of leaves; ending the tape frees all it
 * holds and leaves no array marked as tracked; a node's backward makes arrays on the device of its
 * output's gradient, regardless of the current device.
 */
#include "autograd/tape.h"

#include <string.h>

#include "array/array.h"
#include "autograd/gradients.h"
#include "autograd/node.h"
#include "base/dtype.h"
#include "base/memory.h"
#include "capture/capture.h"

/* ---- Begin and end ---------------------------------------------------------------------------*/

tn_tape *tn_tape_begin(tn_context *context)
{
	if (!context)
		return NULL;
	struct tn_runtime *rt = tn_runtime_of(context);
	if (tn_runtime_ready(rt))
		return NULL;
	if (rt->tape) {
		tn_runtime_fail(rt, TN_STATE, "tape_begin", "the context already has a tape");
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

void tn_tape_end(tn_tape *tape)
{
	if (!tape)
		return;
	if (tape->runtime->recorder == &tape->recorder)
		tape->runtime->recorder = NULL;
	tape->runtime->tape = NULL;
	for (struct tn_node *node = tape->last; node; node = node->previous)
		tn_node_drop_all(node);
	for (struct tn_entry *entry = tape->entries; entry; entry = entry->next) {
		if (entry->array)
			entry->array->tracked = NULL;
		if (entry->is_leaf)
			tn_array_unhold(entry->array);
		tn_array_unhold(entry->gradient);
		tn_array_unhold(entry->target);
	}
	tn_arena_release(&tape->arena);
	tn_mem_free(tape);
}

/* ---- Leaves ----------------------------------------------------------------------------------*/

static tn_status watch(struct tn_tape *tape, tn_array *array, struct tn_entry **entry)
{
	if (!tape || !array)
		return TN_INVALID_ARGUMENT;
	struct tn_runtime *rt = tape->runtime;
	tn_status status = tn_runtime_ready(rt);
	if (status)
		return status;
	if (array->runtime != rt)
		return tn_runtime_fail(rt, TN_DEVICE, "tape_watch",
				       "the array belongs to another context");
	if (!tn_is_inexact(array->dtype))
		return tn_runtime_fail(rt, TN_DTYPE, "tape_watch",
				       "expected an array of a floating or complex type, found %s",
				       tn_dtype_name(array->dtype));
	if (tape->ran)
		return tn_runtime_fail(rt, TN_STATE, "tape_watch", "backward has run on this tape");
	*entry = tn_entry_of(array);
	if (*entry && !(*entry)->is_leaf)
		return tn_runtime_fail(rt, TN_STATE, "tape_watch",
				       "the array is the result of a recorded operation");
	if (*entry)
		return TN_OK;
	*entry = tn_entry_add(tape, array);
	if (!*entry)
		return tn_runtime_fail(rt, TN_OUT_OF_MEMORY, "tape_watch",
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
				       "the gradient's shape or dtype differs from the array's");
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
	struct tn_entry *entry = tape ? tn_entry_of(array) : NULL;
	if (!entry)
		return NULL;
	if (entry->target)
		return *entry->filled ? tn_copy(entry->target) : NULL;
	return entry->gradient ? tn_copy(entry->gradient) : NULL;
}

/* ---- Backward --------------------------------------------------------------------------------*/

static tn_status run_backward(struct tn_node *node, tn_context *context)
{
	struct tn_runtime *rt = node->tape->runtime;
	for (uint32_t i = 0; i < node->n_saved; i++) {
		const tn_array *array = node->saved[i].array;
		if (array && array->storage->version != node->saved[i].version)
			return tn_runtime_fail(rt, TN_MODIFIED, node->operation,
					       "an array that %s saved for backward was changed in "
					       "place %llu times since",
					       node->operation,
					       (unsigned long long)(array->storage->version -
								    node->saved[i].version));
	}
	tn_status status = tn_scope_begin(context);
	if (status)
		return status;
	rt->device = tn_array_home(node->output->gradient);
	status = node->backward(node, node->output->gradient);
	if (!status)
		status = tn_runtime_status(rt);
	tn_scope_end(context, NULL);
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
	if (tn_is_complex(given ? given->dtype : output->dtype) &&
	    (!given || !tn_is_complex(output->dtype))) {
		tn_runtime_fail(rt, TN_DTYPE, "tape_backward",
				given ? "output_gradient is %s, the output %s"
				      : "an output of %s needs an output_gradient",
				tn_dtype_name(given ? given->dtype : output->dtype),
				tn_dtype_name(output->dtype));
		return NULL;
	}
	if (given && given->rank == output->rank &&
	    !memcmp(given->shape, output->shape, (size_t)output->rank * sizeof(int64_t)))
		return tn_astype(given, output->dtype); /* a copy in its memory order */
	if (!given && tn_array_size(output) == 1) {
		tn_array *one = tn_empty(tn_array_context(output), output->dtype, output->rank,
					 output->shape);
		return one && !tn_fill(one, 1.0) ? one : NULL;
	}
	tn_runtime_fail(
		rt, TN_SHAPE, "tape_backward",
		given ? "output_gradient does not have the output's shape"
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
	struct tn_entry *entry = tn_entry_of(output);
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
	status = first ? tn_entry_give(entry, first) : rt->error.status;
	for (struct tn_node *node = tape->last; node && !status; node = node->previous) {
		if (node->output->gradient)
			status = run_backward(node, context);
		tn_array_unhold(node->output->gradient);
		node->output->gradient = NULL;
		tn_node_drop_all(node);
	}
	rt->device = current;
	tn_scope_end(context, NULL);
	return status;
}
