/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The one pool of threads.  parallel_for hands out pieces of a range; the caller works too and
 * never waits for a worker that has not begun a piece.  Workers spin for a few tens of microseconds
 * after the last piece and then sleep.  Workers are started by the first parallel_for that has two
 * pieces, or by the first job.  In a forked child the pool has no workers and the caller runs every
 * piece.
 *
 * Jobs are work in the background.  A worker runs them, in the order they were posted, when it has
 * no piece of a range; a range never waits for a worker that runs a job.
 */
#ifndef TN_BASE_THREADS_H
#define TN_BASE_THREADS_H

#include <stdint.h>

struct tn_threads;

/* A pool of n threads, the caller included; 0: one per processor available to the process.
 * NULL: out of memory. */
struct tn_threads *tn_threads_create(unsigned n);
/* One owner more of a pool (NULL: of none), which each owner destroys.  Returns it. */
struct tn_threads *tn_threads_share(struct tn_threads *threads);
/* The last owner's call runs the queued jobs, then stops and joins the workers.  A pool with one
 * thread has no queue: its jobs run in tn_job_wait alone.  Takes NULL. */
void tn_threads_destroy(struct tn_threads *threads);
unsigned tn_threads_count(const struct tn_threads *threads);

/* Calls body(argument, begin, end) until [0, n) is done, in pieces that begin at multiples of
 * `grain` (at least 1) and are at most `grain` long.  Callers of one pool take turns; a body that
 * calls it again does that range serially.  NULL as pool: serial. */
void tn_parallel_for(struct tn_threads *threads, uint64_t n, uint64_t grain,
		     void (*body)(void *argument, uint64_t begin, uint64_t end), void *argument);

/* At most n threads, the caller included, work on later ranges of the calling thread, in any pool;
 * 0: all.  The pieces remain the same.  Returns the former limit. */
unsigned tn_threads_limit(unsigned n);

/* One piece of work in the background.  The owner sets `run` and `argument`, leaves the rest 0, and
 * keeps it in place from tn_threads_post until tn_job_wait or tn_job_cancel has returned; then it
 * may be posted again. */
struct tn_job {
	void (*run)(void *argument); /* its parallel_for on the same pool is serial */
	void *argument;
	struct tn_job *previous, *next; /* in the queue */
	int state;
};

/* Puts a job that is not posted at the end of the queue, and returns.  With one thread, and in a
 * forked child, tn_job_wait runs it. */
void tn_threads_post(struct tn_threads *threads, struct tn_job *job);

/* Returns when the job is done, having run it itself if it had not begun; what the job wrote can
 * then be read.  At once, with 1, for a job that was not posted.  0: a thread of the parent was
 * running it when this process was forked, so that it will never be done.  [one thread per job] */
int tn_job_wait(struct tn_threads *threads, struct tn_job *job);

/* Takes a job that has not begun out of the queue, so that it does not run; else as tn_job_wait. */
int tn_job_cancel(struct tn_threads *threads, struct tn_job *job);

#endif
