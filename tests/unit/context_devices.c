/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Which device a context uses, through the public interface only. */
#include "context_fixture.h"

static const char *current(const tn_context *context)
{
	return tn_device_name(tn_device_current(context));
}

/* Opens, and checks the first device and whether it is a fallback. */
static void check(const char *selection, const char *expected, int fell_back)
{
	tn_context *context = NULL;
	struct tn_error_info error;
	messages[0] = '\0';
	assert_ok(open_with(selection, "ok", "two_devices", &context, &error));
	assert_string_equal(current(context), expected);
	assert_ptr_equal(tn_context_device(context, 0), tn_device_current(context));
	assert_int_equal(tn_context_fell_back(context), fell_back);
	assert_int_equal(messages[0] != '\0', fell_back);
	const struct tn_load_row *row = tn_load_report_find(tn_context_report(context),
							    tn_device_current(context) ? "ok" : "");
	assert_non_null(row);
	tn_context_close(context);
}

static void the_selection_decides(void **state)
{
	(void)state;
	check("ok", "ok:0", 0);
	check("two_devices:1", "two_devices:1", 0);
	check("two_devices:0", "two_devices:0", 0);
	check("absent,ok", "ok:0", 1);
	check("ok,two_devices", "ok:0", 0);
	check("^two_devices", "ok:0", 0);
	check("reference", "reference:0", 0);
	check("ok!", "ok:0", 0);
	check("auto", "two_devices:1", 0);
	check("two_devices:7", "two_devices:1", 1);
}

static void the_variable_decides_when_the_option_does_not(void **state)
{
	(void)state;
	setenv("TENON_BACKEND", "ok", 1);
	check(NULL, "ok:0", 0);
	check("two_devices", "two_devices:1", 0);
}

static void what_is_required_and_absent_is_an_error_with_its_reason(void **state)
{
	(void)state;
	tn_context *context = NULL;
	struct tn_error_info error;
	assert_status(open_with("cuda!", "ok", NULL, &context, &error), TN_NO_PLUGIN);
	assert_null(context);
	assert_contains(error.text, "cuda not used: NO_PLUGIN");
	assert_status(open_with("ok:3!", "ok", NULL, &context, &error), TN_NO_DEVICE);
	assert_contains(error.text, "ok:3");
}

static void devices_are_listed_in_the_order_of_choice(void **state)
{
	(void)state;
	tn_context *context;
	assert_ok(open_with("ok", "ok", "two_devices", &context, NULL));
	static const char *const names[] = {"ok:0", "two_devices:1", "two_devices:0",
					    "reference:0"};
	assert_int_equal(tn_context_device_count(context), 4);
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(tn_device_name(tn_context_device(context, i)), names[i]);
	assert_null(tn_context_device(context, 4));
	assert_int_equal(tn_device_describe(tn_context_device(context, 3))->kind,
			 TN_DEVICE_REFERENCE);
	tn_context_close(context);
}

static void new_arrays_are_made_on_the_current_device(void **state)
{
	(void)state;
	const int64_t shape = 3;
	tn_context *context;
	assert_ok(open_with("reference", "ok", NULL, &context, NULL));
	tn_array *a = tn_zeros(context, TN_F32, 1, &shape);
	tn_device *ok = tn_context_device(context, 1);
	assert_string_equal(tn_device_name(ok), "ok:0");
	assert_ok(tn_device_set_current(context, ok));
	tn_array *b = tn_empty(context, TN_F32, 1, &shape);
	assert_string_equal(tn_device_name(tn_array_device(a)), "reference:0");
	assert_ptr_equal(tn_array_device(b), ok);
	struct tn_memory_use use = {.struct_size = sizeof(use)};
	tn_device_get_memory_use(ok, &use);
	assert_true(use.used >= 12);
	tn_context_close(context);
}

static void a_device_of_another_context_is_refused_and_the_error_is_kept(void **state)
{
	(void)state;
	tn_context *one, *two;
	assert_ok(open_with("reference", NULL, NULL, &one, NULL));
	assert_ok(open_with("reference", NULL, NULL, &two, NULL));
	assert_status(tn_device_set_current(one, tn_device_current(two)), TN_DEVICE);
	assert_status(tn_error(one)->status, TN_DEVICE);
	assert_contains(tn_error(one)->text, "another context");
	assert_status(tn_device_set_current(one, tn_device_current(one)), TN_PENDING_ERROR);
	assert_status(tn_synchronize(one), TN_PENDING_ERROR);
	assert_null(tn_error(two));
	tn_error_clear(one);
	assert_ok(tn_synchronize(one));
	tn_context_close(one);
	tn_context_close(two);
}

static void a_device_that_does_not_open_is_passed_over_with_one_notice(void **state)
{
	(void)state;
	tn_context *context;
	assert_ok(open_with(NULL, "no_open", "ok", &context, NULL));
	assert_string_equal(current(context), "ok:0");
	assert_int_equal(tn_context_fell_back(context), 1);
	assert_string_equal(messages,
			    "3 context: no_open:0 not used: NO_DRIVER: the driver is asleep; "
			    "no_open:1 not used: NO_DRIVER: the driver is asleep; using ok:0\n");
	const tn_load_report *report = tn_context_report(context);
	const struct tn_load_row *row = tn_load_report_find(report, "no_open");
	assert_status(row->status, TN_NO_DRIVER);
	assert_int_equal(row->stage, TN_STAGE_DEVICES);
	assert_int_equal(row->selected, 0);
	assert_contains(row->text, "the driver is asleep");
	row = tn_load_report_find(report, "ok");
	assert_int_equal(row->selected, 1);
	assert_int_equal(tn_load_report_notice_count(report), 1);
	assert_contains(tn_load_report_json(tn_context_report(context)), "NO_DRIVER");
	tn_context_close(context);
}

static void the_next_device_of_the_same_backend_may_open(void **state)
{
	(void)state;
	tn_context *context;
	setenv("TENON_TEST_SECOND", "1", 1);
	assert_ok(open_with("no_open!", "no_open", NULL, &context, NULL));
	assert_string_equal(current(context), "no_open:1");
	const struct tn_load_row *row = tn_load_report_find(tn_context_report(context), "no_open");
	assert_ok(row->status);
	assert_int_equal(row->selected, 1);
	assert_int_equal(row->selected_device, 1);
	assert_contains(messages, "using no_open:1");
	tn_context_close(context);
}

static void a_required_device_that_does_not_open_is_an_error_with_its_reason(void **state)
{
	(void)state;
	tn_context *context = NULL;
	struct tn_error_info error;
	assert_status(open_with("no_open!", "no_open", "ok", &context, &error), TN_NO_DRIVER);
	assert_null(context);
	assert_contains(error.text, "no_open:0: the driver is asleep");
}

static void the_report_can_be_had_when_opening_fails(void **state)
{
	(void)state;
	tn_context *context = NULL;
	tn_load_report *report = NULL;
	const char *path = fixture("no_open");
	struct tn_context_options options = tn_context_defaults();
	options.backend = "no_open!";
	options.plugin_paths = &path;
	options.n_plugin_paths = 1;
	options.log = keep_message;
	options.report_on_failure = &report;
	assert_status(tn_context_open(&options, &context, NULL), TN_NO_DRIVER);
	assert_status(tn_load_report_find(report, "no_open")->status, TN_NO_DRIVER);
	tn_load_report_destroy(report);
	options.plugin_paths = NULL;
	assert_status(tn_context_open(&options, &context, NULL), TN_INVALID_ARGUMENT);
	assert_null(report);
}

static void opening_a_device_later_may_fail_and_changes_nothing(void **state)
{
	(void)state;
	tn_context *context;
	assert_ok(open_with("ok", "no_open", "ok", &context, NULL));
	tn_device *device = tn_context_device(context, 1);
	assert_string_equal(tn_device_name(device), "no_open:0");
	assert_status(tn_device_set_current(context, device), TN_NO_DRIVER);
	assert_string_equal(current(context), "ok:0");
	assert_contains(tn_error(context)->text, "no_open:0: the driver is asleep");
	tn_context_close(context);
}

static void a_late_error_surfaces_at_sync_and_is_kept(void **state)
{
	(void)state;
	tn_context *context;
	setenv("TENON_TEST_SECOND", "1", 1);
	setenv("TENON_TEST_SYNC", "17", 1); /* TN_BACKEND_FAILURE */
	assert_ok(open_with("no_open:1", "no_open", NULL, &context, NULL));
	assert_status(tn_synchronize(context), TN_BACKEND_FAILURE);
	assert_string_equal(tn_error(context)->operation, "add");
	assert_contains(tn_error(context)->text, "no_open:1: late news");
	tn_context_close(context);
}

static void a_lost_device_is_lost_and_the_context_goes_on_with_another(void **state)
{
	(void)state;
	const int64_t shape = 2;
	tn_context *context;
	setenv("TENON_TEST_SECOND", "1", 1);
	setenv("TENON_TEST_SYNC", "18", 1); /* TN_DEVICE_LOST */
	assert_ok(open_with("no_open:1", "no_open", NULL, &context, NULL));
	assert_non_null(tn_empty(context, TN_F32, 1, &shape));
	assert_status(tn_synchronize(context), TN_DEVICE_LOST);
	tn_error_clear(context);
	assert_null(tn_empty(context, TN_F32, 1, &shape));
	assert_status(tn_error(context)->status, TN_DEVICE_LOST);
	tn_error_clear(context);
	tn_device *reference = tn_context_device(context, tn_context_device_count(context) - 1);
	assert_string_equal(tn_device_name(reference), "reference:0");
	assert_ok(tn_device_set_current(context, reference));
	assert_non_null(tn_ones(context, TN_F32, 1, &shape));
	tn_context_close(context);
}

static void without_the_built_in_backend_as_a_choice_the_host_still_runs(void **state)
{
	(void)state;
	static const char *const selections[] = {"copyonly!", "^reference"};
	for (size_t i = 0; i < 2; i++) {
		const int64_t shape = 4;
		float values[4];
		tn_context *context;
		messages[0] = '\0';
		assert_ok(open_with(selections[i], "copyonly", NULL, &context, NULL));
		assert_string_equal(current(context), "copyonly:0");
		assert_int_equal(tn_context_device_count(context), 1);
		assert_string_equal(messages, "");
		tn_array *one = tn_ones(context, TN_F32, 1, &shape);
		assert_ok(tn_to_host(tn_add(one, one), values, sizeof(values)));
		assert_close(values[3], 2, 0);
		tn_context_close(context);
	}
}

static void excluding_everything_is_an_error(void **state)
{
	(void)state;
	tn_context *context = NULL;
	struct tn_error_info error;
	assert_status(open_with("^reference", NULL, NULL, &context, &error), TN_NO_DEVICE);
	assert_contains(error.text, "no backend has a device");
}

static void asking_null_gives_nothing(void **state)
{
	(void)state;
	assert_int_equal(tn_context_device_count(NULL), 0);
	assert_null(tn_context_device(NULL, 0));
	assert_null(tn_device_current(NULL));
	assert_null(tn_context_report(NULL));
	assert_int_equal(tn_context_fell_back(NULL), 0);
	assert_status(tn_synchronize(NULL), TN_INVALID_ARGUMENT);
	assert_status(tn_device_set_current(NULL, NULL), TN_INVALID_ARGUMENT);
}

#define CASE(name) cmocka_unit_test_setup(name, clear_environment)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(the_selection_decides),
		CASE(the_variable_decides_when_the_option_does_not),
		CASE(what_is_required_and_absent_is_an_error_with_its_reason),
		CASE(devices_are_listed_in_the_order_of_choice),
		CASE(new_arrays_are_made_on_the_current_device),
		CASE(a_device_of_another_context_is_refused_and_the_error_is_kept),
		CASE(a_device_that_does_not_open_is_passed_over_with_one_notice),
		CASE(the_next_device_of_the_same_backend_may_open),
		CASE(a_required_device_that_does_not_open_is_an_error_with_its_reason),
		CASE(the_report_can_be_had_when_opening_fails),
		CASE(opening_a_device_later_may_fail_and_changes_nothing),
		CASE(a_late_error_surfaces_at_sync_and_is_kept),
		CASE(a_lost_device_is_lost_and_the_context_goes_on_with_another),
		CASE(without_the_built_in_backend_as_a_choice_the_host_still_runs),
		CASE(excluding_everything_is_an_error),
		CASE(asking_null_gives_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
