/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Chains of members, and residual blocks, which add a shortcut to what their chain gives.  What lies
 * between two members is given back as soon as the next one is done: a tape keeps what it needs of it.
 *
 * A chain takes two short ways that give the same results.  A layer that can go on by itself does the
 * activation behind it, and the last one the residual too.  And a ReLU before a max pool is done after
 * it, on fewer elements: both keep order, and where they differ in which of equals wins, the gradient is
 * 0 either way.
 */
#include <stdio.h>

#include "array/array.h"
#include "base/memory.h"
#include "nn/module.h"

/* The first member at or after i that is in the chain. */
static size_t in_chain(const tn_module *chain, size_t i)
{
	while (i < chain->n_members && chain->members[i].module == chain->shortcut)
		i++;
	return i;
}

static tn_module *member_at(const tn_module *chain, size_t i)
{
	return i < chain->n_members ? chain->members[i].module : NULL;
}

static int keeps_order(const tn_module *module)
{
	return module->activation == TN_ACTIVATION_RELU ||
	       module->activation == TN_ACTIVATION_RELU6;
}

/* Runs member i, and those behind it that go with it; returns the number of the next. */
static size_t run_some(const tn_module *chain, size_t i, const tn_array *x, struct tn_then *then,
		       tn_array **y)
{
	static const struct tn_then nothing = {0};
	tn_module *member = member_at(chain, i);
	size_t after = in_chain(chain, i + 1);
	tn_module *next = member_at(chain, after);
	if (next && keeps_order(member) && next->is_max_pool) {
		*y = tn_then_finish(tn_module_forward(next, x),
				    &(struct tn_then){.activation = member->activation});
		return in_chain(chain, after + 1);
	}
	if (next && member->forward_then && next->activation) {
		*y = tn_module_forward_then(member, x,
					    &(struct tn_then){.activation = next->activation});
		return in_chain(chain, after + 1);
	}
	*y = tn_module_forward_then(member, x, next ? &nothing : then);
	if (!next)
		*then = nothing;
	return after;
}

static tn_array *chain_then(tn_module *chain, const tn_array *x, const struct tn_then *given)
{
	struct tn_then then = *given;
	/* A view, so that the result is a new array. */
	tn_array *y = tn_reshape(x, x->rank, x->shape), *next;
	for (size_t i = in_chain(chain, 0); i < chain->n_members && y;) {
		i = run_some(chain, i, y, &then, &next);
		if (next != y)
			tn_array_destroy(y);
		y = next;
	}
	return tn_then_finish(y, &then);
}

static tn_array *forward(tn_module *module, void *state, const tn_array *x)
{
	static const struct tn_then nothing = {0};
	(void)state;
	return chain_then(module, x, &nothing);
}

tn_module *tn_sequential(tn_context *context)
{
	static const struct tn_module_class class_ = {
		.struct_size = sizeof(class_), .name = "Sequential", .forward = forward};
	tn_module *module = tn_module_create(context, &class_, NULL);
	if (module)
		module->forward_then = chain_then;
	return module;
}

/* ---- Residual blocks -------------------------------------------------------------------------*/

static tn_array *residual_forward(tn_module *module, void *state, const tn_array *x)
{
	const uint32_t *activation = state;
	tn_array *shortcut = module->shortcut ? tn_module_forward(module->shortcut, x) : NULL;
	if (module->shortcut && !shortcut)
		return NULL;
	const struct tn_then then = {.residual = shortcut ? shortcut : x,
				     .activation = *activation};
	tn_array *y = chain_then(module, x, &then);
	tn_array_destroy(shortcut);
	return y;
}

tn_module *tn_module_residual(tn_context *context, uint32_t activation)
{
	static const struct tn_module_class class_ = {sizeof(class_), "Residual", residual_forward,
						      tn_mem_free};
	if (activation <= TN_ACTIVATION_RELU6)
		return tn_module_of_class(context, &class_, &activation, sizeof(activation));
	if (context)
		tn_runtime_fail(tn_runtime_of(context), TN_INVALID_ARGUMENT, class_.name,
				"expected no activation, RELU or RELU6, found %u", activation);
	return NULL;
}

static int is_residual(const tn_module *module)
{
	return module->class_.forward == residual_forward;
}

tn_status tn_module_residual_shortcut(tn_module *residual, const char *name, tn_module *member)
{
	if (!residual || !is_residual(residual) || !member) {
		tn_module_destroy(member);
		return TN_INVALID_ARGUMENT;
	}
	if (residual->shortcut) {
		tn_module_destroy(member);
		return tn_runtime_fail(residual->runtime, TN_STATE, residual->class_name,
				       "'%s' cannot be the shortcut: there is one already",
				       name ? name : "");
	}
	tn_status status = tn_module_add(residual, name, member);
	if (!status)
		residual->shortcut = member;
	return status;
}

tn_status tn_sequential_add(tn_module *sequential, const char *name, tn_module *member)
{
	char number[24];
	if (!sequential || (sequential->class_.forward != forward && !is_residual(sequential))) {
		tn_module_destroy(member);
		return TN_INVALID_ARGUMENT;
	}
	snprintf(number, sizeof(number), "%zu", sequential->n_members);
	return tn_module_add(sequential, name ? name : number, member);
}
