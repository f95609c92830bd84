/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * tenon bench tiers: the same epoch on every backend, beside what operations and bytes alone would
 * take.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_parts.h"
#include "info.h"
#include "print_error.h"

static const char about[] =
	"  One epoch of training on the reference, cpu and every other usable backend:\n"
	"  seconds, images per second, the ratio to the reference; and the seconds that\n"
	"  its operations take at the device's peak of multiply-adds (work) and its bytes\n"
	"  at its peak of copies (memory), with their share of the time. Default: mlp and\n"
	"  lenet.\n";

enum { MOST_MODELS = 16, MOST_TIERS = 16, WARM_STEPS = 2 };

struct command_line {
	struct common_options common;
	const char *data;
	uint64_t batch, images; /* images 0: all */
	int json;
	const char *models[MOST_MODELS];
	size_t n_models;
	tn_dataset *dataset;
};

/* The backends, the reference first, and the peaks of their devices. */
struct tiers {
	char names[MOST_TIERS][40];
	struct bench_rates peaks[MOST_TIERS]; /* of other devices; zeros: not measured yet */
	struct bench_peaks processor;
	size_t n;
};

struct tier_time {
	char device[48];
	double seconds;
	struct bench_rates peaks;
	double work, memory; /* seconds at the peaks */
};

/* ---- Training --------------------------------------------------------------------------------*/

static struct tn_model_shape shape_of(const tn_dataset *dataset)
{
	const struct tn_input_format *f = tn_dataset_format(dataset);
	return (struct tn_model_shape){f->channels, f->height, f->width, f->n_classes};
}

/* So many steps, at most an epoch; a negative number of seconds is an error, kept by the
 * context. */
static double train_for(tn_module *net, tn_data_loader *loader, uint64_t steps)
{
	double seconds = -1;
	struct tn_sgd_options plain = tn_sgd_defaults();
	struct tn_trainer_options options = tn_trainer_defaults();
	plain.lr = 0.01;
	options.train = loader;
	options.max_steps = steps;
	tn_optimizer *sgd = tn_sgd(net, &plain);
	tn_trainer *trainer = tn_trainer_create(net, sgd, &options);
	const double start = bench_seconds();
	if (trainer && !tn_trainer_run(trainer))
		seconds = bench_seconds() - start;
	tn_trainer_destroy(trainer);
	tn_optimizer_destroy(sgd);
	return seconds;
}

/* Trains a new network, after a few steps to warm up; 0: an error, kept by the context. */
static int time_epoch(const struct command_line *line, tn_context *context, const char *model,
		      const struct bench_load *load, double *seconds)
{
	struct tn_error_info error;
	const struct tn_model_shape shape = shape_of(line->dataset);
	struct tn_data_loader_options options = tn_data_loader_defaults();
	options.batch_size = (uint32_t)line->batch;
	options.shuffle = 1;
	options.context = context;
	tn_data_loader *loaders[2] = {NULL, NULL};
	tn_module *net = tn_model_create(context, model, &shape);
	*seconds = -1;
	if (net && !tn_module_build(net)) {
		for (int i = 0; i < 2; i++) {
			if (tn_data_loader_create(line->dataset, TN_PART_TRAIN, &options,
						  &loaders[i], &error))
				report_error(&error);
		}
		if (loaders[0] && loaders[1] && train_for(net, loaders[0], WARM_STEPS) >= 0)
			*seconds = train_for(net, loaders[1],
					     load->is_part ? load->steps : TN_NO_LIMIT);
	}
	tn_data_loader_destroy(loaders[0]);
	tn_data_loader_destroy(loaders[1]);
	tn_module_destroy(net);
	return *seconds >= 0;
}

/* ---- One tier --------------------------------------------------------------------------------*/

/* Is the processor's peak that of the backend's device?  Other devices measure their own. */
static int is_processor(const char *backend)
{
	return !strcmp(backend, "reference") || !strcmp(backend, "cpu");
}

static int run_tier(const struct command_line *line, struct tiers *tiers, size_t i,
		    const char *model, const struct bench_load *load, struct tier_time *time)
{
	char selection[48];
	int code, is_done = 1;
	snprintf(selection, sizeof(selection), "%s!", tiers->names[i]);
	struct common_options common = line->common;
	common.backend = selection;
	tn_context *context = open_context(&common, TN_SEED_FROM_ENVIRONMENT, &code);
	if (!context)
		return code;
	if (is_processor(tiers->names[i]))
		bench_peaks_sample(&tiers->processor);
	else if (tiers->peaks[i].gflops <= 0)
		is_done = bench_device_peaks(context, &tiers->peaks[i]);
	is_done = is_done && time_epoch(line, context, model, load, &time->seconds);
	snprintf(time->device, sizeof(time->device), "%s",
		 tn_device_name(tn_device_current(context)));
	code = finish(context);
	tn_context_close(context);
	return code == EXIT_DONE && !is_done ? EXIT_FAILED : code;
}

/* Once all samples of the peaks are taken. */
static void explain(const struct tiers *tiers, const struct bench_load *load,
		    struct tier_time *times)
{
	for (size_t i = 0; i < tiers->n; i++) {
		times[i].peaks = is_processor(tiers->names[i])
					 ? (struct bench_rates){tiers->processor.gflops.best,
								tiers->processor.gbytes.best}
					 : tiers->peaks[i];
		times[i].work = 1e-9 * load->operations / times[i].peaks.gflops;
		times[i].memory = 1e-9 * load->bytes / times[i].peaks.gbytes;
	}
}

/* ---- Output ----------------------------------------------------------------------------------*/

static void print_times(const struct command_line *line, const char *model,
			const struct bench_load *load, const struct tier_time *times, size_t n)
{
	printf("%s on %s: %.0f images in %.0f step%s of %.0f, %.3g GFLOP, %.3g GB\n", model,
	       tn_dataset_name(line->dataset), load->images, (double)load->steps,
	       load->steps == 1 ? "" : "s", (double)line->batch, 1e-9 * load->operations,
	       1e-9 * load->bytes);
	printf("%-14s %9s %9s %8s %10s %7s %9s\n", "device", "seconds", "images/s", "ratio",
	       "work s", "", "memory s");
	for (size_t i = 0; i < n; i++) {
		const struct tier_time *t = &times[i];
		printf("%-14.14s %9.4f %9.0f %8.2f %10.6f %5.1f %% %9.6f %5.1f %%\n", t->device,
		       t->seconds, load->images / t->seconds, times[0].seconds / t->seconds,
		       t->work, 100 * t->work / t->seconds, t->memory,
		       100 * t->memory / t->seconds);
	}
	for (size_t i = 0; i < n; i++)
		printf("peak of %s: %.1f GFLOP/s, %.1f GB/s\n", times[i].device,
		       times[i].peaks.gflops, times[i].peaks.gbytes);
}

static json_t *json_of(const struct command_line *line, const char *model,
		       const struct bench_load *load, const struct tier_time *times, size_t n)
{
	json_t *tiers = json_array();
	for (size_t i = 0; i < n; i++) {
		const struct tier_time *t = &times[i];
		json_array_append_new(
			tiers,
			json_pack("{s:o, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "device",
				  printable_json(t->device), "seconds", t->seconds,
				  "images_per_second", load->images / t->seconds, "ratio",
				  times[0].seconds / t->seconds, "work_seconds", t->work,
				  "memory_seconds", t->memory, "of_peak", t->work / t->seconds,
				  "peak_gflops", t->peaks.gflops, "peak_gbytes", t->peaks.gbytes));
	}
	return json_pack("{s:s, s:o, s:I, s:I, s:f, s:f, s:o}", "model", model, "data",
			 printable_json(tn_dataset_name(line->dataset)), "images",
			 (json_int_t)load->images, "steps", (json_int_t)load->steps, "operations",
			 load->operations, "bytes", load->bytes, "tiers", tiers);
}

/* ---- The command -----------------------------------------------------------------------------*/

static int run_model(const struct command_line *line, struct tiers *tiers, const char *model,
		     json_t *models)
{
	static struct tier_time times[MOST_TIERS];
	struct bench_load load;
	const struct tn_model_shape shape = shape_of(line->dataset);
	int code = bench_load_of(model, &shape, line->batch, line->images,
				 tn_dataset_count(line->dataset, TN_PART_TRAIN), &load);
	for (size_t i = 0; i < tiers->n && code == EXIT_DONE; i++)
		code = run_tier(line, tiers, i, model, &load, &times[i]);
	if (code != EXIT_DONE)
		return code;
	explain(tiers, &load, times);
	if (!line->json)
		print_times(line, model, &load, times, tiers->n);
	fflush(stdout);
	json_array_append_new(models, json_of(line, model, &load, times, tiers->n));
	return EXIT_DONE;
}

/* Those that can be used, unless TENON_BACKEND excludes them, after the reference. */
static int find_tiers(const struct command_line *line, struct tiers *tiers)
{
	const struct tn_load_row *row;
	int code;
	tn_context *context = open_context(&line->common, TN_SEED_FROM_ENVIRONMENT, &code);
	if (!context)
		return code;
	tn_load_report *report = tn_context_report(context);
	snprintf(tiers->names[0], sizeof(tiers->names[0]), "reference");
	tiers->n = 1;
	for (size_t i = 0; (row = tn_load_report_at(report, i)) && tiers->n < MOST_TIERS; i++) {
		if (!row->status && row->n_devices && strcmp(row->name, "reference") != 0)
			snprintf(tiers->names[tiers->n++], sizeof(tiers->names[0]), "%s",
				 row->name);
	}
	tn_context_close(context);
	return EXIT_DONE;
}

static int run_all(const struct command_line *line, struct tiers *tiers)
{
	json_t *models = json_array();
	int code = EXIT_DONE;
	for (size_t i = 0; i < line->n_models && code == EXIT_DONE; i++) {
		if (i && !line->json)
			printf("\n");
		code = run_model(line, tiers, line->models[i], models);
	}
	if (code == EXIT_DONE && line->json)
		return print_json(json_pack("{s:i, s:I, s:o}", "threads", bench_threads(), "batch",
					    (json_int_t)line->batch, "models", models));
	json_decref(models);
	return code;
}

static int run(const struct command_line *line)
{
	static struct tiers tiers;
	int code = find_tiers(line, &tiers);
	if (code != EXIT_DONE)
		return code;
	if (bench_peaks_open(&tiers.processor, bench_threads())) {
		code = run_all(line, &tiers);
	} else {
		print_error("tenon bench tiers: out of memory");
		code = EXIT_FAILED;
	}
	bench_peaks_close(&tiers.processor);
	return code;
}

static int open_data(struct command_line *line)
{
	struct tn_error_info error;
	struct tn_dataset_options options = tn_dataset_defaults();
	options.keep_own_parts = 1;
	if (tn_dataset_open(line->data, &options, &line->dataset, &error))
		return report_error(&error);
	if (tn_dataset_format(line->dataset) && tn_dataset_count(line->dataset, TN_PART_TRAIN))
		return EXIT_DONE;
	print_error("tenon bench tiers: %s: expected labelled pictures to train on", line->data);
	return EXIT_FAILED;
}

static int read_options(struct command_line *line, int argc, char **argv)
{
	const struct option_row rows[] = {
		{"data", "NAME|DIR", "the pictures (digits)", .text = &line->data},
		{"images", "N", "only this many of the epoch, in whole steps",
		 .count = &line->images, .lowest = 1, .highest = UINT32_MAX},
		{"batch", "N", "images per step (64)", .count = &line->batch, .lowest = 1,
		 .highest = 65536},
		{"threads", "N", "as TENON_THREADS", .take = bench_take_threads,
		 .expected = BENCH_THREADS_EXPECTED},
		{"backend-option", "N=V", backend_option_help, .take = take_backend_option,
		 .values = &line->common, .expected = backend_option_form},
		{"json", NULL, "print as JSON", .flag = &line->json},
	};
	const struct option_table table = {.command = "tenon bench tiers",
					   .operands = "[MODEL ...]",
					   .about = about,
					   .rows = rows,
					   .n_rows = N_ROWS(rows)};
	return option_table_read(&table, argc, argv);
}

int bench_tiers(int argc, char **argv)
{
	struct command_line line = {.data = "digits", .batch = 64};
	int code = read_options(&line, argc, argv);
	if (code != OPTIONS_READ)
		return code;
	if (argc - optind > MOST_MODELS)
		return usage_error("bench tiers", "expected at most %d models, found %d",
				   MOST_MODELS, argc - optind);
	while (optind < argc)
		line.models[line.n_models++] = argv[optind++];
	if (!line.n_models) {
		line.models[line.n_models++] = "mlp";
		line.models[line.n_models++] = "lenet";
	}
	code = open_data(&line);
	if (code == EXIT_DONE)
		code = run(&line);
	tn_dataset_destroy(line.dataset);
	return code;
}
