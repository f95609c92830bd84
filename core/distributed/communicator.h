/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * An open communicator and its requests.
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
	tn_request *oldest, *newest; /* those that exist, linked */
	struct tn_error_info
		failure; /* the first one: the communicator is broken; TN_OK: it is not */
	uint64_t fork_generation;
};

/* One operation.  One that is larger than the plugin takes is several of the plugin's, all of which
 * are started at once: the ranks start them in one order. */
struct tn_request {
	tn_communicator *communicator;
	struct tn_request *previous, *next;
	struct tn_collective_host operation; /* its label points to `label` */
	char label[96];
	void **parts; /* of the plugin, n_parts; NULL: that one is done */
	uint64_t n_parts;
	uint64_t n_done;        /* the first ones */
	uint64_t part_elements; /* of `n`, in each part but the last */
	void *packed; /* the memory of the parts of an operation that gathers or scatters */
	int was_failed;
	uint32_t waits_for; /* a rank, or TN_RANK_UNKNOWN */
};

/* "all_reduce"; "collective" for other numbers. */
const char *tn_collective_name(uint32_t operation);

/* Keeps `error` as the communicator's failure if it is the first, and in the context. */
tn_status tn_communicator_break(tn_communicator *communicator, const struct tn_error_info *error);
/* TN_OK, or the status for a communicator that is broken or another process's; *error is filled. */
tn_status tn_communicator_ready(const tn_communicator *communicator, const char *operation,
				struct tn_error_info *error);

/* Checks an operation's members (collective.c): errors as tn_communicator_start. */
tn_status tn_collective_check(const tn_communicator *communicator,
			      const struct tn_collective_host *operation,
			      struct tn_error_info *error);
/* The elements of its larger operand. */
uint64_t tn_collective_elements(const struct tn_collective_host *operation, uint32_t size);

/* Frees a request without waiting. */
void tn_request_free(tn_request *request);

#endif
