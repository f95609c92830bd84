/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The times of a program's function.
 */
#include <tenon/benchmark.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "base/answer.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/text.h"
#include "context/context.h"
#include "device/queue.h"

#define MICRO 1e6

struct run {
	tn_context *context;
	tn_status (*function)(void *data);
	void *data;
	struct tn_benchmark_options options;
	tn_event *start, *end;
	double *host, *device; /* `room` times of each, n of them measured */
	size_t n, room;
};

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- Measuring -------------------------------------------------------------------------------*/

static tn_status call(struct run *run)
{
	tn_status status = run->function(run->data);
	const struct tn_error_info *error = tn_error(run->context);
	return status || !error ? status : error->status;
}

static int make_room(struct run *run)
{
	if (run->n < run->room)
		return 1;
	size_t room = run->room ? 2 * run->room : 256;
	double *host = tn_mem_realloc(run->host, room, sizeof(*host));
	if (host)
		run->host = host;
	double *device = host ? tn_mem_realloc(run->device, room, sizeof(*device)) : NULL;
	if (!device) {
		tn_runtime_fail(&run->context->runtime, TN_OUT_OF_MEMORY, "benchmark",
				"no host memory for %zu times", room);
		return 0;
	}
	run->device = device;
	run->room = room;
	return 1;
}

static tn_status measure_one(struct run *run)
{
	double before = 0, after = 0, seconds = 0;
	if (!make_room(run))
		return TN_OUT_OF_MEMORY;
	tn_status status = tn_event_record(run->start);
	if (!status) {
		before = now();
		status = call(run);
		after = now();
	}
	if (!status)
		status = tn_event_record(run->end);
	if (!status)
		status = tn_event_synchronize(run->end);
	if (!status)
		status = tn_event_elapsed(run->start, run->end, &seconds);
	if (status)
		return status;
	run->host[run->n] = after - before;
	run->device[run->n++] = seconds;
	return TN_OK;
}

static tn_status measure(struct run *run, double *total)
{
	tn_status status = TN_OK;
	for (uint64_t i = 0; i < run->options.warmup && !status; i++)
		status = call(run);
	if (!status)
		status = tn_device_synchronize(run->options.device);
	double start = now();
	*total = 0;
	while (!status &&
	       (!run->n || (run->n < run->options.repeats && *total < run->options.max_seconds))) {
		status = measure_one(run);
		*total = now() - start;
	}
	return status;
}

/* ---- Sums ------------------------------------------------------------------------------------*/

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Sorts the times. */
static struct tn_benchmark_times summarise(double *times, size_t n)
{
	struct tn_benchmark_times sums = {0};
	double squares = 0;
	qsort(times, n, sizeof(*times), compare);
	for (size_t i = 0; i < n; i++)
		sums.mean += times[i] / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += (times[i] - sums.mean) * (times[i] - sums.mean) / (double)n;
	sums.min = times[0];
	sums.max = times[n - 1];
	sums.median = 0.5 * (times[(n - 1) / 2] + times[n / 2]);
	sums.std = sqrt(squares);
	return sums;
}

/* ---- The call --------------------------------------------------------------------------------*/

static const char result_type[] = "struct tn_benchmark_result";

static tn_status take_options(struct run *run, const struct tn_benchmark_options *given,
			      const struct tn_benchmark_result *result)
{
	struct tn_runtime *runtime = &run->context->runtime;
	struct tn_benchmark_options *o = &run->options;
	tn_status status = tn_runtime_take(runtime, o, sizeof(*o), given,
					   "struct tn_benchmark_options", "benchmark");
	if (status)
		return status;
	if (!run->function)
		return tn_runtime_null(runtime, "benchmark", "function");
	status = tn_answer_check(result, sizeof(*result), result_type, "benchmark",
				 &runtime->report);
	if (status)
		return tn_runtime_keep(runtime, &runtime->report);
	if (!(o->max_seconds >= 0) || !o->repeats)
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "benchmark",
				       "expected max_seconds of 0 or more and repeats of 1 or "
				       "more, found %g and %" PRIu64,
				       o->max_seconds, o->repeats);
	if (!o->device)
		o->device = runtime->device;
	if (o->device->context != run->context)
		return tn_runtime_fail(runtime, TN_DEVICE, "benchmark",
				       "device: %s belongs to another context", o->device->name);
	return TN_OK;
}

static tn_status run_all(struct run *run, struct tn_benchmark_result *result)
{
	double total = 0;
	run->start = tn_event_create(run->options.device);
	run->end = tn_event_create(run->options.device);
	tn_status status =
		run->start && run->end ? measure(run, &total) : run->context->runtime.error.status;
	if (status)
		return status;
	const struct tn_benchmark_result full = {
		.struct_size = sizeof(full),
		.has_events = (uint32_t)tn_device_has_queues(run->options.device),
		.n = run->n,
		.host = summarise(run->host, run->n),
		.device = summarise(run->device, run->n),
		.total_seconds = total,
	};
	return tn_runtime_answer(&run->context->runtime, result, &full, sizeof(full), result_type,
				 "benchmark");
}

tn_status tn_benchmark(tn_context *context, tn_status (*function)(void *data), void *data,
		       const struct tn_benchmark_options *options,
		       struct tn_benchmark_result *result)
{
	struct run run = {.context = context,
			  .function = function,
			  .data = data,
			  .options = tn_benchmark_defaults()};
	if (!context)
		return TN_INVALID_ARGUMENT;
	tn_status status = tn_runtime_ready(&context->runtime);
	if (!status)
		status = take_options(&run, options, result);
	if (!status)
		status = run_all(&run, result);
	tn_event_destroy(run.start);
	tn_event_destroy(run.end);
	tn_mem_free(run.host);
	tn_mem_free(run.device);
	return status;
}

static void add_times(struct tn_text *text, const char *clock, const struct tn_benchmark_times *t)
{
	tn_text_format(text, "  %-6s mean %.3f +/- %.3f us (min %.3f, median %.3f, max %.3f)\n",
		       clock, MICRO * t->mean, MICRO * t->std, MICRO * t->min, MICRO * t->median,
		       MICRO * t->max);
}

char *tn_benchmark_text(const char *name, const struct tn_benchmark_result *result)
{
	struct tn_text text;
	if (!result)
		return NULL;
	tn_text_init(&text);
	tn_text_format(&text, "%s: %" PRIu64 " calls\n", name ? name : "benchmark", result->n);
	add_times(&text, "host", &result->host);
	add_times(&text, "device", &result->device);
	return tn_text_take(&text);
}
