/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The one pool of threads.  parallel_for hands out pieces of a range; the caller works too and
 * never waits for a worker that has not begun a piece.  Workers spin for a few tens of microseconds
 * after the last piece and then sleep.  Workers are started by the first parallel_for that has two
 * pieces.  In a forked child the pool has no workers and the caller runs every piece.
 */
#ifndef TN_BASE_THREADS_H
#define TN_BASE_THREADS_H

#include <stdint.h>

struct tn_threads;

/* A pool of n threads, the caller included; 0: one per processor available to the process.
 * NULL: out of memory. */
struct tn_threads *tn_threads_create(unsigned n);
void tn_threads_destroy(struct tn_threads *threads); /* takes NULL; stops and joins the workers */
unsigned tn_threads_count(const struct tn_threads *threads);

/* Calls body(argument, begin, end) until [0, n) is done, in pieces that begin at multiples of
 * `grain` (at least 1) and are at most `grain` long.  Callers of one pool take turns; a body that
 * calls it again does that range serially.  NULL as pool: serial. */
void tn_parallel_for(struct tn_threads *threads, uint64_t n, uint64_t grain,
		     void (*body)(void *argument, uint64_t begin, uint64_t end), void *argument);

#endif
