/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Tests of communicators: ranks are children of the test, each with the plugin opened through its
 * own table.
 */
#ifndef TN_TESTS_RANKS_H
#define TN_TESTS_RANKS_H

#include <tenon/communicator.h>

#define RANKS_JOB "tenon-test"
#define RANKS_SECONDS 30 /* in which every rank must have ended, whatever happens */

/* A rank within its process. */
struct rank {
	uint32_t rank, size;
	const struct tn_backend_descriptor *descriptor;
	const struct tn_communicator_table *table;
	void *communicator;
	void *instance;
	struct tn_error_info error; /* of the last call that failed */
};

/* The exit status of a rank that found something wrong; it has printed what. */
enum { RANK_FAILED = 1 };

/* Adds the folders of the mocks to TENON_PLUGIN_PATH. */
void ranks_add_mocks(void);
/* Opens the plugin of that name in TENON_PLUGIN_PATH and the descriptor in it; ends the process
 * with a message if that fails. */
const struct tn_backend_descriptor *rank_plugin(const char *name);
/* The host that the plugins get: parameters are environment variables, and so are the options of
 * the last plugin opened. */
const struct tn_host *rank_host(void);

/* create, query and open; the status of the one that failed. */
tn_status rank_open(struct rank *rank, const char *name);
void rank_close(struct rank *rank);

/* Starts an operation, and ends the process with a message if that fails. */
void *rank_start(struct rank *rank, const struct tn_collective_args *args);
/* Tests until the request is done or has failed; after `seconds` the status is TN_TIMED_OUT, and
 * `waits_for`, which may be NULL, what the last test said. */
tn_status rank_wait(struct rank *rank, void *request, double seconds, uint32_t *waits_for);
/* start and wait; a failure is returned and in rank->error. */
tn_status rank_run(struct rank *rank, const struct tn_collective_args *args);

/* Fails the rank: prints the text, as by printf, and ends the process. */
__attribute__((format(printf, 2, 3), noreturn)) void rank_fail(const struct rank *rank,
							       const char *format, ...);

/* Runs `size` ranks of body(rank, argument), each in a process of its own with TENON_LOCAL_... set,
 * and waits for them.  statuses[r], which may be NULL, is what wait gives for rank r; without it,
 * every rank must exit with 0.  The test fails if one is still there after RANKS_SECONDS. */
void ranks_run(uint32_t size, void (*body)(uint32_t rank, const void *argument),
	       const void *argument, int *statuses);

#endif
