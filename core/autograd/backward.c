/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Backward.  A pass seeds the entries of the outputs with their gradients and walks over the nodes,
 * newest first, each once; a node whose outputs got no gradient is skipped.  A node's backward
 * makes arrays on the device of its output's gradient, regardless of the current device.  The pass
 * holds the gradients of results until their node has run, and those of leaves until the tape
 * ends; all else that backward makes is freed with the scope of its node.
 *
 *     plain        (tn_tape_backward) all leaves get gradients, directly in their targets where
 *                  they have some.  Each node drops what it saved as soon as it has run.  Once
 *                  per tape.
 *     SELECTS      (tn_tape_gradients) the entries of the requested arrays are marked, and in one
 *                  walk oldest first the results that depend on them: a node computes only the
 *                  gradients of inputs that are marked.  Targets are not written.  At the end the
 *                  gradients of the requested entries become arrays of the caller, and all entries
 *                  are left without gradient and mark, as before.
 *     + RETAINS    nodes keep what they saved; the tape records again afterwards.
 *     + RECORDS    (create_graph) the second derivative.
 *
 * Second derivatives.  There is one tape and one kind of node.  With RECORDS the tape's recorder
 * stays installed during the walk, so that what a backward calls adds nodes behind the newest one,
 * where this walk does not come.  A gradient is then an array with an entry, like any result; a
 * saved array has the entry that it had in forward (array->tracked), so the new nodes refer to
 * both, to dy and to the values.  A later pass walks over the new nodes first, then over the old
 * ones: newest first is still an order in which each result comes before what it was made of.
 *
 *     forward           y = f(x)              node F: saves x
 *     create_graph      g = f'(x) dy          node G: inputs x and dy; saves x (or what f' reads)
 *     backward of g     dx += f''(x) dy dg    by G's backward; dy's part goes to what made dy
 *
 * What a backward must do so that this is true, and says with is_twice:
 *   - it calls recorded operations (matmul, sums, views, user programs), or it computes g with
 *     recording suspended and adds a node for it, whose backward is again is_twice.  An element
 *     program's gradient is an element program: it is recorded as a map, and differentiated like
 *     one.  Scattering into zeros (slices, windows, takes) has the view or the take as its
 *     gradient.  The three products of a convolution are each other's gradients.
 *   - it neither writes into dy or a gradient nor into targets: an array with an entry is not
 *     written.  tn_array_writable and tn_refuse_tracked check that.
 * A node without is_twice would give a gradient that is a constant; so it fails with
 * TN_UNSUPPORTED.
 *
 * Who owns what: nodes, entries and state lie in the tape's arena.  A node holds its saved arrays;
 * an entry holds its gradient during a pass, not its array (unless a leaf).  A gradient that
 * create_graph returned belongs to the caller's scope; destroying it ends only the caller's use,
 * since nodes hold what they read.
 */
#include "autograd/backward.h"

#include <string.h>

#include "array/array.h"
#include "array/handle.h"
#include "array/make.h"
#include "array/shape.h"
#include "array/watch.h"
#include "autograd/anomaly.h"
#include "autograd/gradient_ready.h"
#include "autograd/tape.h"
#include "base/dtype.h"

/* ---- One node --------------------------------------------------------------------------------*/

static tn_status check_saved(const struct tn_node *node)
{
	for (uint32_t i = 0; i < node->n_saved; i++) {
		const tn_array *array = node->saved[i].array;
		if (array && array->storage->version != node->saved[i].version)
			return tn_runtime_fail(tn_node_runtime(node), TN_MODIFIED, node->operation,
					       "an array that %s saved for backward was changed in "
					       "place %llu times since",
					       node->operation,
					       (unsigned long long)(array->storage->version -
								    node->saved[i].version));
	}
	return TN_OK;
}

/* Anomaly mode: the gradients that the node has given, where others may have added theirs. */
static tn_status check_inputs(const struct tn_node *node)
{
	tn_status status = TN_OK;
	for (uint32_t i = 0; i < node->n_inputs && !status; i++) {
		const struct tn_entry *input = node->inputs[i];
		if (!tn_node_wants(node, i))
			continue;
		int is_in_target = input->target && !(node->tape->pass & TN_PASS_SELECTS);
		const tn_array *g =
			is_in_target && *input->filled ? input->target : input->gradient;
		status = tn_anomaly_check(g, node->operation, node->place, 1, i);
	}
	return status;
}

static tn_status run_node(struct tn_node *node, tn_array *dy)
{
	struct tn_runtime *rt = tn_node_runtime(node);
	tn_status status = check_saved(node);
	if (!status && tn_node_records(node) && !node->is_twice)
		status = tn_runtime_fail(rt, TN_UNSUPPORTED, node->operation,
					 "create_graph: %s has no second derivative",
					 node->operation);
	if (!status)
		status = tn_scope_begin(rt->context);
	if (status)
		return status;
	rt->device = tn_array_home(dy);
	struct tn_watch *watch = rt->watch;
	if (watch)
		tn_watch_begin(watch, TN_WATCH_NODE, node->watch_row, node->operation);
	status = node->backward(node, dy);
	if (watch)
		tn_watch_end(watch, NULL);
	if (!status)
		status = tn_runtime_status(rt);
	if (!status && rt->anomaly)
		status = check_inputs(node);
	tn_scope_end(rt->context, NULL);
	return status;
}

static int wants_any(const struct tn_node *node)
{
	for (uint32_t i = 0; i < node->n_inputs; i++) {
		if (tn_node_wants(node, i))
			return 1;
	}
	return node->is_always;
}

/* A gradient that is requested must not be written over: it is held twice while the node runs. */
static void hold_again(const struct tn_node *node, int holds)
{
	for (uint32_t i = 0; i < node->n_outputs; i++) {
		struct tn_entry *output = node->outputs[i];
		if (!output->gradient || !output->is_requested)
			continue;
		if (holds)
			tn_array_hold(output->gradient);
		else
			tn_array_unhold(output->gradient);
	}
}

/* ---- The walk --------------------------------------------------------------------------------*/

tn_status tn_tape_walk(struct tn_tape *tape, const struct tn_node *oldest, int drops)
{
	tn_status status = TN_OK;
	for (struct tn_node *node = tape->last; node != oldest && !status; node = node->previous) {
		tn_array *dy = NULL;
		for (uint32_t i = node->n_outputs; i-- > 0;)
			dy = node->outputs[i]->gradient ? node->outputs[i]->gradient : dy;
		if (dy && wants_any(node)) {
			hold_again(node, 1);
			status = run_node(node, dy);
			hold_again(node, 0);
		}
		for (uint32_t i = 0; i < node->n_outputs; i++) {
			if (node->outputs[i]->is_requested)
				continue;
			tn_array_unhold(node->outputs[i]->gradient);
			node->outputs[i]->gradient = NULL;
		}
		if (drops)
			tn_node_drop_all(node);
		if (!status && !oldest && !(tape->pass & TN_PASS_SELECTS))
			status = tn_ready_after(tape, node);
	}
	return status;
}

/* The list from `node` to the one before `end` in reverse order, with `tail` behind it. */
static struct tn_node *reversed(struct tn_node *node, const struct tn_node *end,
				struct tn_node *tail)
{
	while (node != end) {
		struct tn_node *next = node->previous;
		node->previous = tail;
		tail = node;
		node = next;
	}
	return tail;
}

void tn_tape_mark_needed(struct tn_tape *tape, struct tn_node *oldest)
{
	struct tn_node *first = reversed(tape->last, oldest, NULL);
	for (struct tn_node *node = first; node; node = node->previous) {
		int is_needed = node->is_always;
		for (uint32_t i = 0; i < node->n_inputs; i++)
			is_needed |= node->inputs[i] && node->inputs[i]->is_needed;
		for (uint32_t i = 0; i < node->n_outputs; i++)
			node->outputs[i]->is_needed |= is_needed;
	}
	tape->last = reversed(first, NULL, oldest);
}

/* ---- One pass --------------------------------------------------------------------------------*/

struct pass {
	const char *operation;
	struct tn_tape *tape;
	size_t n_outputs;
	tn_array *const *outputs;
	const tn_array *const *output_gradients; /* NULL, or of any: 1 */
	uint32_t kind;                           /* TN_PASS_... */
	/* In a pass that selects: */
	size_t n_inputs;
	tn_array *const *inputs;
	tn_array **gradients;
};

/* May the pass read the caller's own array?  Without gaps, so that gradients get its memory order,
 * and with no other user that the pass could write through, such as a target. */
static int is_readable(const tn_array *given, tn_dtype dtype)
{
	return given->dtype == dtype && given->dense && !given->held &&
	       given->storage->references == 1;
}

/* The gradient that backward starts from. */
static tn_array *first_gradient(const struct pass *pass, const tn_array *output,
				const tn_array *given)
{
	struct tn_runtime *rt = pass->tape->runtime;
	if (given && tn_array_home(given) != tn_array_home(output)) {
		tn_runtime_fail(rt, TN_DEVICE, pass->operation,
				"output_gradient is on %s, the output on %s",
				tn_array_home(given)->name, tn_array_home(output)->name);
		return NULL;
	}
	if (tn_is_complex(given ? given->dtype : output->dtype) &&
	    (!given || !tn_is_complex(output->dtype))) {
		tn_runtime_fail(rt, TN_DTYPE, pass->operation,
				given ? "output_gradient is %s, the output %s"
				      : "an output of %s needs an output_gradient",
				tn_dtype_name(given ? given->dtype : output->dtype),
				tn_dtype_name(output->dtype));
		return NULL;
	}
	if (given && given->rank == output->rank &&
	    !memcmp(given->shape, output->shape, (size_t)output->rank * sizeof(int64_t)))
		return is_readable(given, output->dtype)
			       ? tn_array_const_cast(given)
			       : tn_astype(given, output->dtype); /* a copy in its memory order */
	if (!given && tn_array_size(output) == 1) {
		tn_array *one = tn_empty(tn_array_context(output), output->dtype, output->rank,
					 output->shape);
		return one && !tn_fill(one, 1.0) ? one : NULL;
	}
	char expected[TN_SHAPE_TEXT], found[TN_SHAPE_TEXT];
	tn_array_text(output, expected);
	if (given)
		tn_runtime_fail(rt, TN_SHAPE, pass->operation,
				"output_gradient: expected the output's shape %s, found %s",
				expected, tn_array_text(given, found));
	else
		tn_runtime_fail(rt, TN_SHAPE, pass->operation,
				"an output of shape %s, which is not one element, needs an "
				"output_gradient",
				expected);
	return NULL;
}

static tn_status check_given(struct tn_runtime *rt, const char *operation, const char *what,
			     size_t n, tn_array *const *arrays)
{
	for (size_t i = 0; i < n; i++) {
		if (!arrays[i])
			return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation, "%s %zu is NULL",
					       what, i);
	}
	return TN_OK;
}

static tn_status check_arrays(const struct pass *pass)
{
	struct tn_runtime *rt = pass->tape->runtime;
	if (pass->tape->ran)
		return tn_runtime_fail(rt, TN_STATE, pass->operation,
				       "backward has run on this tape");
	tn_status status =
		check_given(rt, pass->operation, "output", pass->n_outputs, pass->outputs);
	if (!status)
		status = check_given(rt, pass->operation, "input", pass->n_inputs, pass->inputs);
	if (status)
		return status;
	for (size_t i = 0; i < pass->n_outputs; i++) {
		status = tn_handle_check(pass->outputs[i]->runtime, pass->operation);
		if (status)
			return status;
		if (!tn_entry_of(pass->outputs[i]))
			return tn_runtime_fail(rt, TN_STATE, pass->operation,
					       "the output does not depend on a watched array");
	}
	for (size_t i = 0; i < pass->n_inputs; i++) {
		if (!tn_entry_of(pass->inputs[i]))
			return tn_runtime_fail(rt, TN_STATE, pass->operation,
					       "input %zu was neither watched nor recorded", i);
	}
	return TN_OK;
}

static tn_status seed_and_walk(const struct pass *pass)
{
	struct tn_tape *tape = pass->tape;
	struct tn_runtime *rt = tape->runtime;
	tn_status status = tn_scope_begin(rt->context);
	if (status)
		return status;
	for (size_t i = 0; i < pass->n_outputs && !status; i++) {
		const tn_array *given = pass->output_gradients ? pass->output_gradients[i] : NULL;
		rt->device = tn_array_home(pass->outputs[i]);
		tn_array *first = first_gradient(pass, pass->outputs[i], given);
		status = first ? tn_entry_give(tape, tn_entry_of(pass->outputs[i]), first)
			       : tn_runtime_status(rt);
	}
	if (!status && !(pass->kind & TN_PASS_SELECTS))
		tn_ready_begin(tape);
	if (!status)
		status = tn_tape_walk(tape, NULL, !(pass->kind & TN_PASS_RETAINS));
	if (!status && !(pass->kind & TN_PASS_SELECTS))
		status = tn_ready_end(tape);
	tn_scope_end(rt->context, NULL);
	return status;
}

/* Backward may be in a scope of tn_no_grad_begin, and what it runs may open others: they begin at
 * the state that the pass sets. */
static tn_status run_pass(const struct pass *pass)
{
	struct tn_tape *tape = pass->tape;
	struct tn_runtime *rt = tape->runtime;
	struct tn_device *device = rt->device;
	const struct tn_recorder *recorder = rt->recorder, *paused = rt->paused;
	uint32_t no_grad = rt->no_grad;
	if (!(pass->kind & TN_PASS_RETAINS)) {
		tape->ran = 1;
		recorder = paused = NULL;
	}
	rt->recorder = pass->kind & TN_PASS_RECORDS ? &tape->recorder : NULL;
	rt->paused = NULL;
	rt->no_grad = 0;
	tape->pass = pass->kind;
	struct tn_watch *watch = rt->watch;
	if (watch)
		tn_watch_begin(watch, TN_WATCH_BACKWARD, 0, pass->operation);
	tn_status status = seed_and_walk(pass);
	if (watch)
		tn_watch_end(watch, NULL);
	for (size_t i = 0; i < pass->n_inputs && !status; i++) {
		tn_array *g = tn_entry_of(pass->inputs[i])->gradient;
		if (!g)
			continue;
		pass->gradients[i] =
			tn_gradient_is_free(g) ? tn_reshape(g, g->rank, g->shape) : tn_copy(g);
		status = pass->gradients[i] ? TN_OK : tn_runtime_status(rt);
	}
	tape->pass = 0;
	rt->recorder = recorder;
	rt->paused = paused;
	rt->no_grad = no_grad;
	rt->device = device;
	return status;
}

/* ---- Backward --------------------------------------------------------------------------------*/

static tn_status backward_all(const struct pass *pass)
{
	tn_status status = tn_runtime_ready(pass->tape->runtime);
	if (!status)
		status = check_arrays(pass);
	return status ? status : run_pass(pass);
}

/* The tape or the list of outputs is NULL. */
static tn_status null_call(const char *operation, tn_tape *tape, size_t n, tn_array *const *outputs)
{
	return tn_tape_null(tape, n && outputs ? outputs[0] : NULL, operation, "outputs");
}

tn_status tn_tape_backward_all(tn_tape *tape, size_t n, tn_array *const *outputs,
			       const tn_array *const *output_gradients)
{
	if (!tape || !outputs)
		return null_call("tape_backward_all", tape, n, outputs);
	if (!n)
		return TN_INVALID_ARGUMENT;
	return backward_all(&(struct pass){.operation = "tape_backward_all",
					   .tape = tape,
					   .n_outputs = n,
					   .outputs = outputs,
					   .output_gradients = output_gradients});
}

tn_status tn_tape_backward(tn_tape *tape, tn_array *output, const tn_array *output_gradient)
{
	if (!tape || !output)
		return tn_tape_null(tape, output, "tape_backward", "output");
	return backward_all(&(struct pass){.operation = "tape_backward",
					   .tape = tape,
					   .n_outputs = 1,
					   .outputs = &output,
					   .output_gradients = &output_gradient});
}

/* ---- Gradients of chosen arrays --------------------------------------------------------------*/

static void clear_entries(struct tn_tape *tape)
{
	for (struct tn_entry *entry = tape->entries; entry; entry = entry->next) {
		entry->is_requested = entry->is_needed = 0;
		tn_array_unhold(entry->gradient);
		entry->gradient = NULL;
	}
}

tn_status tn_tape_gradients(tn_tape *tape, size_t n_outputs, tn_array *const *outputs,
			    const tn_array *const *output_gradients, size_t n_inputs,
			    tn_array *const *inputs, tn_array **gradients,
			    const struct tn_gradients_options *options)
{
	struct tn_gradients_options o = tn_gradients_defaults();
	struct pass pass = {.operation = "tape_gradients",
			    .tape = tape,
			    .n_outputs = n_outputs,
			    .outputs = outputs,
			    .output_gradients = output_gradients,
			    .kind = TN_PASS_SELECTS,
			    .n_inputs = n_inputs,
			    .inputs = inputs,
			    .gradients = gradients};
	if (!tape || !outputs)
		return null_call(pass.operation, tape, n_outputs, outputs);
	if (!inputs || !gradients)
		return tn_runtime_null(tape->runtime, pass.operation,
				       inputs ? "gradients" : "inputs");
	if (!n_outputs || !n_inputs)
		return TN_INVALID_ARGUMENT;
	memset(gradients, 0, n_inputs * sizeof(*gradients));
	tn_status status = tn_runtime_ready(tape->runtime);
	if (!status)
		status = tn_runtime_take(tape->runtime, &o, sizeof(o), options,
					 "struct tn_gradients_options", pass.operation);
	if (!status)
		status = check_arrays(&pass);
	if (status)
		return status;
	if (o.create_graph)
		pass.kind |= TN_PASS_RECORDS | TN_PASS_RETAINS;
	if (o.retain_graph)
		pass.kind |= TN_PASS_RETAINS;
	for (size_t i = 0; i < n_inputs; i++) {
		struct tn_entry *entry = tn_entry_of(inputs[i]);
		entry->is_requested = entry->is_needed = 1;
	}
	tn_tape_mark_needed(tape, NULL);
	status = run_pass(&pass);
	clear_entries(tape);
	for (size_t i = 0; i < n_inputs && status; i++) {
		tn_array_destroy(gradients[i]);
		gradients[i] = NULL;
	}
	return status;
}
