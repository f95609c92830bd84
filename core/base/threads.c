/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * parallel_for hands out a range in pieces by an atomic counter.  The caller publishes the range,
 * works on it as the workers do, then closes it; it does not wait for a worker that arrives after
 * that.  Workers inside the range are counted; the caller waits only for those, and each of them
 * has begun a piece.
 *
 * state (64 bits): generation of the range << 16 | workers inside << 1 | open.  Joining and closing
 * are compare-and-swaps on it, so that one load tests for "closed and no worker inside".
 *
 * Jobs wait in a queue beside it.  A worker looks there when there is no range to join.
 */
#include "base/threads.h"

#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "base/fork.h"
#include "base/memory.h"

#define OPEN UINT64_C(1)
#define INSIDE UINT64_C(2)
#define INSIDE_MASK UINT64_C(0xfffe)
#define GENERATION UINT64_C(0x10000)
#define MAX_THREADS 1024
#define SPIN_NANOSECONDS 30000

/* Of a job. */
enum { NOT_POSTED = 0, QUEUED, RUNNING };

struct tn_threads {
	unsigned n;
	_Atomic unsigned owners;
	_Atomic unsigned started; /* workers running; changes with the mutex locked */
	uint64_t fork_generation;
	pthread_t *workers;
	pthread_mutex_t turn; /* one parallel_for at a time */

	pthread_mutex_t mutex; /* guards sleeping, the queue, and the state of jobs */
	struct tn_job *first, *last;
	_Atomic unsigned queued; /* jobs in the queue */
	pthread_cond_t done;     /* a job is done */
	pthread_cond_t wake;
	unsigned sleeping;
	_Atomic unsigned sleepers; /* a copy of `sleeping` that may be read without the mutex */
	atomic_int stop;

	_Alignas(64) _Atomic uint64_t state;
	/* The range; written only while closed and empty. */
	uint64_t n_items, grain;
	_Atomic uint64_t most; /* workers inside; those that come later do not join */
	void (*body)(void *, uint64_t, uint64_t);
	void *argument;
	_Alignas(64) _Atomic uint64_t next;
};

/* The pool this thread belongs to, so that a nested call runs serially. */
static _Thread_local const struct tn_threads *inside;

/* Of the ranges of this thread; 0: none. */
static _Thread_local unsigned limit;

static void pause_briefly(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

static uint64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void run_pieces(struct tn_threads *threads)
{
	uint64_t grain = threads->grain, n = threads->n_items;
	for (;;) {
		uint64_t begin =
			atomic_fetch_add_explicit(&threads->next, grain, memory_order_relaxed);
		if (begin >= n)
			return;
		threads->body(threads->argument, begin, n - begin < grain ? n : begin + grain);
	}
}

/* Joins the open range, if there is one: 1 when inside. */
static int join_range(struct tn_threads *threads, uint64_t *seen)
{
	uint64_t state = atomic_load(&threads->state);
	while ((state & OPEN) && state / GENERATION != *seen) {
		if ((state & INSIDE_MASK) / INSIDE >= atomic_load(&threads->most)) {
			*seen = state / GENERATION;
			return 0;
		}
		if (atomic_compare_exchange_weak(&threads->state, &state, state + INSIDE)) {
			*seen = state / GENERATION;
			return 1;
		}
	}
	return 0;
}

/* Should a worker whose last range was `seen` wake up? */
static int called(struct tn_threads *threads, uint64_t seen)
{
	uint64_t state = atomic_load(&threads->state);
	return atomic_load(&threads->stop) || atomic_load(&threads->queued) ||
	       ((state & OPEN) && state / GENERATION != seen);
}

static void sleep_until_called(struct tn_threads *threads, uint64_t seen)
{
	uint64_t start = now();
	while (now() - start < SPIN_NANOSECONDS) {
		for (int i = 0; i < 50; i++) {
			if (called(threads, seen))
				return;
			pause_briefly();
		}
	}
	pthread_mutex_lock(&threads->mutex);
	threads->sleeping++;
	atomic_store(&threads->sleepers, threads->sleeping);
	while (!called(threads, seen))
		pthread_cond_wait(&threads->wake, &threads->mutex);
	threads->sleeping--;
	atomic_store(&threads->sleepers, threads->sleeping);
	pthread_mutex_unlock(&threads->mutex);
}

/* Takes a job out of the queue; the mutex is locked. */
static void unlink_job(struct tn_threads *threads, struct tn_job *job)
{
	if (job->previous)
		job->previous->next = job->next;
	else
		threads->first = job->next;
	if (job->next)
		job->next->previous = job->previous;
	else
		threads->last = job->previous;
	job->previous = job->next = NULL;
	atomic_fetch_sub(&threads->queued, 1);
}

/* Runs a job of state RUNNING.  Its owner may reuse it as soon as the mutex is unlocked. */
static void run_job(struct tn_threads *threads, struct tn_job *job)
{
	const struct tn_threads *outer = inside;
	inside = threads;
	job->run(job->argument);
	inside = outer;
	pthread_mutex_lock(&threads->mutex);
	job->state = NOT_POSTED;
	pthread_cond_broadcast(&threads->done);
	pthread_mutex_unlock(&threads->mutex);
}

/* Runs the first job of the queue: 0 if there is none. */
static int run_next_job(struct tn_threads *threads)
{
	if (!atomic_load(&threads->queued))
		return 0;
	pthread_mutex_lock(&threads->mutex);
	struct tn_job *job = threads->first;
	if (job) {
		unlink_job(threads, job);
		job->state = RUNNING;
	}
	pthread_mutex_unlock(&threads->mutex);
	if (job)
		run_job(threads, job);
	return job != NULL;
}

static void *worker(void *argument)
{
	struct tn_threads *threads = argument;
	uint64_t seen = 0;
	fesetenv(FE_DFL_ENV); /* not that of whoever started it */
	inside = threads;
	while (!atomic_load(&threads->stop)) {
		if (join_range(threads, &seen)) {
			run_pieces(threads);
			atomic_fetch_sub(&threads->state, INSIDE);
		} else if (!run_next_job(threads)) {
			sleep_until_called(threads, seen);
		}
	}
	return NULL;
}

/* Starts the missing workers; fewer when thread creation fails. */
static void start_workers(struct tn_threads *threads)
{
	if (atomic_load(&threads->started) + 1 >= threads->n)
		return;
	pthread_mutex_lock(&threads->mutex);
	unsigned started = atomic_load(&threads->started);
	while (started + 1 < threads->n &&
	       !pthread_create(&threads->workers[started], NULL, worker, threads))
		atomic_store(&threads->started, ++started);
	pthread_mutex_unlock(&threads->mutex);
}

struct tn_threads *tn_threads_create(unsigned n)
{
	struct tn_threads *threads = tn_mem_aligned(sizeof(*threads), 64);
	if (!threads)
		return NULL;
	*threads = (struct tn_threads){.owners = 1, .fork_generation = tn_fork_generation()};
	cpu_set_t set;
	if (!n)
		n = sched_getaffinity(0, sizeof(set), &set) ? 1 : (unsigned)CPU_COUNT(&set);
	threads->n = n < MAX_THREADS ? n : MAX_THREADS;
	threads->workers = tn_mem_zeroed(threads->n, sizeof(*threads->workers));
	if (!threads->workers) {
		tn_mem_free(threads);
		return NULL;
	}
	pthread_mutex_init(&threads->turn, NULL);
	pthread_mutex_init(&threads->mutex, NULL);
	pthread_cond_init(&threads->wake, NULL);
	pthread_cond_init(&threads->done, NULL);
	return threads;
}

struct tn_threads *tn_threads_share(struct tn_threads *threads)
{
	if (threads)
		atomic_fetch_add(&threads->owners, 1);
	return threads;
}

static int forked(const struct tn_threads *threads)
{
	return threads->fork_generation != tn_fork_generation();
}

void tn_threads_destroy(struct tn_threads *threads)
{
	if (!threads || atomic_fetch_sub(&threads->owners, 1) > 1)
		return;
	if (!forked(threads)) {
		while (run_next_job(threads))
			;
		atomic_store(&threads->stop, 1);
		pthread_mutex_lock(&threads->mutex);
		pthread_cond_broadcast(&threads->wake);
		pthread_mutex_unlock(&threads->mutex);
		for (unsigned i = 0; i < atomic_load(&threads->started); i++)
			pthread_join(threads->workers[i], NULL);
		pthread_cond_destroy(&threads->wake);
		pthread_cond_destroy(&threads->done);
		pthread_mutex_destroy(&threads->mutex);
		pthread_mutex_destroy(&threads->turn);
	}
	tn_mem_free(threads->workers);
	tn_mem_free(threads);
}

unsigned tn_threads_limit(unsigned n)
{
	const unsigned former = limit;
	limit = n;
	return former;
}

unsigned tn_threads_count(const struct tn_threads *threads)
{
	return threads ? threads->n : 1;
}

void tn_parallel_for(struct tn_threads *threads, uint64_t n, uint64_t grain,
		     void (*body)(void *, uint64_t, uint64_t), void *argument)
{
	if (grain == 0)
		grain = 1;
	if (!threads || threads->n == 1 || limit == 1 || n <= grain || inside == threads ||
	    forked(threads)) {
		for (uint64_t begin = 0; begin < n; begin += grain)
			body(argument, begin, n - begin < grain ? n : begin + grain);
		return;
	}
	const struct tn_threads *outer = inside;
	pthread_mutex_lock(&threads->turn);
	inside = threads;
	start_workers(threads);
	threads->n_items = n;
	threads->grain = grain;
	threads->body = body;
	threads->argument = argument;
	atomic_store_explicit(&threads->most, (limit ? limit : threads->n) - 1,
			      memory_order_relaxed);
	atomic_store_explicit(&threads->next, 0, memory_order_relaxed);
	/* Closed and empty: one store advances the generation and opens the range. */
	atomic_store(&threads->state,
		     (atomic_load(&threads->state) / GENERATION + 1) * GENERATION | OPEN);
	if (atomic_load(&threads->sleepers)) {
		pthread_mutex_lock(&threads->mutex);
		pthread_cond_broadcast(&threads->wake);
		pthread_mutex_unlock(&threads->mutex);
	}
	run_pieces(threads);
	atomic_fetch_and(&threads->state, ~OPEN);
	for (unsigned spins = 0; atomic_load(&threads->state) & INSIDE_MASK; spins++) {
		if (spins < 20000)
			pause_briefly();
		else
			sched_yield();
	}
	inside = outer;
	pthread_mutex_unlock(&threads->turn);
}

/* ---- Jobs ------------------------------------------------------------------------------------*/

/* Does the pool have no other threads?  Then jobs are run by who waits for them, without locks,
 * which a forked child could find locked for ever. */
static int is_alone(const struct tn_threads *threads)
{
	return !threads || threads->n == 1 || forked(threads);
}

void tn_threads_post(struct tn_threads *threads, struct tn_job *job)
{
	if (is_alone(threads)) {
		job->state = QUEUED;
		return;
	}
	start_workers(threads);
	pthread_mutex_lock(&threads->mutex);
	job->state = QUEUED;
	job->next = NULL;
	job->previous = threads->last;
	if (job->previous)
		job->previous->next = job;
	else
		threads->first = job;
	threads->last = job;
	atomic_fetch_add(&threads->queued, 1);
	if (threads->sleeping)
		pthread_cond_signal(&threads->wake);
	pthread_mutex_unlock(&threads->mutex);
}

/* Waits for a job, or, if it has not begun, takes it and runs it or not. */
static int finish_job(struct tn_threads *threads, struct tn_job *job, int run)
{
	if (is_alone(threads)) {
		int state = job->state;
		job->state = NOT_POSTED;
		if (state == QUEUED && run)
			job->run(job->argument);
		return state != RUNNING;
	}
	pthread_mutex_lock(&threads->mutex);
	int is_mine = job->state == QUEUED;
	if (is_mine) {
		unlink_job(threads, job);
		job->state = run ? RUNNING : NOT_POSTED;
	}
	while (!is_mine && job->state == RUNNING)
		pthread_cond_wait(&threads->done, &threads->mutex);
	pthread_mutex_unlock(&threads->mutex);
	if (is_mine && run)
		run_job(threads, job);
	return 1;
}

int tn_job_wait(struct tn_threads *threads, struct tn_job *job)
{
	return finish_job(threads, job, 1);
}

int tn_job_cancel(struct tn_threads *threads, struct tn_job *job)
{
	return finish_job(threads, job, 0);
}
