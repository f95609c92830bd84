/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What benchmark programs have in common at their edges: options, and the lines that bench/compare
 * reads.  Needs nothing but the C library, so that a program of the public interface can use it
 * too.
 *
 *     PROGRAM [--threads N] [--filter TEXT] [--samples N] [--on-demand]
 */
#ifndef TN_BENCH_LINE_H
#define TN_BENCH_LINE_H

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bench_options {
	int threads;        /* 2 */
	int samples;        /* windows of each side, at most BENCH_MOST_SAMPLES; 15 */
	const char *filter; /* cases whose name holds this text; NULL: all */
	int on_demand;      /* one window for each line on stdin */
};

#define BENCH_MOST_SAMPLES 101

/* Reads the options; other arguments stay, from optind on.
 * Leaves the program on a wrong one. */
static inline struct bench_options bench_parse(int argc, char **argv)
{
	static const struct option known[] = {{"threads", required_argument, NULL, 't'},
					      {"samples", required_argument, NULL, 's'},
					      {"filter", required_argument, NULL, 'f'},
					      {"on-demand", no_argument, NULL, 'd'},
					      {NULL, 0, NULL, 0}};
	struct bench_options options = {.threads = 2, .samples = 15};
	int option;
	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (option == 't')
			options.threads = atoi(optarg);
		else if (option == 's')
			options.samples = atoi(optarg);
		else if (option == 'f')
			options.filter = optarg;
		else if (option == 'd')
			options.on_demand = 1;
		else
			exit(2);
	}
	if (options.threads < 1 || options.samples < 1 || options.samples > BENCH_MOST_SAMPLES) {
		fprintf(stderr, "%s: --threads and --samples take small whole numbers\n", argv[0]);
		exit(2);
	}
	return options;
}

static inline int bench_wanted(const struct bench_options *options, const char *name)
{
	return !options->filter || strstr(name, options->filter) != NULL;
}

/* One measured pair.  `unit`: ns, us, ms (less is better), or a rate such as GFLOP/s, GB/s,
 * images/s.  The ratio is above 1 where Tenon is ahead. */
static inline void bench_line(const char *name, const char *unit, double tenon, double rival,
			      const char *rival_name)
{
	int is_time = !strcmp(unit, "ns") || !strcmp(unit, "us") || !strcmp(unit, "ms");
	printf("%s\t%s\t%.4g\t%.4g\t%.3f\t%s\n", name, unit, tenon, rival,
	       is_time ? rival / tenon : tenon / rival, rival_name);
	fflush(stdout);
}

#endif
