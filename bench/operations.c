/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Operations of the public interface, each into a new array, on demand: for each line on standard
 * input, such as "add 2000x2000" (`tenon bench ops --list` has the names), it measures one window
 * of a fiftieth of a second and prints microseconds a call.  bench/compare takes turns with NumPy
 * and PyTorch.
 *
 *     tests/with-plugins bench/operations
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench_parts.h"

#define WINDOW 0.02

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* "add 20x30": fills the case; 0: not one. */
static int parse(char *line, struct bench_case *c)
{
	char *rest, *name = strtok_r(line, " \n", &rest);
	*c = (struct bench_case){.operation = NULL};
	for (size_t i = 0; name && (c->operation = bench_operation_at(i)); i++) {
		if (!strcmp(c->operation->name, name))
			break;
	}
	for (int i = 0; c->operation && i < c->operation->rank; i++) {
		char *length = strtok_r(NULL, "x\n", &rest);
		c->shape[i] = length ? strtoll(length, NULL, 10) : 0;
		if (c->shape[i] < 1)
			return 0;
	}
	return c->operation != NULL;
}

/* Microseconds a call; 0: an error, which the context keeps. */
static double window(const struct bench_case *c, tn_context *context)
{
	double start = now(), seconds;
	int calls = 0;
	do {
		tn_array *result = c->operation->run(c);
		if (!result || tn_synchronize(context))
			return 0.0;
		tn_array_destroy(result);
		calls++;
		seconds = now() - start;
	} while (seconds < WINDOW);
	return 1e6 * seconds / calls;
}

static void release(struct bench_case *c)
{
	tn_array_destroy(c->x);
	tn_array_destroy(c->y);
	tn_array_destroy(c->z);
}

/* The inputs of the last case are kept for the next line, which is mostly the same. */
static int serve(tn_context *context)
{
	char line[128], last[128] = "";
	struct bench_case c = {.operation = NULL};
	double microseconds = 1.0;
	while (microseconds > 0.0 && fgets(line, sizeof(line), stdin)) {
		if (strcmp(line, last) != 0) {
			memcpy(last, line, sizeof(last));
			release(&c);
			if (!parse(line, &c) || !c.operation->prepare(&c, context) ||
			    window(&c, context) == 0.0)
				break;
		}
		microseconds = window(&c, context);
		printf("%.3f\n", microseconds);
		fflush(stdout);
	}
	int done = feof(stdin);
	release(&c);
	return done;
}

int main(void)
{
	tn_context *context;
	struct tn_error_info error;
	if (tn_context_open(NULL, &context, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	int done = serve(context);
	if (!done)
		fprintf(stderr, "%s\n", tn_error_text(context));
	tn_context_close(context);
	return !done;
}
