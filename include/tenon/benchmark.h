/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * How long a function of the program takes, on the host and on the device.
 *
 *     tn_status product(void *operands); // multiplies two matrices
 *     struct tn_benchmark_result result = {.struct_size = sizeof(result)};
 *     if (!tn_benchmark(ctx, product, x, NULL, &result))
 *             printf("%g s on the device\n", result.device.median);
 */
#ifndef TENON_BENCHMARK_H
#define TENON_BENCHMARK_H

#include <string.h>

#include <tenon/device.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tn_benchmark_options {
	uint32_t struct_size;
	uint64_t warmup;    /* calls before those that are measured; default 10 */
	uint64_t repeats;   /* the most calls that are measured, at least 1; default 10,000 */
	double max_seconds; /* for those; default 1; there is at least one */
	tn_device *device;  /* whose time is measured; NULL: the current one */
};
static inline struct tn_benchmark_options tn_benchmark_defaults(void)
{
	struct tn_benchmark_options options;
	memset(&options, 0, sizeof(options));
	options.struct_size = sizeof(options);
	options.warmup = 10;
	options.repeats = 10000;
	options.max_seconds = 1;
	return options;
}

/* Times of one clock, in seconds. */
struct tn_benchmark_times {
	double min;
	double median;
	double mean;
	double max;
	double std; /* the standard deviation of the calls, not of the mean */
};
struct tn_benchmark_result {
	uint32_t struct_size;
	uint32_t has_events; /* 1: the device's own clock; 0: it has none, the host measured */
	uint64_t n;          /* calls that were measured */
	struct tn_benchmark_times host;   /* from the beginning of a call to its return */
	struct tn_benchmark_times device; /* of the work that it gave to the current stream */
	double total_seconds;             /* of all measured calls, and waiting for each */
};

/* Calls function(data): first the warm-up, then until one of the two ends is reached.  Before each
 * measured call the device is idle, and its time is that between an event recorded before the call
 * and one recorded after it (tenon/stream.h); a device with one stream is waited for instead, and
 * its time includes the host's.  Fills result, whose struct_size the caller has set; members that
 * are newer than it are not written.
 *
 * The function frees what it makes, or all calls' arrays add up.  If it returns another status than
 * TN_OK, or the context keeps an error after it, the measurement ends with that status, and result
 * is unchanged; so too for
 *   TN_INVALID_ARGUMENT  function or result is NULL, result has no struct_size, max_seconds is
 *                        negative or not a number
 *   TN_DEVICE            the device belongs to another context
 *   TN_NOT_CAPTURABLE    the device's work is captured
 *   TN_OUT_OF_MEMORY, TN_PENDING_ERROR, or what the device answered
 * all of which are kept, but for the function's own status.
 * [thread: one per context | since 0.1] */
TN_API TN_CHECKED tn_status tn_benchmark(tn_context *context, tn_status (*function)(void *data),
					 void *data, const struct tn_benchmark_options *options,
					 struct tn_benchmark_result *result);

/* The result as text, in microseconds:
 *     product: 812 calls
 *       host   mean 12.310 +/- 1.020 us (min 11.800, median 12.100, max 30.550)
 *       device mean 98.700 +/- 0.330 us (min 98.100, median 98.660, max 101.200)
 * name may be NULL.  Owned (tn_string_free).  NULL: out of memory, or no result; not kept.
 * [thread: any | since 0.1] */
TN_API char *tn_benchmark_text(const char *name, const struct tn_benchmark_result *result);

#ifdef __cplusplus
}
#endif
#endif
