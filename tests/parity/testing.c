/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Comparisons and assertions against what NumPy's say, byte for byte (record_testing.py has the
 * format).
 */
#include "parity/parity.h"
#include "parity/text_record.h"

struct call {
	char function[32];
	double rtol, atol;
	int flag, has_message, is_different; /* NumPy's function has a text */
	struct text_array array[2];
	char expected[MOST_TEXT];
};

/* The next case: 1, or 0 at the end. */
static int read_call(FILE *file, struct call *c)
{
	static char line[MOST_TEXT];
	int which = 0;
	size_t length = 0;
	c->function[0] = '\0';
	while (fgets(line, sizeof(line), file) && strcmp(line, "end\n") != 0) {
		if (!strncmp(line, "case ", 5))
			assert_int_equal(sscanf(line + 5, "%31s %lf %lf %d %d", c->function,
						&c->rtol, &c->atol, &c->flag, &c->has_message),
					 5);
		else if (line[0] == 'x' || line[0] == 'y')
			text_array_begin(&c->array[which = line[0] == 'y'], line + 1);
		else if (!strncmp(line, "bits ", 5))
			text_array_words(&c->array[which], line + 4);
		else if (line[0] == '|')
			length = text_add_line(c->expected, length, line);
	}
	c->is_different = length > 0;
	c->expected[length ? length - 1 : 0] = '\0';
	return c->function[0] != '\0';
}

static void fail_kept(tn_context *context, const struct call *c)
{
	fail_msg("%s: %s: %s", c->function, tn_error(context)->operation, tn_error(context)->text);
}

static void expect_bools(tn_context *context, const struct call *c, const tn_array *x,
			 const tn_array *y)
{
	unsigned char bools[MOST_ELEMENTS];
	const size_t n = strlen(c->expected);
	const tn_array *found =
		!strcmp(c->function, "isclose")       ? tn_isclose(x, y, c->rtol, c->atol, c->flag)
		: !strcmp(c->function, "allclose")    ? tn_allclose(x, y, c->rtol, c->atol, c->flag)
		: !strcmp(c->function, "array_equal") ? tn_array_equal(x, y, c->flag)
						      : tn_array_equiv(x, y);
	if (!found)
		fail_kept(context, c);
	assert_int_equal(tn_array_dtype(found), TN_BOOL);
	assert_ok(tn_to_host(found, bools, n));
	for (size_t i = 0; i < n; i++) {
		if (bools[i] != (c->expected[i] == '1'))
			fail_msg("%s of %s and %s: NumPy has %s, element %zu is %d", c->function,
				 tn_dtype_name(c->array[0].dtype), tn_dtype_name(c->array[1].dtype),
				 c->expected, i, bools[i]);
	}
}

static void expect_text(tn_context *context, const struct call *c, const tn_array *x,
			const tn_array *y)
{
	struct tn_assert_options options = tn_assert_defaults();
	options.strict = (uint32_t)c->flag;
	options.err_msg = c->has_message ? "of the third kind" : NULL;
	char *text;
	tn_status status = !strcmp(c->function, "assert_allclose")
				   ? tn_assert_allclose(x, y, c->rtol, c->atol, &options, &text)
			   : !strcmp(c->function, "assert_array_less")
				   ? tn_assert_array_less(x, y, &options, &text)
				   : tn_assert_array_equal(x, y, &options, &text);
	if (status && status != TN_NOT_EQUAL)
		fail_kept(context, c);
	assert_null(tn_error(context));
	assert_int_equal(status == TN_NOT_EQUAL, text != NULL);
	if (c->is_different != (text != NULL) || (text && strcmp(text, c->expected) != 0))
		fail_msg("%s: NumPy has\n%s\nfound\n%s", c->function, c->expected,
			 text ? text : "that it passes");
	tn_string_free(text);
}

static struct call given;

static int read_given(FILE *file)
{
	return read_call(file, &given);
}

static void check(tn_context *context, const struct record *record, int number)
{
	const struct call *c = &given;
	const tn_array *x = text_array_make(context, &c->array[0]);
	const tn_array *y = text_array_make(context, &c->array[1]);
	(void)record;
	(void)number;
	(!strncmp(c->function, "assert", 6) ? expect_text : expect_bools)(context, c, x, y);
}

static int is_one_of_nineteen(const struct record *record, int number)
{
	(void)record;
	return number % 19 == 0;
}

const struct parity parity = {
	.claim = "compares_as_numpy",
	.records = {{"testing.txt", 583}},
	.check = check,
	.read = read_given,
	.is_brief = is_one_of_nineteen,
};
