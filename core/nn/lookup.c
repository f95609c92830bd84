/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Finds what a module has by its name.  The error of a public look-up suggests the nearest name.
 */
#include "nn/lookup.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/name.h"
#include "nn/path.h"
#include "nn/tree.h"

/* ---- Errors ----------------------------------------------------------------------------------*/

/* NULL for `names`: no suggestion. */
static tn_status not_found(const tn_module *module, const char *operation, const char *what,
			   const char *name, const char **names, size_t n)
{
	const char *like = names ? tn_name_nearest(name, names, n) : NULL;
	tn_status status = tn_runtime_ready(module->runtime);
	if (!status)
		status = tn_runtime_fail(module->runtime, TN_NOT_FOUND, operation,
					 "no %s '%s' in %s%s%s%s", what, name, module->class_name,
					 like ? "; nearest: '" : "", like ? like : "",
					 like ? "'" : "");
	tn_mem_free(names);
	return status;
}

static const char **names_of(size_t n)
{
	return n ? tn_mem_alloc(n * sizeof(const char *)) : NULL;
}

tn_status tn_module_no_own_parameter(const tn_module *module, const char *operation,
				     const char *name)
{
	const char **names = names_of(module->n_slots);
	for (size_t i = 0; names && i < module->n_slots; i++)
		names[i] = module->slots[i].name;
	return not_found(module, operation, "parameter", name, names, module->n_slots);
}

static void no_own_buffer(const tn_module *module, const char *name)
{
	const char **names = names_of(module->n_buffers);
	for (size_t i = 0; names && i < module->n_buffers; i++)
		names[i] = module->buffers[i]->name;
	not_found(module, "module_own_buffer", "buffer", name, names, module->n_buffers);
}

static void no_member(const tn_module *module, const char *name)
{
	const char **names = names_of(module->n_members);
	for (size_t i = 0; names && i < module->n_members; i++)
		names[i] = module->members[i].name;
	not_found(module, "module_child", "member", name, names, module->n_members);
}

tn_status tn_module_no_parameter(const tn_module *module, const char *operation, const char *what,
				 const char *name)
{
	const size_t n = tn_module_list(module) ? 0 : module->n_listing;
	const char **names = names_of(n);
	for (size_t i = 0; names && i < n; i++)
		names[i] = module->listing[i].name;
	return not_found(module, operation, what, name, names, n);
}

/* The module was not built: its parameters and buffers have no values. */
static void no_value(const tn_module *module, const char *operation, const char *what,
		     const char *name)
{
	if (!tn_runtime_ready(module->runtime))
		tn_runtime_fail(module->runtime, TN_STATE, operation,
				"%s '%s' of %s has no value before tn_module_build", what, name,
				module->class_name);
}

/* ---- Parameters and buffers ------------------------------------------------------------------*/

tn_array *tn_module_find_parameter(const tn_module *module, const char *name)
{
	const struct tn_slot_entry *slot = tn_module_slot(module, name);
	return slot ? slot->weight->value : NULL;
}

tn_array *tn_module_own_parameter(const tn_module *module, const char *name)
{
	if (!module || !name) {
		tn_runtime_null(module ? module->runtime : NULL, "module_own_parameter", "name");
		return NULL;
	}
	const struct tn_slot_entry *slot = tn_module_slot(module, name);
	if (!slot)
		tn_module_no_own_parameter(module, "module_own_parameter", name);
	else if (!slot->weight->value)
		no_value(module, "module_own_parameter", "parameter", name);
	return slot ? slot->weight->value : NULL;
}

static const struct tn_buffer *own_buffer(const tn_module *module, const char *name)
{
	for (size_t i = 0; i < module->n_buffers; i++) {
		if (!strcmp(module->buffers[i]->name, name))
			return module->buffers[i];
	}
	return NULL;
}

tn_array *tn_module_find_buffer(const tn_module *module, const char *name)
{
	const struct tn_buffer *buffer = own_buffer(module, name);
	return buffer ? buffer->value : NULL;
}

tn_array *tn_module_own_buffer(const tn_module *module, const char *name)
{
	if (!module || !name) {
		tn_runtime_null(module ? module->runtime : NULL, "module_own_buffer", "name");
		return NULL;
	}
	const struct tn_buffer *buffer = own_buffer(module, name);
	if (!buffer)
		no_own_buffer(module, name);
	else if (!buffer->value)
		no_value(module, "module_own_buffer", "buffer", name);
	return buffer ? buffer->value : NULL;
}

/* ---- Members ---------------------------------------------------------------------------------*/

/* Goes down the path as far as there are members.  Returns the rest of the path: "" at its end. */
static const char *descend(tn_module **module, const char *path)
{
	while (*path) {
		tn_module *member = tn_module_find_member(*module, path);
		size_t n = strcspn(path, ".");
		if (!member || (path[n] && !path[n + 1])) /* or it ends with a dot */
			return path;
		*module = member;
		path += path[n] ? n + 1 : n;
	}
	return path;
}

tn_module *tn_module_find_child(tn_module *module, const char *path)
{
	return *descend(&module, path) ? NULL : module;
}

tn_module *tn_module_child(tn_module *module, const char *path)
{
	if (!module || !path) {
		tn_runtime_null(module ? module->runtime : NULL, "module_child", "path");
		return NULL;
	}
	const char *rest = descend(&module, path);
	if (!*rest)
		return module;
	/* A name that is there has a dot behind it and nothing else. */
	size_t n = tn_module_find_member(module, rest) ? strlen(rest) : strcspn(rest, ".");
	char name[TN_MODULE_PATH];
	snprintf(name, sizeof(name), "%.*s", (int)n, rest);
	no_member(module, name);
	return NULL;
}
