/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Ranks as children of the test.
 */
#include "distributed/ranks.h"

#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum { MOST_RANKS = 8 };

static double now(void)
{
	struct timespec time;
	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* ---- The host --------------------------------------------------------------------------------*/

static void *host_alloc(void *context, size_t size, size_t alignment)
{
	(void)context;
	(void)alignment;
	return malloc(size);
}

static void host_free(void *context, void *memory)
{
	(void)context;
	free(memory);
}

static const char *host_parameter(void *context, const char *name, const char *help)
{
	(void)context;
	(void)help;
	return getenv(name);
}

static int32_t host_log_enabled(void *context, int32_t level, const char *subsystem)
{
	(void)context;
	(void)level;
	(void)subsystem;
	return 0;
}

static char plugin_file[4096];
static const struct tn_backend_descriptor *plugin; /* of that file */

static const char *host_plugin_path(void *context)
{
	(void)context;
	return plugin_file;
}

/* The value of the option's variable, else its standard. */
static const char *host_option(void *context, const char *name)
{
	(void)context;
	for (uint32_t i = 0; i < plugin->n_options; i++) {
		const struct tn_option_row *row = &plugin->options[i];
		if (!strcmp(row->name, name)) {
			const char *value = getenv(row->variable);
			return value && *value ? value : row->standard;
		}
	}
	return NULL;
}

static void host_log(void *context, int32_t level, const char *subsystem, const char *text,
		     size_t length)
{
	(void)context, (void)level;
	fprintf(stderr, "%s: %.*s\n", subsystem, (int)length, text);
}

const struct tn_host *rank_host(void)
{
	static const struct tn_host host = {
		.struct_size = sizeof(host),
		.alloc = host_alloc,
		.free = host_free,
		.parameter = host_parameter,
		.log_enabled = host_log_enabled,
		.log = host_log,
		.plugin_path = host_plugin_path,
		.option = host_option,
	};
	return &host;
}

void ranks_add_mocks(void)
{
	const char *folders = getenv("TENON_PLUGIN_PATH"), *build = getenv("TENON_BUILD");
	char path[8192];
	(void)snprintf(path, sizeof(path),
		       "%s:%s/plugins/communicator_mock/.libs:%s/plugins/mock/.libs",
		       folders ? folders : "", build ? build : ".", build ? build : ".");
	(void)setenv("TENON_PLUGIN_PATH", path, 1);
}

const struct tn_backend_descriptor *rank_plugin(const char *name)
{
	const char *folders = getenv("TENON_PLUGIN_PATH");
	void *file = NULL;
	plugin = NULL;
	while (folders && *folders && !file) {
		const size_t length = strcspn(folders, ":");
		(void)snprintf(plugin_file, sizeof(plugin_file), "%.*s/communicator_%s.so",
			       (int)length, folders, name);
		file = dlopen(plugin_file, RTLD_NOW | RTLD_LOCAL);
		folders += length + (folders[length] == ':');
	}
	if (file)
		plugin = dlsym(file, TN_COMMUNICATOR_SYMBOL);
	if (!plugin) {
		print_error("communicator_%s.so: %s\n", name, dlerror());
		_exit(RANK_FAILED);
	}
	return plugin;
}

/* ---- One rank --------------------------------------------------------------------------------*/

void rank_fail(const struct rank *rank, const char *format, ...)
{
	char text[1024];
	va_list arguments;
	va_start(arguments, format);
	(void)vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	(void)fprintf(stderr, "rank %u of %u: %s\n", rank->rank, rank->size, text);
	_exit(RANK_FAILED);
}

tn_status rank_open(struct rank *rank, const char *name)
{
	const struct tn_backend_descriptor *descriptor = rank_plugin(name);
	struct tn_communicator_description description = {.struct_size = sizeof(description)};
	struct tn_communicator_open_args args = {
		.call = {.struct_size = sizeof(args), .error = &rank->error}};
	memset(rank, 0, sizeof(*rank));
	rank->descriptor = descriptor;
	rank->error.struct_size = sizeof(rank->error);
	tn_status status = descriptor->create(rank_host(), &rank->error, &rank->instance);
	if (status)
		return status;
	rank->table = descriptor->query(rank->instance, TN_TABLE_COMMUNICATOR);
	if (!rank->table)
		rank_fail(rank, "no table");
	status = rank->table->open(rank->instance, &args, &rank->communicator);
	if (status) {
		descriptor->destroy(rank->instance);
		return status;
	}
	if (rank->table->describe(rank->communicator, &description))
		rank_fail(rank, "describe fails");
	rank->rank = description.rank;
	rank->size = description.size;
	return TN_OK;
}

void rank_close(struct rank *rank)
{
	rank->table->close(rank->communicator);
	rank->descriptor->destroy(rank->instance);
}

static tn_status begin(struct rank *rank, const struct tn_collective_args *args, void **request)
{
	struct tn_collective_args own = *args;
	own.call.struct_size = sizeof(own);
	own.call.error = &rank->error;
	return rank->table->start(rank->communicator, &own, request);
}

void *rank_start(struct rank *rank, const struct tn_collective_args *args)
{
	void *request;
	if (begin(rank, args, &request))
		rank_fail(rank, "start: %s", rank->error.text);
	return request;
}

tn_status rank_wait(struct rank *rank, void *request, double seconds, uint32_t *waits_for)
{
	const struct timespec pause = {0, 20000};
	const double start = now();
	for (unsigned n = 0;; n++) {
		struct tn_collective_state state = {.struct_size = sizeof(state)};
		tn_status status =
			rank->table->test(rank->communicator, request, &state, &rank->error);
		if (status || state.is_done)
			return status;
		if (waits_for)
			*waits_for = state.waits_for;
		if (now() - start > seconds)
			return TN_TIMED_OUT;
		if (n < 20)
			(void)sched_yield();
		else
			(void)nanosleep(&pause, NULL);
	}
}

tn_status rank_run(struct rank *rank, const struct tn_collective_args *args)
{
	void *request;
	tn_status status = begin(rank, args, &request);
	return status ? status : rank_wait(rank, request, RANKS_SECONDS / 2, NULL);
}

/* ---- All ranks -------------------------------------------------------------------------------*/

/* A name that no other test has. */
static void name_job(uint32_t rank, uint32_t size)
{
	static unsigned n_jobs;
	char text[64];
	n_jobs += rank == 0;
	(void)snprintf(text, sizeof(text), RANKS_JOB "-%ld-%u", (long)getpid(), n_jobs);
	(void)setenv("TENON_LOCAL_JOB", text, 1);
	(void)snprintf(text, sizeof(text), "%u", size);
	(void)setenv("TENON_LOCAL_SIZE", text, 1);
	(void)snprintf(text, sizeof(text), "%u", rank);
	(void)setenv("TENON_LOCAL_RANK", text, 1);
}

/* Has that child ended?  It stays there, for other ranks to see how it ended, until all have. */
static int has_ended(pid_t process)
{
	siginfo_t information = {0};
	return !waitid(P_PID, (id_t)process, &information, WEXITED | WNOHANG | WNOWAIT) &&
	       information.si_pid == process;
}

static uint32_t count_running(uint32_t size, const pid_t *processes)
{
	uint32_t n = 0;
	for (uint32_t r = 0; r < size; r++)
		n += !has_ended(processes[r]);
	return n;
}

static void collect(uint32_t size, const pid_t *processes, int *statuses)
{
	const struct timespec pause = {0, 500000};
	const double start = now();
	while (count_running(size, processes) && now() - start < RANKS_SECONDS)
		(void)nanosleep(&pause, NULL);
	const int is_late = count_running(size, processes) > 0;
	for (uint32_t r = 0; r < size; r++) {
		if (is_late)
			(void)kill(processes[r], SIGKILL);
		(void)waitpid(processes[r], &statuses[r], 0);
	}
	if (is_late)
		fail_msg("a rank has not ended within %d s", RANKS_SECONDS);
}

void ranks_run(uint32_t size, void (*body)(uint32_t rank, const void *argument),
	       const void *argument, int *statuses)
{
	pid_t processes[MOST_RANKS];
	int own_statuses[MOST_RANKS];
	assert_in_range(size, 1, MOST_RANKS);
	for (uint32_t r = 0; r < size; r++) {
		name_job(r, size);
		processes[r] = fork();
		assert_true(processes[r] >= 0);
		if (!processes[r]) {
			body(r, argument);
			exit(0);
		}
	}
	collect(size, processes, statuses ? statuses : own_statuses);
	for (uint32_t r = 0; !statuses && r < size; r++)
		assert_int_equal(own_statuses[r], 0);
}
