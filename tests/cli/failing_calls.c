/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Preloaded into the command: one allocation, or one call that changes a file, fails.
 *
 *	TENON_TEST_FAIL="memory 12"     the 12th allocation
 *	TENON_TEST_FAIL="memory 12 on"  the 12th and all after it
 *	TENON_TEST_FAIL="disk 3"        the third call: an I/O error
 *	TENON_TEST_FAIL="disk 3 on"     from the third on the disk is full
 *	TENON_TEST_FAIL="disk 3 kill"   the process is killed before the third
 *	TENON_TEST_CALLS=FILE           gets the numbers of both at the end, or where it crashed
 *
 * A write to a full disk writes half of the bytes, and the next one fails; what needs no room works
 * on.  The clock stands still and getrandom gives the same bytes, so that two runs write the same.
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Of the C library; dlsym would allocate. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

/* One kind of calls. */
struct calls {
	atomic_ulong n;
	unsigned long failing; /* the number of the first that fails; 0: none */
	int all;               /* and those after it */
	int kills;
};
static struct calls memory, disk;
static atomic_ulong unnamed; /* files without a name that were made */
static char report[4096];    /* the file; empty: none */

static int fails(struct calls *calls)
{
	const unsigned long n = atomic_fetch_add(&calls->n, 1) + 1;
	if (calls->kills && n == calls->failing)
		kill(getpid(), SIGKILL);
	return n == calls->failing || (calls->all && calls->failing && n > calls->failing);
}

/* ---- Memory ----------------------------------------------------------------------------------*/

static int no_memory(void)
{
	if (!fails(&memory))
		return 0;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t size)
{
	return no_memory() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return no_memory() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	return no_memory() ? NULL : __libc_realloc(old, size);
}

void *memalign(size_t alignment, size_t size)
{
	return no_memory() ? NULL : __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return memalign(alignment, size);
}

int posix_memalign(void **to, size_t alignment, size_t size)
{
	void *found = memalign(alignment, size);
	if (!found)
		return ENOMEM;
	*to = found;
	return 0;
}

/* ---- Files -----------------------------------------------------------------------------------*/

/* Is it a file or a folder of a disk, open for writing? */
static int is_on_disk(int fd, int needs_room)
{
	struct stat found;
	const int reason = errno;
	const int is = !fstat(fd, &found) &&
		       (S_ISREG(found.st_mode) ? (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY
					       : S_ISDIR(found.st_mode) && !needs_room);
	errno = reason;
	return is;
}

/* A disk that is full from one call on refuses what needs room, and no other calls. */
static int no_disk(int needs_room)
{
	if (disk.all && !needs_room) {
		atomic_fetch_add(&disk.n, 1);
		return 0;
	}
	if (!fails(&disk))
		return 0;
	errno = disk.all ? ENOSPC : EIO;
	return 1;
}

/* What of `size` bytes there is room for; -1: errno says why there is none. */
static ssize_t room_for(int fd, size_t size)
{
	static int half_of = -1; /* the file that got a half */
	if (!is_on_disk(fd, 1) || !no_disk(1))
		return (ssize_t)size;
	if (!disk.all || half_of == fd || size < 2)
		return -1;
	half_of = fd;
	return (ssize_t)(size / 2);
}

ssize_t write(int fd, const void *data, size_t size)
{
	const ssize_t room = room_for(fd, size);
	return room < 0 ? -1 : syscall(SYS_write, fd, data, (size_t)room);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
{
	const ssize_t room = room_for(fd, size);
	return room < 0 ? -1 : syscall(SYS_pwrite64, fd, data, (size_t)room, offset);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off_t offset)
{
	return pwrite(fd, data, size, offset);
}

int fsync(int fd)
{
	return is_on_disk(fd, 0) && no_disk(0) ? -1 : (int)syscall(SYS_fsync, fd);
}

int ftruncate(int fd, off_t length)
{
	return is_on_disk(fd, 1) && no_disk(0) ? -1 : (int)syscall(SYS_ftruncate, fd, length);
}

int ftruncate64(int fd, off_t length)
{
	return ftruncate(fd, length);
}

int fchmod(int fd, mode_t mode)
{
	return no_disk(0) ? -1 : (int)syscall(SYS_fchmod, fd, mode);
}

/* The descriptor is closed all the same. */
int close(int fd)
{
	const int failed = is_on_disk(fd, 1) && no_disk(0);
	const int reason = errno;
	const int result = (int)syscall(SYS_close, fd);
	if (!failed)
		return result;
	errno = reason;
	return -1;
}

int rename(const char *from, const char *to)
{
	return no_disk(0) ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
	return no_disk(1) ? -1 : (int)syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
}

int mkdir(const char *path, mode_t mode)
{
	return no_disk(1) ? -1 : (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

/* Only those that make a file count. */
static int open_at(int folder, const char *path, int flags, mode_t mode)
{
	const int is_unnamed = (flags & O_TMPFILE) == O_TMPFILE;
	if (((flags & O_CREAT) || is_unnamed) && no_disk(1))
		return -1;
	const int fd = (int)syscall(SYS_openat, folder, path, flags, mode);
	if (is_unnamed && fd >= 0)
		atomic_fetch_add(&unnamed, 1);
	return fd;
}

static mode_t mode_of(int flags, va_list arguments)
{
	const int makes = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
	return makes ? va_arg(arguments, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
	va_list arguments;
	va_start(arguments, flags);
	const int fd = open_at(AT_FDCWD, path, flags, mode_of(flags, arguments));
	va_end(arguments);
	return fd;
}

int open64(const char *path, int flags, ...)
{
	va_list arguments;
	va_start(arguments, flags);
	const int fd = open_at(AT_FDCWD, path, flags, mode_of(flags, arguments));
	va_end(arguments);
	return fd;
}

int openat(int folder, const char *path, int flags, ...)
{
	va_list arguments;
	va_start(arguments, flags);
	const int fd = open_at(folder, path, flags, mode_of(flags, arguments));
	va_end(arguments);
	return fd;
}

/* ---- The clock and chance --------------------------------------------------------------------*/

ssize_t getrandom(void *data, size_t size, unsigned flags)
{
	(void)flags;
	memset(data, 0x5a, size);
	return (ssize_t)size;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	(void)clock;
	*now = (struct timespec){.tv_sec = 1000000000};
	return 0;
}

/* ---- The report ------------------------------------------------------------------------------*/

static void write_report(const char *text)
{
	const int fd = *report ? (int)syscall(SYS_openat, AT_FDCWD, report,
					      O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)
			       : -1;
	if (fd < 0)
		return;
	(void)!syscall(SYS_write, fd, text, strlen(text));
	syscall(SYS_close, fd);
}

static int ends_in_c_library(const char *file)
{
	return strstr(file, "/libc.so") || strstr(file, "/ld-linux") ||
	       strstr(file, "failing_calls");
}

/* Whose function was it that crashed, or gave the C library what it crashed with? */
static void on_crash(int number)
{
	void *frames[64];
	Dl_info found;
	char text[4200] = "crashed in an unknown file\n";
	const int n = backtrace(frames, 64);
	memory.failing = 0;
	for (int i = 0; i < n; i++) {
		if (!dladdr(frames[i], &found) || !found.dli_fname ||
		    ends_in_c_library(found.dli_fname))
			continue;
		snprintf(text, sizeof(text), "crashed in %s\n", found.dli_fname);
		break;
	}
	write_report(text);
	signal(number, SIG_DFL);
	raise(number);
}

/* On a stack of its own: a library that calls itself for the want of memory has used up the other
 * one. */
static void catch_crashes(void)
{
	static const int crashes[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};
	static char room[1 << 16];
	const stack_t stack = {.ss_sp = room, .ss_size = sizeof(room)};
	const struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK};
	void *frames[4];
	backtrace(frames, 4); /* loads what it needs */
	sigaltstack(&stack, NULL);
	for (size_t i = 0; i < sizeof(crashes) / sizeof(*crashes); i++)
		sigaction(crashes[i], &action, NULL);
}

static void read_wish(void)
{
	char kind[16] = "", end[8] = "";
	unsigned long n = 0;
	const char *wish = getenv("TENON_TEST_FAIL");
	if (!wish || sscanf(wish, "%15s %lu %7s", kind, &n, end) < 2)
		return;
	struct calls *calls = strcmp(kind, "disk") == 0 ? &disk : &memory;
	calls->failing = n;
	calls->all = strcmp(end, "on") == 0;
	calls->kills = strcmp(end, "kill") == 0;
}

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("TENON_TEST_CALLS");
	snprintf(report, sizeof(report), "%s", path ? path : "");
	catch_crashes();
	atomic_store(&memory.n, 0);
	atomic_store(&disk.n, 0);
	read_wish();
	/* Processes that the command starts are not disturbed. */
	unsetenv("LD_PRELOAD");
}

/* Has the file system of the working directory files without a name? */
static int has_unnamed(void)
{
	const long fd = syscall(SYS_openat, AT_FDCWD, ".", O_TMPFILE | O_WRONLY, 0600);
	if (fd >= 0)
		syscall(SYS_close, fd);
	return fd >= 0;
}

__attribute__((destructor)) static void end(void)
{
	char text[128];
	snprintf(text, sizeof(text), "memory %lu\ndisk %lu\nunnamed %lu\nhas_unnamed %d\n",
		 atomic_load(&memory.n), atomic_load(&disk.n), atomic_load(&unnamed),
		 has_unnamed());
	write_report(text);
}
