/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Texts of arrays against those that NumPy prints, byte for byte (record_text.py has the format),
 * of compact arrays and of transposed ones.
 */
#include "parity/parity.h"
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
		o->precision = (int32_t)value;
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
	c->options = tn_print_defaults();
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

static struct call given;

static int read_given(FILE *file)
{
	return read_call(file, &given);
}

static void check(tn_context *context, const struct record *record, int number)
{
	const tn_array *a = text_array_make(context, &given.array);
	(void)record;
	(void)number;
	expect(context, &given, a);
	expect(context, &given, tn_transpose(tn_copy(tn_transpose(a, NULL)), NULL));
}

static int is_one_of_seven(const struct record *record, int number)
{
	(void)record;
	return number % 7 == 0;
}

const struct parity parity = {
	.claim = "prints_as_numpy",
	.records = {{"text.txt", 798}},
	.check = check,
	.read = read_given,
	.is_brief = is_one_of_seven,
	.is_mock_brief = 1,
};
