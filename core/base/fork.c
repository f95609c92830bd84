/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Counts forks with a handler of pthread_atfork, registered when the library is loaded.
 */
#include "base/fork.h"

#include <pthread.h>

static volatile uint64_t generation;

static void count_child(void)
{
	generation++;
}

/* A constructor, because a fork may come before the first context; it touches only `generation`. */
__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, count_child);
}

uint64_t tn_fork_generation(void)
{
	return generation;
}
