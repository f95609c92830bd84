/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The nearest known name to one that nothing has, by Levenshtein's distance.
 */
#include <stdio.h>
#include <string.h>

#include "program/parser.h"

#define LONGEST 32

static unsigned least(unsigned a, unsigned b, unsigned c)
{
	unsigned smaller = a < b ? a : b;
	return smaller < c ? smaller : c;
}

/* Single-character edits between two names of at most LONGEST bytes; one row of the table at a time. */
static unsigned distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	unsigned row[LONGEST + 1];
	for (size_t j = 0; j <= b_length; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; i <= a_length; i++) {
		unsigned diagonal = row[0];
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= b_length; j++) {
			unsigned above = row[j];
			row[j] =
				least(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
			diagonal = above;
		}
	}
	return row[b_length];
}

struct nearest {
	const struct tn_token *name;
	const char *best;
	size_t length;
	unsigned distance;
};

static void consider(struct nearest *nearest, const char *name, size_t length)
{
	if (!length || length > LONGEST)
		return;
	unsigned edits = distance(nearest->name->start, nearest->name->length, name, length);
	if (edits >= nearest->distance || edits >= length)
		return;
	nearest->best = name;
	nearest->length = length;
	nearest->distance = edits;
}

const char *tn_suggest(const struct tn_parser *parser, const struct tn_token *name, char *buffer,
		       size_t size)
{
	struct nearest nearest = {name, NULL, 0, name->length > 4 ? 3 : 2};
	buffer[0] = '\0';
	if (name->length > LONGEST)
		return buffer;
	for (uint32_t i = 0; i < parser->scope.n_bindings; i++) {
		const struct tn_binding *binding = &parser->scope.bindings[i];
		if (binding->is_set)
			consider(&nearest, binding->name, binding->length);
	}
	for (size_t k = 0; tn_function_name(k); k++)
		consider(&nearest, tn_function_name(k), strlen(tn_function_name(k)));
	if (nearest.best)
		snprintf(buffer, size, "; did you mean '%.*s'?", (int)nearest.length, nearest.best);
	return buffer;
}
