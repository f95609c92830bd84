/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Sealing a network.
 *
 * Initial values: weight number k of the listing takes random stream (next stream + k) of the
 * context; its element i is bound (2 u - 1) with u = word(seed, stream, i) / 2^32 truncated to 24
 * bits, or deviation tn_normal(word), in f32, then converted to the network's dtype.
 */
#include <string.h>

#include "array/array.h"
#include "base/memory.h"
#include "nn/arena.h"
#include "nn/buffers.h"
#include "nn/module.h"
#include "nn/module_dtype.h"
#include "nn/tree.h"
#include "program/random.h"

static float initial_value(const struct tn_weight *weight, uint32_t word)
{
	double u = (word >> 8) * (1.0 / 16777216.0);
	if (weight->deviation > 0)
		return (float)(weight->deviation * (double)tn_normal(word));
	return (float)(weight->bound * (2.0 * u - 1.0));
}

/* Element k of a weight is made of word k of its stream. */
static void fill_weight(const struct tn_weight *weight, uint64_t seed, uint64_t stream, float *own)
{
	uint32_t words[256];
	const size_t n = (size_t)weight->size, most = sizeof(words) / sizeof(words[0]);
	const int is_random = weight->deviation > 0 || weight->bound > 0;
	for (size_t k = 0; k < n; k += most) {
		const size_t count = n - k < most ? n - k : most;
		if (is_random)
			tn_random_block(seed, stream, k, words, count);
		for (size_t j = 0; j < count; j++)
			own[k + j] = is_random ? initial_value(weight, words[j])
					       : (float)weight->constant;
	}
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

static tn_status fill_values(tn_module *module, const struct tn_network_arena *arena)
{
	struct tn_runtime *rt = module->runtime;
	size_t n = (size_t)arena->arrays.size;
	float *values = tn_mem_zeroed(n, sizeof(*values));
	if (!values)
		return tn_runtime_fail(rt, TN_OUT_OF_MEMORY, "module_build",
				       "no host memory for %zu initial values", n);
	for (size_t i = 0; i < module->n_listing; i++) {
		const struct tn_weight *weight = module->listing[i].weight;
		int64_t row = weight->rank ? weight->size / weight->shape[0] : 1;
		float *own = values + arena->offsets[i];
		fill_weight(weight, rt->random.seed, rt->random.stream + i, own);
		if (weight->zero_row)
			memset(own + (weight->zero_row - 1) * row, 0, (size_t)row * sizeof(*own));
	}
	tn_status status = store_values(arena->arrays.values, n, values);
	tn_mem_free(values);
	if (!status)
		rt->random.stream += module->n_listing;
	return status;
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
	struct tn_network_arena arena;
	status = tn_network_arena_make(module, tn_module_dtype(module), &arena);
	if (!status)
		status = fill_values(module, &arena);
	if (!status)
		status = tn_buffers_make(module);
	if (status) {
		tn_buffers_unmake(module);
		tn_network_arena_free(&arena);
	} else {
		tn_network_arena_install(module, &arena);
		tn_module_seal(module);
	}
	tn_scope_end(module->context, NULL);
	return status;
}
