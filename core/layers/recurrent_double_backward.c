/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The second derivative of recurrent layers.  Their node computes all steps in few programs, whose
 * results have no entries on the tape; create_graph needs the gates as functions of their inputs,
 * so the node's backward computes the steps again from x, by operations that are recorded one by
 * one, and gives each state its part of dy.
 */
#include "layers/recurrent_double_backward.h"

#include "array/array.h"
#include "autograd/backward.h"
#include "base/memory.h"

/* Columns part * width and on of step t, (N, width). */
static tn_array *part_of(const tn_array *sequence, int64_t t, int64_t part, int64_t width)
{
	tn_array *step = tn_slice(sequence, 0, t, t + 1, 1);
	return tn_squeeze(tn_slice(step, 2, part * width, (part + 1) * width, 1), 0);
}

/* The states after each step, those of step t at all[t * n_states]. */
static tn_status run_unrolled(const struct tn_recurrent_unrolled *unrolled, int n_states,
			      tn_array **all)
{
	const struct tn_recurrent_call *call = &unrolled->call;
	struct tn_runtime *rt = call->x->runtime;
	tn_array *gates = tn_recurrent_gates(call, unrolled->bias);
	tn_array *w = tn_transpose(call->w_hh, NULL);
	tn_array *states[TN_RECURRENT_STATES] = {tn_array_const_cast(unrolled->h0),
						 tn_array_const_cast(unrolled->c0)};
	if (!gates || !w)
		return rt->error.status;
	const int64_t n_steps = gates->shape[0], width = gates->shape[2];
	for (int64_t i = 0; i < n_steps; i++) {
		int64_t t = call->options.reverse ? n_steps - 1 - i : i;
		tn_array *own = part_of(gates, t, 0, width), *of_h = tn_matmul(states[0], w);
		if (!own || !of_h || !unrolled->advance(call, own, of_h, states))
			return rt->error.status;
		for (int k = 0; k < n_states; k++)
			all[t * n_states + k] = states[k];
	}
	return TN_OK;
}

static tn_status give_states(struct tn_tape *tape, const tn_array *dy, int64_t hidden, int n_states,
			     tn_array *const *all)
{
	tn_status status = TN_OK;
	for (int64_t i = 0; i < dy->shape[0] * n_states && !status; i++) {
		struct tn_entry *entry = tn_entry_of(all[i]);
		tn_array *g = part_of(dy, i / n_states, i % n_states, hidden);
		status = g ? TN_OK : tape->runtime->error.status;
		if (!status && entry)
			status = tn_entry_give(tape, entry, g);
	}
	return status;
}

tn_status tn_recurrent_double_backward(struct tn_node *node, const tn_array *dy,
				       const struct tn_recurrent_unrolled *unrolled)
{
	const int n_states = unrolled->c0 ? 2 : 1;
	struct tn_tape *tape = node->tape;
	const struct tn_node *newest = tape->last;
	const size_t n = (size_t)dy->shape[0] * (size_t)n_states;
	tn_array **all = tn_mem_zeroed(n, sizeof(tn_array *));
	if (!all)
		return tn_runtime_fail(tape->runtime, TN_OUT_OF_MEMORY, unrolled->call.operation,
				       "no host memory for %zu states", n);
	tn_status status = run_unrolled(unrolled, n_states, all);
	if (!status) {
		tn_tape_mark_needed(tape, (struct tn_node *)(uintptr_t)newest);
		status = give_states(tape, dy, unrolled->call.w_hh->shape[1], n_states, all);
	}
	tn_mem_free(all);
	return status ? status : tn_tape_walk(tape, newest, 0);
}
