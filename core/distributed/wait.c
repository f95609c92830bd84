/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Waiting for other ranks: the only loop that does.  While nothing happens, it tests at once again
 * for some microseconds, then gives its processor away in between, then sleeps, longer and longer:
 * a machine often has more ranks than processors, and the one that is waited for needs them.  A
 * test that took its time has moved data, and more will come: a large operand does not sleep
 * between its pieces.
 */
#include <sched.h>
#include <stdio.h>
#include <time.h>

#include "array/handle.h"
#include "distributed/collective.h"
#include "distributed/request.h"

#define WORK 50e-6 /* seconds: more than a test takes that finds nothing, or looks for dead ranks */
#define SPIN 20e-6
#define YIELD 2e-3
#define SHORTEST_SLEEP 20000 /* nanoseconds */
#define LONGEST_SLEEP 100000 /* what arrives meanwhile must fit in the buffers of a network */

struct watch {
	double begin;
	double waited; /* until the end of the last test */
	double worked; /* in that time, until the end of the last test that moved data */
	long sleep;
	int has_warned;
};

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static tn_status test(struct watch *watch, tn_request *request, int *is_done)
{
	const double before = seconds();
	tn_status status = tn_request_advance(request, is_done);
	const double after = seconds();
	watch->waited = after - watch->begin;
	if (after - before > WORK) {
		watch->worked = watch->waited;
		watch->sleep = SHORTEST_SLEEP;
	}
	return status;
}

static void back_off(struct watch *watch)
{
	const double idle = watch->waited - watch->worked;
	if (idle < SPIN)
		return;
	if (idle < YIELD) {
		sched_yield();
		return;
	}
	struct timespec pause = {.tv_nsec = watch->sleep};
	nanosleep(&pause, NULL);
	watch->sleep = watch->sleep * 2 < LONGEST_SLEEP ? watch->sleep * 2 : LONGEST_SLEEP;
}

/* "for rank 3", as far as it is known. */
static void say_for_whom(const tn_request *request, char *text, size_t size)
{
	if (request->waits_for == TN_RANK_UNKNOWN)
		snprintf(text, size, "for another rank");
	else
		snprintf(text, size, "for rank %u", request->waits_for);
}

static void warn(const tn_request *request, double waited)
{
	const tn_communicator *communicator = request->communicator;
	char whom[40];
	say_for_whom(request, whom, sizeof(whom));
	tn_log_format(communicator->runtime->logger, TN_LOG_WARNING, "communicator",
		      "rank %u of %u has waited %.3g s in %s%s%s: %s",
		      communicator->description.rank, communicator->description.size, waited,
		      tn_collective_name(request->operation.operation),
		      request->label[0] ? " of " : "", request->label, whom);
}

static tn_status give_up(const tn_request *request, double waited)
{
	tn_communicator *communicator = request->communicator;
	struct tn_error_info *error = &communicator->runtime->report;
	char whom[40];
	say_for_whom(request, whom, sizeof(whom));
	tn_fail(error, TN_TIMED_OUT, tn_collective_name(request->operation.operation),
		"%s%srank %u of %u: waited %.3g s %s (TENON_COMMUNICATOR_TIMEOUT)", request->label,
		request->label[0] ? ", " : "", communicator->description.rank,
		communicator->description.size, waited, whom);
	return tn_communicator_break(communicator, error);
}

tn_status tn_request_wait(tn_request *request)
{
	if (!request)
		return TN_OK;
	tn_communicator *communicator = request->communicator;
	if (tn_handle_find(communicator->runtime, request, "request_wait"))
		return TN_STATE;
	struct watch watch = {.begin = seconds(), .sleep = SHORTEST_SLEEP};
	int is_done;
	tn_status status = test(&watch, request, &is_done);
	while (!status && !is_done) {
		back_off(&watch);
		status = test(&watch, request, &is_done);
		if (status || is_done)
			break;
		if (!watch.has_warned && watch.waited >= communicator->timeout / 10) {
			warn(request, watch.waited);
			watch.has_warned = 1;
		}
		if (watch.waited >= communicator->timeout)
			status = give_up(request, watch.waited);
	}
	communicator->waited += watch.waited;
	/* After a failure the plugin may still have the memory of the parts. */
	if (status)
		request->was_failed = 1;
	else
		tn_request_free(request);
	return status;
}

double tn_communicator_waited(const tn_communicator *communicator)
{
	if (!communicator || tn_handle_check(communicator->runtime, "communicator_waited"))
		return 0;
	return communicator->waited;
}

tn_status tn_communicator_run(tn_communicator *communicator,
			      const struct tn_collective_host *operation)
{
	tn_request *request;
	tn_status status = tn_communicator_start(communicator, operation, &request);
	return status ? status : tn_request_wait(request);
}
