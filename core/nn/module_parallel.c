/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Members that all get the same x, and whose results are joined or added up.
 */
#include "array/array.h"
#include "base/memory.h"
#include "nn/module.h"

/* The results of all members; NULL: an error is kept. */
static tn_array **run_members(const tn_module *module, const tn_array *x)
{
	size_t n = module->n_members;
	if (!n) {
		tn_runtime_fail(module->runtime, TN_STATE, module->class_name,
				"expected at least one member: add it with tn_module_add");
		return NULL;
	}
	tn_array **results = tn_mem_zeroed(n, sizeof(*results));
	if (!results)
		tn_runtime_fail(module->runtime, TN_OUT_OF_MEMORY, module->class_name,
				"no host memory for %zu results", n);
	for (size_t i = 0; results && i < n; i++)
		results[i] = tn_module_forward(module->members[i].module, x);
	return results;
}

static void release(const tn_module *module, tn_array **results)
{
	for (size_t i = 0; i < module->n_members; i++)
		tn_array_destroy(results[i]);
	tn_mem_free(results);
}

static tn_array *concatenate_forward(tn_module *module, void *state, const tn_array *x)
{
	const int *axis = state;
	tn_array **results = run_members(module, x);
	if (!results)
		return NULL;
	tn_array *y =
		tn_concatenate((int)module->n_members, (const tn_array *const *)results, *axis);
	release(module, results);
	return y;
}

static tn_array *sum_forward(tn_module *module, void *state, const tn_array *x)
{
	(void)state;
	tn_array **results = run_members(module, x);
	if (!results)
		return NULL;
	tn_array *y =
		results[0] ? tn_reshape(results[0], results[0]->rank, results[0]->shape) : NULL;
	for (size_t i = 1; i < module->n_members; i++) {
		tn_array *sum = tn_add(y, results[i]);
		tn_array_destroy(y);
		y = sum;
	}
	release(module, results);
	return y;
}

tn_module *tn_module_concatenate(tn_context *context, int axis)
{
	static const struct tn_module_class class_ = {.struct_size = sizeof(class_),
						      .name = "Concatenate",
						      .forward = concatenate_forward,
						      .destroy = tn_mem_free};
	return tn_module_of_class(context, &class_, &axis, sizeof(axis));
}

tn_module *tn_module_sum(tn_context *context)
{
	static const struct tn_module_class class_ = {
		.struct_size = sizeof(class_), .name = "Sum", .forward = sum_forward};
	return tn_module_make(context, &class_, NULL);
}
