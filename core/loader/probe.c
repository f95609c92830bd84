/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * posix_spawn, never fork: the calling process may have threads and a GPU.  The helper leads a
 * process group of its own, so that its children are killed with it.  Its standard files are
 * /dev/null.  Its output is not trusted: the amount is bounded, and a report that does not parse is
 * a failed probe.
 */
#include "loader/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/place.h"
#include "base/text.h"
#include "loader/kind.h"
#include "loader/report.h"
#include "loader/report_json.h"

#define MAX_OUTPUT (1u << 20)
/* The interval of checks that the helper is alive while another process holds its pipe open. */
#define SLICE_MS 50

enum { ENDED, HUNG };

struct probe {
	pid_t pid;
	int fd; /* the pipe's reading end */
	uint32_t timeout_ms;
	int outcome;
	int status; /* of waitpid; -1: unknown, the program itself waited for it */
	struct tn_text output;
};

extern char **environ;

static int64_t milliseconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- Starting --------------------------------------------------------------------------------*/

/* A process group of its own, and default signal handling. */
static int set_attributes(posix_spawnattr_t *attributes)
{
	sigset_t none, all;
	sigemptyset(&none);
	sigfillset(&all);
	return posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
							    POSIX_SPAWN_SETSIGDEF) ||
	       posix_spawnattr_setpgroup(attributes, 0) ||
	       posix_spawnattr_setsigmask(attributes, &none) ||
	       posix_spawnattr_setsigdefault(attributes, &all);
}

/* 0 or an errno value. */
static int spawn(struct probe *probe, const char *helper, const char *path, int writing_end,
		 char **environment)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	char *const arguments[] = {(char *)helper, (char *)path, NULL};
	int problem = ENOMEM;
	if (posix_spawn_file_actions_init(&actions))
		return problem;
	if (posix_spawnattr_init(&attributes))
		goto out;
	if (!posix_spawn_file_actions_adddup2(&actions, writing_end, TN_PROBE_FD) &&
	    !posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) &&
	    !posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0) &&
	    !posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) &&
	    !set_attributes(&attributes))
		problem = posix_spawn(&probe->pid, helper, &actions, &attributes, arguments,
				      environment);
	posix_spawnattr_destroy(&attributes);
out:
	posix_spawn_file_actions_destroy(&actions);
	return problem;
}

static tn_status start_helper(struct probe *probe, const char *helper,
			      const struct tn_parameters *parameters, const char *path,
			      struct tn_error_info *error)
{
	static char *no_environment[] = {NULL};
	int ends[2];
	if (pipe2(ends, O_CLOEXEC))
		return tn_fail(error, TN_IO, "probe", "cannot create a pipe: %s", strerror(errno));
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	int problem = spawn(probe, helper, path, ends[1],
			    tn_parameters_privileged(parameters) ? no_environment : environ);
	close(ends[1]);
	if (problem) {
		close(ends[0]);
		return tn_fail(error, problem == ENOENT ? TN_NOT_FOUND : TN_IO, "probe",
			       "cannot start the helper program %s: %s", helper, strerror(problem));
	}
	probe->fd = ends[0];
	return TN_OK;
}

/* ---- Waiting ---------------------------------------------------------------------------------*/

/* Reads the pipe's content; 0 at its end. */
static int drain(struct probe *probe)
{
	char buffer[4096];
	for (;;) {
		ssize_t n = read(probe->fd, buffer, sizeof(buffer));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 && errno == EAGAIN;
		if (probe->output.length < MAX_OUTPUT)
			tn_text_append(&probe->output, buffer, (size_t)n);
	}
}

/* 1 when the helper has ended. */
static int has_ended(struct probe *probe, int options)
{
	pid_t pid;
	do {
		pid = waitpid(probe->pid, &probe->status, options);
	} while (pid < 0 && errno == EINTR);
	if (pid < 0)
		probe->status = -1;
	return pid != 0;
}

static void wait_for(struct probe *probe)
{
	int64_t end = milliseconds() + probe->timeout_ms;
	int open = 1;
	probe->outcome = ENDED;
	while (!has_ended(probe, WNOHANG)) {
		int64_t left = end - milliseconds();
		if (left <= 0) {
			probe->outcome = HUNG;
			kill(-probe->pid, SIGKILL);
			has_ended(probe, 0);
			break;
		}
		/* At the pipe's end the helper is about to exit: poll more often. */
		int slice = open ? SLICE_MS : 1;
		struct pollfd wanted = {.fd = open ? probe->fd : -1, .events = POLLIN};
		poll(&wanted, 1, left < slice ? (int)left : slice);
		if (open)
			open = drain(probe);
	}
	/* Processes that it started and left running. */
	kill(-probe->pid, SIGKILL);
	drain(probe);
	close(probe->fd);
}

/* ---- The result ------------------------------------------------------------------------------*/

static const char *signal_name(int number)
{
	static const struct {
		int number;
		const char *name;
	} names[] = {
		{SIGSEGV, "SIGSEGV"}, {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},
		{SIGILL, "SIGILL"},   {SIGFPE, "SIGFPE"},   {SIGKILL, "SIGKILL"},
		{SIGTERM, "SIGTERM"}, {SIGSYS, "SIGSYS"},   {SIGTRAP, "SIGTRAP"},
		{SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"},
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].number == number)
			return names[i].name;
	}
	return "a signal";
}

/* The last stage that was entered, and where the report begins (NULL: there is none). */
static const char *read_stages(const struct probe *probe, uint32_t *stage)
{
	const char *line = probe->output.data;
	*stage = TN_STAGE_SEARCH;
	while (line) {
		unsigned number;
		if (!strncmp(line, "report\n", 7))
			return line + 7;
		if (sscanf(line, "stage %3u\n", &number) == 1)
			*stage = number;
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return NULL;
}

/* A report of one row for a helper that wrote none. */
static tn_load_report *failed_report(const char *path, uint32_t stage, const char *text)
{
	const struct tn_plugin_kind *kind = tn_plugin_kind_of(path);
	const char *name;
	char stem[32];
	kind = kind ? kind : &tn_backend_kind;
	tn_plugin_name_in(kind, path, &name);
	snprintf(stem, sizeof(stem), "%.*s", (int)strcspn(name, "."), name);
	struct tn_load_report *report = tn_report_create(kind, "auto");
	struct tn_load_row *row = report ? tn_report_add(report, stem) : NULL;
	if (!row || !tn_report_set(&row->path, path) || !tn_report_set(&row->text, text)) {
		tn_load_report_destroy(report);
		return NULL;
	}
	row->status = TN_PROBE_FAILED;
	row->found = TN_FOUND_API;
	row->stage = stage;
	return report;
}

/* Makes the report: the helper's, or one of the reason why the probe failed. */
static tn_status make_report(const struct probe *probe, const char *path, tn_load_report **report,
			     struct tn_error_info *error)
{
	int status = probe->status;
	uint32_t stage;
	struct tn_text text;
	const char *json = read_stages(probe, &stage);
	tn_load_report *made = json ? tn_report_from_json(json, strlen(json)) : NULL;
	tn_text_init(&text);
	if (probe->outcome == HUNG)
		tn_text_format(&text, "it hung: not done after %u ms", probe->timeout_ms);
	else if (status != -1 && WIFSIGNALED(status))
		tn_text_format(&text, "it crashed (%s, signal %d)", signal_name(WTERMSIG(status)),
			       WTERMSIG(status));
	else if (status != -1 && WEXITSTATUS(status))
		tn_text_format(&text, "it ended the process with status %d", WEXITSTATUS(status));
	else if (!made)
		tn_text_add(&text, "it ended the process");
	if (text.length) {
		if (stage == TN_STAGE_READY)
			tn_text_add(&text, " while it was shut down");
		else
			tn_text_format(&text, " at stage '%s'", tn_stage_name(stage));
		tn_load_report_destroy(made);
		made = failed_report(path, stage, text.data);
	}
	tn_text_release(&text);
	if (!made)
		return tn_no_memory(error, "probe", NULL, "the report");
	*report = made;
	return TN_OK;
}

tn_status tn_probe_file(struct tn_parameters *parameters, const char *path, uint32_t timeout_ms,
			tn_load_report **report, struct tn_error_info *error)
{
	struct probe probe = {.timeout_ms = timeout_ms};
	struct stat information;
	struct tn_text helper;
	tn_error_reset(error);
	if (!timeout_ms)
		return tn_fail(error, TN_INVALID_ARGUMENT, "probe",
			       "timeout_ms: expected at least 1, found 0");
	if (!path || !strchr(path, '/'))
		return tn_fail(error, TN_INVALID_ARGUMENT, "probe",
			       "expected a path with a '/' in it, found '%s'",
			       path ? path : "NULL");
	if (!stat(path, &information) && S_ISDIR(information.st_mode))
		return tn_fail(error, TN_INVALID_ARGUMENT, "probe", "%s is a folder", path);
	tn_text_init(&helper);
	tn_place_add_helper(&helper, parameters);
	tn_status status = helper.failed
				   ? tn_no_memory(error, "probe", NULL, "a path")
				   : start_helper(&probe, helper.data, parameters, path, error);
	tn_text_release(&helper);
	if (status)
		return status;
	tn_text_init(&probe.output);
	wait_for(&probe);
	status = make_report(&probe, path, report, error);
	tn_text_release(&probe.output);
	return status;
}

tn_status tn_probe(const char *path, uint32_t timeout_ms, tn_load_report **report,
		   struct tn_error_info *error)
{
	struct tn_parameters parameters;
	tn_parameters_init(&parameters);
	tn_status status = tn_probe_file(&parameters, path, timeout_ms, report, error);
	tn_parameters_release(&parameters);
	return status;
}
