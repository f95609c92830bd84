/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A folder of checkpoints: what is kept, what is skipped, and that no failure loses one.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "checkpoint_run.h"

static char messages[4096];

static void keep_message(void *user, int level, const char *subsystem, const char *text,
			 size_t length)
{
	size_t used = strlen(messages);
	(void)user;
	snprintf(messages + used, sizeof(messages) - used, "%d %s: %.*s\n", level, subsystem,
		 (int)length, text);
}

static char path[64];
static tn_context *context;
static struct run run;
static tn_checkpoint_folder *folder;

static void open_folder(int keep)
{
	struct tn_checkpoint_folder_options options = tn_checkpoint_folder_defaults();
	options.keep = keep;
	folder = tn_checkpoint_folder_open(context, path, &options);
	assert_non_null(folder);
}

static int setup(void **state)
{
	struct tn_context_options options = tn_context_defaults();
	options.log = keep_message;
	(void)state;
	assert_ok(tn_context_open(&options, &context, NULL));
	messages[0] = '\0';
	snprintf(path, sizeof(path), "%s", files_folder());
	run_begin(&run, context, RUN_SGD, 3);
	open_folder(2);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	tn_checkpoint_folder_close(folder);
	run_end(&run);
	tn_context_close(context);
	files_remove(path);
	return 0;
}

/* Saves after these steps; `metric` NAN: none. */
static void save(uint64_t step, double metric)
{
	run_until(&run, step);
	assert_ok(tn_checkpoint_folder_save(folder, step, metric, &run.all));
}

static void refuse(tn_status found, tn_status status, const char *words)
{
	assert_status(found, status);
	assert_non_null(tn_error(context));
	assert_contains(tn_error(context)->text, words);
	tn_error_clear(context);
}

/* The steps in the folder, in the order of the list; the best is in brackets, a damaged one has a
 * question mark. */
static void assert_steps(const char *expected)
{
	char found[256] = "";
	for (size_t i = 0; i < tn_checkpoint_folder_count(folder); i++) {
		struct tn_checkpoint_view view = {.struct_size = sizeof(view)};
		size_t at = strlen(found);
		assert_ok(tn_checkpoint_folder_at(folder, i, &view));
		assert_int_equal(access(view.path, F_OK), 0);
		snprintf(found + at, sizeof(found) - at, view.is_best ? "%s[%d]%s" : "%s%d%s",
			 i ? " " : "", (int)view.step, view.is_damaged ? "?" : "");
	}
	assert_string_equal(found, expected);
}

static void reopen(int keep)
{
	tn_checkpoint_folder_close(folder);
	open_folder(keep);
}

static void the_newest_and_the_best_are_kept(void **state)
{
	struct tn_checkpoint_view view = {.struct_size = sizeof(view)};
	uint64_t step = 0;
	(void)state;
	assert_steps("");
	refuse(tn_checkpoint_folder_load(folder, &run.all, &step), TN_NOT_FOUND,
	       "there is no checkpoint");
	save(1, 0.5);
	assert_steps("[1]");
	save(2, 0.25);
	save(3, NAN);
	save(4, 0.75);
	assert_steps("[2] 3 4");
	save(5, 0.25);
	assert_steps("[2] 4 5");
	/* The list comes from the files. */
	reopen(2);
	assert_steps("[2] 4 5");
	assert_int_equal(files_count(path), 4); /* with the lock */
	save(6, 0.1);
	assert_steps("5 [6]");
	assert_ok(tn_checkpoint_folder_at(folder, 1, &view));
	assert_contains(view.path, "/step-000000000006.safetensors");
	assert_close(view.metric, 0.1, 0);
	refuse(tn_checkpoint_folder_at(folder, 2, &view), TN_INVALID_ARGUMENT, "below 2, found 2");
	run_until(&run, 8);
	assert_ok(tn_checkpoint_folder_load(folder, &run.all, &step));
	assert_int_equal(step, 6);
	assert_int_equal(run.step, 6);
}

static void metrics_may_rise_and_all_may_be_kept(void **state)
{
	(void)state;
	tn_checkpoint_folder_close(folder);
	struct tn_checkpoint_folder_options options = tn_checkpoint_folder_defaults();
	options.keep = TN_NO_LIMIT;
	options.is_rising = 1;
	folder = tn_checkpoint_folder_open(context, path, &options);
	for (uint64_t step = 1; step < 6; step++)
		save(step, step == 2 ? 0.9 : 0.1);
	assert_steps("1 [2] 3 4 5");
	reopen(1);
	save(6, NAN);
	assert_steps("[1] 6"); /* now the lowest is the best */
}

/* The same step again: at the end of an epoch, and at an interrupt. */
static void a_step_is_replaced_and_keeps_its_metric(void **state)
{
	struct tn_checkpoint_view view = {.struct_size = sizeof(view)};
	(void)state;
	save(1, NAN);
	save(1, 0.5);
	save(1, NAN);
	assert_steps("[1]");
	reopen(2);
	assert_ok(tn_checkpoint_folder_at(folder, 0, &view));
	assert_close(view.metric, 0.5, 0);
	save(2, NAN);
	refuse(tn_checkpoint_folder_save(folder, 1, NAN, &run.all), TN_STATE,
	       "expected step 2 or a later one, as the folder has its checkpoint, found step 1");
	assert_steps("[1] 2");
}

/* ---- Two runs --------------------------------------------------------------------------------*/

/* The list of files grows by sixteen. */
static void a_step_is_replaced_in_a_full_list(void **state)
{
	struct tn_checkpoint_view view = {.struct_size = sizeof(view)};
	(void)state;
	reopen(-1);
	for (uint64_t step = 1; step <= 16; step++)
		save(step, NAN);
	save(16, 0.25);
	assert_int_equal(tn_checkpoint_folder_count(folder), 16);
	assert_ok(tn_checkpoint_folder_at(folder, 15, &view));
	assert_close(view.metric, 0.25, 0);
}

/* Such as a peak signal-to-noise ratio without noise. */
static void an_infinite_metric_is_one(void **state)
{
	(void)state;
	tn_checkpoint_folder_close(folder);
	for (int turn = 0; turn < 2; turn++) {
		struct tn_checkpoint_folder_options options = tn_checkpoint_folder_defaults();
		options.keep = 1;
		options.is_rising = 1;
		folder = tn_checkpoint_folder_open(context, path, &options);
		assert_non_null(folder);
		if (!turn) {
			save(1, INFINITY);
			save(2, 1);
		}
		assert_steps("[1] 2");
		if (!turn)
			tn_checkpoint_folder_close(folder);
	}
}

static void a_second_run_is_refused(void **state)
{
	char owner[64];
	(void)state;
	save(1, NAN);
	snprintf(owner, sizeof(owner), "another run saves its checkpoints here (process %ld on ",
		 (long)getpid());
	assert_null(tn_checkpoint_folder_open(context, path, NULL));
	refuse(tn_error(context)->status, TN_STATE, owner);
	/* It may look, and load. */
	struct tn_checkpoint_folder_options options = tn_checkpoint_folder_defaults();
	options.is_read_only = 1;
	tn_checkpoint_folder *reader = tn_checkpoint_folder_open(context, path, &options);
	assert_int_equal(tn_checkpoint_folder_count(reader), 1);
	assert_ok(tn_checkpoint_folder_load(reader, &run.all, NULL));
	refuse(tn_checkpoint_folder_save(reader, 2, NAN, &run.all), TN_STATE, "read-only");
	tn_checkpoint_folder_close(reader);
	/* The lock ends with a process that is killed. */
	tn_checkpoint_folder_close(folder);
	folder = NULL;
	pid_t child = fork();
	if (!child) {
		int fd = open(files_path(path, "tenon.lock"), O_RDWR);
		flock(fd, LOCK_EX);
		raise(SIGKILL);
	}
	waitpid(child, NULL, 0);
	open_folder(2);
}

/* Neither does a child take the lock away by closing its copy, nor keep it by living on. */
static void the_lock_is_that_of_the_process_that_opened(void **state)
{
	int ends[2];
	char byte;
	(void)state;
	pid_t child = fork();
	if (!child) {
		tn_checkpoint_folder_close(folder);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	assert_null(tn_checkpoint_folder_open(context, path, NULL));
	refuse(tn_error(context)->status, TN_STATE, "another run");
	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (!child) {
		close(ends[1]);
		_exit(read(ends[0], &byte, 1) != 0);
	}
	close(ends[0]);
	reopen(2);
	close(ends[1]);
	waitpid(child, NULL, 0);
}

static void a_folder_is_made_where_it_can_be(void **state)
{
	char inner[80], far[80], above[80];
	(void)state;
	snprintf(inner, sizeof(inner), "%s/new", path);
	snprintf(above, sizeof(above), "%s/a", path);
	snprintf(far, sizeof(far), "%s/a//new/", path);
	tn_checkpoint_folder *made = tn_checkpoint_folder_open(context, inner, NULL);
	assert_non_null(made);
	tn_checkpoint_folder_close(made);
	unlink(files_path(inner, "tenon.lock"));
	assert_int_equal(rmdir(inner), 0);
	made = tn_checkpoint_folder_open(context, far, NULL);
	assert_non_null(made);
	tn_checkpoint_folder_close(made);
	unlink(files_path(far, "tenon.lock"));
	assert_int_equal(rmdir(far), 0);
	assert_int_equal(rmdir(above), 0);
	struct tn_checkpoint_folder_options options = tn_checkpoint_folder_defaults();
	options.is_read_only = 1;
	assert_null(tn_checkpoint_folder_open(context, inner, &options));
	refuse(tn_error(context)->status, TN_NOT_FOUND, "new: No such file");
	save(1, NAN);
	struct tn_checkpoint_view view = {.struct_size = sizeof(view)};
	assert_ok(tn_checkpoint_folder_at(folder, 0, &view));
	assert_null(tn_checkpoint_folder_open(context, view.path, NULL));
	refuse(tn_error(context)->status, TN_IO, "expected a folder, found a file");
	char below[200];
	snprintf(below, sizeof(below), "%s/new", view.path);
	assert_null(tn_checkpoint_folder_open(context, below, NULL));
	refuse(tn_error(context)->status, TN_IO, "new: the folder cannot be made: Not a directory");
}

/* ---- Damage ----------------------------------------------------------------------------------*/

/* Cuts the file of a step. */
static void tear(int step)
{
	char name[64];
	snprintf(name, sizeof(name), "step-%012d.safetensors", step);
	assert_int_equal(truncate(files_path(path, name), 1000), 0);
}

static void a_torn_file_is_skipped(void **state)
{
	uint64_t step = 0;
	(void)state;
	save(1, NAN);
	save(2, NAN);
	tear(2);
	assert_ok(tn_checkpoint_folder_load(folder, &run.all, &step));
	assert_int_equal(step, 1);
	assert_int_equal(run.step, 1);
	assert_contains(messages, "2 checkpoint: skipped: ");
	assert_contains(messages, "step-000000000002.safetensors");
	assert_steps("1 2?");
	reopen(2);
	assert_steps("1 2?");
	/* It is replaced when the training comes there again. */
	save(2, NAN);
	assert_steps("1 2");
	/* Damaged files do not count, and are not removed. */
	tear(2);
	reopen(1);
	save(3, NAN);
	assert_steps("2? 3");
	tear(3);
	refuse(tn_checkpoint_folder_load(folder, &run.all, &step), TN_FORMAT,
	       "none of 2 files can be loaded");
}

/* Whose header is whole, and whose numbers are finite. */
static void a_file_with_a_flipped_bit_is_skipped(void **state)
{
	size_t size;
	uint64_t step = 0;
	(void)state;
	save(1, NAN);
	save(2, NAN);
	const char *file = files_path(path, "step-000000000002.safetensors");
	unsigned char *bytes = files_read(file, &size);
	bytes[size - 1] ^= 1;
	files_write(file, bytes, size);
	free(bytes);
	reopen(2);
	assert_steps("1 2");
	assert_ok(tn_checkpoint_folder_load(folder, &run.all, &step));
	assert_int_equal(step, 1);
	assert_contains(messages, "2 checkpoint: skipped: ");
	assert_contains(messages, "expected the checksum ");
	assert_steps("1 2?");
}

/* Also one whose metric was read when it was whole. */
static void a_torn_file_is_not_the_best(void **state)
{
	(void)state;
	save(1, 0.5);
	save(2, 0.25);
	tear(2);
	assert_ok(tn_checkpoint_folder_load(folder, &run.all, NULL));
	assert_steps("[1] 2?");
	save(3, 0.75);
	save(4, 0.75);
	save(5, 0.75);
	assert_steps("[1] 2? 4 5");
}

static void no_path_is_an_error_that_is_kept(void **state)
{
	(void)state;
	assert_null(tn_checkpoint_folder_open(context, NULL, NULL));
	refuse(tn_error(context)->status, TN_INVALID_ARGUMENT, "expected a path, found NULL");
}

static void foreign_files_stay(void **state)
{
	static const char *const names[] = {"step-000000000009.safetensors",
					    "step-9.safetensors",
					    "step-x",
					    "step-000000000009.txt",
					    "step--00000000009.safetensors",
					    "net.safetensors",
					    "tenon-0123456789abcde.tmp"};
	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		files_write(files_path(path, names[i]), "mine", 4);
	reopen(1);
	assert_steps("9?");
	for (uint64_t step = 1; step < 4; step++)
		save(step, NAN);
	assert_steps("3 9?");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(access(files_path(path, names[i]), F_OK), 0);
}

static void what_a_newer_version_wrote_stays(void **state)
{
	static const struct tn_metadata_entry newer = {"tenon.checkpoint", "2"};
	static const char name[] = "step-000000000002.safetensors";
	struct tn_error_info error;
	(void)state;
	save(1, NAN);
	assert_ok(tn_safetensors_write(files_path(path, name), NULL, 0, &newer, 1, &error));
	reopen(1);
	assert_steps("1 2?");
	run_until(&run, 2);
	refuse(tn_checkpoint_folder_save(folder, 2, NAN, &run.all), TN_STATE,
	       "expected a step after 2, whose checkpoint a newer version of Tenon wrote");
	save(3, NAN);
	assert_steps("2? 3");
	reopen(1);
	assert_steps("2? 3");
}

/* Not skipped: an older one would be as wrong. */
static void a_checkpoint_of_another_network_is_an_error(void **state)
{
	(void)state;
	save(1, NAN);
	tn_module *other = run_net(context, 3);
	const struct tn_checkpoint all = {.struct_size = sizeof(all), .module = other};
	refuse(tn_checkpoint_folder_load(folder, &all, NULL), TN_SHAPE, "expected shape");
	assert_string_equal(messages, "");
	tn_module_destroy(other);
}

/* ---- Failures --------------------------------------------------------------------------------*/

/* Temporary files of killed processes; not one that is being written. */
static void remnants_are_removed(void **state)
{
	static const char remnant[] = "tenon-0123456789abcdef.tmp",
			  busy[] = "tenon-0123456789abcdee.tmp";
	(void)state;
	files_write(files_path(path, remnant), "x", 1);
	files_write(files_path(path, busy), "x", 1);
	int fd = open(files_path(path, busy), O_RDONLY);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	reopen(2);
	assert_int_equal(access(files_path(path, remnant), F_OK), -1);
	assert_int_equal(access(files_path(path, busy), F_OK), 0);
	close(fd);
}

/* In a folder that others can write, one could lead to a file of the user's. */
static void a_link_in_place_of_the_lock_is_not_followed(void **state)
{
	static const char text[] = "precious";
	char other[200], found[sizeof(text)] = "";
	(void)state;
	tn_checkpoint_folder_close(folder);
	folder = NULL;
	snprintf(other, sizeof(other), "%s", files_path(path, "other"));
	files_write(other, text, sizeof(text));
	assert_int_equal(unlink(files_path(path, "tenon.lock")), 0);
	assert_int_equal(symlink(other, files_path(path, "tenon.lock")), 0);
	assert_null(tn_checkpoint_folder_open(context, path, NULL));
	refuse(tn_error(context)->status, TN_IO, "tenon.lock: Too many levels of symbolic links");
	int fd = open(other, O_RDONLY);
	assert_int_equal(read(fd, found, sizeof(found)), sizeof(found));
	assert_string_equal(found, text);
	close(fd);
	unlink(files_path(path, "tenon.lock"));
	unlink(other);
	open_folder(2);
}

static void a_full_disk_loses_nothing(void **state)
{
	struct rlimit old;
	uint64_t step = 0;
	(void)state;
	save(1, 0.5);
	save(2, 0.7);
	run_until(&run, 3);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	const struct rlimit limit = {.rlim_cur = 4096, .rlim_max = old.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	tn_status status = tn_checkpoint_folder_save(folder, 3, 0.1, &run.all);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	signal(SIGXFSZ, SIG_DFL);
	refuse(status, TN_IO, "step-000000000003.safetensors: writing: File too large");
	assert_steps("[1] 2");
	assert_int_equal(files_count(path), 3); /* with the lock, without a temporary file */
	assert_ok(tn_checkpoint_folder_load(folder, &run.all, &step));
	assert_int_equal(step, 2);
	save(3, 0.1);
	assert_steps("2 [3]");
}

static void a_diverged_training_displaces_no_checkpoint(void **state)
{
	const float nan[] = {0, NAN, 0};
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	(void)state;
	save(1, NAN);
	save(2, NAN);
	assert_ok(tn_module_parameter(run.net, "fc.bias", &view));
	assert_ok(tn_assign_host(view.value, nan, sizeof(nan)));
	refuse(tn_checkpoint_folder_save(folder, 3, NAN, &run.all), TN_NOT_FINITE, "fc.bias");
	assert_steps("1 2");
	assert_ok(tn_checkpoint_folder_load(folder, &run.all, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_newest_and_the_best_are_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(metrics_may_rise_and_all_may_be_kept, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_step_is_replaced_and_keeps_its_metric, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_step_is_replaced_in_a_full_list, setup, teardown),
		cmocka_unit_test_setup_teardown(an_infinite_metric_is_one, setup, teardown),
		cmocka_unit_test_setup_teardown(a_second_run_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(the_lock_is_that_of_the_process_that_opened, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_folder_is_made_where_it_can_be, setup, teardown),
		cmocka_unit_test_setup_teardown(a_torn_file_is_skipped, setup, teardown),
		cmocka_unit_test_setup_teardown(a_file_with_a_flipped_bit_is_skipped, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_torn_file_is_not_the_best, setup, teardown),
		cmocka_unit_test_setup_teardown(no_path_is_an_error_that_is_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(foreign_files_stay, setup, teardown),
		cmocka_unit_test_setup_teardown(what_a_newer_version_wrote_stays, setup, teardown),
		cmocka_unit_test_setup_teardown(a_checkpoint_of_another_network_is_an_error, setup,
						teardown),
		cmocka_unit_test_setup_teardown(remnants_are_removed, setup, teardown),
		cmocka_unit_test_setup_teardown(a_link_in_place_of_the_lock_is_not_followed, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_full_disk_loses_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(a_diverged_training_displaces_no_checkpoint, setup,
						teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
