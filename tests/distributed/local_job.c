/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The communicator of one machine before it is one: the launcher's variables, and what may lie
 * under the name of the shared memory.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "distributed/operations.h"

static const struct tn_collective_args barrier = {.operation = TN_COLLECTIVE_BARRIER};

/* ---- Variables -------------------------------------------------------------------------------*/

/* The job, and the name of its shared memory; other processes run this test too. */
static char job[40], shared_name[64];

static int name_job(void **state)
{
	(void)state;
	(void)snprintf(job, sizeof(job), "tenon-test-job-%ld", (long)getpid());
	(void)snprintf(shared_name, sizeof(shared_name), "/tenon-local-%s", job);
	return 0;
}

/* A rank on its own, unless it is told otherwise. */
static void set_variables(const char *name, const char *value)
{
	(void)setenv("TENON_LOCAL_RANK", "0", 1);
	(void)setenv("TENON_LOCAL_SIZE", "1", 1);
	(void)setenv("TENON_LOCAL_JOB", job, 1);
	(void)setenv("TENON_LOCAL_BYTES", "64K", 1);
	(void)setenv("TENON_COMMUNICATOR_TIMEOUT", "20", 1);
	if (value)
		(void)setenv(name, value, 1);
	else
		(void)unsetenv(name);
}

static void malformed_variables_are_named_with_what_they_hold(void **state)
{
	static const struct {
		const char *name, *value;
		tn_status status;
		const char *part;
	} cases[] = {
		{"TENON_LOCAL_SIZE", NULL, TN_NOT_FOUND, "TENON_LOCAL_SIZE is not set"},
		{"TENON_LOCAL_RANK", NULL, TN_NOT_FOUND, "TENON_LOCAL_RANK is not set"},
		{"TENON_LOCAL_JOB", NULL, TN_NOT_FOUND, "tenon launch"},
		{"TENON_LOCAL_SIZE", "0", TN_FORMAT, "'0': expected a number from 1 to 128"},
		{"TENON_LOCAL_SIZE", "129", TN_FORMAT, "'129'"},
		{"TENON_LOCAL_SIZE", "", TN_FORMAT, "''"},
		{"TENON_LOCAL_SIZE", "18446744073709551617", TN_FORMAT, "'18446744073709551617'"},
		{"TENON_LOCAL_RANK", "1", TN_FORMAT, "'1': expected a number from 0 to 0"},
		{"TENON_LOCAL_RANK", "-1", TN_FORMAT, "'-1'"},
		{"TENON_LOCAL_RANK", "0x", TN_FORMAT, "'0x'"},
		{"TENON_LOCAL_JOB", "", TN_FORMAT, "expected 1 to 64 of a-z, 0-9 and '-'"},
		{"TENON_LOCAL_JOB", "../shm/x", TN_FORMAT, "'../shm/x'"},
		{"TENON_LOCAL_JOB", "Name", TN_FORMAT, "'Name'"},
		{"TENON_LOCAL_JOB",
		 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", TN_FORMAT,
		 "expected 1 to 64"},
		{"TENON_LOCAL_BYTES", "63K", TN_FORMAT, "expected 64K to 1G"},
		{"TENON_LOCAL_BYTES", "2G", TN_FORMAT, "'2G'"},
		{"TENON_LOCAL_BYTES", "1MB", TN_FORMAT, "'1MB'"},
		{"TENON_LOCAL_BYTES", "K", TN_FORMAT, "'K'"},
		{"TENON_COMMUNICATOR_TIMEOUT", "0", TN_FORMAT, "expected seconds, more than 0"},
		{"TENON_COMMUNICATOR_TIMEOUT", "1s", TN_FORMAT, "'1s'"},
		{"TENON_COMMUNICATOR_TIMEOUT", "inf", TN_FORMAT, "'inf'"},
	};
	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rank rank;
		set_variables(cases[i].name, cases[i].value);
		assert_status(rank_open(&rank, "local"), cases[i].status);
		assert_contains(rank.error.text, cases[i].name);
		assert_contains(rank.error.text, cases[i].part);
	}
}

static void a_rank_alone_describes_itself_and_may_open_again(void **state)
{
	(void)state;
	set_variables("TENON_LOCAL_BYTES", NULL);
	for (unsigned i = 0; i < 2; i++) {
		struct tn_communicator_description description = {.struct_size =
									  sizeof(description)};
		char host[64] = "";
		struct rank rank;
		assert_ok(rank_open(&rank, "local"));
		assert_ok(rank.table->describe(rank.communicator, &description));
		assert_int_equal(description.size, 1);
		assert_int_equal(description.rank, 0);
		assert_int_equal(description.local_size, 1);
		assert_int_equal(description.flags, TN_COMMUNICATOR_ORDERED);
		assert_int_equal(description.max_bytes, 0);
		assert_string_equal(description.engine, "shared memory");
		(void)gethostname(host, sizeof(host) - 1);
		assert_string_equal(description.host, host);
		assert_ok(rank_run(&rank, &barrier));
		rank_close(&rank);
	}
}

/* ---- What lies under the name ----------------------------------------------------------------*/

static int make_shared(mode_t mode, off_t bytes)
{
	(void)shm_unlink(shared_name);
	const int file = shm_open(shared_name, O_RDWR | O_CREAT | O_EXCL, 0600);
	assert_true(file >= 0);
	assert_int_equal(fchmod(file, mode), 0);
	assert_int_equal(ftruncate(file, bytes), 0);
	return file;
}

static void memory_that_others_may_open_is_refused_and_left_alone(void **state)
{
	struct stat found;
	struct rank rank;
	(void)state;
	set_variables("TENON_LOCAL_RANK", "0");
	const int file = make_shared(0640, 12);
	assert_status(rank_open(&rank, "local"), TN_REFUSED);
	assert_contains(rank.error.text, shared_name);
	assert_contains(rank.error.text, "mode 0640");
	assert_int_equal(fstat(file, &found), 0);
	assert_int_equal(found.st_size, 12);
	assert_int_equal(found.st_nlink, 1);
	(void)close(file);
	(void)shm_unlink(shared_name);
}

static void a_symbolic_link_is_refused(void **state)
{
	char target[] = "/tmp/tenon-test-XXXXXX", link[96];
	struct stat found;
	struct rank rank;
	(void)state;
	set_variables("TENON_LOCAL_RANK", "0");
	const int file = mkstemp(target);
	assert_true(file >= 0);
	(void)snprintf(link, sizeof(link), "/dev/shm%s", shared_name);
	(void)unlink(link);
	if (symlink(target, link)) {
		(void)unlink(target);
		skip();
	}
	assert_status(rank_open(&rank, "local"), TN_REFUSED);
	assert_int_equal(fstat(file, &found), 0);
	assert_int_equal(found.st_size, 0);
	(void)close(file);
	(void)unlink(link);
	(void)unlink(target);
}

static void memory_of_another_size_is_a_disagreement(void **state)
{
	struct rank rank;
	(void)state;
	set_variables("TENON_LOCAL_RANK", "0");
	(void)close(make_shared(0600, 4096));
	assert_status(rank_open(&rank, "local"), TN_INVALID_ARGUMENT);
	assert_contains(rank.error.text, "4096 bytes");
	assert_contains(rank.error.text, "TENON_LOCAL_SIZE");
	(void)shm_unlink(shared_name);
}

static void join_as_rank_0(uint32_t number, const void *argument)
{
	struct rank rank = {.rank = number};
	(void)argument;
	(void)setenv("TENON_LOCAL_RANK", "0", 1);
	tn_status status = rank_open(&rank, "local");
	/* The first waits until its time is up; the second is told by whom it was preceded. */
	if (status == TN_STATE ? !strstr(rank.error.text, "has a rank 0 already: process")
			       : status != TN_TIMED_OUT)
		rank_fail(&rank, "status %d: %s", (int)status, rank.error.text);
	_exit(status == TN_STATE ? 10 : 11);
}

static void a_rank_is_taken_once(void **state)
{
	int statuses[2];
	(void)state;
	set_variables("TENON_COMMUNICATOR_TIMEOUT", "0.5");
	ranks_run(2, join_as_rank_0, NULL, statuses);
	assert_true((statuses[0] == 10 << 8 && statuses[1] == 11 << 8) ||
		    (statuses[0] == 11 << 8 && statuses[1] == 10 << 8));
}

static void look_for_name(uint32_t number, const void *argument)
{
	char name[128];
	struct rank rank;
	(void)number;
	(void)argument;
	(void)snprintf(name, sizeof(name), "/tenon-local-%s", getenv("TENON_LOCAL_JOB"));
	if (rank_open(&rank, "local"))
		rank_fail(&rank, "open: %s", rank.error.text);
	if (shm_open(name, O_RDWR, 0) >= 0)
		rank_fail(&rank, "%s is still there", name);
	/* Once all have looked, they meet again under it. */
	if (rank_run(&rank, &barrier))
		rank_fail(&rank, "barrier: %s", rank.error.text);
	for (unsigned i = 0; i < 20; i++) {
		rank_close(&rank);
		if (rank_open(&rank, "local"))
			rank_fail(&rank, "open %u: %s", i, rank.error.text);
		if (rank_run(&rank, &barrier))
			rank_fail(&rank, "barrier %u: %s", i, rank.error.text);
	}
	rank_close(&rank);
}

static void the_name_is_gone_once_all_have_joined(void **state)
{
	(void)state;
	set_variables("TENON_LOCAL_RANK", "0");
	ranks_run(3, look_for_name, NULL, NULL);
}

/* ---- Arguments of start ----------------------------------------------------------------------*/

static void arguments_are_checked_before_anything_is_sent(void **state)
{
	float memory[16] = {0};
	const struct {
		struct tn_collective_args args;
		tn_status status;
		const char *part;
	} cases[] = {
		{{.operation = TN_COLLECTIVE_UNASSIGNED}, TN_UNSUPPORTED, "operation 32767"},
		{{.operation = TN_COLLECTIVE_ALL_REDUCE, .dtype = TN_F32},
		 TN_UNSUPPORTED,
		 "combiner 0"},
		{{.operation = TN_COLLECTIVE_ALL_REDUCE,
		  .dtype = TN_U8,
		  .combiner = TN_REDUCE_SUM,
		  .source = memory,
		  .target = memory,
		  .n = 1},
		 TN_UNSUPPORTED,
		 "dtype 6"},
		{{.operation = TN_COLLECTIVE_ALL_REDUCE,
		  .dtype = TN_F32,
		  .combiner = TN_REDUCE_SUM,
		  .target = memory,
		  .n = 1},
		 TN_INVALID_ARGUMENT,
		 "source: expected 1 elements, found NULL"},
		{{.operation = TN_COLLECTIVE_ALL_REDUCE,
		  .dtype = TN_F32,
		  .combiner = TN_REDUCE_SUM,
		  .source = memory,
		  .target = memory + 1,
		  .n = 2},
		 TN_UNSUPPORTED,
		 "overlap"},
		{{.operation = TN_COLLECTIVE_ALL_GATHER,
		  .dtype = TN_F32,
		  .source = memory,
		  .target = (char *)memory + 2,
		  .n = 1},
		 TN_UNSUPPORTED,
		 "target is not aligned"},
		{{.operation = TN_COLLECTIVE_BROADCAST,
		  .dtype = TN_F32,
		  .target = memory,
		  .n = 1,
		  .root = 1},
		 TN_INVALID_ARGUMENT,
		 "root 1: expected a rank, of 1 ranks"},
		{{.operation = TN_COLLECTIVE_BROADCAST,
		  .dtype = TN_F32,
		  .source = memory,
		  .target = memory,
		  .n = 1},
		 TN_UNSUPPORTED,
		 "source: expected NULL"},
		{{.operation = TN_COLLECTIVE_BROADCAST,
		  .dtype = TN_F64,
		  .target = memory,
		  .n = UINT64_MAX / 4},
		 TN_UNSUPPORTED,
		 "more than memory can hold"},
		{{.operation = TN_COLLECTIVE_BARRIER, .n = 1}, TN_UNSUPPORTED, "n is 1"},
		{{.operation = TN_COLLECTIVE_BARRIER, .dtype = TN_F32}, TN_UNSUPPORTED, "dtype"},
		{{.call.flags = TN_DRY_RUN, .operation = TN_COLLECTIVE_BARRIER},
		 TN_UNSUPPORTED,
		 "flags 0x1"},
	};
	struct rank rank;
	(void)state;
	set_variables("TENON_LOCAL_RANK", "0");
	assert_ok(rank_open(&rank, "local"));
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_status(rank_run(&rank, &cases[i].args), cases[i].status);
		assert_contains(rank.error.text, cases[i].part);
	}
	const struct tn_collective_args exact = {.call.flags = TN_DETERMINISTIC,
						 .operation = TN_COLLECTIVE_BARRIER};
	assert_ok(rank_run(&rank, &exact));
	rank_close(&rank);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(malformed_variables_are_named_with_what_they_hold),
		cmocka_unit_test(a_rank_alone_describes_itself_and_may_open_again),
		cmocka_unit_test(memory_that_others_may_open_is_refused_and_left_alone),
		cmocka_unit_test(a_symbolic_link_is_refused),
		cmocka_unit_test(memory_of_another_size_is_a_disagreement),
		cmocka_unit_test(a_rank_is_taken_once),
		cmocka_unit_test(the_name_is_gone_once_all_have_joined),
		cmocka_unit_test(arguments_are_checked_before_anything_is_sent),
	};
	return cmocka_run_group_tests(tests, name_job, NULL);
}
