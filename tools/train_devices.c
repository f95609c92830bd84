/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A list of names in the environment, and the pipe that tells the launcher of a lost one.
 */
#include "train_devices.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool.h"

static const char variable[] = "TENON_TRAIN_DEVICES";

/* ---- Lists -----------------------------------------------------------------------------------*/

/* A name between two commas. */
struct item {
	const char *name;
	size_t length;
	int is_lost;
};

/* Takes the next one; 0: the list has ended. */
static int next(const char **list, struct item *item)
{
	*list += strspn(*list, ",");
	if (!**list)
		return 0;
	item->is_lost = **list == '-';
	item->name = *list + item->is_lost;
	item->length = strcspn(item->name, ",");
	*list = item->name + item->length;
	return 1;
}

static int is_named(const struct item *item, const char *name)
{
	return strlen(name) == item->length && !strncmp(name, item->name, item->length);
}

static int find(const char *list, const char *name, struct item *item)
{
	while (next(&list, item)) {
		if (is_named(item, name))
			return 1;
	}
	return 0;
}

const char *train_devices(void)
{
	const char *list = tool_environment(variable);
	return list ? list : "";
}

int train_devices_have(const char *name)
{
	struct item item;
	return find(train_devices(), name, &item) && !item.is_lost;
}

void train_devices_first(char *name, size_t size)
{
	const char *list = train_devices();
	struct item item = {.name = ""};
	(void)next(&list, &item);
	snprintf(name, size, "%.*s", (int)item.length, item.name);
}

/* ---- A loss ----------------------------------------------------------------------------------*/

/* How many others are not lost. */
static int count_left(const char *list, const char *name)
{
	struct item item;
	int n = 0;
	while (next(&list, &item))
		n += !is_named(&item, name) && !item.is_lost;
	return n;
}

void train_devices_lose(const char *name, const char *all)
{
	struct item item;
	const char *list = train_devices();
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return;
	if (!find(list, name, &item))
		list = all;
	const int n_left = count_left(list, name);
	while (next(&list, &item)) {
		if (!is_named(&item, name))
			fprintf(out, "%s%.*s,", item.is_lost && n_left ? "-" : "", (int)item.length,
				item.name);
	}
	fprintf(out, "-%s", name);
	if (!fclose(out))
		setenv(variable, text, 1);
	free(text);
}

/* ---- The selection ---------------------------------------------------------------------------*/

static void write_selection(FILE *out, const char *given)
{
	const char *list = train_devices();
	struct item item, same;
	int n = 0;
	while (next(&list, &item)) {
		if (!item.is_lost)
			fprintf(out, "%s%.*s", n++ ? "," : "", (int)item.length, item.name);
	}
	while (*given && *given != '!' && strcmp(given, "auto") != 0) {
		char name[128];
		const size_t length = strcspn(given, ",!");
		snprintf(name, sizeof(name), "%.*s", (int)length, given);
		/* An item occurs once. */
		if (!find(train_devices(), name, &same) || same.is_lost)
			fprintf(out, "%s%.*s", n++ ? "," : "", (int)length, given);
		given += length;
		given += *given == ',';
	}
	if (*given == '!')
		fputs(given, out);
}

int train_devices_selection(const char *given, char **selection)
{
	size_t size;
	*selection = NULL;
	if (!*train_devices())
		return 1;
	FILE *out = open_memstream(selection, &size);
	if (out)
		write_selection(out, given ? given : "");
	if (out && !fclose(out))
		return 1;
	free(*selection);
	*selection = NULL;
	no_memory("the devices that are left");
	return 0;
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

int train_devices_are_awaited(void)
{
	return find_pipe() >= 0;
}

/* A line of less than PIPE_BUF bytes is written whole. */
void train_devices_tell(const char *name, const char *all)
{
	char line[2048];
	const int n = snprintf(line, sizeof(line), "%s %s\n", name, all);
	const int pipe = find_pipe();
	if (pipe >= 0 && n < (int)sizeof(line) && write(pipe, line, (size_t)n) != n)
		perror("tenon train: TENON_RESTART_PIPE");
}

int train_devices_receive(int pipe, char *text, size_t size)
{
	char lines[16384], *rest = NULL;
	size_t used = 0;
	int n = 0;
	const ssize_t got = read(pipe, lines, sizeof(lines) - 1);
	lines[got > 0 ? got : 0] = '\0';
	text[0] = '\0';
	for (char *name = strtok_r(lines, "\n", &rest); name; name = strtok_r(NULL, "\n", &rest)) {
		char *all = strchr(name, ' ');
		if (used >= size)
			continue;
		if (all)
			*all++ = '\0';
		train_devices_lose(name, all ? all : name);
		used += (size_t)snprintf(text + used, size - used, "%s%s", n++ ? ", " : "", name);
	}
	return n;
}
