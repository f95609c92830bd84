/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The nearest known name to one that nothing has.
 */
#include <stdio.h>
#include <string.h>

#include "base/name.h"
#include "program/parser.h"

#define LONGEST 32

struct nearest {
	char name[LONGEST + 1], best[LONGEST + 1];
	size_t distance; /* of the best; at first one more than is near */
};

static void consider(struct nearest *nearest, const char *name, size_t length)
{
	char known[LONGEST + 1];
	if (!length || length > LONGEST)
		return;
	snprintf(known, sizeof(known), "%.*s", (int)length, name);
	size_t edits = tn_name_distance(nearest->name, known);
	if (edits >= nearest->distance || edits >= length)
		return;
	memcpy(nearest->best, known, sizeof(known));
	nearest->distance = edits;
}

const char *tn_suggest(const struct tn_parser *parser, const struct tn_token *name, char *buffer,
		       size_t size)
{
	struct nearest nearest = {.distance = name->length > 4 ? 3 : 2};
	buffer[0] = '\0';
	if (name->length > LONGEST)
		return buffer;
	snprintf(nearest.name, sizeof(nearest.name), "%.*s", (int)name->length, name->start);
	for (uint32_t i = 0; i < parser->scope.n_bindings; i++) {
		const struct tn_binding *binding = &parser->scope.bindings[i];
		if (binding->is_set)
			consider(&nearest, binding->name, binding->length);
	}
	for (size_t k = 0; tn_function_name(k); k++)
		consider(&nearest, tn_function_name(k), strlen(tn_function_name(k)));
	if (nearest.best[0])
		snprintf(buffer, size, "; did you mean '%s'?", nearest.best);
	return buffer;
}
