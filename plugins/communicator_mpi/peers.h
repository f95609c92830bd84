/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The other ranks of this machine: whether their processes still live.  MPI notices the end of one
 * late, and some of its transports then end this process before an error can name the rank.
 */
#ifndef MPI_PEERS_H
#define MPI_PEERS_H

#include "plugin.h"

/* Exchanges the processes of the ranks of `local`, which are on this machine.  A code of MPI. */
int mpi_peers_exchange(struct mpi_communicator *c, MPI_Comm local);
void mpi_peers_release(struct mpi_communicator *c);
/* Looks at them, if the last look is some time ago.  1: one has ended, and `text` says how. */
int mpi_peers_look(struct mpi_communicator *c, char *text, size_t size);

#endif
