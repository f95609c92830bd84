/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Decimal numbers as text.
 */
#include "base/decimal.h"

#include <locale.h>

#include "check.h"

static void a_number_is_the_whole_of_its_text(void **state)
{
	static const struct {
		const char *text;
		double value;
	} cases[] = {
		{"0", 0},           {"-1.5", -1.5},
		{"+.5", 0.5},       {"5.", 5},
		{"1e3", 1000},      {"1E-2", 0.01},
		{"2.5e+1", 25},     {"0.1", 0.1},
		{"007", 7},         {"1e-400", 0},
		{"5e-324", 5e-324}, {"1.7976931348623157e308", 1.7976931348623157e308},
	};
	double value;
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (!tn_decimal_read(cases[i].text, &value) || value != cases[i].value)
			fail_msg("'%s' is not read", cases[i].text);
	}
}

static void nothing_else_is_a_number(void **state)
{
	static const char *const cases[] = {"",      " 1",    "1 ",  "-",   "+-1",   ".",   "1e",
					    "e1",    "1e+",   "1,5", "0x1", "0x1p3", "nan", "inf",
					    "1.2.3", "1e400", "1f",  "\t1", "1_0",   "--1"};
	double value;
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (tn_decimal_read(cases[i], &value))
			fail_msg("'%s' is read as %g", cases[i], value);
	}
}

static void the_locale_of_the_program_does_not_count(void **state)
{
	double value = 0;
	(void)state;
	if (!setlocale(LC_ALL, "de_DE.UTF-8"))
		print_message("(without a locale of another decimal point)\n");
	const int is_read = tn_decimal_read("2.5", &value);
	setlocale(LC_ALL, "C");
	assert_true(is_read && value == 2.5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_number_is_the_whole_of_its_text),
		cmocka_unit_test(nothing_else_is_a_number),
		cmocka_unit_test(the_locale_of_the_program_does_not_count),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
