/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The files are written into a folder that was empty, so nothing is ever overwritten; on failure
 * those written so far are removed, for which no memory is needed.
 */
#include "scaffold.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/new_file.h"
#include "base/text.h"
#include "print_error.h"
#include "tool.h"

#define STEPS "steps"

enum { MOST_FILES = 32, MOST_PATH = 128 };

struct scaffold {
	const char *path; /* of the folder, as given */
	const char *name;
	int cxx;
	char uuid[256]; /* as C text: 0x12, 0x34, ... */
	int folder;
	int made_folder;
	int made_steps;
	char made[MOST_FILES][MOST_PATH]; /* files, as the project names them */
	size_t n_made;
};

/* Prints what failed; `file` may be NULL. */
static int failed(const struct scaffold *scaffold, const char *file, const char *reason)
{
	print_error("tenon plugin: %s%s%s: %s", scaffold->path, file ? "/" : "", file ? file : "",
		    reason);
	return EXIT_FAILED;
}

/* Makes a random UUID (version 4) as C text, in two lines of a macro. */
static int make_uuid(struct scaffold *scaffold)
{
	unsigned char uuid[16];
	size_t length = 0;
	if (getrandom(uuid, sizeof(uuid), 0) != (ssize_t)sizeof(uuid))
		return failed(scaffold, NULL, "cannot get random numbers for a UUID");
	uuid[6] = (unsigned char)((uuid[6] & 0x0f) | 0x40);
	uuid[8] = (unsigned char)((uuid[8] & 0x3f) | 0x80);
	for (size_t i = 0; i < sizeof(uuid); i++)
		length += (size_t)snprintf(scaffold->uuid + length, sizeof(scaffold->uuid) - length,
					   "%s0x%02x%s", i % 8 ? " " : "\\\n\t", uuid[i],
					   i == 15  ? ""
					   : i == 7 ? ", "
						    : ",");
	return EXIT_DONE;
}

/* ---- Text with marks in it ----*/

/* The replacement of a mark; NULL: not a mark.  *length: of the mark with both @. */
static const char *meaning(const struct scaffold *scaffold, const char *mark, size_t *length)
{
	const struct {
		const char *mark, *c, *cxx;
	} marks[] = {
		{"@NAME@", scaffold->name, scaffold->name},
		{"@UUID@", scaffold->uuid, scaffold->uuid},
		{"@SUFFIX@", "c", "cc"},
		{"@LANGUAGE@", "C11", "C++11"},
		{"@STANDARD@", "c11", "c++11"},
		{"@COMPILER@", "CC", "CXX"},
		{"@FLAGS@", "CFLAGS", "CXXFLAGS"},
	};
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		*length = strlen(marks[i].mark);
		if (!strncmp(mark, marks[i].mark, *length))
			return scaffold->cxx ? marks[i].cxx : marks[i].c;
	}
	return NULL;
}

static void put(struct tn_text *out, const struct scaffold *scaffold, const char *text)
{
	const char *mark;
	while ((mark = strchr(text, '@'))) {
		size_t length;
		const char *instead = meaning(scaffold, mark, &length);
		tn_text_append(out, text, (size_t)(mark - text));
		tn_text_add(out, instead ? instead : "@");
		text = instead ? mark + length : mark + 1;
	}
	tn_text_add(out, text);
}

/* ---- The folder ----*/

/* Refuses a folder that is not empty, and prints what it contains. */
static int check_empty(struct scaffold *scaffold)
{
	char found[256];
	size_t n = 0;
	const struct dirent *entry;
	DIR *stream = opendir(scaffold->path);
	if (!stream)
		return failed(scaffold, NULL, strerror(errno));
	while ((entry = readdir(stream))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (n++ == 0)
			snprintf(found, sizeof(found), "%s", entry->d_name);
	}
	closedir(stream);
	if (!n)
		return EXIT_DONE;
	print_error("tenon plugin: %s: contains '%s'%s: expected a new or an empty "
		    "folder",
		    scaffold->path, found, n > 1 ? " and more" : "");
	return EXIT_FAILED;
}

static int open_folder(struct scaffold *scaffold)
{
	if (!mkdir(scaffold->path, 0777))
		scaffold->made_folder = 1;
	else if (errno != EEXIST)
		return failed(scaffold, NULL, strerror(errno));
	else if (check_empty(scaffold))
		return EXIT_FAILED;
	scaffold->folder = open(scaffold->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return scaffold->folder < 0 ? failed(scaffold, NULL, strerror(errno)) : EXIT_DONE;
}

/* ---- The files ----*/

/* `path` and `text` := those of a file, which their owner releases. */
static void compose(const struct scaffold *scaffold, const struct scaffold_file *file,
		    struct tn_text *path, struct tn_text *text)
{
	tn_text_init(path);
	tn_text_init(text);
	tn_text_format(path, "%s/", scaffold->path);
	put(path, scaffold, file->path);
	for (const char *const *line = file->lines; *line; line++)
		put(text, scaffold, *line);
}

static int write_file(struct scaffold *scaffold, const struct scaffold_file *file)
{
	struct tn_error_info error;
	struct tn_text path, text;
	compose(scaffold, file, &path, &text);
	tn_status status = TN_OK;
	if (path.failed || text.failed)
		status = tn_no_memory(&error, "plugin", scaffold->path, NULL);
	else /* it may be there after a failure too */
		snprintf(scaffold->made[scaffold->n_made++], MOST_PATH, "%s",
			 path.data + strlen(scaffold->path) + 1);
	if (!status)
		status = tn_new_file_save(path.data, text.data, text.length, "plugin", &error);
	tn_text_release(&path);
	tn_text_release(&text);
	return status ? report_error(&error) : EXIT_DONE;
}

static int write_all(struct scaffold *scaffold)
{
	if (mkdirat(scaffold->folder, STEPS, 0777))
		return failed(scaffold, STEPS, strerror(errno));
	scaffold->made_steps = 1;
	for (size_t i = 0; i < MOST_FILES && scaffold_files[i].path; i++) {
		if (write_file(scaffold, &scaffold_files[i]))
			return EXIT_FAILED;
	}
	return EXIT_DONE;
}

/* Removes the files and folders created. */
static void remove_all(const struct scaffold *scaffold)
{
	for (size_t i = 0; i < scaffold->n_made; i++)
		unlinkat(scaffold->folder, scaffold->made[i], 0);
	if (scaffold->made_steps)
		unlinkat(scaffold->folder, STEPS, AT_REMOVEDIR);
	if (scaffold->made_folder)
		rmdir(scaffold->path);
}

int scaffold_write(const char *folder, const char *name, int cxx)
{
	struct scaffold scaffold = {.path = folder, .name = name, .cxx = cxx, .folder = -1};
	int code = make_uuid(&scaffold);
	if (!code)
		code = open_folder(&scaffold);
	if (!code)
		code = write_all(&scaffold);
	if (code)
		remove_all(&scaffold);
	if (scaffold.folder >= 0)
		close(scaffold.folder);
	return code;
}
