/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The file that is the shared memory of a job.  The rank that comes first makes it, in the first
 * folder that has room for all of it; the others open it as soon as it has its size.  A maker that
 * finds no room after all removes the file and goes on to the next folder, and who has opened that
 * file looks again.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "local.h"

/* What a rank knows of the file that it looks for. */
struct search {
	const struct local_job *job;
	uint64_t bytes;
	char *path; /* LOCAL_MOST_PATH bytes */
	double deadline;
	struct tn_error_info *error;
};

static tn_status failed(const struct search *s, int code)
{
	return tn_plugin_fail_native(s->error, code == EACCES || code == ELOOP ? TN_REFUSED : TN_IO,
				     code, "open", "%s: %s", s->path, strerror(code));
}

static tn_status no_room(const struct search *s, int code)
{
	return tn_plugin_fail_native(s->error, TN_OUT_OF_MEMORY, code, "open",
				     "%s: no room for %llu bytes: %s (a lower TENON_LOCAL_BYTES "
				     "needs less, TENON_LOCAL_DIR names another folder)",
				     s->path, (unsigned long long)s->bytes, strerror(code));
}

/* ---- Another rank's file ---------------------------------------------------------------------*/

/* What another user, or another program, has put in its place is left alone.  TN_NOT_FOUND: its
 * maker has removed it. */
static tn_status check_file(const struct search *s, int file, struct stat *found)
{
	if (fstat(file, found))
		return failed(s, errno);
	if (!found->st_nlink)
		return TN_NOT_FOUND;
	if (!S_ISREG(found->st_mode) || found->st_uid != geteuid() || found->st_nlink != 1 ||
	    found->st_mode & 077)
		return tn_plugin_fail(s->error, TN_REFUSED, "open",
				      "%s: expected a file of user %lu that only it may use, found "
				      "one of user %lu with mode %04o",
				      s->path, (unsigned long)geteuid(),
				      (unsigned long)found->st_uid,
				      (unsigned)(found->st_mode & 07777));
	if (found->st_size && (uint64_t)found->st_size != s->bytes)
		return tn_plugin_fail(s->error, TN_INVALID_ARGUMENT, "open",
				      "%s has %lld bytes, expected %llu: the ranks disagree in "
				      "TENON_LOCAL_SIZE, TENON_LOCAL_BYTES or version",
				      s->path, (long long)found->st_size,
				      (unsigned long long)s->bytes);
	return TN_OK;
}

/* Waits until its maker has given it its size. */
static tn_status open_made(const struct search *s, int *file)
{
	const struct timespec pause = {0, 200000};
	struct stat found = {0};
	*file = open(s->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (*file < 0)
		return errno == ENOENT ? TN_NOT_FOUND : failed(s, errno);
	tn_status status = check_file(s, *file, &found);
	while (!status && !found.st_size) {
		(void)nanosleep(&pause, NULL);
		status = check_file(s, *file, &found);
		if (!status && !found.st_size && local_now() > s->deadline)
			status = tn_plugin_fail(s->error, TN_TIMED_OUT, "open",
						"%s: its maker has not given it a size", s->path);
	}
	if (status)
		(void)close(*file);
	return status;
}

/* ---- One's own -------------------------------------------------------------------------------*/

/* Memory that is not there would kill the process when it is first used.  The size appears at
 * once; a file system that cannot reserve gives the size alone. */
static int reserve(int file, uint64_t bytes)
{
	int code;
	do {
		code = fallocate(file, 0, 0, (off_t)bytes) ? errno : 0;
	} while (code == EINTR);
	if (code == EOPNOTSUPP)
		code = ftruncate(file, (off_t)bytes) ? errno : 0;
	return code;
}

/* Makes the file, or opens that of a rank that was faster.  TN_OUT_OF_MEMORY: no room, and no
 * file. */
static tn_status make_or_open(const struct search *s, int *file)
{
	*file = open(s->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (*file < 0 && errno == EEXIST)
		return open_made(s, file);
	if (*file < 0)
		return errno == ENOSPC || errno == EDQUOT ? no_room(s, errno) : failed(s, errno);
	const int code = reserve(*file, s->bytes);
	if (!code)
		return TN_OK;
	(void)unlink(s->path);
	(void)close(*file);
	return no_room(s, code);
}

/* ---- The folder ------------------------------------------------------------------------------*/

static void set_path(const struct search *s, const char *folder)
{
	(void)snprintf(s->path, LOCAL_MOST_PATH, "%s/tenon-local-%s", folder, s->job->name);
}

/* Has a rank of this user begun the job at the path? */
static int is_begun(const struct search *s)
{
	struct stat found;
	return !lstat(s->path, &found) && found.st_uid == geteuid();
}

static int has_room(const char *folder, uint64_t bytes)
{
	struct statvfs found;
	return !access(folder, W_OK | X_OK) && !statvfs(folder, &found) &&
	       (uint64_t)found.f_bavail * found.f_frsize >= bytes;
}

static tn_status open_somewhere(const struct search *s, int *file)
{
	const char *const folders[] = {"/dev/shm", s->job->temporary, "/tmp"};
	tn_status status = tn_plugin_fail(
		s->error, TN_OUT_OF_MEMORY, "open",
		"no folder for %llu bytes of shared memory: /dev/shm, TMPDIR ('%.256s') and /tmp "
		"cannot be written or have no room (a lower TENON_LOCAL_BYTES needs less, "
		"TENON_LOCAL_DIR names another folder)",
		(unsigned long long)s->bytes, s->job->temporary);
	for (unsigned i = 0; i < 3; i++) {
		set_path(s, folders[i]);
		if (folders[i][0] && is_begun(s))
			return open_made(s, file);
	}
	for (unsigned i = 0; i < 3 && status == TN_OUT_OF_MEMORY; i++) {
		set_path(s, folders[i]);
		if (folders[i][0] && (has_room(folders[i], s->bytes) || is_begun(s)))
			status = make_or_open(s, file);
	}
	return status;
}

tn_status local_file_map(const struct local_job *job, uint64_t bytes, char *path, void **memory,
			 struct tn_error_info *error)
{
	const struct search search = {.job = job,
				      .bytes = bytes,
				      .path = path,
				      .deadline = local_now() + job->timeout,
				      .error = error};
	tn_status status;
	int file;
	do {
		if (job->folder[0])
			set_path(&search, job->folder);
		status = job->folder[0] ? make_or_open(&search, &file)
					: open_somewhere(&search, &file);
	} while (status == TN_NOT_FOUND && local_now() < search.deadline);
	if (status == TN_NOT_FOUND)
		return tn_plugin_fail(error, TN_TIMED_OUT, "open",
				      "%s: removed each time it was made", path);
	if (status)
		return status;
	*memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (*memory == MAP_FAILED)
		status = tn_plugin_fail_native(error, TN_OUT_OF_MEMORY, errno, "open", "%s: %s",
					       path, strerror(errno));
	(void)close(file);
	return status;
}
