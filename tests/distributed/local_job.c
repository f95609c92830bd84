/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The communicator of one machine before it is one: the launcher's variables, and what may lie
 * under the name of the shared memory.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "distributed/operations.h"

static const struct tn_collective_args barrier = {.operation = TN_COLLECTIVE_BARRIER};

/* ---- Variables -------------------------------------------------------------------------------*/

/* The job's name, which no other process has, the folder of its memory and the file there. */
static char job[64], folder[64], file_name[192];

static int make_folder(void **state)
{
	(void)state;
	(void)snprintf(job, sizeof(job), RANKS_JOB "-%ld", (long)getpid());
	(void)snprintf(folder, sizeof(folder), "/tmp/tenon-test-XXXXXX");
	if (!mkdtemp(folder) || setenv("TENON_LOCAL_DIR", folder, 1))
		return -1;
	(void)snprintf(file_name, sizeof(file_name), "%s/tenon-local-%s", folder, job);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	(void)unlink(file_name);
	return rmdir(folder);
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
		{"TENON_LOCAL_DIR", "here", TN_FORMAT, "'here': expected an absolute path"},
		{"TENON_LOCAL_DIR", "/nowhere/at/all", TN_IO, "/nowhere/at/all/tenon-local-"},
		{"TENON_COMMUNICATOR_TIMEOUT", "0", TN_FORMAT, "expected seconds, more than 0"},
		{"TENON_COMMUNICATOR_TIMEOUT", "1s", TN_FORMAT, "'1s'"},
		{"TENON_COMMUNICATOR_TIMEOUT", "inf", TN_FORMAT, "'inf'"},
	};
	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rank rank;
		set_variables(cases[i].name, cases[i].value);
		assert_status(rank_open(&rank, "local"), cases[i].status);
		if (cases[i].status != TN_IO)
			assert_contains(rank.error.text, cases[i].name);
		assert_contains(rank.error.text, cases[i].part);
		(void)setenv("TENON_LOCAL_DIR", folder, 1);
	}
}

/* What srun sets for a task of a step. */
static void set_step(const char *name, const char *value)
{
	static const char *const names[][2] = {
		{"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_PROCID", "0"},
		{"SLURM_STEP_NUM_NODES", "1"}, {"SLURM_JOB_ID", "4711"},
		{"SLURM_STEP_ID", "2"},        {"SLURM_RESTART_COUNT", "0"}};
	set_variables("TENON_LOCAL_RANK", NULL);
	(void)unsetenv("TENON_LOCAL_SIZE");
	(void)unsetenv("TENON_LOCAL_JOB");
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		(void)setenv(names[i][0], names[i][1], 1);
	if (name && value)
		(void)setenv(name, value, 1);
	else if (name)
		(void)unsetenv(name);
}

static void a_step_of_one_machine_is_joined(void **state)
{
	static const struct {
		const char *name, *value;
		tn_status status;
		const char *part;
	} cases[] = {
		{NULL, NULL, TN_OK, NULL},
		{"SLURM_STEP_NUM_NODES", NULL, TN_OK, NULL},
		{"SLURM_RESTART_COUNT", NULL, TN_OK, NULL},
		{"SLURM_RESTART_COUNT", "x", TN_FORMAT, "SLURM_RESTART_COUNT is 'x'"},
		{"SLURM_STEP_NUM_NODES", "2", TN_REFUSED, "started 1 tasks on 2 machines"},
		{"SLURM_STEP_NUM_NODES", "x", TN_FORMAT, "SLURM_STEP_NUM_NODES is 'x'"},
		{"SLURM_STEP_NUM_TASKS", "129", TN_FORMAT, "SLURM_STEP_NUM_TASKS is '129'"},
		{"SLURM_PROCID", "1", TN_FORMAT, "SLURM_PROCID is '1'"},
		{"SLURM_JOB_ID", "../x", TN_FORMAT, "SLURM_JOB_ID is '../x'"},
		/* A batch script, which is no step. */
		{"SLURM_STEP_NUM_TASKS", NULL, TN_NOT_FOUND, "TENON_LOCAL_SIZE is not set"},
		{"SLURM_STEP_ID", NULL, TN_NOT_FOUND, "TENON_LOCAL_SIZE is not set"},
	};
	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rank rank;
		set_step(cases[i].name, cases[i].value);
		assert_status(rank_open(&rank, "local"), cases[i].status);
		if (cases[i].status)
			assert_contains(rank.error.text, cases[i].part);
		else
			rank_close(&rank);
	}
	set_step("SLURM_STEP_NUM_TASKS", NULL);
	set_variables("TENON_LOCAL_BYTES", NULL);
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

/* ---- What lies in the file's place -----------------------------------------------------------*/

static int make_file(mode_t mode, off_t bytes)
{
	const int file = open(file_name, O_RDWR | O_CREAT | O_EXCL, 0600);
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
	const int file = make_file(0640, 12);
	assert_status(rank_open(&rank, "local"), TN_REFUSED);
	assert_contains(rank.error.text, file_name);
	assert_contains(rank.error.text, "mode 0640");
	assert_int_equal(fstat(file, &found), 0);
	assert_int_equal(found.st_size, 12);
	assert_int_equal(found.st_nlink, 1);
	(void)close(file);
	(void)unlink(file_name);
}

static void a_symbolic_link_is_refused(void **state)
{
	char target[128];
	struct stat found;
	struct rank rank;
	(void)state;
	set_variables("TENON_LOCAL_RANK", "0");
	(void)snprintf(target, sizeof(target), "%s/target", folder);
	const int file = open(target, O_RDWR | O_CREAT | O_EXCL, 0600);
	assert_true(file >= 0);
	assert_int_equal(symlink(target, file_name), 0);
	assert_status(rank_open(&rank, "local"), TN_REFUSED);
	assert_int_equal(fstat(file, &found), 0);
	assert_int_equal(found.st_size, 0);
	(void)close(file);
	(void)unlink(file_name);
	(void)unlink(target);
}

static void memory_of_another_size_is_a_disagreement(void **state)
{
	struct rank rank;
	(void)state;
	set_variables("TENON_LOCAL_RANK", "0");
	(void)close(make_file(0600, 4096));
	assert_status(rank_open(&rank, "local"), TN_INVALID_ARGUMENT);
	assert_contains(rank.error.text, "4096 bytes");
	assert_contains(rank.error.text, "TENON_LOCAL_SIZE");
	(void)unlink(file_name);
}

/* Its maker has found no room: this rank, which has opened it, makes one of its own. */
static void a_file_without_a_size_that_is_removed_is_made_anew(void **state)
{
	const struct timespec pause = {0, 100000000};
	struct rank rank;
	(void)state;
	set_variables("TENON_LOCAL_RANK", "0");
	(void)close(make_file(0600, 0));
	const pid_t maker = fork();
	assert_true(maker >= 0);
	if (!maker) {
		(void)nanosleep(&pause, NULL);
		_exit(unlink(file_name) != 0);
	}
	assert_ok(rank_open(&rank, "local"));
	assert_ok(rank_run(&rank, &barrier));
	rank_close(&rank);
	assert_int_equal(waitpid(maker, NULL, 0), maker);
}

static void a_file_that_keeps_no_size_is_given_up(void **state)
{
	struct rank rank;
	(void)state;
	set_variables("TENON_COMMUNICATOR_TIMEOUT", "0.2");
	(void)close(make_file(0600, 0));
	assert_status(rank_open(&rank, "local"), TN_TIMED_OUT);
	assert_contains(rank.error.text, file_name);
	(void)unlink(file_name);
}

/* Files are limited to less than the memory of a rank. */
static void memory_without_room_is_refused_and_leaves_no_file(void **state)
{
	struct rlimit before, small;
	struct rank rank;
	(void)state;
	set_variables("TENON_LOCAL_RANK", "0");
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = (struct rlimit){.rlim_cur = 4096, .rlim_max = before.rlim_max};
	void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	tn_status status = rank_open(&rank, "local");
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	(void)signal(SIGXFSZ, handler);
	assert_status(status, TN_OUT_OF_MEMORY);
	assert_contains(rank.error.text, file_name);
	assert_contains(rank.error.text, "no room for");
	assert_true(access(file_name, F_OK) != 0);
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
	char name[256];
	struct rank rank;
	(void)number;
	(void)argument;
	(void)snprintf(name, sizeof(name), "%s/tenon-local-%s", folder, getenv("TENON_LOCAL_JOB"));
	if (rank_open(&rank, "local"))
		rank_fail(&rank, "open: %s", rank.error.text);
	if (!access(name, F_OK))
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

/* Where /dev/shm cannot be written, TMPDIR is taken, and then /tmp. */
static void without_a_folder_of_its_own_it_takes_the_first_that_can_be_written(void **state)
{
	static const char *const temporary[] = {NULL, "", "relative", "/nowhere/at/all"};
	(void)state;
	for (unsigned i = 0; i < sizeof(temporary) / sizeof(temporary[0]); i++) {
		struct rank rank;
		set_variables("TENON_LOCAL_DIR", NULL);
		if (temporary[i])
			(void)setenv("TMPDIR", temporary[i], 1);
		assert_ok(rank_open(&rank, "local"));
		assert_ok(rank_run(&rank, &barrier));
		rank_close(&rank);
	}
	(void)setenv("TENON_LOCAL_DIR", folder, 1);
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
		cmocka_unit_test(a_step_of_one_machine_is_joined),
		cmocka_unit_test(a_rank_alone_describes_itself_and_may_open_again),
		cmocka_unit_test(memory_that_others_may_open_is_refused_and_left_alone),
		cmocka_unit_test(a_symbolic_link_is_refused),
		cmocka_unit_test(memory_of_another_size_is_a_disagreement),
		cmocka_unit_test(a_file_without_a_size_that_is_removed_is_made_anew),
		cmocka_unit_test(a_file_that_keeps_no_size_is_given_up),
		cmocka_unit_test(memory_without_room_is_refused_and_leaves_no_file),
		cmocka_unit_test(a_rank_is_taken_once),
		cmocka_unit_test(the_name_is_gone_once_all_have_joined),
		cmocka_unit_test(
			without_a_folder_of_its_own_it_takes_the_first_that_can_be_written),
		cmocka_unit_test(arguments_are_checked_before_anything_is_sent),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
