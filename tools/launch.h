/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The ranks of one machine as processes.
 */
#ifndef TENON_TOOLS_LAUNCH_H
#define TENON_TOOLS_LAUNCH_H

#include <stdint.h>
#include <sys/types.h>

enum { LAUNCH_MOST_RANKS = 128, LAUNCH_MOST_RESTARTS = 1000000 };

struct launch {
	int n;
	char **command;        /* with its arguments; NULL ends them */
	uint32_t number;       /* one that no other running program has, with the process's */
	unsigned most, n_anew; /* how often all may start anew, and have; most 0: never */
	/* Of one start: */
	char job[64];
	pid_t pids[LAUNCH_MOST_RANKS]; /* 0: it has ended */
	int n_running;
	int status;     /* the exit status of the first one that failed; 0: none has */
	int is_crashed; /* a rank was killed by a signal that asks for no end */
	int is_ending;  /* the others have been asked to end */
	int is_killed;  /* by this process */
	int asked;      /* the signal that asked this process to end; 0: none */
	int lost[2];    /* the pipe of train_devices.h */
};

/* Starts all ranks and waits for them.  When one fails, or a signal asks for it, the others are
 * ended; then all may start anew.  Returns the exit status. */
int launch_run(struct launch *launch);

#endif
