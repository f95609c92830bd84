/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Asks the terminal for its width, and breaks text to it.
 */
#include "terminal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.h"

#define UNKNOWN_WIDTH 80

size_t terminal_columns(int descriptor)
{
	struct winsize size;
	if (!isatty(descriptor))
		return 0;
	if (ioctl(descriptor, TIOCGWINSZ, &size) || !size.ws_col)
		return UNKNOWN_WIDTH;
	return size.ws_col;
}

int terminal_breaks(int descriptor, size_t length)
{
	size_t columns = terminal_columns(descriptor);
	return columns && length > columns;
}

/* Writes one line without its newline. */
static void write_line(FILE *out, const char *line, size_t length, size_t columns)
{
	size_t indent = strspn(line, " ");
	size_t at = 0; /* columns written so far */
	for (size_t i = 0; i < length;) {
		size_t blanks = strspn(line + i, " ");
		blanks = i + blanks < length ? blanks : length - i;
		size_t word = strcspn(line + i + blanks, " \n");
		if (at > indent + 2 && at + blanks + word > columns) {
			at = indent + 2;
			fprintf(out, "\n%*s", (int)at, "");
		} else {
			fprintf(out, "%*s", (int)blanks, "");
			at += blanks;
		}
		fwrite(line + i + blanks, 1, word, out);
		at += word;
		i += blanks + word;
	}
}

void write_wrapped(FILE *out, const char *text, size_t columns)
{
	while (*text) {
		size_t length = strcspn(text, "\n");
		if (columns && length > columns)
			write_line(out, text, length, columns);
		else
			fwrite(text, 1, length, out);
		text += length;
		if (*text == '\n')
			fputc(*text++, out);
	}
}

static void make_lines_printable(char *text)
{
	while (*text) {
		char *end = strchrnul(text, '\n'), kept = *end;
		*end = '\0';
		tn_text_make_printable(text);
		*end = kept;
		text = end + (kept != '\0');
	}
}

void say(const char *format, ...)
{
	char *line;
	va_list arguments;
	va_start(arguments, format);
	int n = vasprintf(&line, format, arguments);
	va_end(arguments);
	if (n < 0) { /* no memory: in one line */
		va_start(arguments, format);
		vfprintf(stderr, format, arguments);
		va_end(arguments);
		return;
	}
	make_lines_printable(line);
	write_wrapped(stderr, line, terminal_columns(STDERR_FILENO));
	free(line);
}
