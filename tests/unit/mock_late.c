/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Errors that come later, on a device that defers its work in memory that the host cannot read:
 * indices out of range, and failures of the backend.
 */
#include <tenon/backend.h>

#include "late_cases.h"
#include "mock_fixture.h"

static tn_context *open_deferred(void)
{
	return open_mock("");
}

/* tn_take runs on the host, whose copies wait; the loss is composed on the device. */
static const struct late_subject subject = {
	.open = open_deferred,
	.close = tn_context_close,
	.takes = EITHER,
};

/* ---- Errors of the backend -------------------------------------------------------------------*/

enum waiting { TO_HOST, ITEM, SYNC, TO, WAITS };

static tn_status wait_by(enum waiting way, tn_context *context, tn_array *x)
{
	float values[4];
	double value;
	switch (way) {
	case TO_HOST:
		return tn_to_host(x, values, sizeof(values));
	case ITEM:
		return tn_item(tn_slice(x, 0, 0, 1, 1), &value);
	case SYNC:
		return tn_synchronize(context);
	default:
		return tn_to(x, tn_context_device(context, 1)) ? TN_OK : tn_error(context)->status;
	}
}

static void every_call_that_waits_reports_once(void **state)
{
	(void)state;
	for (int way = 0; way < WAITS; way++) {
		tn_context *context = open_mock("async-error:2");
		tn_array *x = tn_ones(context, TN_F32, 1, (int64_t[]){4});
		assert_non_null(tn_add(x, x));
		assert_null(tn_error(context));
		assert_status(wait_by((enum waiting)way, context, x), TN_BACKEND_FAILURE);
		assert_string_equal(tn_error(context)->operation, "map");
		tn_error_clear(context);
		for (int again = 0; again < WAITS; again++)
			assert_ok(wait_by((enum waiting)again, context, x));
		tn_context_close(context);
	}
}

/* tn_synchronize reports one error and leaves that of a second device to the next call. */
static void each_of_two_devices_is_heard(void **state)
{
	(void)state;
	const int32_t bad = 3;
	int n_second = 0;
	/* The piece of work that fails: first those of mock:0, then the only one of mock:1. */
	for (int n = 1; !n_second; n++) {
		char faults[64];
		snprintf(faults, sizeof(faults), "devices:2,async-error:%d", n);
		tn_context *context = open_mock(faults);
		tn_array *x = tn_ones(context, TN_F32, 2, (int64_t[]){1, 3});
		tn_array *label = tn_from_host(context, TN_I32, 1, (int64_t[]){1}, &bad);
		assert_non_null(tn_cross_entropy(x, label, NULL));
		assert_ok(tn_device_set_current(context, tn_context_device(context, 1)));
		assert_non_null(tn_ones(context, TN_F32, 1, (int64_t[]){4}));
		if (tn_synchronize(context) == TN_INVALID_ARGUMENT) {
			check_index_error(context, "cross_entropy", "mock:0: label 3");
			assert_status(tn_synchronize(context), TN_BACKEND_FAILURE);
			assert_contains(tn_error(context)->text, "mock:1: piece of work");
			tn_error_clear(context);
			assert_ok(tn_synchronize(context));
			n_second++;
		}
		tn_context_close(context);
		assert_true(n < 100);
	}
}

/* Any piece of a check's work fails, also that which clears the record: the failure is reported,
 * not what it left in the record, and later checks still work. */
static void check_each_failure(int by_item)
{
	const int32_t good = 1, bad = 3;
	double value;
	int has_failed = 1;
	for (int n = 1; has_failed; n++) {
		char faults[32];
		snprintf(faults, sizeof(faults), "async-error:%d", n);
		tn_context *context = open_mock(faults);
		tn_array *x = tn_ones(context, TN_F32, 2, (int64_t[]){1, 3});
		tn_array *label = tn_from_host(context, TN_I32, 1, (int64_t[]){1}, &good);
		if (label)
			tn_cross_entropy(x, label, NULL);
		tn_status status =
			by_item && label ? tn_item(label, &value) : tn_synchronize(context);
		has_failed = tn_error(context) != NULL;
		assert_int_equal(has_failed, status != TN_OK);
		if (has_failed)
			assert_kept(context, TN_BACKEND_FAILURE, "piece of work");
		assert_ok(tn_synchronize(context));
		if (has_failed) {
			label = tn_from_host(context, TN_I32, 1, (int64_t[]){1}, &bad);
			assert_non_null(tn_cross_entropy(x, label, NULL));
			assert_status(tn_synchronize(context), TN_INVALID_ARGUMENT);
			check_index_error(context, "cross_entropy", "label 3");
		}
		tn_context_close(context);
		assert_true(n < 100);
	}
}

static void checks_work_after_a_failure(void **state)
{
	(void)state;
	check_each_failure(0);
	check_each_failure(1);
}

/* ---- The end of a context --------------------------------------------------------------------*/

static char messages[2048];

static void keep_message(void *user, int level, const char *subsystem, const char *text,
			 size_t length)
{
	(void)user, (void)subsystem;
	size_t used = strlen(messages);
	if (level == TN_LOG_WARNING)
		snprintf(messages + used, sizeof(messages) - used, "%.*s\n", (int)length, text);
}

static tn_context *open_logged(const char *faults)
{
	const char *path = mock_file();
	struct tn_context_options options = tn_context_defaults();
	options.backend = "mock";
	options.plugin_paths = &path;
	options.n_plugin_paths = 1;
	options.log = keep_message;
	tn_context *context = NULL;
	set_faults(faults);
	messages[0] = '\0';
	assert_ok(tn_context_open(&options, &context, NULL));
	return context;
}

static void closing_a_context_logs_what_was_not_reported(void **state)
{
	(void)state;
	tn_context *context = open_logged("async-error:2");
	tn_array *x = tn_ones(context, TN_F32, 1, (int64_t[]){4});
	assert_non_null(tn_add(x, x));
	tn_context_close(context);
	assert_contains(messages, "mock:0: an error was not reported by any call: map: mock:0: "
				  "piece of work 2 failed");

	context = open_logged("");
	const int32_t bad = 4;
	tn_array *label = tn_from_host(context, TN_I32, 1, (int64_t[]){1}, &bad);
	x = tn_ones(context, TN_F32, 2, (int64_t[]){1, 3});
	assert_non_null(tn_cross_entropy(x, label, NULL));
	tn_context_close(context);
	assert_contains(messages, "not reported by any call: cross_entropy: mock:0: label 4");

	context = open_logged("async-error:2");
	x = tn_ones(context, TN_F32, 1, (int64_t[]){4});
	assert_non_null(tn_add(x, x));
	assert_status(tn_synchronize(context), TN_BACKEND_FAILURE);
	tn_context_close(context);
	assert_string_equal(messages, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_call_that_waits_reports_once),
		cmocka_unit_test(each_of_two_devices_is_heard),
		cmocka_unit_test(checks_work_after_a_failure),
		cmocka_unit_test(closing_a_context_logs_what_was_not_reported),
	};
	int n_failed = run_late_cases();
	return n_failed + cmocka_run_group_tests(tests, NULL, NULL);
}
