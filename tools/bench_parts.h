/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What the parts of `tenon bench` share.
 */
#ifndef TENON_TOOLS_BENCH_PARTS_H
#define TENON_TOOLS_BENCH_PARTS_H

#include "tool.h"

int bench_dispatch(int argc, char **argv);
int bench_ops(int argc, char **argv);
int bench_train(int argc, char **argv);

double bench_seconds(void);

/* --threads: sets TENON_THREADS. */
#define BENCH_THREADS_EXPECTED "a whole number from 1 to 256"
int bench_take_threads(void *values, const char *argument);

#define BENCH_MOST_SAMPLES 101

/* Times of one thing in seconds, sorted by bench_sort. */
struct bench_times {
	double seconds[BENCH_MOST_SAMPLES];
	int n;
};
void bench_sort(struct bench_times *times);

/* One thread for each that the library computes on: TENON_THREADS, else the processors. */
int bench_threads(void);

/* What the processor can do with so many threads, best of a few samples: single precision multiply-adds
 * with its widest vectors, and bytes read and written by copies past the caches.  0: out of memory. */
double bench_peak_gflops(int threads);
double bench_peak_gbytes(int threads);

/* ---- Operations ------------------------------------------------------------------------------- */

#define BENCH_MOST_AXES 4

struct bench_case {
	const struct bench_operation *operation;
	int64_t shape[BENCH_MOST_AXES];
	tn_array *x, *y; /* inputs */
};

struct bench_operation {
	const char *name;
	const char *text;
	int rank;                       /* of the shape */
	int64_t shape[BENCH_MOST_AXES]; /* unless the user gives one */
	/* Fills x and y of the shape; 0: an error, which the context keeps. */
	int (*prepare)(struct bench_case *c, tn_context *context);
	tn_array *(*run)(const struct bench_case *c);
	/* Of a run: floating-point operations, or else bytes that must be read and written. */
	double (*operations)(const struct bench_case *c);
	double (*bytes)(const struct bench_case *c);
};

#define BENCH_MOST_OPERATIONS 64

/* By index; NULL past the end. */
const struct bench_operation *bench_operation_at(size_t index);

#endif
