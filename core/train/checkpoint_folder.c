/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A folder of checkpoints.  Guarantees: a file is removed only after a newer one was written whole;
 * what cannot be read is never removed, and replaced only by a checkpoint of its step; what a newer
 * version of Tenon wrote is never replaced.
 */
#include "train/checkpoint_folder.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array/handle.h"
#include "array/runtime.h"
#include "base/fork.h"
#include "base/memory.h"
#include "base/new_file.h"
#include "base/text.h"
#include "io/file.h"
#include "io/lock_file.h"
#include "train/checkpoint_load.h"
#include "train/checkpoint_save.h"

#define METRIC ".metric" /* the tensor with the metric of a checkpoint, if it has one */

struct entry {
	char *path;
	uint64_t step;
	double metric;  /* NAN: none */
	int is_damaged; /* cannot be loaded */
	int is_newer;   /* because a newer version wrote it */
};

struct tn_checkpoint_folder {
	struct tn_runtime *runtime;
	struct tn_checkpoint_folder_options options;
	char *path;
	int lock; /* its descriptor; -1: none */
	uint64_t fork_generation;
	struct entry *entries; /* in the order of steps */
	size_t n, room;
};

/* ---- The list --------------------------------------------------------------------------------*/

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	return (x->step > y->step) - (x->step < y->step);
}

/* The path of a step's file; NULL: no memory. */
static char *file_path(const tn_checkpoint_folder *folder, uint64_t step)
{
	struct tn_text text;
	tn_text_init(&text);
	tn_text_format(&text, "%s/step-%012" PRIu64 ".safetensors", folder->path, step);
	return tn_text_take(&text);
}

/* Room for one more; 0: no memory. */
static int reserve(tn_checkpoint_folder *folder)
{
	if (folder->n < folder->room)
		return 1;
	struct entry *more =
		tn_mem_realloc(folder->entries, folder->room + 16, sizeof(*folder->entries));
	if (!more)
		return 0;
	folder->entries = more;
	folder->room += 16;
	return 1;
}

static double read_metric(const tn_safetensors *file)
{
	struct tn_tensor_info info = {.struct_size = sizeof(info)};
	struct tn_error_info error;
	double metric;
	size_t index;
	if (tn_safetensors_find(file, METRIC, &index, &error) ||
	    tn_safetensors_at(file, index, &info) || info.dtype != TN_F64 || info.rank ||
	    tn_safetensors_read(file, index, &metric, sizeof(metric), &error))
		return NAN;
	return metric;
}

/* Adds a file, if its name is that of a checkpoint. */
static tn_status add_file(tn_checkpoint_folder *folder, const char *name,
			  struct tn_error_info *error)
{
	static const char prefix[] = "step-";
	tn_safetensors *file = NULL;
	struct entry entry = {.metric = NAN};
	char *end;
	if (strncmp(name, prefix, strlen(prefix)) != 0)
		return TN_OK;
	errno = 0;
	entry.step = strtoull(name + strlen(prefix), &end, 10);
	entry.path = file_path(folder, entry.step);
	if (!entry.path || !reserve(folder)) {
		tn_mem_free(entry.path);
		return tn_no_memory(error, "checkpoint_folder", tn_file_label(folder->path), NULL);
	}
	if (errno || strcmp(strrchr(entry.path, '/') + 1, name) != 0) {
		tn_mem_free(entry.path);
		return TN_OK;
	}
	tn_status status = tn_checkpoint_open(entry.path, &file, &entry.is_damaged, error);
	if (status == TN_OUT_OF_MEMORY) {
		tn_mem_free(entry.path);
		return status;
	}
	entry.is_damaged = status != TN_OK;
	entry.is_newer = status == TN_UNSUPPORTED;
	if (!status)
		entry.metric = read_metric(file);
	tn_safetensors_close(file);
	folder->entries[folder->n++] = entry;
	return TN_OK;
}

static tn_status list_files(tn_checkpoint_folder *folder, struct tn_error_info *error)
{
	tn_status status = TN_OK;
	DIR *entries = opendir(folder->path);
	if (!entries)
		return tn_fail(error, errno == ENOENT ? TN_NOT_FOUND : TN_IO, "checkpoint_folder",
			       "%s: %s", tn_file_label(folder->path), strerror(errno));
	errno = 0;
	for (const struct dirent *entry = readdir(entries); entry && !status;
	     entry = readdir(entries)) {
		status = add_file(folder, entry->d_name, error);
		errno = 0;
	}
	/* A list that ends early would hide the newest checkpoint. */
	if (!status && errno)
		status = tn_fail(error, TN_IO, "checkpoint_folder", "%s: %s",
				 tn_file_label(folder->path), strerror(errno));
	closedir(entries);
	if (folder->n)
		qsort(folder->entries, folder->n, sizeof(*folder->entries), compare_entries);
	return status;
}

/* The number of the best of those that can be loaded; folder->n: none has a metric.  The first of
 * equals. */
static size_t find_best(const tn_checkpoint_folder *folder)
{
	size_t best = folder->n;
	for (size_t i = 0; i < folder->n; i++) {
		double metric = folder->entries[i].metric;
		if (isnan(metric) || folder->entries[i].is_damaged)
			continue;
		if (best == folder->n ||
		    (folder->options.is_rising ? metric > folder->entries[best].metric
					       : metric < folder->entries[best].metric))
			best = i;
	}
	return best;
}

/* ---- Life ------------------------------------------------------------------------------------*/

/* Makes the folder and those above it where they are missing. */
static tn_status make_folders(const char *path, const char *operation, struct tn_error_info *error)
{
	tn_status status = TN_OK;
	char *part = tn_mem_copy_string(path);
	if (!part)
		return tn_no_memory(error, "checkpoint_folder", tn_file_label(path), NULL);
	for (char *end = part; end && !status;) {
		end = strchr(end + 1, '/');
		if (end)
			*end = '\0';
		if (mkdir(part, 0777) < 0 && errno != EEXIST)
			status = tn_fail(error, TN_IO, operation,
					 "%s: the folder cannot be made: %s", tn_file_label(part),
					 strerror(errno));
		if (end)
			*end = '/';
	}
	tn_mem_free(part);
	return status;
}

/* Makes the folder if necessary, takes its lock, and removes what killed processes left. */
static tn_status take_folder(tn_checkpoint_folder *folder, struct tn_error_info *error)
{
	static const char operation[] = "checkpoint_folder";
	struct tn_text text;
	struct stat found;
	int is_locked = 0;
	tn_status status = make_folders(folder->path, operation, error);
	if (status)
		return status;
	if (!stat(folder->path, &found) && !S_ISDIR(found.st_mode))
		return tn_fail(error, TN_IO, operation, "%s: expected a folder, found a file",
			       tn_file_label(folder->path));
	if (access(folder->path, W_OK | X_OK) < 0)
		return tn_fail(error, TN_IO, operation, "%s: the folder cannot be written: %s",
			       tn_file_label(folder->path), strerror(errno));
	tn_text_init(&text);
	tn_text_format(&text, "%s/tenon.lock", folder->path);
	status = text.failed ? tn_no_memory(error, "checkpoint_folder", tn_file_label(folder->path),
					    NULL)
			     : tn_lock_file_take(text.data, operation,
						 "another run saves its checkpoints here",
						 &folder->lock, &is_locked, error);
	tn_text_release(&text);
	if (status)
		return status;
	if (!is_locked)
		tn_log_format(folder->runtime->logger, TN_LOG_WARNING, "checkpoint",
			      "%s: its file system has no locks: a second run would not be refused",
			      tn_file_label(folder->path));
	else
		tn_new_file_clean(folder->path);
	return TN_OK;
}

tn_checkpoint_folder *tn_checkpoint_folder_open(tn_context *context, const char *path,
						const struct tn_checkpoint_folder_options *options)
{
	static const char operation[] = "checkpoint_folder";
	struct tn_runtime *rt = tn_runtime_of(context);
	struct tn_checkpoint_folder_options own = tn_checkpoint_folder_defaults();
	struct tn_error_info error;
	if (!context ||
	    tn_runtime_take(rt, &own, sizeof(own), options, "struct tn_checkpoint_folder_options",
			    operation) ||
	    tn_runtime_ready(rt))
		return NULL;
	if (!path) {
		tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation, "expected a path, found NULL");
		return NULL;
	}
	if (!own.keep) {
		tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				"keep: expected at least 1, found 0");
		return NULL;
	}
	tn_checkpoint_folder *folder = tn_mem_zeroed(1, sizeof(*folder));
	char *copy = tn_mem_copy_string(path);
	if (!folder || !copy) {
		tn_mem_free(folder);
		tn_mem_free(copy);
		tn_no_memory(&error, "checkpoint_folder", tn_file_label(path), NULL);
		tn_runtime_keep(rt, &error);
		return NULL;
	}
	folder->runtime = rt;
	folder->options = own;
	folder->path = copy;
	folder->lock = -1;
	folder->fork_generation = tn_fork_generation();
	tn_status status = own.is_read_only ? TN_OK : take_folder(folder, &error);
	if (!status)
		status = list_files(folder, &error);
	if (!status)
		return folder;
	tn_runtime_keep(rt, &error);
	tn_checkpoint_folder_close(folder);
	return NULL;
}

void tn_checkpoint_folder_close(tn_checkpoint_folder *folder)
{
	if (!folder || tn_handle_has_ended(folder->runtime, folder, "checkpoint_folder_close"))
		return;
	/* A forked child has the lock too, as long as it lives: its copy neither keeps nor gives it
	 * up. */
	if (folder->lock >= 0 && folder->fork_generation == tn_fork_generation())
		flock(folder->lock, LOCK_UN);
	if (folder->lock >= 0)
		close(folder->lock);
	for (size_t i = 0; i < folder->n; i++)
		tn_mem_free(folder->entries[i].path);
	tn_mem_free(folder->entries);
	tn_mem_free(folder->path);
	tn_handle_end(&folder->runtime, folder, "the checkpoint folder");
}

/* ---- Saving ----------------------------------------------------------------------------------*/

/* Removes what is neither among the newest nor the best. */
static void prune(tn_checkpoint_folder *folder)
{
	size_t best = find_best(folder), n_left = 0;
	uint64_t n_newest = 0;
	for (size_t i = folder->n; i-- > 0;) {
		const struct entry *entry = &folder->entries[i];
		int is_new = !entry->is_damaged && n_newest++ < folder->options.keep;
		if (is_new || entry->is_damaged || i == best)
			continue;
		if (unlink(entry->path) < 0 && errno != ENOENT) {
			tn_log_format(folder->runtime->logger, TN_LOG_WARNING, "checkpoint",
				      "%s: cannot be removed: %s", tn_file_label(entry->path),
				      strerror(errno));
			continue;
		}
		tn_mem_free(folder->entries[i].path);
		folder->entries[i].path = NULL;
	}
	for (size_t i = 0; i < folder->n; i++) {
		if (folder->entries[i].path)
			folder->entries[n_left++] = folder->entries[i];
	}
	folder->n = n_left;
}

/* The entry of a step; NULL: none. */
static struct entry *find_step(const tn_checkpoint_folder *folder, uint64_t step)
{
	const struct entry key = {.step = step};
	return folder->n ? bsearch(&key, folder->entries, folder->n, sizeof(key), compare_entries)
			 : NULL;
}

static tn_status check_step(const tn_checkpoint_folder *folder, uint64_t step,
			    struct tn_error_info *error)
{
	static const char operation[] = "checkpoint_folder_save";
	if (folder->options.is_read_only)
		return tn_fail(error, TN_STATE, operation, "%s: it was opened as read-only",
			       tn_file_label(folder->path));
	for (size_t i = folder->n; i-- > 0;) {
		const struct entry *entry = &folder->entries[i];
		if (entry->is_newer && entry->step >= step)
			return tn_fail(error, TN_STATE, operation,
				       "%s: expected a step after %" PRIu64
				       ", whose checkpoint a newer version of Tenon wrote, found "
				       "step %" PRIu64,
				       tn_file_label(folder->path), entry->step, step);
		if (!entry->is_damaged && entry->step > step)
			return tn_fail(error, TN_STATE, operation,
				       "%s: expected step %" PRIu64
				       " or a later one, as the folder has its checkpoint, found "
				       "step %" PRIu64,
				       tn_file_label(folder->path), entry->step, step);
	}
	return TN_OK;
}

static tn_status write_step(tn_checkpoint_folder *folder, uint64_t step, double metric,
			    const struct tn_checkpoint *checkpoint,
			    const struct tn_checkpoint_own *own, struct tn_error_info *error)
{
	char *path = file_path(folder, step);
	struct tn_checkpoint_own all = own ? *own : (struct tn_checkpoint_own){.n_arrays = 0};
	struct tn_checkpoint_array *arrays = tn_mem_zeroed(all.n_arrays + 1, sizeof(*arrays));
	tn_status status = path && arrays && reserve(folder)
				   ? TN_OK
				   : tn_no_memory(error, "checkpoint_folder",
						  tn_file_label(folder->path), NULL);
	/* After reserve, which may move the entries. */
	struct entry *old = find_step(folder, step);
	if (old && isnan(metric))
		metric = old->metric;
	if (!status) {
		if (all.n_arrays)
			memcpy(arrays, all.arrays, all.n_arrays * sizeof(*arrays));
		arrays[all.n_arrays] = (struct tn_checkpoint_array){
			.name = METRIC, .dtype = TN_F64, .data = &metric};
		all.arrays = arrays;
		all.n_arrays += !isnan(metric);
		status = tn_checkpoint_write(path, checkpoint, &all, error);
	}
	tn_mem_free(arrays);
	if (status || old) {
		if (!status) {
			old->metric = metric;
			old->is_damaged = 0;
		}
		tn_mem_free(path);
		return status;
	}
	folder->entries[folder->n++] = (struct entry){.path = path, .step = step, .metric = metric};
	qsort(folder->entries, folder->n, sizeof(*folder->entries), compare_entries);
	return TN_OK;
}

tn_status tn_checkpoint_folder_write(tn_checkpoint_folder *folder, uint64_t step, double metric,
				     const struct tn_checkpoint *checkpoint,
				     const struct tn_checkpoint_own *own)
{
	struct tn_error_info error;
	tn_status status = tn_runtime_ready(folder->runtime);
	if (status)
		return status;
	status = check_step(folder, step, &error);
	if (!status)
		status = write_step(folder, step, metric, checkpoint, own, &error);
	if (status)
		return tn_runtime_keep(folder->runtime, &error);
	prune(folder);
	return TN_OK;
}

tn_status tn_checkpoint_folder_save(tn_checkpoint_folder *folder, uint64_t step, double metric,
				    const struct tn_checkpoint *checkpoint)
{
	if (!folder || !checkpoint)
		return TN_INVALID_ARGUMENT;
	return tn_checkpoint_folder_write(folder, step, metric, checkpoint, NULL);
}

/* ---- Loading ---------------------------------------------------------------------------------*/

tn_status tn_checkpoint_folder_read(tn_checkpoint_folder *folder,
				    const struct tn_checkpoint *checkpoint,
				    const struct tn_checkpoint_own *own, uint64_t *step)
{
	static const char operation[] = "checkpoint_folder_load";
	struct tn_runtime *rt = folder->runtime;
	struct tn_error_info error;
	tn_status status = tn_runtime_ready(rt);
	if (status)
		return status;
	for (size_t i = folder->n; i-- > 0;) {
		struct entry *entry = &folder->entries[i];
		int is_damaged;
		status = tn_checkpoint_read(entry->path, checkpoint, own, &is_damaged, &error);
		if (!status && step)
			*step = entry->step;
		if (!status)
			return TN_OK;
		if (!is_damaged)
			return tn_runtime_keep(rt, &error);
		entry->is_damaged = 1;
		tn_log_format(rt->logger, TN_LOG_WARNING, "checkpoint", "skipped: %s", error.text);
	}
	if (!folder->n)
		return tn_runtime_fail(rt, TN_NOT_FOUND, operation, "%s: there is no checkpoint",
				       tn_file_label(folder->path));
	return tn_runtime_fail(rt, TN_FORMAT, operation,
			       "%s: none of %zu files can be loaded; the oldest: %.300s",
			       tn_file_label(folder->path), folder->n, error.text);
}

tn_status tn_checkpoint_folder_load(tn_checkpoint_folder *folder,
				    const struct tn_checkpoint *checkpoint, uint64_t *step)
{
	if (!folder || !checkpoint)
		return TN_INVALID_ARGUMENT;
	return tn_checkpoint_folder_read(folder, checkpoint, NULL, step);
}

/* ---- Looking ---------------------------------------------------------------------------------*/

size_t tn_checkpoint_folder_count(const tn_checkpoint_folder *folder)
{
	return folder && !tn_handle_check(folder->runtime, "checkpoint_folder_count") ? folder->n
										      : 0;
}

tn_status tn_checkpoint_folder_at(const tn_checkpoint_folder *folder, size_t index,
				  struct tn_checkpoint_view *view)
{
	if (!folder)
		return TN_INVALID_ARGUMENT;
	if (index >= folder->n)
		return tn_runtime_fail(folder->runtime, TN_INVALID_ARGUMENT, "checkpoint_folder_at",
				       "expected an index below %zu, found %zu", folder->n, index);
	const struct entry *entry = &folder->entries[index];
	const struct tn_checkpoint_view own = {.struct_size = sizeof(own),
					       .path = entry->path,
					       .step = entry->step,
					       .metric = entry->metric,
					       .is_best = index == find_best(folder),
					       .is_damaged = entry->is_damaged};
	return tn_runtime_answer(folder->runtime, view, &own, sizeof(own),
				 "struct tn_checkpoint_view", "checkpoint_folder_at");
}

int tn_checkpoint_folder_is_rising(const tn_checkpoint_folder *folder)
{
	return folder->options.is_rising != 0;
}

tn_status tn_checkpoint_folder_refuse(const tn_checkpoint_folder *folder, const char *operation)
{
	return tn_runtime_fail(folder->runtime, TN_STATE, operation,
			       "expected to resume, or a folder without checkpoints, found %.300s",
			       folder->entries[folder->n - 1].path);
}
