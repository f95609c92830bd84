/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Declarations shared by the parts of `tenon bench`.
 */
#ifndef TENON_TOOLS_BENCH_PARTS_H
#define TENON_TOOLS_BENCH_PARTS_H

#include "tool.h"

int bench_dispatch(int argc, char **argv);
int bench_ops(int argc, char **argv);
int bench_tiers(int argc, char **argv);
int bench_train(int argc, char **argv);

double bench_seconds(void);

/* --threads: sets TENON_THREADS. */
#define BENCH_THREADS_EXPECTED "a whole number from 1 to 256"
int bench_take_threads(void *values, const char *argument);

#define BENCH_MOST_SAMPLES 101

/* Times of one measurement in seconds, sorted by bench_sort. */
struct bench_times {
	double seconds[BENCH_MOST_SAMPLES];
	int n;
};
void bench_sort(struct bench_times *times);

/* The number of threads that the library computes with: TENON_THREADS, or the processors. */
int bench_threads(void);

/* The best of the samples of one measurement, in 1e9 per second. */
struct bench_peak {
	double best;
	double rates[BENCH_MOST_SAMPLES]; /* of the samples */
	int n;
};

/* The processor's peaks with that number of threads: single precision multiply-adds with its widest
 * vectors, and bytes read and written by copies larger than the caches. */
struct bench_peaks {
	int threads;
	struct bench_peak gflops, gbytes;
	char *from, *to;
};

/* Takes a few samples; 0: out of memory. */
int bench_peaks_open(struct bench_peaks *peaks, int threads);
/* Takes one more sample: on a shared machine not every sample reaches the peak. */
void bench_peaks_sample(struct bench_peaks *peaks);
void bench_peaks_close(struct bench_peaks *peaks);
/* Was half of the samples far below the best? */
int bench_peak_varies(const struct bench_peak *peak);

/* Peaks of a device, in 1e9 a second. */
struct bench_rates {
	double gflops, gbytes;
};
/* Measures those of a context's device by products and copies; 0: an error, kept by the context. */
int bench_device_peaks(tn_context *context, struct bench_rates *rates);

/* ---- Trainings -------------------------------------------------------------------------------*/

/* What an epoch, or the first part of one, has to do. */
struct bench_load {
	int is_part;
	uint64_t steps;
	double images;
	double operations; /* multiplications and additions of products and convolutions */
	double bytes;      /* read and written */
};
/* Of a model on `images` of the available pictures, 0 for all of them; prints an error and returns
 * its exit code. */
int bench_load_of(const char *model, const struct tn_model_shape *shape, uint64_t batch,
		  uint64_t images, uint64_t available, struct bench_load *load);

/* ---- Operations ------------------------------------------------------------------------------*/

#define BENCH_MOST_AXES 4

struct bench_case {
	const struct bench_operation *operation;
	int64_t shape[BENCH_MOST_AXES];
	tn_array *x, *y, *z; /* inputs */
};

struct bench_operation {
	const char *name;
	const char *text;
	int rank;                       /* of the shape */
	int64_t shape[BENCH_MOST_AXES]; /* the default shape */
	/* Fills x, y and z of the shape, as far as `run` reads them; 0: an error, kept in the
	 * context. */
	int (*prepare)(struct bench_case *c, tn_context *context);
	tn_array *(*run)(const struct bench_case *c);
	/* The amount per run: floating-point operations, or bytes that must be read and written. */
	double (*operations)(const struct bench_case *c);
	double (*bytes)(const struct bench_case *c);
};

#define BENCH_MOST_OPERATIONS 64

/* By index; NULL past the end. */
const struct bench_operation *bench_operation_at(size_t index);

#endif
