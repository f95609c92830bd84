/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reads a command line by a table of options, prints its help, and explains a wrong name or value.
 */
#include "option_table.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/name.h"

#define MOST_NAMES 112  /* of rows and aliases together */
#define FIRST_VALUE 256 /* value for getopt_long, above all letters */
#define REAL_END 1e30   /* bound of numbers on the command line */

const char *did_you_mean(const char *word, const char *const *names, size_t n, char *buffer,
			 size_t size)
{
	const char *like = tn_name_nearest(word, names, n);
	buffer[0] = '\0';
	if (like)
		snprintf(buffer, size, "; did you mean '%s'?", like);
	return buffer;
}

int parse_count(const char *text, uint64_t lowest, uint64_t highest, uint64_t *value)
{
	char *end;
	if (*text < '0' || *text > '9')
		return 0;
	errno = 0;
	unsigned long long number = strtoull(text, &end, 10);
	if (errno || *end || number < lowest || number > highest)
		return 0;
	*value = number;
	return 1;
}

/* strtod also accepts leading blanks, hexadecimal, inf and nan, which no option takes. */
int parse_real(const char *text, double *value)
{
	char *end;
	if (text[strspn(text, "0123456789.eE+-")])
		return 0;
	double number = strtod(text, &end);
	if (end == text || *end || !(number >= 0.0 && number < REAL_END))
		return 0;
	*value = number;
	return 1;
}

static int wrong(const struct option_table *table, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int wrong(const struct option_table *table, const char *format, ...)
{
	va_list arguments;
	fprintf(stderr, "%s: ", table->command);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fprintf(stderr, "\nTry: %s --help\n", table->command);
	return OPTIONS_WRONG;
}

/* ---- Help -------------------------------------------------------------------------------------*/

static const char *separator_of(const char *argument)
{
	return argument && strncmp(argument, "[=", 2) != 0 ? " " : "";
}

static int width_of(const struct option_row *row)
{
	const char *argument = row->argument ? row->argument : "";
	return (int)(strlen(row->name) + strlen(separator_of(row->argument)) + strlen(argument));
}

/* The widest option beside which there is room for its text. */
enum { MOST_WIDTH = 22 };

/* Aligns the lines of `text` with the first one, which is the next one if the option is wide. */
static void print_row(const char *name, const char *argument, const char *text, int width)
{
	int used = printf("  --%s%s%s", name, separator_of(argument), argument ? argument : "");
	if (used > width + 4) {
		printf("\n");
		used = 0;
	}
	for (;;) {
		size_t length = strcspn(text, "\n");
		printf("%*s%.*s\n", width + 6 - used, "", (int)length, text);
		if (!text[length])
			return;
		text += length + 1;
		used = 0;
	}
}

/* `options_first`: the operands are a command. */
static int print_help(const struct option_table *table, int options_first)
{
	int width = (int)strlen("help");
	if (options_first)
		printf("usage: %s [options] %s\n\n", table->command, table->operands);
	else
		printf("usage: %s %s%s[options]\n\n", table->command, table->operands,
		       *table->operands ? " " : "");
	if (table->about)
		printf("%s\n", table->about);
	for (size_t i = 0; i < table->n_rows; i++) {
		const int own = width_of(&table->rows[i]);
		width = own > width && own <= MOST_WIDTH ? own : width;
	}
	for (size_t i = 0; i < table->n_rows; i++)
		print_row(table->rows[i].name, table->rows[i].argument, table->rows[i].help, width);
	print_row("help", NULL, "show this text (also -h)", width);
	return OPTIONS_HELPED;
}

/* ---- Values -----------------------------------------------------------------------------------*/

static int take_choice(const struct option_row *row, const char *text)
{
	for (uint32_t i = 0; row->choices[i]; i++) {
		if (!strcmp(row->choices[i], text)) {
			*row->choice = i;
			return 1;
		}
	}
	return 0;
}

static int take_real(const struct option_row *row, const char *text)
{
	double number;
	if (!parse_real(text, &number) || number < row->lowest ||
	    (row->highest > 0 && number > row->highest) ||
	    (row->below_highest && number >= row->highest) ||
	    (row->above_lowest && number <= row->lowest))
		return 0;
	*row->real = number;
	return 1;
}

/* Stores the value; 0: not a value of this option. */
static int take_value(const struct option_row *row, const char *text)
{
	if (row->take)
		return row->take(row->values, text);
	if (row->flag)
		*row->flag = 1;
	if (row->text)
		*row->text = text;
	if (row->count)
		return parse_count(text, (uint64_t)row->lowest, (uint64_t)row->highest, row->count);
	if (row->real)
		return take_real(row, text);
	return row->choice ? take_choice(row, text) : 1;
}

/* Writes "adamw or sgd", with `prefix` before each. */
static void print_list(const char *prefix, const char *const *choices, char *buffer, size_t size)
{
	size_t used = 0;
	for (size_t i = 0; choices[i] && used < size; i++) {
		const char *between = !i ? "" : choices[i + 1] ? ", " : " or ";
		used += (size_t)snprintf(buffer + used, size - used, "%s%s%s", between, prefix,
					 choices[i]);
	}
}

/* Describes what the option takes. */
static const char *expected(const struct option_row *row, char *buffer, size_t size)
{
	if (row->take)
		return row->expected;
	if (row->choice)
		print_list("", row->choices, buffer, size);
	else if (row->count)
		snprintf(buffer, size, "a whole number from %.0f to %.0f", row->lowest,
			 row->highest);
	else if (row->highest > 0)
		snprintf(buffer, size, "a decimal number %s %g %s %g",
			 row->above_lowest ? "above" : "from", row->lowest,
			 row->below_highest  ? "and below"
			 : row->above_lowest ? "and up to"
					     : "to",
			 row->highest);
	else
		snprintf(buffer, size, "a decimal number %s %g and below %g",
			 row->above_lowest ? "above" : "of at least", row->lowest, REAL_END);
	return buffer;
}

/* What getopt_long's value stands for: rows come first, then aliases. */
struct given {
	const struct option_row *row;
	const struct option_alias *alias; /* NULL: the row's own name */
	const char *name;
};

/* Describes what it takes. */
static const char *expected_of(const struct given *given, char *buffer, size_t size)
{
	return given->alias && given->alias->expected ? given->alias->expected
						      : expected(given->row, buffer, size);
}

static int wrong_value(const struct option_table *table, const struct given *given,
		       const char *text)
{
	const struct option_row *row = given->row;
	char words[256], hint[80] = "";
	size_t n = 0;
	while (row->choice && row->choices[n])
		n++;
	if (n && text)
		did_you_mean(text, row->choices, n, hint, sizeof(hint));
	return wrong(table, "--%s: expected %s, found '%s'%s", given->name,
		     expected_of(given, words, sizeof(words)), text ? text : "", hint);
}

/* ---- Names ------------------------------------------------------------------------------------*/

/* Finds the options with that prefix, or else the most similar one. */
static size_t options_like(const struct option_table *table, const char *name, const char **like)
{
	const char *names[MOST_NAMES + 1], *nearest;
	size_t n = 0, n_like = 0;
	for (; n < table->n_rows; n++)
		names[n] = table->rows[n].name;
	for (size_t i = 0; i < table->n_aliases; i++)
		names[n++] = table->aliases[i].name;
	names[n++] = "help";
	for (size_t i = 0; i < n; i++) {
		if (*name && !strncmp(names[i], name, strlen(name)))
			like[n_like++] = names[i];
	}
	if (!n_like && (nearest = tn_name_nearest(name, names, n)))
		like[n_like++] = nearest;
	return n_like;
}

static int wrong_name(const struct option_table *table, const char *word)
{
	const char *like[MOST_NAMES + 2] = {NULL};
	char hint[1024] = "", name[64];
	const char *begin = word + strspn(word, "-");
	int length = (int)strcspn(word, "=");
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(begin, "="), begin);
	if (!options_like(table, name, like))
		return wrong(table, "there is no option '%.*s'", length, word);
	print_list("--", like, hint, sizeof(hint));
	return wrong(table, "there is no option '%.*s'; did you mean %s?", length, word, hint);
}

/* The word with the option that getopt_long has just refused.  optind is past it, unless unread
 * letters of a group of short options remain. */
static const char *word_refused(char **argv)
{
	const char *word = argv[optind];
	int is_begun = word && optopt && word[0] == '-' && word[1] == optopt;
	return is_begun ? word : argv[optind - 1];
}

/* ---- Aliases ---------------------------------------------------------------------------------*/

static const struct option_row *row_named(const struct option_table *table, const char *name)
{
	for (size_t i = 0; i < table->n_rows; i++) {
		if (!strcmp(table->rows[i].name, name))
			return &table->rows[i];
	}
	return NULL;
}

static struct given given_by(const struct option_table *table, int value)
{
	size_t i = (size_t)(value - FIRST_VALUE);
	if (i < table->n_rows)
		return (struct given){&table->rows[i], NULL, table->rows[i].name};
	const struct option_alias *alias = &table->aliases[i - table->n_rows];
	return (struct given){row_named(table, alias->option), alias, alias->name};
}

/* What the option gets for an argument of its alias; `buffer` is for a prefix, which makes one
 * setting: a comma would begin another. */
static const char *translated(const struct option_alias *alias, const char *text, char *buffer,
			      size_t size)
{
	if (!alias)
		return text;
	if (alias->value)
		return alias->value;
	if (alias->prefix) {
		const int n = snprintf(buffer, size, "%s%s", alias->prefix, text);
		return n >= 0 && (size_t)n < size && !strchr(text, ',') ? buffer : "";
	}
	for (size_t i = 0; alias->words && alias->words[i]; i += 2) {
		if (!strcmp(alias->words[i], text))
			return alias->words[i + 1];
	}
	return text;
}

/* ---- Reading ---------------------------------------------------------------------------------*/

/* What getopt_long returns, or leaves in optopt, with the letter of an option as its name. */
static int named(const struct option_table *table, int option)
{
	for (size_t i = 0; i < table->n_rows; i++) {
		if (option && table->rows[i].letter == option)
			return FIRST_VALUE + (int)i;
	}
	return option;
}

static int refuse(const struct option_table *table, int option, char **argv)
{
	char words[256];
	optopt = named(table, optopt);
	if (optopt < FIRST_VALUE && optopt == 'h') /* "-h" itself is valid: the error is
						    * "--help=WORD" */
		return wrong(table, "--help takes no argument, found '%s'", argv[optind - 1]);
	if (optopt < FIRST_VALUE)
		return wrong_name(table, word_refused(argv));
	const struct given given = given_by(table, optopt);
	if (option != ':')
		return wrong(table, "--%s takes no argument, found '%s'", given.name,
			     argv[optind - 1]);
	return wrong(table, "--%s: expected %s, found the end of the command line", given.name,
		     given.row->text ? given.row->argument
				     : expected_of(&given, words, sizeof(words)));
}

static int form_of(const struct option_row *row)
{
	return !row->argument          ? no_argument
	       : *row->argument == '[' ? optional_argument
				       : required_argument;
}

/* `letters` has room for two characters of each row. */
static void fill(const struct option_table *table, struct option *options, char *letters)
{
	size_t n = 0;
	for (; n < table->n_rows; n++) {
		const struct option_row *row = &table->rows[n];
		options[n] = (struct option){row->name, form_of(row), NULL, FIRST_VALUE + (int)n};
		if (row->letter) {
			*letters++ = row->letter;
			letters = stpcpy(letters, row->argument ? ":" : "");
		}
	}
	for (size_t i = 0; i < table->n_aliases; i++, n++) {
		const struct option_alias *alias = &table->aliases[i];
		int form = alias->value ? no_argument : form_of(row_named(table, alias->option));
		options[n] = (struct option){alias->name, form, NULL, FIRST_VALUE + (int)n};
	}
	options[n] = (struct option){"help", no_argument, NULL, 'h'};
}

/* `first`: the first characters of what getopt_long takes as short options. */
static int read_options(const struct option_table *table, const char *first, int argc, char **argv)
{
	struct option options[MOST_NAMES + 2] = {{NULL, 0, NULL, 0}};
	char letters[2 * MOST_NAMES + 8] = "";
	int option;
	if (table->n_rows + table->n_aliases > MOST_NAMES)
		return wrong(table, "has more than %d options", MOST_NAMES);
	fill(table, options, stpcpy(letters, first));
	while ((option = named(table, getopt_long(argc, argv, letters, options, NULL))) != -1) {
		char buffer[128];
		if (option == 'h')
			return print_help(table, *first == '+');
		if (option < FIRST_VALUE)
			return refuse(table, option, argv);
		const struct given given = given_by(table, option);
		if (!take_value(given.row, translated(given.alias, optarg, buffer, sizeof(buffer))))
			return wrong_value(table, &given, optarg);
	}
	return OPTIONS_READ;
}

int option_table_read(const struct option_table *table, int argc, char **argv)
{
	return read_options(table, ":h", argc, argv);
}

int option_table_read_before(const struct option_table *table, int argc, char **argv)
{
	return read_options(table, "+:h", argc, argv);
}
