/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * tenon help NAME: what a function of the library does, and where its page is.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "function_table.h"
#include "tool.h"

enum { WIDTH = 80 };

/* A prototype, broken between its arguments. */
static void print_prototype(const char *prototype)
{
	const size_t indent = (size_t)(strchr(prototype, '(') - prototype) + 1;
	size_t column = 4;
	printf("    ");
	for (const char *argument = prototype; *argument;) {
		const char *comma = strstr(argument, ", ");
		const size_t length = comma ? (size_t)(comma - argument) + 1 : strlen(argument);
		if (column + length > WIDTH && argument > prototype) {
			printf("\n    %*s", (int)indent, "");
			column = 4 + indent;
		} else if (argument > prototype) {
			putchar(' ');
			column++;
		}
		printf("%.*s", (int)length, argument);
		column += length;
		argument += length + (comma ? 1 : 0);
	}
	putchar('\n');
}

static void print_function(const struct function_row *row)
{
	printf("%s: %s\n\n    #include <%s>\n", row->name, row->text, row->header);
	print_prototype(row->prototype);
	printf("\nSee %s.\n", row->page);
}

/* "add" and "tn_add" are tn_add. */
static const struct function_row *find_function(const char *name)
{
	if (!strncmp(name, "tn_", 3))
		name += 3;
	for (size_t i = 0; i < n_functions; i++) {
		if (!strcmp(function_table[i].name + 3, name))
			return &function_table[i];
	}
	return NULL;
}

/* "np.add" and "cupy.add" are "numpy.add", as the table has most names of CuPy too. */
static const char *full_name(const char *name, char *buffer, size_t size)
{
	static const char *const prefixes[] = {"np.", "cp.", "cupy."};
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		const size_t length = strlen(prefixes[i]);
		if (strncmp(name, prefixes[i], length) != 0)
			continue;
		snprintf(buffer, size, "numpy.%s", name + length);
		return buffer;
	}
	return name;
}

static const struct other_name *find_other(const char *name)
{
	char buffer[80];
	const char *full = full_name(name, buffer, sizeof(buffer));
	for (size_t i = 0; i < n_other_names; i++) {
		if (!strcmp(other_names[i].name, name) || !strcmp(other_names[i].name, full))
			return &other_names[i];
	}
	return NULL;
}

/* Prints all lines that contain the word; returns their number. */
static size_t search(const char *word)
{
	size_t found = 0;
	for (size_t i = 0; i < n_functions; i++) {
		const struct function_row *row = &function_table[i];
		if (!strstr(row->name, word) && !strstr(row->text, word))
			continue;
		printf("%-28s %s\n", row->name, row->text);
		found++;
	}
	for (size_t i = 0; i < n_other_names; i++) {
		if (!strstr(other_names[i].name, word))
			continue;
		printf("%-28s %s\n", other_names[i].name, other_names[i].answer);
		found++;
	}
	return found;
}

static int unknown_name(const char *name)
{
	const char **names = malloc(n_functions * sizeof(*names));
	char hint[80] = "";
	for (size_t i = 0; names && i < n_functions; i++)
		names[i] = function_table[i].name + 3;
	if (names)
		did_you_mean(name, names, n_functions, hint, sizeof(hint));
	free(names);
	return usage_error("help", "no command or function has '%s' in its line%s", name, hint);
}

int command_help(int argc, char **argv)
{
	if (argc != 2)
		return usage_error("help", "expected one name of a command or function");
	const char *name = argv[1];
	const struct function_row *row = find_function(name);
	const struct other_name *other = row ? NULL : find_other(name);
	if (row)
		print_function(row);
	else if (other)
		printf("%s: %s\n", other->name, other->answer);
	else if (!*name || !search(name))
		return unknown_name(name);
	return EXIT_DONE;
}
