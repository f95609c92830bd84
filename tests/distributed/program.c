/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Programs of several ranks, as their authors write them, over the communicator of this machine;
 * the mock's faults end them with an error that names the rank and the reason.
 */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tenon/distributed.h>
#include <tenon/tenon.h>

#include "check.h"
#include "distributed/ranks.h"

enum { VICTIM = 1, N = 70001 };

/* A rank's context and communicator; the process ends if there is none. */
struct program {
	tn_context *context;
	tn_communicator *ranks;
};

__attribute__((format(printf, 2, 3), noreturn)) static void give_up(const struct program *program,
								    const char *format, ...)
{
	const struct rank rank = {.rank = tn_communicator_rank(program->ranks),
				  .size = tn_communicator_size(program->ranks)};
	char text[1024];
	va_list arguments;
	va_start(arguments, format);
	(void)vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	rank_fail(&rank, "%s", text);
}

static void open_program(struct program *program, uint32_t number, double timeout)
{
	const struct rank rank = {.rank = number};
	struct tn_communicator_options options = {.struct_size = sizeof(options),
						  .timeout = timeout};
	struct tn_error_info error = {.struct_size = sizeof(error)};
	if (tn_context_open(NULL, &program->context, &error) ||
	    tn_communicator_open(program->context, &options, &program->ranks, &error))
		rank_fail(&rank, "%s", error.text);
}

static void close_program(struct program *program)
{
	tn_communicator_close(program->ranks);
	tn_context_close(program->context);
}

/* ---- Arrays ----------------------------------------------------------------------------------*/

static void check_values(struct program *program, const char *what, const tn_array *x,
			 const float *expected, uint64_t n)
{
	static float found[4 * N];
	if (!x || tn_to_host(x, found, n * sizeof(*found)))
		give_up(program, "%s: %s", what, tn_error(program->context)->text);
	for (uint64_t i = 0; i < n; i++) {
		if (found[i] != expected[i])
			give_up(program, "%s: element %llu is %g, expected %g", what,
				(unsigned long long)i, (double)found[i], (double)expected[i]);
	}
}

/* Small integers, whose sums are exact. */
static float value(uint32_t rank, uint64_t i)
{
	return (float)((i * 7 + rank * 13) % 101);
}

static tn_array *make_array(struct program *program, uint32_t rank, int64_t n)
{
	static float values[4 * N];
	for (int64_t i = 0; i < n; i++)
		values[i] = value(rank, (uint64_t)i);
	return tn_from_host(program->context, TN_F32, 1, &n, values);
}

/* argument: the backend. */
static void use_arrays(uint32_t number, const void *argument)
{
	static float expected[4 * N];
	struct program program;
	(void)setenv("TENON_BACKEND", argument, 1);
	open_program(&program, number, 20);
	const uint32_t size = tn_communicator_size(program.ranks);
	if (tn_communicator_rank(program.ranks) != number)
		give_up(&program, "is rank %u", number);

	tn_array *x = make_array(&program, number, N);
	memset(expected, 0, sizeof(expected));
	for (uint32_t r = 0; r < size; r++) {
		for (uint64_t i = 0; i < N; i++)
			expected[i] += value(r, i);
	}
	if (tn_all_reduce(program.ranks, x, TN_REDUCE_SUM))
		give_up(&program, "all_reduce: %s", tn_error(program.context)->text);
	check_values(&program, "all_reduce", x, expected, N);
	tn_array_destroy(x);

	x = make_array(&program, number, N);
	tn_array *all = tn_all_gather(program.ranks, x);
	for (uint64_t i = 0; i < size * (uint64_t)N; i++)
		expected[i] = value((uint32_t)(i / N), i % N);
	check_values(&program, "all_gather", all, expected, size * (uint64_t)N);
	tn_array_destroy(all);
	if (tn_broadcast(program.ranks, x, size - 1))
		give_up(&program, "broadcast: %s", tn_error(program.context)->text);
	check_values(&program, "broadcast", x, expected + (size - 1) * (uint64_t)N, N);
	tn_array_destroy(x);

	x = make_array(&program, number, size * (int64_t)N);
	tn_array *part = tn_reduce_scatter(program.ranks, x, TN_REDUCE_MAX);
	for (uint64_t i = 0; i < N; i++) {
		expected[i] = 0;
		for (uint32_t r = 0; r < size; r++)
			expected[i] = fmaxf(expected[i], value(r, number * (uint64_t)N + i));
	}
	check_values(&program, "reduce_scatter", part, expected, N);
	tn_array_destroy(part);
	tn_array_destroy(x);
	if (tn_barrier(program.ranks))
		give_up(&program, "barrier: %s", tn_error(program.context)->text);
	close_program(&program);
}

static void arrays_of_every_backend_are_combined(void **state)
{
	(void)state;
	(void)setenv("TENON_COMMUNICATOR", "local", 1);
	ranks_run(3, use_arrays, "reference!", NULL);
	ranks_run(2, use_arrays, "cpu!", NULL);
	ranks_run(2, use_arrays, "mock!", NULL);
	(void)unsetenv("TENON_BACKEND");
}

/* ---- Faults ----------------------------------------------------------------------------------*/

/* How a program with a fault must end: on the victim, where it lives, as on the others. */
struct ending {
	const char *fault;
	double timeout;
	tn_status status;
	const char *part, *other_part;
};

static void fail_in_step(uint32_t number, const void *argument)
{
	const struct ending *ending = argument;
	struct program program;
	open_program(&program, number, ending->timeout);
	tn_array *x = make_array(&program, number, N);
	tn_status status = TN_OK;
	for (unsigned i = 0; i < 4 && !status; i++)
		status = tn_all_reduce(program.ranks, x, TN_REDUCE_MAX);
	const struct tn_error_info *error = tn_error(program.context);
	if (status != ending->status || (status && (!strstr(error->text, ending->part) ||
						    !strstr(error->text, ending->other_part))))
		give_up(&program, "%s: status %d: %s", ending->fault, (int)status,
			status ? error->text : "");
	tn_array_destroy(x);
	close_program(&program);
}

static void every_rank_ends_with_the_rank_and_the_reason(void **state)
{
	static const struct ending endings[] = {
		{"die:2@1", 20, TN_PEER_LOST, "rank 1 (process ", "was killed by signal 9"},
		{"die-in:3@1", 20, TN_PEER_LOST, "rank 1 (process ", "was killed by signal 9"},
		{"disagree:2@1", 20, TN_STATE, "rank 1", "operation 2"},
		{"late:2:30@1", 20, TN_OK, "", ""},
	};
	int statuses[3];
	(void)state;
	(void)setenv("TENON_COMMUNICATOR", "mock", 1);
	for (unsigned i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		(void)setenv("TENON_MOCK_COMMUNICATOR_FAULT", endings[i].fault, 1);
		ranks_run(3, fail_in_step, &endings[i], statuses);
		for (uint32_t r = 0; r < 3; r++) {
			const int dies = r == VICTIM && !strncmp(endings[i].fault, "die", 3);
			assert_int_equal(WIFSIGNALED(statuses[r]), dies);
			if (!dies)
				assert_int_equal(statuses[r], 0);
		}
	}
	(void)unsetenv("TENON_MOCK_COMMUNICATOR_FAULT");
}

/* argument: a pipe, by which rank 1 hears that it may leave: rank 0 shall not notice that. */
static void wait_in_vain(uint32_t number, const void *argument)
{
	const int *ends = argument;
	struct program program;
	char byte = 0;
	open_program(&program, number, 0.5);
	tn_status status = tn_barrier(program.ranks);
	if (!status)
		status = tn_barrier(program.ranks);
	const struct tn_error_info *error = tn_error(program.context);
	/* The victim does not know for whom it waits. */
	if (status != TN_TIMED_OUT ||
	    !strstr(error->text, number == VICTIM ? "for another rank" : "for rank 1"))
		give_up(&program, "status %d: %s", (int)status, status ? error->text : "");
	if (number == VICTIM ? read(ends[0], &byte, 1) != 1 : write(ends[1], &byte, 1) != 1)
		give_up(&program, "the pipe is broken");
	close_program(&program);
}

static void a_hang_ends_with_the_rank_that_is_waited_for(void **state)
{
	int ends[2];
	(void)state;
	assert_int_equal(pipe(ends), 0);
	(void)setenv("TENON_COMMUNICATOR", "mock", 1);
	(void)setenv("TENON_MOCK_COMMUNICATOR_FAULT", "drop:2@1", 1);
	ranks_run(2, wait_in_vain, ends, NULL);
	(void)close(ends[0]);
	(void)close(ends[1]);
	(void)unsetenv("TENON_MOCK_COMMUNICATOR_FAULT");
}

static void abort_program(uint32_t number, const void *argument)
{
	struct program program;
	(void)argument;
	open_program(&program, number, 20);
	if (number == VICTIM) {
		tn_communicator_abort(program.ranks, 4, "the disk is full");
		_exit(4);
	}
	tn_status status = tn_barrier(program.ranks);
	if (status != TN_PEER_LOST || !strstr(tn_error(program.context)->text, "rank 1") ||
	    !strstr(tn_error(program.context)->text, "code 4: the disk is full"))
		give_up(&program, "status %d: %s", (int)status,
			status ? tn_error(program.context)->text : "");
	close_program(&program);
}

static void the_reason_of_an_abort_reaches_every_rank(void **state)
{
	int statuses[3];
	(void)state;
	(void)setenv("TENON_COMMUNICATOR", "local", 1);
	ranks_run(3, abort_program, NULL, statuses);
	assert_int_equal(statuses[0], 0);
	assert_int_equal(statuses[2], 0);
	assert_int_equal(WEXITSTATUS(statuses[VICTIM]), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arrays_of_every_backend_are_combined),
		cmocka_unit_test(every_rank_ends_with_the_rank_and_the_reason),
		cmocka_unit_test(a_hang_ends_with_the_rank_that_is_waited_for),
		cmocka_unit_test(the_reason_of_an_abort_reaches_every_rank),
	};
	ranks_add_mocks();
	(void)setenv("TENON_LOCAL_BYTES", "64K", 1);
	(void)setenv("TENON_LOG", "off", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
