/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The state of a process and its changes: threads, signal handlers, locale, environment, rounding,
 * descriptors, mappings, memory.
 */
#ifndef TN_TOOLS_CONFORM_PROCESS_STATE_H
#define TN_TOOLS_CONFORM_PROCESS_STATE_H

#include <signal.h>

#include "conform.h"

enum { SIGNALS = 65 };

struct process_state {
	void (*handlers[SIGNALS])(int);
	int flags[SIGNALS];
	sigset_t blocked;
	char locale[256];
	char folder[1024];
	uint64_t environment; /* a hash of its strings */
	int rounding;
	unsigned control; /* of the floating-point unit, if it can be read */
	unsigned umask;
	unsigned threads, descriptors, mappings;
	uint64_t mapped_bytes;
	uint64_t allocated_bytes; /* by malloc in its main arena; 0: unknown */
};

void process_state_take(struct process_state *state);

/* Fails the case if state that a plugin must not change differs (the fields up to umask). */
void process_state_expect(struct kit *kit, const struct process_state *before,
			  const struct process_state *after, const char *what);

/* Undoes what a plugin changed, so that it is reported once. */
void process_state_restore(const struct process_state *before);

/* Some threads of the process. */
enum { MOST_THREADS = 256 };
struct process_threads {
	size_t n;
	int id[MOST_THREADS];
	uint64_t blocked[MOST_THREADS]; /* signals: bit s - 1 for signal s */
};

/* All of them; none where /proc is missing. */
void process_threads_take(struct process_threads *threads);
/* Those that are in `all` and not in `known`; or, the other way round, those that are in both. */
void process_threads_drop(struct process_threads *all, const struct process_threads *known);
void process_threads_keep(struct process_threads *all, const struct process_threads *known);

uint64_t process_resident_bytes(void);  /* 0: unknown */
uint64_t process_available_bytes(void); /* of the machine's memory, without swapping; 0: unknown */
uint64_t process_allocated_bytes(void); /* by malloc in its main arena; 0: unknown */

#endif
