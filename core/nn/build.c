/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Sealing a network: one arena for the values and one for the gradients, each weight a view at a
 * multiple of TN_ARENA_ALIGNMENT elements, the gaps between them always zero.  The values have the
 * network's dtype.  Gradients of f16 and bf16 are kept in f32: they add up over several backwards,
 * and what remains of a small one after it is unscaled (tn_grad_scaler_unscale) is below f16.
 * Weights with two axes or more come first and then the others, both in the order of the listing:
 * an optimizer that sets biases and norms apart has two runs of weights, not one for each weight.
 *
 * Initial values: weight number k of the listing takes random stream (next stream + k) of the
 * context; its element i is bound (2 u - 1) with u = word(seed, stream, i) / 2^32 truncated to 24
 * bits, or deviation tn_normal(word), in f32, then converted to the network's dtype.
 */
#include <string.h>

#include "array/array.h"
#include "base/dtype.h"
#include "base/memory.h"
#include "nn/buffers.h"
#include "nn/module.h"
#include "nn/module_dtype.h"
#include "nn/tree.h"
#include "program/random.h"

/* The module's own reference; NULL stays NULL. */
static tn_array *hold(tn_array *array)
{
	return array ? tn_array_hold(array) : NULL;
}

static void seal(tn_module *module)
{
	module->sealed = 1;
	for (size_t i = 0; i < module->n_members; i++)
		seal(module->members[i].module);
}

static float initial_value(const struct tn_weight *weight, uint32_t word)
{
	double u = (word >> 8) * (1.0 / 16777216.0);
	if (weight->deviation > 0)
		return (float)(weight->deviation * (double)tn_normal(word));
	return (float)(weight->bound > 0 ? weight->bound * (2.0 * u - 1.0) : weight->constant);
}

/* Writes n elements of f32, which may be overwritten, as the array's dtype. */
static tn_status store_values(tn_array *array, size_t n, float *values)
{
	if (array->dtype == TN_F32)
		return tn_assign_host(array, values, n * sizeof(*values));
	tn_context *context = tn_array_context(array);
	tn_array *given = tn_from_host(context, TN_F32, 1, array->shape, values);
	return given ? tn_assign(array, given) : array->runtime->error.status;
}

static tn_status fill_values(tn_module *module)
{
	struct tn_runtime *rt = module->runtime;
	size_t n = (size_t)module->arena.size;
	float *values = tn_mem_zeroed(n, sizeof(*values));
	if (!values)
		return tn_runtime_fail(rt, TN_OUT_OF_MEMORY, "module_build",
				       "no memory for %zu initial values", n);
	for (size_t i = 0; i < module->n_listing; i++) {
		const struct tn_weight *weight = module->listing[i].weight;
		int64_t row = weight->rank ? weight->size / weight->shape[0] : 1;
		float *own = values + weight->offset;
		for (int64_t k = 0; k < weight->size; k++) {
			uint32_t word =
				tn_random(rt->random.seed, rt->random.stream + i, (uint64_t)k);
			own[k] = initial_value(weight, word);
		}
		if (weight->zero_row)
			memset(own + (weight->zero_row - 1) * row, 0, (size_t)row * sizeof(*own));
	}
	tn_status status = store_values(module->arena.values, n, values);
	tn_mem_free(values);
	if (!status)
		rt->random.stream += module->n_listing;
	return status;
}

/* A weight's part of an arena in the weight's shape, kept. */
static tn_array *view_weight(const tn_array *flat, const struct tn_weight *weight)
{
	tn_array *slice = tn_slice(flat, 0, weight->offset, weight->offset + weight->size, 1);
	return hold(tn_reshape(slice, weight->rank, weight->shape));
}

static void drop_arena(tn_module *module)
{
	for (size_t i = 0; i < module->n_listing; i++) {
		struct tn_weight *weight = module->listing[i].weight;
		tn_array_unhold(weight->value);
		tn_array_unhold(weight->gradient);
		weight->value = weight->gradient = NULL;
	}
	tn_array_unhold(module->arena.values);
	tn_array_unhold(module->arena.gradients);
	tn_mem_free(module->arena.order);
	tn_buffers_unmake(module);
	memset(&module->arena, 0, sizeof(module->arena));
}

static tn_status make_arena(tn_module *module)
{
	const tn_dtype dtype = tn_module_dtype(module);
	const tn_dtype work = tn_compute_dtype(dtype);
	const int64_t alignment = TN_ARENA_ALIGNMENT * (tn_is_narrow(dtype) ? 2 : 1);
	int64_t size = 0;
	size_t n = module->n_listing, placed = 0;
	module->arena.order = tn_mem_alloc((n ? n : 1) * sizeof(*module->arena.order));
	if (!module->arena.order)
		return tn_runtime_fail(module->runtime, TN_OUT_OF_MEMORY, "module_build",
				       "no memory for %zu parameters", n);
	for (size_t i = 0; i < 2 * n; i++) {
		struct tn_weight *weight = module->listing[i % n].weight;
		if ((weight->rank < 2) != (i >= n))
			continue;
		module->arena.order[placed++] = i % n;
		weight->offset = size;
		weight->number = i % n;
		size += (weight->size + alignment - 1) / alignment * alignment;
	}
	/* A network without parameters also has an arena, so that it counts as built. */
	module->arena.size = size ? size : alignment;
	module->arena.values = hold(tn_zeros(module->context, dtype, 1, &module->arena.size));
	module->arena.gradients = hold(tn_zeros(module->context, work, 1, &module->arena.size));
	if (!module->arena.values || !module->arena.gradients)
		return module->runtime->error.status;
	tn_status status = fill_values(module);
	if (status)
		return status;
	for (size_t i = 0; i < module->n_listing; i++) {
		struct tn_weight *weight = module->listing[i].weight;
		weight->value = view_weight(module->arena.values, weight);
		weight->gradient = view_weight(module->arena.gradients, weight);
		if (!weight->value || !weight->gradient)
			return module->runtime->error.status;
	}
	return tn_buffers_make(module);
}

tn_status tn_module_build(tn_module *module)
{
	if (!module)
		return TN_INVALID_ARGUMENT;
	struct tn_runtime *rt = module->runtime;
	tn_status status = tn_runtime_ready(rt);
	if (status)
		return status;
	if (module->sealed || module->parent)
		return tn_runtime_fail(
			rt, TN_STATE, "module_build",
			module->parent ? "the module is a member of another module: build that one"
				       : "the module has already been built");
	status = tn_module_list(module);
	for (size_t i = 0; i < module->n_listing && !status; i++) {
		/* Shared with a built network: the weight is in that network's arena. */
		if (module->listing[i].weight->value)
			status = tn_runtime_fail(rt, TN_STATE, "module_build",
						 "'%s' belongs to a network that has been built",
						 module->listing[i].name);
	}
	if (!status)
		status = tn_module_check_dtypes(module);
	if (!status)
		status = tn_scope_begin(module->context);
	if (status)
		return status;
	status = make_arena(module);
	tn_scope_end(module->context, NULL);
	if (status)
		drop_arena(module);
	else
		seal(module);
	return status;
}
