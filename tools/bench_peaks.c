/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
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
#define MOST_THREADS 256
#define COPY_BYTES ((size_t)64 << 20) /* of each of the two arrays; all threads together */

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

/* Seconds of all workers at once. */
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

static double best_of(struct worker *workers, int n)
{
	double best = together(workers, n);
	for (int i = 1; i < SAMPLES; i++) {
		double seconds = together(workers, n);
		best = seconds < best ? seconds : best;
	}
	return best;
}

double bench_peak_gflops(int threads)
{
	static struct worker workers[MOST_THREADS];
	int lanes;
	multiply_add run = widest(&lanes);
	memset(workers, 0, sizeof(workers));
	for (int i = 0; i < threads; i++)
		workers[i].run = run;
	return 2e-9 * lanes * CHAINS * ROUNDS * threads / best_of(workers, threads);
}

double bench_peak_gbytes(int threads)
{
	static struct worker workers[MOST_THREADS];
	size_t part = COPY_BYTES / (size_t)threads;
	char *from = malloc(COPY_BYTES), *to = malloc(COPY_BYTES);
	double rate = 0.0;
	memset(workers, 0, sizeof(workers));
	if (from && to) {
		memset(from, 1, COPY_BYTES);
		memset(to, 2, COPY_BYTES);
		for (int i = 0; i < threads; i++)
			workers[i] = (struct worker){.to = to + (size_t)i * part,
						     .from = from + (size_t)i * part,
						     .bytes = part};
		rate = 2e-9 * (double)part * threads / best_of(workers, threads);
	}
	free(from);
	free(to);
	return rate;
}
