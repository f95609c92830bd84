/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Host memory that runs out.  The program is linked with the flags FAILING_MEMORY (--wrap for each
 * function of base/memory.h).  Without a sanitizer malloc, calloc and realloc fail too, for the
 * libraries that do not go through base/memory.h, unless FAILING_MALLOC is defined as 0; a
 * sanitizer needs its own allocator, and detects leaks.
 */
#ifndef TN_TESTS_FAILING_MEMORY_H
#define TN_TESTS_FAILING_MEMORY_H

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "sanitized.h"

#ifndef FAILING_MALLOC /* the test's choice */
#if defined(__GLIBC__) && !SANITIZED
#define FAILING_MALLOC 1
#else
#define FAILING_MALLOC 0
#endif
#endif

static struct {
	int active;
	int forever;  /* after the first failure */
	long left;    /* allocations until one fails */
	long failed;  /* so many did */
	long counted; /* all of them */
} failing_memory;

/* Makes allocation n from now on, counted from 0, fail; `forever`: and all later ones. */
static inline void memory_fails_at(long n, int forever)
{
	failing_memory.left = n;
	failing_memory.forever = forever;
	failing_memory.failed = 0;
	failing_memory.counted = 0;
	failing_memory.active = 1;
}

/* Stops failing; returns the number of failures. */
static inline long memory_works(void)
{
	failing_memory.active = 0;
	return failing_memory.failed;
}

static int memory_is_out(void)
{
	if (!failing_memory.active)
		return 0;
	failing_memory.counted++;
	if (failing_memory.left-- > 0 || (failing_memory.failed && !failing_memory.forever))
		return 0;
	failing_memory.failed++;
	errno = ENOMEM;
	return 1;
}

void *__real_tn_mem_alloc(size_t size);
void *__wrap_tn_mem_alloc(size_t size);
void *__real_tn_mem_zeroed(size_t count, size_t size);
void *__wrap_tn_mem_zeroed(size_t count, size_t size);
void *__real_tn_mem_realloc(void *memory, size_t count, size_t size);
void *__wrap_tn_mem_realloc(void *memory, size_t count, size_t size);
void *__real_tn_mem_aligned(size_t size, size_t alignment);
void *__wrap_tn_mem_aligned(size_t size, size_t alignment);
char *__real_tn_mem_copy_string(const char *text);
char *__wrap_tn_mem_copy_string(const char *text);

void *__wrap_tn_mem_alloc(size_t size)
{
	return memory_is_out() ? NULL : __real_tn_mem_alloc(size);
}

void *__wrap_tn_mem_zeroed(size_t count, size_t size)
{
	return memory_is_out() ? NULL : __real_tn_mem_zeroed(count, size);
}

void *__wrap_tn_mem_realloc(void *memory, size_t count, size_t size)
{
	return memory_is_out() ? NULL : __real_tn_mem_realloc(memory, count, size);
}

void *__wrap_tn_mem_aligned(size_t size, size_t alignment)
{
	return memory_is_out() ? NULL : __real_tn_mem_aligned(size, alignment);
}

char *__wrap_tn_mem_copy_string(const char *text)
{
	return memory_is_out() ? NULL : __real_tn_mem_copy_string(text);
}

#if FAILING_MALLOC
/* glibc's, under their other names. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

void *malloc(size_t size)
{
	return memory_is_out() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return memory_is_out() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
	return memory_is_out() ? NULL : __libc_realloc(memory, size);
}
#endif

#endif
