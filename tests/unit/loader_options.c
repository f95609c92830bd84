/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The options of a plugin: which rows are refused, where a value comes from, which values a row
 * takes, what a wrong one does, and what the plugin and the report see.
 */
#include "loader/plugin_options.h"
#include "base/error.h"
#include "loader/kind.h"
#include "loader/report_json.h"
#include "../plugins/minimal.h"
#include "loader_fixture.h"

#include <math.h>
#include <tenon/plugin.h>

/* ---- A plugin with options -------------------------------------------------------------------*/

static const struct tn_option_row rows[] = {
	{.name = "fast",
	 .variable = "TENON_ACME_FAST",
	 .type = TN_OPTION_BOOL,
	 .standard = "off",
	 .help = "fast sums"},
	{.name = "depth",
	 .variable = "TENON_ACME_DEPTH",
	 .type = TN_OPTION_INTEGER,
	 .standard = "3",
	 .least = -5,
	 .most = 9,
	 .help = "how deep"},
	{.name = "share",
	 .type = TN_OPTION_NUMBER,
	 .standard = "0.5",
	 .least = 0,
	 .most = INFINITY,
	 .help = "how much"},
	{.name = "mode",
	 .variable = "TENON_ACME_MODE",
	 .type = TN_OPTION_CHOICE,
	 .standard = "auto",
	 .choices = "auto,off,on-2",
	 .help = "how"},
	{.name = "file",
	 .variable = "TENON_ACME_FILE",
	 .type = TN_OPTION_TEXT,
	 .help = "the library to open"},
	{.name = "later", .type = 77, .standard = "x y", .help = "of a later version"},
};
enum { N_ROWS = sizeof(rows) / sizeof(*rows) };

/* What `create` saw: "fast=0 depth=3 ...". */
static char seen[512];
static int n_created;

static tn_status create(const struct tn_host *host, struct tn_error_info *error, void **instance)
{
	seen[0] = '\0';
	n_created++;
	for (size_t i = 0; i < N_ROWS; i++) {
		const char *value = tn_plugin_option(host, rows[i].name);
		size_t used = strlen(seen);
		snprintf(seen + used, sizeof(seen) - used, "%s%s=%s", i ? " " : "", rows[i].name,
			 value ? value : "(none)");
	}
	assert_null(tn_plugin_option(host, "nothing"));
	assert_null(tn_plugin_option(host, NULL));
	return minimal_create(host, error, instance);
}

static struct tn_backend_descriptor acme = {
	.struct_size = sizeof(acme),
	.magic = TN_BACKEND_MAGIC,
	.abi_major = TN_ABI_MAJOR,
	.abi_minor = TN_ABI_MINOR,
	.oldest_host = TN_ABI_OLDEST_HOST,
	.uuid = {8},
	.name = "acme",
	.version = "1",
	.licence = "Apache-2.0",
	.create = create,
	.destroy = minimal_destroy,
	.query = minimal_query,
};

static void use_rows(const struct tn_option_row *options, uint32_t n)
{
	acme.options = options;
	acme.n_options = n;
}

/* Opens a registry on acme alone, with n pairs of the program. */
static tn_status open_acme(struct opened *opened, const struct tn_pair *pairs, size_t n)
{
	static const struct tn_backend_descriptor *const built_in[] = {&acme};
	n_created = 0;
	prepare(opened);
	assert_ok(tn_logger_configure(&opened->logger, "info", NULL));
	opened->options.n_paths = 0;
	opened->options.built_in = built_in;
	opened->options.n_built_in = 1;
	opened->options.given = (struct tn_given_options){pairs, n};
	return open_prepared(opened);
}

/* ---- Rows ------------------------------------------------------------------------------------*/

#define TEXT .type = TN_OPTION_TEXT, .help = "x"
#define LONG_NAME "abcdefghijklmnopqrstuvwxyz_01234"

static void broken_rows_are_refused(void **state)
{
	static const struct {
		struct tn_option_row rows[2];
		const char *text;
	} cases[] = {
		{{{.name = NULL, TEXT}}, "options[0]: its name: expected a-z, "},
		{{{.name = "", TEXT}}, "found ''"},
		{{{.name = "9", TEXT}}, "found '9'"},
		{{{.name = "a.b", TEXT}}, "found 'a.b'"},
		{{{.name = LONG_NAME, TEXT}}, "at most 31, found 'abc"},
		{{{.name = "a", TEXT}, {.name = "a", TEXT}},
		 "option acme.a: an earlier one has the same name"},
		{{{.name = "a", .variable = "A", TEXT}, {.name = "b", .variable = "A", TEXT}},
		 "option acme.b: an earlier one has the same variable"},
		{{{.name = "a", .variable = "", TEXT}},
		 "option acme.a: its variable: expected A-Z"},
		{{{.name = "a", .variable = "A=B", TEXT}}, "its variable"},
		{{{.name = "a", .help = "x"}}, "it has no type"},
		{{{.name = "a", .type = TN_OPTION_TEXT}}, "it has no help"},
		{{{.name = "a", .type = TN_OPTION_TEXT, .help = ""}}, "it has no help"},
		{{{.name = "a", .type = TN_OPTION_BOOL, .help = "x"}}, "it has no standard"},
		{{{.name = "a", .type = TN_OPTION_BOOL, .standard = "yes", .help = "x"}},
		 "option acme.a: its standard: expected 0, 1, off or on, found 'yes'"},
		{{{.name = "a", .type = TN_OPTION_INTEGER, .standard = "0", .help = "x"}},
		 "its bounds: expected least < most"},
		{{{.name = "a",
		   .type = TN_OPTION_NUMBER,
		   .standard = "0",
		   .least = NAN,
		   .most = 1,
		   .help = "x"}},
		 "its bounds"},
		{{{.name = "a",
		   .type = TN_OPTION_INTEGER,
		   .standard = "2",
		   .most = 1,
		   .help = "x"}},
		 "its standard: expected a whole number from 0 to 1, found '2'"},
		{{{.name = "a", .type = TN_OPTION_CHOICE, .standard = "x", .help = "x"}},
		 "its choices: expected at most 32 different words"},
		{{{.name = "a",
		   .type = TN_OPTION_CHOICE,
		   .standard = "",
		   .choices = "",
		   .help = "x"}},
		 "its choices"},
		{{{.name = "a",
		   .type = TN_OPTION_CHOICE,
		   .standard = "x",
		   .choices = "x,",
		   .help = "x"}},
		 "its choices"},
		{{{.name = "a",
		   .type = TN_OPTION_CHOICE,
		   .standard = "x",
		   .choices = "x,y,x",
		   .help = "x"}},
		 "its choices"},
		{{{.name = "a",
		   .type = TN_OPTION_CHOICE,
		   .standard = "x",
		   .choices = "x, y",
		   .help = "x"}},
		 "its choices"},
	};
	struct opened opened;
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		use_rows(cases[i].rows, cases[i].rows[1].name ? 2 : 1);
		assert_status(open_acme(&opened, NULL, 0), TN_NO_DEVICE);
		assert_status(row_of(&opened, "acme")->status, TN_BAD_PLUGIN);
		assert_int_equal(row_of(&opened, "acme")->stage, TN_STAGE_DESCRIBE);
		assert_contains(row_of(&opened, "acme")->text, cases[i].text);
		assert_int_equal(n_created, 0);
		release(&opened);
	}
}

static void wrong_counts_are_refused(void **state)
{
	static const struct {
		const struct tn_option_row *rows;
		uint32_t n;
		const char *text;
	} cases[] = {
		{NULL, 1, "options is NULL and n_options is 1"},
		{rows, TN_MOST_OPTIONS + 1, "n_options: expected at most 64, found 65"},
	};
	struct opened opened;
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		use_rows(cases[i].rows, cases[i].n);
		open_acme(&opened, NULL, 0);
		assert_status(row_of(&opened, "acme")->status, TN_BAD_PLUGIN);
		assert_contains(row_of(&opened, "acme")->text, cases[i].text);
		release(&opened);
	}
}

/* ---- Values ----------------------------------------------------------------------------------*/

static void clear_variables(void)
{
	for (size_t i = 0; i < N_ROWS; i++) {
		if (rows[i].variable)
			unsetenv(rows[i].variable);
	}
}

static void the_program_counts_before_the_environment(void **state)
{
	static const struct tn_pair pairs[] = {{"acme.mode", "auto"},
					       {"acme.fast", "on"},
					       {"other.mode", "on-2"},
					       {"acme.mode", "off"}};
	struct opened opened;
	(void)state;
	clear_variables();
	use_rows(rows, N_ROWS);
	assert_ok(open_acme(&opened, NULL, 0));
	assert_string_equal(seen, "fast=0 depth=3 share=0.5 mode=auto file=(none) later=x y");
	release(&opened);
	setenv("TENON_ACME_MODE", "on-2", 1);
	setenv("TENON_ACME_DEPTH", "-5", 1);
	setenv("TENON_ACME_FILE", "", 1);
	assert_ok(open_acme(&opened, pairs, 4));
	assert_string_equal(seen, "fast=1 depth=-5 share=0.5 mode=off file=(none) later=x y");
	assert_contains(opened.messages, "option other.mode is not used: backend other");
	assert_null(strstr(opened.messages, "option acme"));
	release(&opened);
	clear_variables();
}

static void a_privileged_process_reads_no_variable(void **state)
{
	static const struct tn_backend_descriptor *const built_in[] = {&acme};
	struct opened opened;
	(void)state;
	setenv("TENON_ACME_MODE", "nonsense", 1);
	use_rows(rows, N_ROWS);
	prepare(&opened);
	opened.parameters.privileged = 1;
	opened.options.n_paths = 0;
	opened.options.built_in = built_in;
	opened.options.n_built_in = 1;
	assert_ok(open_prepared(&opened));
	assert_contains(seen, "mode=auto");
	release(&opened);
	clear_variables();
}

/* The value as the plugin sees it; NULL: it is refused with `text`. */
static const struct {
	const char *key, *value, *result, *text;
} values[] = {
	{"acme.fast", "0", "fast=0", NULL},
	{"acme.fast", "1", "fast=1", NULL},
	{"acme.fast", "off", "fast=0", NULL},
	{"acme.fast", "yes", NULL, "acme.fast: expected 0, 1, off or on, found 'yes'"},
	{"acme.fast", "", NULL, "found ''"},
	{"acme.depth", "9", "depth=9 ", NULL},
	{"acme.depth", "-5", "depth=-5 ", NULL},
	{"acme.depth", "10", NULL, "acme.depth: expected a whole number from -5 to 9, found '10'"},
	{"acme.depth", "2.5", NULL, "found '2.5'"},
	{"acme.depth", " 2", NULL, "found ' 2'"},
	{"acme.depth", "2 ", NULL, "found '2 '"},
	{"acme.depth", "99999999999999999999", NULL, "found '9999"},
	{"acme.depth", "", NULL, "found ''"},
	{"acme.share", "2.5e3", "share=2.5e3 ", NULL},
	{"acme.share", "-0.1", NULL, "acme.share: expected a decimal number of at least 0"},
	{"acme.share", "1e999", NULL, "found '1e999'"},
	{"acme.share", "nan", NULL, "found 'nan'"},
	{"acme.mode", "on-2", "mode=on-2 ", NULL},
	{"acme.mode", "of", NULL, "expected auto, off or on-2, found 'of'; did you mean 'off'?"},
	{"acme.mode", "auto,off", NULL, "found 'auto,off'"},
	{"acme.file", "", "file= ", NULL},
	{"acme.file", "any thing", "file=any thing ", NULL},
	{"acme.later", "", "later=", NULL},
};

static void values_are_checked(void **state)
{
	struct opened opened;
	(void)state;
	clear_variables();
	use_rows(rows, N_ROWS);
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		const struct tn_pair pair = {values[i].key, values[i].value};
		const tn_status status = open_acme(&opened, &pair, 1);
		if (values[i].result) {
			assert_ok(status);
			assert_contains(seen, values[i].result);
		} else {
			assert_status(status, TN_INVALID_ARGUMENT);
			assert_contains(opened.error.text, values[i].text);
			assert_string_equal(opened.error.operation, "backend_options");
			assert_int_equal(n_created, 0);
		}
		release(&opened);
	}
}

static void a_wrong_variable_is_the_plugins_error(void **state)
{
	struct opened opened;
	(void)state;
	use_rows(rows, N_ROWS);
	setenv("TENON_ACME_DEPTH", "deep", 1);
	assert_status(open_acme(&opened, NULL, 0), TN_NO_DEVICE);
	assert_status(row_of(&opened, "acme")->status, TN_PROBE_FAILED);
	assert_int_equal(row_of(&opened, "acme")->stage, TN_STAGE_CREATE);
	assert_string_equal(row_of(&opened, "acme")->text,
			    "TENON_ACME_DEPTH (acme.depth): expected a whole number from -5 to 9, "
			    "found 'deep'");
	release(&opened);
	/* The program's value hides it. */
	assert_ok(open_acme(&opened, &(struct tn_pair){"acme.depth", "1"}, 1));
	release(&opened);
	clear_variables();
}

static void unknown_options_are_refused(void **state)
{
	static const struct {
		const char *key, *text;
	} cases[] = {
		{"acme.dept", "backend acme has no option 'dept'; did you mean 'acme.depth'?"},
		{"acme.xyzzy", "has no option 'xyzzy'; expected fast, depth, share, mode, file or "
			       "later"},
	};
	struct opened opened;
	(void)state;
	use_rows(rows, N_ROWS);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct tn_pair pair = {cases[i].key, "1"};
		assert_status(open_acme(&opened, &pair, 1), TN_NOT_FOUND);
		assert_contains(opened.error.text, cases[i].text);
		release(&opened);
	}
	use_rows(NULL, 0);
	assert_status(open_acme(&opened, &(struct tn_pair){"acme.fast", "1"}, 1), TN_NOT_FOUND);
	assert_string_equal(opened.error.text, "backend acme has no option 'fast'");
	release(&opened);
}

static void the_form_of_a_key_is_checked(void **state)
{
	static const struct {
		const char *key, *value;
		tn_status status;
		const char *text;
	} cases[] = {
		{"a_1.b_2", "", TN_OK, ""},
		{"1.b", "", TN_OK, ""},
		{NULL, "1", TN_INVALID_ARGUMENT, "backend_options[0]: its key is NULL"},
		{"a.b", NULL, TN_INVALID_ARGUMENT, "its value is NULL"},
		{"", "1", TN_FORMAT, "column 1 of '': expected a backend's name, found the end"},
		{".b", "1", TN_FORMAT, "column 1 of '.b': expected a backend's name, found '.'"},
		{"acme", "1", TN_FORMAT, "column 5 of 'acme': expected '.' and an option's name"},
		{"acme.", "1", TN_FORMAT, "column 6 of 'acme.': expected an option's name after"},
		{"acme.1", "1", TN_FORMAT, "column 6 of 'acme.1': expected an option's name"},
		{"acme.a b", "1", TN_FORMAT, "column 7 of 'acme.a b': expected the end of the"},
		{"acme." LONG_NAME, "1", TN_FORMAT, "column 37 of"},
		{LONG_NAME ".a", "1", TN_FORMAT, "column 32 of"},
	};
	struct tn_error_info error;
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct tn_pair pair = {cases[i].key, cases[i].value};
		const struct tn_given_options given = {&pair, 1};
		tn_error_reset(&error);
		assert_status(
			tn_given_options_check(&given, &tn_backend_kind, "context_open", &error),
			cases[i].status);
		assert_contains(error.text, cases[i].text);
	}
	assert_status(tn_given_options_check(&(struct tn_given_options){NULL, 2}, &tn_backend_kind,
					     "context_open", &error),
		      TN_INVALID_ARGUMENT);
}

/* ---- The report ------------------------------------------------------------------------------*/

static void the_report_lists_them(void **state)
{
	struct opened opened;
	(void)state;
	use_rows(rows, N_ROWS);
	setenv("TENON_ACME_MODE", "off", 1);
	assert_ok(open_acme(&opened, &(struct tn_pair){"acme.depth", "7"}, 1));
	const struct tn_load_row *row = row_of(&opened, "acme");
	assert_int_equal(row->n_options, N_ROWS);
	const struct tn_load_option *depth = row->options[1], *mode = row->options[3];
	assert_int_equal(depth->struct_size, sizeof(*depth));
	assert_string_equal(depth->name, "depth");
	assert_int_equal(depth->type, TN_OPTION_INTEGER);
	assert_string_equal(depth->value, "7");
	assert_string_equal(depth->origin, "program");
	assert_close(depth->least, -5, 0);
	assert_close(depth->most, 9, 0);
	assert_string_equal(mode->origin, "environment");
	assert_string_equal(mode->choices, "auto,off,on-2");
	assert_string_equal(row->options[4]->value, "");
	assert_string_equal(row->options[4]->origin, "default");
	assert_int_equal(row->options[5]->type, TN_OPTION_TEXT);
	const char *text = tn_load_report_text(opened.report);
	assert_contains(text, "acme.depth=7 (integer, program; default 3)");
	assert_contains(text, "acme.mode=off (choice, environment; default auto)");
	assert_contains(text, "acme.fast=0 (bool, default)");
	const char *json = tn_load_report_json(opened.report);
	assert_contains(json, "\"type\": \"integer\"");
	assert_contains(json, "\"least\": -5");
	/* It is listed among the variables, with the name of the option. */
	int is_declared = 0;
	for (size_t i = 0; i < opened.parameters.n; i++)
		is_declared |= !strcmp(opened.parameters.list[i].help, "acme.depth: how deep");
	assert_true(is_declared);
	release(&opened);
	clear_variables();
}

/* As the isolated probe hands it over. */
static void the_report_passes_as_json(void **state)
{
	struct opened opened;
	(void)state;
	put("optioned");
	assert_ok(open_selected(&opened, NULL));
	const char *json = tn_load_report_json(opened.report);
	struct tn_load_report *copy = tn_report_from_json(json, strlen(json));
	assert_non_null(copy);
	const struct tn_load_row *a = row_of(&opened, "optioned");
	const struct tn_load_row *b = tn_load_report_find(copy, "optioned");
	assert_int_equal(a->n_options, 5);
	assert_int_equal(b->n_options, 5);
	for (uint32_t i = 0; i < a->n_options; i++) {
		const struct tn_load_option *x = a->options[i], *y = b->options[i];
		assert_string_equal(x->name, y->name);
		assert_int_equal(x->type, y->type);
		assert_string_equal(x->variable, y->variable);
		assert_string_equal(x->standard, y->standard);
		assert_string_equal(x->value, y->value);
		assert_string_equal(x->origin, y->origin);
		assert_string_equal(x->choices, y->choices);
		assert_string_equal(x->help, y->help);
		assert_true(x->least == y->least && x->most == y->most);
	}
	tn_load_report_destroy(copy);
	release(&opened);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(broken_rows_are_refused),
		cmocka_unit_test(wrong_counts_are_refused),
		cmocka_unit_test(the_program_counts_before_the_environment),
		cmocka_unit_test(a_privileged_process_reads_no_variable),
		cmocka_unit_test(values_are_checked),
		cmocka_unit_test(a_wrong_variable_is_the_plugins_error),
		cmocka_unit_test(unknown_options_are_refused),
		cmocka_unit_test(the_form_of_a_key_is_checked),
		cmocka_unit_test(the_report_lists_them),
		cmocka_unit_test(the_report_passes_as_json),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
