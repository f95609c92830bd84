/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The module of an embedding: a table of rows, taken by number.
 */
#include "base/memory.h"
#include "nn/lookup.h"
#include "nn/module.h"

static tn_array *forward(tn_module *module, void *state, const tn_array *x)
{
	const int64_t *padding_index = state;
	return tn_embedding(x, tn_module_find_parameter(module, "weight"), *padding_index);
}

tn_module *tn_module_embedding(tn_context *context, int64_t rows, int64_t width,
			       const struct tn_module_embedding_options *options)
{
	static const struct tn_module_class class_ = {.struct_size = sizeof(class_),
						      .name = "Embedding",
						      .forward = forward,
						      .destroy = tn_mem_free};
	struct tn_module_embedding_options o = tn_module_embedding_defaults();
	if (tn_runtime_take(tn_runtime_of(context), &o, sizeof(o), options,
			    "struct tn_module_embedding_options", class_.name))
		return NULL;
	int64_t padding = o.has_padding ? o.padding_index : TN_NO_PADDING_INDEX;
	if (o.has_padding && (padding < -rows || padding >= rows)) {
		tn_runtime_fail(tn_runtime_of(context), TN_INVALID_ARGUMENT, class_.name,
				"padding_index: expected %lld to %lld, found %lld",
				(long long)-rows, (long long)rows - 1, (long long)padding);
		return NULL;
	}
	tn_module *module = tn_module_of_class(context, &class_, &padding, sizeof(padding));
	if (!module)
		return NULL;
	const int64_t shape[] = {rows, width};
	if (tn_module_add_parameter(module, "weight", 2, shape, 0.0, 0.0)) {
		tn_module_destroy(module);
		return NULL;
	}
	struct tn_weight *weight = module->slots[0].weight;
	weight->deviation = 1.0;
	if (o.has_padding)
		weight->zero_row = 1 + (padding < 0 ? padding + rows : padding);
	return module;
}
