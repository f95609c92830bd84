/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * tenon bench train: times training steps of a network, eager or captured, and its memory.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "bench_parts.h"
#include "info.h"

static const char about[] =
	"  Training steps on one batch of random 28 x 28 pictures in 10 classes: forward,\n"
	"  cross-entropy, backward and SGD. Shows images per second and milliseconds per\n"
	"  step (best and median), the peak memory of the process, and the page faults\n"
	"  per step after warm-up.\n";

#define WINDOW 0.25
#define WARM_STEPS 3

struct training {
	tn_context *context;
	tn_module *net;
	tn_optimizer *optimizer;
	tn_array *x, *labels;
	int64_t batch;
	tn_graph *graph; /* the captured step; NULL: steps run eagerly */
};

struct figures {
	struct bench_times step; /* seconds, one per window */
	long steps, faults;      /* of all windows */
};

struct command_line {
	struct common_options common;
	const char *model;
	uint64_t batch, samples;
	uint32_t capture; /* TN_CAPTURE_... */
	int json;
};

static int eager_step(const struct training *t)
{
	if (tn_scope_begin(t->context))
		return 0;
	tn_module_zero_gradients(t->net);
	tn_tape *tape = tn_tape_begin(t->context);
	tn_array *loss = tn_cross_entropy(tn_module_forward(t->net, t->x), t->labels, NULL);
	tn_status status = tn_tape_backward(tape, loss, NULL);
	tn_tape_end(tape);
	if (!status)
		status = tn_optimizer_step(t->optimizer);
	tn_scope_end(t->context, NULL);
	return !status;
}

static int step(const struct training *t)
{
	return t->graph ? !tn_graph_replay(t->graph) : eager_step(t);
}

/* Captures a step, which later steps replay, if the device can.  0: an error, kept in the
 * context. */
static int capture(struct training *t, uint32_t when)
{
	tn_status status = tn_capture_begin(t->context);
	if (!status) {
		/* capture_end reports its error. */
		(void)eager_step(t);
		status = tn_capture_end(t->context, &t->graph);
	}
	if (when == TN_CAPTURE_AUTO && (status == TN_UNSUPPORTED || status == TN_NOT_CAPTURABLE)) {
		tn_error_clear(t->context);
		status = TN_OK;
	}
	return !status;
}

static long page_faults(void)
{
	struct rusage usage;
	return getrusage(RUSAGE_SELF, &usage) ? 0 : usage.ru_minflt + usage.ru_majflt;
}

/* The peak resident size in MiB; not ru_maxrss, which is inherited from the parent process. */
static double peak_memory(void)
{
	char line[128];
	double peak = 0;
	FILE *status = fopen("/proc/self/status", "r");
	while (status && fgets(line, sizeof(line), status)) {
		if (!strncmp(line, "VmHWM:", 6))
			peak = (double)strtol(line + 6, NULL, 10) / 1024;
	}
	if (status)
		fclose(status);
	return peak;
}

static int window(const struct training *t, struct figures *figures)
{
	double start = bench_seconds(), seconds;
	long steps = 0, faults = page_faults();
	do {
		if (!step(t))
			return 0;
		steps++;
		seconds = bench_seconds() - start;
	} while (seconds < WINDOW);
	if (tn_synchronize(t->context))
		return 0;
	figures->step.seconds[figures->step.n++] = (bench_seconds() - start) / (double)steps;
	figures->steps += steps;
	figures->faults += page_faults() - faults;
	return 1;
}

static int measure(struct training *t, const struct command_line *line, struct figures *figures)
{
	uint32_t when = line->capture;
	if (when == TN_CAPTURE_AUTO && line->common.ledger)
		when = TN_CAPTURE_OFF;
	for (int i = 0; i < WARM_STEPS; i++) {
		if (!step(t))
			return 0;
	}
	if (when != TN_CAPTURE_OFF && !capture(t, when))
		return 0;
	tn_ledger_reset(t->context);
	for (uint64_t i = 0; i < line->samples; i++) {
		if (!window(t, figures))
			return 0;
	}
	bench_sort(&figures->step);
	return 1;
}

static int prepare(struct training *t, const char *model)
{
	const struct tn_model_shape shape = {1, 28, 28, 10};
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 1e-3;
	t->net = tn_model_create(t->context, model, &shape);
	if (!t->net || tn_module_build(t->net))
		return 0;
	tn_module_set_training(t->net, 1);
	t->optimizer = tn_sgd(t->net, &sgd);
	t->x = tn_random_normal(t->context, 4, (int64_t[]){t->batch, 1, 28, 28}, 0, 1);
	tn_array *numbers = tn_random_uniform(t->context, 1, &t->batch, 0, 10);
	t->labels = tn_astype(numbers, TN_I32);
	tn_array_destroy(numbers);
	return t->optimizer && t->x && t->labels;
}

static void print_text(const struct training *t, const struct command_line *line,
		       const struct figures *figures)
{
	double best = figures->step.seconds[0], median = figures->step.seconds[figures->step.n / 2];
	printf("%s, batch %lld, %s%s\n", line->model, (long long)t->batch,
	       tn_device_name(tn_device_current(t->context)), t->graph ? ", captured" : "");
	printf("images/s     best %10.0f   median %10.0f\n", (double)t->batch / best,
	       (double)t->batch / median);
	printf("ms per step  best %10.3f   median %10.3f\n", 1e3 * best, 1e3 * median);
	printf("peak memory  %.1f MiB\n", peak_memory());
	printf("page faults  %.2f per step\n", (double)figures->faults / (double)figures->steps);
	if (line->common.ledger)
		print_ledger(t->context);
}

static int print_figures(const struct training *t, const struct command_line *line,
			 const struct figures *figures)
{
	double best = figures->step.seconds[0], median = figures->step.seconds[figures->step.n / 2];
	if (!line->json) {
		print_text(t, line, figures);
		return EXIT_DONE;
	}
	return print_json(json_pack("{s:s, s:I, s:o, s:b, s:f, s:f, s:f, s:f, s:f}", "model",
				    line->model, "batch", (json_int_t)t->batch, "device",
				    printable_json(tn_device_name(tn_device_current(t->context))),
				    "captured", t->graph != NULL, "images_per_second",
				    (double)t->batch / median, "best_step_seconds", best,
				    "median_step_seconds", median, "peak_memory_mib", peak_memory(),
				    "page_faults_per_step",
				    (double)figures->faults / (double)figures->steps));
}

static int run(const struct command_line *line)
{
	struct training t = {.batch = (int64_t)line->batch};
	struct figures figures = {0};
	int code;
	t.context = open_context(&line->common, TN_SEED_FROM_ENVIRONMENT, &code);
	if (!t.context)
		return code;
	if (prepare(&t, line->model) && measure(&t, line, &figures))
		code = print_figures(&t, line, &figures);
	else
		code = finish(t.context);
	tn_graph_destroy(t.graph);
	tn_array_destroy(t.x);
	tn_array_destroy(t.labels);
	tn_optimizer_destroy(t.optimizer);
	tn_module_destroy(t.net);
	tn_context_close(t.context);
	return code;
}

static int read_options(struct command_line *line, int argc, char **argv)
{
	const struct option_row rows[] = {
		{"batch", "N", "images per step (128)", .count = &line->batch, .lowest = 1,
		 .highest = 1 << 20},
		{"samples", "N", "number of samples of 250 ms (9)", .count = &line->samples,
		 .lowest = 1, .highest = BENCH_MOST_SAMPLES},
		{"threads", "N", "as TENON_THREADS", .take = bench_take_threads,
		 .expected = BENCH_THREADS_EXPECTED},
		{"capture", "WHEN",
		 "replay a captured step: auto (if the device can, and\n"
		 "without --ledger), on or off",
		 .choice = &line->capture, .choices = capture_words},
		{"backend", "NAME", "as TENON_BACKEND", .text = &line->common.backend},
		{"backend-option", "N=V", backend_option_help, .take = take_backend_option,
		 .values = &line->common, .expected = backend_option_form},
		{"ledger", "[=time]", "print where operations ran, with =time their seconds",
		 .take = take_ledger, .values = &line->common, .expected = "time or nothing"},
		{"json", NULL, "print as JSON", .flag = &line->json},
	};
	const struct option_table table = {"tenon bench train", "MODEL", about, rows,
					   N_ROWS(rows),        NULL,    0};
	return option_table_read(&table, argc, argv);
}

int bench_train(int argc, char **argv)
{
	struct command_line line = {.batch = 128, .samples = 9};
	int code = read_options(&line, argc, argv);
	if (code != OPTIONS_READ)
		return code;
	if (argc - optind != 1)
		return usage_error("bench train", "expected one model; tenon models lists them");
	line.model = argv[optind];
	return run(&line);
}
