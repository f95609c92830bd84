/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * An open communicator.
 */
#ifndef TN_DISTRIBUTED_COMMUNICATOR_H
#define TN_DISTRIBUTED_COMMUNICATOR_H

#include <tenon/distributed.h>

#include "array/runtime.h"
#include "loader/communicator.h"

struct tn_communicator {
	struct tn_runtime *runtime;
	struct tn_communicator_plugin *plugin; /* NULL: one rank, without a plugin */
	void *handle;                          /* of the plugin's open communicator */
	struct tn_communicator_description description;
	char name[32];
	tn_load_report *report;
	double timeout;              /* seconds */
	double waited;               /* seconds, in all */
	tn_request *oldest, *newest; /* those that exist, linked */
	struct tn_error_info
		failure; /* the first one: the communicator is broken; TN_OK: it is not */
	uint64_t fork_generation;
};

/* Keeps `error` as the communicator's failure if it is the first, and in the context. */
tn_status tn_communicator_break(tn_communicator *communicator, const struct tn_error_info *error);
/* TN_OK, or the status for a communicator that is broken or another process's; *error is filled. */
tn_status tn_communicator_ready(const tn_communicator *communicator, const char *operation,
				struct tn_error_info *error);

#endif
