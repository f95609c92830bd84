/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Tests of training on several ranks, over the communicator of one machine.
 */
#ifndef TN_TESTS_TRAINING_H
#define TN_TESTS_TRAINING_H

#include <stddef.h>

#include <tenon/distributed.h>

/* What a rank's process has; it runs on one thread. */
struct ranked {
	tn_context *context;
	tn_communicator *communicator; /* NULL: the program knows of no ranks */
	uint32_t rank, size;
};

/* What runs on a rank. */
typedef void ranked_body(const struct ranked *ranked, const void *argument, void *outcome);

/* Runs body on `size` ranks, each in a process of its own with a context of that backend, and
 * waits for them; size 0: in one process without a communicator.  Each rank writes its outcome, of
 * outcome_size bytes that are zero at first, to its place in outcomes.  All must end well. */
void run_ranked(uint32_t size, const char *backend, ranked_body *body, const void *argument,
		void *outcomes, size_t outcome_size);
/* The same, where statuses[r] is what wait gives for rank r, which may end otherwise. */
void run_ranked_to_end(uint32_t size, const char *backend, ranked_body *body, const void *argument,
		       void *outcomes, size_t outcome_size, int *statuses);

/* In a rank's process, which they end with a message if it is not so: a test's own checks would
 * go on with the test. */
void need_true(int is_true, const char *text, const char *file, int line);
void need_status(const tn_context *context, tn_status status, const char *file, int line);
#define need(IS_TRUE) need_true((IS_TRUE) != 0, #IS_TRUE, __FILE__, __LINE__)
#define need_ok(CONTEXT, STATUS) need_status(CONTEXT, STATUS, __FILE__, __LINE__)

/* The element of an array of one. */
double item_of(const tn_array *array);
/* The parameters as doubles, up to `most`; their number. */
size_t read_parameters(tn_module *module, double *values, size_t most);

#endif
