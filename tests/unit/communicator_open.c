/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Which communicator is opened, and why it is not.
 */
#include "communicator_fixture.h"

/* The data file of the fixture, whose launcher sets A_SIZE and A_RANK. */
static void know_fake(void)
{
	write_text("communicators.d/fake.communicator",
		   "# of tests\nname = fake\npackages = libfake, fake-bin\nlauncher = fakerun\n"
		   "size = A_SIZE\nrank = A_RANK\nfuture = ignored\n");
}

static void know_other(void)
{
	write_text("communicators.d/other.communicator",
		   "name = other\npackages = libother\nlauncher = otherrun\nsize = B_SIZE\n"
		   "rank = B_RANK\nlauncher = its manager\nsize = A_SIZE\nrank = C_RANK\n");
}

static void launch(const char *letter, const char *size, const char *rank)
{
	char name[16];
	snprintf(name, sizeof(name), "%s_SIZE", letter);
	setenv(name, size, 1);
	snprintf(name, sizeof(name), "%s_RANK", letter);
	setenv(name, rank, 1);
}

static void without_a_launcher_there_is_one_rank(void **state)
{
	(void)state;
	know_fake();
	assert_ok(open_ranks());
	assert_string_equal(tn_communicator_name(ranks), "none");
	assert_int_equal(tn_communicator_size(ranks), 1);
	assert_int_equal(tn_communicator_rank(ranks), 0);
	assert_int_equal(tn_communicator_local_size(ranks), 1);
	assert_true(tn_communicator_describe(ranks)->flags & TN_COMMUNICATOR_ORDERED);
	const struct tn_load_row *row = tn_load_report_find(tn_communicator_report(ranks), "fake");
	assert_int_equal(row->status, TN_NO_PLUGIN);
	assert_string_equal(row->hardware, "fakerun");
	assert_false(row->hardware_seen);
	assert_string_equal(messages, "");
}

static void a_launcher_of_one_rank_counts_as_none(void **state)
{
	(void)state;
	know_fake();
	launch("A", "1", "0");
	assert_ok(open_ranks());
	assert_string_equal(tn_communicator_name(ranks), "none");
}

static void the_launcher_chooses(void **state)
{
	(void)state;
	know_fake();
	know_other();
	put("communicator_fake.so");
	launch("A", "4", "1");
	assert_ok(open_ranks());
	assert_string_equal(tn_communicator_name(ranks), "fake");
	assert_int_equal(tn_communicator_size(ranks), 4);
	assert_int_equal(tn_communicator_rank(ranks), 1);
	assert_string_equal(tn_communicator_describe(ranks)->engine, "Fake 1.0");
	const struct tn_load_row *row = tn_load_report_find(tn_communicator_report(ranks), "fake");
	assert_int_equal(row->status, TN_OK);
	assert_int_equal(row->stage, TN_STAGE_READY);
	assert_true(row->hardware_seen);
	close_ranks();
	launch("A", "000000000004", "000000000001");
	assert_ok(open_ranks());
	assert_int_equal(tn_communicator_size(ranks), 4);
	assert_int_equal(tn_communicator_rank(ranks), 1);
}

static void of_several_launchers_the_first_counts(void **state)
{
	(void)state;
	know_other();
	setenv("A_SIZE", "4", 1);
	setenv("C_RANK", "1", 1);
	assert_status(open_ranks(), TN_NO_PLUGIN);
	assert_contains(error.text, "its manager has started 4 ranks");
	close_ranks();
	/* mpirun -n 1 below a manager that has started four of it. */
	launch("B", "1", "0");
	assert_ok(open_ranks());
	assert_string_equal(tn_communicator_name(ranks), "none");
}

static void an_absent_plugin_is_named_with_launcher_and_packages(void **state)
{
	(void)state;
	know_fake();
	launch("A", "4", "1");
	assert_status(open_ranks(), TN_NO_PLUGIN);
	assert_string_equal(error.operation, "communicator_open");
	assert_contains(error.text, "fakerun has started 4 ranks");
	assert_contains(error.text, "no file communicator_fake.so was found");
	assert_contains(error.text, "install libfake, fake-bin");
}

static void the_variable_and_the_option_win(void **state)
{
	const struct tn_communicator_options none = {.struct_size = sizeof(none), .name = "none"};
	(void)state;
	put("communicator_fake.so");
	know_other();
	launch("B", "4", "1");
	setenv("TENON_COMMUNICATOR", "fake", 1);
	assert_ok(open_ranks());
	assert_string_equal(tn_communicator_name(ranks), "fake");
	tn_communicator_close(ranks);
	/* Who asks for one rank gets it, whatever the launcher says. */
	assert_ok(tn_communicator_open(ctx, &none, &ranks, &error));
	assert_string_equal(tn_communicator_name(ranks), "none");
}

static void unknown_and_impossible_names_fail(void **state)
{
	(void)state;
	put("communicator_fake.so");
	setenv("TENON_COMMUNICATOR", "fakes", 1);
	assert_status(open_ranks(), TN_NO_PLUGIN);
	assert_contains(error.text,
			"no file communicator_fakes.so was found; did you mean 'fake'?");
	close_ranks();
	setenv("TENON_COMMUNICATOR", "Open MPI", 1);
	assert_status(open_ranks(), TN_FORMAT);
	assert_string_equal(error.operation, "TENON_COMMUNICATOR");
}

static void two_launchers_need_a_decision(void **state)
{
	(void)state;
	know_fake();
	know_other();
	put("communicator_fake.so");
	launch("A", "4", "1");
	launch("B", "4", "1");
	assert_status(open_ranks(), TN_REFUSED);
	assert_contains(error.text, "fakerun and otherrun: TENON_COMMUNICATOR=fake or other");
	close_ranks();
	setenv("TENON_COMMUNICATOR", "fake", 1);
	assert_ok(open_ranks());
}

/* One that only starts processes counts unless another one has started this process, if only as one
 * rank. */
static void a_launcher_that_connects_nothing_comes_last(void **state)
{
	static const char *const others[] = {NULL, "1", "4"};
	(void)state;
	write_text("communicators.d/fake.communicator",
		   "name = fake\nlauncher = starter\nsize = A_SIZE\nrank = A_RANK\n"
		   "fallback = yes\n");
	know_other();
	put("communicator_fake.so");
	launch("A", "4", "1");
	for (int i = 0; i < 3; i++) {
		if (others[i])
			launch("B", others[i], "0");
		const tn_status status = open_ranks();
		if (i == 2)
			assert_contains(error.text, "otherrun has started 4 ranks");
		else
			assert_ok(status);
		if (i < 2)
			assert_string_equal(tn_communicator_name(ranks), i ? "none" : "fake");
		close_ranks();
	}
}

static void variables_that_are_no_ranks_are_ignored_with_a_warning(void **state)
{
	static const char *const wrong[][2] = {{"x", "0"},          {"4", "4"}, {"4", "-1"},
					       {"0", "0"},          {"", ""},   {"4", ""},
					       {"99999999999", "0"}};
	(void)state;
	know_fake();
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		launch("A", wrong[i][0], wrong[i][1]);
		messages[0] = '\0';
		assert_ok(open_ranks());
		assert_string_equal(tn_communicator_name(ranks), "none");
		assert_contains(messages, "fakerun: A_SIZE and A_RANK are ignored");
		close_ranks();
	}
}

static void another_launchers_ranks_are_refused(void **state)
{
	(void)state;
	know_fake();
	know_other();
	put("communicator_fake.so");
	launch("B", "4", "1");
	setenv("TENON_COMMUNICATOR", "fake", 1);
	setenv("FAKE_SIZE", "1", 1);
	assert_status(open_ranks(), TN_REFUSED);
	assert_contains(error.text, "otherrun has started 4 ranks (B_SIZE)");
	assert_contains(error.text, "communicator fake (Fake 1.0) connects 1");
}

static void its_own_launcher_must_have_started_that_number(void **state)
{
	(void)state;
	know_fake();
	put("communicator_fake.so");
	launch("A", "3", "1");
	assert_status(open_ranks(), TN_REFUSED);
	assert_contains(error.text, "fakerun has started 3 ranks");
	assert_contains(error.text, "connects 4");
}

static void simulated_faults_name_the_variable(void **state)
{
	(void)state;
	know_fake();
	put("communicator_fake.so");
	launch("A", "4", "1");
	setenv("TENON_SIMULATE", "fake:missing-library", 1);
	assert_status(open_ranks(), TN_MISSING_LIBRARY);
	assert_contains(error.text,
			"simulated by TENON_SIMULATE; its packages are libfake, fake-bin");
}

static void a_simulated_communicator_is_no_backend(void **state)
{
	(void)state;
	know_fake();
	setenv("TENON_SIMULATE", "fake:no-driver,other:no-device", 1);
	assert_ok(open_ranks());
	assert_null(tn_load_report_find(tn_context_report(ctx), "fake"));
	assert_non_null(tn_load_report_find(tn_context_report(ctx), "other"));
	assert_status(tn_load_report_find(tn_communicator_report(ranks), "fake")->status,
		      TN_NO_DRIVER);
}

static void refused(const char *name, tn_status status, const char *reason)
{
	setenv("TENON_COMMUNICATOR", name, 1);
	assert_status(open_ranks(), status);
	assert_contains(error.text, reason);
	close_ranks();
}

static void broken_files_are_refused_with_the_reason(void **state)
{
	(void)state;
	put("communicator_later.so");
	put("communicator_many_flags.so");
	put("communicator_no_test.so");
	put("communicator_tableless.so");
	refused("later", TN_ABI_MISMATCH, "made for interface 0.7, this library has 0.2");
	refused("many_flags", TN_ABI_MISMATCH, "flags 0x200: expected bits of 0x1");
	refused("no_test", TN_BAD_PLUGIN,
		"table tenon.communicator/1: test is mandatory, found NULL");
	refused("tableless", TN_BAD_PLUGIN, "it has no table tenon.communicator/1");
}

static void a_backend_is_no_communicator_and_the_reverse(void **state)
{
	(void)state;
	put_as("backend_ok.so", "communicator_ok.so");
	put_as("communicator_fake.so", "backend_fake.so");
	put_as("communicator_fake.so", "communicator_renamed.so");
	refused("ok", TN_BAD_PLUGIN,
		"its Tenon note is that of a backend, whose file name is backend_NAME.so");
	refused("renamed", TN_BAD_PLUGIN, "the descriptor's name is 'fake', the file's 'renamed'");
	unsetenv("TENON_COMMUNICATOR");
	assert_ok(open_ranks());
	const struct tn_load_row *row = tn_load_report_find(tn_context_report(ctx), "fake");
	assert_int_equal(row->status, TN_BAD_PLUGIN);
	assert_string_equal(row->text,
			    "its Tenon note is that of a communicator, whose file name is "
			    "communicator_NAME.so");
	assert_null(tn_load_report_find(tn_context_report(ctx), "ok"));
}

static void failures_of_the_plugin_are_named(void **state)
{
	(void)state;
	put("communicator_fake.so");
	setenv("FAKE_FAULT", "open", 1);
	refused("fake", TN_BACKEND_FAILURE,
		"communicator fake cannot join the other ranks: nobody is there");
	assert_int_equal(error.native_code, 77);
	setenv("FAKE_FAULT", "second", 1);
	refused("fake", TN_STATE, "an instance lives already");
	setenv("FAKE_FAULT", "describe", 1);
	refused("fake", TN_BAD_PLUGIN, "describes itself as rank 4 of 4");
}

static void timeouts_are_checked(void **state)
{
	struct tn_communicator_options options = {.struct_size = sizeof(options), .timeout = -1};
	(void)state;
	open_context(0);
	assert_int_equal(tn_communicator_open(ctx, &options, &ranks, &error), TN_INVALID_ARGUMENT);
	close_ranks();
	setenv("TENON_COMMUNICATOR_TIMEOUT", "soon", 1);
	assert_status(open_ranks(), TN_FORMAT);
	assert_string_equal(error.operation, "TENON_COMMUNICATOR_TIMEOUT");
	assert_contains(error.text, "expected seconds, more than 0, found 'soon'");
}

static void malformed_data_files_are_left_out(void **state)
{
	(void)state;
	write_text("communicators.d/a.communicator", "name = a\nsize = A_SIZE\n");
	write_text("communicators.d/b.communicator", "name = b\nlauncher = run\nsize = A_SIZE\n");
	write_text("communicators.d/c.communicator",
		   "launcher = run\nsize = A_SIZE\nrank = A_RANK\n");
	write_text("communicators.d/d.communicator", "name = d\n");
	assert_ok(open_ranks());
	assert_contains(messages, "a.communicator:2: expected a line 'launcher = ...' before");
	assert_contains(messages, "b.communicator:3: expected the lines 'size = ...' and");
	assert_contains(messages, "c.communicator:3: expected a line 'name = ...'");
	assert_null(tn_load_report_find(tn_communicator_report(ranks), "a"));
	assert_non_null(tn_load_report_find(tn_communicator_report(ranks), "d"));
}

/* Opens fake with n options of the program. */
static tn_status open_with(const struct tn_pair *pairs, size_t n)
{
	struct tn_communicator_options options = tn_communicator_defaults();
	options.name = "fake";
	options.communicator_options = pairs;
	options.n_communicator_options = n;
	setenv("TENON_LOG", "info", 1);
	open_context(0);
	return tn_communicator_open(ctx, &options, &ranks, &error);
}

static void the_program_sets_options(void **state)
{
	const struct tn_pair pairs[] = {{"fake.size", "5"}, {"other.way", "1"}};
	(void)state;
	put("communicator_fake.so");
	setenv("FAKE_SIZE", "3", 1);
	assert_ok(open_with(pairs, 2));
	assert_int_equal(tn_communicator_size(ranks), 5);
	assert_contains(messages, "option other.way is not used: communicator other is not loaded");
	const struct tn_load_row *row = tn_load_report_find(tn_communicator_report(ranks), "fake");
	assert_int_equal(row->n_options, 1);
	assert_string_equal(row->options[0]->value, "5");
	assert_string_equal(row->options[0]->origin, "program");
	close_ranks();
	assert_ok(open_with(NULL, 0));
	assert_int_equal(tn_communicator_size(ranks), 3);
}

static void wrong_options_are_refused(void **state)
{
	static const struct {
		struct tn_pair pair;
		tn_status status;
		const char *operation, *text;
	} cases[] = {
		{{"fake.sizx", "5"},
		 TN_NOT_FOUND,
		 "communicator_options",
		 "communicator fake has no option 'sizx'; did you mean 'fake.size'?"},
		{{"fake.size", "0"},
		 TN_INVALID_ARGUMENT,
		 "communicator_options",
		 "option fake.size: expected a whole number from 1 to 100, found '0'"},
		{{".size", "1"},
		 TN_FORMAT,
		 "communicator_options",
		 "column 1 of '.size': expected a communicator's name, found '.'"},
		{{"fake.size", NULL},
		 TN_INVALID_ARGUMENT,
		 "communicator_open",
		 "communicator_options[0]: its value is NULL"},
	};
	(void)state;
	put("communicator_fake.so");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_status(open_with(&cases[i].pair, 1), cases[i].status);
		assert_string_equal(error.operation, cases[i].operation);
		assert_contains(error.text, cases[i].text);
		close_ranks();
	}
	assert_status(open_with(NULL, 2), TN_INVALID_ARGUMENT);
	close_ranks();
	setenv("FAKE_SIZE", "many", 1);
	assert_status(open_with(NULL, 0), TN_PROBE_FAILED);
	assert_contains(error.text, "FAKE_SIZE (fake.size): expected a whole number");
}

/* An engine that a process has once is not opened for it. */
static void the_list_has_options_and_no_instance(void **state)
{
	tn_load_report *report;
	(void)state;
	know_fake();
	know_other();
	put("communicator_fake.so");
	put("communicator_later.so");
	put("communicator_tableless.so");
	/* `create` would fail. */
	setenv("FAKE_FAULT", "second", 1);
	setenv("TENON_COMMUNICATOR", "fake", 1);
	open_context(0);
	assert_ok(tn_communicator_list(ctx, &report, &error));
	const struct tn_load_row *fake = tn_load_report_find(report, "fake");
	assert_int_equal(fake->status, TN_OK);
	assert_int_equal(fake->stage, TN_STAGE_DESCRIBE);
	assert_int_equal(fake->n_options, 1);
	assert_string_equal(fake->options[0]->value, "4");
	assert_int_equal(tn_load_report_find(report, "tableless")->stage, TN_STAGE_NEGOTIATE);
	assert_int_equal(tn_load_report_find(report, "later")->status, TN_ABI_MISMATCH);
	assert_int_equal(tn_load_report_find(report, "other")->status, TN_NO_PLUGIN);
	assert_contains(tn_load_report_text(report), "communicator: fake\n");
	assert_contains(tn_load_report_json(report), "\"communicators\": [");
	tn_load_report_destroy(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(without_a_launcher_there_is_one_rank, begin_test,
						end_test),
		cmocka_unit_test_setup_teardown(a_launcher_of_one_rank_counts_as_none, begin_test,
						end_test),
		cmocka_unit_test_setup_teardown(the_launcher_chooses, begin_test, end_test),
		cmocka_unit_test_setup_teardown(of_several_launchers_the_first_counts, begin_test,
						end_test),
		cmocka_unit_test_setup_teardown(
			an_absent_plugin_is_named_with_launcher_and_packages, begin_test, end_test),
		cmocka_unit_test_setup_teardown(the_variable_and_the_option_win, begin_test,
						end_test),
		cmocka_unit_test_setup_teardown(unknown_and_impossible_names_fail, begin_test,
						end_test),
		cmocka_unit_test_setup_teardown(two_launchers_need_a_decision, begin_test,
						end_test),
		cmocka_unit_test_setup_teardown(a_launcher_that_connects_nothing_comes_last,
						begin_test, end_test),
		cmocka_unit_test_setup_teardown(
			variables_that_are_no_ranks_are_ignored_with_a_warning, begin_test,
			end_test),
		cmocka_unit_test_setup_teardown(another_launchers_ranks_are_refused, begin_test,
						end_test),
		cmocka_unit_test_setup_teardown(its_own_launcher_must_have_started_that_number,
						begin_test, end_test),
		cmocka_unit_test_setup_teardown(simulated_faults_name_the_variable, begin_test,
						end_test),
		cmocka_unit_test_setup_teardown(a_simulated_communicator_is_no_backend, begin_test,
						end_test),
		cmocka_unit_test_setup_teardown(broken_files_are_refused_with_the_reason,
						begin_test, end_test),
		cmocka_unit_test_setup_teardown(a_backend_is_no_communicator_and_the_reverse,
						begin_test, end_test),
		cmocka_unit_test_setup_teardown(failures_of_the_plugin_are_named, begin_test,
						end_test),
		cmocka_unit_test_setup_teardown(timeouts_are_checked, begin_test, end_test),
		cmocka_unit_test_setup_teardown(malformed_data_files_are_left_out, begin_test,
						end_test),
		cmocka_unit_test_setup_teardown(the_program_sets_options, begin_test, end_test),
		cmocka_unit_test_setup_teardown(wrong_options_are_refused, begin_test, end_test),
		cmocka_unit_test_setup_teardown(the_list_has_options_and_no_instance, begin_test,
						end_test),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
