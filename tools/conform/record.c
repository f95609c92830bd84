/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Records from a child to its parent.  A record is one line of at most PIPE_BUF bytes, which the
 * system writes atomically: a child that dies leaves no partial record.
 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <unistd.h>

#include "frame.h"

void record_send(int fd, const char *format, ...)
{
	char line[PIPE_BUF];
	va_list arguments;
	va_start(arguments, format);
	int length = vsnprintf(line, sizeof(line) - 1, format, arguments);
	va_end(arguments);
	if (length < 0)
		return;
	if (length > (int)sizeof(line) - 2)
		length = (int)sizeof(line) - 2;
	for (int i = 0; i < length; i++) {
		if (line[i] == '\n')
			line[i] = ' ';
	}
	line[length++] = '\n';
	while (write(fd, line, (size_t)length) < 0 && errno == EINTR)
		continue;
}

size_t record_split(char *line, char **words, size_t most)
{
	size_t n = 0;
	while (n < most) {
		words[n++] = line;
		line = n < most ? strchr(line, '\t') : NULL;
		if (!line)
			break;
		*line++ = '\0';
	}
	return n;
}
