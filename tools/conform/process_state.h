/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The state of a process and its changes: signals, locale, environment, floating-point modes,
 * limits, descriptors, threads, mappings, memory.
 */
#ifndef TN_TOOLS_CONFORM_PROCESS_STATE_H
#define TN_TOOLS_CONFORM_PROCESS_STATE_H

#include <locale.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "conform.h"

enum { SIGNALS = 65 };

/* What a plugin must not change: of its process, and of the thread that calls it. */
struct process_state {
	void (*handlers[SIGNALS])(int);
	int flags[SIGNALS];
	sigset_t blocked;
	stack_t signal_stack;
	char locale[256];
	locale_t thread_locale;
	char folder[1024];
	uint64_t environment; /* a hash of its strings */
	int rounding;
	unsigned control, x87_control; /* of the floating-point unit, if they can be read */
	unsigned umask;
	struct rlimit limits[RLIM_NLIMITS];
	int priority;
	cpu_set_t processors; /* that the thread may run on */
	struct itimerval timers[3];
	char thread_name[16];

	/* What it may have more of, but not more and more; 0 without /proc. */
	unsigned threads, descriptors, mappings;
	uint64_t mapped_bytes;
	uint64_t allocated_bytes; /* by malloc; 0: unknown */
};

void process_state_take(struct process_state *state);

/* Fails the case if state that a plugin must not change differs. */
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
/* By malloc; 0: unknown.  Exact after process_count_exactly, called before there are threads. */
uint64_t process_allocated_bytes(void);
void process_count_exactly(void);
/* Freed memory stays with the process. */
void process_keep_freed_memory(void);

/* Can descriptors, threads and mappings be counted? */
int process_has_proc(void);

/* Files that are not the plugin's: those that are open before it is loaded, and some that nobody
 * uses.  Closing a descriptor twice closes one of them sooner or later. */
void process_files_remember(void);
/* Fails the case if one is closed, replaced or has other flags, and then forgets it. */
void process_files_expect(struct kit *kit, const char *what);

#endif
