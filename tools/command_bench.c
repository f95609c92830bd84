/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench_parts.h"

static const char help[] =
	"usage: tenon bench dispatch|ops|train [options]\n"
	"\n"
	"  dispatch           what one small operation costs from the call to the kernel and back\n"
	"  ops [NAME ...]     operations, beside what the processor can do\n"
	"  train MODEL        training steps: images per second, memory, page faults\n"
	"\n"
	"  Each has its --help.\n";

double bench_seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
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
	} parts[] = {{"dispatch", bench_dispatch}, {"ops", bench_ops}, {"train", bench_train}};
	if (argc > 1 && !strcmp(argv[1], "--help")) {
		fputs(help, stdout);
		return EXIT_DONE;
	}
	for (size_t i = 0; argc > 1 && i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (!strcmp(argv[1], parts[i].name))
			return parts[i].run(argc - 1, argv + 1);
	}
	return usage_error("bench", "expected 'dispatch', 'ops' or 'train'");
}
