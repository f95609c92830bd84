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

/* like: NULL: no suggestion. */
static tn_status not_found(const tn_module *module, const char *operation, const char *what,
			   const char *name, const char *like)
{
	tn_status status = tn_runtime_ready(module->runtime);
	if (!status)
		status = tn_runtime_fail(module->runtime, TN_NOT_FOUND, operation,
					 "no %s '%s' in %s%s%s%s", what, name, module->class_name,
					 like ? "; nearest: '" : "", like ? like : "",
					 like ? "'" : "");
	return status;
}

tn_status tn_module_no_own_parameter(const tn_module *module, const char *operation,
				     const char *name)
{
	return not_found(module, operation, "parameter", name,
			 module->n_slots
				 ? tn_name_nearest_member(name, &module->slots->name,
							  module->n_slots, sizeof(*module->slots))
				 : NULL);
}

static void no_own_buffer(const tn_module *module, const char *name)
{
	const size_t n = module->n_buffers;
	const char **names = n ? tn_mem_alloc(n * sizeof(*names)) : NULL;
	for (size_t i = 0; names && i < n; i++)
		names[i] = module->buffers[i]->name;
	not_found(module, "module_own_buffer", "buffer", name,
		  names ? tn_name_nearest(name, names, n) : NULL);
	tn_mem_free(names);
}

static void no_member(const tn_module *module, const char *name)
{
	not_found(module, "module_child", "member", name,
		  module->n_members
			  ? tn_name_nearest_member(name, &module->members->name, module->n_members,
						   sizeof(*module->members))
			  : NULL);
}

tn_status tn_module_no_parameter(const tn_module *module, const char *operation, const char *what,
				 const char *name)
{
	const size_t n = tn_module_list(module) ? 0 : module->n_listing;
	return not_found(module, operation, what, name,
			 n ? tn_name_nearest_member(name, &module->listing->name, n,
						    sizeof(*module->listing))
			   : NULL);
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
