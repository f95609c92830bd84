/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Walks the tree of modules: checks new names, finds modules and weights by path, and lists all of
 * them with their full names.
 */
#include "nn/tree.h"

#include <string.h>

#include "array/handle.h"
#include "base/memory.h"
#include "base/text.h"

const tn_module *tn_module_root(const tn_module *module)
{
	while (module->parent)
		module = module->parent;
	return module;
}

int tn_module_is_built(const tn_module *module)
{
	return tn_module_root(module)->arena.values != NULL;
}

tn_status tn_module_check_network(const tn_module *module, const char *operation)
{
	if (module->arena.values)
		return TN_OK;
	return tn_runtime_fail(module->runtime, TN_STATE, operation,
			       "the module has not been built, or is a member of another module");
}

tn_dtype tn_module_dtype(const tn_module *module)
{
	if (!module || tn_handle_check(module->runtime, "module_dtype"))
		return TN_F32;
	tn_dtype dtype = tn_module_root(module)->dtype;
	return dtype ? dtype : TN_F32;
}

void tn_module_seal(tn_module *module)
{
	module->sealed = 1;
	for (size_t i = 0; i < module->n_members; i++)
		tn_module_seal(module->members[i].module);
}

/* ---- New names -------------------------------------------------------------------------------*/

tn_status tn_module_check_name(const tn_module *module, const char *name)
{
	struct tn_runtime *rt = module->runtime;
	if (!*name || strchr(name, '.'))
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, module->class_name,
				       "expected a name without dots, found '%s'", name);
	int taken = 0;
	for (size_t i = 0; i < module->n_members; i++)
		taken |= !strcmp(module->members[i].name, name);
	for (size_t i = 0; i < module->n_slots; i++)
		taken |= !strcmp(module->slots[i].name, name);
	for (size_t i = 0; i < module->n_buffers; i++)
		taken |= !strcmp(module->buffers[i]->name, name);
	if (taken)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, module->class_name,
				       "the name '%s' is already used", name);
	return TN_OK;
}

tn_status tn_module_check_open(const tn_module *module, const char *name)
{
	tn_status status = tn_runtime_ready(module->runtime);
	if (status || !module->sealed)
		return status;
	return tn_runtime_fail(module->runtime, TN_STATE, module->class_name,
			       "'%s' cannot be added: the module has been built", name);
}

tn_status tn_module_check_new(const tn_module *module, const char *name)
{
	if (!name)
		return tn_runtime_null(module->runtime, module->class_name, "name");
	tn_status status = tn_module_check_open(module, name);
	return status ? status : tn_module_check_name(module, name);
}

int64_t tn_module_elements(int rank, const int64_t *shape)
{
	int64_t size = 1;
	if (rank < 0 || rank > TN_MAX_RANK)
		return -1;
	for (int i = 0; i < rank; i++) {
		if (shape[i] < 1 || __builtin_mul_overflow(size, shape[i], &size))
			return -1;
	}
	return size <= INT64_MAX / 16 ? size : -1;
}

/* ---- The listing -----------------------------------------------------------------------------*/

static void free_listing(tn_module *module)
{
	for (size_t i = 0; i < module->n_listing; i++)
		tn_mem_free(module->listing[i].name);
	tn_mem_free(module->listing);
	module->listing = NULL;
	module->n_listing = 0;
	for (size_t i = 0; i < module->n_buffer_listing; i++)
		tn_mem_free(module->buffer_listing[i].name);
	tn_mem_free(module->buffer_listing);
	module->buffer_listing = NULL;
	module->n_buffer_listing = 0;
	for (size_t i = 0; i < module->n_module_listing; i++)
		tn_mem_free(module->module_listing[i].path);
	tn_mem_free(module->module_listing);
	module->module_listing = NULL;
	module->n_module_listing = 0;
	module->listed = 0;
}

void tn_module_unlist(tn_module *module)
{
	for (; module; module = module->parent)
		free_listing(module);
}

static int list_has(const tn_module *list, const struct tn_weight *weight)
{
	for (size_t i = 0; i < list->n_listing; i++) {
		if (list->listing[i].weight == weight)
			return 1;
	}
	return 0;
}

char *tn_module_join(const char *prefix, const char *name)
{
	struct tn_text text;
	tn_text_init(&text);
	tn_text_format(&text, "%s%s%s", prefix, *prefix ? "." : "", name);
	return tn_text_take(&text);
}

static int list_module(tn_module *list, tn_module *module, const char *path)
{
	char *copy = tn_mem_copy_string(path);
	struct tn_named_module *listing =
		copy ? tn_mem_realloc(list->module_listing, list->n_module_listing + 1,
				      sizeof(*listing))
		     : NULL;
	if (!listing) {
		tn_mem_free(copy);
		return 0;
	}
	list->module_listing = listing;
	listing[list->n_module_listing++] = (struct tn_named_module){copy, module};
	return 1;
}

/* Adds `module`, its weights and buffers, and its members to the listing of `list`; 0: out of
 * memory. */
static int list_tree(tn_module *list, tn_module *module, const char *prefix)
{
	if (!list_module(list, module, prefix))
		return 0;
	for (size_t i = 0; i < module->n_slots; i++) {
		if (list_has(list, module->slots[i].weight))
			continue;
		char *name = tn_module_join(prefix, module->slots[i].name);
		struct tn_named_weight *listing =
			name ? tn_mem_realloc(list->listing, list->n_listing + 1, sizeof(*listing))
			     : NULL;
		if (!listing) {
			tn_mem_free(name);
			return 0;
		}
		list->listing = listing;
		listing[list->n_listing++] =
			(struct tn_named_weight){name, module->slots[i].weight};
	}
	for (size_t i = 0; i < module->n_buffers; i++) {
		char *name = tn_module_join(prefix, module->buffers[i]->name);
		struct tn_named_buffer *listing =
			name ? tn_mem_realloc(list->buffer_listing, list->n_buffer_listing + 1,
					      sizeof(*listing))
			     : NULL;
		if (!listing) {
			tn_mem_free(name);
			return 0;
		}
		list->buffer_listing = listing;
		listing[list->n_buffer_listing++] =
			(struct tn_named_buffer){name, module->buffers[i]};
	}
	for (size_t i = 0; i < module->n_members; i++) {
		char *path = tn_module_join(prefix, module->members[i].name);
		int done = path && list_tree(list, module->members[i].module, path);
		tn_mem_free(path);
		if (!done)
			return 0;
	}
	return 1;
}

tn_status tn_module_list(const tn_module *module)
{
	tn_module *list = (tn_module *)(uintptr_t)module; /* a cache */
	if (list->listed)
		return TN_OK;
	if (!list_tree(list, list, "")) {
		free_listing(list);
		return tn_runtime_no_memory(module->runtime, module->class_name,
					    "the list of parameters");
	}
	list->listed = 1;
	return TN_OK;
}

/* ---- Asking ----------------------------------------------------------------------------------*/

const char *tn_module_class_name(const tn_module *module)
{
	return module && !tn_handle_check(module->runtime, "module_class_name") ? module->class_name
										: NULL;
}

tn_module *tn_module_find_member(const tn_module *module, const char *path)
{
	size_t n = strcspn(path, ".");
	for (size_t i = 0; i < module->n_members; i++) {
		const struct tn_member *member = &module->members[i];
		if (!strncmp(member->name, path, n) && !member->name[n])
			return member->module;
	}
	return NULL;
}

struct tn_slot_entry *tn_module_slot(const tn_module *module, const char *name)
{
	for (size_t i = 0; i < module->n_slots; i++) {
		if (!strcmp(module->slots[i].name, name))
			return &module->slots[i];
	}
	return NULL;
}

struct tn_weight *tn_module_weight_at(const tn_module *module, const char *path)
{
	const char *dot = strrchr(path, '.'), *name = dot ? dot + 1 : path;
	for (; module && path < name; path += strcspn(path, ".") + 1) {
		module = tn_module_find_member(module, path);
	}
	const struct tn_slot_entry *slot = module ? tn_module_slot(module, name) : NULL;
	return slot ? slot->weight : NULL;
}

const struct tn_named_weight *tn_module_named_weight(const tn_module *module, const char *path)
{
	const struct tn_weight *weight = tn_module_weight_at(module, path);
	size_t n = weight && !tn_module_list(module) ? module->n_listing : 0;
	for (size_t i = 0; i < n; i++) {
		if (module->listing[i].weight == weight)
			return &module->listing[i];
	}
	return NULL;
}

size_t tn_module_count(const tn_module *module)
{
	return module && !tn_handle_check(module->runtime, "module_count") &&
			       !tn_module_list(module)
		       ? module->n_module_listing
		       : 0;
}

tn_status tn_module_at(const tn_module *module, size_t index, struct tn_module_view *view)
{
	if (!module || index >= tn_module_count(module))
		return TN_INVALID_ARGUMENT;
	const struct tn_named_module *named = &module->module_listing[index];
	const struct tn_module_view own = {
		.struct_size = sizeof(own),
		.path = named->path,
		.class_name = named->module->class_name,
		.module = named->module,
	};
	return tn_runtime_answer(module->runtime, view, &own, sizeof(own), "struct tn_module_view",
				 "module_at");
}
