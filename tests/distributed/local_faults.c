/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The communicator of one machine when a rank ends, stays away, disagrees or aborts: the others
 * fail, and their errors name the rank and the reason.
 */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "distributed/operations.h"

enum { VICTIM = 1 };

static void open_rank(struct rank *rank)
{
	if (rank_open(rank, "local"))
		rank_fail(rank, "open: %s", rank->error.text);
}

/* The error must have that status and contain both texts. */
static void check_error(const struct rank *rank, tn_status found, tn_status expected,
			const char *part, const char *other_part)
{
	if (found != expected || !strstr(rank->error.text, part) ||
	    !strstr(rank->error.text, other_part))
		rank_fail(rank, "expected status %d, '%s' and '%s', found %d: %s", (int)expected,
			  part, other_part, (int)found, found ? rank->error.text : "");
}

static const struct tn_collective_args barrier = {.operation = TN_COLLECTIVE_BARRIER};

/* Everything fails likewise from now on. */
static void check_stays_failed(struct rank *rank, tn_status expected, const char *part)
{
	check_error(rank, rank_run(rank, &barrier), expected, part, "rank 1");
}

static void check_victim_was_killed(const int *statuses, uint32_t size)
{
	for (uint32_t r = 0; r < size; r++) {
		if (r == VICTIM)
			assert_true(WIFSIGNALED(statuses[r]) && WTERMSIG(statuses[r]) == SIGKILL);
		else
			assert_int_equal(statuses[r], 0);
	}
}

/* ---- A rank that ends ------------------------------------------------------------------------*/

static void die_before_joining(uint32_t number, const void *argument)
{
	struct rank rank = {.rank = number};
	(void)argument;
	if (number == VICTIM)
		(void)raise(SIGKILL);
	check_error(&rank, rank_open(&rank, "local"), TN_TIMED_OUT, "rank 1", "has not joined");
}

static void a_rank_that_never_joins_is_named_after_the_timeout(void **state)
{
	int statuses[3];
	(void)state;
	(void)setenv("TENON_COMMUNICATOR_TIMEOUT", "0.5", 1);
	ranks_run(3, die_before_joining, NULL, statuses);
	(void)unsetenv("TENON_COMMUNICATOR_TIMEOUT");
	check_victim_was_killed(statuses, 3);
}

static const struct tn_collective_args large = {.operation = TN_COLLECTIVE_ALL_REDUCE,
						.combiner = TN_REDUCE_SUM,
						.dtype = TN_F32,
						.n = 300000};

/* argument: after how many operations, and how many tests of the next one, the victim dies. */
struct death {
	unsigned n_operations, n_tests;
	int starts;
};

static void die_at_work(uint32_t number, const void *argument)
{
	const struct death *death = argument;
	struct operation operation;
	struct rank rank;
	open_rank(&rank);
	for (unsigned i = 0; i < death->n_operations; i++) {
		operation_make(&operation, &rank, &large, 1, i);
		if (rank_run(&rank, &operation.args))
			rank_fail(&rank, "operation %u: %s", i, rank.error.text);
		operation_check(&operation, &rank);
	}
	operation_make(&operation, &rank, &large, 0, 7);
	if (number == VICTIM && !death->starts)
		(void)raise(SIGKILL);
	if (number == VICTIM) {
		struct tn_collective_state state = {.struct_size = sizeof(state)};
		void *request = rank_start(&rank, &operation.args);
		for (unsigned i = 0; i < death->n_tests; i++)
			(void)rank.table->test(rank.communicator, request, &state, NULL);
		(void)raise(SIGKILL);
	}
	/* The operand is larger than the area: the victim had not finished it. */
	check_error(&rank, rank_run(&rank, &operation.args), TN_PEER_LOST, "rank 1",
		    "was killed by signal 9");
	check_stays_failed(&rank, TN_PEER_LOST, "was killed by signal 9");
	free(operation.memory);
	rank_close(&rank);
}

static void a_rank_that_is_killed_is_named_with_its_signal(void **state)
{
	static const struct death deaths[] = {{0, 0, 0}, {2, 0, 0}, {0, 0, 1}, {1, 1, 1}};
	int statuses[3];
	(void)state;
	for (unsigned i = 0; i < sizeof(deaths) / sizeof(deaths[0]); i++) {
		ranks_run(3, die_at_work, &deaths[i], statuses);
		check_victim_was_killed(statuses, 3);
	}
}

static void leave_early(uint32_t number, const void *argument)
{
	struct rank rank;
	(void)argument;
	open_rank(&rank);
	if (rank_run(&rank, &barrier))
		rank_fail(&rank, "barrier: %s", rank.error.text);
	if (number != VICTIM)
		check_error(&rank, rank_run(&rank, &barrier), TN_PEER_LOST, "rank 1", "has left");
	rank_close(&rank);
}

static void a_rank_that_has_left_is_named(void **state)
{
	(void)state;
	ranks_run(2, leave_early, NULL, NULL);
	ranks_run(4, leave_early, NULL, NULL);
}

static void end_after_broadcast(uint32_t number, const void *argument)
{
	const struct tn_collective_args args = {
		.operation = TN_COLLECTIVE_BROADCAST, .dtype = TN_F64, .root = VICTIM, .n = 5000};
	struct operation operation;
	struct rank rank;
	(void)argument;
	open_rank(&rank);
	operation_make(&operation, &rank, &args, 1, 3);
	void *request = rank_start(&rank, &operation.args);
	if (rank_wait(&rank, request, RANKS_SECONDS / 2, NULL))
		rank_fail(&rank, "broadcast: %s", rank.error.text);
	if (number == VICTIM)
		_exit(0);
	operation_check(&operation, &rank);
	rank_close(&rank);
}

static void what_a_rank_did_before_it_ended_counts(void **state)
{
	(void)state;
	ranks_run(3, end_after_broadcast, NULL, NULL);
}

/* ---- A rank that stays away, and one that aborts ---------------------------------------------*/

/* argument: a pipe, by which rank 0 tells rank 1 that it has aborted. */
static void stay_away(uint32_t number, const void *argument)
{
	const int *ends = argument;
	uint32_t waits_for = TN_RANK_UNKNOWN;
	struct rank rank;
	char byte = 0;
	open_rank(&rank);
	if (number == VICTIM && read(ends[0], &byte, 1) != 1)
		rank_fail(&rank, "rank 0 has not aborted");
	if (number == 0) {
		void *request = rank_start(&rank, &barrier);
		while (waits_for != VICTIM) {
			if (rank_wait(&rank, request, 0, &waits_for) != TN_TIMED_OUT)
				rank_fail(&rank, "a barrier does not wait for rank 1");
		}
		rank.table->abort(rank.communicator, 3, "rank 1 is late");
		if (write(ends[1], &byte, 1) != 1)
			rank_fail(&rank, "the pipe is broken");
	}
	/* Rank 0 had done its part in the barrier; without it, there is no further one. */
	tn_status status = rank_run(&rank, &barrier);
	if (!status && number != 0)
		status = rank_run(&rank, &barrier);
	check_error(&rank, status, TN_PEER_LOST, "rank 0", "aborts with code 3: rank 1 is late");
	rank_close(&rank);
}

static void a_barrier_waits_for_the_absent_until_a_rank_aborts_with_a_reason(void **state)
{
	int ends[2];
	(void)state;
	assert_int_equal(pipe(ends), 0);
	ranks_run(3, stay_away, ends, NULL);
	(void)close(ends[0]);
	(void)close(ends[1]);
}

/* ---- Ranks that disagree ---------------------------------------------------------------------*/

static const struct tn_collective_args agreed = {.operation = TN_COLLECTIVE_ALL_REDUCE,
						 .combiner = TN_REDUCE_SUM,
						 .dtype = TN_F32,
						 .n = 5000};

/* What rank 1 starts while the others start `agreed`, and how the error describes it. */
struct disagreement {
	struct tn_collective_args args;
	const char *text;
};

static void disagree(uint32_t number, const void *argument)
{
	const struct disagreement *disagreement = argument;
	struct operation operation;
	struct rank rank;
	open_rank(&rank);
	operation_make(&operation, &rank, number == VICTIM ? &disagreement->args : &agreed, 0, 1);
	/* The barrier before fails on a rank that is still in it when the others disagree; the
	 * one behind, on the root of a broadcast, which waits for nobody. */
	tn_status status = rank_run(&rank, &barrier);
	if (!status)
		status = rank_run(&rank, &operation.args);
	if (!status)
		status = rank_run(&rank, &barrier);
	check_error(&rank, status, TN_STATE, "disagree in operation 2", disagreement->text);
	check_error(&rank, status, TN_STATE, "all_reduce(sum of 5000 f32)", "rank 1");
	check_stays_failed(&rank, TN_STATE, disagreement->text);
	free(operation.memory);
	rank_close(&rank);
}

static void ranks_that_disagree_learn_in_what(void **state)
{
	static const struct disagreement disagreements[] = {
		{{.operation = TN_COLLECTIVE_ALL_REDUCE,
		  .combiner = TN_REDUCE_SUM,
		  .dtype = TN_F32,
		  .n = 50000},
		 "all_reduce(sum of 50000 f32)"},
		{{.operation = TN_COLLECTIVE_ALL_REDUCE,
		  .combiner = TN_REDUCE_MAX,
		  .dtype = TN_F32,
		  .n = 5000},
		 "all_reduce(maximum of 5000 f32)"},
		{{.operation = TN_COLLECTIVE_ALL_REDUCE,
		  .combiner = TN_REDUCE_SUM,
		  .dtype = TN_F64,
		  .n = 5000},
		 "all_reduce(sum of 5000 f64)"},
		{{.operation = TN_COLLECTIVE_BARRIER}, "starts barrier"},
		{{.operation = TN_COLLECTIVE_BROADCAST, .dtype = TN_F32, .root = VICTIM, .n = 50},
		 "broadcast(50 f32 from rank 1)"},
	};
	(void)state;
	for (unsigned i = 0; i < sizeof(disagreements) / sizeof(disagreements[0]); i++)
		ranks_run(3, disagree, &disagreements[i], NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rank_that_never_joins_is_named_after_the_timeout),
		cmocka_unit_test(a_rank_that_is_killed_is_named_with_its_signal),
		cmocka_unit_test(a_rank_that_has_left_is_named),
		cmocka_unit_test(what_a_rank_did_before_it_ended_counts),
		cmocka_unit_test(a_barrier_waits_for_the_absent_until_a_rank_aborts_with_a_reason),
		cmocka_unit_test(ranks_that_disagree_learn_in_what),
	};
	(void)setenv("TENON_LOCAL_BYTES", "64K", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
