/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * tenon bench ops: times operations on the chosen device, with the machine's peaks beside them.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_parts.h"
#include "info.h"
#include "print_error.h"

static const char about[] =
	"  Times operations in single precision, into new arrays, and shows GFLOP/s or\n"
	"  GB/s (bytes that must be read and written) and the fraction of the processor's\n"
	"  peak, measured in the same run; above: more than the peak, as with arrays that\n"
	"  stay in the caches.\n";

#define WINDOW 0.02

struct command_line {
	struct common_options common;
	int64_t shape[BENCH_MOST_AXES];
	int rank; /* of the shape; 0: no shape was given */
	uint64_t samples;
	int tiers, list, json;
	char **names;
	int n_names;
};

/* The measurements of one operation. */
struct figures {
	double best, median; /* seconds per call */
	double amount;       /* operations or bytes per call */
	int is_arithmetic;
	double reference; /* median on the reference backend; 0: not measured */
};

/* One operation that was measured. */
struct row {
	struct bench_case c;
	struct figures figures;
};

/* "8x64x32x32" */
static int take_shape(void *values, const char *text)
{
	struct command_line *line = values;
	for (line->rank = 0; line->rank < BENCH_MOST_AXES; text++) {
		char *end;
		long long length = *text >= '1' && *text <= '9' ? strtoll(text, &end, 10) : 0;
		if (length < 1 || length > 1 << 24)
			return 0;
		line->shape[line->rank++] = length;
		text = end;
		if (*text != 'x')
			return *text == 0;
	}
	return 0;
}

static int run_window(const struct bench_case *c, tn_context *context, int calls)
{
	for (int i = 0; i < calls; i++) {
		tn_array *result = c->operation->run(c);
		if (!result)
			return 0;
		tn_array_destroy(result);
	}
	return !tn_synchronize(context);
}

/* Times windows, each of enough calls to fill it; the first is discarded. */
static int time_case(const struct bench_case *c, tn_context *context, int samples,
		     struct bench_times *times)
{
	double start = bench_seconds();
	if (!run_window(c, context, 1) || !run_window(c, context, 1))
		return 0;
	double once = (bench_seconds() - start) / 2;
	int calls = once < WINDOW ? (int)(WINDOW / once) + 1 : 1;
	for (times->n = -1; times->n < samples; times->n++) {
		start = bench_seconds();
		if (!run_window(c, context, calls))
			return 0;
		if (times->n >= 0)
			times->seconds[times->n] = (bench_seconds() - start) / calls;
	}
	bench_sort(times);
	return 1;
}

static int measure(const struct command_line *line, const struct bench_operation *operation,
		   tn_context *context, struct bench_case *c, struct figures *figures)
{
	struct bench_times times;
	*c = (struct bench_case){.operation = operation};
	memcpy(c->shape, line->rank == operation->rank ? line->shape : operation->shape,
	       sizeof(c->shape));
	int done =
		operation->prepare(c, context) && time_case(c, context, (int)line->samples, &times);
	if (done) {
		figures->best = times.seconds[0];
		figures->median = times.seconds[times.n / 2];
		figures->is_arithmetic = operation->operations != NULL;
		figures->amount =
			figures->is_arithmetic ? operation->operations(c) : operation->bytes(c);
	}
	tn_array_destroy(c->x);
	tn_array_destroy(c->y);
	tn_array_destroy(c->z);
	return done;
}

static int wanted(const struct command_line *line, const struct bench_operation *operation)
{
	if (line->rank && line->rank != operation->rank)
		return 0;
	for (int i = 0; i < line->n_names; i++) {
		if (!strcmp(line->names[i], operation->name))
			return 1;
	}
	return !line->n_names;
}

static const char *shape_text(const struct bench_case *c, char *text, size_t size)
{
	size_t used = 0;
	for (int i = 0; i < c->operation->rank; i++)
		used += (size_t)snprintf(text + used, size - used, i ? "x%lld" : "%lld",
					 (long long)c->shape[i]);
	return text;
}

static double rate_of(const struct figures *figures)
{
	return 1e-9 * figures->amount / figures->median;
}

/* Above 1 if the arrays stay in the caches: the peak is that of copies larger than the caches. */
static double part_of_peak(const struct figures *figures, const struct bench_peaks *peaks)
{
	double peak = figures->is_arithmetic ? peaks->gflops.best : peaks->gbytes.best;
	return peak > 0 ? rate_of(figures) / peak : 0;
}

static void print_row(const struct row *row, const struct bench_peaks *peaks)
{
	const struct figures *figures = &row->figures;
	double part = part_of_peak(figures, peaks);
	char text[96], of_peak[32] = "above", ratio[32] = "";
	if (part <= 1)
		snprintf(of_peak, sizeof(of_peak), "%.1f %%", 100 * part);
	if (figures->reference > 0)
		snprintf(ratio, sizeof(ratio), "%9.1f", figures->reference / figures->median);
	printf("%-11s %-15s %10.1f %10.1f %9.2f %-7s %8s%s\n", row->c.operation->name,
	       shape_text(&row->c, text, sizeof(text)), 1e6 * figures->best, 1e6 * figures->median,
	       rate_of(figures), figures->is_arithmetic ? "GFLOP/s" : "GB/s", of_peak, ratio);
}

static json_t *json_row(const struct row *row, const struct bench_peaks *peaks)
{
	const struct figures *figures = &row->figures;
	double part = part_of_peak(figures, peaks);
	char text[96];
	json_t *object =
		json_pack("{s:s, s:s, s:f, s:f, s:f, s:s, s:o}", "operation",
			  row->c.operation->name, "shape", shape_text(&row->c, text, sizeof(text)),
			  "best_seconds", figures->best, "median_seconds", figures->median, "rate",
			  rate_of(figures), "unit", figures->is_arithmetic ? "GFLOP/s" : "GB/s",
			  "of_peak", part <= 1 ? json_real(part) : json_null());
	if (figures->reference > 0)
		json_object_set_new(object, "reference_seconds", json_real(figures->reference));
	return object;
}

static int is_steady(const struct bench_peaks *peaks)
{
	return !bench_peak_varies(&peaks->gflops) && !bench_peak_varies(&peaks->gbytes);
}

static void print_all(const struct row *rows, size_t n, const struct bench_peaks *peaks,
		      const char *device, int tiers)
{
	printf("%s\n", device);
	printf("peak of the processor, %d thread%s: %.1f GFLOP/s, %.1f GB/s\n", peaks->threads,
	       peaks->threads == 1 ? "" : "s", peaks->gflops.best, peaks->gbytes.best);
	if (!is_steady(peaks))
		printf("not reliable: the machine is busy, half of the samples are below 80 "
		       "%% "
		       "of that\n");
	printf("\n%-11s %-15s %10s %10s %17s %8s%s\n", "operation", "shape", "best us", "median us",
	       "rate", "of peak", tiers ? "  reference / it" : "");
	for (size_t i = 0; i < n; i++)
		print_row(&rows[i], peaks);
}

static int print_all_json(const struct row *rows, size_t n, const struct bench_peaks *peaks,
			  const char *device)
{
	json_t *operations = json_array();
	for (size_t i = 0; i < n; i++)
		json_array_append_new(operations, json_row(&rows[i], peaks));
	return print_json(json_pack(
		"{s:o, s:i, s:f, s:f, s:b, s:o}", "device", printable_json(device), "threads",
		peaks->threads, "peak_gflops", peaks->gflops.best, "peak_gbytes",
		peaks->gbytes.best, "reliable", is_steady(peaks), "operations", operations));
}

/* Measures all requested operations, with samples of the peaks in between; `slow` is a context of
 * the reference backend, or NULL. */
static int measure_all(const struct command_line *line, tn_context *context, tn_context *slow,
		       struct bench_peaks *peaks, struct row *rows, size_t *n)
{
	const struct bench_operation *operation;
	for (size_t i = 0; (operation = bench_operation_at(i)) != NULL; i++) {
		struct row *row = &rows[*n];
		struct figures reference = {0};
		if (!wanted(line, operation))
			continue;
		if (slow && !measure(line, operation, slow, &row->c, &reference))
			return finish(slow);
		if (!measure(line, operation, context, &row->c, &row->figures))
			return finish(context);
		row->figures.reference = reference.median;
		bench_peaks_sample(peaks);
		(*n)++;
	}
	return EXIT_DONE;
}

static int run(const struct command_line *line, tn_context *context, tn_context *slow)
{
	static struct row rows[BENCH_MOST_OPERATIONS];
	const char *device = tn_device_name(tn_device_current(context));
	struct bench_peaks peaks;
	size_t n = 0;
	int code = EXIT_FAILED;
	if (!bench_peaks_open(&peaks, bench_threads()))
		print_error("tenon bench ops: out of memory");
	else
		code = measure_all(line, context, slow, &peaks, rows, &n);
	if (!code && line->json)
		code = print_all_json(rows, n, &peaks, device);
	else if (!code)
		print_all(rows, n, &peaks, device, line->tiers);
	bench_peaks_close(&peaks);
	return code;
}

static int open_and_run(const struct command_line *line)
{
	const struct common_options reference = {.backend = "reference"};
	tn_context *slow = NULL;
	int code;
	tn_context *context = open_context(&line->common, TN_SEED_FROM_ENVIRONMENT, &code);
	if (context && line->tiers)
		slow = open_context(&reference, TN_SEED_FROM_ENVIRONMENT, &code);
	if (context && !code)
		code = run(line, context, slow);
	tn_context_close(slow);
	tn_context_close(context);
	return code;
}

static int list(void)
{
	static const char *const axes[] = {"", "", "rows x columns", "M x N x K", "N x C x H x W"};
	const struct bench_operation *operation;
	for (size_t i = 0; (operation = bench_operation_at(i)) != NULL; i++)
		printf("%-12s %-16s %s\n", operation->name, axes[operation->rank], operation->text);
	return EXIT_DONE;
}

static int check_name(const char *name)
{
	const char *names[BENCH_MOST_OPERATIONS];
	char hint[80];
	size_t n = 0;
	for (; n < BENCH_MOST_OPERATIONS && bench_operation_at(n); n++) {
		names[n] = bench_operation_at(n)->name;
		if (!strcmp(name, names[n]))
			return EXIT_DONE;
	}
	return usage_error("bench ops", "no operation '%s' (--list names them)%s", name,
			   did_you_mean(name, names, n, hint, sizeof(hint)));
}

/* Checks that every name is an operation, and that the shape fits at least one of them. */
static int check(const struct command_line *line)
{
	const struct bench_operation *operation;
	int n_wanted = 0;
	for (int name = 0; name < line->n_names; name++) {
		if (check_name(line->names[name]))
			return EXIT_USAGE;
	}
	for (size_t i = 0; (operation = bench_operation_at(i)) != NULL; i++)
		n_wanted += wanted(line, operation);
	return n_wanted ? EXIT_DONE
			: usage_error("bench ops",
				      "--shape: none of these operations has %d axes; --list "
				      "names them",
				      line->rank);
}

static int read_options(struct command_line *line, int argc, char **argv)
{
	const struct option_row rows[] = {
		{"shape", "AxBx...", "for operations with this number of axes", .take = take_shape,
		 .values = line, .expected = "1 to 4 lengths from 1 to 16777216, as 64x128"},
		{"tiers", NULL, "also time the reference backend, and show the ratio",
		 .flag = &line->tiers},
		{"samples", "N", "number of samples of 20 ms (9)", .count = &line->samples,
		 .lowest = 1, .highest = BENCH_MOST_SAMPLES},
		{"threads", "N", "as TENON_THREADS", .take = bench_take_threads,
		 .expected = BENCH_THREADS_EXPECTED},
		{"backend", "NAME", "as TENON_BACKEND", .text = &line->common.backend},
		{"backend-option", "N=V", backend_option_help, .take = take_backend_option,
		 .values = &line->common, .expected = backend_option_form},
		{"list", NULL, "list the operations and the axes of their shapes",
		 .flag = &line->list},
		{"json", NULL, "print as JSON", .flag = &line->json},
	};
	const struct option_table table = {"tenon bench ops", "[NAME ...]", about, rows,
					   N_ROWS(rows),      NULL,         0};
	return option_table_read(&table, argc, argv);
}

int bench_ops(int argc, char **argv)
{
	struct command_line line = {.samples = 9};
	int code = read_options(&line, argc, argv);
	if (code != OPTIONS_READ)
		return code;
	line.names = argv + optind;
	line.n_names = argc - optind;
	if (line.list)
		return list();
	code = check(&line);
	return code ? code : open_and_run(&line);
}
