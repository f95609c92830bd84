/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A module's memory and queries.
 */
#include "ptx_module.h"

#include <stdlib.h>
#include <string.h>

void *ptx_grow(void *array, size_t *capacity, size_t needed, size_t size)
{
	if (needed <= *capacity)
		return array;
	size_t more = *capacity ? *capacity * 2 : 16;
	while (more < needed)
		more *= 2;
	void *grown = realloc(array, more * size);
	if (grown)
		*capacity = more;
	return grown;
}

void *ptx_keep(struct ptx_module *module, size_t size)
{
	struct ptx_block_list *memory = &module->memory;
	void **blocks =
		ptx_grow(memory->blocks, &memory->capacity, memory->count + 1, sizeof *blocks);
	if (!blocks)
		return NULL;
	memory->blocks = blocks;
	/* A multiple of the alignment, for variables that vectors are read from. */
	size_t rounded = (size + 255) / 256 * 256;
	void *block = size > SIZE_MAX / 2 ? NULL
		      : size >= 256       ? aligned_alloc(256, rounded)
					  : calloc(1, size ? size : 1);
	if (!block)
		return NULL;
	memset(block, 0, size);
	blocks[memory->count++] = block;
	return block;
}

char *ptx_keep_text(struct ptx_module *module, const char *text, size_t length)
{
	const char *end = memchr(text, '\0', length);
	if (end)
		length = (size_t)(end - text);
	char *copy = ptx_keep(module, length + 1);
	if (copy)
		memcpy(copy, text, length);
	return copy;
}

void ptx_free(struct ptx_module *module)
{
	if (!module)
		return;
	for (size_t i = 0; i < module->kernel_count; i++)
		free(atomic_load(&module->kernels[i].spare));
	for (size_t i = 0; i < module->memory.count; i++)
		free(module->memory.blocks[i]);
	free(module->memory.blocks);
	free(module->functions);
	free(module->steps);
	free(module->constants);
	free(module->symbols);
	free(module->variables);
	free(module);
}

struct ptx_function *ptx_find_function(const struct ptx_module *module, const char *name,
				       size_t length)
{
	for (size_t i = 0; i < module->function_count; i++)
		if (strlen(module->functions[i]->name) == length &&
		    memcmp(module->functions[i]->name, name, length) == 0)
			return module->functions[i];
	return NULL;
}

const struct ptx_function *ptx_function_of(const struct ptx_module *module, uint32_t step)
{
	for (size_t i = 0; i < module->function_count; i++)
		if (step >= module->functions[i]->entry && step < module->functions[i]->end)
			return module->functions[i];
	return NULL;
}

const struct ptx_kernel *ptx_kernel_at(const struct ptx_module *module, size_t index)
{
	return index < module->kernel_count ? &module->kernels[index] : NULL;
}

const struct ptx_kernel *ptx_kernel(const struct ptx_module *module, const char *name)
{
	for (size_t i = 0; i < module->kernel_count; i++)
		if (strcmp(module->kernels[i].function->name, name) == 0)
			return &module->kernels[i];
	return NULL;
}

const char *ptx_kernel_name(const struct ptx_kernel *kernel)
{
	return kernel->function->name;
}

void ptx_kernel_attributes(const struct ptx_kernel *kernel, struct ptx_attributes *attributes)
{
	const struct ptx_function *function = kernel->function;
	attributes->static_shared = function->shared_bytes;
	attributes->local = function->local_bytes;
	attributes->registers = function->registers;
	attributes->instructions = function->instructions;
}

size_t ptx_parameters(const struct ptx_kernel *kernel)
{
	return kernel->function->parameter_count;
}

size_t ptx_parameter_size(const struct ptx_kernel *kernel, size_t index)
{
	const struct ptx_function *function = kernel->function;
	return index < function->parameter_count ? function->parameters[index].size : 0;
}

void *ptx_variable(const struct ptx_module *module, const char *name, size_t *size)
{
	for (size_t i = 0; i < module->variable_count; i++)
		if (strcmp(module->variables[i].name, name) == 0) {
			*size = module->variables[i].size;
			return module->variables[i].data;
		}
	return NULL;
}
