/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The ranks of one machine as processes.
 */
#ifndef TENON_TOOLS_LAUNCH_H
#define TENON_TOOLS_LAUNCH_H

#include <sys/types.h>

enum { LAUNCH_MOST_RANKS = 128 };

struct launch {
	int n;
	char **command;                /* with its arguments; NULL ends them */
	char job[64];                  /* a name that no other running program has */
	pid_t pids[LAUNCH_MOST_RANKS]; /* 0: it has ended */
	int n_running;
	int status; /* the exit status of the first one that failed; 0: none has */
};

/* Starts all ranks and waits for them.  When one fails, or a signal asks for it, the others are
 * ended.  Returns the exit status. */
int launch_run(struct launch *launch);

#endif
