/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Is there room for OpenBLAS in this process?  It cannot be asked to fail: where a thread cannot be
 * started it raises SIGINT, and where memory for a buffer is refused it asks again without end.
 */
#ifndef CPU_ROOM_H
#define CPU_ROOM_H

#include <stddef.h>

struct cpu_room {
	unsigned threads; /* that it starts when it is opened */
	unsigned buffers; /* that it takes, one for each thread that computes */
};

/* How many threads OpenBLAS starts when it is opened, the calling one left out.  `asked` are the
 * values of the variables by which it goes, the first of which counts that holds a number above
 * 0. */
unsigned cpu_room_threads(const char *const *asked, size_t n);

/* 1: the threads can be started and the buffers mapped, all at once, and something is left; nothing
 * of it is kept.  0: `why` says what cannot be. */
int cpu_room_try(const struct cpu_room *room, char *why, size_t size);

#endif
