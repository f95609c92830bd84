/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Shows the results of a test: confusion matrix, mistakes, and files of --plots.
 */
#include "train_results.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "confusion.h"
#include "contact_sheet.h"
#include "output.h"
#include "print_error.h"
#include "tool.h"

enum { BATCH = 256, COLUMNS = 10, MOST_MISTAKES = 1000000 };

size_t train_results_rows(struct train_results *results, struct option_row *rows)
{
	const struct option_row all[N_RESULTS_ROWS] = {
		{"confusion", NULL, "print the confusion matrix of the test",
		 .flag = &results->confusion},
		{"mistakes", "N", "list up to N test pictures that were answered wrongly",
		 .count = &results->mistakes, .lowest = 1, .highest = MOST_MISTAKES},
		{"plots", "DIR", "write loss.svg, samples.png and mistakes.png",
		 .text = &results->plots},
	};
	memcpy(rows, all, sizeof(all));
	return N_RESULTS_ROWS;
}

/* The files of --plots; NULL: the number is past the last. */
static const char *plot_path(const struct train_results *results, size_t i, char *path, size_t size)
{
	static const char *const names[] = {"loss.svg", "samples.png", "mistakes.png"};
	if (!results->plots || i >= sizeof(names) / sizeof(names[0]))
		return NULL;
	snprintf(path, size, "%s/%s", results->plots, names[i]);
	return path;
}

int train_results_has_plot(const struct train_results *results, const char *file)
{
	char path[4096];
	for (size_t i = 0; plot_path(results, i, path, sizeof(path)); i++) {
		if (output_same(path, file))
			return 1;
	}
	return 0;
}

int train_results_prepare(const struct train_results *results)
{
	char path[4096];
	if (!results->plots)
		return 1;
	if (mkdir(results->plots, 0777) && errno != EEXIST) {
		print_error("tenon train: --plots %s: %s", results->plots, strerror(errno));
		return 0;
	}
	for (size_t i = 0; plot_path(results, i, path, sizeof(path)); i++) {
		if (!output_possible("train", "--plots", path, OUTPUT_WHOLE))
			return 0;
	}
	return 1;
}

void train_results_epoch(struct train_results *results, const struct tn_trainer_epoch *epoch)
{
	struct loss_point *points =
		realloc(results->points, (results->n_points + 1) * sizeof(*points));
	if (!points) {
		no_memory("the curve of the loss");
		results->has_gap = 1;
		return;
	}
	results->points = points;
	points[results->n_points++] =
		(struct loss_point){epoch->epoch, epoch->train->loss,
				    epoch->validation ? epoch->validation->loss : NAN};
}

void train_results_end(struct train_results *results)
{
	free(results->points);
}

/* ---- Batches ---------------------------------------------------------------------------------*/

/* Calls `take` for each batch of a part, until it returns 0. */
static tn_status each_batch(const tn_dataset *dataset, int part,
			    int (*take)(void *user, const struct tn_batch *batch), void *user,
			    struct tn_error_info *error)
{
	tn_data_loader *loader = NULL;
	struct tn_batch batch = {.struct_size = sizeof(batch)};
	struct tn_data_loader_options options = tn_data_loader_defaults();
	options.batch_size = BATCH;
	tn_status status = tn_data_loader_create(dataset, part, &options, &loader, error);
	if (!status)
		status = tn_data_loader_next(loader, &batch, error);
	while (!status && batch.n && take(user, &batch))
		status = tn_data_loader_next(loader, &batch, error);
	tn_data_loader_destroy(loader);
	return status;
}

/* ---- Pictures answered wrongly ---------------------------------------------------------------*/

struct mistakes {
	const struct train_results *results;
	tn_module *module;
	const tn_dataset *dataset;
	struct contact_sheet sheet;
	uint64_t n;
	int has_failed; /* a batch was not answered, which has been printed or is kept */
};

static void take_answer(struct mistakes *m, uint64_t sample, int32_t label,
			const float *probabilities)
{
	const int32_t n = (int32_t)tn_dataset_format(m->dataset)->n_classes;
	int32_t answer = 0;
	for (int32_t i = 1; i < n; i++)
		answer = probabilities[i] > probabilities[answer] ? i : answer;
	if (answer == label || label < 0 || label >= n)
		return;
	if (m->n++ < m->results->mistakes)
		printf("test image %" PRIu64 ": %s, answered %s (%.1f %%)\n", sample,
		       tn_dataset_class_name(m->dataset, label),
		       tn_dataset_class_name(m->dataset, answer), 100.0 * probabilities[answer]);
	if (m->results->plots)
		contact_sheet_add(&m->sheet, label, TN_PART_TEST, sample);
}

static int answer_batch(void *user, const struct tn_batch *batch)
{
	struct mistakes *m = user;
	const struct tn_input_format *format = tn_dataset_format(m->dataset);
	float *probabilities = malloc((size_t)batch->n * format->n_classes * sizeof(float));
	if (!probabilities)
		no_memory("the probabilities of a batch");
	m->has_failed = !probabilities ||
			tn_predict(m->module, format, batch->n, batch->data[0], probabilities);
	for (uint32_t i = 0; i < batch->n && !m->has_failed; i++)
		take_answer(m, batch->samples[i], ((const int32_t *)batch->data[1])[i],
			    probabilities + (size_t)i * format->n_classes);
	free(probabilities);
	return !m->has_failed;
}

static tn_status write_sheet(const struct train_results *results, const char *name,
			     struct contact_sheet *sheet, const tn_dataset *dataset,
			     struct tn_error_info *error)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/%s", results->plots, name);
	sheet->path = path;
	return contact_sheet_write(sheet, dataset, error);
}

/* 0: it failed, which has been printed or is kept by the context. */
static int find_mistakes(struct mistakes *m)
{
	struct tn_error_info error;
	tn_status status = each_batch(m->dataset, TN_PART_TEST, answer_batch, m, &error);
	if (m->has_failed)
		return 0;
	if (!status && m->results->mistakes)
		printf("%" PRIu64 " of %" PRIu64 " test images were answered wrongly\n", m->n,
		       tn_dataset_count(m->dataset, TN_PART_TEST));
	if (!status && m->results->plots)
		status = write_sheet(m->results, "mistakes.png", &m->sheet, m->dataset, &error);
	if (status)
		report_error(&error);
	return !status;
}

static int show_mistakes(const struct train_results *results, tn_module *module,
			 const tn_dataset *dataset)
{
	struct mistakes m = {.results = results,
			     .module = module,
			     .dataset = dataset,
			     .sheet = {.columns = COLUMNS}};
	int done = contact_sheet_begin(&m.sheet, tn_dataset_format(dataset)->n_classes);
	if (!done)
		no_memory("the pictures answered wrongly");
	done = done && find_mistakes(&m);
	contact_sheet_end(&m.sheet);
	return done;
}

/* ---- The test --------------------------------------------------------------------------------*/

int train_results_test(const struct train_results *results, tn_context *context,
		       const struct train_ranks *ranks, tn_module *module,
		       const tn_dataset *dataset, struct test_result *test)
{
	const uint32_t n = tn_dataset_format(dataset)->n_classes;
	uint64_t *confusion = calloc((size_t)n * n, sizeof(*confusion));
	char *classes = class_lines(dataset);
	const int has_memory = confusion && classes;
	if (!has_memory)
		no_memory("the answers by class");
	const int done = has_memory && test_part(context, ranks, module, dataset, test, confusion);
	if (done && ranks->rank == 0) {
		say_untested("train", dataset, results->has_spare, confusion);
		printf("test accuracy %.2f%% (loss %.4f, %" PRIu64 " images)\n",
		       100.0 * test->accuracy, test->loss, test->images);
		if (results->confusion)
			print_confusion(confusion, n, classes);
	}
	free(classes);
	free(confusion);
	return done;
}

static int is_full(const struct contact_sheet *sheet)
{
	for (uint32_t i = 0; i < sheet->n_classes; i++) {
		if (sheet->n[i] < sheet->columns)
			return 0;
	}
	return 1;
}

static int take_samples(void *user, const struct tn_batch *batch)
{
	struct contact_sheet *sheet = user;
	for (uint32_t i = 0; i < batch->n; i++) {
		const int32_t label = ((const int32_t *)batch->data[1])[i];
		if (label >= 0 && (uint32_t)label < sheet->n_classes)
			contact_sheet_add(sheet, label, TN_PART_TRAIN, batch->samples[i]);
	}
	return !is_full(sheet);
}

/* A sheet of the first pictures of each class in the training part.  0: it failed, which has been
 * printed. */
static int plot_samples(const struct train_results *results, const tn_dataset *dataset)
{
	struct tn_error_info error;
	struct contact_sheet sheet = {.columns = COLUMNS};
	tn_status status = TN_OK;
	const int has_memory = contact_sheet_begin(&sheet, tn_dataset_format(dataset)->n_classes);
	if (has_memory)
		status = each_batch(dataset, TN_PART_TRAIN, take_samples, &sheet, &error);
	if (has_memory && !status)
		status = write_sheet(results, "samples.png", &sheet, dataset, &error);
	contact_sheet_end(&sheet);
	if (!has_memory)
		no_memory("samples.png");
	else if (status)
		report_error(&error);
	return has_memory && !status;
}

int train_results_show(const struct train_results *results, tn_module *module,
		       const tn_dataset *dataset)
{
	char path[4096];
	const int has_test = tn_dataset_count(dataset, TN_PART_TEST) > 0;
	if ((results->mistakes || results->plots) && has_test &&
	    !show_mistakes(results, module, dataset))
		return 0;
	if (!results->plots)
		return 1;
	if (!plot_samples(results, dataset) || results->has_gap)
		return 0;
	if (!results->n_points)
		return 1;
	snprintf(path, sizeof(path), "%s/loss.svg", results->plots);
	return loss_plot_write(path, results->points, results->n_points);
}
