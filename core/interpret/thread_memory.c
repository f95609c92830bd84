/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Memory of threads.
 */
#include "interpret/thread_memory.h"

#include <pthread.h>

#include "base/memory.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key; /* frees the memory of a thread that ends */
static int has_key;       /* not in a process that ends */
static _Thread_local struct tn_thread_memory *own;

static void release(void *memory)
{
	own = NULL;
	tn_mem_free(memory);
}

static void make_key(void)
{
	has_key = !pthread_key_create(&key, release);
}

/* At the end of the process, or when the library is unloaded.  Other threads may still use theirs,
 * and end later. */
__attribute__((destructor)) static void forget(void)
{
	if (!has_key)
		return;
	has_key = 0;
	pthread_key_delete(key);
	release(own);
}

static struct tn_thread_memory *make(void)
{
	pthread_once(&once, make_key);
	struct tn_thread_memory *made = tn_mem_aligned(sizeof(*made), TN_THREAD_MEMORY_LINE);
	if (made && has_key && pthread_setspecific(key, made)) {
		tn_mem_free(made);
		return NULL;
	}
	if (made)
		made->used = 0;
	return made;
}

struct tn_thread_memory *tn_thread_memory(void)
{
	return own ? own : (own = make());
}
