/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Rows are trusted only after their check, which bounds every string of them.  A row's own value
 * passes the same check as a user's.
 */
#include "loader/plugin_options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/json_reader.h"
#include "base/memory.h"
#include "base/name.h"
#include "base/text.h"
#include "loader/kind.h"

enum { MOST_NAME = 31, MOST_VARIABLE = 63, MOST_CHOICES = 32, CHOICES_BYTES = 1024 };

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* a-z, 0-9 and '_', a letter first. */
static int is_name_letter(char c, size_t at)
{
	return (c >= 'a' && c <= 'z') || (at && (is_digit(c) || c == '_'));
}

/* A-Z, 0-9 and '_', a letter first. */
static int is_variable_letter(char c, size_t at)
{
	return (c >= 'A' && c <= 'Z') || (at && (is_digit(c) || c == '_'));
}

/* The length of the longest beginning with such letters, at most `most`. */
static size_t length_of(const char *text, size_t most, int (*is_letter)(char c, size_t at))
{
	size_t length = 0;
	while (length < most && is_letter(text[length], length))
		length++;
	return length;
}

static int is_word(const char *text, size_t most, int (*is_letter)(char c, size_t at))
{
	const size_t length = length_of(text, most, is_letter);
	return length && !text[length];
}

/* ---- Choices ---------------------------------------------------------------------------------*/

struct choices {
	char text[CHOICES_BYTES];
	const char *words[MOST_CHOICES];
	size_t n;
};

static int is_choice_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' ||
	       c == '-' || c == '.';
}

static const char *find_choice(const struct choices *choices, const char *word)
{
	for (size_t i = 0; i < choices->n; i++) {
		if (!strcmp(choices->words[i], word))
			return choices->words[i];
	}
	return NULL;
}

/* Splits "auto,off,on"; 0: a word is empty or repeated, has another letter, or there are too
 * many. */
static int split(struct choices *choices, const char *text)
{
	char *at = choices->text;
	choices->n = 0;
	if (!text || strnlen(text, CHOICES_BYTES) == CHOICES_BYTES)
		return 0;
	snprintf(choices->text, sizeof(choices->text), "%s", text);
	for (;;) {
		char *word = at;
		while (is_choice_letter(*at))
			at++;
		const char end = *at;
		*at++ = '\0';
		if (!*word || (end && end != ',') || choices->n == MOST_CHOICES ||
		    find_choice(choices, word))
			return 0;
		choices->words[choices->n++] = word;
		if (!end)
			return 1;
	}
}

/* ---- Values ----------------------------------------------------------------------------------*/

static int is_number(const struct tn_option_row *row, const char *value)
{
	/* The reader does not write to a number. */
	struct tn_json_reader json = {.text = (char *)(uintptr_t)value,
				      .size = strlen(value),
				      .operation = "option",
				      .where = row->name};
	int64_t whole = 0;
	double number = 0;
	if (*value != '-' && !is_digit(*value))
		return 0;
	if (row->type == TN_OPTION_INTEGER) {
		if (tn_json_integer(&json, &whole, NULL))
			return 0;
		number = (double)whole;
	} else if (tn_json_number(&json, &number, NULL)) {
		return 0;
	}
	return json.at == json.size && isfinite(number) && number >= row->least &&
	       number <= row->most;
}

/* The value as the plugin gets it; NULL: it does not suit the row. */
static const char *accept(const struct tn_option_row *row, const char *value)
{
	struct choices choices;
	switch (row->type) {
	case TN_OPTION_BOOL:
		if (!strcmp(value, "1") || !strcmp(value, "on"))
			return "1";
		return !strcmp(value, "0") || !strcmp(value, "off") ? "0" : NULL;
	case TN_OPTION_INTEGER:
	case TN_OPTION_NUMBER:
		return is_number(row, value) ? value : NULL;
	case TN_OPTION_CHOICE:
		return split(&choices, row->choices) && find_choice(&choices, value) ? value : NULL;
	default:
		return value;
	}
}

static void add_bounds(struct tn_text *text, const struct tn_option_row *row)
{
	tn_text_add(text, row->type == TN_OPTION_INTEGER ? "a whole number" : "a decimal number");
	if (isfinite(row->least) && isfinite(row->most))
		tn_text_format(text, " from %.15g to %.15g", row->least, row->most);
	else if (isfinite(row->least))
		tn_text_format(text, " of at least %.15g", row->least);
	else if (isfinite(row->most))
		tn_text_format(text, " of at most %.15g", row->most);
}

static void add_list(struct tn_text *text, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		tn_text_format(text, "%s%s", !i ? "" : i + 1 < n ? ", " : " or ", words[i]);
}

static void add_choices(struct tn_text *text, const struct tn_option_row *row, const char *value)
{
	struct choices choices;
	(void)split(&choices, row->choices);
	add_list(text, choices.words, choices.n);
	const char *like = tn_name_nearest(value, choices.words, choices.n);
	tn_text_format(text, ", found '%.200s'", value);
	if (like)
		tn_text_format(text, "; did you mean '%s'?", like);
}

/* Says what was expected of a value.  `subject` is what gave it: "cuda.cudnn". */
static tn_status refuse(const struct tn_option_row *row, const char *value, tn_status status,
			const char *operation, const char *subject, struct tn_error_info *error)
{
	struct tn_text text;
	tn_text_init(&text);
	tn_text_format(&text, "%s: expected ", subject);
	if (row->type == TN_OPTION_CHOICE) {
		add_choices(&text, row, value);
	} else {
		if (row->type == TN_OPTION_BOOL)
			tn_text_add(&text, "0, 1, off or on");
		else
			add_bounds(&text, row);
		tn_text_format(&text, ", found '%.200s'", value);
	}
	status = text.failed ? TN_OUT_OF_MEMORY : status;
	tn_fail(error, status, operation, "%s", text.failed ? "no host memory" : text.data);
	tn_text_release(&text);
	return status;
}

/* ---- Rows ------------------------------------------------------------------------------------*/

static const char *repeated(const struct tn_option_row *rows, size_t i)
{
	for (size_t j = 0; j < i; j++) {
		if (!strcmp(rows[j].name, rows[i].name))
			return "name";
		if (rows[i].variable && rows[j].variable &&
		    !strcmp(rows[j].variable, rows[i].variable))
			return "variable";
	}
	return NULL;
}

/* What is wrong with a row that has a name; NULL: nothing. */
static const char *fault_of(const struct tn_option_row *row)
{
	struct choices choices;
	const int is_bounded = row->type == TN_OPTION_INTEGER || row->type == TN_OPTION_NUMBER;
	if (row->variable && !is_word(row->variable, MOST_VARIABLE, is_variable_letter))
		return "its variable: expected A-Z, 0-9 and '_', a letter first, at most 63";
	if (!row->type)
		return "it has no type";
	if (row->type == TN_OPTION_CHOICE && !split(&choices, row->choices))
		return "its choices: expected at most 32 different words with commas between";
	if (is_bounded && !(row->least < row->most))
		return "its bounds: expected least < most";
	if (!row->standard && row->type != TN_OPTION_TEXT)
		return "it has no standard";
	return row->help && *row->help ? NULL : "it has no help";
}

static tn_status check_row(const struct tn_backend_descriptor *descriptor, size_t i,
			   struct tn_error_info *error)
{
	const struct tn_option_row *row = &descriptor->options[i];
	char subject[96];
	if (!row->name || !is_word(row->name, MOST_NAME, is_name_letter))
		return tn_fail(error, TN_BAD_PLUGIN, "describe",
			       "options[%zu]: its name: expected a-z, 0-9 and '_', a letter first, "
			       "at most 31, found %s%.40s%s",
			       i, row->name ? "'" : "", row->name ? row->name : "NULL",
			       row->name ? "'" : "");
	const char *twice = repeated(descriptor->options, i);
	if (twice)
		return tn_fail(error, TN_BAD_PLUGIN, "describe",
			       "option %s.%s: an earlier one has the same %s", descriptor->name,
			       row->name, twice);
	const char *fault = fault_of(row);
	if (fault)
		return tn_fail(error, TN_BAD_PLUGIN, "describe", "option %s.%s: %s",
			       descriptor->name, row->name, fault);
	snprintf(subject, sizeof(subject), "option %s.%s: its standard", descriptor->name,
		 row->name);
	return row->standard && !accept(row, row->standard)
		       ? refuse(row, row->standard, TN_BAD_PLUGIN, "describe", subject, error)
		       : TN_OK;
}

tn_status tn_plugin_options_check(const struct tn_backend_descriptor *descriptor,
				  struct tn_error_info *error)
{
	tn_status status = TN_OK;
	if (descriptor->n_options > TN_MOST_OPTIONS)
		return tn_fail(error, TN_BAD_PLUGIN, "describe",
			       "n_options: expected at most %d, found %u", TN_MOST_OPTIONS,
			       descriptor->n_options);
	if (descriptor->n_options && !descriptor->options)
		return tn_fail(error, TN_BAD_PLUGIN, "describe",
			       "options is NULL and n_options is %u", descriptor->n_options);
	for (size_t i = 0; !status && i < descriptor->n_options; i++)
		status = check_row(descriptor, i, error);
	return status;
}

/* ---- What the program gives ------------------------------------------------------------------*/

size_t tn_given_plugin_length(const char *key)
{
	return strcspn(key, ".");
}

static int is_plugin_letter(char c, size_t at)
{
	(void)at;
	return is_name_letter(c, 1);
}

static tn_status check_key(const char *key, const struct tn_plugin_kind *kind,
			   struct tn_error_info *error)
{
	char name[32];
	snprintf(name, sizeof(name), "%s's name", kind->article);
	const char *expected = name;
	size_t at = length_of(key, MOST_NAME, is_plugin_letter);
	if (at && key[at] == '.') {
		const size_t length = length_of(key + at + 1, MOST_NAME, is_name_letter);
		at += 1 + length;
		expected = length ? "the end of the name" : "an option's name after '.'";
		if (length && !key[at])
			return TN_OK;
	} else if (at) {
		expected = "'.' and an option's name";
	}
	if (!key[at])
		return tn_fail(error, TN_FORMAT, kind->options,
			       "column %zu of '%.80s': expected %s, found the end", at + 1, key,
			       expected);
	return tn_fail(error, TN_FORMAT, kind->options,
		       "column %zu of '%.80s': expected %s, found '%c'", at + 1, key, expected,
		       key[at]);
}

tn_status tn_given_options_check(const struct tn_given_options *given,
				 const struct tn_plugin_kind *kind, const char *operation,
				 struct tn_error_info *error)
{
	tn_status status = TN_OK;
	if (given->n && !given->pairs)
		return tn_fail(error, TN_INVALID_ARGUMENT, operation, "%s is NULL and n_%s is %zu",
			       kind->options, kind->options, given->n);
	for (size_t i = 0; !status && i < given->n; i++) {
		const struct tn_pair *pair = &given->pairs[i];
		if (!pair->key || !pair->value)
			return tn_fail(error, TN_INVALID_ARGUMENT, operation,
				       "%s[%zu]: its %s is NULL", kind->options, i,
				       pair->key ? "value" : "key");
		status = check_key(pair->key, kind, error);
	}
	return status;
}

/* The option's name in a key of that plugin; NULL: the key is of another. */
static const char *name_in(const char *key, const struct tn_plugin *plugin)
{
	const size_t length = tn_given_plugin_length(key);
	return !strncmp(key, plugin->name, length) && !plugin->name[length] ? key + length + 1
									    : NULL;
}

static const struct tn_option_row *find_row(const struct tn_plugin *plugin, const char *name)
{
	const struct tn_option_row *rows = plugin->descriptor.options;
	for (size_t i = 0; i < plugin->descriptor.n_options; i++) {
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	}
	return NULL;
}

static tn_status refuse_unknown(const struct tn_plugin *plugin, const char *name,
				struct tn_error_info *error)
{
	const char *names[TN_MOST_OPTIONS] = {NULL};
	const size_t n = plugin->descriptor.n_options;
	struct tn_text text;
	for (size_t i = 0; i < n; i++)
		names[i] = plugin->descriptor.options[i].name;
	const char *like = tn_name_nearest(name, names, n);
	tn_text_init(&text);
	if (like)
		tn_text_format(&text, "; did you mean '%s.%s'?", plugin->name, like);
	else if (n)
		tn_text_add(&text, "; expected ");
	if (!like)
		add_list(&text, names, n);
	tn_fail(error, TN_NOT_FOUND, plugin->kind->options, "%s %s has no option '%s'%s",
		plugin->kind->name, plugin->name, name,
		text.length && !text.failed ? text.data : "");
	tn_text_release(&text);
	return TN_NOT_FOUND;
}

static tn_status find_unknown(const struct tn_plugin *plugin, const struct tn_given_options *given,
			      struct tn_error_info *error)
{
	for (size_t i = 0; i < given->n; i++) {
		const char *name = name_in(given->pairs[i].key, plugin);
		if (name && !find_row(plugin, name))
			return refuse_unknown(plugin, name, error);
	}
	return TN_OK;
}

/* ---- Values of a plugin ----------------------------------------------------------------------*/

static const char *find_given(const struct tn_plugin *plugin, const struct tn_given_options *given,
			      const char *option)
{
	for (size_t i = given->n; i-- > 0;) {
		const char *name = name_in(given->pairs[i].key, plugin);
		if (name && !strcmp(name, option))
			return given->pairs[i].value;
	}
	return NULL;
}

/* The variable is read, and so listed by `tenon info --env`, even where the program's value
 * counts. */
static tn_status read_variable(const struct tn_plugin *plugin, const struct tn_option_row *row,
			       struct tn_parameters *parameters, const char **value)
{
	struct tn_text help;
	*value = NULL;
	if (!row->variable)
		return TN_OK;
	tn_text_init(&help);
	tn_text_format(&help, "%s.%s: %s", plugin->name, row->name, row->help);
	if (!help.failed)
		*value = tn_parameter_read(parameters, row->variable, help.data);
	const tn_status status = help.failed ? TN_OUT_OF_MEMORY : TN_OK;
	tn_text_release(&help);
	if (*value && !**value)
		*value = NULL;
	return status;
}

static tn_status take_option(const struct tn_plugin *plugin, const struct tn_given_options *given,
			     struct tn_parameters *parameters, struct tn_option_value *option,
			     struct tn_error_info *error)
{
	const struct tn_option_row *row = option->row;
	const char *variable, *value = find_given(plugin, given, row->name);
	char subject[2 * (MOST_VARIABLE + 1)];
	tn_status status = read_variable(plugin, row, parameters, &variable);
	if (status)
		return tn_no_memory(error, "create", NULL, "a variable");
	option->origin = value ? "program" : variable ? "environment" : "default";
	if (!value)
		value = variable ? variable : row->standard;
	if (!value)
		return TN_OK;
	const char *accepted = accept(row, value);
	if (accepted) {
		option->value = tn_mem_copy_string(accepted);
		return option->value ? TN_OK : tn_no_memory(error, "create", NULL, "an option");
	}
	snprintf(subject, sizeof(subject), "option %s.%s", plugin->name, row->name);
	if (value != variable)
		return refuse(row, value, TN_INVALID_ARGUMENT, plugin->kind->options, subject,
			      error);
	snprintf(subject, sizeof(subject), "%s (%s.%s)", row->variable, plugin->name, row->name);
	return refuse(row, value, TN_FORMAT, "create", subject, error);
}

tn_status tn_plugin_options_take(struct tn_plugin *plugin, const struct tn_given_options *given,
				 struct tn_parameters *parameters, struct tn_error_info *error)
{
	const struct tn_backend_descriptor *descriptor = &plugin->descriptor;
	tn_status status = find_unknown(plugin, given, error);
	if (status || !descriptor->n_options)
		return status;
	plugin->options = tn_mem_zeroed(descriptor->n_options, sizeof(*plugin->options));
	if (!plugin->options)
		return tn_no_memory(error, "create", NULL, "the options");
	plugin->n_options = descriptor->n_options;
	for (size_t i = 0; i < plugin->n_options; i++)
		plugin->options[i].row = &descriptor->options[i];
	for (size_t i = 0; !status && i < plugin->n_options; i++)
		status = take_option(plugin, given, parameters, &plugin->options[i], error);
	return status;
}

void tn_plugin_options_release(struct tn_plugin *plugin)
{
	for (size_t i = 0; i < plugin->n_options; i++)
		tn_mem_free(plugin->options[i].value);
	tn_mem_free(plugin->options);
	plugin->options = NULL;
	plugin->n_options = 0;
}

const char *tn_plugin_options_value(const struct tn_plugin *plugin, const char *name)
{
	for (size_t i = 0; name && i < plugin->n_options; i++) {
		if (!strcmp(plugin->options[i].row->name, name))
			return plugin->options[i].value;
	}
	return NULL;
}
