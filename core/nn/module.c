/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Creating, joining and destroying modules.
 */
#include "nn/module.h"

#include <string.h>

#include "array/array.h"
#include "array/handle.h"
#include "base/memory.h"
#include "capture/capture.h"
#include "nn/buffers.h"
#include "nn/tree.h"

tn_module *tn_module_make(tn_context *context, const struct tn_module_class *class_, void *state)
{
	if (!context || !class_ || !class_->forward || !class_->name)
		return NULL;
	struct tn_runtime *rt = tn_runtime_of(context);
	tn_module *module = tn_runtime_ready(rt) ? NULL : tn_mem_zeroed(1, sizeof(*module));
	char *name = module ? tn_mem_copy_string(class_->name) : NULL;
	if (!name) {
		tn_mem_free(module);
		if (!tn_runtime_ready(rt))
			tn_runtime_fail(rt, TN_OUT_OF_MEMORY, "module_custom",
					"no host memory for a %s", class_->name);
		if (class_->destroy)
			class_->destroy(state);
		return NULL;
	}
	module->context = context;
	module->runtime = rt;
	module->class_ = *class_;
	module->class_name = name;
	module->state = state;
	module->is_repeatable = 1;
	return module;
}

tn_module *tn_module_custom(tn_context *context, const struct tn_module_class *class_, void *state)
{
	struct tn_module_class own = tn_module_class_defaults();
	if (!context || !class_)
		return NULL;
	if (tn_runtime_take(tn_runtime_of(context), &own, sizeof(own), class_,
			    "struct tn_module_class", "module_custom")) {
		/* A class without a size cannot be read at all; of one that is too new, destroy can
		 * be. */
		if (class_->struct_size >= sizeof(own) && class_->destroy)
			class_->destroy(state);
		return NULL;
	}
	if (!own.name || !own.forward) {
		tn_runtime_fail(tn_runtime_of(context), TN_INVALID_ARGUMENT, "module_custom",
				"expected a class with a name and a forward, found no %s",
				own.name ? "forward" : "name");
		if (own.destroy)
			own.destroy(state);
		return NULL;
	}
	tn_module *module = tn_module_make(context, &own, state);
	if (!module)
		return NULL;
	module->is_repeatable = own.is_repeatable;
	module->is_foreign = 1;
	return module;
}

tn_module *tn_module_of_class(tn_context *context, const struct tn_module_class *class_,
			      const void *state, size_t state_size)
{
	if (!context)
		return NULL;
	void *copy = tn_mem_alloc(state_size);
	if (!copy) {
		tn_runtime_no_memory(tn_runtime_of(context), class_->name, "a module");
		return NULL;
	}
	if (state_size)
		memcpy(copy, state, state_size);
	tn_module *module = tn_module_make(context, class_, copy);
	if (module)
		module->state_size = state_size;
	return module;
}

/* Keeps it as a module that has nothing, to notice its use. */
static void quarantine(tn_module *module)
{
	struct tn_ended *ended = tn_handle_quarantine(
		module->runtime, module, "the module %s has been destroyed", module->class_name);
	if (ended)
		*module =
			(tn_module){.context = &ended->context, .runtime = &ended->context.runtime};
}

void tn_module_destroy(tn_module *module)
{
	/* A member is freed by its owning module, which removes it from the tree first. */
	if (!module || module->parent)
		return;
	/* The structure of a network for many threads has no context. */
	const int is_checked = module->runtime && module->runtime->is_checked;
	if (is_checked && tn_handle_has_ended(module->runtime, module, "module_destroy"))
		return;
	if (module->when_frozen)
		module->when_frozen->unfreeze(module);
	tn_module_unlist(module);
	for (size_t i = 0; i < module->n_members; i++) {
		module->members[i].module->parent = NULL;
		tn_module_destroy(module->members[i].module);
		tn_mem_free(module->members[i].name);
	}
	for (size_t i = 0; i < module->n_slots; i++) {
		struct tn_weight *weight = module->slots[i].weight;
		if (--weight->n_slots == 0) {
			if (weight->value)
				tn_capture_forget(module->runtime, &weight->filled);
			tn_array_unhold(weight->value);
			tn_array_unhold(weight->gradient);
			tn_mem_free(weight);
		}
		tn_mem_free(module->slots[i].name);
	}
	tn_buffers_free(module);
	tn_array_unhold(module->arena.values);
	tn_array_unhold(module->arena.gradients);
	tn_mem_free(module->arena.order);
	if (module->class_.destroy)
		module->class_.destroy(module->state);
	tn_mem_free(module->members);
	tn_mem_free(module->slots);
	char *name = module->class_name;
	if (is_checked)
		quarantine(module);
	else
		tn_mem_free(module);
	tn_mem_free(name);
}

void tn_module_user_end(tn_module **module, void *user, const char *what)
{
	struct tn_runtime *rt = (*module)->runtime;
	tn_module *none = rt->is_checked ? tn_mem_zeroed(1, sizeof(*none)) : NULL;
	struct tn_ended *ended = tn_handle_end(&rt, user, what);
	if (!ended || !none) {
		tn_mem_free(none);
		return;
	}
	none->context = &ended->context;
	none->runtime = rt;
	ended->quarantined.companion = none;
	*module = none;
}

static tn_status check_member(const tn_module *module, const char *name, const tn_module *member)
{
	struct tn_runtime *rt = module->runtime;
	tn_status status =
		name ? tn_runtime_ready(rt) : tn_runtime_null(rt, module->class_name, "name");
	if (status)
		return status;
	if (member->context != module->context)
		return tn_runtime_fail(rt, TN_DEVICE, module->class_name,
				       "'%s' belongs to another context", name);
	if (module->sealed || member->sealed)
		return tn_runtime_fail(rt, TN_STATE, module->class_name,
				       "'%s' cannot be added: the %s has been built", name,
				       module->sealed ? "module" : "member");
	if (tn_module_root(module) == member)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, module->class_name,
				       "'%s' cannot be added to itself", name);
	return tn_module_check_name(module, name);
}

tn_status tn_module_no_member(const tn_module *module, tn_module *member, const char *operation)
{
	const tn_module *any = module ? module : member;
	tn_status status =
		tn_runtime_null(any ? any->runtime : NULL, operation, module ? "member" : "module");
	tn_module_destroy(member);
	return status;
}

tn_status tn_module_add(tn_module *module, const char *name, tn_module *member)
{
	if (!module || !member)
		return tn_module_no_member(module, member, "module_add");
	if (member->parent)
		return tn_runtime_fail(module->runtime, TN_INVALID_ARGUMENT, module->class_name,
				       "'%s' is a member of a %s already", name ? name : "",
				       member->parent->class_name);
	tn_status status = check_member(module, name, member);
	char *copy = status ? NULL : tn_mem_copy_string(name);
	struct tn_member *members =
		copy ? tn_mem_realloc(module->members, module->n_members + 1, sizeof(*members))
		     : NULL;
	if (members) {
		module->members = members;
		members[module->n_members++] = (struct tn_member){copy, member};
		member->parent = module;
		tn_module_unlist(module);
		return TN_OK;
	}
	if (!status)
		status = tn_runtime_fail(module->runtime, TN_OUT_OF_MEMORY, module->class_name,
					 "no host memory for '%s'", name);
	tn_mem_free(copy);
	if (tn_module_root(module) != member)
		tn_module_destroy(member);
	return status;
}
