/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Copies of networks: first the structure, in the order of the tree, then the values.  A weight
 * that several modules hold is copied with the first of them; the others find that copy in a list.
 */
#include "nn/copy.h"

#include <string.h>

#include <tenon/frozen.h>

#include "array/array.h"
#include "base/memory.h"
#include "nn/arena.h"
#include "nn/buffers.h"
#include "nn/module_conv2d.h"
#include "nn/module_linear.h"
#include "nn/path.h"
#include "nn/tree.h"

static const char operation[] = "module_copy";

/* ---- The structure ---------------------------------------------------------------------------*/

/* A weight with several holders, and its copy. */
struct tied {
	const struct tn_weight *from;
	struct tn_weight *to;
};

struct work {
	tn_context *context;
	struct tn_error_info *error;
	struct tied *tied;
	size_t n_tied;
};

static tn_status no_memory(const struct work *work)
{
	return tn_no_memory(work->error, operation, NULL, "a module");
}

static struct tn_weight *find_tied(const struct work *work, const struct tn_weight *from)
{
	for (size_t i = 0; i < work->n_tied; i++) {
		if (work->tied[i].from == from)
			return work->tied[i].to;
	}
	return NULL;
}

static int note_tied(struct work *work, const struct tn_weight *from, struct tn_weight *to)
{
	struct tied *tied = tn_mem_realloc(work->tied, work->n_tied + 1, sizeof(*tied));
	if (!tied)
		return 0;
	work->tied = tied;
	tied[work->n_tied++] = (struct tied){from, to};
	return 1;
}

/* The copy of a weight, which a holder has already or is about to get; NULL: out of memory. */
static struct tn_weight *copy_weight(struct work *work, const struct tn_weight *from)
{
	struct tn_weight *to = find_tied(work, from);
	if (to)
		return to;
	to = tn_mem_alloc(sizeof(*to));
	if (!to)
		return NULL;
	*to = *from;
	to->n_slots = 0;
	to->value = to->gradient = NULL;
	to->filled = 0;
	if (from->n_slots == 1 || note_tied(work, from, to))
		return to;
	tn_mem_free(to);
	return NULL;
}

static tn_status copy_slots(struct work *work, const tn_module *from, tn_module *to)
{
	to->slots = tn_mem_zeroed(from->n_slots ? from->n_slots : 1, sizeof(*to->slots));
	if (!to->slots)
		return no_memory(work);
	for (size_t i = 0; i < from->n_slots; i++) {
		char *name = tn_mem_copy_string(from->slots[i].name);
		struct tn_weight *weight = name ? copy_weight(work, from->slots[i].weight) : NULL;
		if (!weight) {
			tn_mem_free(name);
			return no_memory(work);
		}
		weight->n_slots++;
		to->slots[to->n_slots++] = (struct tn_slot_entry){name, weight};
	}
	return TN_OK;
}

static tn_status copy_buffers(const struct work *work, const tn_module *from, tn_module *to)
{
	to->buffers = tn_mem_zeroed(from->n_buffers ? from->n_buffers : 1, sizeof(*to->buffers));
	if (!to->buffers)
		return no_memory(work);
	for (size_t i = 0; i < from->n_buffers; i++) {
		struct tn_buffer *buffer = tn_mem_alloc(sizeof(*buffer));
		char *name = buffer ? tn_mem_copy_string(from->buffers[i]->name) : NULL;
		if (!name) {
			tn_mem_free(buffer);
			return no_memory(work);
		}
		*buffer = *from->buffers[i];
		buffer->name = name;
		buffer->value = NULL;
		to->buffers[to->n_buffers++] = buffer;
	}
	return TN_OK;
}

/* The library's states are bytes, without pointers; those of the program are copied by its class,
 * which frees no state before it has made one. */
static tn_status copy_state(const struct work *work, const tn_module *from, tn_module *to)
{
	const struct tn_module_class *class_ = &from->class_;
	char path[TN_MODULE_PATH];
	to->class_.destroy = NULL;
	if (from->state && from->is_foreign && !class_->copy)
		return tn_fail(work->error, TN_UNSUPPORTED, operation,
			       "%s: the class %s has a state, and no function that copies it "
			       "(struct tn_module_class, copy)",
			       tn_module_write_path(from, path), from->class_name);
	if (from->state) {
		to->state = from->is_foreign ? class_->copy(from->state)
					     : tn_mem_alloc(from->state_size);
		if (!to->state)
			return no_memory(work);
	}
	if (from->state_size)
		memcpy(to->state, from->state, from->state_size);
	to->state_size = from->state_size;
	to->class_.destroy = class_->destroy;
	return TN_OK;
}

/* A convolution or a linear layer has an epilogue only while it is frozen. */
static int is_epilogue_frozen(const tn_module *module)
{
	return tn_is_conv2d(module) || tn_is_linear(module);
}

static tn_module *make_module(const struct work *work, const tn_module *from)
{
	tn_module *to = tn_mem_zeroed(1, sizeof(*to));
	char *class_name = to ? tn_mem_copy_string(from->class_name) : NULL;
	if (!class_name) {
		tn_mem_free(to);
		no_memory(work);
		return NULL;
	}
	to->context = work->context;
	to->runtime = tn_runtime_of(work->context);
	to->class_ = from->class_;
	to->class_name = class_name;
	to->forward_then = is_epilogue_frozen(from) ? NULL : from->forward_then;
	to->activation = from->activation;
	to->is_max_pool = from->is_max_pool;
	to->is_repeatable = from->is_repeatable;
	to->least_elements = from->least_elements;
	to->is_foreign = from->is_foreign;
	to->is_recomputed = from->is_recomputed;
	to->training = from->training;
	to->dtype = from->dtype;
	return to;
}

static tn_module *copy_tree(struct work *work, const tn_module *from);

static tn_status copy_members(struct work *work, const tn_module *from, tn_module *to)
{
	to->members = tn_mem_zeroed(from->n_members ? from->n_members : 1, sizeof(*to->members));
	if (!to->members)
		return no_memory(work);
	for (size_t i = 0; i < from->n_members; i++) {
		const struct tn_member *member = &from->members[i];
		tn_module *own = copy_tree(work, member->module);
		char *name = own ? tn_mem_copy_string(member->name) : NULL;
		if (!name) {
			tn_module_destroy(own);
			return own ? no_memory(work) : work->error->status;
		}
		own->parent = to;
		to->members[to->n_members++] = (struct tn_member){name, own};
		if (from->shortcut == member->module)
			to->shortcut = own;
	}
	return TN_OK;
}

static tn_module *copy_tree(struct work *work, const tn_module *from)
{
	tn_module *to = make_module(work, from);
	if (!to)
		return NULL;
	tn_status status = copy_state(work, from, to);
	if (!status)
		status = copy_slots(work, from, to);
	if (!status)
		status = copy_buffers(work, from, to);
	if (!status)
		status = copy_members(work, from, to);
	if (!status)
		return to;
	tn_module_destroy(to);
	return NULL;
}

tn_module *tn_module_copy_tree(tn_context *context, const tn_module *module,
			       struct tn_error_info *error)
{
	struct work work = {.context = context, .error = error};
	tn_module *copy = copy_tree(&work, module);
	if (copy)
		copy->dtype = tn_module_root(module)->dtype;
	tn_mem_free(work.tied);
	return copy;
}

/* ---- The values ------------------------------------------------------------------------------*/

/* Through host memory: the arrays may be of different contexts and devices. */
static tn_status copy_value(const tn_array *from, tn_array *to)
{
	const size_t size = (size_t)from->size * tn_dtype_size(from->dtype);
	if (tn_array_home(from) == tn_array_home(to))
		return tn_assign(to, from);
	void *bytes = tn_mem_alloc(size);
	if (!bytes)
		return tn_runtime_no_memory(to->runtime, operation, "the values of an array");
	tn_status status = tn_to_host(from, bytes, size);
	if (status)
		tn_runtime_keep(to->runtime, &from->runtime->error);
	else
		status = tn_assign_host(to, bytes, size);
	tn_mem_free(bytes);
	return status;
}

/* The listings of both trees have one order. */
static tn_status copy_values(const tn_module *from, const tn_module *to)
{
	tn_status status = TN_OK;
	for (size_t i = 0; i < to->n_listing && !status; i++)
		status = copy_value(from->listing[i].weight->value, to->listing[i].weight->value);
	for (size_t i = 0; i < to->n_buffer_listing && !status; i++)
		status = copy_value(from->buffer_listing[i].buffer->value,
				    to->buffer_listing[i].buffer->value);
	return status;
}

/* Builds the copy with the values of a module that is built, in a scope of the caller. */
static tn_status build_copy(const tn_module *module, tn_module *copy)
{
	struct tn_network_arena arena;
	tn_status status = tn_network_arena_make(copy, tn_module_dtype(copy), &arena);
	if (!status)
		status = tn_buffers_make(copy);
	if (status) {
		tn_network_arena_free(&arena);
		return status;
	}
	tn_network_arena_install(copy, &arena);
	tn_module_seal(copy);
	return copy_values(module, copy);
}

static tn_status fill_copy(const tn_module *module, tn_module *copy)
{
	tn_status status = tn_module_list(module);
	if (status)
		return tn_runtime_keep(copy->runtime, &module->runtime->error);
	status = tn_module_list(copy);
	if (!status)
		status = tn_scope_begin(copy->context);
	if (status)
		return status;
	status = build_copy(module, copy);
	tn_scope_end(copy->context, NULL);
	return status;
}

tn_module *tn_module_copy(tn_context *context, const tn_module *module)
{
	struct tn_runtime *rt = tn_runtime_of(context);
	if (!context || !module) {
		tn_runtime_null(rt       ? rt
				: module ? module->runtime
					 : NULL,
				operation, context ? "module" : "context");
		return NULL;
	}
	if (tn_runtime_ready(rt))
		return NULL;
	tn_module *copy = tn_module_copy_tree(context, module, &rt->report);
	if (!copy) {
		tn_runtime_keep(rt, &rt->report);
		return NULL;
	}
	if (!tn_module_is_built(module) || !fill_copy(module, copy))
		return copy;
	tn_module_destroy(copy);
	return NULL;
}
