/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * tenon bench dispatch: the time of small calls, into existing arrays and into new ones.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_parts.h"

static const char about[] =
	"  Nanoseconds from a call to the backend's kernel and back, for one small\n"
	"  addition: into an existing array, and into a new one that is freed again.\n";

#define ROUNDS 21
#define CALLS 20000

/* Prints the best and the median time of the rounds. */
static void print_times(const char *what, struct bench_times *times)
{
	bench_sort(times);
	printf("%-28s best %7.1f ns  median %7.1f ns\n", what, 1e9 * times->seconds[0],
	       1e9 * times->seconds[ROUNDS / 2]);
}

static void bench_into(tn_array *c, const tn_array *a, const tn_array *b)
{
	struct bench_times times = {.n = ROUNDS};
	for (int round = 0; round < ROUNDS; round++) {
		double start = bench_seconds();
		for (int i = 0; i < CALLS; i++)
			tn_add_into(c, a, b);
		times.seconds[round] = (bench_seconds() - start) / CALLS;
	}
	print_times("add into an existing array", &times);
}

static void bench_new(const tn_array *a, const tn_array *b)
{
	struct bench_times times = {.n = ROUNDS};
	for (int round = 0; round < ROUNDS; round++) {
		double start = bench_seconds();
		for (int i = 0; i < CALLS; i++)
			tn_array_destroy(tn_add(a, b));
		times.seconds[round] = (bench_seconds() - start) / CALLS;
	}
	print_times("add into a new array", &times);
}

static int dispatch(const struct common_options *common, int64_t elements)
{
	int code;
	tn_context *context = open_context(common, TN_SEED_FROM_ENVIRONMENT, &code);
	if (!context)
		return code;
	tn_array *a = tn_ones(context, TN_F32, 1, &elements),
		 *b = tn_ones(context, TN_F32, 1, &elements);
	tn_array *c = tn_zeros(context, TN_F32, 1, &elements);
	if (c) {
		printf("%s, %lld elements\n", tn_device_name(tn_device_current(context)),
		       (long long)elements);
		bench_into(c, a, b);
		bench_new(a, b);
	}
	code = finish(context);
	tn_context_close(context);
	return code;
}

int bench_dispatch(int argc, char **argv)
{
	struct common_options common = {0};
	uint64_t elements = 1;
	const struct option_row rows[] = {
		{"elements", "N", "length of the arrays (1)", .count = &elements, .lowest = 1,
		 .highest = 1u << 30},
		{"backend", "NAME", "as TENON_BACKEND", .text = &common.backend},
		{"backend-option", "N=V", backend_option_help, .take = take_backend_option,
		 .values = &common, .expected = backend_option_form},
	};
	const struct option_table table = {"tenon bench dispatch", "",   about, rows,
					   N_ROWS(rows),           NULL, 0};
	int code = option_table_read(&table, argc, argv);
	if (code != OPTIONS_READ)
		return code;
	if (argc != optind)
		return usage_error("bench dispatch", "unexpected '%s'", argv[optind]);
	return dispatch(&common, (int64_t)elements);
}
