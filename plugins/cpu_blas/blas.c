/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The pthread build of OpenBLAS has one thread count for the process.  While it is 1, concurrent
 * calls from several threads are safe (OpenBLAS wiki, "How can I use OpenBLAS in multi-threaded
 * applications?").  The count is shared by all users in the process, other instances of this plugin
 * included, so the first to enter saves it and the last to leave restores it: this needs the only
 * object here that does not belong to an instance.
 */
#include "blas.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include "plugin.h"
#include "room.h"

#if CPU_HAVE_CBLAS
#include <cblas.h>
_Static_assert((int)CblasRowMajor == BLAS_ROW_MAJOR && (int)CblasNoTrans == BLAS_NO_TRANS &&
		       (int)CblasTrans == BLAS_TRANS,
	       "the constants differ from those of OpenBLAS");
#endif

/* One row for each open library: in practice one, identified by its function's address. */
struct count {
	void (*set_num_threads)(int);
	unsigned users;
	int is_alone; /* the one user computes with several threads */
	int saved;
};

static struct {
	pthread_mutex_t mutex;
	pthread_cond_t left; /* by one who was alone */
	struct count rows[4];
	unsigned callers; /* of all instances that have the library open */
	unsigned taken;   /* buffers that the library has allocated for them */
} process_counts = {.mutex = PTHREAD_MUTEX_INITIALIZER, .left = PTHREAD_COND_INITIALIZER};

struct name {
	const char *text;
	size_t offset;
};

static const struct name needed[] = {
	{"cblas_sgemm", offsetof(struct cpu_blas, sgemm)},
	{"cblas_dgemm", offsetof(struct cpu_blas, dgemm)},
	{"cblas_sgemv", offsetof(struct cpu_blas, sgemv)},
	{"cblas_dgemv", offsetof(struct cpu_blas, dgemv)},
	{"cblas_sdot", offsetof(struct cpu_blas, sdot)},
	{"cblas_ddot", offsetof(struct cpu_blas, ddot)},
	{"openblas_set_num_threads", offsetof(struct cpu_blas, set_num_threads)},
	{"openblas_get_num_threads", offsetof(struct cpu_blas, get_num_threads)},
	{"openblas_get_parallel", offsetof(struct cpu_blas, get_parallel)},
	{"openblas_get_config", offsetof(struct cpu_blas, get_config)},
	{"openblas_get_corename", offsetof(struct cpu_blas, get_corename)},
};
/* Only in the OpenMP build. */
static const struct name needed_openmp[] = {
	{"omp_set_num_threads", offsetof(struct cpu_blas, omp_set_num_threads)},
	{"omp_get_max_threads", offsetof(struct cpu_blas, omp_get_max_threads)},
};

/* Looks up all names; the first missing one, or NULL. */
static const char *fetch_functions(struct cpu_blas *blas, const struct name *names, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		void *address = dlsym(blas->handle, names[i].text);
		if (!address)
			return names[i].text;
		memcpy((char *)blas + names[i].offset, &address, sizeof(address));
	}
	return NULL;
}

/* Is the path not a regular file?  Opening a pipe would wait forever for its other end. */
static int is_no_file(const char *path)
{
	struct stat found;
	return strchr(path, '/') && !stat(path, &found) && !S_ISREG(found.st_mode);
}

/* Opens one file: 1 if it has everything; else `note` has the reason. */
static int try_library(struct cpu_blas *blas, const char *file)
{
	memset(blas, 0, sizeof(*blas));
	if (is_no_file(file)) {
		snprintf(blas->note, sizeof(blas->note),
			 "OpenBLAS not usable: %.200s is not a regular file", file);
		return 0;
	}
	blas->handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	if (!blas->handle) {
		snprintf(blas->note, sizeof(blas->note), "OpenBLAS missing: %.200s", dlerror());
		return 0;
	}
	const char *missing = fetch_functions(blas, needed, sizeof(needed) / sizeof(*needed));
	if (!missing) {
		/* 0: serial, 1: pthread, 2: OpenMP. */
		blas->openmp = blas->get_parallel() == 2;
		if (blas->openmp)
			missing = fetch_functions(blas, needed_openmp,
						  sizeof(needed_openmp) / sizeof(*needed_openmp));
	}
	if (!missing && strstr(blas->get_config(), "USE64BITINT"))
		missing = "32-bit integers";
	if (!missing)
		return 1;
	dlclose(blas->handle);
	blas->handle = NULL;
	snprintf(blas->note, sizeof(blas->note), "OpenBLAS not usable: %.120s has no %s", file,
		 missing);
	return 0;
}

/* The library cannot report a failed allocation: the memory that a product would allocate for each
 * computing thread is allocated here, after cpu_room_try found that it is available, and stays the
 * library's.  By its own two functions, if it exports them; as many as fit the smallest table of
 * any build. */
static void take_buffers(const struct cpu_blas *blas, unsigned n)
{
	enum { MOST = 48 };
	void *(*take)(int) = NULL;
	void *buffers[MOST];
	void (*give)(void *) = NULL;
	void *address = dlsym(blas->handle, "blas_memory_alloc");
	memcpy(&take, &address, sizeof(take));
	address = dlsym(blas->handle, "blas_memory_free");
	memcpy(&give, &address, sizeof(give));
	if (!take || !give)
		return;
	if (n > MOST)
		n = MOST;
	for (unsigned i = 0; i < n; i++)
		buffers[i] = take(0);
	for (unsigned i = 0; i < n; i++)
		give(buffers[i]);
	if (n > process_counts.taken)
		process_counts.taken = n;
}

/* The soname, the development name, and Fedora's names for the threaded builds. */
static const char *const files[] = {"libopenblas.so.0", "libopenblas.so", "libopenblasp.so.0",
				    "libopenblaso.so.0"};

/* Is one of the files loaded in the process already?  Its threads are then running. */
static int is_open(const char *const *names, size_t n)
{
	void *handle = NULL;
	for (size_t i = 0; i < n && !handle && !is_no_file(names[i]); i++)
		handle = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);
	if (handle)
		dlclose(handle);
	return handle != NULL;
}

/* Is there enough memory for the library and `callers` threads that compute in it?  Else `note` has
 * the reason. */
static int has_room(struct cpu_blas *blas, const struct tn_host *host, const char *file,
		    unsigned callers)
{
	static const char *const names[] = {"OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS",
					    "OMP_NUM_THREADS"};
	const char *asked[sizeof(names) / sizeof(*names)];
	struct cpu_room room = {.buffers = 0};
	if (callers > process_counts.taken)
		room.buffers = callers - process_counts.taken;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		asked[i] = host->parameter(host->context, names[i],
					   "cpu: the number of threads that OpenBLAS starts when "
					   "it is opened (they stay idle)");
	if (!is_open(file ? &file : files, file ? 1 : sizeof(files) / sizeof(*files)))
		room.threads = cpu_room_threads(asked, sizeof(names) / sizeof(*names));
	room.buffers += room.threads;
	return cpu_room_try(&room, blas->note, sizeof(blas->note));
}

/* Does the core that the library has chosen compute with vectors of 16 bytes at most?  It takes
 * such a one, Prescott, for processors that are newer than itself, and multiplies at a fifth of
 * their speed.  (The names of dynamic.c in its driver/others.) */
static int is_narrow(const char *core)
{
	static const char *const cores[] = {
		"Katmai",    "Coppermine", "Northwood", "Prescott", "Banias",  "Core2",
		"Penryn",    "Dunnington", "Nehalem",   "Athlon",   "Opteron", "Opteron_SSE3",
		"Barcelona", "Bobcat",     "Atom",      "Nano",     "generic"};
	for (size_t i = 0; i < sizeof(cores) / sizeof(*cores); i++) {
		if (!strcasecmp(core, cores[i]))
			return 1;
	}
	return 0;
}

static void say_found(struct cpu_blas *blas, const struct tn_host *host)
{
	static const char *const threads[] = {"serial", "pthread", "OpenMP"};
	int parallel = blas->get_parallel();
	snprintf(blas->note, sizeof(blas->note), "%.100s, core %.40s, %s%s", blas->get_config(),
		 blas->get_corename(), threads[parallel >= 0 && parallel < 3 ? parallel : 0],
		 blas->lags ? "; not used: slower than the plugin's own kernels" : "");
	tn_plugin_log(host, "cpu", TN_LOG_INFO, "OpenBLAS: %s", blas->note);
	if (blas->lapack.missing)
		tn_plugin_log(
			host, "cpu", TN_LOG_NOTICE,
			"OpenBLAS has no %s: factorisations of matrices run on the host's own "
			"code",
			blas->lapack.missing);
}

static void say_missing(struct cpu_blas *blas, const struct tn_host *host, const char *why)
{
	if (why != blas->note)
		snprintf(blas->note, sizeof(blas->note), "%s", why);
	tn_plugin_log(host, "cpu", TN_LOG_WARNING, "%s; matmul runs on the plugin's own kernels",
		      blas->note);
}

/* The requested file, or the first of the known ones that works; else `note` has the reason. */
static int find_library(struct cpu_blas *blas, const char *file)
{
	char first[sizeof(blas->note)];
	if (file)
		return try_library(blas, file);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		if (try_library(blas, files[i]))
			return 1;
		if (i == 0)
			memcpy(first, blas->note, sizeof(first));
	}
	memcpy(blas->note, first, sizeof(first));
	return 0;
}

/* Is the backend linked into a fully static program?  It has no dynamic loader. */
static int is_static(void)
{
	const ElfW(Phdr) *header = (const ElfW(Phdr) *)getauxval(AT_PHDR);
	size_t n = header ? getauxval(AT_PHNUM) : 0;
	for (size_t i = 0; i < n; i++) {
		if (header[i].p_type == PT_INTERP)
			return 0;
	}
	return n > 0;
}

void cpu_blas_open(struct cpu_blas *blas, const struct tn_host *host, int vector_bytes)
{
	const char *file = tn_plugin_option(host, "openblas");
	unsigned own = host->thread_count(host->context);
	if (!CPU_HAVE_CBLAS) {
		say_missing(blas, host, "built without OpenBLAS: cblas.h was missing");
		return;
	}
	if (is_static()) {
		snprintf(blas->note, sizeof(blas->note),
			 "OpenBLAS not used: the program is fully static");
		tn_plugin_log(host, "cpu", TN_LOG_INFO, "%s", blas->note);
		return;
	}
	if (file && !*file)
		file = NULL;
	/* One instance at a time: memory that one finds free could be taken by the next. */
	pthread_mutex_lock(&process_counts.mutex);
	unsigned callers = process_counts.callers + own;
	int found = has_room(blas, host, file, callers) && find_library(blas, file);
	if (found) {
		take_buffers(blas, callers);
		blas->callers = own;
		process_counts.callers = callers;
	}
	pthread_mutex_unlock(&process_counts.mutex);
	if (!found) {
		say_missing(blas, host, blas->note);
		return;
	}
	cpu_lapack_find(&blas->lapack, blas->handle);
	blas->lags = vector_bytes > 16 && is_narrow(blas->get_corename());
	say_found(blas, host);
}

void cpu_blas_close(struct cpu_blas *blas)
{
	pthread_mutex_lock(&process_counts.mutex);
	process_counts.callers -= blas->callers;
	pthread_mutex_unlock(&process_counts.mutex);
	blas->callers = 0;
	/* Its threads outlive this instance: the library stays mapped. */
	blas->handle = NULL;
}

/* The library's row, or a free one; NULL if none is free.  The mutex is held. */
static struct count *row_of(const struct cpu_blas *blas)
{
	struct count *unused = NULL;
	for (size_t i = 0; i < sizeof(process_counts.rows) / sizeof(*process_counts.rows); i++) {
		struct count *row = &process_counts.rows[i];
		if (row->users && row->set_num_threads == blas->set_num_threads)
			return row;
		if (!row->users)
			unused = row;
	}
	return unused;
}

/* The first user sets the count. */
static void enter_row(const struct cpu_blas *blas, struct count *row, int threads)
{
	if (!row || row->users++ > 0)
		return;
	row->set_num_threads = blas->set_num_threads;
	row->saved = blas->get_num_threads();
	row->is_alone = threads > 1;
	if (row->saved != threads)
		blas->set_num_threads(threads);
}

void cpu_blas_enter(const struct cpu_blas *blas)
{
	if (blas->openmp)
		return;
	pthread_mutex_lock(&process_counts.mutex);
	struct count *row = row_of(blas);
	while (row && row->users && row->is_alone) {
		pthread_cond_wait(&process_counts.left, &process_counts.mutex);
		row = row_of(blas);
	}
	enter_row(blas, row, 1);
	pthread_mutex_unlock(&process_counts.mutex);
}

void cpu_blas_leave(const struct cpu_blas *blas)
{
	if (blas->openmp)
		return;
	pthread_mutex_lock(&process_counts.mutex);
	struct count *row = row_of(blas);
	if (row && row->users && --row->users == 0) {
		if (row->saved != blas->get_num_threads())
			blas->set_num_threads(row->saved);
		pthread_cond_broadcast(&process_counts.left);
	}
	pthread_mutex_unlock(&process_counts.mutex);
}

int cpu_blas_enter_alone(const struct cpu_blas *blas, int threads)
{
	if (blas->openmp) {
		int count = blas->omp_get_max_threads();
		blas->omp_set_num_threads(threads);
		return count;
	}
	pthread_mutex_lock(&process_counts.mutex);
	struct count *row = row_of(blas);
	int is_free = row && !row->users;
	if (is_free)
		enter_row(blas, row, threads);
	pthread_mutex_unlock(&process_counts.mutex);
	if (!is_free)
		cpu_blas_enter(blas);
	return 0;
}

void cpu_blas_leave_alone(const struct cpu_blas *blas, int count)
{
	if (blas->openmp)
		blas->omp_set_num_threads(count);
	else
		cpu_blas_leave(blas);
}

int cpu_blas_thread_enter(const struct cpu_blas *blas)
{
	if (!blas->openmp)
		return 0;
	int count = blas->omp_get_max_threads();
	if (count != 1)
		blas->omp_set_num_threads(1);
	return count;
}

void cpu_blas_thread_leave(const struct cpu_blas *blas, int count)
{
	if (blas->openmp && count != 1)
		blas->omp_set_num_threads(count);
}
