/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The input of a fuzz target as lines NAME=VALUE: an environment, or the options of a plugin.
 */
#ifndef TN_FUZZ_LINES_H
#define TN_FUZZ_LINES_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/parameter.h"
#include "file.h"

struct fuzz_lines {
	char *text; /* each line ends with a NUL */
	size_t size;
};

static inline void fuzz_lines_init(struct fuzz_lines *lines, const uint8_t *data, size_t size)
{
	lines->text = malloc(size + 1);
	lines->size = size + 1;
	fuzz_require(lines->text != NULL);
	memcpy(lines->text, data, size);
	lines->text[size] = '\0';
	for (size_t i = 0; i < size; i++) {
		if (lines->text[i] == '\n')
			lines->text[i] = '\0';
	}
}

static inline void fuzz_lines_release(struct fuzz_lines *lines)
{
	free(lines->text);
}

/* The line after `line`, or the first one for NULL; NULL: there is no other. */
static inline char *fuzz_lines_next(const struct fuzz_lines *lines, char *line)
{
	char *next = line ? line + strlen(line) + 1 : lines->text;
	return next < lines->text + lines->size ? next : NULL;
}

/* The value of the first line with that name; NULL: there is none. */
static inline const char *fuzz_lines_value(const struct fuzz_lines *lines, const char *name)
{
	const size_t length = strlen(name);
	for (char *line = NULL; (line = fuzz_lines_next(lines, line));) {
		if (!strncmp(line, name, length) && line[length] == '=')
			return line + length + 1;
	}
	return NULL;
}

/* Variables with these values, and no others whatever the environment has. */
static inline void fuzz_lines_parameters(const struct fuzz_lines *lines,
					 struct tn_parameters *parameters)
{
	tn_parameters_init(parameters);
	parameters->privileged = 1;
	for (char *line = NULL; (line = fuzz_lines_next(lines, line));) {
		char *equals = strchr(line, '=');
		if (!equals)
			continue;
		struct tn_parameter *list =
			tn_mem_realloc(parameters->list, parameters->n + 1, sizeof(*list));
		fuzz_require(list != NULL);
		*equals = '\0';
		list[parameters->n++] =
			(struct tn_parameter){.name = tn_mem_copy_string(line),
					      .help = tn_mem_copy_string("of the input"),
					      .value = tn_mem_copy_string(equals + 1)};
		*equals = '=';
		parameters->list = list;
	}
}

#endif
