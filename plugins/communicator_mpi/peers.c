/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Watches the processes of the ranks of this machine, as the communicator of one machine does.
 */
#include "peers.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* How often they are looked at, in seconds for each. */
static const double look_interval = 0.0005;

int mpi_peers_exchange(struct mpi_communicator *c, MPI_Comm local)
{
	struct mpi_peer own = {.rank = c->rank};
	communicator_process_self(&own.process);
	c->peers = tn_plugin_alloc(c->host, (size_t)c->local_size * sizeof(*c->peers));
	if (!c->peers)
		return MPI_ERR_NO_MEM;
	return MPI_Allgather(&own, sizeof(own), MPI_BYTE, c->peers, sizeof(own), MPI_BYTE, local);
}

void mpi_peers_release(struct mpi_communicator *c)
{
	tn_plugin_free(c->host, c->peers);
	c->peers = NULL;
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A rank that fails because another one has gone exits with a status: what was killed, or ended in
 * a way that cannot be seen any more, was first. */
static int is_cause(const char *how)
{
	return strncmp(how, "has exited", 10) != 0;
}

int mpi_peers_look(struct mpi_communicator *c, char *text, size_t size)
{
	const struct communicator_process *own;
	int has_cause = 0, is_lost = 0;
	const double at = now();
	if (!c->peers || at - c->last_look < look_interval * c->local_size)
		return 0;
	c->last_look = at;
	own = &c->peers[c->local_rank].process;
	for (int i = 0; i < c->local_size && !has_cause; i++) {
		const struct mpi_peer *peer = &c->peers[i];
		char how[96];
		if (i == c->local_rank || !communicator_process_is_visible(own, &peer->process) ||
		    !communicator_process_has_ended(&peer->process, how, sizeof(how)))
			continue;
		is_lost = 1;
		has_cause = is_cause(how);
		(void)snprintf(text, size, "rank %d (process %lld) %s", peer->rank,
			       (long long)peer->process.pid, how);
	}
	return is_lost;
}
