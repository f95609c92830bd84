/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The library's memory for zlib.
 */
#ifndef TN_IO_ZLIB_MEMORY_H
#define TN_IO_ZLIB_MEMORY_H

#include "base/memory.h"

static inline void *tn_zlib_alloc(void *unused, unsigned int count, unsigned int size)
{
	(void)unused;
	return tn_mem_zeroed(count, size);
}

static inline void tn_zlib_free(void *unused, void *memory)
{
	(void)unused;
	tn_mem_free(memory);
}

#endif
