/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Plugins that crash, hang or end the process, in `create` or when they are mapped: which
 * selections run them, and which keep them out.  Each attempt has a process of its own.  One that
 * hangs is named in the log.
 */
#include "loader_fixture.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "reference/backend.h"

static const struct {
	const char *fixture;
	const char *early; /* what its constructor does */
	int hangs;
} bad[] = {
	{"crashes", NULL, 0},  {"exits", NULL, 0},   {"hangs", NULL, 1},
	{"early", "abort", 0}, {"early", "exit", 0}, {"early", "hang", 1},
};

static const struct {
	const char *selection; /* %s: the bad one */
	const char *reason;    /* NULL: it is loaded */
	const char *kind;      /* in the data file of the bad one; NULL: it has none */
} rows[] = {
	{"ok!", "excluded by backend=ok!", NULL},
	{"reference!", "excluded by backend=reference!", NULL},
	{"two_devices:1!", "excluded by backend=two_devices:1!", NULL},
	{"absent,two_devices,ok!", "excluded by backend=absent,two_devices,ok!", NULL},
	{"^%s", "excluded by '^", NULL},
	{"ok,^%s", "excluded by '^", NULL},
	{"ok,reference!", "excluded by backend=ok,reference!", NULL},
	{"%s", NULL, NULL},
	{"ok", NULL, NULL},
	{"ok,reference", NULL, NULL},
	{"auto", NULL, NULL},
	{"gpu", NULL, NULL},
	{"gpu!", NULL, NULL},
	{"pci:0000:01:00.0", NULL, NULL},
	{"uuid:09000000-0000-0000-0000-000000000000!", NULL, NULL},
	{"gpu!", "excluded by backend=gpu!", "cpu"},
	{"accelerator,ok!", "excluded by backend=accelerator,ok!", "cpu"},
	{"pci:0000:01:00.0!", "excluded by backend=pci:", "cpu"},
	{"uuid:09000000-0000-0000-0000-000000000000!", "excluded by backend=uuid:", "cpu"},
	{"accelerator!", "excluded by backend=accelerator!", "gpu"},
	{"gpu!", NULL, "gpu"},
	{"gpu!", NULL, "integrated-gpu"},
	{"gpu", NULL, "cpu"},
	{"pci:0000:01:00.0!", NULL, "accelerator"},
};

static void open_with_reference(struct opened *opened, const char *selection)
{
	static const struct tn_backend_descriptor *const built_in[] = {&tn_reference_backend};
	prepare(opened);
	opened->options.built_in = built_in;
	opened->options.n_built_in = 1;
	opened->options.selection = selection;
	open_prepared(opened);
}

/* Writes the row's text and ends, if it comes so far. */
static void attempt(const char *selection, const char *name, int is_to_hang, int fd)
{
	const struct rlimit no_core = {0, 0};
	const struct itimerval soon = {.it_value = {.tv_usec = 50000}};
	struct opened opened;
	setrlimit(RLIMIT_CORE, &no_core);
	signal(SIGSEGV, SIG_DFL);
	signal(SIGABRT, SIG_DFL);
	if (is_to_hang)
		setitimer(ITIMER_REAL, &soon, NULL);
	open_with_reference(&opened, selection);
	const struct tn_load_row *row = tn_load_report_find(opened.report, name);
	if (row && row->status == TN_EXCLUDED && row->stage == TN_STAGE_SEARCH &&
	    write(fd, row->text, strlen(row->text)) > 0)
		_exit(0);
	_exit(1);
}

/* The row's text; "": the process has ended before. */
static void run(const char *selection, const char *name, int is_to_hang, char text[256])
{
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	fflush(NULL);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		attempt(selection, name, is_to_hang, ends[1]);
	close(ends[1]);
	ssize_t n = read(ends[0], text, 255);
	text[n > 0 ? n : 0] = '\0';
	close(ends[0]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* NULL removes it. */
static void put_data_file(const char *name, const char *kind)
{
	char file[80], text[128];
	snprintf(file, sizeof(file), "backends.d/%s.backend", name);
	snprintf(text, sizeof(text), "name = %s\nkind = %s\n", name, kind ? kind : "");
	if (kind)
		write_file(file, text, strlen(text));
	else
		remove(in_folder(file));
}

static void only_a_selection_that_can_mean_a_plugin_runs_it(void **state)
{
	char mark[300], selection[128], text[256];
	(void)state;
	snprintf(mark, sizeof(mark), "%s", in_folder("mark"));
	setenv("TENON_TEST_MARK", mark, 1);
	put("ok");
	put("two_devices");
	assert_int_equal(mkdir(in_folder("backends.d"), 0700), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char file[64];
		const int is_early = bad[i].early != NULL;
		setenv("TENON_TEST_EARLY", is_early ? bad[i].early : "", 1);
		put(bad[i].fixture);
		for (size_t j = 0; j < sizeof(rows) / sizeof(rows[0]); j++) {
			const int runs = !rows[j].reason;
			snprintf(selection, sizeof(selection), rows[j].selection, bad[i].fixture);
			put_data_file(bad[i].fixture, rows[j].kind);
			run(selection, bad[i].fixture, bad[i].hangs && runs, text);
			if (runs ? text[0] != '\0' : !strstr(text, rows[j].reason))
				print_error("%s under '%s': '%s'\n", bad[i].fixture, selection,
					    text);
			assert_int_equal(text[0] == '\0', runs);
			if (!runs)
				assert_contains(text, rows[j].reason);
			assert_int_equal(remove(mark) == 0, is_early && runs);
		}
		snprintf(file, sizeof(file), "backend_%s.so", bad[i].fixture);
		remove(in_folder(file));
		put_data_file(bad[i].fixture, NULL);
	}
	unsetenv("TENON_TEST_EARLY");
}

static void write_message(void *user, int level, const char *subsystem, const char *text,
			  size_t length)
{
	(void)subsystem;
	if (level == TN_LOG_WARNING && strstr(text, "still waiting") &&
	    write(*(int *)user, text, length) > 0)
		_exit(0);
}

static void one_that_hangs_is_named(void **state)
{
	static const struct {
		const char *fixture, *early, *stage;
	} hanging[] = {{"hangs", NULL, "create"}, {"early", "hang", "open"}};
	(void)state;
	for (size_t i = 0; i < sizeof(hanging) / sizeof(hanging[0]); i++) {
		char text[512], expected[128];
		int ends[2];
		setenv("TENON_TEST_EARLY", hanging[i].early ? hanging[i].early : "", 1);
		put(hanging[i].fixture);
		assert_int_equal(pipe(ends), 0);
		fflush(NULL);
		pid_t pid = fork();
		assert_true(pid >= 0);
		if (pid == 0) {
			struct opened opened;
			prepare(&opened);
			opened.logger.callback = write_message;
			opened.logger.user = &ends[1];
			opened.options.patience_ms = 20;
			opened.options.selection = hanging[i].fixture;
			open_prepared(&opened);
			_exit(1);
		}
		close(ends[1]);
		ssize_t n = read(ends[0], text, sizeof(text) - 1);
		text[n > 0 ? n : 0] = '\0';
		close(ends[0]);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		snprintf(expected, sizeof(expected),
			 "backend_%s.so: still waiting for its stage '%s'; '^%s' in TENON_BACKEND",
			 hanging[i].fixture, hanging[i].stage, hanging[i].fixture);
		assert_contains(text, expected);
		snprintf(expected, sizeof(expected), "backend_%s.so", hanging[i].fixture);
		remove(in_folder(expected));
	}
	unsetenv("TENON_TEST_EARLY");
}

static void a_harmless_file_is_mapped_only_if_it_may_be_used(void **state)
{
	struct opened opened;
	(void)state;
	setenv("TENON_TEST_MARK", in_folder("mark"), 1);
	put("ok");
	put("early");
	open_with_reference(&opened, "ok!");
	assert_ok(opened.status);
	assert_int_equal(row_of(&opened, "early")->status, TN_EXCLUDED);
	assert_int_equal(row_of(&opened, "reference")->status, TN_EXCLUDED);
	assert_string_equal(row_of(&opened, "ok")->text, "");
	assert_int_not_equal(access(in_folder("mark"), F_OK), 0);
	assert_int_equal(opened.n_messages, 0);
	release(&opened);
	open_with_reference(&opened, "ok");
	assert_int_equal(access(in_folder("mark"), F_OK), 0);
	release(&opened);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(only_a_selection_that_can_mean_a_plugin_runs_it,
						make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(one_that_hangs_is_named, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(a_harmless_file_is_mapped_only_if_it_may_be_used,
						make_folder, remove_folder),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
