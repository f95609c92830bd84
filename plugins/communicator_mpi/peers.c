/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Watches the processes of the ranks of this machine, as the communicator of one machine does.
 */
#include "peers.h"

#include <stdio.h>
#include <time.h>

/* How often, in seconds, one of them is looked at. */
static const double look_interval = 0.002;

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

int mpi_peers_look(struct mpi_communicator *c, char *text, size_t size)
{
	char how[96];
	const double at = now();
	if (!c->peers || at - c->last_look < look_interval)
		return 0;
	c->last_look = at;
	const struct mpi_peer *peer = &c->peers[c->next_look];
	const struct mpi_peer *own = &c->peers[c->local_rank];
	c->next_look = (c->next_look + 1) % c->local_size;
	if (peer == own || !communicator_process_is_visible(&own->process, &peer->process) ||
	    !communicator_process_has_ended(&peer->process, how, sizeof(how)))
		return 0;
	(void)snprintf(text, size, "rank %d (process %lld) %s", peer->rank,
		       (long long)peer->process.pid, how);
	return 1;
}
