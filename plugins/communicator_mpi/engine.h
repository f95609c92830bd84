/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * MPI as a whole, of which a process has one.
 */
#ifndef MPI_ENGINE_H
#define MPI_ENGINE_H

#include "plugin.h"

/* The name of the MPI that this file is built for. */
#ifdef OPEN_MPI
#define MPI_ENGINE_NAME "Open MPI"
#else
#define MPI_ENGINE_NAME "MPICH"
#endif

/* Takes the engine for the one instance.  TN_STATE: another one lives.  TN_REFUSED: MPI has ended
 * in this process, or the process has another MPI than that of this file. */
tn_status mpi_engine_take(struct tn_error_info *error);
void mpi_engine_give_back(void);

/* Begins MPI, unless the program or an earlier `open` has.  TN_REFUSED: the program has, and does
 * not let this thread call it.  TN_TIMED_OUT: not all ranks have come. */
tn_status mpi_engine_begin(const struct tn_host *host, struct tn_error_info *error);
/* mpi_call, if mpi_engine_begin began MPI; else the program's own thread makes the call. */
tn_status mpi_engine_call(const struct tn_host *host, const char *what,
			  int (*function)(void *argument), void *argument, int *code,
			  struct tn_error_info *error);
/* Ends MPI if mpi_engine_begin began it. */
void mpi_engine_end(const struct tn_host *host);
/* A rank was lost, or messages are under way: ending would wait for them forever, so the launcher
 * ends what is left. */
void mpi_engine_abandon(void);

/* "Open MPI 4.1.4" */
void mpi_engine_describe(char *text, size_t size);

/* The error of MPI's function `what` that returned `code`; its status. */
tn_status mpi_engine_fail(struct tn_error_info *error, int code, const char *operation,
			  const char *what);

#endif
