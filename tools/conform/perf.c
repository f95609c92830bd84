/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * --mode=perf: times operations on the device as programs use them, next to the built-in backend
 * and the CPU backend.  Medians of synchronised calls, after a first one that counts only if it
 * took more than a second; each figure takes about a fifth of a second.
 */
#include <fnmatch.h>
#include <jansson.h>
#include <stdio.h>
#include <time.h>

#include "modes.h"
#include "layers/conv2d.h"
#include "layers/softmax.h"
#include "layers/window.h"

enum { MOST_CALLS = 200, MIB = 1 << 20 };

/* The operands of one figure. */
struct operands {
	tn_context *context;
	tn_array *a, *b;
	void *host;
	size_t size;
};

static void run_upload(const struct operands *o)
{
	int64_t n = (int64_t)(o->size / sizeof(float));
	tn_from_host(o->context, TN_F32, 1, &n, o->host);
}

static void run_download(const struct operands *o)
{
	(void)!tn_to_host(o->a, o->host, o->size);
}

static void run_copy(const struct operands *o)
{
	tn_copy(o->a);
}

static void run_add(const struct operands *o)
{
	tn_add(o->a, o->b);
}

static void run_exp(const struct operands *o)
{
	tn_exp(o->a);
}

static void run_sum_rows(const struct operands *o)
{
	const int axis = 1;
	tn_sum(o->a, 1, &axis, 0);
}

static void run_sum_columns(const struct operands *o)
{
	const int axis = 0;
	tn_sum(o->a, 1, &axis, 0);
}

static void run_sum_all(const struct operands *o)
{
	const int axes[] = {0, 1};
	tn_sum(o->a, 2, axes, 0);
}

static void run_softmax(const struct operands *o)
{
	tn_softmax_forward(o->a, 1, 0);
}

static void run_matmul(const struct operands *o)
{
	tn_matmul(o->a, o->b);
}

static void run_conv2d(const struct operands *o)
{
	const struct tn_window window = {.padding = {1, 1, 1, 1}};
	tn_conv2d_forward(o->a, o->b, NULL, &window);
}

/* The least number of bytes moved or operations done, for any implementation. */
static const struct operation {
	const char *name;
	void (*run)(const struct operands *operands);
	int rank;
	int64_t a[4], b[4]; /* b[0] 0: no b */
	double bytes, flops;
} operations[] = {
	{"upload 16 MiB", run_upload, 1, {4 * MIB}, {0}, 16.0 * MIB, 0},
	{"download 16 MiB", run_download, 1, {4 * MIB}, {0}, 16.0 * MIB, 0},
	{"copy 2048^2", run_copy, 2, {2048, 2048}, {0}, 32.0 * MIB, 0},
	{"add 2048^2", run_add, 2, {2048, 2048}, {2048, 2048}, 48.0 * MIB, 0},
	{"exp 2048^2", run_exp, 2, {2048, 2048}, {0}, 32.0 * MIB, 0},
	{"sum rows 2048^2", run_sum_rows, 2, {2048, 2048}, {0}, 16.0 * MIB, 0},
	{"sum columns 2048^2", run_sum_columns, 2, {2048, 2048}, {0}, 16.0 * MIB, 0},
	{"sum all 2048^2", run_sum_all, 2, {2048, 2048}, {0}, 16.0 * MIB, 0},
	{"softmax 2048^2", run_softmax, 2, {2048, 2048}, {0}, 32.0 * MIB, 0},
	{"add 16^2", run_add, 2, {16, 16}, {16, 16}, 3072, 0},
	{"matmul 128", run_matmul, 2, {128, 128}, {128, 128}, 0, 2.0 * 128 * 128 * 128},
	{"matmul 512", run_matmul, 2, {512, 512}, {512, 512}, 0, 2.0 * 512 * 512 * 512},
	{"matmul 1024", run_matmul, 2, {1024, 1024}, {1024, 1024}, 0, 2.0 * 1024 * 1024 * 1024},
	{"conv2d 8x32x28x28 3x3",
	 run_conv2d,
	 4,
	 {8, 32, 28, 28},
	 {32, 32, 3, 3},
	 0,
	 2.0 * 8 * 32 * 28 * 28 * 32 * 9},
};
enum { N_OPERATIONS = sizeof(operations) / sizeof(operations[0]) };

struct figure {
	double seconds; /* 0: not measured */
	char route[16];
};

/* ---- In the child ----------------------------------------------------------------------------*/

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Makes one synchronised call in its own scope. */
static double call(struct kit *kit, const struct operation *operation,
		   const struct operands *operands)
{
	tn_context *context = operands->context;
	if (tn_scope_begin(context))
		kit_give_up(kit, "%s", tn_error_text(context));
	double begin = now();
	operation->run(operands);
	tn_synchronize(context);
	double end = now();
	if (tn_error(context))
		kit_give_up(kit, "%s", tn_error_text(context));
	tn_scope_end(context, NULL);
	return end - begin;
}

static double median(struct kit *kit, const struct operation *operation,
		     const struct operands *operands)
{
	double times[MOST_CALLS], whole = 0;
	size_t n = 0;
	double first = call(kit, operation, operands);
	if (first > 1)
		return first;
	tn_ledger_reset(operands->context);
	while (n < MOST_CALLS && (n < 1 || whole < 0.2)) {
		times[n] = call(kit, operation, operands);
		whole += times[n++];
	}
	qsort(times, n, sizeof(times[0]), by_size);
	return times[n / 2];
}

static tn_array *noise(struct kit *kit, tn_context *context, int rank, const int64_t *shape)
{
	tn_array *array = tn_random_uniform(context, rank, shape, 0, 1);
	if (!array)
		kit_give_up(kit, "%s", tn_error_text(context));
	return array;
}

static void measure_one(struct kit *kit, const struct operation *operation)
{
	tn_context *context = kit_context(kit);
	struct operands operands = {.context = context};
	kit_case(kit, KIT_CONTEXT, "%s", operation->name);
	if (tn_scope_begin(context))
		kit_give_up(kit, "%s", tn_error_text(context));
	operands.a = noise(kit, context, operation->rank, operation->a);
	operands.b =
		operation->b[0] ? noise(kit, context, operation->rank, operation->b) : operands.a;
	operands.size = (size_t)tn_array_size(operands.a) * sizeof(float);
	operands.host = calloc(1, operands.size);
	if (!operands.host)
		kit_give_up(kit, "the kit is out of memory");
	tn_ledger_reset(context);
	double seconds = median(kit, operation, &operands);
	kit_remark(kit, "%s|%.9g|%s", operation->name, seconds, route_names[mode_route(context)]);
	free(operands.host);
	tn_scope_end(context, NULL);
	kit_pass(kit);
}

static const char *filter; /* inherited by the child */

static void measure(struct kit *kit)
{
	for (size_t i = 0; i < N_OPERATIONS; i++) {
		if (!filter || !fnmatch(filter, operations[i].name, 0))
			measure_one(kit, &operations[i]);
	}
	kit_contexts_close();
}

/* ---- In the parent ---------------------------------------------------------------------------*/

static void take(const struct run *run, struct figure *figures)
{
	const struct result *result = &run->results[0];
	for (size_t i = 0; i < result->n_remarks; i++) {
		const char *line = result->remarks[i];
		for (size_t j = 0; j < N_OPERATIONS; j++) {
			size_t length = strlen(operations[j].name);
			if (!strncmp(line, operations[j].name, length) && line[length] == '|')
				sscanf(line + length + 1, "%lf|%15s", &figures[j].seconds,
				       figures[j].route);
		}
	}
}

static int collect(const struct options *options, struct figure *figures)
{
	static const struct check what = {"mode.perf", 0, "operations are timed", measure};
	struct run run;
	int status = mode_run(&run, options, &what);
	take(&run, figures);
	mode_end(&run);
	return status;
}

/* "12.3 GB/s" */
static double rate(const struct operation *operation, double seconds)
{
	return (operation->flops ? operation->flops : operation->bytes) / seconds * 1e-9;
}

static void print_ratio(const struct figure *own, const struct figure *other)
{
	if (other->seconds > 0)
		printf("%11.2fx", other->seconds / own->seconds);
	else
		printf("%12s", "-");
}

static void print_table(const struct figure *own, const struct figure *reference,
			const struct figure *cpu)
{
	printf("%-24s%-10s%12s%18s%12s%12s\n", "operation", "route", "median us", "rate",
	       "x reference", "x cpu");
	for (size_t i = 0; i < N_OPERATIONS; i++) {
		if (!(own[i].seconds > 0))
			continue;
		printf("%-24s%-10s%12.1f%10.2f %-7s", operations[i].name, own[i].route,
		       own[i].seconds * 1e6, rate(&operations[i], own[i].seconds),
		       operations[i].flops ? "GFLOP/s" : "GB/s");
		print_ratio(&own[i], &reference[i]);
		print_ratio(&own[i], &cpu[i]);
		printf("\n");
	}
}

static void set(json_t *object, const char *key, const struct figure *figure)
{
	if (figure->seconds > 0)
		json_object_set_new(object, key, json_real(figure->seconds));
}

static void print_json(const struct options *options, const struct figure *own,
		       const struct figure *reference, const struct figure *cpu)
{
	json_t *list = json_array(), *whole;
	for (size_t i = 0; i < N_OPERATIONS; i++) {
		if (!(own[i].seconds > 0))
			continue;
		json_t *row =
			json_pack("{s:s, s:s, s:f, s:s}", "operation", operations[i].name, "route",
				  own[i].route, "rate", rate(&operations[i], own[i].seconds),
				  "unit", operations[i].flops ? "GFLOP/s" : "GB/s");
		set(row, "seconds", &own[i]);
		set(row, "reference_seconds", &reference[i]);
		set(row, "cpu_seconds", &cpu[i]);
		json_array_append_new(list, row);
	}
	whole = json_pack("{s:s, s:s, s:I, s:o}", "mode", "perf", "backend", options->which,
			  "device", (json_int_t)options->device, "figures", list);
	json_dumpf(whole, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
	putchar('\n');
	json_decref(whole);
}

int mode_perf(const struct options *options)
{
	struct figure own[N_OPERATIONS] = {{0}}, reference[N_OPERATIONS] = {{0}};
	struct figure cpu[N_OPERATIONS] = {{0}};
	struct options other = *options;
	static char path[4096];
	filter = options->filter;
	int status = collect(options, own);
	other.device = 0;
	other.which = "reference";
	if (status == EXIT_PASSED && !target_is_built_in(options->which))
		collect(&other, reference);
	other.which = path;
	if (status == EXIT_PASSED && target_find("cpu", path, sizeof(path)) &&
	    strcmp(path, options->which) != 0)
		collect(&other, cpu);
	if (options->json)
		print_json(options, own, reference, cpu);
	else
		print_table(own, reference, cpu);
	for (size_t i = 0; i < N_OPERATIONS; i++) {
		if (own[i].seconds > 0)
			return status;
	}
	return status == EXIT_PASSED ? EXIT_FAILED : status;
}
