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
#include "train_devices.h"

/* Between SIGTERM and SIGKILL, and before all start anew, in seconds. */
#define GRACE 5
#define PAUSE 1

/* Exit statuses of a shell for a command that cannot be run. */
enum { EXIT_NOT_RUN = 126, EXIT_NOT_THERE = 127, EXIT_SIGNAL = 128 };

static const int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT};
/* What ends a rank that nobody has asked to end. */
static const int crashes[] = {SIGKILL, SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};

static int is_one_of(int number, const int *numbers, size_t n)
{
	size_t i = 0;
	while (i < n && numbers[i] != number)
		i++;
	return i < n;
}

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
	launch->is_crashed |= WIFSIGNALED(status) && !launch->is_ending &&
			      is_one_of(WTERMSIG(status), crashes, N_ROWS(crashes));
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

/* Of those that have ended meanwhile, in whatever order, a rank that was killed is why others have
 * failed: it comes first. */
static void take_ends(struct launch *launch)
{
	struct {
		pid_t pid;
		int status;
	} ends[LAUNCH_MOST_RANKS];
	int n = 0;
	while (n < LAUNCH_MOST_RANKS && (ends[n].pid = waitpid(-1, &ends[n].status, WNOHANG)) > 0)
		n++;
	for (int i = 0; i < n; i++)
		if (WIFSIGNALED(ends[i].status))
			take_end(launch, ends[i].pid, ends[i].status);
	for (int i = 0; i < n; i++)
		if (!WIFSIGNALED(ends[i].status))
			take_end(launch, ends[i].pid, ends[i].status);
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

static int asks_to_end(int number)
{
	return number != SIGUSR2 && number != SIGCONT;
}

/* Waits for the next signal, at most to the time `end` (0: without end), and passes it on. */
static void take_signal(struct launch *launch, const sigset_t *taken, double end)
{
	siginfo_t information;
	double left = end > 0 ? end - seconds() : 3600.0;
	left = left > 0 ? left : 0;
	const struct timespec limit = {.tv_sec = (time_t)left,
				       .tv_nsec = (long)((left - (double)(time_t)left) * 1e9)};
	int number = sigtimedwait(taken, &information, &limit);
	if (number <= 0 || number == SIGCHLD)
		return;
	if (asks_to_end(number))
		launch->asked = number;
	if (is_for_us_alone(&information))
		signal_all(launch, number);
}

static void wait_for_all(struct launch *launch, const sigset_t *taken)
{
	double end = 0;
	for (;;) {
		take_ends(launch);
		if (!launch->n_running)
			return;
		if (launch->status && end <= 0) {
			launch->is_ending = 1;
			signal_all(launch, SIGTERM);
			end = seconds() + GRACE;
		}
		if (end > 0 && !launch->is_killed && seconds() >= end) {
			print_error("tenon launch: %d rank%s did not end within %d s: killed",
				    launch->n_running, launch->n_running == 1 ? "" : "s", GRACE);
			launch->is_killed = 1;
			signal_all(launch, SIGKILL);
		}
		take_signal(launch, taken, launch->is_killed ? 0 : end);
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

/* What the ranks of this start find in the environment. */
static void tell_ranks(struct launch *launch)
{
	snprintf(launch->job, sizeof(launch->job), "%d-%08x", (int)getpid(),
		 launch->number + launch->n_anew);
	setenv("TENON_LOCAL_JOB", launch->job, 1);
	set_number("TENON_LOCAL_SIZE", launch->n);
	unsetenv("TENON_RESTART_COUNT");
	unsetenv("TENON_RESTART_PIPE");
	if (!launch->n_anew)
		unsetenv("TENON_RESTART_BEGUN");
	if (launch->most)
		set_number("TENON_RESTART_COUNT", launch->n_anew);
	if (launch->n_anew < launch->most)
		set_number("TENON_RESTART_PIPE", launch->lost[1]);
}

static void run_once(struct launch *launch, const sigset_t *taken, const sigset_t *before)
{
	int problem = 0;
	launch->status = launch->is_crashed = launch->is_ending = launch->is_killed = 0;
	tell_ranks(launch);
	for (int rank = 0; rank < launch->n && !problem; rank++)
		problem = start_rank(launch, rank, before);
	if (problem)
		launch->status = refuse(launch, problem);
	wait_for_all(launch, taken);
	remove_shared_memory(launch);
}

/* Do all start anew?  After a pause, which a signal may end. */
static int starts_anew(struct launch *launch, const sigset_t *taken)
{
	char names[256] = "";
	const double end = seconds() + PAUSE;
	if (!launch->status || launch->asked || launch->n_anew == launch->most)
		return 0;
	const int n_lost = train_devices_receive(launch->lost[0], names, sizeof(names));
	if (!n_lost && !launch->is_crashed)
		return 0;
	launch->n_anew++;
	print_error("tenon launch: %s%sstarts %d rank%s anew (restart %u of %u)", names,
		    !n_lost       ? ""
		    : n_lost == 1 ? " was lost: "
				  : " were lost: ",
		    launch->n, launch->n == 1 ? "" : "s", launch->n_anew, launch->most);
	while (!launch->asked && seconds() < end)
		take_signal(launch, taken, end);
	if (launch->asked)
		launch->status = EXIT_SIGNAL + launch->asked;
	return !launch->asked;
}

/* Ranks inherit the end that they write to.  0: said. */
static int make_pipe(struct launch *launch)
{
	if (pipe(launch->lost) || fcntl(launch->lost[0], F_SETFD, FD_CLOEXEC) ||
	    fcntl(launch->lost[0], F_SETFL, O_NONBLOCK)) {
		perror("tenon launch: pipe");
		return 0;
	}
	return 1;
}

int launch_run(struct launch *launch)
{
	struct sigaction action;
	sigset_t taken, before;
	if (launch->most && !make_pipe(launch))
		return EXIT_FAILED;
	sigemptyset(&taken);
	sigaddset(&taken, SIGCHLD);
	/* One that is ignored, as by nohup, asks for nothing. */
	for (size_t i = 0; i < N_ROWS(forwarded); i++)
		if (!sigaction(forwarded[i], NULL, &action) && action.sa_handler != SIG_IGN)
			sigaddset(&taken, forwarded[i]);
	/* An ignored SIGCHLD would lose how the ranks end. */
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &taken, &before);
	do
		run_once(launch, &taken, &before);
	while (starts_anew(launch, &taken));
	return launch->status;
}
