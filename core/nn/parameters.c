/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Parameters: declaring, sharing and finding them by path.
 */
#include <stdio.h>
#include <string.h>

#include "array/shape.h"
#include "array/handle.h"
#include "base/memory.h"
#include "base/text.h"
#include "nn/lookup.h"
#include "nn/module.h"
#include "nn/tree.h"

/* Adds a weight under a name; 0: out of memory. */
static int add_slot(tn_module *module, const char *name, struct tn_weight *weight)
{
	char *copy = tn_mem_copy_string(name);
	struct tn_slot_entry *slots =
		copy ? tn_mem_realloc(module->slots, module->n_slots + 1, sizeof(*slots)) : NULL;
	if (!slots) {
		tn_mem_free(copy);
		return 0;
	}
	module->slots = slots;
	slots[module->n_slots++] = (struct tn_slot_entry){copy, weight};
	weight->n_slots++;
	tn_module_unlist(module);
	return 1;
}

static tn_status no_memory(const tn_module *module, const char *name)
{
	return tn_runtime_fail(module->runtime, TN_OUT_OF_MEMORY, module->class_name,
			       "no host memory for parameter '%s'", name);
}

/* A shape that may be wrong. */
static const char *shape_text(int rank, const int64_t *shape, char text[TN_SHAPE_TEXT])
{
	if (rank >= 0 && rank <= TN_MAX_RANK && (shape || !rank))
		return tn_shape_print(rank, shape, text);
	snprintf(text, TN_SHAPE_TEXT, shape ? "rank %d" : "rank %d and NULL", rank);
	return text;
}

tn_status tn_module_add_parameter(tn_module *module, const char *name, int rank,
				  const int64_t *shape, double bound, double constant)
{
	if (!module)
		return TN_INVALID_ARGUMENT;
	tn_status status = tn_module_check_new(module, name);
	if (status)
		return status;
	char found[TN_SHAPE_TEXT];
	int64_t size = rank && !shape ? -1 : tn_module_elements(rank, shape);
	if (size < 0)
		return tn_runtime_fail(module->runtime, TN_INVALID_ARGUMENT, module->class_name,
				       "parameter '%s': expected at most %d lengths of at least 1, "
				       "found %s",
				       name, TN_MAX_RANK, shape_text(rank, shape, found));
	if (!(bound >= 0.0))
		return tn_runtime_fail(module->runtime, TN_INVALID_ARGUMENT, module->class_name,
				       "parameter '%s': expected a bound of at least 0, found %g",
				       name, bound);
	struct tn_weight *weight = tn_mem_zeroed(1, sizeof(*weight));
	if (!weight)
		return no_memory(module, name);
	weight->rank = rank;
	if (rank)
		memcpy(weight->shape, shape, (size_t)rank * sizeof(int64_t));
	weight->size = size;
	weight->bound = bound;
	weight->constant = constant;
	weight->trainable = 1;
	if (add_slot(module, name, weight))
		return TN_OK;
	tn_mem_free(weight);
	return no_memory(module, name);
}

static struct tn_weight *own_weight(const tn_module *module, const char *name)
{
	const struct tn_slot_entry *slot = tn_module_slot(module, name);
	return slot ? slot->weight : NULL;
}

/* The slot of that name holds another weight instead of its own, which is freed with its last. */
static tn_status tie(tn_module *module, struct tn_slot_entry *slot, struct tn_weight *weight)
{
	struct tn_weight *own = slot->weight;
	char expected[TN_SHAPE_TEXT], found[TN_SHAPE_TEXT];
	if (!tn_shape_equal(own->rank, own->shape, weight->rank, weight->shape))
		return tn_runtime_fail(module->runtime, TN_SHAPE, module->class_name,
				       "'%s' cannot be shared: expected shape %s, found %s",
				       slot->name, tn_shape_print(own->rank, own->shape, expected),
				       tn_shape_print(weight->rank, weight->shape, found));
	weight->n_slots++;
	slot->weight = weight;
	if (--own->n_slots == 0)
		tn_mem_free(own);
	tn_module_unlist(module);
	return TN_OK;
}

tn_status tn_module_share_parameter(tn_module *module, const char *name, tn_module *other,
				    const char *other_name)
{
	const tn_module *any = module ? module : other;
	const struct tn_given given[] = {
		{"module", module}, {"name", name}, {"other", other}, {"other_name", other_name}};
	tn_status status =
		tn_runtime_given(any ? any->runtime : NULL, "module_share_parameter", 4, given);
	if (status)
		return status;
	struct tn_slot_entry *slot = tn_module_slot(module, name);
	status = slot ? tn_module_check_open(module, name) : tn_module_check_new(module, name);
	if (status)
		return status;
	if (other->context != module->context || other->sealed)
		return tn_runtime_fail(
			module->runtime, TN_STATE, module->class_name,
			"'%s' cannot be shared: %s has been built, or belongs to another context",
			name, other->class_name);
	struct tn_weight *weight = own_weight(other, other_name);
	if (!weight)
		return tn_module_no_own_parameter(other, "module_share_parameter", other_name);
	if (slot)
		return tie(module, slot, weight);
	return add_slot(module, name, weight) ? TN_OK : no_memory(module, name);
}

/* ---- Asking ----------------------------------------------------------------------------------*/

size_t tn_module_parameter_count(const tn_module *module)
{
	return module && !tn_handle_check(module->runtime, "module_parameter_count") &&
			       !tn_module_list(module)
		       ? module->n_listing
		       : 0;
}

static tn_status answer(const tn_module *module, const struct tn_named_weight *named,
			const char *operation, struct tn_parameter_view *view)
{
	const struct tn_weight *weight = named->weight;
	const struct tn_parameter_view own = {
		.struct_size = sizeof(own),
		.name = named->name,
		.value = weight->value,
		.gradient = weight->filled ? weight->gradient : NULL,
		.trainable = weight->trainable,
		.rank = weight->rank,
		.shape = weight->shape,
	};
	return tn_runtime_answer(module->runtime, view, &own, sizeof(own),
				 "struct tn_parameter_view", operation);
}

tn_status tn_module_parameter_at(const tn_module *module, size_t index,
				 struct tn_parameter_view *view)
{
	if (module && tn_handle_check(module->runtime, "module_parameter_at"))
		return TN_STATE;
	if (!module || index >= tn_module_parameter_count(module))
		return TN_INVALID_ARGUMENT;
	return answer(module, &module->listing[index], "module_parameter_at", view);
}

tn_status tn_module_parameter(const tn_module *module, const char *name,
			      struct tn_parameter_view *view)
{
	if (!module || !name || !view)
		return tn_runtime_null(module ? module->runtime : NULL, "module_parameter",
				       name ? "view" : "name");
	if (tn_handle_check(module->runtime, "module_parameter"))
		return TN_STATE;
	const struct tn_named_weight *named = tn_module_named_weight(module, name);
	if (!named)
		return TN_NOT_FOUND;
	return answer(module, named, "module_parameter", view);
}

int64_t tn_module_size(const tn_module *module, int trainable_only)
{
	int64_t size = 0;
	for (size_t i = 0; i < tn_module_parameter_count(module); i++) {
		const struct tn_weight *weight = module->listing[i].weight;
		if (weight->trainable || !trainable_only)
			size += weight->size;
	}
	return size;
}

tn_status tn_module_set_trainable(tn_module *module, const char *prefix, int trainable)
{
	if (!module || !prefix)
		return tn_runtime_null(module ? module->runtime : NULL, "module_set_trainable",
				       "prefix");
	const tn_module *part = tn_module_find_child(module, prefix);
	struct tn_weight *weight = part ? NULL : tn_module_weight_at(module, prefix);
	size_t n = part ? tn_module_parameter_count(part) : 0;
	for (size_t i = 0; i < n; i++)
		part->listing[i].weight->trainable = trainable != 0;
	if (weight)
		weight->trainable = trainable != 0;
	return n || weight ? TN_OK
			   : tn_module_no_parameter(module, "module_set_trainable",
						    "parameter or member with parameters", prefix);
}
