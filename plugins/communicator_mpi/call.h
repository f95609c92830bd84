/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Functions of MPI that wait for all ranks, and know no limit: MPI's beginning and end, and what
 * makes a communicator.
 */
#ifndef MPI_CALL_H
#define MPI_CALL_H

#include "plugin.h"

/* Runs function(argument) on the thread that is MPI's main thread, which the first call makes, and
 * waits for what it returns, a code of MPI.  After a tenth of TENON_COMMUNICATOR_TIMEOUT a warning
 * names `what`.
 * TN_TIMED_OUT, in *error unless that is NULL: the function still runs, and will for ever; argument
 * must stay.  TN_STATE: an earlier one does.  TN_OUT_OF_MEMORY: there is no thread. */
tn_status mpi_call(const struct tn_host *host, const char *what, int (*function)(void *argument),
		   void *argument, int *code, struct tn_error_info *error);
/* Ends the thread, unless a function still runs there. */
void mpi_call_end(void);

#endif
