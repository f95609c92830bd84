/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A program's view of a device that defers its work, is slow, full or lost. */
#include "mock_fixture.h"

#include <time.h>

enum { N = 1000 };

static const char *current(const tn_context *context)
{
	return tn_device_name(tn_device_current(context));
}

static float first_of(const tn_array *array)
{
	float values[N] = {0};
	assert_ok(tn_to_host(array, values, sizeof(values)));
	return values[0];
}

static tn_array *ones(tn_context *context)
{
	return tn_ones(context, TN_F32, 1, (int64_t[]){N});
}

/* A computation with a formula, a reduction, a product and a gradient. */
static void compute(tn_context *context, float result[3])
{
	float data[12];
	for (int i = 0; i < 12; i++)
		data[i] = (float)(i - 5) / 3;
	tn_array *x = tn_from_host(context, TN_F32, 2, (int64_t[]){3, 4}, data);
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	tn_array *y = tn_matmul(x, tn_transpose(x, NULL));
	tn_array *z = tn_map("z = y / (1 + y*y)", 1, (const char *[]){"y"}, (const tn_array *[]){y},
			     0, NULL, NULL);
	tn_array *sum = tn_sum(z, TN_ALL_AXES, NULL, 0);
	assert_ok(tn_tape_backward(tape, sum, NULL));
	tn_array *gradient = tn_sum(tn_tape_gradient(tape, x), 1, (int[]){1}, 0);
	tn_tape_end(tape);
	assert_ok(tn_to_host(gradient, result, 3 * sizeof(*result)));
	assert_null(tn_error(context));
}

static void results_are_those_of_the_host(void **state)
{
	float found[3], expected[3];
	tn_context *context = open_mock("");
	(void)state;
	assert_string_equal(current(context), "mock:0");
	compute(context, found);
	assert_ok(tn_device_set_current(context, tn_context_device(context, 1)));
	assert_string_equal(current(context), "reference:0");
	compute(context, expected);
	for (int i = 0; i < 3; i++)
		assert_close(found[i], expected[i], 1e-5);
	tn_context_close(context);
}

static double seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double seconds_of_sync(tn_context *context)
{
	const double start = seconds();
	assert_ok(tn_synchronize(context));
	return seconds() - start;
}

/* What the device says of the work that it has done, its fourth line. */
static struct tn_report_line work_of(tn_context *context)
{
	struct tn_report_line line;
	assert_ok(tn_device_report_at(tn_device_current(context), 3, &line));
	assert_string_equal(line.key, "work");
	return line;
}

/* A piece of work takes 0.3 seconds. */
static void work_is_done_when_somebody_waits(void **state)
{
	tn_context *context = open_mock("slow:300");
	const struct tn_report_line before = work_of(context);
	(void)state;
	assert_non_null(ones(context));
	assert_string_equal(work_of(context).text, before.text);
	assert_true(seconds_of_sync(context) >= 0.3);
	const struct tn_report_line after = work_of(context);
	assert_string_not_equal(after.text, before.text);
	assert_ok(tn_synchronize(context));
	assert_string_equal(work_of(context).text, after.text);
	tn_context_close(context);
}

static void a_late_error_surfaces_at_sync_with_the_operations_name(void **state)
{
	tn_context *context = open_mock("async-error:2");
	(void)state;
	tn_array *x = ones(context);
	tn_array *y = tn_add(x, x);
	assert_non_null(y);
	assert_null(tn_error(context));
	assert_status(tn_synchronize(context), TN_BACKEND_FAILURE);
	assert_string_equal(tn_error(context)->operation, "map");
	assert_contains(tn_error(context)->text, "mock:0: piece of work 2 failed");
	/* Reported once: work before and after it is done. */
	tn_error_clear(context);
	assert_ok(tn_synchronize(context));
	assert_close(first_of(x), 1, 0);
	assert_close(first_of(tn_add(x, x)), 2, 0);
	tn_context_close(context);
}

static void a_late_error_surfaces_at_a_download_and_leaves_the_host_alone(void **state)
{
	float values[N] = {7};
	tn_context *context = open_mock("async-error:1");
	(void)state;
	tn_array *x = ones(context);
	assert_status(tn_to_host(x, values, sizeof(values)), TN_BACKEND_FAILURE);
	assert_string_equal(tn_error(context)->operation, "fill");
	assert_close(values[0], 7, 0);
	tn_error_clear(context);
	assert_ok(tn_synchronize(context));
	tn_context_close(context);
}

static void a_lost_device_loses_its_arrays_and_the_context_goes_on(void **state)
{
	float values[N];
	tn_context *context = open_mock("lost:2");
	(void)state;
	tn_array *x = ones(context);
	tn_array *y = tn_add(x, x);
	assert_status(tn_to_host(y, values, sizeof(values)), TN_DEVICE_LOST);
	assert_string_equal(tn_error(context)->operation, "map");
	assert_contains(tn_error(context)->text, "lost with piece of work 2");
	tn_error_clear(context);
	assert_status(tn_to_host(x, values, sizeof(values)), TN_DEVICE_LOST);
	tn_error_clear(context);
	assert_null(tn_add(x, x));
	tn_error_clear(context);
	assert_ok(tn_device_set_current(context, tn_context_device(context, 1)));
	assert_close(first_of(tn_add(ones(context), ones(context))), 2, 0);
	/* The loss was already reported: waiting for the other devices is not an error. */
	assert_ok(tn_synchronize(context));
	tn_context_close(context);
}

static void the_other_of_two_devices_goes_on(void **state)
{
	float values[N];
	tn_context *context = open_mock("devices:2,lost:3");
	(void)state;
	tn_array *x = ones(context);
	assert_ok(tn_device_set_current(context, tn_context_device(context, 1)));
	assert_string_equal(current(context), "mock:1");
	tn_array *y = ones(context);
	assert_close(first_of(y), 1, 0);
	assert_status(tn_to_host(x, values, sizeof(values)), TN_DEVICE_LOST);
	assert_contains(tn_error(context)->text, "mock:0");
	tn_error_clear(context);
	assert_close(first_of(tn_add(y, y)), 2, 0);
	assert_ok(tn_synchronize(context));
	tn_context_close(context);
}

static void a_loss_is_said_in_its_own_words_where_it_was_found_by_the_pool(void **state)
{
	tn_context *context = open_mock("lost:1");
	tn_device *device = tn_device_current(context);
	(void)state;
	assert_ok(tn_scope_begin(context));
	assert_non_null(ones(context));
	tn_scope_end(context, NULL);
	/* More than available: the pool waits, to free its cache, and finds the loss. */
	const struct tn_device_description *description = tn_device_describe(device);
	assert_null(tn_empty(context, TN_U8, 1,
			     (int64_t[]){(int64_t)description->memory_bytes / 4 * 5}));
	tn_error_clear(context);
	assert_status(tn_synchronize(context), TN_DEVICE_LOST);
	assert_contains(tn_error(context)->text, "lost with piece of work 1");
	tn_error_clear(context);
	assert_ok(tn_synchronize(context));
	tn_context_close(context);
}

static void one_allocation_that_fails_is_made_good_by_the_pool(void **state)
{
	tn_context *context = open_mock("oom:1");
	(void)state;
	assert_close(first_of(ones(context)), 1, 0);
	tn_context_close(context);
}

static void the_pool_gives_its_cache_back_before_memory_is_out(void **state)
{
	enum { MIB = 1 << 20 };
	tn_context *context = open_mock("oom-after:12M");
	(void)state;
	assert_ok(tn_scope_begin(context));
	for (int i = 0; i < 3; i++)
		assert_non_null(tn_zeros(context, TN_U8, 1, (int64_t[]){3 * MIB}));
	tn_scope_end(context, NULL);
	/* No cached piece is as large. */
	tn_array *large = tn_zeros(context, TN_U8, 1, (int64_t[]){9 * MIB});
	assert_non_null(large);
	/* While it exists there is no room. */
	assert_null(tn_zeros(context, TN_U8, 1, (int64_t[]){9 * MIB}));
	assert_status(tn_error(context)->status, TN_OUT_OF_MEMORY);
	assert_contains(tn_error(context)->text, "TENON_MOCK=oom-after");
	tn_error_clear(context);
	tn_array_destroy(large);
	assert_non_null(tn_zeros(context, TN_U8, 1, (int64_t[]){9 * MIB}));
	assert_ok(tn_synchronize(context));
	tn_context_close(context);
}

static void a_text_that_is_not_understood_is_named_by_its_column(void **state)
{
	static const struct {
		const char *text, *expected;
	} cases[] = {
		{"bogus", "column 1 of 'bogus': expected no-driver"},
		{"slow,", "column 6 of 'slow,'"},
		{"oom:", "column 5 of 'oom:': expected a number from 1 on, found nothing"},
		{"oom:0", "column 5"},
		{"oom:1x", "column 5"},
		{"oom:99999999999999999999", "column 5"},
		{"oom-after:17179869184G", "column 11"},
		{"lost", "column 5 of 'lost': expected a ':'"},
		{"devices:17", "column 9 of 'devices:17': expected a number from 1 to 16"},
		{"slow:60001", "column 6"},
		{"no-driver:1", "column 11 of 'no-driver:1': expected no value"},
		{"no-driver,no-device", "column 11"},
		{"lost:1,lost:2", "column 8"},
		{"identity:00", "column 10"},
		{"pci:0000-01:00.0", "column 5"},
		{"slice:0", "column 7"},
	};
	const char *path = mock_file();
	struct tn_context_options options = tn_context_defaults();
	options.backend = "mock!";
	options.plugin_paths = &path;
	options.n_plugin_paths = 1;
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		tn_context *context = NULL;
		struct tn_error_info error;
		set_faults(cases[i].text);
		assert_status(tn_context_open(&options, &context, &error), TN_PROBE_FAILED);
		assert_contains(error.text, cases[i].expected);
	}
}

static tn_status open_with(const struct tn_pair *pairs, size_t n, tn_context **context,
			   struct tn_error_info *error)
{
	const char *path = mock_file();
	struct tn_context_options options = tn_context_defaults();
	options.backend = "mock!";
	options.plugin_paths = &path;
	options.n_plugin_paths = 1;
	options.n_backend_options = n;
	options.backend_options = pairs;
	return tn_context_open(&options, context, error);
}

/* Before the variable, and each context its own. */
static void a_program_gives_options_to_a_backend(void **state)
{
	static const struct tn_pair three[] = {{"mock.faults", "devices:3"}, {"other.x", "1"}},
				    two[] = {{"mock.faults", "devices:2"}};
	struct tn_error_info error;
	tn_context *a, *b, *c;
	(void)state;
	set_faults("devices:4");
	assert_ok(open_with(three, 2, &a, &error));
	assert_ok(open_with(two, 1, &b, &error));
	assert_ok(open_with(NULL, 0, &c, &error));
	assert_int_equal(tn_context_device_count(a), 3);
	assert_int_equal(tn_context_device_count(b), 2);
	assert_int_equal(tn_context_device_count(c), 4);
	const struct tn_load_row *row = tn_load_report_find(tn_context_report(a), "mock");
	assert_int_equal(row->n_options, 1);
	assert_string_equal(row->options[0]->value, "devices:3");
	assert_string_equal(row->options[0]->origin, "program");
	assert_string_equal(row->options[0]->variable, "TENON_MOCK");
	assert_close(first_of(ones(a)) + first_of(ones(b)) + first_of(ones(c)), 3, 0);
	tn_context_close(a);
	tn_context_close(b);
	tn_context_close(c);
}

static void a_wrong_option_of_a_program_fails_the_opening(void **state)
{
	static const struct {
		struct tn_pair pair;
		tn_status status;
		const char *text;
	} cases[] = {
		{{"mock.fault", "slow"}, TN_NOT_FOUND, "did you mean 'mock.faults'?"},
		{{"mock", "slow"}, TN_FORMAT, "column 5 of 'mock'"},
		{{"mock.faults", NULL}, TN_INVALID_ARGUMENT, "backend_options[0]: its value is"},
		/* What only the backend can tell is its own error. */
		{{"mock.faults", "bogus"}, TN_PROBE_FAILED, "mock.faults), column 1 of 'bogus'"},
	};
	(void)state;
	set_faults("");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		tn_context *context = NULL;
		struct tn_error_info error;
		assert_status(open_with(&cases[i].pair, 1, &context, &error), cases[i].status);
		assert_contains(error.text, cases[i].text);
		assert_null(context);
	}
}

static void the_first_device_states_the_identity_that_was_asked_for(void **state)
{
	static const uint8_t expected[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
	(void)state;
	tn_context *context = open_mock("identity:000102030405060708090a0b0c0d0e0f,devices:2");
	const struct tn_device_description *device =
		tn_device_describe(tn_context_device(context, 0));
	assert_int_equal(device->identity_type, TN_IDENTITY_UUID);
	assert_memory_equal(device->identity, expected, sizeof(expected));
	device = tn_device_describe(tn_context_device(context, 1));
	assert_int_equal(device->identity_type, TN_IDENTITY_NONE);
	tn_context_close(context);
	context = open_mock("pci:1203:0a:1f.7");
	device = tn_device_describe(tn_context_device(context, 0));
	assert_int_equal(device->identity_type, TN_IDENTITY_NONE);
	assert_int_equal(device->identity2_type, TN_IDENTITY_PCI);
	assert_memory_equal(device->identity2, "\x03\x12\0\0\x0a\x1f\x07\0\0\0\0\0\0\0\0", 16);
	assert_int_equal(device->slice, 0);
	tn_context_close(context);
	context = open_mock("pci:1203:0a:1f.7,identity:000102030405060708090a0b0c0d0e0f,slice:3");
	device = tn_device_describe(tn_context_device(context, 0));
	assert_int_equal(device->identity_type, TN_IDENTITY_UUID);
	assert_memory_equal(device->identity, expected, sizeof(expected));
	assert_int_equal(device->identity2_type, TN_IDENTITY_PCI);
	assert_int_equal(device->slice, 3);
	tn_context_close(context);
}

static void a_device_says_what_it_is_and_what_has_run(void **state)
{
	static const char *const keys[] = {"driver", "library.mock", "temperature", "work"};
	struct tn_memory_information memory;
	struct tn_report_line line, later;
	tn_context *context = open_mock("oom-after:8M,devices:2");
	/* Not the current one: the query opens it. */
	tn_device *device = tn_context_device(context, 1);
	(void)state;
	for (size_t i = 0; i < 4; i++) {
		assert_ok(tn_device_report_at(device, i, &line));
		assert_string_equal(line.key, keys[i]);
		assert_true(line.text[0] != 0);
	}
	assert_int_equal(tn_device_report_at(device, 4, &later), TN_NOT_FOUND);
	assert_int_equal(tn_device_report_at(device, SIZE_MAX, &later), TN_NOT_FOUND);
	assert_ok(tn_device_get_memory_information(device, &memory));
	assert_int_equal(memory.total_bytes, 8 << 20);
	assert_ok(tn_device_set_current(context, device));
	assert_true(first_of(ones(context)) == 1);
	assert_ok(tn_device_report_at(device, 3, &later));
	assert_string_not_equal(later.text, line.text);
	/* The built-in backend has no lines, which is not an error. */
	assert_int_equal(tn_device_report_at(tn_context_device(context, 2), 0, &line),
			 TN_NOT_FOUND);
	assert_null(tn_error(context));
	tn_context_close(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(results_are_those_of_the_host),
		cmocka_unit_test(work_is_done_when_somebody_waits),
		cmocka_unit_test(a_late_error_surfaces_at_sync_with_the_operations_name),
		cmocka_unit_test(a_late_error_surfaces_at_a_download_and_leaves_the_host_alone),
		cmocka_unit_test(a_lost_device_loses_its_arrays_and_the_context_goes_on),
		cmocka_unit_test(the_other_of_two_devices_goes_on),
		cmocka_unit_test(a_loss_is_said_in_its_own_words_where_it_was_found_by_the_pool),
		cmocka_unit_test(one_allocation_that_fails_is_made_good_by_the_pool),
		cmocka_unit_test(the_pool_gives_its_cache_back_before_memory_is_out),
		cmocka_unit_test(a_text_that_is_not_understood_is_named_by_its_column),
		cmocka_unit_test(a_program_gives_options_to_a_backend),
		cmocka_unit_test(a_wrong_option_of_a_program_fails_the_opening),
		cmocka_unit_test(the_first_device_states_the_identity_that_was_asked_for),
		cmocka_unit_test(a_device_says_what_it_is_and_what_has_run),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
