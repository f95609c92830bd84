/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Host memory.  Every allocation of the library goes through these functions, so that tests can
 * make the Nth one fail (they wrap tn_mem_alloc and tn_mem_realloc when they link).  All return
 * NULL when memory runs out or a size overflows; none aborts.
 */
#ifndef TN_BASE_MEMORY_H
#define TN_BASE_MEMORY_H

#include <stddef.h>

void *tn_mem_alloc(size_t size);                /* uninitialised; size 0 gives a pointer */
void *tn_mem_zeroed(size_t count, size_t size); /* count * size zero bytes */
void *tn_mem_realloc(void *memory, size_t count, size_t size); /* NULL leaves `memory` as it was */
void *tn_mem_aligned(size_t size, size_t alignment);           /* alignment: a power of two */
void tn_mem_free(void *memory);                                /* takes NULL */
char *tn_mem_copy_string(const char *text);                    /* NULL gives NULL */

#endif
