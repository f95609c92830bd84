/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The option rows of a plugin, which may hold anything, and values for them.  A line of the input
 * is a row if it begins with '#': its fields follow, with tabs between; what a program gives if it
 * begins with '+': "+PLUGIN.NAME=VALUE"; else a variable.  Values that were taken are taken again.
 */
#include <string.h>

#include "lines.h"
#include "loader/kind.h"
#include "loader/plugin_options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = TN_MOST_OPTIONS + 1 };

struct input {
	struct tn_option_row rows[MOST];
	struct tn_pair pairs[MOST];
	uint32_t n_rows;
	size_t n_pairs;
};

/* The next field of a row, which ends there; NULL: it has no more, or "-". */
static char *take_field(char **rest)
{
	char *field = strsep(rest, "\t");
	return field && strcmp(field, "-") != 0 ? field : NULL;
}

static double take_number(char **rest)
{
	const char *field = take_field(rest);
	return field ? strtod(field, NULL) : 0;
}

static void take_row(struct input *input, char *line)
{
	struct tn_option_row *row = &input->rows[input->n_rows++];
	row->name = take_field(&line);
	row->variable = take_field(&line);
	const char *digit = take_field(&line);
	row->type = digit ? digit[0] & 7 : 0;
	row->standard = take_field(&line);
	row->choices = take_field(&line);
	row->least = take_number(&line);
	row->most = take_number(&line);
	row->help = take_field(&line);
}

static void take_pair(struct input *input, char *line)
{
	struct tn_pair *pair = &input->pairs[input->n_pairs++];
	pair->key = strsep(&line, "=");
	pair->value = line;
}

static void check(const struct tn_option_value *option)
{
	const struct tn_option_row *row = option->row;
	const int is_number = row->type == TN_OPTION_INTEGER || row->type == TN_OPTION_NUMBER;
	if (!option->value || !is_number)
		return;
	const double number = strtod(option->value, NULL);
	fuzz_require(number >= row->least && number <= row->most);
}

/* The values of a plugin, given as a program would. */
static void take_again(const struct tn_plugin *plugin, struct tn_parameters *parameters)
{
	char keys[TN_MOST_OPTIONS][64];
	struct tn_pair pairs[TN_MOST_OPTIONS];
	struct tn_given_options given = {.pairs = pairs};
	struct tn_plugin again = *plugin;
	again.options = NULL;
	again.n_options = 0;
	for (size_t i = 0; i < plugin->n_options; i++) {
		if (!plugin->options[i].value)
			continue;
		snprintf(keys[i], sizeof(keys[i]), "acme.%s", plugin->options[i].row->name);
		pairs[given.n++] = (struct tn_pair){keys[i], plugin->options[i].value};
	}
	fuzz_require(!tn_plugin_options_take(&again, &given, parameters, NULL));
	for (size_t i = 0; i < plugin->n_options; i++) {
		const char *value = plugin->options[i].value;
		const char *found = tn_plugin_options_value(&again, plugin->options[i].row->name);
		fuzz_require(value ? !strcmp(value, found) : !found);
	}
	tn_plugin_options_release(&again);
}

static void take(const struct input *input, struct tn_parameters *parameters)
{
	const struct tn_given_options given = {input->pairs, input->n_pairs};
	struct tn_plugin plugin = {.name = "acme", .kind = &tn_backend_kind};
	struct tn_error_info error = {0};
	plugin.descriptor.name = plugin.name;
	plugin.descriptor.n_options = input->n_rows;
	plugin.descriptor.options = input->rows;
	tn_status status = tn_plugin_options_check(&plugin.descriptor, &error);
	if (!status)
		status = tn_given_options_check(&given, plugin.kind, "open", &error);
	if (!status)
		status = tn_plugin_options_take(&plugin, &given, parameters, &error);
	fuzz_require(status == error.status && (!status || error.text[0]));
	for (size_t i = 0; !status && i < plugin.n_options; i++)
		check(&plugin.options[i]);
	if (!status)
		take_again(&plugin, parameters);
	tn_plugin_options_release(&plugin);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct input input;
	struct fuzz_lines lines;
	struct tn_parameters parameters;
	fuzz_lines_init(&lines, data, size);
	fuzz_lines_parameters(&lines, &parameters);
	memset(&input, 0, sizeof(input));
	for (char *line = NULL, *next = fuzz_lines_next(&lines, NULL); (line = next);) {
		next = fuzz_lines_next(&lines, line);
		if (line[0] == '#' && input.n_rows < MOST)
			take_row(&input, line + 1);
		else if (line[0] == '+' && input.n_pairs < MOST)
			take_pair(&input, line + 1);
	}
	take(&input, &parameters);
	tn_parameters_release(&parameters);
	fuzz_lines_release(&lines);
	return 0;
}
