/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A list of names in the environment, and the pipe that tells the launcher of one more.
 */
#include "lost_devices.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool.h"

static const char variable[] = "TENON_LOST_DEVICES";

int lost_devices_have(const char *list, const char *name)
{
	const size_t length = strcspn(name, ",");
	while (*list) {
		const size_t n = strcspn(list, ",");
		if (n == length && !strncmp(list, name, n))
			return 1;
		list += n + (list[n] == ',');
	}
	return 0;
}

const char *lost_devices(void)
{
	const char *list = tool_environment(variable);
	return list ? list : "";
}

void lost_devices_add(const char *name)
{
	const char *list = lost_devices();
	char *longer = malloc(strlen(list) + strlen(name) + 2), *end = longer;
	if (!longer)
		return;
	/* The others, each with a comma. */
	while (*list) {
		const size_t n = strcspn(list, ",");
		if (n && !lost_devices_have(name, list))
			end += sprintf(end, "%.*s,", (int)n, list);
		list += n + (list[n] == ',');
	}
	strcpy(end, name);
	setenv(variable, longer, 1);
	free(longer);
}

/* ---- The pipe --------------------------------------------------------------------------------*/

/* -1: there is none.  What is no pipe is another file of this process. */
static int find_pipe(void)
{
	const char *text = tool_environment("TENON_RESTART_PIPE");
	uint64_t number;
	struct stat found;
	if (!text || !parse_count(text, 3, INT32_MAX, &number) || fstat((int)number, &found) ||
	    !S_ISFIFO(found.st_mode))
		return -1;
	return (int)number;
}

int lost_devices_are_awaited(void)
{
	return find_pipe() >= 0;
}

void lost_devices_tell(const char *name)
{
	char line[80];
	const int n = snprintf(line, sizeof(line), "%s\n", name);
	const int pipe = find_pipe();
	if (pipe >= 0 && n < (int)sizeof(line) && write(pipe, line, (size_t)n) != n)
		perror("tenon train: TENON_RESTART_PIPE");
}

static int is_name(const char *word)
{
	const size_t n = strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_-.:");
	return n && !word[n];
}

int lost_devices_receive(int pipe, char *text, size_t size)
{
	char lines[1024], *rest = NULL;
	size_t used = 0;
	int n = 0;
	const ssize_t got = read(pipe, lines, sizeof(lines) - 1);
	lines[got > 0 ? got : 0] = '\0';
	text[0] = '\0';
	for (char *word = strtok_r(lines, "\n", &rest); word; word = strtok_r(NULL, "\n", &rest)) {
		if (!is_name(word) || used >= size)
			continue;
		lost_devices_add(word);
		used += (size_t)snprintf(text + used, size - used, "%s%s", n++ ? ", " : "", word);
	}
	return n;
}
