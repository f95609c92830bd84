/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A request and its progress.
 */
#ifndef TN_DISTRIBUTED_REQUEST_H
#define TN_DISTRIBUTED_REQUEST_H

#include "distributed/communicator.h"

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

/* Tests the request's parts, as tn_request_test. */
tn_status tn_request_advance(tn_request *request, int *is_done);

/* Frees a request without waiting. */
void tn_request_free(tn_request *request);

#endif
