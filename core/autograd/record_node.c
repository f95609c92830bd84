/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Nodes of the application: outputs computed without being recorded, and a backward in C.
 */
#include <string.h>

#include "array/array.h"
#include "array/handle.h"
#include "array/make.h"
#include "array/shape.h"
#include "autograd/node.h"
#include "base/dtype.h"

/* The form of an input, which its gradient must have. */
struct form {
	struct tn_device *device;
	tn_dtype dtype;
	int rank;
	int64_t shape[TN_MAX_RANK];
};

/* The node's state. */
struct own_node {
	tn_node_backward backward;
	void *state;
	void (*destroy)(void *state);
	struct form inputs[TN_NODE_LIMIT];
};

static void release(struct tn_node *node)
{
	struct own_node *own = node->state;
	if (own->destroy)
		own->destroy(own->state);
}

/* ---- Backward --------------------------------------------------------------------------------*/

static tn_status check_gradient(const struct tn_node *node, uint32_t i, const tn_array *g)
{
	struct tn_runtime *rt = tn_node_runtime(node);
	const struct own_node *own = node->state;
	const struct form *form = &own->inputs[i];
	char expected[TN_SHAPE_TEXT], found[TN_SHAPE_TEXT];
	if (g->runtime != rt || tn_array_home(g) != form->device)
		return tn_runtime_fail(rt, TN_DEVICE, node->operation,
				       "backward: the gradient of input %u is on %s%s, the input "
				       "on %s",
				       i, tn_array_home(g)->name,
				       g->runtime == rt ? "" : " of another context",
				       form->device->name);
	if (g->dtype != form->dtype)
		return tn_runtime_fail(rt, TN_DTYPE, node->operation,
				       "backward: the gradient of input %u is %s, the input %s", i,
				       tn_dtype_name(g->dtype), tn_dtype_name(form->dtype));
	if (tn_shape_equal(g->rank, g->shape, form->rank, form->shape))
		return TN_OK;
	return tn_runtime_fail(rt, TN_SHAPE, node->operation,
			       "backward: the gradient of input %u has shape %s, the input %s", i,
			       tn_array_text(g, found),
			       tn_shape_print(form->rank, form->shape, expected));
}

static tn_status backward(struct tn_node *node, tn_array *dy)
{
	struct tn_runtime *rt = tn_node_runtime(node);
	const struct own_node *own = node->state;
	const tn_array *output_gradients[TN_NODE_LIMIT];
	tn_array *saved[TN_NODE_LIMIT], *input_gradients[TN_NODE_LIMIT] = {0};
	int needs[TN_NODE_LIMIT];
	(void)dy;
	for (uint32_t i = 0; i < node->n_outputs; i++)
		output_gradients[i] = node->outputs[i]->gradient;
	for (uint32_t i = 0; i < node->n_saved; i++)
		saved[i] = node->saved[i].array;
	for (uint32_t i = 0; i < node->n_inputs; i++)
		needs[i] = tn_node_wants(node, i);
	tn_status status = own->backward(
		own->state, &(struct tn_node_call){.struct_size = sizeof(struct tn_node_call),
						   .context = rt->context,
						   .n_saved = node->n_saved,
						   .n_outputs = node->n_outputs,
						   .n_inputs = node->n_inputs,
						   .saved = saved,
						   .output_gradients = output_gradients,
						   .needs = needs,
						   .input_gradients = input_gradients});
	if (tn_runtime_status(rt))
		return tn_runtime_status(rt);
	if (status)
		return tn_runtime_fail(rt, status, node->operation, "backward returned %s",
				       tn_status_name(status));
	for (uint32_t i = 0; i < node->n_inputs && !status; i++) {
		if (!input_gradients[i] || !needs[i])
			continue;
		status = check_gradient(node, i, input_gradients[i]);
		if (!status)
			status = tn_node_give(node, i, input_gradients[i]);
	}
	return status;
}

/* ---- Recording -------------------------------------------------------------------------------*/

static tn_status check_list(struct tn_runtime *rt, const char *name, const char *what, uint32_t n,
			    tn_array *const *arrays, int may_be_null)
{
	if (n > TN_NODE_LIMIT)
		return tn_runtime_fail(rt, TN_LIMIT, name, "%u %ss exceed the %d of a node", n,
				       what, TN_NODE_LIMIT);
	for (uint32_t i = 0; i < n; i++) {
		if (!arrays || (!arrays[i] && !may_be_null))
			return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, name, "%s %u is NULL", what,
					       i);
		if (arrays[i] && tn_handle_check(arrays[i]->runtime, name))
			return TN_STATE;
		if (arrays[i] && arrays[i]->runtime != rt)
			return tn_runtime_fail(rt, TN_DEVICE, name,
					       "%s %u belongs to another context", what, i);
	}
	return TN_OK;
}

static tn_status check_options(struct tn_runtime *rt, const struct tn_node_options *o)
{
	if (!o->backward || !o->n_outputs || !o->name)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, o->name ? o->name : "node_record",
				       "expected a name, outputs and a backward");
	tn_status status = check_list(rt, o->name, "input", o->n_inputs, o->inputs, 0);
	if (!status)
		status = check_list(rt, o->name, "output", o->n_outputs, o->outputs, 0);
	if (!status)
		status = check_list(rt, o->name, "saved array", o->n_saved, o->saved, 1);
	for (uint32_t i = 0; i < o->n_outputs && !status; i++) {
		if (!tn_is_inexact(o->outputs[i]->dtype))
			status = tn_runtime_fail(rt, TN_DTYPE, o->name,
						 "output %u: expected a floating or complex type, "
						 "found %s",
						 i, tn_dtype_name(o->outputs[i]->dtype));
		for (uint32_t k = 0; k < i && !status; k++) {
			if (o->outputs[k] == o->outputs[i])
				status = tn_runtime_fail(rt, TN_INVALID_ARGUMENT, o->name,
							 "outputs %u and %u are one array", k, i);
		}
		if (!status && rt->recorder && tn_entry_of(o->outputs[i]))
			status = tn_runtime_fail(rt, TN_STATE, o->name,
						 "output %u has a gradient already: compute it "
						 "between tn_no_grad_begin and tn_no_grad_end",
						 i);
	}
	return status;
}

/* *is_taken: the node owns the state. */
static tn_status record(struct tn_tape *tape, const struct tn_node_options *o, int *is_taken)
{
	struct own_node own = {.backward = o->backward, .state = o->state, .destroy = o->destroy};
	struct tn_node_request request = {.backward = backward,
					  .n_inputs = o->n_inputs,
					  .n_saved = o->n_saved,
					  .is_twice = o->is_differentiable,
					  .state = &own,
					  .state_size = sizeof(own),
					  .release = release};
	for (uint32_t i = 0; i < o->n_inputs; i++) {
		const tn_array *x = o->inputs[i];
		struct form *form = &own.inputs[i];
		request.inputs[i] = x;
		form->device = tn_array_home(x);
		form->dtype = x->dtype;
		form->rank = x->rank;
		memcpy(form->shape, x->shape, (size_t)x->rank * sizeof(int64_t));
	}
	for (uint32_t i = 0; i < o->n_saved; i++)
		request.saved[i] = o->saved[i];
	size_t length = strlen(o->name) + 1;
	char *name = tn_arena_take(&tape->arena, length);
	const struct tn_node *before = tape->last;
	if (!name)
		return tn_runtime_no_memory(tape->runtime, o->name, "the tape");
	memcpy(name, o->name, length);
	request.operation = name;
	struct tn_error_info error;
	tn_status status = tn_tape_add_node(tape, o->n_outputs, o->outputs, &request, &error);
	*is_taken = tape->last != before;
	return status ? tn_runtime_keep(tape->runtime, &error) : TN_OK;
}

tn_status tn_node_record(tn_context *context, const struct tn_node_options *options)
{
	struct tn_node_options o = tn_node_defaults();
	struct tn_runtime *rt = tn_runtime_of(context);
	if (!context || !options)
		return tn_runtime_null(rt, "node_record", "options");
	tn_status status = tn_runtime_take(rt, &o, sizeof(o), options, "struct tn_node_options",
					   "node_record");
	if (status)
		return status;
	int is_taken = 0;
	status = tn_runtime_ready(rt);
	if (!status)
		status = check_options(rt, &o);
	if (!status && rt->recorder)
		status = record(rt->recorder->user, &o, &is_taken);
	if (!is_taken && o.destroy)
		o.destroy(o.state);
	return status;
}
