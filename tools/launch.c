/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * All signals that matter are blocked and taken one after another, so that none arrives between a
 * test and a wait.  A rank gets the signal mask that this process had.
 */
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "print_error.h"
#include "tool.h"

/* Between SIGTERM and SIGKILL, in seconds. */
#define GRACE 5

/* Exit statuses of a shell for a command that cannot be run. */
enum { EXIT_NOT_RUN = 126, EXIT_NOT_THERE = 127, EXIT_SIGNAL = 128 };

static const int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT};

/* ---- Starting --------------------------------------------------------------------------------*/

static void set_number(const char *name, long value)
{
	char text[24];
	snprintf(text, sizeof(text), "%ld", value);
	setenv(name, text, 1);
}

/* In the new process.  Returns only when the command cannot be run. */
static void become_rank(const struct launch *launch, int rank, pid_t parent, const sigset_t *mask)
{
	/* Ranks do not outlive their launcher; it may have ended already. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(EXIT_NOT_RUN);
	set_number("TENON_LOCAL_RANK", rank);
	/* Standard input is the first rank's. */
	int nothing = rank ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;
	if (nothing >= 0)
		dup2(nothing, STDIN_FILENO);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(launch->command[0], launch->command);
}

/* 0, or the errno of the failure. */
static int start_rank(struct launch *launch, int rank, const sigset_t *mask)
{
	int ends[2], problem = 0;
	pid_t parent = getpid();
	if (pipe2(ends, O_CLOEXEC))
		return errno;
	pid_t pid = fork();
	if (pid == 0) {
		become_rank(launch, rank, parent, mask);
		problem = errno;
		ssize_t written = write(ends[1], &problem, sizeof(problem));
		_exit(written == (ssize_t)sizeof(problem) ? EXIT_NOT_RUN : EXIT_NOT_THERE);
	}
	int failed = pid < 0 ? errno : 0;
	close(ends[1]);
	/* The pipe ends without a word when the command runs. */
	ssize_t got;
	do {
		got = failed ? 0 : read(ends[0], &problem, sizeof(problem));
	} while (got < 0 && errno == EINTR);
	close(ends[0]);
	if (failed || got > 0) {
		if (!failed)
			waitpid(pid, NULL, 0);
		return failed ? failed : problem;
	}
	launch->pids[rank] = pid;
	launch->n_running++;
	return 0;
}

/* ---- Ending ----------------------------------------------------------------------------------*/

static void signal_all(const struct launch *launch, int number)
{
	for (int rank = 0; rank < launch->n; rank++) {
		if (launch->pids[rank])
			kill(launch->pids[rank], number);
	}
}

static int rank_of(const struct launch *launch, pid_t pid)
{
	int rank = 0;
	while (rank < launch->n && launch->pids[rank] != pid)
		rank++;
	return rank;
}

/* Notes how a rank has ended.  The first failure is said and becomes the exit status. */
static void take_end(struct launch *launch, pid_t pid, int status)
{
	int rank = rank_of(launch, pid);
	if (rank == launch->n)
		return;
	launch->pids[rank] = 0;
	launch->n_running--;
	if (launch->status || (WIFEXITED(status) && !WEXITSTATUS(status)))
		return;
	if (WIFSIGNALED(status)) {
		launch->status = EXIT_SIGNAL + WTERMSIG(status);
		print_error("tenon launch: rank %d (process %d) was killed by signal %d (%s)", rank,
			    (int)pid, WTERMSIG(status), strsignal(WTERMSIG(status)));
	} else {
		launch->status = WEXITSTATUS(status);
		print_error("tenon launch: rank %d (process %d) ended with status %d", rank,
			    (int)pid, launch->status);
	}
}

static void take_ends(struct launch *launch)
{
	int status;
	pid_t pid;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		take_end(launch, pid, status);
}

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Signals that the terminal has sent, it has sent to the ranks too. */
static int is_for_us_alone(const siginfo_t *information)
{
	return information->si_code <= 0;
}

/* Waits for the next signal, at most to the time `end` (0: without end), and passes it on. */
static void take_signal(const struct launch *launch, const sigset_t *taken, double end)
{
	siginfo_t information;
	double left = end > 0 ? end - seconds() : 3600.0;
	left = left > 0 ? left : 0;
	const struct timespec limit = {.tv_sec = (time_t)left,
				       .tv_nsec = (long)((left - (double)(time_t)left) * 1e9)};
	int number = sigtimedwait(taken, &information, &limit);
	if (number > 0 && number != SIGCHLD && is_for_us_alone(&information))
		signal_all(launch, number);
}

static void wait_for_all(struct launch *launch, const sigset_t *taken)
{
	double end = 0;
	int is_killed = 0;
	for (;;) {
		take_ends(launch);
		if (!launch->n_running)
			return;
		if (launch->status && end <= 0) {
			signal_all(launch, SIGTERM);
			end = seconds() + GRACE;
		}
		if (end > 0 && !is_killed && seconds() >= end) {
			print_error("tenon launch: %d rank%s did not end within %d s: killed",
				    launch->n_running, launch->n_running == 1 ? "" : "s", GRACE);
			signal_all(launch, SIGKILL);
			is_killed = 1;
		}
		take_signal(launch, taken, is_killed ? 0 : end);
	}
}

/* ---- All -------------------------------------------------------------------------------------*/

/* What ranks that were killed before all had joined may have left behind. */
static void remove_shared_memory(const struct launch *launch)
{
	const char *const folders[] = {tool_environment("TENON_LOCAL_DIR"), "/dev/shm",
				       tool_environment("TMPDIR"), "/tmp"};
	char path[4096];
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		if (!folders[i] || folders[i][0] != '/')
			continue;
		int n = snprintf(path, sizeof(path), "%s/tenon-local-%s", folders[i], launch->job);
		if (n > 0 && (size_t)n < sizeof(path))
			unlink(path);
	}
}

static int refuse(const struct launch *launch, int problem)
{
	print_error("tenon launch: %s: %s", launch->command[0], strerror(problem));
	return problem == ENOENT ? EXIT_NOT_THERE : EXIT_NOT_RUN;
}

int launch_run(struct launch *launch)
{
	sigset_t taken, before;
	int problem = 0;
	sigemptyset(&taken);
	sigaddset(&taken, SIGCHLD);
	for (size_t i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
		sigaddset(&taken, forwarded[i]);
	/* An ignored SIGCHLD would lose how the ranks end. */
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &taken, &before);
	setenv("TENON_LOCAL_JOB", launch->job, 1);
	set_number("TENON_LOCAL_SIZE", launch->n);
	for (int rank = 0; rank < launch->n && !problem; rank++)
		problem = start_rank(launch, rank, &before);
	if (problem)
		launch->status = refuse(launch, problem);
	wait_for_all(launch, &taken);
	remove_shared_memory(launch);
	return launch->status;
}
