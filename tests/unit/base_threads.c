/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers */
#include "base/threads.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(visits_every_item_once_in_pieces_of_the_grain),
		cmocka_unit_test(runs_many_small_jobs_and_waits_for_each),
		cmocka_unit_test(runs_a_nested_range_serially),
		cmocka_unit_test(serves_callers_from_several_threads_in_turn),
		cmocka_unit_test(a_forked_child_works_alone),
		cmocka_unit_test(no_pool_and_an_empty_range_are_legal),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
