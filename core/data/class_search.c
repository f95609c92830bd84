/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Walks down the folders of classes, in the order of the bytes of names, the files of a folder
 * before the folders in it.  Other files are counted by their endings.
 */
#include "data/class_search.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <tenon/data.h>

#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"
#include "io/file.h"

#define OPERATION "dataset"

static const char *const endings[] = {".png", ".jpg", ".jpeg", ".pbm", ".pgm", ".ppm", NULL};

static const struct {
	const char *name;
	int part;
} parts[] = {
	{"train", TN_PART_TRAIN},      {"val", TN_PART_VALIDATION},
	{"valid", TN_PART_VALIDATION}, {"validation", TN_PART_VALIDATION},
	{"test", TN_PART_TEST},
};
#define N_PARTS (sizeof(parts) / sizeof(parts[0]))

static tn_status no_memory(const struct tn_class_search *search, struct tn_error_info *error)
{
	return tn_no_memory(error, OPERATION, tn_file_label(search->root), "its pictures");
}

void tn_class_search_release(struct tn_class_search *search)
{
	tn_listing_release(&search->classes);
	tn_text_release(&search->names);
	tn_mem_free(search->at);
	tn_mem_free(search->labels);
	tn_mem_free(search->parts);
	tn_mem_free(search->linked);
}

/* FOLDER/NAME, owned; NULL: out of memory. */
static char *join(const char *folder, const char *name)
{
	struct tn_text text;
	tn_text_init(&text);
	tn_text_format(&text, "%s/%s", folder, name);
	return tn_text_take(&text);
}

/* ---- What is left out -------------------------------------------------------------------------*/

/* Counts a file of that kind. */
static void count_kind(struct tn_class_search *search, const char *name)
{
	struct tn_left_out *kind = search->left_out, *last = kind + TN_LEFT_OUT_KINDS - 1;
	while (kind < last && kind->n && strcmp(kind->name, name) != 0)
		kind++;
	snprintf(kind->name, sizeof(kind->name), "%s", kind == last ? "others" : name);
	kind->n++;
}

static void count_by_ending(struct tn_class_search *search, const char *file)
{
	char ending[sizeof(search->left_out->name)] = "no ending";
	const char *dot = strrchr(file, '.');
	if (dot)
		snprintf(ending, sizeof(ending), "%s", dot);
	for (char *c = ending; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	count_kind(search, ending);
}

/* Writes ".bmp 1, .webp 3"; returns how many files these are. */
static uint64_t print_left_out(const struct tn_class_search *search, char *text, size_t size)
{
	uint64_t n = 0;
	size_t used = 0;
	for (int i = 0; i < TN_LEFT_OUT_KINDS && search->left_out[i].n && used < size; i++) {
		const struct tn_left_out *kind = &search->left_out[i];
		n += kind->n;
		used += (size_t)snprintf(text + used, size - used, "%s%s %llu", i ? ", " : "",
					 kind->name, (unsigned long long)kind->n);
	}
	return n;
}

static void log_left_out(const struct tn_class_search *search)
{
	char text[TN_LEFT_OUT_KINDS * 40];
	struct tn_logger logger;
	uint64_t n = print_left_out(search, text, sizeof(text));
	if (!n)
		return;
	tn_logger_init_by_environment(&logger);
	tn_log_format(&logger, TN_LOG_NOTICE, OPERATION, "%s: %llu file%s left out (%s)",
		      tn_file_label(search->root), (unsigned long long)n, n == 1 ? " is" : "s are",
		      text);
}

/* ---- Pictures ---------------------------------------------------------------------------------*/

/* Makes room for n more samples. */
static tn_status reserve(struct tn_class_search *search, uint64_t n, struct tn_error_info *error)
{
	uint64_t needed = search->n + n;
	if (needed > UINT32_MAX)
		return tn_fail(error, TN_LIMIT, OPERATION,
			       "%s: expected at most %u pictures, found more",
			       tn_file_label(search->root), UINT32_MAX);
	if (needed <= search->capacity)
		return TN_OK;
	size_t capacity = (size_t)(needed + needed / 2);
	uint64_t *at = tn_mem_realloc(search->at, capacity, sizeof(*at));
	search->at = at ? at : search->at;
	int32_t *labels = tn_mem_realloc(search->labels, capacity, sizeof(*labels));
	search->labels = labels ? labels : search->labels;
	uint8_t *part = tn_mem_realloc(search->parts, capacity, 1);
	search->parts = part ? part : search->parts;
	if (!at || !labels || !part)
		return no_memory(search, error);
	search->capacity = capacity;
	return TN_OK;
}

/* A folder, and those that it lies in, up to the root. */
struct level {
	const char *path;
	const struct level *above; /* NULL: none */
	int depth;                 /* inside a class; 0: the class itself */
	int is_linked;             /* a symbolic link inside the class has led here */
	struct stat status;
};

static struct level level_of(const char *path, const struct level *above, int depth)
{
	struct level level = {.path = path, .above = above, .depth = depth};
	struct stat status;
	level.is_linked = depth > 0 && (above->is_linked ||
					(lstat(path, &status) == 0 && S_ISLNK(status.st_mode)));
	if (stat(path, &status) == 0)
		level.status = status;
	return level;
}

static tn_status add_pictures(struct tn_class_search *search, const struct level *level,
			      const struct tn_listing *files, size_t label, int part,
			      struct tn_error_info *error)
{
	tn_status status = reserve(search, files->n, error);
	for (size_t i = 0; !status && i < files->n; i++) {
		search->at[search->n] = search->names.length;
		search->labels[search->n] = (int32_t)label;
		search->parts[search->n++] = (uint8_t)part;
		search->n_deeper += level->depth > 0;
		tn_text_format(&search->names, "%s/%s", level->path + strlen(search->root) + 1,
			       files->names[i]);
		tn_text_append(&search->names, "", 1);
		if (search->names.failed)
			status = no_memory(search, error);
	}
	return status;
}

/* Is this the folder of a level above, to which a symbolic link has led back? */
static int is_above(const struct level *level)
{
	for (const struct level *above = level->above; above; above = above->above) {
		if (above->status.st_dev == level->status.st_dev &&
		    above->status.st_ino == level->status.st_ino)
			return 1;
	}
	return 0;
}

/* Takes a folder that links have led to once for each class: folders of links to one another have
 * more paths than can be walked.  *is_new = 0: it was there before. */
static tn_status visit(struct tn_class_search *search, const struct level *level, int *is_new,
		       struct tn_error_info *error)
{
	const struct tn_folder_identity own = {level->status.st_dev, level->status.st_ino};
	*is_new = 1;
	if (!level->is_linked)
		return TN_OK;
	for (size_t i = 0; i < search->n_linked && *is_new; i++)
		*is_new = search->linked[i].device != own.device ||
			  search->linked[i].inode != own.inode;
	if (!*is_new)
		return TN_OK;
	struct tn_folder_identity *linked =
		tn_mem_realloc(search->linked, search->n_linked + 1, sizeof(*linked));
	if (!linked)
		return no_memory(search, error);
	search->linked = linked;
	linked[search->n_linked++] = own;
	return TN_OK;
}

/* Adds the pictures of a folder and of those in it. */
static tn_status add_folder(struct tn_class_search *search, const struct level *level, size_t label,
			    int part, struct tn_error_info *error)
{
	struct tn_listing files = {0}, folders = {0}, others = {0};
	int is_new = !is_above(level);
	tn_status status = is_new ? visit(search, level, &is_new, error) : TN_OK;
	if (status || !is_new)
		return status;
	status = tn_listing_all(level->path, endings, &files, &folders, &others, error);
	if (!status)
		status = add_pictures(search, level, &files, label, part, error);
	for (size_t i = 0; !status && i < others.n; i++)
		count_by_ending(search, others.names[i]);
	for (size_t i = 0; !status && i < folders.n; i++) {
		char *path = join(level->path, folders.names[i]);
		if (path) {
			struct level below = level_of(path, level, level->depth + 1);
			status = add_folder(search, &below, label, part, error);
		} else {
			status = no_memory(search, error);
		}
		tn_mem_free(path);
	}
	tn_listing_release(&files);
	tn_listing_release(&folders);
	tn_listing_release(&others);
	return status;
}

static tn_status refuse_empty(const struct tn_class_search *search, const char *folder,
			      struct tn_error_info *error)
{
	char text[TN_LEFT_OUT_KINDS * 40];
	uint64_t n = print_left_out(search, text, sizeof(text));
	return tn_fail(
		error, TN_FORMAT, OPERATION,
		"%s: expected pictures (.png, .jpg, .jpeg, .pbm, .pgm, .ppm), found none%s%.150s",
		tn_file_label(folder), n ? ", but " : "", n ? text : "");
}

/* Adds the pictures of FOLDER/CLASS; the folder is root, or that of a part. */
static tn_status add_class(struct tn_class_search *search, const struct level *above,
			   const char *class_name, int part, struct tn_error_info *error)
{
	const char *folder = above->path;
	uint64_t before = search->n;
	size_t label = tn_listing_find(&search->classes, class_name);
	if (label == search->classes.n)
		return tn_fail(error, TN_FORMAT, OPERATION,
			       "%s: expected the classes of train, found a folder '%.100s'",
			       tn_file_label(folder), class_name);
	char *path = join(folder, class_name);
	if (!path)
		return no_memory(search, error);
	struct level level = level_of(path, above, 0);
	search->n_linked = 0;
	tn_status status = add_folder(search, &level, label, part, error);
	if (!status && search->n == before)
		status = refuse_empty(search, path, error);
	tn_mem_free(path);
	return status;
}

/* Adds the pictures of a folder of class folders.  The first one lists the classes. */
static tn_status add_part(struct tn_class_search *search, const char *folder, int part,
			  struct tn_error_info *error)
{
	struct tn_listing files, folders, others;
	struct level root = level_of(search->root, NULL, 0), level = level_of(folder, &root, 0);
	tn_status status = tn_listing_all(folder, endings, &files, &folders, &others, error);
	if (!status && folders.n == 0)
		status = tn_fail(error, TN_FORMAT, OPERATION,
				 "%s: expected folders of pictures by class, found none",
				 tn_file_label(folder));
	for (size_t i = 0; !status && i < files.n; i++)
		count_kind(search, "of no class");
	if (!status && !search->classes.n) {
		search->classes = folders;
		memset(&folders, 0, sizeof(folders));
	}
	const struct tn_listing *classes = folders.n ? &folders : &search->classes;
	for (size_t i = 0; !status && i < classes->n; i++)
		status = add_class(search, &level, classes->names[i], part, error);
	tn_listing_release(&files);
	tn_listing_release(&folders);
	tn_listing_release(&others);
	return status;
}

/* ---- Parts ------------------------------------------------------------------------------------*/

static int is_folder(const char *path)
{
	struct stat status;
	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static tn_status refuse_name(const struct tn_class_search *search, const char *name,
			     const char *part, struct tn_error_info *error)
{
	char advice[64] = " without 'train'";
	if (strcmp(name, part) != 0)
		snprintf(advice, sizeof(advice), ": rename it to '%s'", part);
	return tn_fail(error, TN_FORMAT, OPERATION,
		       "%s: expected folders of pictures by class, or 'train' and other parts with "
		       "such folders, found '%s'%s",
		       tn_file_label(search->root), name, advice);
}

/* Folders named as parts are, but for the case or train, that hold folders and no pictures: not
 * classes. */
static tn_status check_names(const struct tn_class_search *search, struct tn_error_info *error)
{
	struct tn_listing folders = {0};
	tn_status status = tn_listing_folders(search->root, &folders, error);
	for (size_t i = 0; !status && i < folders.n * N_PARTS; i++) {
		struct tn_listing files = {0}, inside = {0}, others = {0};
		const char *name = folders.names[i / N_PARTS], *part = parts[i % N_PARTS].name;
		if (strcasecmp(name, part) != 0)
			continue;
		char *path = join(search->root, name);
		status = path ? tn_listing_all(path, endings, &files, &inside, &others, error)
			      : no_memory(search, error);
		if (!status && inside.n && !files.n)
			status = refuse_name(search, name, part, error);
		tn_listing_release(&files);
		tn_listing_release(&inside);
		tn_listing_release(&others);
		tn_mem_free(path);
	}
	tn_listing_release(&folders);
	return status;
}

/* Of one class with folders and no pictures, these folders are the classes. */
static tn_status check_depth(const struct tn_class_search *search, struct tn_error_info *error)
{
	if (search->classes.n != 1 || search->n_deeper < search->n)
		return TN_OK;
	return tn_fail(
		error, TN_FORMAT, OPERATION,
		"%s: expected folders of pictures by class, found only '%.100s', a folder of "
		"folders: is that the data set?",
		tn_file_label(search->root), search->classes.names[0]);
}

static tn_status add_parts(struct tn_class_search *search, struct tn_error_info *error)
{
	tn_status status = TN_OK;
	for (size_t i = 0; i < N_PARTS && !status; i++) {
		char *path = join(search->root, parts[i].name);
		if (!path)
			return no_memory(search, error);
		int is_there = is_folder(path);
		if (i == 0)
			search->has_parts = is_there;
		if (is_there)
			status = add_part(search, path, parts[i].part, error);
		tn_mem_free(path);
		if (!search->has_parts)
			break;
	}
	return status;
}

tn_status tn_class_search_run(struct tn_class_search *search, const char *folder,
			      struct tn_error_info *error)
{
	memset(search, 0, sizeof(*search));
	search->root = folder;
	tn_text_init(&search->names);
	tn_status status = add_parts(search, error);
	if (!status && !search->has_parts) {
		status = check_names(search, error);
		if (!status)
			status = add_part(search, folder, TN_PART_TRAIN, error);
		if (!status)
			status = check_depth(search, error);
	}
	if (!status)
		log_left_out(search);
	return status;
}
