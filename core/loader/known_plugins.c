/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A sign is looked for when its line is read, and only the result is kept.  Lines longer than the
 * buffer, invalid names and files without a name are rejected, with file and line.
 */
#include "loader/known_plugins.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/regular.h"
#include "loader/names.h"
#include "loader/search.h"

#define MAX_LINES 200
/* Parts of a sign's path that are patterns: the time of a search grows with each of them as the
 * number of files does. */
#define MAX_PATTERNS 3

/* A stream of a regular file; NULL: *problem is the reason. */
static FILE *open_stream(const char *path, const char **problem)
{
	struct stat information;
	int fd = tn_regular_open(path, &information);
	FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
	*problem = fd == TN_NOT_REGULAR ? "not a regular file" : strerror(errno);
	if (fd >= 0 && !file)
		close(fd);
	return file;
}

/* Does the file below begin with `text`?  sysfs files hold one short line. */
static int begins_with(const char *path, const char *text)
{
	char line[64] = "";
	const char *problem;
	FILE *file = open_stream(path, &problem);
	if (!file)
		return 0;
	int got = fgets(line, sizeof(line), file) != NULL;
	fclose(file);
	return got && !strncmp(line, text, strlen(text));
}

/* Is there a PCI device of that vendor whose class begins with those digits? */
static int pci_seen(const char *root, const char *vendor, const char *class)
{
	char path[512], want_vendor[24], want_class[24];
	snprintf(path, sizeof(path), "%s/sys/bus/pci/devices", root);
	snprintf(want_vendor, sizeof(want_vendor), "0x%s", vendor);
	snprintf(want_class, sizeof(want_class), "0x%s", class);
	DIR *folder = opendir(path);
	if (!folder)
		return 0;
	int seen = 0;
	const struct dirent *entry;
	while (!seen && (entry = readdir(folder))) {
		snprintf(path, sizeof(path), "%s/sys/bus/pci/devices/%.64s/vendor", root,
			 entry->d_name);
		if (!begins_with(path, want_vendor))
			continue;
		snprintf(path, sizeof(path), "%s/sys/bus/pci/devices/%.64s/class", root,
			 entry->d_name);
		seen = begins_with(path, want_class);
	}
	closedir(folder);
	return seen;
}

/* How many parts of a path are patterns. */
static int count_patterns(const char *path)
{
	int n = 0;
	while ((path = strpbrk(path, "*?["))) {
		path += strcspn(path, "/");
		n++;
	}
	return n;
}

/* A sign is "pci VENDOR CLASS" or an absolute path, which may be a pattern. */
static int sign_seen(const char *root, const char *sign)
{
	char vendor[16], class[16], path[512];
	glob_t matches;
	if (sscanf(sign, "pci %15s %15s", vendor, class) == 2)
		return pci_seen(root, vendor, class);
	if (sign[0] != '/' || snprintf(path, sizeof(path), "%s%s", root, sign) >= (int)sizeof(path))
		return 0;
	int seen = !glob(path, GLOB_NOSORT, NULL, &matches);
	globfree(&matches);
	return seen;
}

/* Strips blanks from both ends. */
static char *trimmed(char *text)
{
	text += strspn(text, " \t");
	size_t length = strlen(text);
	while (length && strchr(" \t\r\n", text[length - 1]))
		length--;
	text[length] = '\0';
	return text;
}

static uint32_t kind_of(const char *word)
{
	static const char *const words[] = {
		[TN_DEVICE_DISCRETE_GPU] = "gpu",
		[TN_DEVICE_INTEGRATED_GPU] = "integrated-gpu",
		[TN_DEVICE_ACCELERATOR] = "accelerator",
		[TN_DEVICE_CPU] = "cpu",
	};
	for (uint32_t i = TN_DEVICE_DISCRETE_GPU; i <= TN_DEVICE_CPU; i++) {
		if (!strcmp(words[i], word))
			return i;
	}
	return 0;
}

static const char *take_name(struct tn_known *entry, const char *value)
{
	if (!tn_search_is_name(value, strlen(value)))
		return "expected a name of a-z, 0-9 and '_', at most 31 letters";
	snprintf(entry->name, sizeof(entry->name), "%s", value);
	return NULL;
}

/* The keys of a backend, beyond those of both kinds. */
static const char *take_of_backend(struct tn_known *entry, const char *key, const char *value,
				   const char *root)
{
	if (!strcmp(key, "hardware")) {
		snprintf(entry->hardware, sizeof(entry->hardware), "%s", value);
	} else if (!strcmp(key, "kind")) {
		entry->kind = kind_of(value);
		if (!entry->kind)
			return "expected gpu, integrated-gpu, accelerator or cpu";
	} else if (!strcmp(key, "sign")) {
		if (count_patterns(value) > MAX_PATTERNS)
			return "expected a path of which at most 3 parts are patterns";
		entry->n_signs++;
		entry->seen = entry->seen || sign_seen(root, value);
	} else if (!strcmp(key, "start")) {
		entry->is_slow = !strcmp(value, "slow");
		if (!entry->is_slow)
			return "expected slow";
	}
	return NULL;
}

/* Those of a communicator. */
static const char *take_of_communicator(struct tn_known *entry, const char *key, const char *value)
{
	if (!strcmp(key, "launcher")) {
		if (entry->n_launches == TN_KNOWN_MOST_LAUNCHES)
			return "expected at most 8 launchers";
		struct tn_launch *launch = &entry->launches[entry->n_launches++];
		snprintf(launch->launcher, sizeof(launch->launcher), "%s", value);
		return NULL;
	}
	const int is_fallback = !strcmp(key, "fallback");
	if (strcmp(key, "size") && strcmp(key, "rank") && !is_fallback)
		return NULL;
	if (!entry->n_launches)
		return "expected a line 'launcher = ...' before it";
	struct tn_launch *launch = &entry->launches[entry->n_launches - 1];
	if (is_fallback) {
		launch->is_fallback = !strcmp(value, "yes");
		return launch->is_fallback ? NULL : "expected 'fallback = yes'";
	}
	char *variable = *key == 's' ? launch->size_variable : launch->rank_variable;
	if (!*value || strlen(value) >= sizeof(launch->size_variable))
		return "expected a variable's name of at most 63 letters";
	snprintf(variable, sizeof(launch->size_variable), "%s", value);
	return NULL;
}

/* Parses one line; returns NULL, or what was expected instead. */
static const char *read_line(const struct tn_known_source *source, struct tn_known *entry,
			     char *line)
{
	char *key = trimmed(line);
	if (!*key || *key == '#')
		return NULL;
	char *equals = strchr(key, '=');
	if (!equals)
		return "expected 'key = value'";
	*equals = '\0';
	char *value = trimmed(equals + 1);
	key = trimmed(key);
	if (!strcmp(key, "name"))
		return take_name(entry, value);
	if (!strcmp(key, "packages"))
		snprintf(entry->packages, sizeof(entry->packages), "%s", value);
	else if (!strcmp(key, "source"))
		snprintf(entry->source, sizeof(entry->source), "%s", value);
	else if (source->kind == &tn_communicator_kind)
		return take_of_communicator(entry, key, value);
	else
		return take_of_backend(entry, key, value, source->root);
	return NULL;
}

/* At the end of a file: what is missing, or NULL. */
static const char *finish(const struct tn_known_source *source, struct tn_known *entry)
{
	if (!entry->name[0])
		return "expected a line 'name = ...'";
	if (source->kind != &tn_communicator_kind) {
		entry->seen = entry->seen || entry->n_signs == 0;
		return NULL;
	}
	for (int i = 0; i < entry->n_launches; i++) {
		struct tn_launch *launch = &entry->launches[i];
		if (!launch->size_variable[0] || !launch->rank_variable[0])
			return "expected the lines 'size = ...' and 'rank = ...' of each launcher";
		/* mpirun within Slurm starts its daemons by srun, whose variables are theirs. */
		if (!entry->seen)
			tn_launch_read(launch, source->parameters, source->logger);
		if (i == 0 || (launch->size && !entry->seen))
			snprintf(entry->hardware, sizeof(entry->hardware), "%s", launch->launcher);
		entry->seen = entry->seen || launch->size;
	}
	return NULL;
}

/* 1: *entry is filled. */
static int read_file(const struct tn_known_source *source, const char *path, struct tn_known *entry)
{
	const struct tn_logger *logger = source->logger;
	char line[512];
	const char *problem;
	int number = 0;
	memset(entry, 0, sizeof(*entry));
	FILE *file = open_stream(path, &problem);
	if (!file) {
		tn_log_format(logger, TN_LOG_WARNING, "loader", "%s: %s", path, problem);
		return 0;
	}
	problem = NULL;
	while (!problem && fgets(line, sizeof(line), file)) {
		number++;
		if (strlen(line) == sizeof(line) - 1 || number > MAX_LINES)
			problem = "the line is too long, or the file has too many";
		else
			problem = read_line(source, entry, line);
	}
	fclose(file);
	if (!problem)
		problem = finish(source, entry);
	if (problem)
		tn_log_format(logger, TN_LOG_WARNING, "loader", "%s:%d: %s", path, number, problem);
	return !problem;
}

tn_status tn_known_read(const struct tn_known_source *source, struct tn_known_list *known)
{
	struct tn_names names;
	char suffix[32];
	*known = (struct tn_known_list){0};
	snprintf(suffix, sizeof(suffix), ".%s", source->kind->name);
	tn_status status = tn_names_read(source->folder, suffix, &names);
	if (status == TN_OUT_OF_MEMORY)
		return status;
	status = TN_OK;
	for (size_t i = 0; i < names.n; i++) {
		struct tn_known entry;
		char path[4096];
		snprintf(path, sizeof(path), "%s/%s", source->folder, names.list[i]);
		if (!read_file(source, path, &entry) || tn_known_find(known, entry.name))
			continue;
		struct tn_known *list = tn_mem_realloc(known->list, known->n + 1, sizeof(*list));
		if (!list) {
			status = TN_OUT_OF_MEMORY;
			break;
		}
		known->list = list;
		list[known->n++] = entry;
	}
	tn_names_release(&names);
	if (status)
		tn_known_release(known);
	return status;
}

void tn_known_release(struct tn_known_list *known)
{
	tn_mem_free(known->list);
	*known = (struct tn_known_list){0};
}

const struct tn_known *tn_known_find(const struct tn_known_list *known, const char *name)
{
	for (size_t i = 0; i < known->n; i++) {
		if (!strcmp(known->list[i].name, name))
			return &known->list[i];
	}
	return NULL;
}
