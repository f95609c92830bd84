/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reads what a plugin must not change of its process, reports differences and restores it.
 */
#include "process_state.h"

#include <dirent.h>
#include <fenv.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

/* SA_RESTORER, which the C library sets itself and the headers do not declare. */
enum { C_LIBRARY_FLAG = 0x04000000 };

extern char **environ;

/* The sum of the hashes (FNV-1a) of all variables: their order does not matter. */
static uint64_t hash_environment(void)
{
	uint64_t sum = 0;
	for (char **entry = environ; *entry; entry++) {
		uint64_t hash = 14695981039346656037u;
		for (const char *c = *entry; *c; c++)
			hash = (hash ^ (unsigned char)*c) * 1099511628211u;
		sum += hash;
	}
	return sum;
}

static unsigned count_entries(const char *folder)
{
	unsigned n = 0;
	DIR *dir = opendir(folder);
	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

static unsigned count_lines(const char *path)
{
	unsigned n = 0;
	int c;
	FILE *file = fopen(path, "re");
	while (file && (c = getc(file)) != EOF)
		n += c == '\n';
	if (file)
		fclose(file);
	return n;
}

/* Number `field` of /proc/self/statm, in bytes; 0: unknown. */
static uint64_t statm_bytes(int field)
{
	unsigned long long pages[2] = {0, 0};
	FILE *file = fopen("/proc/self/statm", "re");
	int n = file ? fscanf(file, "%llu %llu", &pages[0], &pages[1]) : 0;
	if (file)
		fclose(file);
	return n == 2 ? pages[field] * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

uint64_t process_resident_bytes(void)
{
	return statm_bytes(1);
}

uint64_t process_available_bytes(void)
{
	char line[128];
	unsigned long long kib = 0;
	FILE *file = fopen("/proc/meminfo", "re");
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
			break;
	}
	if (file)
		fclose(file);
	return (uint64_t)kib << 10;
}

uint64_t process_allocated_bytes(void)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
	const struct mallinfo2 all = mallinfo2();
	return all.uordblks + all.hblkhd;
#else
	return 0;
#endif
}

/* Threads then allocate from the arena that is counted. */
void process_count_exactly(void)
{
#if defined(__GLIBC__)
	mallopt(M_ARENA_MAX, 1);
#endif
}

/* To page it in again takes longer than most calls. */
void process_keep_freed_memory(void)
{
#if defined(__GLIBC__)
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
	mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
}

int process_has_proc(void)
{
	return access("/proc/self/task", R_OK | X_OK) == 0;
}

/* Without a moment in which other threads make files with another mask, if there is /proc. */
static unsigned read_umask(void)
{
	char line[128];
	unsigned mask = 0;
	FILE *file = fopen("/proc/self/status", "re");
	if (!file) {
		mask = umask(0);
		umask((mode_t)mask);
	}
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "Umask: %o", &mask) == 1)
			break;
	}
	if (file)
		fclose(file);
	return mask;
}

/* Rounding, flush to zero and masks, without the exception flags. */
static unsigned floating_control(void)
{
#if defined(__SSE__)
	return _mm_getcsr() & ~0x3fu;
#else
	return 0;
#endif
}

/* Precision, rounding and masks. */
static unsigned x87_control(void)
{
	unsigned short word = 0;
#if defined(__x86_64__) || defined(__i386__)
	__asm__ volatile("fnstcw %0" : "=m"(word));
#endif
	return word;
}

/* The signals that thread `id` blocks; all for one that has ended meanwhile. */
static uint64_t blocked_by(const char *id)
{
	char path[300], line[128];
	unsigned long long mask = UINT64_MAX;
	snprintf(path, sizeof(path), "/proc/self/task/%s/status", id);
	FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "SigBlk: %llx", &mask) == 1)
			break;
	}
	if (file)
		fclose(file);
	return mask;
}

void process_threads_take(struct process_threads *threads)
{
	DIR *dir = opendir("/proc/self/task");
	const struct dirent *entry;
	threads->n = 0;
	while (dir && threads->n < MOST_THREADS && (entry = readdir(dir))) {
		int id = atoi(entry->d_name);
		if (id <= 0)
			continue;
		threads->blocked[threads->n] = blocked_by(entry->d_name);
		threads->id[threads->n++] = id;
	}
	if (dir)
		closedir(dir);
}

static int has_thread(const struct process_threads *threads, int id)
{
	for (size_t i = 0; i < threads->n; i++) {
		if (threads->id[i] == id)
			return 1;
	}
	return 0;
}

static void select_threads(struct process_threads *all, const struct process_threads *known,
			   int wanted)
{
	size_t n = 0;
	for (size_t i = 0; i < all->n; i++) {
		if (has_thread(known, all->id[i]) != wanted)
			continue;
		all->blocked[n] = all->blocked[i];
		all->id[n++] = all->id[i];
	}
	all->n = n;
}

void process_threads_drop(struct process_threads *all, const struct process_threads *known)
{
	select_threads(all, known, 0);
}

void process_threads_keep(struct process_threads *all, const struct process_threads *known)
{
	select_threads(all, known, 1);
}

static const int timer_names[] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};

static void take_limits(struct process_state *state)
{
	for (int i = 0; i < RLIM_NLIMITS; i++)
		getrlimit((__rlimit_resource_t)i, &state->limits[i]);
	for (int i = 0; i < 3; i++)
		getitimer((__itimer_which_t)timer_names[i], &state->timers[i]);
	state->priority = getpriority(PRIO_PROCESS, 0);
	sched_getaffinity(0, sizeof(state->processors), &state->processors);
	prctl(PR_GET_NAME, state->thread_name);
}

static void take_signals(struct process_state *state)
{
	for (int number = 1; number < SIGNALS; number++) {
		struct sigaction action = {.sa_flags = 0};
		if (sigaction(number, NULL, &action))
			continue;
		state->handlers[number] = action.sa_handler;
		state->flags[number] = action.sa_flags & ~C_LIBRARY_FLAG;
	}
	sigprocmask(SIG_SETMASK, NULL, &state->blocked);
	sigaltstack(NULL, &state->signal_stack);
}

void process_state_take(struct process_state *state)
{
	memset(state, 0, sizeof(*state));
	take_signals(state);
	take_limits(state);
	snprintf(state->locale, sizeof(state->locale), "%s", setlocale(LC_ALL, NULL));
	state->thread_locale = uselocale((locale_t)0);
	if (!getcwd(state->folder, sizeof(state->folder)))
		state->folder[0] = '\0';
	state->environment = hash_environment();
	state->rounding = fegetround();
	state->control = floating_control();
	state->x87_control = x87_control();
	state->umask = read_umask();
	state->threads = count_entries("/proc/self/task");
	state->descriptors = count_entries("/proc/self/fd");
	state->mappings = count_lines("/proc/self/maps");
	state->mapped_bytes = statm_bytes(0);
	state->allocated_bytes = process_allocated_bytes();
}

void process_state_restore(const struct process_state *before)
{
	sigprocmask(SIG_SETMASK, &before->blocked, NULL);
	sigaltstack(&before->signal_stack, NULL);
	setlocale(LC_ALL, before->locale);
	uselocale(before->thread_locale);
	/* Otherwise the folder has been removed. */
	(void)!chdir(before->folder);
	umask((mode_t)before->umask);
	fesetround(before->rounding);
#if defined(__SSE__)
	_mm_setcsr(before->control);
#endif
#if defined(__x86_64__) || defined(__i386__)
	const unsigned short word = (unsigned short)before->x87_control;
	__asm__ volatile("fldcw %0" : : "m"(word));
#endif
	for (int i = 0; i < RLIM_NLIMITS; i++)
		setrlimit((__rlimit_resource_t)i, &before->limits[i]);
	for (int i = 0; i < 3; i++)
		setitimer((__itimer_which_t)timer_names[i], &before->timers[i], NULL);
	sched_setaffinity(0, sizeof(before->processors), &before->processors);
	prctl(PR_SET_NAME, before->thread_name);
}

static void expect_signals(struct kit *kit, const struct process_state *before,
			   const struct process_state *after, const char *what)
{
	for (int number = 1; number < SIGNALS; number++) {
		if (before->handlers[number] != after->handlers[number] ||
		    before->flags[number] != after->flags[number])
			kit_fail(kit, "%s: the handler of signal %d has changed", what, number);
		if (sigismember(&before->blocked, number) != sigismember(&after->blocked, number))
			kit_fail(kit, "%s: signal %d is blocked now, or was before", what, number);
	}
	/* Compilers that vendors' libraries contain give the thread one if it has none. */
	if (!(before->signal_stack.ss_flags & SS_DISABLE) &&
	    before->signal_stack.ss_sp != after->signal_stack.ss_sp)
		kit_fail(kit, "%s: the stack of signal handlers has changed", what);
}

static void expect_modes(struct kit *kit, const struct process_state *before,
			 const struct process_state *after, const char *what)
{
	if (before->rounding != after->rounding || before->control != after->control)
		kit_fail(kit, "%s: the floating-point mode was %#x, is %#x", what, before->control,
			 after->control);
	if (before->x87_control != after->x87_control)
		kit_fail(kit, "%s: the control word of the x87 was %#x, is %#x", what,
			 before->x87_control, after->x87_control);
}

/* Running out of time counts timers down. */
static int is_same_timer(const struct itimerval *before, const struct itimerval *after)
{
	return timerisset(&before->it_value) == timerisset(&after->it_value) &&
	       before->it_interval.tv_sec == after->it_interval.tv_sec &&
	       before->it_interval.tv_usec == after->it_interval.tv_usec;
}

static void expect_limits(struct kit *kit, const struct process_state *before,
			  const struct process_state *after, const char *what)
{
	for (int i = 0; i < RLIM_NLIMITS; i++) {
		if (before->limits[i].rlim_cur != after->limits[i].rlim_cur ||
		    before->limits[i].rlim_max != after->limits[i].rlim_max)
			kit_fail(kit, "%s: limit %d of getrlimit has changed", what, i);
	}
	for (int i = 0; i < 3; i++) {
		if (!is_same_timer(&before->timers[i], &after->timers[i]))
			kit_fail(kit, "%s: timer %d of getitimer has changed", what,
				 timer_names[i]);
	}
	if (before->priority != after->priority)
		kit_fail(kit, "%s: the priority was %d, is %d", what, before->priority,
			 after->priority);
	if (!CPU_EQUAL(&before->processors, &after->processors))
		kit_fail(kit, "%s: the caller's thread may run on other processors", what);
	if (strcmp(before->thread_name, after->thread_name) != 0)
		kit_fail(kit, "%s: the caller's thread was named '%s', is '%s'", what,
			 before->thread_name, after->thread_name);
}

void process_state_expect(struct kit *kit, const struct process_state *before,
			  const struct process_state *after, const char *what)
{
	expect_signals(kit, before, after, what);
	expect_modes(kit, before, after, what);
	expect_limits(kit, before, after, what);
	if (strcmp(before->locale, after->locale) != 0)
		kit_fail(kit, "%s: the locale was '%s', is '%s'", what, before->locale,
			 after->locale);
	if (before->thread_locale != after->thread_locale)
		kit_fail(kit, "%s: the locale of the caller's thread has changed", what);
	if (strcmp(before->folder, after->folder) != 0)
		kit_fail(kit, "%s: the working directory has changed", what);
	if (before->environment != after->environment)
		kit_fail(kit, "%s: the environment has changed", what);
	if (before->umask != after->umask)
		kit_fail(kit, "%s: the umask has changed", what);
}

/* ---- Files -----------------------------------------------------------------------------------*/

enum { HIGHEST = 64, BYSTANDERS = 8 };

static struct {
	int is_open, flags, own_flags; /* of fcntl: of the file, of the descriptor */
	dev_t device;
	ino_t number;
} files[HIGHEST];

static int read_file(int descriptor, struct stat *file, int *flags, int *own_flags)
{
	*flags = fcntl(descriptor, F_GETFL);
	*own_flags = fcntl(descriptor, F_GETFD);
	return *flags != -1 && !fstat(descriptor, file);
}

void process_files_remember(void)
{
	struct stat file;
	for (int i = 0; i < BYSTANDERS; i++)
		(void)memfd_create("bystander", MFD_CLOEXEC);
	for (int i = 0; i < HIGHEST; i++) {
		files[i].is_open = read_file(i, &file, &files[i].flags, &files[i].own_flags);
		files[i].device = files[i].is_open ? file.st_dev : 0;
		files[i].number = files[i].is_open ? file.st_ino : 0;
	}
}

void process_files_expect(struct kit *kit, const char *what)
{
	struct stat file;
	int flags, own_flags;
	for (int i = 0; i < HIGHEST; i++) {
		if (!files[i].is_open)
			continue;
		files[i].is_open = 0;
		if (!read_file(i, &file, &flags, &own_flags))
			kit_fail(kit, "%s: descriptor %d of the program is closed", what, i);
		else if (file.st_dev != files[i].device || file.st_ino != files[i].number)
			kit_fail(kit, "%s: descriptor %d of the program is another file", what, i);
		else if (flags != files[i].flags || own_flags != files[i].own_flags)
			kit_fail(kit, "%s: the flags of descriptor %d of the program have changed",
				 what, i);
		else
			files[i].is_open = 1;
	}
}
