/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Memory of the calling thread, for what would be large local arrays: a thread of 64 KiB of stack
 * can make every call.  Parts are taken and given back in the order of a stack.  A thread's first
 * use allocates it, and the end of the thread frees it.
 */
#ifndef TN_INTERPRET_THREAD_MEMORY_H
#define TN_INTERPRET_THREAD_MEMORY_H

#include <stddef.h>

/* A reduction's plan and registers, the most that a thread holds at once. */
enum { TN_THREAD_MEMORY_LINE = 64, TN_THREAD_MEMORY_BYTES = 240 * 1024 };

struct tn_thread_memory {
	_Alignas(TN_THREAD_MEMORY_LINE) unsigned char bytes[TN_THREAD_MEMORY_BYTES];
	size_t used;
};

/* NULL: no host memory. */
struct tn_thread_memory *tn_thread_memory(void);

static inline size_t tn_thread_memory_lines(size_t bytes)
{
	return (bytes + TN_THREAD_MEMORY_LINE - 1) & ~(size_t)(TN_THREAD_MEMORY_LINE - 1);
}

/* A part at the beginning of a cache line; NULL of NULL, and if it is all in use. */
static inline void *tn_thread_memory_take(struct tn_thread_memory *memory, size_t bytes)
{
	bytes = tn_thread_memory_lines(bytes);
	if (!memory || bytes > TN_THREAD_MEMORY_BYTES - memory->used)
		return NULL;
	memory->used += bytes;
	return memory->bytes + memory->used - bytes;
}

/* The last part that has not been given back, of the same number of bytes. */
static inline void tn_thread_memory_give(struct tn_thread_memory *memory, size_t bytes)
{
	memory->used -= tn_thread_memory_lines(bytes);
}

#endif
