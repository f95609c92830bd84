/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * tenon bench: chooses the benchmark, and what benchmarks share.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench_parts.h"

static const char about[] =
	"  dispatch           cost of a small operation, from call to kernel and back\n"
	"  ops [NAME ...]     speed of operations, relative to the processor's peak\n"
	"  tiers [MODEL ...]  one epoch on every backend, and what explains its time\n"
	"  train MODEL        training steps: images per second, memory, page faults\n"
	"\n"
	"  Each has its own --help.\n";

double bench_seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int bench_take_threads(void *values, const char *argument)
{
	uint64_t threads;
	(void)values;
	return parse_count(argument, 1, 256, &threads) && !setenv("TENON_THREADS", argument, 1);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

void bench_sort(struct bench_times *times)
{
	qsort(times->seconds, (size_t)times->n, sizeof(*times->seconds), compare);
}

int command_bench(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int argc, char **argv);
	} parts[] = {{"dispatch", bench_dispatch},
		     {"ops", bench_ops},
		     {"tiers", bench_tiers},
		     {"train", bench_train}};
	const struct option_table table = {
		.command = "tenon bench", .operands = "dispatch|ops|tiers|train", .about = about};
	const char *names[N_ROWS(parts)];
	char hint[80];
	for (size_t i = 0; i < N_ROWS(parts); i++) {
		names[i] = parts[i].name;
		if (argc > 1 && !strcmp(argv[1], parts[i].name))
			return parts[i].run(argc - 1, argv + 1);
	}
	int code = option_table_read(&table, argc, argv);
	if (code != OPTIONS_READ)
		return code;
	if (optind == argc)
		return usage_error("bench", "expected dispatch, ops, tiers or train");
	return usage_error("bench", "expected dispatch, ops, tiers or train, found '%s'%s",
			   argv[optind],
			   did_you_mean(argv[optind], names, N_ROWS(parts), hint, sizeof(hint)));
}
