/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The Nth allocation of the host fails, for every N: opening a registry fails cleanly, or works (if
 * a plugin is refused instead); nothing leaks, as sanitizers check.
 */
#include "loader_fixture.h"
#include "loader/report.h"

#include "failing_memory.h"
#include "loader/report_json.h"

/* 1 if allocation n failed, 0 if there are fewer. */
static int open_with_failure(long n)
{
	static const struct tn_pair pair = {"optioned.mode", "two"};
	struct opened opened;
	prepare(&opened);
	opened.options.selection = "absent,ok";
	opened.options.given = (struct tn_given_options){&pair, 1};
	memory_fails_at(n, 0);
	tn_status status = open_prepared(&opened);
	int failed = memory_works() != 0;
	if (status)
		assert_null(opened.registry);
	else
		assert_non_null(opened.registry);
	if (status)
		assert_true(status == TN_OUT_OF_MEMORY || status == TN_NO_DEVICE ||
			    status == TN_NO_PLUGIN);
	release(&opened);
	return failed;
}

static void opening_survives_the_loss_of_any_allocation(void **state)
{
	long n = 0;
	(void)state;
	put("ok");
	put("optioned");
	put("zero_devices");
	assert_int_equal(mkdir(in_folder("backends.d"), 0700), 0);
	write_file("backends.d/npu.backend", "name = npu\nhardware = NPU\n", 26);
	while (open_with_failure(n))
		n++;
	assert_true(n > 30);
	remove(in_folder("backends.d/npu.backend"));
	rmdir(in_folder("backends.d"));
}

static void a_report_survives_the_loss_of_any_allocation(void **state)
{
	struct opened opened;
	(void)state;
	put("optioned");
	put("two_devices");
	assert_ok(open_selected(&opened, NULL));
	char *json = strdup(tn_load_report_json(opened.report));
	long n = 0;
	for (;;) {
		memory_fails_at(n++, 0);
		struct tn_load_report *report = tn_report_from_json(json, strlen(json));
		const char *text = tn_load_report_text(report);
		int failed = memory_works() != 0;
		assert_true(failed || (report && text));
		tn_load_report_destroy(report);
		if (!failed)
			break;
	}
	free(json);
	release(&opened);
}

#define test(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(opening_survives_the_loss_of_any_allocation),
		test(a_report_survives_the_loss_of_any_allocation),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
