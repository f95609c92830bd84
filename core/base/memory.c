/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Host memory from malloc, with checked products and aligned blocks.
 */
#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *tn_mem_alloc(size_t size)
{
	return malloc(size ? size : 1);
}

void *tn_mem_zeroed(size_t count, size_t size)
{
	if (size && count > SIZE_MAX / size)
		return NULL;
	void *memory = tn_mem_alloc(count * size);
	if (memory)
		memset(memory, 0, count * size);
	return memory;
}

void *tn_mem_realloc(void *memory, size_t count, size_t size)
{
	if (size && count > SIZE_MAX / size)
		return NULL;
	size_t bytes = count * size;
	return realloc(memory, bytes ? bytes : 1);
}

void *tn_mem_aligned(size_t size, size_t alignment)
{
	void *memory;
	if (alignment < sizeof(void *))
		alignment = sizeof(void *);
	if (posix_memalign(&memory, alignment, size ? size : 1))
		return NULL;
	return memory;
}

void tn_mem_free(void *memory)
{
	free(memory);
}

char *tn_mem_copy_string(const char *text)
{
	if (!text)
		return NULL;
	size_t size = strlen(text) + 1;
	char *copy = tn_mem_alloc(size);
	if (copy)
		memcpy(copy, text, size);
	return copy;
}
