/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The grammar of TENON_BACKEND, and of simulated faults.
 */
#include "check.h"
#include "loader/selection.h"

static tn_status parse(const char *text, struct tn_selection *selection)
{
	return tn_selection_parse(text, "backend", selection, NULL);
}

static void reads_every_form_of_a_selection(void **state)
{
	struct tn_selection s;
	(void)state;
	assert_ok(parse(NULL, &s));
	assert_int_equal(s.n_named + s.n_excluded, 0);
	assert_ok(parse("", &s));
	assert_ok(parse("auto", &s));
	assert_int_equal(s.n_named + s.n_excluded, 0);
	assert_ok(parse("cuda", &s));
	assert_int_equal(s.n_named, 1);
	assert_int_equal(s.named[0].index, TN_ANY_INDEX);
	assert_false(s.required);
	assert_ok(parse("cuda:1!", &s));
	assert_string_equal(s.named[0].name, "cuda");
	assert_int_equal(s.named[0].index, 1);
	assert_true(s.required);
	assert_ok(parse("cuda:0,cuda:1,^hip,cpu", &s));
	assert_int_equal(s.n_named, 3);
	assert_int_equal(s.n_excluded, 1);
	assert_true(tn_selection_excludes(&s, "hip"));
	assert_false(tn_selection_excludes(&s, "hi"));
	assert_true(tn_selection_names(&s, "cpu"));
	assert_ok(parse("automatic", &s));
	assert_int_equal(s.n_named, 1);
}

static void a_malformed_selection_names_the_column(void **state)
{
	static const struct {
		const char *text, *column, *what;
	} cases[] = {
		{"cuda,", "column 6", "found the end"},
		{",cuda", "column 1", "found ','"},
		{"cuda cpu", "column 5", "found ' '"},
		{"cuda:", "column 6", "the number of a device"},
		{"cuda:-1", "column 6", "found '-'"},
		{"cuda:x", "column 6", "found 'x'"},
		{"cuda:1000000", "column 6", "below 100000"},
		{"^", "column 2", "after '^'"},
		{"^^cuda", "column 2", "found '^'"},
		{"^cuda:1", "column 6", "found ':'"},
		{"cuda!cpu", "column 6", "the end after '!'"},
		{"cuda!!", "column 6", "the end after '!'"},
		{"!", "column 1", "found '!'"},
		{"auto!", "column 1", "excludes other items"},
		{"^cuda!", "column 6", "needs a backend's name"},
		{"cpu,auto", "column 5", "excludes other items"},
		{"cpu,^cpu", "column 1", "both named and excluded"},
		{"a_name_that_is_longer_than_thirty_one_letters", "column 1", "at most 31"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tn_selection s;
		struct tn_error_info error;
		assert_status(tn_selection_parse(cases[i].text, "backend", &s, &error), TN_FORMAT);
		assert_contains(error.text, cases[i].column);
		assert_contains(error.text, cases[i].what);
		assert_contains(error.text, cases[i].text);
		assert_string_equal(error.operation, "backend");
	}
}

static void a_name_of_31_letters_is_taken_and_one_of_32_is_not(void **state)
{
	struct tn_selection s;
	struct tn_error_info error;
	(void)state;
	assert_ok(parse("a234567890123456789012345678901", &s));
	assert_string_equal(s.named[0].name, "a234567890123456789012345678901");
	assert_status(tn_selection_parse("a2345678901234567890123456789012", "backend", &s, &error),
		      TN_FORMAT);
	assert_contains(error.text, "at most 31 letters, found 32");
}

static void too_many_names_are_a_limit_and_no_overflow(void **state)
{
	struct tn_selection s;
	struct tn_error_info error;
	char text[400] = "a";
	(void)state;
	for (int i = 0; i < 40; i++)
		strcat(text, i % 2 ? ",a" : ",^b");
	assert_status(tn_selection_parse(text, "backend", &s, &error), TN_LIMIT);
	assert_contains(error.text, "more than 32");
}

static void reads_simulated_faults(void **state)
{
	struct tn_simulation s;
	struct tn_error_info error;
	(void)state;
	assert_ok(tn_simulation_parse("cuda:no-driver,cpu:missing-library", &s, NULL));
	assert_int_equal(tn_simulation_of(&s, "cuda"), TN_NO_DRIVER);
	assert_int_equal(tn_simulation_of(&s, "cpu"), TN_MISSING_LIBRARY);
	assert_int_equal(tn_simulation_of(&s, "hip"), TN_OK);
	assert_ok(tn_simulation_parse(NULL, &s, NULL));
	assert_int_equal(s.n, 0);
	assert_status(tn_simulation_parse("cuda:on-fire", &s, &error), TN_FORMAT);
	assert_contains(error.text, "column 6");
	assert_contains(error.text, "driver-too-old");
	assert_status(tn_simulation_parse("cuda", &s, &error), TN_FORMAT);
	assert_contains(error.text, "':' and a fault");
	assert_status(tn_simulation_parse("cuda:refused;", &s, &error), TN_FORMAT);
	assert_contains(error.text, "column 13");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_every_form_of_a_selection),
		cmocka_unit_test(a_malformed_selection_names_the_column),
		cmocka_unit_test(a_name_of_31_letters_is_taken_and_one_of_32_is_not),
		cmocka_unit_test(too_many_names_are_a_limit_and_no_overflow),
		cmocka_unit_test(reads_simulated_faults),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
