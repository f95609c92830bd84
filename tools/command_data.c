/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * tenon data: the data sets known by name, or what is in one of them and what is wrong with it.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contact_sheet.h"
#include "output.h"
#include "print_error.h"
#include "tool.h"

static const char *const part_names[TN_N_PARTS] = {"train", "validation", "test"};

struct scan {
	const char *name;
	const tn_dataset *dataset;
	uint32_t n_classes;           /* 0: samples have no classes */
	uint64_t *counts[TN_N_PARTS]; /* of each class */
	uint64_t n_problems;
	struct contact_sheet sheet;
	uint64_t wanted; /* classes; 0: as many as there are */
	int no_header;
};

/* ---- The list --------------------------------------------------------------------------------*/

static void list_one(const struct tn_dataset_info *known)
{
	struct tn_error_info error;
	char *path = NULL;
	if (!tn_dataset_locate(known->name, &path, &error))
		printf("%s: %s\n", known->name, path);
	else if (*known->package)
		printf("%s: not found; it is in Debian's package %s\n", known->name,
		       known->package);
	else
		printf("%s: not found; a folder $TENON_DATA_DIR/data/%s, or --data with its path\n",
		       known->name, known->name);
	printf("  %s\n", known->origin);
	tn_string_free(path);
}

static int list_all(void)
{
	for (size_t i = 0; tn_dataset_at(i); i++)
		list_one(tn_dataset_at(i));
	return EXIT_DONE;
}

/* ---- Opening ---------------------------------------------------------------------------------*/

/* A folder whose pictures cannot all be read is opened without reading any, for a size and a mean
 * that are not its own: *is_damaged. */
static int open_data(const struct scan *scan, tn_dataset **dataset, int *is_damaged)
{
	const char *name = scan->name;
	struct tn_error_info error, other;
	struct tn_input_format any = tn_input_format_defaults();
	struct tn_dataset_options o = tn_dataset_defaults();
	any.channels = 3;
	any.height = any.width = 64;
	o.n_classes = (uint32_t)scan->wanted;
	o.no_header = scan->no_header;
	*is_damaged = 0;
	if (!tn_dataset_open(name, &o, dataset, &error))
		return EXIT_DONE;
	o.normalise_as = &any;
	if (error.status == TN_NOT_FOUND || tn_dataset_open(name, &o, dataset, &other))
		return report_error(&error);
	*is_damaged = 1;
	return EXIT_DONE;
}

/* ---- What is in it ---------------------------------------------------------------------------*/

static void print_field(const tn_dataset *dataset, uint32_t i)
{
	struct tn_field field;
	if (tn_dataset_field_at(dataset, i, &field))
		return;
	printf("  %s: %s (", field.name, tn_dtype_name(field.dtype));
	for (int32_t axis = 0; axis < field.rank; axis++)
		printf(axis ? ", %" PRId64 : "%" PRId64, field.shape[axis]);
	printf(")\n");
}

static void print_floats(const char *title, const float *values, uint32_t n)
{
	printf("  %s:", title);
	for (uint32_t i = 0; i < n; i++)
		printf(" %.4g", (double)values[i]);
	printf("\n");
}

static void describe(const tn_dataset *dataset, int is_damaged)
{
	const struct tn_input_format *f = tn_dataset_format(dataset);
	printf("%s: %s\n", tn_dataset_name(dataset), tn_dataset_path(dataset));
	if (*tn_dataset_origin(dataset))
		printf("  %s\n", tn_dataset_origin(dataset));
	for (uint32_t i = 0; !f && i < tn_dataset_field_count(dataset); i++)
		print_field(dataset, i);
	if (!f || is_damaged)
		return;
	printf("  pictures: %u x %u x %u, values to %g\n", f->channels, f->height, f->width,
	       (double)f->scale);
	if (f->zoom != 1 || f->border)
		printf("  stored as %u x %u, enlarged %u times, with a border of %u\n",
		       f->source_height, f->source_width, f->zoom, f->border);
	print_floats("mean of train", f->mean, f->channels);
	print_floats("deviation of train", f->deviation, f->channels);
}

static void print_counts(const struct scan *scan)
{
	uint64_t total = 0;
	printf("%-24s", "samples");
	for (int part = 0; part < TN_N_PARTS; part++) {
		printf(" %12s", part_names[part]);
		total += tn_dataset_count(scan->dataset, part);
	}
	for (uint32_t i = 0; i < scan->n_classes; i++) {
		printf("\n%5" PRIu32 "  %-17.17s", i,
		       tn_dataset_class_name(scan->dataset, (int32_t)i));
		for (int part = 0; part < TN_N_PARTS; part++)
			printf(" %12" PRIu64, scan->counts[part][i]);
	}
	printf("\n%-24s", "all");
	for (int part = 0; part < TN_N_PARTS; part++)
		printf(" %12" PRIu64, tn_dataset_count(scan->dataset, part));
	printf("\n%" PRIu64 " samples\n", total);
}

/* ---- What is wrong ---------------------------------------------------------------------------*/

/* The label of a sample, which is read; 0: it cannot be, which is printed. */
static int read_label(struct scan *scan, tn_data_loader *loader, int part, uint64_t index,
		      int32_t *label)
{
	struct tn_error_info error;
	struct tn_batch batch = {.struct_size = sizeof(batch)};
	if (tn_dataset_image(scan->dataset, part, index, label))
		return 1;
	if (tn_data_loader_seek(loader, (struct tn_data_position){0, index}, &error) ||
	    tn_data_loader_next(loader, &batch, &error)) {
		report_error(&error);
		scan->n_problems++;
		return 0;
	}
	*label = scan->n_classes ? ((const int32_t *)batch.data[1])[0] : 0;
	return 1;
}

/* Reads every sample of a part. */
static int scan_part(struct scan *scan, int part)
{
	struct tn_error_info error;
	tn_data_loader *loader = NULL;
	struct tn_data_loader_options o = tn_data_loader_defaults();
	uint64_t n = tn_dataset_count(scan->dataset, part);
	o.batch_size = 1;
	if (tn_data_loader_create(scan->dataset, part, &o, &loader, &error))
		return report_error(&error);
	for (uint64_t i = 0; i < n; i++) {
		int32_t label;
		if (!read_label(scan, loader, part, i, &label) || !scan->n_classes)
			continue;
		if (label < 0 || (uint32_t)label >= scan->n_classes) {
			print_error("tenon data: %s: %s, sample %" PRIu64
				    ": expected a label from 0 to %u, found %d",
				    scan->name, part_names[part], i, scan->n_classes - 1,
				    (int)label);
			scan->n_problems++;
			continue;
		}
		scan->counts[part][label]++;
		contact_sheet_add(&scan->sheet, label, part, i);
	}
	tn_data_loader_destroy(loader);
	return EXIT_DONE;
}

/* The classes without a sample in a part, of which the first few are named. */
enum { MOST_NAMED = 8 };

static void check_part(struct scan *scan, int part)
{
	uint64_t n = 0;
	for (uint32_t i = 0; i < scan->n_classes; i++) {
		if (scan->counts[part][i] || n++ >= MOST_NAMED)
			continue;
		print_error("tenon data: %s: class %u ('%s'): expected samples in %s, found none",
			    scan->name, i, tn_dataset_class_name(scan->dataset, (int32_t)i),
			    part_names[part]);
	}
	if (n > MOST_NAMED)
		print_error("tenon data: %s: and %" PRIu64 " classes more without samples in %s",
			    scan->name, n - MOST_NAMED, part_names[part]);
	scan->n_problems += n;
}

/* A part that has samples has some of each class. */
static void check_classes(struct scan *scan)
{
	for (int part = 0; part < TN_N_PARTS; part++) {
		if (tn_dataset_count(scan->dataset, part))
			check_part(scan, part);
	}
}

/* ---- One of them -----------------------------------------------------------------------------*/

/* Are labels in field 1? */
static uint32_t count_classes(const tn_dataset *dataset)
{
	struct tn_field field;
	if (tn_dataset_field_count(dataset) < 2 || tn_dataset_field_at(dataset, 1, &field) ||
	    field.dtype != TN_I32 || field.rank != 0)
		return 0;
	return tn_dataset_class_count(dataset);
}

static int write_sheet(const struct scan *scan)
{
	struct tn_error_info error;
	if (!scan->sheet.path)
		return EXIT_DONE;
	if (contact_sheet_write(&scan->sheet, scan->dataset, &error))
		return report_error(&error);
	const uint32_t n_rows = contact_sheet_rows(&scan->sheet, scan->dataset);
	char which[32] = "class";
	if (n_rows < scan->n_classes)
		snprintf(which, sizeof(which), "of the first %" PRIu32 " classes", n_rows);
	printf("%s: a row for each %s, in this order, of at most %" PRIu64 " samples\n",
	       scan->sheet.path, which, scan->sheet.columns);
	return EXIT_DONE;
}

static int inspect(struct scan *scan, int is_damaged)
{
	int code = EXIT_DONE;
	describe(scan->dataset, is_damaged);
	for (int part = 0; part < TN_N_PARTS && code == EXIT_DONE; part++)
		code = scan_part(scan, part);
	if (code != EXIT_DONE)
		return code;
	print_counts(scan);
	fflush(stdout);
	check_classes(scan);
	code = write_sheet(scan);
	if (scan->n_problems == 0 && !is_damaged)
		return code;
	print_error("tenon data: %s: %" PRIu64 " problem%s", scan->name, scan->n_problems,
		    scan->n_problems == 1 ? "" : "s");
	return EXIT_FAILED;
}

static int show_one(struct scan *scan)
{
	tn_dataset *dataset = NULL;
	int is_damaged, has_memory = 1;
	int code = open_data(scan, &dataset, &is_damaged);
	if (code != EXIT_DONE)
		return code;
	scan->dataset = dataset;
	scan->n_classes = count_classes(dataset);
	if (scan->sheet.path && (!tn_dataset_format(dataset) || !scan->n_classes)) {
		print_error("tenon data: --sheet: %s: expected labelled pictures", scan->name);
		tn_dataset_destroy(dataset);
		return EXIT_FAILED;
	}
	for (int part = 0; part < TN_N_PARTS; part++) {
		scan->counts[part] = calloc(scan->n_classes + 1, sizeof(uint64_t));
		has_memory &= scan->counts[part] != NULL;
	}
	if (scan->sheet.path)
		has_memory &= contact_sheet_begin(&scan->sheet, scan->n_classes);
	code = has_memory ? inspect(scan, is_damaged) : no_memory("the counts of classes");
	for (int part = 0; part < TN_N_PARTS; part++)
		free(scan->counts[part]);
	contact_sheet_end(&scan->sheet);
	tn_dataset_destroy(dataset);
	return code;
}

int command_data(int argc, char **argv)
{
	struct scan scan = {.sheet = {.columns = 10}};
	const struct option_row rows[] = {
		{"sheet", "FILE", "write a PNG of samples, a row for each class",
		 .text = &scan.sheet.path},
		{"samples", "N", "samples of each class on it (10)", .count = &scan.sheet.columns,
		 .lowest = 1, .highest = 1000},
		{"classes", "N", "classes, some of which may have no samples",
		 .count = &scan.wanted, .lowest = 1, .highest = 65536},
		{"no-header", NULL, "the first row of a CSV file has no names",
		 .flag = &scan.no_header},
	};
	const struct option_table table = {
		.command = "tenon data",
		.operands = "[NAME|DIR]",
		.about = "  Lists the data sets known by name, or checks and counts one.\n",
		.rows = rows,
		.n_rows = N_ROWS(rows),
	};
	int code = option_table_read(&table, argc, argv);
	if (code != OPTIONS_READ)
		return code;
	if (optind + 1 < argc)
		return usage_error("data", "expected one NAME or DIR, found %d words",
				   argc - optind);
	scan.name = optind < argc ? argv[optind] : NULL;
	if (!scan.name && scan.sheet.path)
		return usage_error("data", "--sheet: expected a NAME or DIR, found none");
	if (scan.sheet.path && !output_possible("data", "--sheet", scan.sheet.path, OUTPUT_WHOLE))
		return EXIT_FAILED;
	return scan.name ? show_one(&scan) : list_all();
}
