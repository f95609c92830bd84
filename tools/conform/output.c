/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The output of a child, of which the report quotes one line.
 */
#include <unistd.h>

#include "frame.h"

enum { MOST_READ = 65536 };

/* The first line that contains `word`, or NULL. */
static const char *line_with(const char *text, const char *word)
{
	const char *at = strstr(text, word);
	while (at && at > text && at[-1] != '\n')
		at--;
	return at;
}

static char *copy_line(const char *line)
{
	char cut[200];
	snprintf(cut, sizeof(cut), "%.*s", (int)strcspn(line, "\n"), line);
	return text_copy(cut);
}

/* Skips AddressSanitizer's warnings about refused allocations. */
static void drop_refusals(char *text)
{
	char *line;
	while ((line = (char *)line_with(text, "WARNING: AddressSanitizer failed to allocate"))) {
		char *next = line + strcspn(line, "\n");
		next += *next == '\n';
		memmove(line, next, strlen(next) + 1);
	}
}

char *output_quote(int output, uint64_t from, uint64_t to, int *sanitizer)
{
	static char text[MOST_READ + 1];
	uint64_t size = to > from ? to - from : 0;
	ssize_t n = pread(output, text, size < MOST_READ ? size : MOST_READ, (off_t)from);
	*sanitizer = 0;
	if (n <= 0)
		return NULL;
	for (ssize_t i = 0; i < n; i++) {
		if (!text[i])
			text[i] = '?';
	}
	text[n] = '\0';
	drop_refusals(text);
	if (!text[0])
		return NULL;
	const char *line = line_with(text, "SUMMARY: ");
	if (!line)
		line = line_with(text, "Sanitizer:");
	*sanitizer = line != NULL;
	if (!line)
		line = text + strspn(text, "\n");
	return copy_line(line);
}
