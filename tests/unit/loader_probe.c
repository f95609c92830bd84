/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The isolated probe, with the helper program of the build and plugins that crash and hang.
 */
#include "loader_fixture.h"

#include <errno.h>
#include <sys/wait.h>

static const struct tn_load_row *probed;
static tn_load_report *report;

static void probe(const char *name, uint32_t timeout_ms)
{
	struct tn_error_info error;
	char helper[512];
	const char *build = getenv("TENON_BUILD");
	snprintf(helper, sizeof(helper), "%s/tenon-probe", build ? build : ".");
	setenv("TENON_PROBE_HELPER", helper, 1);
	tn_load_report_destroy(report);
	report = NULL;
	tn_status status = tn_probe(fixture(name), timeout_ms, &report, &error);
	if (status)
		print_error("%s\n", error.text);
	assert_ok(status);
	assert_int_equal(tn_load_report_count(report), 1);
	probed = tn_load_report_at(report, 0);
	/* No child is left behind. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void a_good_plugin_gives_the_same_row_as_here(void **state)
{
	(void)state;
	probe("two_devices", TN_PROBE_TIMEOUT_MS);
	assert_int_equal(probed->status, TN_OK);
	assert_int_equal(probed->stage, TN_STAGE_READY);
	assert_string_equal(probed->name, "two_devices");
	assert_string_equal(probed->path, fixture("two_devices"));
	assert_string_equal(probed->version, "1.0");
	assert_int_equal(probed->abi_minor, TN_ABI_MINOR);
	assert_int_equal(probed->n_devices, 2);
	assert_string_equal(probed->devices[1]->name, "a device that does nothing");
	assert_int_equal(probed->devices[1]->score, -99);
	assert_int_equal(probed->devices[1]->kind, TN_DEVICE_CPU);
}

static void a_broken_plugin_gives_its_own_reason(void **state)
{
	(void)state;
	probe("null_slot", TN_PROBE_TIMEOUT_MS);
	assert_int_equal(probed->status, TN_BAD_PLUGIN);
	assert_int_equal(probed->stage, TN_STAGE_QUERY);
	assert_contains(probed->text, "reduce is mandatory");
	setenv("TENON_TEST_STATUS", "36", 1);
	probe("fails", TN_PROBE_TIMEOUT_MS);
	assert_int_equal(probed->status, TN_NO_DRIVER);
	assert_int_equal(probed->native_code, 17);
	unsetenv("TENON_TEST_STATUS");
	probe("nowhere", TN_PROBE_TIMEOUT_MS);
	assert_int_equal(probed->status, TN_NO_PLUGIN);
}

static void a_crash_is_named_with_its_stage(void **state)
{
	(void)state;
	probe("crashes", TN_PROBE_TIMEOUT_MS);
	assert_int_equal(probed->status, TN_PROBE_FAILED);
	assert_int_equal(probed->stage, TN_STAGE_CREATE);
	assert_string_equal(probed->name, "crashes");
	/* A sanitizer catches the signal and exits instead. */
	if (!strstr(probed->text, "it ended the process with status"))
		assert_contains(probed->text, "it crashed (SIGSEGV, signal 11) at stage 'create'");
}

static void a_hang_is_cut_short(void **state)
{
	(void)state;
	probe("hangs", 300);
	assert_int_equal(probed->status, TN_PROBE_FAILED);
	assert_int_equal(probed->stage, TN_STAGE_CREATE);
	assert_string_equal(probed->text, "it hung: not done after 300 ms at stage 'create'");
}

static void an_exit_inside_the_plugin_is_a_failure(void **state)
{
	(void)state;
	probe("exits", TN_PROBE_TIMEOUT_MS);
	assert_int_equal(probed->status, TN_PROBE_FAILED);
	assert_contains(probed->text, "it ended the process at stage 'create'");
}

static void what_a_plugin_prints_does_not_reach_the_report(void **state)
{
	(void)state;
	probe("prints", TN_PROBE_TIMEOUT_MS);
	assert_int_equal(probed->status, TN_OK);
}

static void a_probe_that_cannot_start_is_an_error(void **state)
{
	struct tn_error_info error;
	tn_load_report *none = NULL;
	(void)state;
	setenv("TENON_PROBE_HELPER", "/nonexistent/helper", 1);
	assert_status(tn_probe(fixture("ok"), TN_PROBE_TIMEOUT_MS, &none, &error), TN_NOT_FOUND);
	assert_contains(error.text, "/nonexistent/helper");
	assert_status(tn_probe("backend_ok.so", TN_PROBE_TIMEOUT_MS, &none, &error),
		      TN_INVALID_ARGUMENT);
	assert_status(tn_probe("/tmp/none.so", 0, &none, &error), TN_INVALID_ARGUMENT);
	assert_contains(error.text, "timeout_ms");
	assert_status(tn_probe_all(NULL, 0, 0, &none, &error), TN_INVALID_ARGUMENT);
	assert_status(tn_probe(NULL, TN_PROBE_TIMEOUT_MS, &none, &error), TN_INVALID_ARGUMENT);
	assert_status(tn_probe("/tmp", TN_PROBE_TIMEOUT_MS, &none, &error), TN_INVALID_ARGUMENT);
	assert_null(none);
}

/* Those of a folder in order, including a crash, which does not affect this process. */
static void all_files_are_probed_and_none_is_loaded(void **state)
{
	static const char *const names[] = {"crashes", "null_slot", "ok", "two_devices"};
	static const tn_status expected[] = {TN_PROBE_FAILED, TN_BAD_PLUGIN, TN_OK, TN_OK};
	struct tn_error_info error;
	tn_load_report *all = NULL;
	(void)state;
	assert_int_equal(make_folder(NULL), 0);
	for (size_t i = 0; i < 4; i++)
		put(names[i]);
	setenv("TENON_PLUGIN_PATH_ONLY", "1", 1);
	setenv("TENON_DATA_DIR", folder, 1);
	unsetenv("TENON_PLUGIN_PATH");
	assert_ok(tn_probe_all(&folder_path, 1, TN_PROBE_TIMEOUT_MS, &all, &error));
	assert_int_equal(tn_load_report_count(all), 4);
	for (size_t i = 0; i < 4; i++) {
		const struct tn_load_row *row = tn_load_report_at(all, i);
		assert_string_equal(row->name, names[i]);
		assert_int_equal(row->status, expected[i]);
		assert_int_equal(row->found, TN_FOUND_API);
	}
	assert_int_equal(tn_load_report_at(all, 3)->n_devices, 2);
	tn_load_report_destroy(all);
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[1024];
	while (maps && fgets(line, sizeof(line), maps))
		assert_null(strstr(line, folder));
	if (maps)
		fclose(maps);
	assert_int_equal(remove_folder(NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_good_plugin_gives_the_same_row_as_here),
		cmocka_unit_test(a_broken_plugin_gives_its_own_reason),
		cmocka_unit_test(a_crash_is_named_with_its_stage),
		cmocka_unit_test(a_hang_is_cut_short),
		cmocka_unit_test(an_exit_inside_the_plugin_is_a_failure),
		cmocka_unit_test(what_a_plugin_prints_does_not_reach_the_report),
		cmocka_unit_test(all_files_are_probed_and_none_is_loaded),
		cmocka_unit_test(a_probe_that_cannot_start_is_an_error),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	tn_load_report_destroy(report);
	return failed;
}
