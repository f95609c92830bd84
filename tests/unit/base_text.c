/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Growing strings, memory that overflows, parameters, errors as printable lines, and names alike.
 */
#include "base/text.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/name.h"
#include "base/parameter.h"
#include "check.h"

static void a_text_grows_and_is_taken_over(void **state)
{
	(void)state;
	struct tn_text text;
	tn_text_init(&text);
	for (int i = 0; i < 1000; i++)
		tn_text_format(&text, "%03d,", i);
	tn_text_add(&text, "end");
	char *data = tn_text_take(&text);
	assert_int_equal(strlen(data), 4003);
	assert_memory_equal(data + 3996, "999,end", 8);
	assert_null(text.data);
	tn_mem_free(data);
}

static void an_empty_text_is_an_empty_string(void **state)
{
	(void)state;
	struct tn_text text;
	tn_text_init(&text);
	char *data = tn_text_take(&text);
	assert_string_equal(data, "");
	tn_mem_free(data);
}

static void sizes_that_overflow_give_no_memory(void **state)
{
	(void)state;
	assert_null(tn_mem_zeroed(SIZE_MAX / 2, 3));
	assert_null(tn_mem_realloc(NULL, SIZE_MAX / 2, 3));
}

static void a_parameter_keeps_its_first_value_and_its_help(void **state)
{
	(void)state;
	struct tn_parameters parameters;
	tn_parameters_init(&parameters);
	setenv("TENON_TEST_VARIABLE", "one", 1);
	const char *value = tn_parameter_read(&parameters, "TENON_TEST_VARIABLE", "a test");
	assert_string_equal(value, "one");
	setenv("TENON_TEST_VARIABLE", "two", 1);
	assert_string_equal(tn_parameter_read(&parameters, "TENON_TEST_VARIABLE", "a test"), "one");
	assert_int_equal(parameters.n, 1);
	assert_string_equal(parameters.list[0].help, "a test");
	tn_parameters_release(&parameters);
}

static void a_privileged_process_ignores_variables_and_says_so(void **state)
{
	(void)state;
	struct tn_parameters parameters;
	tn_parameters_init(&parameters);
	parameters.privileged = 1;
	setenv("TENON_TEST_VARIABLE", "one", 1);
	assert_null(tn_parameter_read(&parameters, "TENON_TEST_VARIABLE", "a test"));
	assert_true(parameters.list[0].ignored);
	tn_parameters_release(&parameters);
}

static void an_error_from_outside_is_one_printable_line(void **state)
{
	(void)state;
	struct tn_error_info error;
	char text[] = "a\033[2Jb\nc\r\xc2\x9b\x7f\xff\xc3\xa9";
	tn_fail(&error, TN_FORMAT, "test", "found '%s'", text);
	assert_string_equal(error.text, "found 'a?[2Jb c?????\xc3\xa9'");
	tn_text_make_printable(text);
	assert_string_equal(text, "a?[2Jb c?????\xc3\xa9");
}

static void counts_slips_between_names(void **state)
{
	(void)state;
	assert_int_equal(tn_name_distance("cpu", "cpu"), 0);
	assert_int_equal(tn_name_distance("CPU", "cpu"), 0);
	assert_int_equal(tn_name_distance("cppu", "cpu"), 1);
	assert_int_equal(tn_name_distance("cpu", "cppu"), 1);
	assert_int_equal(tn_name_distance("cup", "cpu"), 1);
	assert_int_equal(tn_name_distance("kitten", "sitting"), 3);
	assert_int_equal(tn_name_distance("", "abc"), 3);
}

static void finds_the_nearest_name_and_no_far_one(void **state)
{
	const char *const names[] = {"reference", "cuda", "cpu"};
	(void)state;
	assert_string_equal(tn_name_nearest("cppu", names, 3), "cpu");
	assert_string_equal(tn_name_nearest("CUDA", names, 3), "cuda");
	assert_string_equal(tn_name_nearest("referense", names, 3), "reference");
	assert_string_equal(tn_name_nearest("rfrnc", names, 3), "reference");
	assert_null(tn_name_nearest("rfe", names, 3));
	assert_null(tn_name_nearest("vulkan", names, 3));
	assert_null(tn_name_nearest("x", names, 3));
	assert_string_equal(tn_name_nearest("rfrence", names, 3), "reference");
	assert_string_equal(tn_name_nearest("cd", names, 3), "cuda");
	assert_null(tn_name_nearest("ac", names, 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_grows_and_is_taken_over),
		cmocka_unit_test(an_empty_text_is_an_empty_string),
		cmocka_unit_test(sizes_that_overflow_give_no_memory),
		cmocka_unit_test(an_error_from_outside_is_one_printable_line),
		cmocka_unit_test(a_parameter_keeps_its_first_value_and_its_help),
		cmocka_unit_test(a_privileged_process_ignores_variables_and_says_so),
		cmocka_unit_test(counts_slips_between_names),
		cmocka_unit_test(finds_the_nearest_name_and_no_far_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
