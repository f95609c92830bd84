/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * When an operation may be done: after a fixed delay, or after the time that a network would need.
 */
#include <errno.h>
#include <time.h>

#include "mock.h"

double mock_now(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void mock_sleep(uint64_t milliseconds)
{
	struct timespec left = {(time_t)(milliseconds / 1000),
				(long)(milliseconds % 1000) * 1000000};
	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

/* What each rank sends and receives, whatever the algorithm, if no rank does more than another. */
static double bytes_of(const struct tn_collective_args *args, double size)
{
	const double bytes = (double)args->n * (double)tn_dtype_size(args->dtype);
	switch (args->operation) {
	case TN_COLLECTIVE_ALL_REDUCE:
		return 2 * bytes * (size - 1) / size;
	case TN_COLLECTIVE_REDUCE_SCATTER:
	case TN_COLLECTIVE_ALL_GATHER:
		return bytes * (size - 1);
	default:
		return bytes;
	}
}

double mock_ready(struct mock_communicator *communicator, const struct tn_collective_args *args)
{
	const struct mock_fault *delay = mock_fault_of(communicator, MOCK_DELAY);
	const struct mock_fault *network = mock_fault_of(communicator, MOCK_NETWORK);
	const double now = mock_now();
	double ready = now;
	if (delay)
		ready += (double)delay->value * 1e-3;
	if (network && communicator->size > 1) {
		/* An all_reduce is a reduce_scatter and an all_gather. */
		const int steps = args->operation == TN_COLLECTIVE_ALL_REDUCE ? 2 : 1;
		const double begin = communicator->link_free > now ? communicator->link_free : now;
		communicator->link_free =
			begin + steps * (double)network->value * 1e-6 +
			bytes_of(args, communicator->size) * 8e-9 / (double)network->value2;
		if (communicator->link_free > ready)
			ready = communicator->link_free;
	}
	return ready;
}
