/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Ranges and jobs on the pool of threads, from several callers and after a fork.
 */
#include "base/threads.h"

#include <fenv.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define N 10007

struct counts {
	atomic_int visits[N];
	uint64_t grain;
	atomic_int wrong;
	struct tn_threads *threads;
};

static void visit(void *argument, uint64_t begin, uint64_t end)
{
	struct counts *counts = argument;
	if (begin % counts->grain || end - begin > counts->grain || end > N)
		atomic_store(&counts->wrong, 1);
	for (uint64_t i = begin; i < end && i < N; i++)
		atomic_fetch_add(&counts->visits[i], 1);
}

static void visits_every_item_once_in_pieces_of_the_grain(void **state)
{
	(void)state;
	struct tn_threads *threads = tn_threads_create(4);
	static const uint64_t grains[] = {1, 2, 100, 4096, N - 1, N, N + 1};
	for (size_t g = 0; g < sizeof(grains) / sizeof(grains[0]); g++) {
		struct counts *counts = calloc(1, sizeof(*counts));
		counts->grain = grains[g];
		tn_parallel_for(threads, N, grains[g], visit, counts);
		assert_int_equal(atomic_load(&counts->wrong), 0);
		for (int i = 0; i < N; i++)
			assert_int_equal(atomic_load(&counts->visits[i]), 1);
		free(counts);
	}
	tn_threads_destroy(threads);
}

static void add(void *argument, uint64_t begin, uint64_t end)
{
	atomic_fetch_add((_Atomic uint64_t *)argument, end - begin);
}

static void runs_many_small_jobs_and_waits_for_each(void **state)
{
	(void)state;
	struct tn_threads *threads = tn_threads_create(3);
	for (int round = 0; round < 20000; round++) {
		_Atomic uint64_t sum = 0;
		tn_parallel_for(threads, 8, 1, add, &sum);
		assert_int_equal(atomic_load(&sum), 8);
		if (round % 5000 == 0)
			usleep(1000); /* let the workers sleep */
	}
	tn_threads_destroy(threads);
}

struct nest {
	struct tn_threads *threads;
	_Atomic uint64_t sum;
};

static void nested(void *argument, uint64_t begin, uint64_t end)
{
	struct nest *nest = argument;
	for (uint64_t i = begin; i < end; i++)
		tn_parallel_for(nest->threads, 10, 1, add, &nest->sum);
}

static void runs_a_nested_range_serially(void **state)
{
	(void)state;
	struct nest nest = {.threads = tn_threads_create(4)};
	tn_parallel_for(nest.threads, 50, 1, nested, &nest);
	assert_int_equal(atomic_load(&nest.sum), 500);
	tn_threads_destroy(nest.threads);
}

static void *caller(void *argument)
{
	struct nest *nest = argument;
	for (int i = 0; i < 500; i++)
		tn_parallel_for(nest->threads, 16, 1, add, &nest->sum);
	return NULL;
}

static void serves_callers_from_several_threads_in_turn(void **state)
{
	(void)state;
	struct nest nest = {.threads = tn_threads_create(2)};
	pthread_t threads[4];
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, caller, &nest);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(atomic_load(&nest.sum), 4 * 500 * 16);
	tn_threads_destroy(nest.threads);
}

static void a_forked_child_works_alone(void **state)
{
	(void)state;
	struct nest nest = {.threads = tn_threads_create(4)};
	tn_parallel_for(nest.threads, 100, 1, add, &nest.sum);
	pid_t child = fork();
	if (child == 0) {
		tn_parallel_for(nest.threads, 100, 1, add, &nest.sum);
		int right = atomic_load(&nest.sum) == 200;
		tn_threads_destroy(nest.threads);
		_exit(right ? 0 : 1);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	tn_threads_destroy(nest.threads);
}

static void no_pool_and_an_empty_range_are_legal(void **state)
{
	(void)state;
	_Atomic uint64_t sum = 0;
	tn_parallel_for(NULL, 12, 5, add, &sum);
	tn_parallel_for(NULL, 0, 5, add, &sum);
	tn_parallel_for(NULL, 3, 0, add, &sum);
	assert_int_equal(atomic_load(&sum), 15);
	tn_threads_destroy(NULL);
	assert_int_equal(tn_threads_count(NULL), 1);
}

/* ---- Jobs ------------------------------------------------------------------------------------*/

#define N_JOBS 200

/* A job of the tests: notes that it ran, where, and in which turn. */
struct work {
	struct tn_job job;
	struct tn_threads *threads;
	int runs;
	int turn;
	pthread_t thread;
	_Atomic uint64_t sum;
	atomic_int *turns;
	atomic_int has_begun;
	atomic_int *gate; /* waits until it is 1; NULL: does not */
};

static void run_work(void *argument)
{
	struct work *work = argument;
	atomic_store(&work->has_begun, 1);
	while (work->gate && !atomic_load(work->gate))
		usleep(100);
	work->runs++;
	work->thread = pthread_self();
	work->turn = atomic_fetch_add(work->turns, 1);
	tn_parallel_for(work->threads, 100, 7, add, &work->sum);
}

static void wait_until_begun(struct work *work)
{
	while (!atomic_load(&work->has_begun))
		usleep(100);
}

static struct work *make_works(struct tn_threads *threads, atomic_int *turns)
{
	struct work *works = calloc(N_JOBS, sizeof(*works));
	assert_non_null(works);
	for (int i = 0; i < N_JOBS; i++)
		works[i] = (struct work){.job = {.run = run_work, .argument = &works[i]},
					 .threads = threads,
					 .turns = turns};
	return works;
}

static void each_job_runs_once_before_its_wait_returns(void **state)
{
	(void)state;
	for (unsigned n = 1; n <= 4; n++) {
		atomic_int turns = 0;
		struct tn_threads *threads = tn_threads_create(n);
		struct work *works = make_works(threads, &turns);
		/* Posted twice: a job may be used again. */
		for (int round = 1; round <= 2; round++) {
			for (int i = 0; i < N_JOBS; i++)
				tn_threads_post(threads, &works[i].job);
			for (int i = N_JOBS - 1; i >= 0; i--) {
				assert_int_equal(tn_job_wait(threads, &works[i].job), 1);
				assert_int_equal(works[i].runs, round);
				assert_int_equal(atomic_load(&works[i].sum), 100 * round);
			}
		}
		assert_int_equal(atomic_load(&turns), 2 * N_JOBS);
		free(works);
		tn_threads_destroy(threads);
	}
}

static void with_one_thread_the_waiter_runs_it(void **state)
{
	(void)state;
	atomic_int turns = 0;
	struct tn_threads *alone = tn_threads_create(1), *pools[] = {alone, NULL};
	for (int i = 0; i < 2; i++) {
		struct work work = {.job = {.run = run_work, .argument = &work},
				    .threads = pools[i],
				    .turns = &turns};
		tn_threads_post(pools[i], &work.job);
		assert_int_equal(work.runs, 0);
		assert_int_equal(tn_job_wait(pools[i], &work.job), 1);
		assert_int_equal(work.runs, 1);
		assert_true(pthread_equal(work.thread, pthread_self()));
		assert_int_equal(tn_job_wait(pools[i], &work.job), 1);
		assert_int_equal(work.runs, 1);
	}
	tn_threads_destroy(alone);
}

/* The one worker is held in a job, so that the next has not begun when it is waited for. */
static void a_job_that_has_not_begun_is_run_by_the_waiter(void **state)
{
	(void)state;
	atomic_int turns = 0, gate = 0;
	struct tn_threads *threads = tn_threads_create(2);
	struct work *works = make_works(threads, &turns);
	works[0].gate = &gate;
	for (int i = 0; i < 3; i++)
		tn_threads_post(threads, &works[i].job);
	wait_until_begun(&works[0]);
	assert_int_equal(tn_job_wait(threads, &works[2].job), 1);
	assert_true(pthread_equal(works[2].thread, pthread_self()));
	/* Nor does a range wait for that worker. */
	_Atomic uint64_t sum = 0;
	tn_parallel_for(threads, 1000, 1, add, &sum);
	assert_int_equal(atomic_load(&sum), 1000);
	assert_int_equal(works[0].runs, 0);
	atomic_store(&gate, 1);
	assert_int_equal(tn_job_wait(threads, &works[0].job), 1);
	assert_int_equal(tn_job_wait(threads, &works[1].job), 1);
	assert_false(pthread_equal(works[0].thread, pthread_self()));
	free(works);
	tn_threads_destroy(threads);
}

static void jobs_begin_in_the_order_in_which_they_were_posted(void **state)
{
	(void)state;
	atomic_int turns = 0;
	struct tn_threads *threads = tn_threads_create(2);
	struct work *works = make_works(threads, &turns);
	for (int i = 0; i < N_JOBS; i++)
		tn_threads_post(threads, &works[i].job);
	while (atomic_load(&turns) < N_JOBS) /* one worker, and nobody waits */
		usleep(100);
	for (int i = 0; i < N_JOBS; i++) {
		assert_int_equal(tn_job_wait(threads, &works[i].job), 1);
		assert_int_equal(works[i].turn, i);
	}
	free(works);
	tn_threads_destroy(threads);
}

/* The one worker is held in the first job; of the others the first, the last and one in the middle
 * of the queue are cancelled. */
static void a_job_that_was_cancelled_does_not_run(void **state)
{
	(void)state;
	static const int cancelled[] = {1, 3, 5};
	atomic_int turns = 0, gate = 0;
	struct tn_threads *threads = tn_threads_create(2);
	struct work *works = make_works(threads, &turns);
	works[0].gate = &gate;
	for (int i = 0; i < 6; i++)
		tn_threads_post(threads, &works[i].job);
	wait_until_begun(&works[0]);
	for (int i = 0; i < 3; i++)
		assert_int_equal(tn_job_cancel(threads, &works[cancelled[i]].job), 1);
	atomic_store(&gate, 1);
	assert_int_equal(tn_job_cancel(threads, &works[0].job), 1); /* too late: waits */
	for (int i = 0; i < 6; i++) {
		assert_int_equal(tn_job_wait(threads, &works[i].job), 1);
		assert_int_equal(works[i].runs, i == 0 || i == 2 || i == 4);
	}
	free(works);
	tn_threads_destroy(threads);
}

static void destroying_the_pool_runs_what_is_left(void **state)
{
	(void)state;
	atomic_int turns = 0;
	struct tn_threads *threads = tn_threads_create(3);
	struct work *works = make_works(threads, &turns);
	for (int i = 0; i < N_JOBS; i++)
		tn_threads_post(threads, &works[i].job);
	tn_threads_destroy(threads);
	for (int i = 0; i < N_JOBS; i++)
		assert_int_equal(works[i].runs, 1);
	free(works);
}

static void ranges_and_jobs_of_several_threads_go_on_together(void **state)
{
	(void)state;
	atomic_int turns = 0;
	struct nest nest = {.threads = tn_threads_create(3)};
	struct work *works = make_works(nest.threads, &turns);
	pthread_t callers[2];
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&callers[i], NULL, caller, &nest), 0);
	for (int round = 1; round <= 20; round++) {
		for (int i = 0; i < N_JOBS; i++)
			tn_threads_post(nest.threads, &works[i].job);
		for (int i = 0; i < N_JOBS; i++) {
			assert_int_equal(tn_job_wait(nest.threads, &works[i].job), 1);
			assert_int_equal(works[i].runs, round);
		}
	}
	for (int i = 0; i < 2; i++)
		pthread_join(callers[i], NULL);
	assert_int_equal(atomic_load(&nest.sum), 2 * 500 * 16);
	free(works);
	tn_threads_destroy(nest.threads);
}

struct modes {
	pthread_t caller;
	atomic_int workers, wrong;
};

/* The caller's own pieces are in its modes. */
static void expect_default_modes(void *argument, uint64_t begin, uint64_t end)
{
	struct modes *modes = argument;
	(void)begin, (void)end;
	usleep(1000);
	if (pthread_equal(pthread_self(), modes->caller))
		return;
	atomic_fetch_add(&modes->workers, 1);
	if (fegetround() != FE_TONEAREST)
		atomic_store(&modes->wrong, 1);
}

static void workers_do_not_inherit_floating_point_modes(void **state)
{
	(void)state;
	struct modes modes = {.caller = pthread_self()};
	struct tn_threads *threads = tn_threads_create(2);
	fesetround(FE_UPWARD);
	for (int i = 0; i < 100 && !atomic_load(&modes.workers); i++)
		tn_parallel_for(threads, 8, 1, expect_default_modes, &modes);
	fesetround(FE_TONEAREST);
	assert_true(atomic_load(&modes.workers) > 0);
	assert_int_equal(atomic_load(&modes.wrong), 0);
	tn_threads_destroy(threads);
}

/* The child runs what had not begun, and is told of what a thread of the parent was running. */
static void a_forked_child_runs_jobs_itself(void **state)
{
	(void)state;
	atomic_int turns = 0, gate = 0;
	struct tn_threads *threads = tn_threads_create(2);
	struct work *works = make_works(threads, &turns);
	works[0].gate = &gate;
	for (int i = 0; i < 2; i++)
		tn_threads_post(threads, &works[i].job);
	wait_until_begun(&works[0]);
	pid_t child = fork();
	if (child == 0) {
		int right = tn_job_wait(threads, &works[0].job) == 0;
		right &= tn_job_wait(threads, &works[1].job) == 1 && works[1].runs == 1;
		tn_threads_post(threads, &works[2].job);
		right &= tn_job_wait(threads, &works[2].job) == 1 && works[2].runs == 1;
		tn_threads_destroy(threads);
		_exit(right ? 0 : 1);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	atomic_store(&gate, 1);
	assert_int_equal(tn_job_wait(threads, &works[0].job), 1);
	assert_int_equal(tn_job_wait(threads, &works[1].job), 1);
	free(works);
	tn_threads_destroy(threads);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(visits_every_item_once_in_pieces_of_the_grain),
		cmocka_unit_test(runs_many_small_jobs_and_waits_for_each),
		cmocka_unit_test(runs_a_nested_range_serially),
		cmocka_unit_test(serves_callers_from_several_threads_in_turn),
		cmocka_unit_test(a_forked_child_works_alone),
		cmocka_unit_test(no_pool_and_an_empty_range_are_legal),
		cmocka_unit_test(each_job_runs_once_before_its_wait_returns),
		cmocka_unit_test(with_one_thread_the_waiter_runs_it),
		cmocka_unit_test(a_job_that_has_not_begun_is_run_by_the_waiter),
		cmocka_unit_test(jobs_begin_in_the_order_in_which_they_were_posted),
		cmocka_unit_test(a_job_that_was_cancelled_does_not_run),
		cmocka_unit_test(destroying_the_pool_runs_what_is_left),
		cmocka_unit_test(ranges_and_jobs_of_several_threads_go_on_together),
		cmocka_unit_test(a_forked_child_runs_jobs_itself),
		cmocka_unit_test(workers_do_not_inherit_floating_point_modes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
