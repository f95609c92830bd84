/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The processes of ranks on one machine.
 */
#ifndef COMMUNICATOR_PROCESS_H
#define COMMUNICATOR_PROCESS_H

#include <stddef.h>
#include <stdint.h>

/* A process, told from a later one of the same number. */
struct communicator_process {
	int64_t pid;
	uint64_t start_time; /* in ticks since the machine started; 0: unknown */
	uint64_t namespace;  /* that the number belongs to; 0: unknown */
};

void communicator_process_self(struct communicator_process *process);
/* Can this process find the other one? */
int communicator_process_is_visible(const struct communicator_process *own,
				    const struct communicator_process *other);
/* 1: it has ended, and `how` is "was killed by signal 9 (Killed)", or only "has ended". */
int communicator_process_has_ended(const struct communicator_process *process, char *how,
				   size_t size);

#endif
