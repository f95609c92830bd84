/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The mock communicator over the one of this machine: without faults it is that, and each fault
 * does what it says.
 */
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "distributed/operations.h"

enum { VICTIM = 1 };

static const struct tn_collective_args barrier = {.operation = TN_COLLECTIVE_BARRIER};

static double now(void)
{
	struct timespec time;
	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void set_fault(const char *text)
{
	(void)setenv("TENON_MOCK_COMMUNICATOR_FAULT", text, 1);
}

static void open_rank(struct rank *rank)
{
	if (rank_open(rank, "mock"))
		rank_fail(rank, "open: %s", rank->error.text);
}

static void check_error(const struct rank *rank, tn_status found, tn_status expected,
			const char *part)
{
	if (found != expected || !strstr(rank->error.text, part))
		rank_fail(rank, "expected status %d and '%s', found %d: %s", (int)expected, part,
			  (int)found, found ? rank->error.text : "");
}

/* ---- No fault --------------------------------------------------------------------------------*/

static void run_operations(uint32_t number, const void *argument)
{
	static const uint64_t lengths[] = {0, 33};
	struct rank rank;
	(void)number;
	(void)argument;
	open_rank(&rank);
	operations_run(&rank, lengths, 2);
	operations_run_together(&rank, 20, 5000);
	rank_close(&rank);
}

static void without_faults_it_is_the_communicator_that_it_wraps(void **state)
{
	(void)state;
	set_fault("");
	ranks_run(3, run_operations, NULL, NULL);
}

/* ---- What cannot be created ------------------------------------------------------------------*/

static void malformed_faults_are_refused_with_their_column(void **state)
{
	static const struct {
		const char *text, *part;
	} faults[] = {
		{"slow:1", "column 1 of 'slow:1': expected delay:MS"},
		{"die", "column 4 of 'die': expected a ':' and a number, found ''"},
		{"die:0", "column 5 of 'die:0': expected a number from 1 on"},
		{"delay:1,drop:x", "column 14 of 'delay:1,drop:x': expected a number"},
		{"network:5", "column 10 of 'network:5': expected a ':' and Gbit/s"},
		{"network:5:0", "expected a number from 1 on, found '0'"},
		{"drop:1@", "column 8 of 'drop:1@': expected a number, found ''"},
		{"drop:1@2x", "column 9 of 'drop:1@2x': expected a comma, found 'x'"},
		{"drop:99999999999999999999", "expected a smaller number"},
		{"late:1,late:2", "column 8 of 'late:1,late:2': expected each fault once"},
		{"delay:1,", "column 9 of 'delay:1,': expected delay:MS"},
	};
	const struct tn_backend_descriptor *plugin = rank_plugin("mock");
	(void)state;
	for (unsigned i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct tn_error_info error = {.struct_size = sizeof(error)};
		void *instance;
		set_fault(faults[i].text);
		assert_status(plugin->create(rank_host(), &error, &instance), TN_FORMAT);
		assert_contains(error.text, faults[i].part);
	}
	set_fault("");
}

static void a_communicator_that_is_not_there_is_named(void **state)
{
	const struct tn_backend_descriptor *plugin = rank_plugin("mock");
	struct tn_error_info error = {.struct_size = sizeof(error)};
	void *instance;
	(void)state;
	(void)setenv("TENON_MOCK_COMMUNICATOR", "nowhere", 1);
	assert_status(plugin->create(rank_host(), &error, &instance), TN_NO_PLUGIN);
	assert_contains(error.text, "communicator_nowhere.so");
	(void)setenv("TENON_MOCK_COMMUNICATOR", "/dev/null", 1);
	assert_status(plugin->create(rank_host(), &error, &instance), TN_BAD_PLUGIN);
	assert_contains(error.text, "/dev/null");
	(void)unsetenv("TENON_MOCK_COMMUNICATOR");
}

/* ---- Ranks that die, stay away, disagree -----------------------------------------------------*/

static void see_death(uint32_t number, const void *argument)
{
	struct rank rank;
	(void)argument;
	open_rank(&rank);
	tn_status status = rank_run(&rank, &barrier);
	if (!status)
		status = rank_run(&rank, &barrier);
	/* A rank that has begun the second barrier has done its part in it. */
	if (!status)
		status = rank_run(&rank, &barrier);
	check_error(&rank, status, TN_PEER_LOST, "rank 1");
	check_error(&rank, status, TN_PEER_LOST, "was killed by signal 9");
	if (number == VICTIM)
		rank_fail(&rank, "is alive");
	rank_close(&rank);
}

static void a_rank_dies_before_an_operation_and_in_one(void **state)
{
	static const char *const faults[] = {"die:2@1", "die-in:2@1"};
	int statuses[3];
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		set_fault(faults[i]);
		ranks_run(3, see_death, NULL, statuses);
		assert_true(WIFSIGNALED(statuses[VICTIM]));
		assert_int_equal(WTERMSIG(statuses[VICTIM]), SIGKILL);
		assert_int_equal(statuses[0], 0);
		assert_int_equal(statuses[2], 0);
	}
}

/* argument: a pipe, by which rank 0 tells rank 1 that it knows for whom it waits. */
static void see_drop(uint32_t number, const void *argument)
{
	const int *ends = argument;
	uint32_t waits_for = TN_RANK_UNKNOWN;
	struct rank rank;
	char byte = 0;
	open_rank(&rank);
	if (rank_run(&rank, &barrier))
		rank_fail(&rank, "barrier: %s", rank.error.text);
	void *request = rank_start(&rank, &barrier);
	if (number == VICTIM) {
		for (unsigned i = 0; i < 100; i++) {
			if (rank_wait(&rank, request, 0, NULL) != TN_TIMED_OUT)
				rank_fail(&rank, "an operation that is dropped has ended");
		}
		if (read(ends[0], &byte, 1) != 1)
			rank_fail(&rank, "rank 0 has ended");
	} else {
		while (waits_for != VICTIM) {
			if (rank_wait(&rank, request, 0, &waits_for) != TN_TIMED_OUT)
				rank_fail(&rank, "a barrier does not wait for rank 1");
		}
		if (write(ends[1], &byte, 1) != 1)
			rank_fail(&rank, "the pipe is broken");
	}
	rank_close(&rank);
}

static void a_dropped_operation_is_never_done_and_the_others_know_whose_it_is(void **state)
{
	int ends[2];
	(void)state;
	assert_int_equal(pipe(ends), 0);
	set_fault("drop:2@1");
	ranks_run(2, see_drop, ends, NULL);
	(void)close(ends[0]);
	(void)close(ends[1]);
}

/* argument: the operation, of 8 f32. */
static void see_disagreement(uint32_t number, const void *argument)
{
	struct tn_collective_args args = {
		.operation = *(const uint32_t *)argument, .dtype = TN_F32, .n = 8};
	struct operation operation;
	struct rank rank;
	(void)number;
	if (args.operation == TN_COLLECTIVE_BARRIER)
		args = barrier;
	if (args.operation == TN_COLLECTIVE_ALL_REDUCE ||
	    args.operation == TN_COLLECTIVE_REDUCE_SCATTER)
		args.combiner = TN_REDUCE_SUM;
	open_rank(&rank);
	operation_make(&operation, &rank, &args, 1, 1);
	tn_status status = rank_run(&rank, &operation.args);
	/* A rank to which nobody sends in the operation finds out in the next one. */
	if (!status)
		status = rank_run(&rank, &barrier);
	check_error(&rank, status, TN_STATE, "disagree in operation 1");
	free(operation.memory);
	rank_close(&rank);
}

static void a_rank_disagrees_in_any_operation(void **state)
{
	(void)state;
	set_fault("disagree:1@1");
	for (uint32_t i = TN_COLLECTIVE_BARRIER; i <= TN_COLLECTIVE_ALL_GATHER; i++)
		ranks_run(2, see_disagreement, &i, NULL);
}

/* ---- Time: only that nothing comes too early -------------------------------------------------*/

/* argument: the seconds that two all_reduces of 125000 f32, started together, must take. */
static void take_time(uint32_t number, const void *argument)
{
	const double least = *(const double *)argument;
	const struct tn_collective_args args = {.operation = TN_COLLECTIVE_ALL_REDUCE,
						.combiner = TN_REDUCE_SUM,
						.dtype = TN_F32,
						.n = 125000};
	struct operation operations[2];
	void *requests[2];
	struct rank rank;
	(void)number;
	open_rank(&rank);
	for (unsigned i = 0; i < 2; i++)
		operation_make(&operations[i], &rank, &args, 1, i);
	const double start = now();
	for (unsigned i = 0; i < 2; i++)
		requests[i] = rank_start(&rank, &operations[i].args);
	for (unsigned i = 0; i < 2; i++) {
		if (rank_wait(&rank, requests[i], RANKS_SECONDS / 2, NULL))
			rank_fail(&rank, "all_reduce: %s", rank.error.text);
	}
	if (now() - start < least)
		rank_fail(&rank, "took %g s, expected at least %g", now() - start, least);
	for (unsigned i = 0; i < 2; i++)
		operation_check(&operations[i], &rank);
	rank_close(&rank);
}

static void operations_take_the_time_of_the_delay_or_of_the_network(void **state)
{
	/* Half a megabyte over 1 Gbit/s is 4 ms; two ranks send it once in all. */
	static const double delay = 0.030, network = 2 * (2 * 0.003 + 0.004), late = 0.040;
	(void)state;
	set_fault("delay:30");
	ranks_run(2, take_time, &delay, NULL);
	set_fault("network:3000:1");
	ranks_run(2, take_time, &network, NULL);
	set_fault("late:2:40");
	ranks_run(2, take_time, &late, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_faults_it_is_the_communicator_that_it_wraps),
		cmocka_unit_test(malformed_faults_are_refused_with_their_column),
		cmocka_unit_test(a_communicator_that_is_not_there_is_named),
		cmocka_unit_test(a_rank_dies_before_an_operation_and_in_one),
		cmocka_unit_test(a_dropped_operation_is_never_done_and_the_others_know_whose_it_is),
		cmocka_unit_test(a_rank_disagrees_in_any_operation),
		cmocka_unit_test(operations_take_the_time_of_the_delay_or_of_the_network),
	};
	ranks_add_mocks();
	(void)setenv("TENON_LOCAL_BYTES", "64K", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
