/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Texts of arrays against those that NumPy prints, byte for byte (record_text.py has the format),
 * of compact arrays and of transposed ones.
 */
#include "parity/text_record.h"

struct call {
	char function[16];
	struct tn_print_options options;
	struct text_array array;
	char expected[MOST_TEXT];
};

/* STRINGS of record_text.py. */
static const char *const strings[] = {
	"nan", "NaN", "not a number", "inf",  "Infinity", ", ",        " ",
	";",   "",    " | ",          "x = ", ")",        "----------"};

static void set_option(struct call *c, const char *name, int64_t value)
{
	struct tn_print_options *o = &c->options;
	const char *string = value >= 0 && value < 13 ? strings[value] : NULL;
	if (!strcmp(name, "precision"))
		o->precision = value ? (int32_t)value : TN_PRECISION_NONE;
	else if (!strcmp(name, "threshold"))
		o->threshold = value;
	else if (!strcmp(name, "edgeitems"))
		o->edgeitems = value;
	else if (!strcmp(name, "linewidth"))
		o->linewidth = (int32_t)value;
	else if (!strcmp(name, "sign"))
		o->sign = (int32_t)value;
	else if (!strcmp(name, "floatmode"))
		o->floatmode = (uint32_t)value;
	else if (!strcmp(name, "suppress"))
		o->suppress = (uint32_t)value;
	else if (!strcmp(name, "nanstr"))
		o->nanstr = string;
	else if (!strcmp(name, "infstr"))
		o->infstr = string;
	else if (!strcmp(name, "separator"))
		o->separator = string;
	else if (!strcmp(name, "prefix"))
		o->prefix = string;
	else if (!strcmp(name, "suffix"))
		o->suffix = string;
	else
		fail_msg("the option %s is not known", name);
}

/* The next case: 1, or 0 at the end. */
static int read_call(FILE *file, struct call *c)
{
	static char line[MOST_TEXT];
	char name[16];
	int64_t value;
	int used;
	size_t length = 0;
	c->function[0] = '\0';
	c->options = (struct tn_print_options){.struct_size = sizeof(c->options)};
	while (fgets(line, sizeof(line), file) && strcmp(line, "end\n") != 0) {
		if (sscanf(line, "case %15s%n", c->function, &used) == 1)
			text_array_begin(&c->array, line + used);
		else if (sscanf(line, "option %15s %" SCNd64, name, &value) == 2)
			set_option(c, name, value);
		else if (!strcmp(line, "counted\n"))
			c->array.is_counted = 1;
		else if (!strncmp(line, "bits ", 5))
			text_array_words(&c->array, line + 4);
		else if (line[0] == '|')
			length = text_add_line(c->expected, length, line);
	}
	if (length)
		c->expected[length - 1] = '\0';
	return c->function[0] != '\0';
}

static void expect(tn_context *context, const struct call *c, const tn_array *a)
{
	char *text = (!strcmp(c->function, "str")    ? tn_array_str
		      : !strcmp(c->function, "repr") ? tn_array_repr
						     : tn_array2string)(a, &c->options);
	if (!text)
		fail_msg("%s: %s", tn_error(context)->operation, tn_error(context)->text);
	if (strcmp(text, c->expected) != 0)
		fail_msg("%s of %s: NumPy has\n%s\nfound\n%s", c->function,
			 tn_dtype_name(c->array.dtype), c->expected, text);
	tn_string_free(text);
}

static void run_all(tn_context *context, int every)
{
	static struct call c;
	FILE *file = record_open("text.txt");
	int n = 0;
	for (; read_call(file, &c); n++) {
		if (n % every)
			continue;
		assert_ok(tn_scope_begin(context));
		const tn_array *a = text_array_make(context, &c.array);
		expect(context, &c, a);
		expect(context, &c, tn_transpose(tn_copy(tn_transpose(a, NULL)), NULL));
		tn_scope_end(context, NULL);
	}
	fclose(file);
	assert_true(n >= 500);
	tn_context_close(context);
}

static void the_reference_prints_as_numpy(void **state)
{
	(void)state;
	run_all(trial_open("reference!"), 1);
}

static void the_preferred_backend_prints_as_numpy(void **state)
{
	(void)state;
	run_all(trial_open(NULL), 1);
}

static void the_mock_prints_as_numpy(void **state)
{
	(void)state;
	run_all(open_mock(""), 7);
}

static const char *given_backend;

static void the_given_backend_prints_as_numpy(void **state)
{
	(void)state;
	run_all(trial_open(given_backend), 7);
}

int main(int n_arguments, char **arguments)
{
	const struct CMUnitTest given[] = {cmocka_unit_test(the_given_backend_prints_as_numpy)};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_reference_prints_as_numpy),
		cmocka_unit_test(the_preferred_backend_prints_as_numpy),
		/* Last: it changes the environment. */
		cmocka_unit_test(the_mock_prints_as_numpy),
	};
	given_backend = n_arguments > 1 ? arguments[1] : NULL;
	return given_backend ? cmocka_run_group_tests(given, NULL, NULL)
			     : cmocka_run_group_tests(tests, NULL, NULL);
}
