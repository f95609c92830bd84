/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Lays out the arenas of a network's values and gradients, makes a view for each weight, and
 * installs them in the module.
 */
#include "nn/arena.h"

#include "array/array.h"
#include "base/dtype.h"
#include "base/memory.h"

/* The module's own reference; NULL stays NULL. */
static tn_array *hold(tn_array *array)
{
	return array ? tn_array_hold(array) : NULL;
}

/* A weight's part of an arena in the weight's shape, kept. */
static tn_array *view_weight(const tn_array *flat, const struct tn_weight *weight, int64_t offset)
{
	tn_array *slice = tn_slice(flat, 0, offset, offset + weight->size, 1);
	return hold(tn_reshape(slice, weight->rank, weight->shape));
}

static void place_weights(const tn_module *module, struct tn_network_arena *arena)
{
	const int64_t alignment = TN_ARENA_ALIGNMENT;
	int64_t size = 0;
	size_t n = module->n_listing, placed = 0;
	for (size_t i = 0; i < 2 * n; i++) {
		const struct tn_weight *weight = module->listing[i % n].weight;
		if ((weight->rank < 2) != (i >= n))
			continue;
		arena->arrays.order[placed++] = i % n;
		arena->offsets[i % n] = size;
		size += (weight->size + alignment - 1) / alignment * alignment;
	}
	/* A network without parameters also has an arena, so that it counts as built. */
	arena->arrays.size = size ? size : alignment;
}

/* Lists without arrays, of which the places are set. */
static tn_status make_lists(const tn_module *module, struct tn_network_arena *arena)
{
	const size_t n = module->n_listing, room = n ? n : 1;
	*arena = (struct tn_network_arena){
		.arrays.order = tn_mem_zeroed(room, sizeof(*arena->arrays.order)),
		.offsets = tn_mem_zeroed(room, sizeof(*arena->offsets)),
		.values = tn_mem_zeroed(room, sizeof(tn_array *)),
		.gradients = tn_mem_zeroed(room, sizeof(tn_array *)),
		.n = n};
	if (!arena->arrays.order || !arena->offsets || !arena->values || !arena->gradients)
		return tn_runtime_fail(module->runtime, TN_OUT_OF_MEMORY, "module_build",
				       "no host memory for %zu parameters", n);
	place_weights(module, arena);
	return TN_OK;
}

/* A view of `flat` for each weight. */
static tn_status view_weights(const tn_module *module, const tn_array *flat, const int64_t *offsets,
			      tn_array **views)
{
	for (size_t i = 0; i < module->n_listing; i++) {
		views[i] = view_weight(flat, module->listing[i].weight, offsets[i]);
		if (!views[i])
			return module->runtime->error.status;
	}
	return TN_OK;
}

tn_status tn_network_arena_make(const tn_module *module, tn_dtype dtype,
				struct tn_network_arena *arena)
{
	struct tn_arena_arrays *arrays = &arena->arrays;
	tn_status status = make_lists(module, arena);
	if (status)
		return status;
	arrays->values = hold(tn_zeros(module->context, dtype, 1, &arrays->size));
	arrays->gradients =
		hold(tn_zeros(module->context, tn_compute_dtype(dtype), 1, &arrays->size));
	if (!arrays->values || !arrays->gradients)
		return module->runtime->error.status;
	status = view_weights(module, arrays->values, arena->offsets, arena->values);
	return status ? status
		      : view_weights(module, arrays->gradients, arena->offsets, arena->gradients);
}

tn_status tn_network_arena_over(const tn_module *module, tn_array *values,
				struct tn_network_arena *arena)
{
	tn_status status = make_lists(module, arena);
	if (status)
		return status;
	arena->arrays.values = tn_array_hold(values);
	return view_weights(module, values, arena->offsets, arena->values);
}

void tn_network_arena_free(struct tn_network_arena *arena)
{
	for (size_t i = 0; i < arena->n; i++) {
		tn_array_unhold(arena->values ? arena->values[i] : NULL);
		tn_array_unhold(arena->gradients ? arena->gradients[i] : NULL);
	}
	tn_array_unhold(arena->arrays.values);
	tn_array_unhold(arena->arrays.gradients);
	tn_mem_free(arena->arrays.order);
	tn_mem_free(arena->offsets);
	tn_mem_free(arena->values);
	tn_mem_free(arena->gradients);
	*arena = (struct tn_network_arena){0};
}

void tn_network_arena_install(tn_module *module, struct tn_network_arena *arena)
{
	const struct tn_arena_arrays former = module->arena;
	module->arena = arena->arrays;
	arena->arrays = former;
	for (size_t i = 0; i < arena->n; i++) {
		struct tn_weight *weight = module->listing[i].weight;
		tn_array *value = weight->value, *gradient = weight->gradient;
		weight->value = arena->values[i];
		weight->gradient = arena->gradients[i];
		weight->offset = arena->offsets[i];
		weight->number = i;
		weight->filled = 0;
		arena->values[i] = value;
		arena->gradients[i] = gradient;
	}
	tn_network_arena_free(arena);
}
