/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What an operation costs before any work is done: nanoseconds of tn_add_into (an existing array)
 * and of tn_add with tn_array_destroy (a new one each time), on 16 elements, on a backend that does
 * nothing and on those that work.  The smallest of many rounds is printed: dispatch has no work
 * that varies.
 *
 *     make check TESTS= && TENON_BUILD=$PWD bench/dispatch
 */
#include <stdio.h>
#include <stdlib.h>
#include <tenon/array.h>
#include <time.h>

enum { ELEMENTS = 16, ROUNDS = 50, CALLS = 20000 };

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

struct operands {
	tn_array *a, *b, *out, *column;
};

static void into(const struct operands *o)
{
	tn_add_into(o->out, o->a, o->b);
}

static void made(const struct operands *o)
{
	tn_array_destroy(tn_add(o->a, o->b));
}

static void broadcast(const struct operands *o)
{
	tn_add_into(o->out, o->a, o->column);
}

static void summed(const struct operands *o)
{
	tn_array_destroy(tn_sum(o->a, TN_ALL_AXES, NULL, 0));
}

static void multiplied(const struct operands *o)
{
	tn_matmul_into(o->out, o->a, 0, o->b, 0, 1, 0);
}

static const struct {
	const char *name;
	void (*call)(const struct operands *o);
} cases[] = {
	{"tn_add_into", into},
	{"tn_add, tn_array_destroy", made},
	{"tn_add_into, broadcast", broadcast},
	{"tn_sum, tn_array_destroy", summed},
	{"tn_matmul_into", multiplied},
};

static double measure(void (*call)(const struct operands *o), const struct operands *o)
{
	double best = 1e30;
	for (int round = 0; round < ROUNDS; round++) {
		double start = now();
		for (int i = 0; i < CALLS; i++)
			call(o);
		double each = (now() - start) / CALLS;
		best = each < best ? each : best;
	}
	return best;
}

static int run(const char *backend, const char *path)
{
	const int64_t shape[] = {4, 4}, column[] = {4, 1};
	struct tn_context_options options = tn_context_defaults();
	options.backend = backend;
	options.plugin_paths = &path;
	options.n_plugin_paths = path ? 1 : 0;
	struct tn_error_info error = {.struct_size = sizeof(error)};
	struct operands o;
	tn_context *context;
	if (tn_context_open(&options, &context, &error)) {
		printf("%-12s %s\n", backend, error.text);
		return 1;
	}
	o.a = tn_ones(context, TN_F32, 2, shape);
	o.b = tn_ones(context, TN_F32, 2, shape);
	o.out = tn_ones(context, TN_F32, 2, shape);
	o.column = tn_ones(context, TN_F32, 2, column);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		printf("%-12s %-28s %8.1f ns\n", tn_device_name(tn_array_device(o.a)),
		       cases[i].name, measure(cases[i].call, &o));
	if (tn_error(context))
		printf("%-12s %s: %s\n", backend, tn_error(context)->operation,
		       tn_error_text(context));
	tn_context_close(context);
	return 0;
}

int main(void)
{
	const char *build = getenv("TENON_BUILD");
	char null_path[4096], cpu_path[4096];
	snprintf(null_path, sizeof(null_path), "%s/tests/plugins/.libs/backend_null.so",
		 build ? build : ".");
	snprintf(cpu_path, sizeof(cpu_path), "%s/.libs/backend_cpu.so", build ? build : ".");
	int failed = run("null!", null_path);
	run("cpu!", cpu_path);
	run("reference!", NULL);
	return failed;
}
