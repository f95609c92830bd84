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

#include "print_error.h"
#include "tool.h"

static const char variable[] = "TENON_TRAIN_DEVICES";
static const char begun[] = "TENON_RESTART_BEGUN";

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

/* Is it a word of a selection: the backend of a device, or that device itself? */
static int is_meant_by(const struct item *word, const struct item *device, int is_strict)
{
	const size_t backend = strcspn(device->name, ":"), own = strcspn(word->name, ":,!");
	if (own != backend || strncmp(word->name, device->name, own) != 0)
		return 0;
	return own == word->length || !is_strict ||
	       (word->length == device->length &&
		!strncmp(word->name, device->name, device->length));
}

static int is_kind(const struct item *word)
{
	static const char *const kinds[] = {"auto", "gpu", "accelerator", NULL};
	size_t i = 0;
	while (kinds[i] && !is_named(word, kinds[i]))
		i++;
	return kinds[i] != NULL;
}

/* Does the selection `given` prefer the backend of a device, and allow the device? */
static int is_allowed(const struct item *device, const char *given)
{
	const char *end = strchr(given, '!');
	int is_preferred = 0, n = 0;
	for (size_t length; *given && *given != '!'; given += length + (given[length] == ',')) {
		struct item word = {.name = given, .length = strcspn(given, ",!")};
		length = word.length;
		if (*given == '^') {
			word.name++;
			word.length--;
			if (is_meant_by(&word, device, 1))
				return 0;
			continue;
		}
		n++;
		is_preferred |= is_kind(&word) || is_meant_by(&word, device, end != NULL);
	}
	return is_preferred || (!n && !end);
}

/* "cuda:0", and once in the list. */
static int is_device(const struct item *item)
{
	const size_t backend = strspn(item->name, "abcdefghijklmnopqrstuvwxyz0123456789_");
	const size_t digits = strspn(item->name + backend + 1, "0123456789");
	struct item first;
	char name[128];
	snprintf(name, sizeof(name), "%.*s", (int)item->length, item->name);
	return backend && item->name[backend] == ':' && digits &&
	       backend + 1 + digits == item->length && find(train_devices(), name, &first) &&
	       first.name == item->name;
}

/* Returns how many devices of the list it names. */
static int write_selection(FILE *out, const char *given)
{
	const char *list = train_devices(), *rest = given;
	struct item item, same;
	int n_devices = 0, n = 0;
	while (next(&list, &item)) {
		if (!item.is_lost && is_allowed(&item, given)) {
			fprintf(out, "%s%.*s", n++ ? "," : "", (int)item.length, item.name);
			n_devices++;
		}
	}
	while (*rest && *rest != '!' && strcmp(rest, "auto") != 0) {
		char name[128];
		const size_t length = strcspn(rest, ",!");
		snprintf(name, sizeof(name), "%.*s", (int)length, rest);
		/* An item occurs once. */
		if (!find(train_devices(), name, &same) || same.is_lost)
			fprintf(out, "%s%.*s", n++ ? "," : "", (int)length, rest);
		rest += length;
		rest += *rest == ',';
	}
	if (*rest == '!')
		fputs(rest, out);
	return n_devices;
}

int train_devices_selection(const char *given, char **selection)
{
	const char *list = train_devices();
	struct item item;
	size_t size;
	int n = 0;
	*selection = NULL;
	while (next(&list, &item)) {
		if (is_device(&item))
			continue;
		print_error("tenon train: %s: expected devices such as cuda:0, each once, found "
			    "'%.*s'",
			    variable, (int)item.length, item.name);
		return 0;
	}
	if (!*train_devices())
		return 1;
	FILE *out = open_memstream(selection, &size);
	if (out)
		n = write_selection(out, given ? given : "");
	if (out && !fclose(out) && n)
		return 1;
	free(*selection);
	*selection = NULL;
	return out ? 1 : (no_memory("the devices that are left"), 0);
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

void train_devices_begin(void)
{
	const int pipe = find_pipe();
	setenv(begun, "1", 1);
	if (pipe >= 0 && write(pipe, "+\n", 2) != 2)
		perror("tenon train: TENON_RESTART_PIPE");
}

int train_devices_have_begun(void)
{
	return tool_environment(begun) != NULL;
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
		if (!strcmp(name, "+")) {
			setenv(begun, "1", 1);
			continue;
		}
		if (all)
			*all++ = '\0';
		train_devices_lose(name, all ? all : name);
		if (used >= size)
			continue;
		used += (size_t)snprintf(text + used, size - used, "%s%s", n++ ? ", " : "", name);
	}
	return n;
}
