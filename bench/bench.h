/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What the benchmarks share: a clock, interleaved samples, and a host for a plugin that is opened
 * from its file.  A benchmark measures Tenon and its peer in turn, in one process, and prints the
 * ratio of the best samples and that of the medians; absolute figures wander with the machine.
 */
#ifndef TN_BENCH_BENCH_H
#define TN_BENCH_BENCH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tenon/backend.h>

#include "line.h"
#include "median.h"

#include "base/memory.h"
#include "base/threads.h"
#include "loader/host.h"

struct bench_samples {
	double seconds[BENCH_MOST_SAMPLES];
	int n;
};

/* One thread is timed by the processor time of the process, which others do not lengthen. */
extern clockid_t bench_clock;
/* Before each sample; 50 ms. */
extern struct timespec bench_pause;

static inline double bench_now(void)
{
	struct timespec t;
	clock_gettime(bench_clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Best and median of the samples so far; sorts them. */
static inline double bench_best(struct bench_samples *s)
{
	qsort(s->seconds, (size_t)s->n, sizeof(double), bench_compare);
	return s->seconds[0];
}

static inline double bench_median(struct bench_samples *s)
{
	return bench_median_of(s->seconds, s->n);
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

/* Libraries with threads of their own let them spin after a call, on the cores that the other side
 * needs (OpenMP's for 30 ms, OpenBLAS's for 100): before each sample they get the time to fall
 * asleep.  Then this side works until its own threads are awake: the system may take 10 ms to run a
 * thread that slept. */
static inline void bench_settle(const struct bench_side *side)
{
	nanosleep(&bench_pause, NULL);
	double start = bench_now();
	do
		side->run(side->argument);
	while (bench_now() - start < 0.015);
}

#define BENCH_SAMPLES 41
#define BENCH_MOST_SIDES 8

/* Runs all sides in turn, `n_samples` times, each sample long enough to be measured and no less
 * than one call. */
static inline void bench_interleave_n(struct bench_side *sides, int n_sides, int n_samples)
{
	int repeats[BENCH_MOST_SIDES];
	for (int i = 0; i < n_sides; i++) {
		double once = bench_time(&sides[i], 1);
		once = bench_time(&sides[i], 1);
		repeats[i] = once < 0.001 ? (int)(0.001 / once) + 1 : 1;
		sides[i].samples.n = 0;
	}
	for (int sample = 0; sample < n_samples; sample++) {
		for (int i = 0; i < n_sides; i++) {
			bench_settle(&sides[i]);
			sides[i].samples.seconds[sides[i].samples.n++] =
				bench_time(&sides[i], repeats[i]);
		}
	}
}

static inline void bench_interleave(struct bench_side *sides, int n_sides)
{
	bench_interleave_n(sides, n_sides, BENCH_SAMPLES);
}

/* ---- A plugin, opened as the library does ---------------------------------------------------- */

struct bench_backend {
	struct tn_logger logger;
	struct tn_parameters parameters;
	struct tn_threads *threads;
	struct tn_host_services *services;
	struct tn_plugin plugin; /* its options */
	const struct tn_backend_descriptor *descriptor;
	void *instance, *device;
	const struct tn_device_table *devices;
	const struct tn_compute_table *compute;
};

/* Opens backend_NAME.so of the build tree (TENON_BUILD, else where it is run) with `n_threads`; 0:
 * it cannot, and said why. */
int bench_open(struct bench_backend *backend, const char *name, unsigned n_threads);
void bench_close(struct bench_backend *backend);

/* A 256-byte aligned block of floats in [-1, 1), in huge pages where it is large. */
float *bench_floats(size_t n);

#endif
