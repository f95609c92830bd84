/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The rules of tenon-backend(7) that cite a check.  The table is generated from that page during
 * the build; an id in it may end in a star.
 */
#include <fnmatch.h>

#include "frame.h"

static const struct {
	unsigned rule;
	const char *id;
} citations[] = {
#include "tools/conform/citations.h"
	{0, ""},
};

void rules_of(const char *id, char *text, size_t size)
{
	size_t length = 0;
	text[0] = '\0';
	for (size_t i = 0; citations[i].rule; i++) {
		if (!fnmatch(citations[i].id, id, 0) && length < size)
			length += (size_t)snprintf(text + length, size - length, "%sR%u",
						   length ? " " : "", citations[i].rule);
	}
}
