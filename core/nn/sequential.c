/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Chains of members, and residual blocks, which add a shortcut to their chain's result.  The array
 * between two members is released as soon as the next one is done: a tape keeps what it needs.
 *
 * A chain takes two shortcuts that give the same results.  A layer that supports an epilogue
 * includes the activation after it, and the last one the residual too.  And a ReLU before a max
 * pool runs after it, on fewer elements: both preserve order, and where they choose different ones
 * of equal elements, the gradient is 0 either way.
 */
#include "nn/sequential.h"

#include <stdio.h>

#include "array/array.h"
#include "array/watch.h"
#include "base/memory.h"
#include "nn/module.h"
#include "nn/module_activation.h"
#include "nn/tree.h"

tn_module *tn_chain_member(const tn_module *chain, size_t *i)
{
	while (*i < chain->n_members && chain->members[*i].module == chain->shortcut)
		++*i;
	return *i < chain->n_members ? chain->members[*i].module : NULL;
}

static int keeps_order(const tn_module *module)
{
	return module->activation == TN_ACTIVATION_RELU ||
	       module->activation == TN_ACTIVATION_RELU6;
}

/* Runs the member before number *next with the following ones that it includes, and advances *next
 * past them. */
static tn_array *run_next(const tn_module *chain, tn_module *member, size_t *next,
			  const tn_array *x, struct tn_then *then)
{
	struct tn_then own = {0};
	/* A frozen member includes the batch norm that it has folded. */
	if (member->fold && tn_chain_member(chain, next) == member->fold->norm) {
		own.is_folded = 1;
		++*next;
	}
	tn_module *behind = tn_chain_member(chain, next);
	/* A hook, and a summary, is shown the module's own input and result. */
	const struct tn_watch *watch = member->watch_row ? chain->runtime->watch : NULL;
	int is_separate = tn_module_has_hook(member) || (behind && tn_module_has_hook(behind)) ||
			  (watch && watch->is_separate);
	if (behind && keeps_order(member) && behind->is_max_pool && !is_separate) {
		own.activation = member->activation;
		++*next;
		return tn_then_finish(tn_module_forward(behind, x), &own);
	}
	if (behind && member->forward_then && behind->activation && !is_separate) {
		own.activation = behind->activation;
		++*next;
	} else if (!behind) {
		own.residual = then->residual;
		own.activation = then->activation;
		*then = (struct tn_then){0};
	}
	return tn_module_forward_then(member, x, &own);
}

static tn_array *chain_then(tn_module *chain, const tn_array *x, const struct tn_then *given)
{
	struct tn_then then = *given;
	size_t i = 0;
	/* A view, so that the result is a new array. */
	tn_array *y = tn_reshape(x, x->rank, x->shape);
	for (tn_module *member; y && (member = tn_chain_member(chain, &i));) {
		i++;
		tn_array *next = run_next(chain, member, &i, y, &then);
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

tn_module *tn_module_sequential(tn_context *context)
{
	static const struct tn_module_class class_ = {
		.struct_size = sizeof(class_), .name = "Sequential", .forward = forward};
	tn_module *module = tn_module_make(context, &class_, NULL);
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
	static const struct tn_module_class class_ = {.struct_size = sizeof(class_),
						      .name = "Residual",
						      .forward = residual_forward,
						      .destroy = tn_mem_free};
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

int tn_is_chain(const tn_module *module)
{
	return module->class_.forward == forward || is_residual(module);
}

/* The member was not added: it is destroyed, unless it is the module or around it. */
static void consume(const tn_module *module, tn_module *member)
{
	if (tn_module_root(module) != member)
		tn_module_destroy(member);
}

/* The module is of another class. */
static tn_status refuse(const tn_module *module, tn_module *member, const char *operation,
			const char *expected)
{
	tn_status status = tn_runtime_fail(module->runtime, TN_INVALID_ARGUMENT, operation,
					   "expected %s, found a %s", expected, module->class_name);
	consume(module, member);
	return status;
}

tn_status tn_module_residual_shortcut(tn_module *residual, const char *name, tn_module *member)
{
	if (!residual || !member)
		return tn_module_no_member(residual, member, "module_residual_shortcut");
	if (!is_residual(residual))
		return refuse(residual, member, "residual_shortcut", "a Residual");
	if (residual->shortcut) {
		consume(residual, member);
		return tn_runtime_fail(residual->runtime, TN_STATE, residual->class_name,
				       "'%s' cannot be the shortcut: the block already has one",
				       name ? name : "");
	}
	tn_status status = tn_module_add(residual, name, member);
	if (!status)
		residual->shortcut = member;
	return status;
}

tn_status tn_module_sequential_add(tn_module *sequential, const char *name, tn_module *member)
{
	char number[24];
	if (!sequential || !member)
		return tn_module_no_member(sequential, member, "module_sequential_add");
	if (!tn_is_chain(sequential))
		return refuse(sequential, member, "module_sequential_add",
			      "a Sequential or a Residual");
	snprintf(number, sizeof(number), "%zu", sequential->n_members);
	return tn_module_add(sequential, name ? name : number, member);
}
