/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The parent: forks one child for the checks that may share it, and one each for the others; reads
 * its records; if a child dies or hangs, fails the running check and continues with the next.  The
 * parent has no threads and loads no plugin, so that fork is safe and all children start equal.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "frame.h"

enum { SLICE_MS = 50, MOST_TEXT = 65536 };

struct child {
	pid_t pid;
	int records; /* the pipe's reading end */
	int output;  /* the file with its output */
	int with_device;
	size_t current; /* the running result; (size_t)-1: none */
	size_t next;    /* the first not yet begun */
	int opened, closing;
	int quits;    /* it exits by itself, after giving the reason */
	double since; /* when the running result began */
	int hung, status;
	uint64_t printed; /* the part of the output already examined */
	char text[MOST_TEXT];
	size_t length;
};

#define NONE ((size_t)-1)

static const char loading[] = "loading and closing";

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- What a child tells ----------------------------------------------------------------------*/

/* Examines [from, to) of the output: sets *quote, or adds a sanitizer's report. */
static void take_output(struct run *run, struct child *child, uint64_t from, uint64_t to,
			const char *where, char **quote)
{
	int sanitizer;
	char *line = output_quote(child->output, from, to, &sanitizer);
	child->printed = to;
	if (!line)
		return;
	int is_race = sanitizer && (strstr(line, " race") || strstr(line, "lock-order"));
	char **place = is_race ? &run->races : quote;
	/* Its final summary counts earlier reports again. */
	if (*place || (sanitizer && strstr(line, "ThreadSanitizer: reported"))) {
		free(line);
		return;
	}
	*place = line;
	if (place == &run->races)
		snprintf(run->races_where, sizeof(run->races_where), "%s", where);
}

static void take_tally(struct result *result, char **words, size_t n)
{
	long slot = n == 6 ? strtol(words[1], NULL, 10) : -1;
	if (slot < 0 || slot >= KIT_TALLIES)
		return;
	result->tallies[slot] = (struct tally){
		(unsigned)strtoul(words[2], NULL, 10), (unsigned)strtoul(words[3], NULL, 10),
		(unsigned)strtoul(words[4], NULL, 10), (unsigned)strtoul(words[5], NULL, 10)};
}

static void take_coverage(struct result *result, char **words, size_t n)
{
	struct coverage *c = &result->coverage[result->n_coverage];
	if (n != 6 || result->n_coverage == KIT_OPERATIONS)
		return;
	snprintf(c->operation, sizeof(c->operation), "%s", words[1]);
	for (int route = 0; route < ROUTES; route++)
		c->by[route] = (unsigned)strtoul(words[2 + route], NULL, 10);
	result->n_coverage++;
}

static void take_end(struct run *run, struct child *child, char **words, size_t n)
{
	struct result *result = &run->results[child->current];
	if (n == 3) {
		uint64_t from = strtoull(words[1], NULL, 10), to = strtoull(words[2], NULL, 10);
		take_output(run, child, child->printed, from, loading, &run->printed_loading);
		take_output(run, child, from, to, result->check->id, &result->printed);
	}
	result->seconds = now() - child->since;
	result->ended = 1;
	result_settle(result);
	child->current = NONE;
	child->since = now();
	if (!run->options->json)
		report_text_result(run, result);
}

/* Records a failure of the running check, or of another one that it names. */
static void take_failure(const struct run *run, struct result *current, char **words)
{
	struct result *result = current;
	for (size_t i = 0; i < run->n_results; i++) {
		if (!strcmp(run->results[i].check->id, words[1]))
			result = &run->results[i];
	}
	result_fail(result, current->check, words[2], words[3]);
	if (result->ended && !run->options->json)
		report_text_late(run, result);
}

static void take_begin(const struct run *run, struct child *child, const char *index)
{
	size_t i = strtoull(index, NULL, 10);
	if (i >= run->n_results)
		return;
	child->current = i;
	child->next = i + 1;
	child->since = now();
}

static void take_absent(struct run *run, struct child *child, char **words)
{
	tn_status status = (tn_status)strtol(words[1], NULL, 10);
	child->quits = 1;
	free(run->absent_text);
	run->absent_text = text_copy(words[3]);
	run->absent = status;
	/* A known reason of absence is not a failure; anything else is. */
	if (status == TN_MISSING_LIBRARY || status == TN_NO_DRIVER || status == TN_NO_DEVICE ||
	    status == TN_DRIVER_TOO_OLD || run->loading_failure)
		return;
	run->loading_failure = text_copy(words[3]);
	snprintf(run->loading_stage, sizeof(run->loading_stage), "%s", words[2]);
}

/* A plugin's text, with unprintable characters replaced by '?'. */
static void take_text(char *to, size_t size, const char *from)
{
	char *text = text_copy(from);
	snprintf(to, size, "%s", text);
	free(text);
}

static void take_opened(struct run *run, struct child *child, char **words)
{
	child->opened = 1;
	child->since = now();
	take_text(run->backend, sizeof(run->backend), words[1]);
	take_text(run->version, sizeof(run->version), words[2]);
	take_text(run->device_name, sizeof(run->device_name), words[3]);
}

/* The last word of a record may be text from the plugin, including tabs. */
static size_t words_of(const char *line)
{
	static const struct {
		const char *name;
		size_t n;
	} records[] = {
		{"opened\t", 4}, {"absent\t", 4}, {"fail\t", 4}, {"remark\t", 2}, {"skip\t", 2},
	};
	for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
		if (!strncmp(line, records[i].name, strlen(records[i].name)))
			return records[i].n;
	}
	return 7;
}

static void take_record(struct run *run, struct child *child, char *line)
{
	char *words[7];
	size_t n = record_split(line, words, words_of(line));
	struct result *result = child->current == NONE ? NULL : &run->results[child->current];
	if (!strcmp(words[0], "begin") && n == 2)
		take_begin(run, child, words[1]);
	else if (!strcmp(words[0], "opened") && n == 4)
		take_opened(run, child, words);
	else if (!strcmp(words[0], "absent") && n == 4)
		take_absent(run, child, words);
	else if (!strcmp(words[0], "closing"))
		child->closing = 1;
	else if (!strcmp(words[0], "quit"))
		child->quits = 1;
	else if (result && !strcmp(words[0], "fail") && n == 4)
		take_failure(run, result, words);
	else if (result && !strcmp(words[0], "remark") && n == 2)
		result_remark(result, words[1]);
	else if (result && !strcmp(words[0], "untried") && n == 2)
		result->not_tried += (unsigned)strtoul(words[1], NULL, 10);
	else if (result && !strcmp(words[0], "skip") && n == 2 && !result->reason)
		result->reason = text_copy(words[1]);
	else if (result && !strcmp(words[0], "tally"))
		take_tally(result, words, n);
	else if (result && !strcmp(words[0], "cover"))
		take_coverage(result, words, n);
	else if (result && !strcmp(words[0], "end"))
		take_end(run, child, words, n);
}

static void take_lines(struct run *run, struct child *child)
{
	char *line = child->text, *end;
	while ((end = memchr(line, '\n', child->length - (size_t)(line - child->text)))) {
		*end = '\0';
		take_record(run, child, line);
		line = end + 1;
	}
	child->length -= (size_t)(line - child->text);
	memmove(child->text, line, child->length);
	if (child->length == MOST_TEXT)
		child->length = 0; /* records are shorter */
}

/* Reads the pipe; 0 at its end. */
static int drain(struct run *run, struct child *child)
{
	for (;;) {
		ssize_t n = read(child->records, child->text + child->length,
				 MOST_TEXT - child->length);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 && errno == EAGAIN;
		child->length += (size_t)n;
		take_lines(run, child);
	}
}

/* ---- How it ends -----------------------------------------------------------------------------*/

static int has_ended(struct child *child, int options)
{
	pid_t pid;
	do {
		pid = waitpid(child->pid, &child->status, options);
	} while (pid < 0 && errno == EINTR);
	return pid != 0;
}

static void wait_for(struct run *run, struct child *child)
{
	int open = 1;
	while (!has_ended(child, WNOHANG)) {
		if (now() - child->since > run->options->timeout_s) {
			child->hung = 1;
			kill(-child->pid, SIGKILL);
			kill(child->pid, SIGKILL);
			has_ended(child, 0);
			break;
		}
		/* At the end of the pipe the child is about to exit: poll more often. */
		struct pollfd wanted = {.fd = open ? child->records : -1, .events = POLLIN};
		poll(&wanted, 1, open ? SLICE_MS : 1);
		if (open)
			open = drain(run, child);
	}
	kill(-child->pid, SIGKILL); /* its leftover descendants */
	drain(run, child);
}

static const char *signal_name(int number)
{
	static const struct {
		int number;
		const char *name;
	} names[] = {
		{SIGSEGV, "SIGSEGV"}, {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},
		{SIGILL, "SIGILL"},   {SIGFPE, "SIGFPE"},   {SIGKILL, "SIGKILL"},
		{SIGTERM, "SIGTERM"}, {SIGTRAP, "SIGTRAP"}, {SIGPIPE, "SIGPIPE"},
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].number == number)
			return names[i].name;
	}
	return "a signal";
}

/* Describes how the child died; 0 if it did not. */
static int describe_death(const struct run *run, const struct child *child, char *text, size_t size)
{
	int status = child->status;
	if (child->hung)
		snprintf(text, size, "it hung: not done after %u s", run->options->timeout_s);
	else if (WIFSIGNALED(status))
		snprintf(text, size, "it crashed (%s, signal %d)", signal_name(WTERMSIG(status)),
			 WTERMSIG(status));
	else if (child->current != NONE || !child->closing || WEXITSTATUS(status))
		snprintf(text, size, "it ended the process with status %d", WEXITSTATUS(status));
	else
		return 0;
	return 1;
}

/* A check that ended its process: its counts are in the shared kit. */
static void bury_check(struct run *run, const struct child *child, const char *why)
{
	struct result *result = &run->results[child->current];
	char where[sizeof(run->kit->case_name)];
	memcpy(where, run->kit->case_name, sizeof(where));
	where[sizeof(where) - 1] = '\0';
	memcpy(result->tallies, run->kit->tallies, sizeof(result->tallies));
	result_fail(result, result->check, where[0] ? where : result->check->id, why);
	result->seconds = now() - child->since;
	result->ended = 1;
	result_settle(result);
	if (!run->options->json)
		report_text_result(run, result);
}

static void bury(struct run *run, struct child *child)
{
	char why[512], *quote = NULL;
	off_t size = lseek(child->output, 0, SEEK_END);
	const char *where =
		child->current != NONE ? run->results[child->current].check->id : loading;
	take_output(run, child, child->printed, size > 0 ? (uint64_t)size : 0, where, &quote);
	int died = !child->quits && describe_death(run, child, why, sizeof(why));
	if (died && quote) {
		size_t length = strlen(why);
		snprintf(why + length, sizeof(why) - length, "; it printed \"%s\"", quote);
	}
	run->kit->case_name[sizeof(run->kit->case_name) - 1] = '\0';
	if (died && child->current != NONE) {
		bury_check(run, child, why);
	} else if (died && child->closing && !run->closing_failure) {
		run->closing_failure = text_copy(why);
		snprintf(run->closing_stage, sizeof(run->closing_stage), "%s", run->kit->case_name);
	} else if (died && !child->closing && !run->loading_failure) {
		run->loading_failure = text_copy(why);
		snprintf(run->loading_stage, sizeof(run->loading_stage), "%s", run->kit->case_name);
	} else if (!died && child->with_device && child->closing) {
		run->closed++;
	}
	if (!died && quote && !run->printed_loading)
		run->printed_loading = text_copy(quote);
	free(quote);
}

/* ---- Running ---------------------------------------------------------------------------------*/

static int start(struct run *run, struct child *child, size_t first, size_t last)
{
	int ends[2];
	child->output = memfd_create("output", MFD_CLOEXEC);
	if (child->output < 0 || pipe2(ends, O_CLOEXEC))
		return 0;
	fcntl(child->output, F_SETFL, O_APPEND);
	fflush(stdout);
	child->pid = fork();
	if (child->pid == 0) {
		close(ends[0]);
		child_main(run, first, last, ends[1], child->output);
	}
	close(ends[1]);
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	child->records = ends[0];
	return child->pid > 0;
}

/* Runs one child for results [first, last); returns the first remaining one. */
static size_t run_child(struct run *run, size_t first, size_t last)
{
	static struct child child;
	memset(&child, 0, sizeof(child));
	child.current = NONE;
	child.next = first;
	child.with_device = run->results[first].place == WITH_DEVICE;
	child.since = now();
	if (!start(run, &child, first, last)) {
		fprintf(stderr, "tenon-conform: cannot start a child: %s\n", strerror(errno));
		exit(EXIT_FAILED);
	}
	wait_for(run, &child);
	bury(run, &child);
	close(child.records);
	close(child.output);
	/* If the device does not open, only checks without it can run. */
	if (child.with_device && !child.opened)
		return last;
	return child.next > first ? child.next : last;
}

/* The end of the results from `first` on that one child may run. */
static size_t group_end(const struct run *run, size_t first)
{
	size_t end = first + 1;
	if (run->results[first].place != WITH_DEVICE)
		return end;
	while (end < run->n_results && run->results[end].place != ALONE)
		end++;
	return end;
}

void supervise(struct run *run)
{
	double begin = now();
	for (size_t i = 0; i < run->n_results;) {
		i = result_is_due(&run->results[i]) ? run_child(run, i, group_end(run, i)) : i + 1;
	}
	verdicts(run);
	run->seconds = now() - begin;
}
