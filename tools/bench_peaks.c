/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Measures what the processor can do at best: multiply-adds and copied bytes a second, on all
 * threads.
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bench_parts.h"

#define ROUNDS 1000000
#define CHAINS 10
#define SAMPLES 7
#define LEAST_OF_BEST 0.8
#define MOST_THREADS 256
#define COPY_BYTES ((size_t)64 << 20) /* of each of the two arrays, summed over all threads */

#if defined(__x86_64__)
#define PEAK_LANES 8
#define PEAK_NAME(name) name##_avx2
#define PEAK_TARGET __attribute__((target("avx2,fma")))
#include "peaks_type.h"

#define PEAK_LANES 16
#define PEAK_NAME(name) name##_avx512
#define PEAK_TARGET __attribute__((target("avx512f")))
#include "peaks_type.h"
#endif

#define PEAK_LANES 4
#define PEAK_NAME(name) name##_base
#define PEAK_TARGET
#include "peaks_type.h"

typedef void (*multiply_add)(void *argument, uint64_t begin, uint64_t end);

static multiply_add widest(int *lanes)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx512f")) {
		*lanes = 16;
		return run_avx512;
	}
	if (__builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2")) {
		*lanes = 8;
		return run_avx2;
	}
#endif
	*lanes = 4;
	return run_base;
}

int bench_threads(void)
{
	const char *asked = tool_environment("TENON_THREADS");
	cpu_set_t set;
	uint64_t n = 1;
	if (!asked || !parse_count(asked, 1, MOST_THREADS, &n))
		n = sched_getaffinity(0, sizeof(set), &set) ? 1 : (uint64_t)CPU_COUNT(&set);
	return n > MOST_THREADS ? MOST_THREADS : (int)n;
}

struct worker {
	pthread_t thread;
	int started;
	multiply_add run;
	float result[1];
	char *to, *from;
	size_t bytes;
};

static void *work(void *argument)
{
	struct worker *w = argument;
	if (w->run)
		w->run(w->result, 0, 1);
	else
		memcpy(w->to, w->from, w->bytes);
	return NULL;
}

/* The time in seconds of all workers running at once. */
static double together(struct worker *workers, int n)
{
	double start = bench_seconds();
	for (int i = 1; i < n; i++)
		workers[i].started = !pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	work(&workers[0]);
	for (int i = 1; i < n; i++) {
		if (workers[i].started)
			pthread_join(workers[i].thread, NULL);
		else
			work(&workers[i]);
	}
	return bench_seconds() - start;
}

static double sample_gflops(int threads)
{
	static struct worker workers[MOST_THREADS];
	int lanes;
	multiply_add run = widest(&lanes);
	memset(workers, 0, sizeof(workers));
	for (int i = 0; i < threads; i++)
		workers[i].run = run;
	return 2e-9 * lanes * CHAINS * ROUNDS * threads / together(workers, threads);
}

static double sample_gbytes(const struct bench_peaks *peaks)
{
	static struct worker workers[MOST_THREADS];
	size_t part = COPY_BYTES / (size_t)peaks->threads;
	memset(workers, 0, sizeof(workers));
	for (int i = 0; i < peaks->threads; i++)
		workers[i] = (struct worker){.to = peaks->to + (size_t)i * part,
					     .from = peaks->from + (size_t)i * part,
					     .bytes = part};
	return 2e-9 * (double)part * peaks->threads / together(workers, peaks->threads);
}

static void add(struct bench_peak *peak, double rate)
{
	if (peak->n < BENCH_MOST_SAMPLES)
		peak->rates[peak->n++] = rate;
	peak->best = rate > peak->best ? rate : peak->best;
}

int bench_peaks_open(struct bench_peaks *peaks, int threads)
{
	*peaks = (struct bench_peaks){
		.threads = threads, .from = malloc(COPY_BYTES), .to = malloc(COPY_BYTES)};
	if (!peaks->from || !peaks->to)
		return 0;
	memset(peaks->from, 1, COPY_BYTES);
	memset(peaks->to, 2, COPY_BYTES);
	for (int i = 0; i < SAMPLES; i++)
		bench_peaks_sample(peaks);
	return 1;
}

void bench_peaks_sample(struct bench_peaks *peaks)
{
	add(&peaks->gflops, sample_gflops(peaks->threads));
	add(&peaks->gbytes, sample_gbytes(peaks));
}

void bench_peaks_close(struct bench_peaks *peaks)
{
	free(peaks->from);
	free(peaks->to);
}

int bench_peak_varies(const struct bench_peak *peak)
{
	int below = 0;
	for (int i = 0; i < peak->n; i++)
		below += peak->rates[i] < LEAST_OF_BEST * peak->best;
	return 2 * below > peak->n;
}
