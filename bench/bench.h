/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What the benchmarks share: a clock, interleaved samples, and a host for a plugin that is opened from
 * its file.  A benchmark measures Tenon and its peer in turn, in one process, and prints the ratio
 * of the best samples and that of the medians; absolute figures wander with the machine.
 */
#ifndef TN_BENCH_BENCH_H
#define TN_BENCH_BENCH_H

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tenon/backend.h>

#include "base/memory.h"
#include "base/threads.h"

#define BENCH_SAMPLES 15

struct bench_samples {
	double seconds[BENCH_SAMPLES];
	int n;
};

static inline double bench_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline int bench_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Best and median of the samples so far; sorts them. */
static inline double bench_best(struct bench_samples *s)
{
	qsort(s->seconds, (size_t)s->n, sizeof(double), bench_compare);
	return s->seconds[0];
}

static inline double bench_median(struct bench_samples *s)
{
	qsort(s->seconds, (size_t)s->n, sizeof(double), bench_compare);
	return s->seconds[s->n / 2];
}

/* One of the things that are measured in turn. */
struct bench_side {
	void (*run)(void *argument);
	void *argument;
	struct bench_samples samples;
};

static inline double bench_time(const struct bench_side *side, int repeats)
{
	double start = bench_now();
	for (int i = 0; i < repeats; i++)
		side->run(side->argument);
	return (bench_now() - start) / repeats;
}

/* Libraries with threads of their own let them spin for up to 30 ms after a call, on the cores that
 * the other side needs: before each sample they get the time to fall asleep. */
static inline void bench_settle(const struct bench_side *side)
{
	struct timespec pause = {.tv_nsec = 50000000};
	nanosleep(&pause, NULL);
	side->run(side->argument);
}

/* Runs all sides in turn, each sample long enough to be measured and no less than one call. */
static inline void bench_interleave(struct bench_side *sides, int n_sides)
{
	int repeats[8];
	for (int i = 0; i < n_sides; i++) {
		double once = bench_time(&sides[i], 1);
		once = bench_time(&sides[i], 1);
		repeats[i] = once < 0.004 ? (int)(0.004 / once) + 1 : 1;
		sides[i].samples.n = 0;
	}
	for (int sample = 0; sample < BENCH_SAMPLES; sample++) {
		for (int i = 0; i < n_sides; i++) {
			bench_settle(&sides[i]);
			sides[i].samples.seconds[sides[i].samples.n++] =
				bench_time(&sides[i], repeats[i]);
		}
	}
}

/* ---- A host --------------------------------------------------------------------------------- */

struct bench_host {
	struct tn_host host;
	struct tn_threads *threads;
	const struct tn_backend_descriptor *descriptor;
	void *instance, *device;
	const struct tn_device_table *devices;
	const struct tn_compute_table *compute;
};

static inline int32_t bench_log_enabled(void *context, int32_t level, const char *subsystem)
{
	(void)context, (void)subsystem;
	return level <= TN_LOG_NOTICE;
}

static inline void bench_log(void *context, int32_t level, const char *subsystem, const char *text,
			     size_t length)
{
	(void)context, (void)level;
	fprintf(stderr, "%s: %.*s\n", subsystem, (int)length, text);
}

static inline void *bench_alloc(void *context, size_t size, size_t alignment)
{
	(void)context;
	return alignment ? tn_mem_aligned(size, alignment) : tn_mem_alloc(size);
}

static inline void bench_free(void *context, void *memory)
{
	(void)context;
	tn_mem_free(memory);
}

static inline uint32_t bench_thread_count(void *context)
{
	return tn_threads_count(((struct bench_host *)context)->threads);
}

static inline void bench_parallel_for(void *context, uint64_t n, uint64_t grain,
				      void (*body)(void *, uint64_t, uint64_t), void *argument)
{
	tn_parallel_for(((struct bench_host *)context)->threads, n, grain, body, argument);
}

static inline const char *bench_parameter(void *context, const char *name, const char *help)
{
	(void)context, (void)help;
	return getenv(name);
}

/* Opens the plugin NAME of the build tree with `n_threads`; 0: it cannot, and said why.  The caller
 * has set the interpreter's entries. */
static inline int bench_open(struct bench_host *bench, const char *name, unsigned n_threads)
{
	char path[4096];
	struct tn_error_info error = {.struct_size = sizeof(error)};
	const char *build = getenv("TENON_BUILD");
	snprintf(path, sizeof(path), "%s/.libs/backend_%s.so", build ? build : ".", name);
	void *file = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	bench->descriptor = file ? dlsym(file, TN_BACKEND_SYMBOL) : NULL;
	if (!bench->descriptor) {
		fprintf(stderr, "%s\n", dlerror());
		return 0;
	}
	bench->threads = tn_threads_create(n_threads);
	bench->host.struct_size = sizeof(bench->host);
	bench->host.abi_minor = TN_ABI_MINOR;
	bench->host.context = bench;
	bench->host.log_enabled = bench_log_enabled;
	bench->host.log = bench_log;
	bench->host.alloc = bench_alloc;
	bench->host.free = bench_free;
	bench->host.thread_count = bench_thread_count;
	bench->host.parallel_for = bench_parallel_for;
	bench->host.parameter = bench_parameter;
	struct tn_open_args open = {.call = {.struct_size = sizeof(open)}};
	if (!bench->threads ||
	    bench->descriptor->create(&bench->host, &error, &bench->instance) != TN_OK) {
		fprintf(stderr, "%s\n", error.text);
		return 0;
	}
	bench->devices = bench->descriptor->query(bench->instance, TN_TABLE_DEVICE);
	bench->compute = bench->descriptor->query(bench->instance, TN_TABLE_COMPUTE);
	return bench->devices->open(bench->instance, &open, &bench->device) == TN_OK;
}

static inline void bench_close(struct bench_host *bench)
{
	bench->devices->close(bench->device);
	bench->descriptor->destroy(bench->instance);
	tn_threads_destroy(bench->threads);
}

/* A 256-byte aligned block of floats in [-1, 1), in huge pages where it is large. */
float *bench_floats(size_t n);

#endif
