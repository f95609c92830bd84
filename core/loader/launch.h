/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A launcher of a communicator, and what it says about this process.
 */
#ifndef TN_LOADER_LAUNCH_H
#define TN_LOADER_LAUNCH_H

#include "base/log.h"
#include "base/parameter.h"

struct tn_launch {
	char launcher[128]; /* "mpirun of Open MPI" */
	char size_variable[64];
	char rank_variable[64];
	/* It starts processes and does not connect them: inside of it another launcher counts. */
	int is_fallback;
	uint32_t size; /* 0: it has not started this process */
	uint32_t rank;
};

/* Reads the launcher's variables.  Values that are not a size and a rank cause a warning. */
void tn_launch_read(struct tn_launch *launch, struct tn_parameters *parameters,
		    const struct tn_logger *logger);

#endif
