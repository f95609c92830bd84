/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Faults on demand.
 */
#include "fault.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Not constant for the compiler: another object may define it. */
extern const int sim_cuda_version __attribute__((weak));
const int sim_cuda_version = 13000;

enum { MAX_NAMES = 512, MAX_FAULTS = 64, MAX_NAME = 64, MAX_FRAMES = 64 };

struct count {
	const char *name; /* a literal of the caller's */
	unsigned long calls;
};

struct fault {
	char name[MAX_NAME];
	unsigned left;  /* calls until it strikes; 0: it has */
	unsigned times; /* how often it then strikes; 0: always */
	int code, sticky;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct count counts[MAX_NAMES];
static size_t n_counts;
static struct fault faults[MAX_FAULTS];
static size_t n_faults;
static const char *struck = ""; /* a literal of the caller's */
static int is_read;
static FILE *sites; /* SIMCUDA_SITES; NULL: not set */

static int is_meant(const char *pattern, const char *name)
{
	size_t length = strlen(pattern);
	if (length > 0 && pattern[length - 1] == '*')
		return strncmp(pattern, name, length - 1) == 0;
	return strcmp(pattern, name) == 0;
}

static struct fault *add(const char *name, unsigned n, int code, int sticky)
{
	size_t i = 0;
	while (i < n_faults && faults[i].left > 0)
		i++;
	if (i == MAX_FAULTS)
		return NULL;
	if (i == n_faults)
		n_faults++;
	struct fault *fault = &faults[i];
	snprintf(fault->name, sizeof(fault->name), "%s", name);
	fault->left = n;
	fault->times = 1;
	fault->code = code;
	fault->sticky = sticky;
	return fault;
}

/* One of NAME:N=CODE[:sticky]. */
static void read_one(char *text)
{
	char *colon = strchr(text, ':');
	char *equals = colon ? strchr(colon, '=') : NULL;
	if (!equals) {
		fprintf(stderr, "SIMCUDA_FAIL: expected NAME:N=CODE[:sticky], found \"%s\"\n",
			text);
		return;
	}
	*colon = '\0';
	(void)add(text, (unsigned)strtoul(colon + 1, NULL, 10), (int)strtol(equals + 1, NULL, 10),
		  strstr(equals, ":sticky") != NULL);
}

static void read_environment(void)
{
	const char *text = getenv("SIMCUDA_FAIL");
	char *copy = text ? strdup(text) : NULL, *rest = NULL;
	for (char *part = copy ? strtok_r(copy, ",", &rest) : NULL; part;
	     part = strtok_r(NULL, ",", &rest))
		read_one(part);
	free(copy);
	const char *path = getenv("SIMCUDA_SITES");
	if (path && *path && !sites)
		sites = fopen(path, "ae");
	is_read = 1;
}

/* A line for a call: its name, and from where it was called, FILE+OFFSET each, innermost first. */
static void tell_site(const char *name)
{
	void *frames[MAX_FRAMES];
	int n = backtrace(frames, MAX_FRAMES);
	fputs(name, sites);
	for (int i = 1; i < n; i++) {
		Dl_info at;
		if (!dladdr(frames[i], &at) || !at.dli_fname)
			continue;
		const char *slash = strrchr(at.dli_fname, '/');
		fprintf(sites, " %s+%tx", slash ? slash + 1 : at.dli_fname,
			(char *)frames[i] - (char *)at.dli_fbase);
	}
	fputc('\n', sites);
	(void)fflush(sites);
}

static void count(const char *name)
{
	size_t i = 0;
	while (i < n_counts && strcmp(counts[i].name, name) != 0)
		i++;
	if (i == MAX_NAMES)
		return;
	if (i == n_counts) {
		counts[n_counts++].name = name;
		counts[i].calls = 0;
	}
	counts[i].calls++;
}

/* Does the fault strike this call? */
static int strikes(struct fault *fault, const char *name)
{
	if (fault->left == 0 || !is_meant(fault->name, name) || --fault->left > 0)
		return 0;
	if (fault->times != 1)
		fault->left = 1;
	if (fault->times > 1)
		fault->times--;
	return 1;
}

int sim_fault_next(const char *name, int *sticky)
{
	int code = 0;
	pthread_mutex_lock(&lock);
	if (!is_read)
		read_environment();
	count(name);
	if (sites)
		tell_site(name);
	for (size_t i = 0; i < n_faults; i++) {
		struct fault *fault = &faults[i];
		if (strikes(fault, name)) {
			code = fault->code;
			*sticky = fault->sticky;
			struck = name;
		}
	}
	pthread_mutex_unlock(&lock);
	return code;
}

void sim_fault_add(const char *name, unsigned n, int code, int sticky)
{
	pthread_mutex_lock(&lock);
	if (!is_read)
		read_environment();
	if (n == 0)
		n_faults = 0;
	else
		(void)add(name, n, code, sticky);
	pthread_mutex_unlock(&lock);
}

void sim_fault_repeat(const char *name, unsigned n, unsigned times, int code)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < n_faults; i++)
		if (strcmp(faults[i].name, name) == 0)
			faults[i].left = 0;
	struct fault *fault = add(name, n, code, 0);
	if (fault)
		fault->times = times;
	pthread_mutex_unlock(&lock);
}

unsigned long sim_fault_calls(const char *name)
{
	unsigned long calls = 0;
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < n_counts; i++)
		if (is_meant(name, counts[i].name))
			calls += counts[i].calls;
	pthread_mutex_unlock(&lock);
	return calls;
}

const char *sim_fault_struck(void)
{
	pthread_mutex_lock(&lock);
	const char *name = struck;
	pthread_mutex_unlock(&lock);
	return name;
}

void sim_fault_forget_calls(void)
{
	pthread_mutex_lock(&lock);
	n_counts = 0;
	pthread_mutex_unlock(&lock);
}

void sim_fault_restart(void)
{
	pthread_mutex_lock(&lock);
	n_counts = 0;
	n_faults = 0;
	struck = "";
	is_read = 0;
	pthread_mutex_unlock(&lock);
}

/* ---- What is missing -------------------------------------------------------------------------*/

int sim_is_listed(const char *variable, const char *name)
{
	const char *list = getenv(variable);
	const size_t length = strlen(name);
	for (; list && *list; list += strcspn(list, ","), list += *list == ',')
		if (strcspn(list, ",") == length && strncmp(list, name, length) == 0)
			return 1;
	return 0;
}

/* Of its dynamic section; the loader has made addresses of offsets on most architectures. */
static size_t dynamic_value(const struct link_map *map, ElfW(Sxword) tag)
{
	for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == tag)
			return entry->d_un.d_val;
	return 0;
}

/* Renames the functions that are listed, before anyone looks for them by name. */
static void __attribute__((constructor)) hide_functions(void)
{
	Dl_info info;
	struct link_map *map = NULL;
	if (!getenv("SIMCUDA_MISSING") ||
	    !dladdr1((void *)&hide_functions, &info, (void **)&map, RTLD_DL_LINKMAP))
		return;
	size_t names = dynamic_value(map, DT_STRTAB), size = dynamic_value(map, DT_STRSZ);
	char *at = (char *)(names < map->l_addr ? names + map->l_addr : names), *end = at + size;
	size_t page = (size_t)sysconf(_SC_PAGESIZE), before = (size_t)at % page;
	if (mprotect(at - before, size + before, PROT_READ | PROT_WRITE))
		return;
	for (; at < end; at += strlen(at) + 1)
		if (sim_is_listed("SIMCUDA_MISSING", at))
			*at = '-';
}
