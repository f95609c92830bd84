/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Stands where the interpreter will: no module can be loaded, and the message says so.
 */
#include "ptx.h"

#include <stdio.h>

struct ptx_module *ptx_parse(const char *text, size_t length, char *message, size_t capacity)
{
	(void)text;
	snprintf(message, capacity, "%zu bytes of PTX: this build has no interpreter", length);
	return NULL;
}

void ptx_free(struct ptx_module *module)
{
	(void)module;
}

const struct ptx_kernel *ptx_kernel(const struct ptx_module *module, const char *name)
{
	(void)module, (void)name;
	return NULL;
}

const struct ptx_kernel *ptx_kernel_at(const struct ptx_module *module, size_t index)
{
	(void)module, (void)index;
	return NULL;
}

const char *ptx_kernel_name(const struct ptx_kernel *kernel)
{
	(void)kernel;
	return "";
}

void ptx_kernel_attributes(const struct ptx_kernel *kernel, struct ptx_attributes *attributes)
{
	(void)kernel;
	*attributes = (struct ptx_attributes){0};
}

size_t ptx_parameters(const struct ptx_kernel *kernel)
{
	(void)kernel;
	return 0;
}

size_t ptx_parameter_size(const struct ptx_kernel *kernel, size_t index)
{
	(void)kernel, (void)index;
	return 0;
}

void *ptx_variable(const struct ptx_module *module, const char *name, size_t *size)
{
	(void)module, (void)name, (void)size;
	return NULL;
}

int ptx_run(const struct ptx_kernel *kernel, const struct ptx_launch *launch,
	    struct ptx_counts *counts, struct ptx_fault *fault)
{
	(void)kernel, (void)launch, (void)counts;
	fault->code = 801;
	return fault->code;
}
