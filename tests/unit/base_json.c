/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The writer of JSON, and UTF-8.
 */
#include "base/json_writer.h"

#include <locale.h>
#include <math.h>

#include "base/json_reader.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "check.h"
#include "failing_memory.h"

static void assert_written(struct tn_json_writer *json, const char *expected)
{
	char *text = tn_json_writer_take(json);
	assert_non_null(text);
	assert_string_equal(text, expected);
	tn_mem_free(text);
}

/* {"a": [1, [], {}], "b": {"c": true}} */
static void write_nested(struct tn_json_writer *json)
{
	tn_json_begin_object(json, NULL);
	tn_json_begin_array(json, "a");
	tn_json_add_integer(json, NULL, 1);
	tn_json_begin_array(json, NULL);
	tn_json_end(json);
	tn_json_begin_object(json, NULL);
	tn_json_end(json);
	tn_json_end(json);
	tn_json_begin_object(json, "b");
	tn_json_add_bool(json, "c", 1);
	tn_json_end(json);
	tn_json_end(json);
}

static void each_style_has_its_blanks(void **state)
{
	static const char *const expected[] = {
		[TN_JSON_PACKED] = "{\"a\":[1,[],{}],\"b\":{\"c\":true}}",
		[TN_JSON_SPACED] = "{\"a\": [1, [], {}], \"b\": {\"c\": true}}",
		[TN_JSON_INDENTED] = "{\n"
				     "  \"a\": [\n"
				     "    1,\n"
				     "    [],\n"
				     "    {}\n"
				     "  ],\n"
				     "  \"b\": {\n"
				     "    \"c\": true\n"
				     "  }\n"
				     "}",
	};
	struct tn_json_writer json;
	(void)state;
	for (int style = TN_JSON_PACKED; style <= TN_JSON_INDENTED; style++) {
		tn_json_writer_init(&json, (enum tn_json_style)style);
		write_nested(&json);
		assert_written(&json, expected[style]);
	}
}

static void items_stand_on_a_line_each(void **state)
{
	struct tn_json_writer json;
	(void)state;
	tn_json_writer_init(&json, TN_JSON_SPACED);
	tn_json_begin_lines(&json, NULL);
	tn_json_begin_array(&json, NULL);
	tn_json_add_integer(&json, NULL, 1);
	tn_json_add_integer(&json, NULL, 2);
	tn_json_end(&json);
	tn_json_add_integer(&json, NULL, 3);
	tn_json_end(&json);
	assert_written(&json, "[\n[1, 2],\n3\n]");
	tn_json_begin_lines(&json, NULL);
	tn_json_end(&json);
	assert_written(&json, "[\n\n]");
}

static void strings_are_escaped_and_are_utf8(void **state)
{
	static const struct {
		const char *string, *expected;
		int long_escapes;
	} cases[] = {
		{"", "\"\"", 0},
		{NULL, "null", 0},
		{"a/b \x7f \xc3\xa9 \xf0\x9f\x98\x80", "\"a/b \x7f \xc3\xa9 \xf0\x9f\x98\x80\"", 0},
		{"\"\\\b\f\n\r\t", "\"\\\"\\\\\\b\\f\\n\\r\\t\"", 0},
		{"\x01\x1f", "\"\\u0001\\u001F\"", 0},
		{"\"\\\n\x1f", "\"\\u0022\\u005c\\u000a\\u001f\"", 1},
		{"a\xff\xc3(\xed\xa0\x80", "\"a?\x3f(???\"", 0},
	};
	struct tn_json_writer json;
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		tn_json_writer_init(&json, TN_JSON_PACKED);
		json.long_escapes = cases[i].long_escapes;
		tn_json_add_string(&json, NULL, cases[i].string);
		assert_written(&json, cases[i].expected);
	}
}

static void what_is_written_reads_the_same(void **state)
{
	struct tn_json_writer writer;
	char string[128];
	for (int i = 1; i < 128; i++)
		string[i - 1] = (char)i;
	string[127] = '\0';
	(void)state;
	for (int is_long = 0; is_long < 2; is_long++) {
		tn_json_writer_init(&writer, TN_JSON_PACKED);
		writer.long_escapes = is_long;
		tn_json_add_string(&writer, NULL, string);
		char *read, *text = tn_json_writer_take(&writer);
		struct tn_json_reader reader = {
			.text = text, .size = strlen(text), .operation = "test", .where = "text"};
		assert_ok(tn_json_string(&reader, &read, NULL));
		assert_string_equal(read, string);
		tn_mem_free(text);
	}
}

static void numbers_are_those_of_json(void **state)
{
	static const struct {
		double value;
		int digits;
		const char *expected;
	} cases[] = {
		{0.1, 0, "0.1"},        {1.0 / 3, 0, "0.3333333333333333"},
		{-1e300, 0, "-1e+300"}, {1.0 / 3, 9, "0.333333333"},
		{1e-7, 9, "1e-07"},     {2, 9, "2"},
		{NAN, 9, "null"},       {-INFINITY, 0, "null"},
	};
	struct tn_json_writer json;
	(void)state;
	for (int is_german = 0; is_german < 2; is_german++) {
		/* Where it is not installed, the C locale remains. */
		if (is_german)
			setlocale(LC_ALL, "de_DE.UTF-8");
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			tn_json_writer_init(&json, TN_JSON_PACKED);
			tn_json_add_number(&json, NULL, cases[i].value, cases[i].digits);
			assert_written(&json, cases[i].expected);
		}
	}
	setlocale(LC_ALL, "C");
	tn_json_begin_array(&json, NULL);
	tn_json_add_integer(&json, NULL, INT64_MIN);
	tn_json_add_unsigned(&json, NULL, UINT64_MAX);
	tn_json_add_bool(&json, NULL, 0);
	tn_json_add_raw(&json, NULL, "1.50");
	tn_json_end(&json);
	assert_written(&json, "[-9223372036854775808,18446744073709551615,false,1.50]");
}

static void what_is_no_number_is_refused(void **state)
{
	struct {
		char text[8];
		const char *expected;
	} cases[] = {
		{"-", "expected a number"},
		{"+1", "expected a number"},
		{"007", "expected a number without leading zeros"},
		{"1.", "expected a digit"},
		{"1.e2", "expected a digit"},
		{"2e", "expected a digit"},
		{"2e-", "expected a digit"},
	};
	struct tn_error_info error;
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tn_json_reader reader = {.text = cases[i].text,
						.size = strlen(cases[i].text),
						.operation = "test",
						.where = "text"};
		double value = 7;
		assert_status(tn_json_number(&reader, &value, &error), TN_FORMAT);
		assert_contains(error.text, cases[i].expected);
		assert_true(value == 7);
	}
}

static void assert_failed(struct tn_json_writer *json)
{
	assert_null(tn_json_writer_take(json));
}

static void brackets_and_keys_that_do_not_fit_fail(void **state)
{
	struct tn_json_writer json;
	(void)state;
	tn_json_writer_init(&json, TN_JSON_PACKED);
	tn_json_begin_array(&json, NULL);
	assert_failed(&json); /* not ended */
	tn_json_writer_init(&json, TN_JSON_PACKED);
	tn_json_end(&json);
	assert_failed(&json);
	tn_json_writer_init(&json, TN_JSON_PACKED);
	tn_json_begin_object(&json, NULL);
	tn_json_add_integer(&json, NULL, 1);
	tn_json_end(&json);
	assert_failed(&json);
	tn_json_writer_init(&json, TN_JSON_PACKED);
	tn_json_begin_array(&json, NULL);
	tn_json_add_integer(&json, "key", 1);
	tn_json_end(&json);
	assert_failed(&json);
}

static char *write_levels(int n)
{
	struct tn_json_writer json;
	tn_json_writer_init(&json, TN_JSON_PACKED);
	for (int i = 0; i < n; i++)
		tn_json_begin_array(&json, NULL);
	for (int i = 0; i < n; i++)
		tn_json_end(&json);
	return tn_json_writer_take(&json);
}

static void nesting_is_bounded(void **state)
{
	(void)state;
	char *text = write_levels(TN_JSON_MOST_LEVELS);
	assert_string_equal(text, "[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]");
	tn_mem_free(text);
	assert_null(write_levels(TN_JSON_MOST_LEVELS + 1));
}

static void what_is_skipped_nests_to_a_bound(void **state)
{
	static const struct {
		const char *text;
		tn_status status;
	} cases[] = {
		{"[[[[1, 2]]], 3]", TN_OK},
		{"{\"a\": [{\"b\": []}]}", TN_OK},
		{"[[[[[1, 2]]]], 3]", TN_FORMAT},
		{"{\"a\": [{\"b\": [{}]}]}", TN_FORMAT},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tn_error_info error;
		char text[64];
		snprintf(text, sizeof(text), "%s", cases[i].text);
		struct tn_json_reader reader = {
			.text = text, .size = strlen(text), .operation = "test", .where = "a text"};
		assert_int_equal(tn_json_skip(&reader, &error), cases[i].status);
		if (cases[i].status)
			assert_non_null(strstr(error.text, "fewer nested brackets"));
	}
}

static void a_text_keeps_its_bound(void **state)
{
	struct tn_json_writer json;
	(void)state;
	for (size_t most = 1; most < 60; most++) {
		tn_json_writer_init(&json, TN_JSON_SPACED);
		json.text.most = most;
		write_nested(&json);
		assert_true(json.text.capacity <= most);
		char *text = tn_json_writer_take(&json);
		/* 36 bytes and the NUL. */
		assert_int_equal(text != NULL, most >= 37);
		tn_mem_free(text);
	}
}

static void a_writer_survives_the_loss_of_any_allocation(void **state)
{
	struct tn_json_writer json;
	(void)state;
	for (long n = 0;; n++) {
		memory_fails_at(n, 0);
		tn_json_writer_init(&json, TN_JSON_INDENTED);
		tn_json_begin_array(&json, NULL);
		for (int i = 0; i < 100; i++)
			tn_json_add_string(&json, NULL, "a string");
		tn_json_end(&json);
		char *text = tn_json_writer_take(&json);
		int failed = memory_works() != 0;
		assert_int_equal(text == NULL, failed);
		tn_mem_free(text);
		if (!failed)
			break;
	}
}

static void the_prefix_of_utf8_ends_at_the_first_other_byte(void **state)
{
	(void)state;
	assert_int_equal(tn_utf8_prefix("", 0), 0);
	assert_int_equal(tn_utf8_prefix("a\0b", 3), 3);
	assert_int_equal(tn_utf8_prefix("\xc3\xa9z", 3), 3);
	assert_int_equal(tn_utf8_prefix("\xc3\xa9z", 1), 0);
	assert_int_equal(tn_utf8_prefix("ab\x80", 3), 2);
	assert_int_equal(tn_utf8_prefix("a\xc0\xafz", 4), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_style_has_its_blanks),
		cmocka_unit_test(items_stand_on_a_line_each),
		cmocka_unit_test(strings_are_escaped_and_are_utf8),
		cmocka_unit_test(what_is_written_reads_the_same),
		cmocka_unit_test(numbers_are_those_of_json),
		cmocka_unit_test(what_is_no_number_is_refused),
		cmocka_unit_test(brackets_and_keys_that_do_not_fit_fail),
		cmocka_unit_test(nesting_is_bounded),
		cmocka_unit_test(what_is_skipped_nests_to_a_bound),
		cmocka_unit_test(a_text_keeps_its_bound),
		cmocka_unit_test(a_writer_survives_the_loss_of_any_allocation),
		cmocka_unit_test(the_prefix_of_utf8_ends_at_the_first_other_byte),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
