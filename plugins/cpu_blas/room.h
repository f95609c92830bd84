/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Are there enough resources for OpenBLAS in this process?  It handles their absence badly: if a
 * thread cannot be started it raises SIGINT, and if memory for a buffer is refused it retries
 * forever.
 */
#ifndef CPU_ROOM_H
#define CPU_ROOM_H

#include <stddef.h>

struct cpu_room {
	unsigned threads; /* that it starts when it is opened */
	unsigned buffers; /* that it allocates, one for each computing thread */
};

/* The number of threads that OpenBLAS starts when it is opened, without the calling one.  `asked`
 * are the values of the variables that control it; the first with a number above 0 counts. */
unsigned cpu_room_threads(const char *const *asked, size_t n);

/* 1: the threads can be started and the buffers mapped, all at once, with a reserve; nothing is
 * kept.  0: `why` has the reason. */
int cpu_room_try(const struct cpu_room *room, char *why, size_t size);

#endif
