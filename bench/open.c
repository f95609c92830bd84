/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * How long tn_context_open takes in a new process, with all plugins that it finds, beside the limit
 * of 10 ms that they have together where no GPU is.
 *
 *     tests/with-plugins bench/open [--filter TEXT] [--samples N]
 *
 * Lines for people say what the processor worked for it, which a busy machine changes least, and
 * what each plugin took.
 */
#include <spawn.h>
#include <sys/wait.h>
#include <tenon/tenon.h>
#include <time.h>
#include <unistd.h>

#include "line.h"
#include "median.h"

#define LIMIT_MS 10.0

extern char **environ;

static double milliseconds(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* ---- The new process -------------------------------------------------------------------------*/

struct sample {
	double wall, processor;
};

/* Opens a context, and writes what that took to standard output. */
static int open_one(void)
{
	struct tn_error_info error = {.struct_size = sizeof(error)};
	tn_context *context = NULL;
	struct sample sample = {.wall = milliseconds(CLOCK_MONOTONIC),
				.processor = milliseconds(CLOCK_PROCESS_CPUTIME_ID)};
	if (tn_context_open(NULL, &context, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	sample.wall = milliseconds(CLOCK_MONOTONIC) - sample.wall;
	sample.processor = milliseconds(CLOCK_PROCESS_CPUTIME_ID) - sample.processor;
	int done = fwrite(&sample, sizeof(sample), 1, stdout) == 1;
	tn_context_close(context);
	return !done;
}

/* 0: it failed, and has said why. */
static int run_one(char *program, struct sample *sample)
{
	char one[] = "--one";
	char *const arguments[] = {program, one, NULL};
	posix_spawn_file_actions_t actions;
	int ends[2], status = 1;
	pid_t child;
	if (pipe(ends))
		return 0;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_addclose(&actions, ends[0]);
	int failed = posix_spawn(&child, "/proc/self/exe", &actions, NULL, arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	int got = !failed && read(ends[0], sample, sizeof(*sample)) == (ssize_t)sizeof(*sample);
	close(ends[0]);
	return !failed && waitpid(child, &status, 0) == child && !status && got;
}

/* ---- A selection -----------------------------------------------------------------------------*/

static void set_selection(const char *selection)
{
	if (selection)
		setenv("TENON_BACKEND", selection, 1);
	else
		unsetenv("TENON_BACKEND");
}

static int measure(char *program, const char *selection, const struct bench_options *options)
{
	double wall[BENCH_MOST_SAMPLES], processor[BENCH_MOST_SAMPLES];
	char name[64];
	struct sample sample;
	const int n = options->samples;
	snprintf(name, sizeof(name), "context open %s", selection ? selection : "auto");
	if (!bench_wanted(options, name))
		return 1;
	set_selection(selection);
	/* The first one brings the files into memory. */
	for (int i = -1; i < n; i++) {
		if (!run_one(program, &sample))
			return 0;
		if (i < 0)
			continue;
		wall[i] = sample.wall;
		processor[i] = sample.processor;
	}
	bench_line(name, "ms", bench_median_of(wall, n), LIMIT_MS, "limit");
	printf("# processor time: %.4g ms; the fastest of %d: %.4g ms\n",
	       bench_median_of(processor, n), n, wall[0]);
	return 1;
}

/* What each plugin took in this process. */
static void print_plugins(void)
{
	struct tn_error_info error = {.struct_size = sizeof(error)};
	tn_context *context = NULL;
	set_selection(NULL);
	if (tn_context_open(NULL, &context, &error))
		return;
	const tn_load_report *report = tn_context_report(context);
	printf("# plugins:");
	for (size_t i = 0; i < tn_load_report_count(report); i++) {
		const struct tn_load_row *row = tn_load_report_at(report, i);
		if (row->path)
			printf(" %s %.4g ms", row->name, (double)row->microseconds / 1e3);
	}
	printf("\n");
	tn_context_close(context);
}

int main(int argc, char **argv)
{
	static const char *const selections[] = {NULL, "cpu", "cpu!", "cuda", "reference!"};
	int done = 1;
	if (argc > 1 && !strcmp(argv[1], "--one"))
		return open_one();
	struct bench_options options = bench_parse(argc, argv);
	setenv("TENON_LOG", "error", 1);
	for (size_t i = 0; i < sizeof(selections) / sizeof(selections[0]) && done; i++)
		done = measure(argv[0], selections[i], &options);
	if (done)
		print_plugins();
	return !done;
}
