/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The life of a tape: begin and end, leaves and their gradients.  Ending the tape frees all that it
 * holds and leaves no array marked as tracked.
 */
#include "autograd/tape.h"

#include <string.h>

#include "array/array.h"
#include "autograd/gradients.h"
#include "autograd/node.h"
#include "base/dtype.h"
#include "array/handle.h"
#include "base/memory.h"

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
		tn_runtime_no_memory(rt, "tape_begin", "a tape");
		return NULL;
	}
	tape->runtime = rt;
	tape->recorder = (struct tn_recorder){.record = tn_tape_record, .user = tape};
	*(rt->no_grad ? &rt->paused : &rt->recorder) = &tape->recorder;
	rt->tape = tape;
	if (rt->anomaly)
		rt->anomaly_step++;
	return tape;
}

void tn_tape_end(tn_tape *tape)
{
	if (!tape || tn_handle_has_ended(tape->runtime, tape, "tape_end"))
		return;
	struct tn_runtime *rt = tape->runtime;
	if (rt->recorder == &tape->recorder)
		rt->recorder = NULL;
	if (rt->paused == &tape->recorder)
		rt->paused = NULL;
	rt->tape = NULL;
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
	tn_handle_end(&tape->runtime, tape, "the tape");
}

tn_status tn_tape_null(const struct tn_tape *tape, const tn_array *array, const char *operation,
		       const char *name)
{
	struct tn_runtime *rt = tape ? tape->runtime : array ? array->runtime : NULL;
	return tn_runtime_null(rt, operation, tape ? name : "tape");
}

/* ---- Leaves ----------------------------------------------------------------------------------*/

static tn_status watch(struct tn_tape *tape, tn_array *array, struct tn_entry **entry)
{
	if (!tape || !array)
		return tn_tape_null(tape, array, "tape_watch", "array");
	struct tn_runtime *rt = tape->runtime;
	tn_status status = tn_runtime_ready(rt);
	if (status)
		return status;
	status = tn_handle_check(array->runtime, "tape_watch");
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
		return tn_runtime_no_memory(rt, "tape_watch", "the tape");
	tn_array_hold(array);
	(*entry)->is_leaf = 1;
	return TN_OK;
}

tn_status tn_tape_watch(tn_tape *tape, tn_array *array)
{
	struct tn_entry *entry;
	return watch(tape, array, &entry);
}

/* A weight's gradient may be wider than the weight: f32 of f16 and bf16. */
static tn_status watch_into(struct tn_tape *tape, tn_array *array, tn_array *gradient, int *filled,
			    int is_weight, struct tn_entry **out)
{
	struct tn_entry *entry;
	tn_status status = watch(tape, array, &entry);
	*out = NULL;
	if (status || entry->target)
		return status;
	tn_dtype dtype = is_weight ? tn_compute_dtype(array->dtype) : array->dtype;
	if (gradient->dtype != dtype || gradient->rank != array->rank ||
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
	*out = entry;
	return TN_OK;
}

tn_status tn_tape_watch_into(tn_tape *tape, tn_array *array, tn_array *gradient, int *filled)
{
	if (tape && (!gradient || !filled))
		return tn_runtime_null(tape->runtime, "tape_watch_into",
				       gradient ? "filled" : "gradient");
	struct tn_entry *entry;
	return watch_into(tape, array, gradient, filled, 0, &entry);
}

tn_status tn_tape_watch_weight(struct tn_tape *tape, tn_array *array, tn_array *gradient,
			       int *filled, const struct tn_gradient_hook *hook)
{
	struct tn_entry *entry;
	tn_status status = watch_into(tape, array, gradient, filled, 1, &entry);
	if (entry && hook) {
		entry->hook = hook;
		tape->has_hooks = 1;
	}
	return status;
}

int tn_tape_is_new_network(struct tn_tape *tape, const void *network)
{
	int is_new = tape->network != network;
	tape->network = network;
	return is_new;
}

tn_array *tn_tape_gradient(tn_tape *tape, const tn_array *array)
{
	if (!tape || !array) {
		tn_tape_null(tape, array, "tape_gradient", "array");
		return NULL;
	}
	if (tn_handle_check(tape->runtime, "tape_gradient") ||
	    tn_handle_check(array->runtime, "tape_gradient"))
		return NULL;
	struct tn_entry *entry = tn_entry_of(array);
	if (!entry)
		return NULL;
	if (entry->target)
		return *entry->filled ? tn_copy(entry->target) : NULL;
	return entry->gradient ? tn_copy(entry->gradient) : NULL;
}
