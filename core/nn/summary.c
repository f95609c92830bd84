/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A network as a tree in text.
 */
#include "base/memory.h"
#include "base/text.h"
#include "nn/module.h"

static void add_shape(struct tn_text *text, int rank, const int64_t *shape)
{
	for (int axis = 0; axis < rank; axis++)
		tn_text_format(text, axis ? ", %lld" : "%lld", (long long)shape[axis]);
}

static void add_module(struct tn_text *text, const tn_module *module, const char *name, int depth)
{
	tn_text_format(text, "%*s%s%s%s", 2 * depth, "", name, *name ? ": " : "",
		       module->class_name);
	for (size_t i = 0; i < module->n_slots; i++) {
		const struct tn_weight *weight = module->slots[i].weight;
		tn_text_format(text, "%s%s (", i ? ", " : "  ", module->slots[i].name);
		add_shape(text, weight->rank, weight->shape);
		tn_text_add(text, weight->trainable ? ")" : ", frozen)");
	}
	for (size_t i = 0; i < module->n_buffers; i++) {
		const struct tn_buffer *buffer = module->buffers[i];
		tn_text_format(text, "%s%s (", i || module->n_slots ? ", " : "  ", buffer->name);
		add_shape(text, buffer->rank, buffer->shape);
		tn_text_add(text, buffer->rank ? ", buffer)" : "buffer)");
	}
	tn_text_add(text, "\n");
	for (size_t i = 0; i < module->n_members; i++)
		add_module(text, module->members[i].module, module->members[i].name, depth + 1);
}

char *tn_module_summary(const tn_module *module)
{
	struct tn_text text;
	if (!module)
		return NULL;
	tn_text_init(&text);
	add_module(&text, module, "", 0);
	tn_text_format(&text, "%lld parameters", (long long)tn_module_size(module, 0));
	if (tn_module_dtype(module) != TN_F32)
		tn_text_format(&text, " of %s", tn_dtype_name(tn_module_dtype(module)));
	tn_text_add(&text, "\n");
	return tn_text_take(&text);
}

void tn_string_free(char *string)
{
	tn_mem_free(string);
}
