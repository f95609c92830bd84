/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fail call N: a short program runs repeatedly on the simulated CUDA, each time in its own process,
 * in which another call of CUDA fails.  Then
 *   - nothing crashes or hangs, and no result is wrong without an error;
 *   - the error names an operation and what went wrong;
 *   - after a failure of one call the same work succeeds when retried, and in the end everything on
 *     the device is freed;
 *   - after the device is lost every call reports it, and the program continues on the CPU.
 * With --all each call fails.  Without, a call fails if it is the first of its site in the backend
 * (the function called and the backend's part of the stack), or if its error is the first on its
 * path through the library (the library's part of the stack): each site fails once, and each path
 * is taken once.  Run by tests/simcuda/sweep.sh.
 *
 *     sweep [--all] NAMES=CODE[:sticky] [STEP...]       sweep 'cuda*=2' map reduce
 */
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <tenon/tenon.h>
#include <unistd.h>

#include "sweep_steps.h"

enum { MAX_JOBS = 16, MAX_RESULTS = 512, MAX_CALLS = 8192, SECONDS = 60 };

/* Hashes: its name with the backend's part of the stack, and the library's part. */
struct call {
	uint64_t site, way;
};

/* The results of the run without a fault, for comparison. */
struct shared {
	size_t n_results[MAX_STEPS];
	float results[MAX_STEPS][MAX_RESULTS];
	struct call calls[MAX_CALLS];
	size_t n_calls;
};

static struct shared *shared;
static const struct sweep_step *steps[MAX_STEPS];
static size_t n_steps;

/* ---- In the child ----------------------------------------------------------------------------*/

struct run {
	tn_context *context;
	unsigned n; /* number of the failing call; 0: none */
	int sticky;
	int is_lost;
	int bad;
};

static void complain(struct run *run, const char *step, const char *what, const char *text)
{
	fprintf(stderr, "call %u, %s: %s%s%s\n", run->n, step, what, text ? ": " : "",
		text ? text : "");
	run->bad = 1;
}

/* The simulated library if it is already loaded, or NULL. */
static void *loaded(const char *name)
{
	return dlopen(name, RTLD_NOW | RTLD_NOLOAD);
}

static void hash(uint64_t *to, const char *word)
{
	for (; *word; word++)
		*to = (*to ^ (unsigned char)*word) * UINT64_C(0x100000001b3);
	*to *= UINT64_C(0x100000001b3);
}

/* Parses a line of SIMCUDA_SITES, which is modified.  The frames of this program are ignored: the
 * library does the same for each step. */
static struct call read_call(char *line)
{
	struct call call = {1, 1};
	char *rest = NULL;
	for (char *word = strtok_r(line, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest)) {
		if (strncmp(word, "sweep+", 6) == 0 || strncmp(word, "lt-sweep+", 9) == 0)
			break;
		hash(strncmp(word, "libtenon", 8) == 0 ? &call.way : &call.site, word);
	}
	return call;
}

/* Reads the lines of the simulated libraries for the selected calls. */
static void keep_calls(FILE *file, const char *names)
{
	char *line = NULL;
	size_t capacity = 0, length = strcspn(names, "*");
	rewind(file);
	while (getline(&line, &capacity, file) > 0)
		if (strncmp(line, names, length) == 0 && shared->n_calls < MAX_CALLS)
			shared->calls[shared->n_calls++] = read_call(line);
	free(line);
}

/* A failed release leaves one object live. */
static int gives_back(const char *name)
{
	return strstr(name, "Free") || strstr(name, "Destroy") || strstr(name, "Unload");
}

/* The function of the runtime that was made to fail; "": none yet. */
static const char *struck(void)
{
	void *library = loaded("libcudart.so.13");
	const char *(*name)(void) = NULL;
	if (library)
		*(void **)&name = dlsym(library, "simcudaStruck");
	return name ? name() : "";
}

static void check_live(struct run *run)
{
	static char report[4096];
	void *library = loaded("libcudart.so.13");
	size_t (*live)(char *text, size_t capacity) = NULL;
	if (library)
		*(void **)&live = dlsym(library, "simcudaLive");
	if (!live)
		return;
	size_t left = live(report, sizeof(report)), allowed = gives_back(struck()) ? 1 : 0;
	if (left > allowed)
		complain(run, struck(), "left on the device", report);
}

static void keep_results(size_t step, const float *results, size_t n)
{
	shared->n_results[step] = n;
	memcpy(shared->results[step], results, n * sizeof(*results));
}

static void compare(struct run *run, size_t step, const float *results, size_t n)
{
	const float *expected = shared->results[step];
	char text[128];
	for (size_t i = 0; i < n; i++) {
		float most = 1e-4f * (fabsf(expected[i]) > 1 ? fabsf(expected[i]) : 1);
		if (fabsf(results[i] - expected[i]) <= most)
			continue;
		snprintf(text, sizeof(text), "result %zu is %g instead of %g", i,
			 (double)results[i], (double)expected[i]);
		complain(run, steps[step]->name, "wrong without an error", text);
		return;
	}
	if (n != shared->n_results[step])
		complain(run, steps[step]->name, "another number of results", NULL);
}

/* An asynchronous fault, and each call after one, is named by the call that reports it. */
static int names_the_failure(const struct run *run, const char *text)
{
	char name[64];
	snprintf(name, sizeof(name), "%s", struck());
	if (strstr(name, "_v2")) /* cuBLAS's names in the library, not in its header */
		*strstr(name, "_v2") = '\0';
	if (!run->sticky && name[0])
		return strstr(text, name) != NULL;
	return strstr(text, "cuda") || strstr(text, "cublas") || strstr(text, "cudnn") ||
	       strstr(text, "nvrtc");
}

/* Does the error name the operation and the failed function? */
static void check_error(struct run *run, const char *step, const struct tn_error_info *error)
{
	if (!error->operation[0])
		complain(run, step, "the error names no operation", error->text);
	if (!names_the_failure(run, error->text))
		complain(run, step, "the error does not name what failed", error->text);
	if (getenv("SWEEP_VERBOSE"))
		fprintf(stderr, "call %u, %s: %s: %s (%s)\n", run->n, step, error->operation,
			error->text, tn_status_name(error->status));
}

/* TN_OK, or the error, which is checked and cleared. */
static tn_status try_step(struct run *run, size_t step)
{
	static float results[MAX_RESULTS];
	size_t n = 0;
	(void)tn_scope_begin(run->context);
	steps[step]->run(run->context, results, &n);
	tn_scope_end(run->context, NULL);
	const struct tn_error_info *error = tn_error(run->context);
	tn_status status = error ? error->status : TN_OK;
	if (error)
		check_error(run, steps[step]->name, error);
	else if (run->n == 0)
		keep_results(step, results, n);
	else
		compare(run, step, results, n);
	tn_error_clear(run->context);
	return status;
}

static tn_device *find_cpu(tn_context *context)
{
	for (size_t i = 0; i < tn_context_device_count(context); i++)
		if (strncmp(tn_device_name(tn_context_device(context, i)), "cuda", 4) != 0)
			return tn_context_device(context, i);
	return NULL;
}

/* The device is lost: that is reported, and the CPU does the work. */
static void go_on_elsewhere(struct run *run, size_t step)
{
	tn_device *cpu = find_cpu(run->context);
	tn_status status = try_step(run, step);
	run->is_lost = 1;
	if (status != TN_DEVICE_LOST)
		complain(run, steps[step]->name, "after the loss of the device a call says",
			 tn_status_name(status));
	if (!cpu || tn_device_set_current(run->context, cpu))
		complain(run, steps[step]->name, "there is no other device", NULL);
	else if (try_step(run, step))
		complain(run, steps[step]->name, "does not go on on the CPU", NULL);
}

static void do_step(struct run *run, size_t step)
{
	tn_status status = try_step(run, step);
	if (status == TN_OK)
		return;
	if (run->n == 0 || run->is_lost)
		complain(run, steps[step]->name, "fails without a fault", tn_status_name(status));
	else if (run->sticky)
		go_on_elsewhere(run, step);
	else if (try_step(run, step))
		complain(run, steps[step]->name, "does not succeed when it is tried again", NULL);
}

static void take_log(void *user, int level, const char *subsystem, const char *text, size_t length)
{
	(void)user;
	(void)level;
	if (getenv("SWEEP_VERBOSE"))
		fprintf(stderr, "%s: %.*s\n", subsystem, (int)length, text);
}

/* The first device is CUDA's, or there is a reason why not. */
static int open_context(struct run *run)
{
	struct tn_context_options options = tn_context_defaults();
	options.backend = "cuda";
	options.log = take_log;
	options.n_threads = 1;
	struct tn_error_info error = {.struct_size = sizeof(error)};
	if (tn_context_open(&options, &run->context, &error)) {
		complain(run, "open", "no context", error.text);
		return 0;
	}
	if (strncmp(tn_device_name(tn_device_current(run->context)), "cuda", 4) == 0)
		return 1;
	const struct tn_load_row *row =
		tn_load_report_find(tn_context_report(run->context), "cuda");
	if (run->n == 0)
		complain(run, "open", "CUDA is not there", row ? row->text : NULL);
	else if (!tn_context_fell_back(run->context) ||
		 !tn_load_report_notice_count(tn_context_report(run->context)))
		complain(run, "open", "fell back without a word", NULL);
	run->is_lost = 1;
	return 1;
}

static int child(const char *names, const char *code, unsigned n)
{
	struct run run = {.n = n, .sticky = strstr(code, ":sticky") != NULL};
	char text[256];
	FILE *sites = n == 0 ? tmpfile() : NULL;
	snprintf(text, sizeof(text), "%s:%u=%s", names, n, code);
	if (n)
		(void)setenv("SIMCUDA_FAIL", text, 1);
	if (sites) {
		snprintf(text, sizeof(text), "/proc/self/fd/%d", fileno(sites));
		(void)setenv("SIMCUDA_SITES", text, 1);
	}
	(void)alarm(SECONDS);
	if (!open_context(&run))
		return 1;
	for (size_t i = 0; i < n_steps; i++)
		do_step(&run, i);
	tn_context_close(run.context);
	if (!run.sticky)
		check_live(&run);
	if (sites)
		keep_calls(sites, names);
	return run.bad;
}

/* ---- In the parent ---------------------------------------------------------------------------*/

static int judge(unsigned n, int status)
{
	if (WIFSIGNALED(status))
		fprintf(stderr, "call %u: ended by signal %d (%s)\n", n, WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status))
		fprintf(stderr, "call %u: exit status %d\n", n, WEXITSTATUS(status));
	return status != 0;
}

static pid_t start(const char *names, const char *code, unsigned n)
{
	pid_t pid = fork();
	if (pid == 0)
		exit(child(names, code, n));
	if (pid < 0) {
		perror("sweep: fork");
		exit(1);
	}
	return pid;
}

/* Is it the first of its site or of its path? */
static int is_new(size_t i)
{
	int same_site = 0, same_way = 0;
	for (size_t before = 0; before < i; before++) {
		same_site |= shared->calls[before].site == shared->calls[i].site;
		same_way |= shared->calls[before].way == shared->calls[i].way;
	}
	return !same_site || !same_way;
}

/* Selects the calls to fail among 1, 2, ...; returns their number. */
static unsigned choose(unsigned chosen[MAX_CALLS], int takes_all)
{
	unsigned n = 0;
	for (size_t i = 0; i < shared->n_calls; i++)
		if (takes_all || is_new(i))
			chosen[n++] = (unsigned)i + 1;
	return n;
}

/* Runs the selected calls, a few processes at a time; returns the number of failures. */
static unsigned sweep(const char *names, const char *code, const unsigned *chosen, unsigned n)
{
	struct {
		pid_t pid;
		unsigned n;
	} running[MAX_JOBS];
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned jobs = processors < MAX_JOBS ? (unsigned)processors : MAX_JOBS, busy = 0, bad = 0;
	for (unsigned next = 0; next < n || busy;) {
		if (next < n && busy < jobs) {
			running[busy].n = chosen[next];
			running[busy++].pid = start(names, code, chosen[next++]);
			continue;
		}
		int status;
		pid_t pid = wait(&status);
		for (unsigned i = 0; i < busy; i++)
			if (running[i].pid == pid) {
				bad += (unsigned)judge(running[i].n, status);
				running[i] = running[--busy];
				break;
			}
	}
	return bad;
}

static int take_arguments(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (n_steps < MAX_STEPS && (steps[n_steps] = sweep_step(argv[i])))
			n_steps++;
		else
			return 0;
	for (size_t i = 0; argc == 1 && sweep_step_at(i); i++)
		steps[n_steps++] = sweep_step_at(i);
	return argc >= 1 && strchr(argv[0], '=') != NULL;
}

int main(int argc, char **argv)
{
	static unsigned chosen[MAX_CALLS];
	int status, takes_all = argc > 1 && !strcmp(argv[1], "--all");
	argv += 1 + takes_all;
	if (!take_arguments(argc - 1 - takes_all, argv)) {
		fprintf(stderr, "usage: sweep [--all] NAMES=CODE[:sticky] [STEP...]\n");
		return 2;
	}
	char *names = argv[0], *code = strchr(names, '=');
	*code++ = '\0';
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		return 1;
	pid_t pid = start(names, code, 0);
	if (waitpid(pid, &status, 0) != pid || judge(0, status) || !shared->n_calls) {
		fprintf(stderr, "it does not run without a fault, or makes no call of %s\n", names);
		return 1;
	}
	if (shared->n_calls == MAX_CALLS) {
		fprintf(stderr, "%s: %d calls and more: raise MAX_CALLS\n", names, MAX_CALLS);
		return 1;
	}
	const char *only = getenv("SWEEP_ONLY");
	if (only)
		return child(names, code, (unsigned)atoi(only));
	unsigned n = choose(chosen, takes_all), bad = sweep(names, code, chosen, n);
	printf("%s=%s: %zu calls, %u failed in turn, %u went wrong\n", names, code, shared->n_calls,
	       n, bad);
	return bad != 0;
}
