/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What the machine can do, to be measured beside everything else: multiply-adds on each level,
 * copies past the caches and within the last one, and one round through the pool of threads.
 *
 *     bench/peaks [--samples N] [--on-demand]
 *
 * Prints a line a figure, name<TAB>unit<TAB>value: the best of the samples.  --on-demand: for each
 * line on standard input a round of one sample, ended by an empty line.
 */
#include <stdatomic.h>

#include "bench.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define CHAINS                                                                                     \
	10 /* multiply-adds in flight: latency times units, and no more than 16 registers hold */
#define ROUNDS 20000
#define PIECES 16
#define DRAM_BYTES ((size_t)96 << 20) /* of each of the two arrays */
#define L3_BYTES ((size_t)3 << 20)

#if defined(__x86_64__)
#define PEAK_LANES 8
#define PEAK_NAME(name) name##_avx2
#define PEAK_TARGET __attribute__((target("avx2,fma")))
#include "../tools/peaks_type.h"

#define PEAK_LANES 16
#define PEAK_NAME(name) name##_avx512
#define PEAK_TARGET __attribute__((target("avx512f")))
#include "../tools/peaks_type.h"
#endif

#define PEAK_LANES 4
#define PEAK_NAME(name) name##_base
#define PEAK_TARGET
#include "../tools/peaks_type.h"

static struct tn_threads *pools[3]; /* by the number of threads */
static char *from, *to;
static float results[PIECES];

struct peak {
	char name[48];
	const char *unit;
	double (*measure)(const struct peak *peak);
	int threads;
	double amount; /* in 1e9: operations or bytes of a sample */
	size_t bytes;
	void (*body)(void *argument, uint64_t begin, uint64_t end);
	double best;
};

static double seconds_of(const struct peak *peak, uint64_t n, uint64_t grain, void *argument)
{
	double start = bench_now();
	tn_parallel_for(pools[peak->threads], n, grain, peak->body, argument);
	return bench_now() - start;
}

static double arithmetic(const struct peak *peak)
{
	return peak->amount / seconds_of(peak, PIECES, 1, results);
}

static void copy_plain(void *argument, uint64_t begin, uint64_t end)
{
	(void)argument;
	memcpy(to + begin, from + begin, end - begin);
}

/* Writes lines without reading them first. */
static void copy_streaming(void *argument, uint64_t begin, uint64_t end)
{
#if defined(__x86_64__)
	(void)argument;
	for (uint64_t i = begin; i < end; i += sizeof(__m128i))
		_mm_stream_si128((__m128i *)(void *)(to + i),
				 _mm_load_si128((const __m128i *)(const void *)(from + i)));
	_mm_sfence();
#else
	copy_plain(argument, begin, end);
#endif
}

static double copying(const struct peak *peak)
{
	uint64_t grain = peak->bytes / (uint64_t)peak->threads;
	int repeats = (int)(DRAM_BYTES / peak->bytes);
	double start = bench_now();
	for (int i = 0; i < repeats; i++)
		tn_parallel_for(pools[peak->threads], peak->bytes, grain, peak->body, NULL);
	return 2e-9 * (double)peak->bytes * repeats / (bench_now() - start);
}

/* Waits until both threads are here. */
static void meet(void *argument, uint64_t begin, uint64_t end)
{
	atomic_int *here = argument;
	atomic_fetch_add(here, (int)(end - begin));
	while (atomic_load(here) % 2)
		;
}

/* Microseconds until a worker that is awake has taken its piece and the caller knows that it is
 * done. */
static double forking(const struct peak *peak)
{
	enum { N = 500 };
	atomic_int here = 0;
	double start = bench_now();
	for (int i = 0; i < N; i++)
		tn_parallel_for(pools[peak->threads], 2, 1, peak->body, &here);
	return 1e6 * (bench_now() - start) / N;
}

static int n_peaks;
static struct peak peaks[24];

static struct peak *add(const char *what, const char *unit, int threads)
{
	struct peak *peak = &peaks[n_peaks++];
	*peak = (struct peak){.unit = unit, .threads = threads};
	snprintf(peak->name, sizeof(peak->name), "%s, %d thread%s", what, threads,
		 threads > 1 ? "s" : "");
	return peak;
}

static void add_arithmetic(const char *what, int lanes, int threads,
			   void (*body)(void *argument, uint64_t begin, uint64_t end))
{
	struct peak *peak = add(what, "GFLOP/s", threads);
	peak->measure = arithmetic;
	peak->body = body;
	peak->amount = 2e-9 * lanes * CHAINS * ROUNDS * PIECES;
}

static void add_copy(const char *what, size_t bytes, int threads,
		     void (*body)(void *argument, uint64_t begin, uint64_t end))
{
	struct peak *peak = add(what, "GB/s", threads);
	peak->measure = copying;
	peak->body = body;
	peak->bytes = bytes;
}

static void list_peaks(void)
{
	for (int threads = 1; threads <= 2; threads++) {
#if defined(__x86_64__)
		if (__builtin_cpu_supports("avx512f"))
			add_arithmetic("multiply-add AVX-512", 16, threads, run_avx512);
		if (__builtin_cpu_supports("fma"))
			add_arithmetic("multiply-add AVX2", 8, threads, run_avx2);
#endif
		add_arithmetic("multiply-add 128 bits", 4, threads, run_base);
		add_copy("copy DRAM", DRAM_BYTES, threads, copy_plain);
		add_copy("copy DRAM streaming", DRAM_BYTES, threads, copy_streaming);
		add_copy("copy L3", L3_BYTES, threads, copy_plain);
	}
	struct peak *fork_join = add("fork and join", "us", 2);
	fork_join->measure = forking;
	fork_join->body = meet;
}

static void sample_all(int first)
{
	for (int i = 0; i < n_peaks; i++) {
		double value = peaks[i].measure(&peaks[i]);
		int better = !strcmp(peaks[i].unit, "us") ? value < peaks[i].best
							  : value > peaks[i].best;
		if (first || better)
			peaks[i].best = value;
	}
}

static void print_all(void)
{
	for (int i = 0; i < n_peaks; i++)
		printf("%s\t%s\t%.4g\n", peaks[i].name, peaks[i].unit, peaks[i].best);
}

static void on_demand(void)
{
	char line[64];
	while (fgets(line, sizeof(line), stdin)) {
		sample_all(1);
		print_all();
		printf("\n");
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	struct bench_options options = bench_parse(argc, argv);
	bench_clock = CLOCK_MONOTONIC;
	pools[1] = tn_threads_create(1);
	pools[2] = tn_threads_create(2);
	from = (char *)bench_floats(DRAM_BYTES / sizeof(float));
	to = (char *)bench_floats(DRAM_BYTES / sizeof(float));
	list_peaks();
	sample_all(1); /* warm */
	if (options.on_demand) {
		on_demand();
	} else {
		for (int i = 0; i < options.samples; i++)
			sample_all(i == 0);
		print_all();
	}
	tn_mem_free(from);
	tn_mem_free(to);
	tn_threads_destroy(pools[2]);
	tn_threads_destroy(pools[1]);
	return 0;
}
