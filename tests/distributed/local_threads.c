/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The ranks of one machine as threads over the same mapping, where a thread sanitizer sees all that
 * they share; and how the end of a process is told.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "communicator_local/local.h"
#include "distributed/operations.h"

enum { MOST_THREADS = 4 };

/* ---- Threads ---------------------------------------------------------------------------------*/

struct thread {
	pthread_t id;
	uint32_t rank, size;
	void *memory;
};

static void *run_rank(void *argument)
{
	static const struct tn_communicator_table table = {
		.struct_size = sizeof(table), .start = local_start, .test = local_test};
	static const uint64_t lengths[] = {0, 33, 1025};
	const struct thread *thread = argument;
	struct local_communicator communicator = {
		.host = rank_host(),
		.job = {.rank = thread->rank,
			.size = thread->size,
			.name = "threads",
			.area_bytes = 64 << 10,
			.timeout = RANKS_SECONDS},
	};
	struct rank rank = {.rank = thread->rank,
			    .size = thread->size,
			    .table = &table,
			    .communicator = &communicator,
			    .error = {.struct_size = sizeof(rank.error)}};
	if (local_join(&communicator, thread->memory, NULL, &rank.error))
		rank_fail(&rank, "join: %s", rank.error.text);
	operations_run(&rank, lengths, 3);
	operations_run_together(&rank, 60, 6000);
	local_leave(&communicator);
	return NULL;
}

static void run_threads(uint32_t size)
{
	const struct local_job job = {.size = size, .area_bytes = 64 << 10};
	const size_t bytes = local_shared_bytes(&job);
	struct thread threads[MOST_THREADS];
	void *memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
	assert_non_null(memory);
	memset(memory, 0, bytes);
	for (uint32_t r = 0; r < size; r++) {
		threads[r].rank = r;
		threads[r].size = size;
		threads[r].memory = memory;
		assert_int_equal(pthread_create(&threads[r].id, NULL, run_rank, &threads[r]), 0);
	}
	for (uint32_t r = 0; r < size; r++)
		assert_int_equal(pthread_join(threads[r].id, NULL), 0);
	free(memory);
}

static void ranks_may_be_threads_over_one_mapping(void **state)
{
	(void)state;
	run_threads(2);
	run_threads(4);
}

/* ---- Processes -------------------------------------------------------------------------------*/

/* A child that has described itself and waits in `end`. */
static pid_t start_child(struct communicator_process *process, int *end)
{
	int described[2], held[2];
	char byte;
	assert_int_equal(pipe(described), 0);
	assert_int_equal(pipe(held), 0);
	const pid_t child = fork();
	assert_true(child >= 0);
	if (!child) {
		(void)close(held[1]);
		communicator_process_self(process);
		if (write(described[1], process, sizeof(*process)) < 0 ||
		    read(held[0], &byte, 1) < 0)
			_exit(1);
		_exit(7);
	}
	assert_int_equal(read(described[0], process, sizeof(*process)), sizeof(*process));
	(void)close(described[0]);
	(void)close(described[1]);
	(void)close(held[0]);
	*end = held[1];
	return child;
}

static void wait_for_end(pid_t child)
{
	siginfo_t information;
	assert_int_equal(waitid(P_PID, (id_t)child, &information, WEXITED | WNOWAIT), 0);
}

static void the_end_of_a_process_is_seen_with_its_reason_until_it_is_collected(void **state)
{
	struct communicator_process process;
	char how[96];
	int end, status;
	(void)state;
	pid_t child = start_child(&process, &end);
	assert_int_equal(process.pid, child);
	assert_false(communicator_process_has_ended(&process, how, sizeof(how)));
	(void)close(end);
	wait_for_end(child);
	assert_true(communicator_process_has_ended(&process, how, sizeof(how)));
	assert_string_equal(how, "has exited with status 7");
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(communicator_process_has_ended(&process, how, sizeof(how)));
	assert_string_equal(how, "has ended");

	child = start_child(&process, &end);
	(void)kill(child, SIGTERM);
	wait_for_end(child);
	assert_true(communicator_process_has_ended(&process, how, sizeof(how)));
	assert_string_equal(how, "was killed by signal 15 (Terminated)");
	assert_int_equal(waitpid(child, &status, 0), child);
	(void)close(end);
}

static void a_later_process_of_the_same_number_is_another_one(void **state)
{
	struct communicator_process process;
	char how[96];
	(void)state;
	communicator_process_self(&process);
	assert_false(communicator_process_has_ended(&process, how, sizeof(how)));
	process.start_time--;
	assert_true(communicator_process_has_ended(&process, how, sizeof(how)));
}

/* Of the three ranks, 0 is this process and 1 one that has ended. */
static void what_a_rank_has_finished_it_is_not_missed_for(void **state)
{
	struct local_communicator communicator = {
		.job = {.rank = 0, .size = 3, .area_bytes = 64 << 10}};
	const size_t bytes = local_shared_bytes(&communicator.job);
	char text[128] = "";
	int is_lost = 0;
	(void)state;
	communicator.shared = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
	assert_non_null(communicator.shared);
	memset(communicator.shared, 0, bytes);
	struct local_rank *ranks = communicator.shared->ranks;
	communicator_process_self(&ranks[0].process);
	ranks[1].process = ranks[0].process;
	ranks[1].process.start_time--;
	ranks[0].state = ranks[1].state = LOCAL_JOINED;
	ranks[1].finished = 5;
	for (unsigned i = 0; i < 6; i++) {
		communicator.last_look = 0;
		local_watch(&communicator, 4, &is_lost, text, sizeof(text));
		assert_false(is_lost);
	}
	for (unsigned i = 0; i < 3 && !is_lost; i++) {
		communicator.last_look = 0;
		local_watch(&communicator, 5, &is_lost, text, sizeof(text));
	}
	assert_true(is_lost);
	assert_contains(text, "rank 1 (process ");
	assert_contains(text, ") has ended");
	/* A process in another space of numbers may be any. */
	ranks[1].process.namespace ++;
	for (unsigned i = 0; i < 3; i++) {
		communicator.last_look = 0;
		local_watch(&communicator, 5, &is_lost, text, sizeof(text));
		assert_false(is_lost);
	}
	free(communicator.shared);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_may_be_threads_over_one_mapping),
		cmocka_unit_test(
			the_end_of_a_process_is_seen_with_its_reason_until_it_is_collected),
		cmocka_unit_test(a_later_process_of_the_same_number_is_another_one),
		cmocka_unit_test(what_a_rank_has_finished_it_is_not_missed_for),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
