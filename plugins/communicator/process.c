/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Whether a process still lives, by /proc.  One that has ended but was not yet waited for counts as
 * ended, and shows how it ended to processes of the same user.
 */
#include "communicator/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- /proc/PID/stat --------------------------------------------------------------------------*/

struct process_status {
	char state;
	uint64_t start_time;
	int exit_status; /* as wait gives it; 0: unknown */
};

/* Field `number`, counted from 3 as in proc(5), of the text behind the command's name. */
static const char *find_field(const char *text, int number)
{
	for (int field = 3; text && field < number; field++) {
		text = strchr(text, ' ');
		text += text != NULL;
	}
	return text;
}

/* 0, or an errno. */
static int read_process(const char *folder, struct process_status *status)
{
	char text[2048];
	(void)snprintf(text, sizeof(text), "/proc/%s/stat", folder);
	const int file = open(text, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return errno;
	const ssize_t length = read(file, text, sizeof(text) - 1);
	const int failure = length < 0 ? errno : 0;
	(void)close(file);
	if (failure)
		return failure;
	text[length] = 0;
	/* The name is in parentheses and may contain anything. */
	const char *name_end = strrchr(text, ')');
	if (!name_end || name_end[1] != ' ')
		return EIO;
	const char *start_time = find_field(name_end + 2, 22);
	const char *exit_status = find_field(name_end + 2, 52);
	status->state = name_end[2];
	status->start_time = start_time ? strtoull(start_time, NULL, 10) : 0;
	status->exit_status = exit_status ? atoi(exit_status) : 0;
	return 0;
}

/* ---- Processes -------------------------------------------------------------------------------*/

void communicator_process_self(struct communicator_process *process)
{
	struct process_status status;
	struct stat space;
	process->pid = getpid();
	process->start_time = read_process("self", &status) ? 0 : status.start_time;
	process->namespace = stat("/proc/self/ns/pid", &space) ? 0 : space.st_ino;
}

static void describe_end(int status, char *how, size_t size)
{
	if (WIFSIGNALED(status))
		(void)snprintf(how, size, "was killed by signal %d (%s)", WTERMSIG(status),
			       strsignal(WTERMSIG(status)));
	else if (WIFEXITED(status) && WEXITSTATUS(status))
		(void)snprintf(how, size, "has exited with status %d", WEXITSTATUS(status));
}

int communicator_process_has_ended(const struct communicator_process *process, char *how,
				   size_t size)
{
	struct process_status status;
	char folder[32];
	(void)snprintf(folder, sizeof(folder), "%lld", (long long)process->pid);
	(void)snprintf(how, size, "has ended");
	const int failure = read_process(folder, &status);
	if (failure)
		return failure == ENOENT || failure == ESRCH;
	if (status.start_time != process->start_time)
		return 1;
	if (status.state != 'Z' && status.state != 'X')
		return 0;
	describe_end(status.exit_status, how, size);
	return 1;
}

/* Without its start time, or in another space of numbers, a process cannot be found. */
int communicator_process_is_visible(const struct communicator_process *own,
				    const struct communicator_process *other)
{
	return own->start_time && other->start_time && own->namespace == other->namespace;
}
