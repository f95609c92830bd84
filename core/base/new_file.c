/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Writing.  Guarantees: the final name refers to the old file or to the complete new one, even if
 * the process or the machine stops in between; a failure leaves no temporary file.  The end of the
 * process leaves one where the file system has no files without a name, or just before the rename.
 */
#include "base/new_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/regular.h"
#include "base/text.h"

/* The number of temporary names tried when one exists already. */
#define ATTEMPTS 16

static tn_status system_error(const struct tn_new_file *file, const char *what,
			      struct tn_error_info *error)
{
	return tn_fail(error, TN_IO, file->operation, "%s: %s: %s", tn_file_label(file->path), what,
		       strerror(errno));
}

static void release(struct tn_new_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	if (file->folder >= 0)
		close(file->folder);
	file->fd = -1;
	file->folder = -1;
	tn_mem_free(file->path);
	tn_mem_free(file->temporary);
	file->path = NULL;
	file->temporary = NULL;
}

/* The length of `path` up to and including its last slash; 0: the working directory. */
static size_t folder_length(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? (size_t)(slash - path) + 1 : 0;
}

/* Opens the folder in advance, so that after the rename only its sync remains.  A folder that is
 * writable but not readable cannot be synced; the file is saved nevertheless. */
static tn_status open_folder(struct tn_new_file *file, struct tn_error_info *error)
{
	size_t length = folder_length(file->path);
	struct tn_text text;
	tn_text_init(&text);
	tn_text_append(&text, length ? file->path : ".", length ? length : 1);
	char *folder = tn_text_take(&text);
	if (!folder)
		return tn_no_memory(error, file->operation, tn_file_label(file->path), NULL);
	file->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int reason = file->folder < 0 ? errno : 0;
	tn_mem_free(folder);
	errno = reason;
	if (reason && reason != EACCES)
		return system_error(file, "opening its folder", error);
	return TN_OK;
}

/* Draws a name beside the file's, of fixed length whatever the file's name. */
static tn_status draw_name(struct tn_new_file *file, struct tn_error_info *error)
{
	unsigned long long random = 0;
	struct tn_text text;
	/* On failure the name is less random; whoever takes it ensures that it is unused. */
	if (getrandom(&random, sizeof(random), 0) < 0)
		random = (unsigned long long)getpid();
	tn_text_init(&text);
	tn_text_append(&text, file->path, folder_length(file->path));
	tn_text_format(&text, "tenon-%016llx.tmp", random);
	tn_mem_free(file->temporary);
	file->temporary = tn_text_take(&text);
	if (!file->temporary)
		return tn_no_memory(error, file->operation, tn_file_label(file->path), NULL);
	return TN_OK;
}

/* The lock tells tn_new_file_clean that the file is still being written. */
static void lock(const struct tn_new_file *file)
{
	(void)flock(file->fd, LOCK_EX | LOCK_NB);
}

/* The file by which linkat finds a descriptor. */
static void descriptor_path(int fd, char *path, size_t size)
{
	snprintf(path, size, "/proc/self/fd/%d", fd);
}

/* A file without a name ends with its process.  Not every file system has them, and it gets its
 * name through /proc. */
static int open_unnamed(struct tn_new_file *file, mode_t mode)
{
	char path[64];
	if (file->folder < 0)
		return 0;
	file->fd = openat(file->folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
	if (file->fd < 0)
		return 0;
	descriptor_path(file->fd, path, sizeof(path));
	if (!access(path, F_OK)) {
		lock(file);
		return 1;
	}
	close(file->fd);
	file->fd = -1;
	return 0;
}

/* The name is that of no file, or of another one. */
static void forget_name(struct tn_new_file *file)
{
	tn_mem_free(file->temporary);
	file->temporary = NULL;
}

/* Creates a file with an unused name. */
static tn_status open_named(struct tn_new_file *file, mode_t mode, struct tn_error_info *error)
{
	for (int i = 0; i < ATTEMPTS; i++) {
		tn_status status = draw_name(file, error);
		if (status)
			return status;
		file->fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
		if (file->fd >= 0) {
			lock(file);
			return TN_OK;
		}
		if (errno != EEXIST)
			break;
	}
	tn_status status = system_error(file, "creating a temporary file beside it", error);
	forget_name(file);
	return status;
}

/* For a file system that has files without a name and gives them none later. */
static tn_status copy_to_named(struct tn_new_file *file, struct tn_error_info *error)
{
	struct stat found;
	const int from = file->fd;
	off_t done = 0;
	file->fd = -1;
	tn_status status = TN_OK;
	if (fstat(from, &found))
		status = system_error(file, "reading the temporary file", error);
	if (!status)
		status = open_named(file, 0666, error);
	if (!status && fchmod(file->fd, found.st_mode & 0777) < 0)
		status = system_error(file, "keeping its mode", error);
	while (!status && done < found.st_size) {
		errno = EIO; /* of a file that is shorter now */
		if (sendfile(file->fd, from, &done, (size_t)(found.st_size - done)) <= 0 &&
		    errno != EINTR)
			status = system_error(file, "copying the temporary file", error);
	}
	close(from);
	if (!status && fsync(file->fd) < 0)
		status = system_error(file, "syncing", error);
	return status;
}

/* Gives a file without a name a temporary one, as only a rename replaces a file. */
static tn_status name_temporary(struct tn_new_file *file, struct tn_error_info *error)
{
	char from[64];
	if (file->temporary)
		return TN_OK;
	descriptor_path(file->fd, from, sizeof(from));
	tn_status status = draw_name(file, error);
	if (status || !linkat(AT_FDCWD, from, AT_FDCWD, file->temporary, AT_SYMLINK_FOLLOW))
		return status;
	forget_name(file);
	return copy_to_named(file, error);
}

tn_status tn_new_file_begin(struct tn_new_file *file, const char *path, const char *operation,
			    struct tn_error_info *error)
{
	struct stat old;
	memset(file, 0, sizeof(*file));
	file->fd = -1;
	file->folder = -1;
	file->operation = operation;
	if (!path)
		return tn_fail(error, TN_INVALID_ARGUMENT, operation, "path is NULL");
	int exists = stat(path, &old) == 0;
	if (exists && !S_ISREG(old.st_mode))
		return tn_fail(error, TN_IO, operation,
			       "%s: expected a regular file or a free name, found a %s",
			       tn_file_label(path),
			       S_ISDIR(old.st_mode) ? "folder" : "pipe, socket or device");
	/* The temporary name is short, so only the rename would detect a final name that is too
	 * long. */
	if (!exists && errno == ENAMETOOLONG)
		return tn_fail(error, TN_IO, operation, "%s: %s", tn_file_label(path),
			       strerror(errno));
	file->path = tn_mem_copy_string(path);
	if (!file->path)
		return tn_no_memory(error, operation, tn_file_label(path), NULL);
	tn_status status = open_folder(file, error);
	if (!status)
		status = open_unnamed(file, 0666) ? TN_OK : open_named(file, 0666, error);
	if (!status && exists && fchmod(file->fd, old.st_mode & 0777) < 0)
		status = system_error(file, "keeping its mode", error);
	if (status)
		tn_new_file_abandon(file);
	return status;
}

tn_status tn_new_file_write(struct tn_new_file *file, const void *data, size_t size,
			    struct tn_error_info *error)
{
	const unsigned char *from = data;
	while (size > 0) {
		ssize_t done = write(file->fd, from, size);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return system_error(file, "writing", error);
		from += done;
		size -= (size_t)done;
	}
	return TN_OK;
}

tn_status tn_new_file_write_at(struct tn_new_file *file, uint64_t offset, const void *data,
			       size_t size, struct tn_error_info *error)
{
	const unsigned char *from = data;
	while (size > 0) {
		ssize_t done = pwrite(file->fd, from, size, (off_t)offset);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return system_error(file, "writing", error);
		from += done;
		offset += (uint64_t)done;
		size -= (size_t)done;
	}
	return TN_OK;
}

/* Syncs and closes the temporary file and gives it its name. */
static tn_status sync_and_rename(struct tn_new_file *file, struct tn_error_info *error)
{
	if (fsync(file->fd) < 0)
		return system_error(file, "syncing", error);
	tn_status status = name_temporary(file, error);
	if (status)
		return status;
	int fd = file->fd;
	file->fd = -1;
	if (close(fd) < 0)
		return system_error(file, "closing", error);
	if (rename(file->temporary, file->path) < 0)
		return system_error(file, "renaming the temporary file to it", error);
	return TN_OK;
}

tn_status tn_new_file_commit(struct tn_new_file *file, struct tn_error_info *error)
{
	tn_status status = sync_and_rename(file, error);
	if (status) {
		tn_new_file_abandon(file);
		return status;
	}
	/* Makes the rename durable.  EINVAL: the file system does not sync folders, which is
	 * ignored. */
	if (file->folder >= 0 && fsync(file->folder) < 0 && errno != EINVAL)
		status = system_error(file, "written, but syncing its folder", error);
	release(file);
	return status;
}

void tn_new_file_abandon(struct tn_new_file *file)
{
	if (file->temporary)
		unlink(file->temporary);
	release(file);
}

tn_status tn_new_file_save(const char *path, const void *data, size_t size, const char *operation,
			   struct tn_error_info *error)
{
	struct tn_new_file file;
	tn_status status = tn_new_file_begin(&file, path, operation, error);
	if (status)
		return status;
	status = tn_new_file_write(&file, data, size, error);
	if (!status)
		return tn_new_file_commit(&file, error);
	tn_new_file_abandon(&file);
	return status;
}

/* Is it tenon-<16 hexadecimal digits>.tmp? */
static int is_temporary(const char *name)
{
	static const char prefix[] = "tenon-", suffix[] = ".tmp";
	const char *digits = name + strlen(prefix);
	return !strncmp(name, prefix, strlen(prefix)) && strspn(digits, "0123456789abcdef") == 16 &&
	       !strcmp(digits + 16, suffix);
}

size_t tn_new_file_clean(const char *folder)
{
	size_t n = 0;
	DIR *entries = opendir(folder);
	for (const struct dirent *entry = entries ? readdir(entries) : NULL; entry;
	     entry = readdir(entries)) {
		struct stat information;
		struct tn_text text;
		if (!is_temporary(entry->d_name))
			continue;
		tn_text_init(&text);
		tn_text_format(&text, "%s/%s", folder, entry->d_name);
		int fd = text.failed ? -1 : tn_regular_open(text.data, &information);
		if (fd >= 0) {
			n += !flock(fd, LOCK_EX | LOCK_NB) && !unlink(text.data);
			close(fd);
		}
		tn_text_release(&text);
	}
	if (entries)
		closedir(entries);
	return n;
}
