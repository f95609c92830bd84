/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reads what a plugin must not change of its process, reports differences and restores it.
 */
#include "process_state.h"

#include <dirent.h>
#include <fenv.h>
#include <locale.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
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
	return mallinfo2().uordblks;
#else
	return 0;
#endif
}

/* Without a moment in which other threads make files with another mask. */
static unsigned read_umask(void)
{
	char line[128];
	unsigned mask = 0;
	FILE *file = fopen("/proc/self/status", "re");
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

void process_state_take(struct process_state *state)
{
	memset(state, 0, sizeof(*state));
	for (int number = 1; number < SIGNALS; number++) {
		struct sigaction action = {.sa_flags = 0};
		if (sigaction(number, NULL, &action))
			continue;
		state->handlers[number] = action.sa_handler;
		state->flags[number] = action.sa_flags & ~C_LIBRARY_FLAG;
	}
	sigprocmask(SIG_SETMASK, NULL, &state->blocked);
	snprintf(state->locale, sizeof(state->locale), "%s", setlocale(LC_ALL, NULL));
	if (!getcwd(state->folder, sizeof(state->folder)))
		state->folder[0] = '\0';
	state->environment = hash_environment();
	state->rounding = fegetround();
	state->control = floating_control();
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
	setlocale(LC_ALL, before->locale);
	/* Otherwise the folder has been removed. */
	(void)!chdir(before->folder);
	umask((mode_t)before->umask);
	fesetround(before->rounding);
#if defined(__SSE__)
	_mm_setcsr(before->control);
#endif
}

static void expect_handlers(struct kit *kit, const struct process_state *before,
			    const struct process_state *after, const char *what)
{
	for (int number = 1; number < SIGNALS; number++) {
		if (before->handlers[number] != after->handlers[number] ||
		    before->flags[number] != after->flags[number])
			kit_fail(kit, "%s: the handler of signal %d has changed", what, number);
		if (sigismember(&before->blocked, number) != sigismember(&after->blocked, number))
			kit_fail(kit, "%s: signal %d is blocked now, or was before", what, number);
	}
}

void process_state_expect(struct kit *kit, const struct process_state *before,
			  const struct process_state *after, const char *what)
{
	expect_handlers(kit, before, after, what);
	if (strcmp(before->locale, after->locale) != 0)
		kit_fail(kit, "%s: the locale was '%s', is '%s'", what, before->locale,
			 after->locale);
	if (strcmp(before->folder, after->folder) != 0)
		kit_fail(kit, "%s: the working directory has changed", what);
	if (before->environment != after->environment)
		kit_fail(kit, "%s: the environment has changed", what);
	if (before->rounding != after->rounding || before->control != after->control)
		kit_fail(kit, "%s: the floating-point mode was %#x, is %#x", what, before->control,
			 after->control);
	if (before->umask != after->umask)
		kit_fail(kit, "%s: the umask has changed", what);
}
