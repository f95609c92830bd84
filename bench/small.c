/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What a small operation costs the host, and how long a fresh process takes to its first result, on
 * the backend of TENON_BACKEND.  Prints lines of name, unit and figure, tab-separated.
 *
 *     bench/small [CALLS]          calls in a round (2000)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tenon/tenon.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 11, ELEMENTS = 16 };

static double now(void)
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

static double median(double *figures)
{
	qsort(figures, ROUNDS, sizeof(*figures), compare);
	return figures[ROUNDS / 2];
}

static tn_context *open_context(void)
{
	struct tn_error_info error = {.struct_size = sizeof(error)};
	tn_context *context = NULL;
	if (tn_context_open(NULL, &context, &error))
		fprintf(stderr, "%s: %s\n", error.operation, error.text);
	return context;
}

/* A program, a sum and a product, fetched. */
static int first_result(void)
{
	tn_context *context = open_context();
	double value = 0;
	if (!context)
		return 1;
	tn_array *x = tn_ones(context, TN_F32, 2, (int64_t[]){ELEMENTS, ELEMENTS});
	tn_array *y = tn_map("z = 2*x + 1", 1, (const char *[]){"x"}, (const tn_array *[]){x}, 0,
			     NULL, NULL);
	tn_status status = tn_item(tn_sum(tn_matmul(x, y), TN_ALL_AXES, NULL, 0), &value);
	if (status)
		fprintf(stderr, "%s\n", tn_error_text(context));
	tn_context_close(context);
	return status || value != 3.0 * ELEMENTS * ELEMENTS * ELEMENTS;
}

/* Seconds of a process of its own; 0: it failed. */
static double time_first(const char *program)
{
	int status = 1;
	double start = now();
	pid_t pid = fork();
	if (pid == 0) {
		execl(program, program, "--first", (char *)NULL);
		_exit(1);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		return 0;
	return now() - start;
}

static int measure_first(void)
{
	double seconds[ROUNDS];
	(void)time_first("/proc/self/exe"); /* fills the cache of compiled kernels */
	for (int i = 0; i < ROUNDS; i++)
		if ((seconds[i] = time_first("/proc/self/exe")) == 0)
			return 0;
	printf("first result of a process\tms\t%.4g\n", 1e3 * median(seconds));
	return 1;
}

static int measure_dispatch(int calls)
{
	tn_context *context = open_context();
	const int64_t n = ELEMENTS;
	double seconds[ROUNDS];
	if (!context)
		return 0;
	tn_array *a = tn_ones(context, TN_F32, 1, &n), *c = tn_zeros(context, TN_F32, 1, &n);
	tn_add_into(c, a, a);
	for (int round = 0; round < ROUNDS && !tn_synchronize(context); round++) {
		double start = now();
		for (int i = 0; i < calls; i++)
			tn_add_into(c, a, a);
		seconds[round] = (now() - start) / calls;
	}
	int good = !tn_synchronize(context) && !tn_error(context);
	if (good)
		printf("dispatch of a small add\tus\t%.4g\n", 1e6 * median(seconds));
	else if (tn_error(context))
		fprintf(stderr, "%s\n", tn_error_text(context));
	tn_context_close(context);
	return good;
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "--first"))
		return first_result();
	int calls = argc > 1 ? atoi(argv[1]) : 2000;
	if (calls < 1) {
		fprintf(stderr, "usage: bench/small [CALLS]\n");
		return 2;
	}
	int good = measure_first();
	return !(measure_dispatch(calls) && good);
}
