/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Trying is more reliable than reading limits: the available resources depend on those of the
 * process (ulimit -u, -v and -d), of its user and of its control group, on the stack size of a
 * thread and on the system's overcommit policy.
 */
#include "room.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

/* A buffer of OpenBLAS, in its largest builds (BUFFER_SIZE in its common_*.h). */
#define BUFFER_MIB 128u
#define BUFFER_BYTES ((size_t)BUFFER_MIB << 20)
/* Left over for the library's file and for the program: this many buffers. */
#define SPARE_BUFFERS 1u
/* What the library and those that it needs allocate when they are opened, without a look at whether
 * they got it: so much, free in the heap. */
#define HEAP_BYTES ((size_t)100 << 10)
/* The most threads that any build starts (its MAX_CPU_NUMBER is at most this). */
#define MOST 1024u

unsigned cpu_room_threads(const char *const *asked, size_t n)
{
	cpu_set_t set;
	unsigned processors = MOST, threads = 0;
	if (!sched_getaffinity(0, sizeof(set), &set))
		processors = (unsigned)CPU_COUNT(&set);
	for (size_t i = 0; i < n && !threads; i++) {
		long number = asked[i] ? strtol(asked[i], NULL, 10) : 0;
		threads = number > 0 ? (unsigned)(number < (long)MOST ? number : (long)MOST) : 0;
	}
	if (!threads || threads > processors)
		threads = processors;
	return threads - 1;
}

/* Each thread waits until the gate, which is held meanwhile, is released. */
static void *wait_at(void *gate)
{
	pthread_mutex_lock(gate);
	pthread_mutex_unlock(gate);
	return NULL;
}

/* The number of n threads that start; they block all signals of the program. */
static unsigned start(pthread_t *threads, unsigned n, pthread_mutex_t *gate)
{
	sigset_t all, before;
	unsigned started = 0;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (started < n && !pthread_create(&threads[started], NULL, wait_at, gate))
		started++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return started;
}

/* The number of n buffers that can be mapped at once. */
static unsigned map(unsigned n)
{
	void *buffers[2 * MOST + SPARE_BUFFERS];
	unsigned mapped = 0;
	while (mapped < n) {
		buffers[mapped] = mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (buffers[mapped] == MAP_FAILED)
			break;
		mapped++;
	}
	for (unsigned i = 0; i < mapped; i++)
		munmap(buffers[i], BUFFER_BYTES);
	return mapped;
}

/* Blocks below the size that malloc maps, and together below the size that it gives back, stay in
 * the heap when they are freed. */
static int has_heap(void)
{
	void *volatile memory = malloc(HEAP_BYTES); /* volatile: a compiler leaves it out else */
	const int has = memory != NULL;
	free(memory);
	return has;
}

int cpu_room_try(const struct cpu_room *room, char *why, size_t size)
{
	pthread_t threads[MOST];
	pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
	unsigned wanted = room->threads < MOST ? room->threads : MOST;
	unsigned buffers = (room->buffers < 2 * MOST ? room->buffers : 2 * MOST) + SPARE_BUFFERS;
	pthread_mutex_lock(&gate);
	unsigned started = start(threads, wanted, &gate);
	unsigned mapped = started == wanted ? map(buffers) : 0;
	pthread_mutex_unlock(&gate);
	for (unsigned i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	if (started < wanted)
		snprintf(why, size,
			 "OpenBLAS not used: it starts %u thread%s when opened, and only %u can be "
			 "started (limits: ulimit -u, ulimit -v)",
			 wanted, wanted == 1 ? "" : "s", started);
	else if (mapped < buffers)
		snprintf(why, size,
			 "OpenBLAS not used: it and the program need %u MiB of address space, and "
			 "only "
			 "%u MiB are available (limits: ulimit -v, ulimit -d)",
			 buffers * BUFFER_MIB, mapped * BUFFER_MIB);
	else if (!has_heap())
		snprintf(why, size, "OpenBLAS not used: there is no memory to open it");
	else
		return 1;
	return 0;
}
