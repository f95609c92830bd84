/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Options and variables of a context, through the public interface only. */
#include "context_fixture.h"

static tn_status open_plain(tn_context **context, struct tn_error_info *error)
{
	return open_with(NULL, NULL, NULL, context, error);
}

static void without_a_plugin_the_built_in_backend_is_used_and_said_so(void **state)
{
	(void)state;
	tn_context *context;
	assert_ok(open_plain(&context, NULL));
	assert_string_equal(tn_device_name(tn_device_current(context)), "reference:0");
	assert_int_equal(tn_context_fell_back(context), 1);
	assert_contains(messages, "3 loader: no backend plugin is usable; using reference:0");
	assert_int_equal(tn_load_report_count(tn_context_report(context)), 1);
	tn_context_close(context);
}

static void asking_for_the_built_in_backend_is_no_fall_back(void **state)
{
	(void)state;
	tn_context *context;
	assert_ok(open_with("reference", NULL, NULL, &context, NULL));
	assert_int_equal(tn_context_fell_back(context), 0);
	assert_string_equal(messages, "");
	tn_context_close(context);
}

static void no_options_mean_the_defaults(void **state)
{
	(void)state;
	tn_context *context;
	struct tn_random_state random;
	setenv("TENON_LOG", "off", 1);
	assert_ok(tn_context_open(NULL, &context, NULL));
	random = tn_random_get_state(context);
	assert_int_equal(random.seed, 0);
	assert_int_equal(random.stream, 0);
	assert_null(tn_error(context));
	tn_context_close(context);
}

static void an_older_options_struct_is_taken_and_a_newer_one_with_a_zero_tail(void **state)
{
	(void)state;
	tn_context *context = NULL;
	struct tn_error_info error;
	struct {
		struct tn_context_options options;
		uint64_t tail[2];
	} newer = {.options = {.struct_size = sizeof(newer), .log = keep_message}};
	assert_ok(tn_context_open(&newer.options, &context, &error));
	tn_context_close(context);
	newer.tail[1] = 1;
	assert_status(tn_context_open(&newer.options, &context, &error), TN_UNSUPPORTED);
	assert_null(context);
	/* As if `log` were the last field: the seed beyond it is not read. */
	newer.options.struct_size = offsetof(struct tn_context_options, log_user);
	newer.options.seed = 9;
	assert_ok(tn_context_open(&newer.options, &context, &error));
	assert_int_equal(tn_random_get_state(context).seed, 0);
	tn_context_close(context);
	newer.options.struct_size = 0;
	assert_status(tn_context_open(&newer.options, &context, &error), TN_INVALID_ARGUMENT);
	assert_contains(error.text, "struct_size");
}

static void options_out_of_range_are_named(void **state)
{
	(void)state;
	static const char *const relative[] = {"plugins"};
	const size_t size = sizeof(struct tn_context_options);
	const struct {
		struct tn_context_options options;
		const char *text;
	} cases[] = {
		{{.struct_size = size, .fallback = 5}, "fallback"},
		{{.struct_size = size, .n_threads = 2000}, "n_threads"},
		{{.struct_size = size, .n_plugin_paths = 1}, "plugin_paths is NULL"},
		{{.struct_size = size, .n_plugin_paths = 1, .plugin_paths = relative},
		 "expected an absolute path, found 'plugins'"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		tn_context *context = NULL;
		struct tn_error_info error;
		assert_status(tn_context_open(&cases[i].options, &context, &error),
			      TN_INVALID_ARGUMENT);
		assert_contains(error.text, cases[i].text);
		assert_null(context);
	}
	assert_status(tn_context_open(NULL, NULL, NULL), TN_INVALID_ARGUMENT);
}

static void a_malformed_variable_is_named_with_its_value_and_what_was_expected(void **state)
{
	(void)state;
	static const struct {
		const char *name, *value, *expected;
	} cases[] = {
		{"TENON_THREADS", "many", "0 to 1024"},
		{"TENON_THREADS", "-1", "0 to 1024"},
		{"TENON_THREADS", "1025", "0 to 1024"},
		{"TENON_MEMORY_LIMIT", "5T", "512M"},
		{"TENON_MEMORY_LIMIT", "5KB", "512M"},
		{"TENON_MEMORY_LIMIT", "K", "512M"},
		{"TENON_MEMORY_LIMIT", "18446744073709551615G", "512M"},
		{"TENON_SEED", "1x", "a number"},
		{"TENON_SEED", "18446744073709551616", "a number"},
		{"TENON_DETERMINISTIC", "2", "0 or 1"},
		{"TENON_DETERMINISTIC", "yes", "0 or 1"},
		{"TENON_FALLBACK", "never", "allow, warn, error or native"},
		{"TENON_LOG", "loud", "notice"},
		{"TENON_BACKEND", "a b", "column"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		tn_context *context = NULL;
		struct tn_error_info error;
		setenv(cases[i].name, cases[i].value, 1);
		assert_status(open_plain(&context, &error), TN_FORMAT);
		unsetenv(cases[i].name);
		assert_null(context);
		assert_string_equal(error.operation, cases[i].name);
		assert_contains(error.text, cases[i].expected);
		if (strcmp(cases[i].name, "TENON_BACKEND"))
			assert_contains(error.text, cases[i].value);
	}
}

static void an_empty_variable_is_as_if_it_were_not_set(void **state)
{
	(void)state;
	static const char *const names[] = {"TENON_THREADS", "TENON_MEMORY_LIMIT",  "TENON_SEED",
					    "TENON_LOG",     "TENON_DETERMINISTIC", "TENON_BACKEND",
					    "TENON_FALLBACK"};
	tn_context *context;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		setenv(names[i], "", 1);
	assert_ok(open_plain(&context, NULL));
	tn_context_close(context);
}

static void the_seed_comes_from_the_option_else_from_the_variable(void **state)
{
	(void)state;
	tn_context *context;
	struct tn_context_options options = tn_context_defaults();
	options.log = keep_message;
	options.seed = 5;
	setenv("TENON_SEED", "18446744073709551615", 1);
	assert_ok(open_plain(&context, NULL));
	assert_true(tn_random_get_state(context).seed == UINT64_MAX);
	tn_context_close(context);
	assert_ok(tn_context_open(&options, &context, NULL));
	assert_int_equal(tn_random_get_state(context).seed, 5);
	tn_random_set_state(context, (struct tn_random_state){.seed = 7, .stream = 3});
	assert_int_equal(tn_random_get_state(context).seed, 7);
	assert_int_equal(tn_random_get_state(context).stream, 3);
	tn_context_close(context);
}

static void the_memory_limit_is_per_device_and_takes_suffixes(void **state)
{
	(void)state;
	static const struct {
		const char *limit;
		int64_t fits, too_large;
	} cases[] = {{"65536", 65536, 65537}, {"64K", 65536, 70000}, {"2M", 2 << 20, 3 << 20}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		tn_context *context;
		setenv("TENON_MEMORY_LIMIT", cases[i].limit, 1);
		assert_ok(open_with("reference", NULL, NULL, &context, NULL));
		tn_array *array = tn_empty(context, TN_U8, 1, &cases[i].fits);
		assert_non_null(array);
		tn_array_destroy(array);
		assert_null(tn_empty(context, TN_U8, 1, &cases[i].too_large));
		assert_status(tn_error(context)->status, TN_OUT_OF_MEMORY);
		assert_contains(tn_error(context)->text, "limit");
		tn_context_close(context);
	}
}

static void messages_go_to_the_callback_as_far_as_the_variable_lets_them(void **state)
{
	(void)state;
	tn_context *context;
	setenv("TENON_LOG", "info", 1);
	assert_ok(open_plain(&context, NULL));
	assert_contains(messages, "4 device: reference:0: opened");
	tn_context_close(context);
	messages[0] = '\0';
	setenv("TENON_LOG", "off", 1);
	assert_ok(open_plain(&context, NULL));
	assert_string_equal(messages, "");
	tn_context_close(context);
}

static const char *origin_of(const tn_context *context, const char *name, const char **value)
{
	struct tn_variable variable = {.struct_size = sizeof(variable)};
	for (size_t i = 0; !tn_variable_at(context, i, &variable); i++) {
		assert_true(strlen(variable.help) > 10);
		assert_int_equal(variable.struct_size, sizeof(variable));
		*value = variable.value;
		if (!strcmp(variable.name, name))
			return variable.origin;
	}
	return "";
}

static void every_variable_that_is_read_is_listed_with_its_origin(void **state)
{
	(void)state;
	static const char *const names[] = {
		"TENON_BACKEND",       "TENON_LOG",          "TENON_FALLBACK",
		"TENON_THREADS",       "TENON_MEMORY_LIMIT", "TENON_SEED",
		"TENON_DETERMINISTIC", "TENON_SIMULATE",     "TENON_PLUGIN_PATH"};
	tn_context *context;
	const char *value;
	setenv("TENON_SEED", "12", 1);
	assert_ok(open_plain(&context, NULL));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int set = !strcmp(names[i], "TENON_SEED");
		assert_string_equal(origin_of(context, names[i], &value),
				    set ? "environment" : "not set");
		if (set)
			assert_string_equal(value, "12");
		else
			assert_null(value);
	}
	struct tn_variable old = {.struct_size = 0};
	assert_status(tn_variable_at(context, 0, &old), TN_INVALID_ARGUMENT);
	assert_status(tn_variable_at(context, 0, NULL), TN_INVALID_ARGUMENT);
	assert_status(tn_variable_at(NULL, 0, &old), TN_INVALID_ARGUMENT);
	tn_context_close(context);
}

static void a_plugins_own_variable_is_listed_too(void **state)
{
	(void)state;
	tn_context *context;
	const char *value;
	setenv("TENON_TEST_SECOND", "1", 1);
	assert_ok(open_with("no_open", "no_open", NULL, &context, NULL));
	assert_string_equal(origin_of(context, "TENON_TEST_SECOND", &value), "environment");
	tn_context_close(context);
}

#define CASE(name) cmocka_unit_test_setup(name, clear_environment)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(without_a_plugin_the_built_in_backend_is_used_and_said_so),
		CASE(asking_for_the_built_in_backend_is_no_fall_back),
		CASE(no_options_mean_the_defaults),
		CASE(an_older_options_struct_is_taken_and_a_newer_one_with_a_zero_tail),
		CASE(options_out_of_range_are_named),
		CASE(a_malformed_variable_is_named_with_its_value_and_what_was_expected),
		CASE(an_empty_variable_is_as_if_it_were_not_set),
		CASE(the_seed_comes_from_the_option_else_from_the_variable),
		CASE(the_memory_limit_is_per_device_and_takes_suffixes),
		CASE(messages_go_to_the_callback_as_far_as_the_variable_lets_them),
		CASE(every_variable_that_is_read_is_listed_with_its_origin),
		CASE(a_plugins_own_variable_is_listed_too),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
