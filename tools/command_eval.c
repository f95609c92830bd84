/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * tenon eval: a saved network's, or given weights', loss and accuracy on a data set.
 */
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/memory.h"
#include "confusion.h"
#include "picture_options.h"
#include "print_error.h"
#include "test_part.h"
#include "tool.h"

struct eval_command {
	struct common_options common;
	const char *data;
	const char *path;
	const char *model; /* of weights that do not say it */
	struct picture_options pictures;
	int confusion;
	int json;
};

static int parse_arguments(struct eval_command *c, int argc, char **argv)
{
	const struct option_row rows[] = {
		{"data", "NAME|DIR", "test on this data set instead of that of its training",
		 .text = &c->data},
		{"model", "NAME[:FORM]", "the network, if FILE does not say it", .text = &c->model},
		normalise_row(&c->pictures),
		resize_row(&c->pictures),
		crop_row(&c->pictures),
		{"confusion", NULL, "print the confusion matrix", .flag = &c->confusion},
		{"json", NULL, "print the result as JSON", .flag = &c->json},
		{"backend", "NAME", "as TENON_BACKEND", .text = &c->common.backend},
		{"backend-option", "N=V", backend_option_help, .take = take_backend_option,
		 .values = &c->common, .expected = backend_option_form},
		{"ledger", NULL, "print where operations ran", .flag = &c->common.ledger},
	};
	const struct option_table table = {"tenon eval", "FILE", NULL, rows, N_ROWS(rows), NULL, 0};
	int code = option_table_read(&table, argc, argv);
	if (code == OPTIONS_READ)
		code = picture_options_check_model(&c->pictures, "eval", c->model);
	if (code != OPTIONS_READ)
		return code;
	if (argc - optind != 1)
		return usage_error("eval", "expected one FILE, found %d words", argc - optind);
	c->path = argv[optind];
	if (c->model && !c->data)
		return usage_error("eval", "--model: expected --data too, found none");
	return OPTIONS_READ;
}

static int check_format(const struct eval_command *c, const struct saved_network *network,
			const tn_dataset *dataset)
{
	const struct tn_input_format *a = &network->format, *b = tn_dataset_format(dataset);
	if (!b) {
		not_pictures("eval", dataset);
		return 0;
	}
	if (a->channels == b->channels && a->height == b->height && a->width == b->width &&
	    a->n_classes == b->n_classes)
		return 1;
	print_error("tenon eval: %s: the network expects %u x %u x %u and %u classes, the data set "
		    "'%s' has %u x %u x %u and %u",
		    c->path, a->channels, a->height, a->width, a->n_classes,
		    tn_dataset_name(dataset), b->channels, b->height, b->width, b->n_classes);
	return 0;
}

/* Classes are numbered by each data set: says where the names differ, but for numbers. */
static void compare_names(const struct saved_network *network, const tn_dataset *dataset)
{
	char name[64];
	for (int32_t i = 0; i < (int32_t)network->format.n_classes; i++) {
		const char *other = tn_dataset_class_name(dataset, i);
		class_name(network->classes, i, name, sizeof(name));
		if (!other || !strncmp(name, other, sizeof(name) - 1) ||
		    !name[strspn(name, "0123456789")] || !other[strspn(other, "0123456789")])
			continue;
		print_error("tenon eval: class %d is '%s' in the network and '%s' in the data set "
			    "'%s': is it the same?",
			    (int)i, name, other, tn_dataset_name(dataset));
		return;
	}
}

static void add_confusion(struct tn_json_writer *json, const uint64_t *confusion, uint32_t n)
{
	tn_json_begin_array(json, "confusion");
	for (uint32_t row = 0; row < n; row++) {
		tn_json_begin_array(json, NULL);
		for (uint32_t column = 0; column < n; column++)
			tn_json_add_unsigned(json, NULL, confusion[(size_t)row * n + column]);
		tn_json_end(json);
	}
	tn_json_end(json);
}

/* 0: no memory. */
static int print_json(const struct eval_command *c, const struct test_result *result,
		      const uint64_t *confusion, uint32_t n)
{
	struct tn_json_writer json;
	char seconds[64];
	snprintf(seconds, sizeof(seconds), "%.3f", result->seconds);
	tn_json_writer_init(&json, TN_JSON_SPACED);
	tn_json_begin_object(&json, NULL);
	tn_json_add_number(&json, "test_loss", result->loss, 9);
	tn_json_add_number(&json, "test_accuracy", result->accuracy, 9);
	tn_json_add_unsigned(&json, "images", result->images);
	tn_json_add_raw(&json, "seconds", seconds);
	if (c->confusion)
		add_confusion(&json, confusion, n);
	tn_json_end(&json);
	char *text = tn_json_writer_take(&json);
	if (text)
		puts(text);
	else
		no_memory("the result");
	tn_mem_free(text);
	return text != NULL;
}

static int evaluate(const struct eval_command *c, tn_context *context,
		    struct saved_network *network, const tn_dataset *dataset)
{
	struct test_result result;
	uint32_t n = network->format.n_classes;
	if (!check_format(c, network, dataset))
		return EXIT_FAILED;
	if (!tn_dataset_count(dataset, TN_PART_TEST)) {
		print_error("tenon eval: %s: expected a test part, found none (%s)",
			    tn_dataset_name(dataset),
			    c->model ? "and --normalise own needs the training part"
				     : "--data tests on all of another data set");
		return EXIT_FAILED;
	}
	compare_names(network, dataset);
	uint64_t *confusion = calloc((size_t)n * n, sizeof(*confusion));
	if (!confusion)
		return no_memory("the answers by class");
	const int done = test_part(context, NULL, network->module, dataset, &result, confusion);
	if (done && !isfinite(result.loss)) {
		print_error("tenon eval: %s: the loss is not a finite number", c->path);
		free(confusion);
		return EXIT_FAILED;
	}
	int is_printed = done;
	if (done) {
		say_untested("eval", dataset, network->has_spare, confusion);
		if (c->json)
			is_printed = print_json(c, &result, confusion, n);
		else
			printf("test accuracy %.2f%% (loss %.4f, %" PRIu64 " images)\n",
			       100.0 * result.accuracy, result.loss, result.images);
		if (c->confusion && !c->json)
			print_confusion(confusion, n, network->classes);
	}
	free(confusion);
	int code = finish(context);
	return is_printed ? code : EXIT_FAILED;
}

static int open_data(const struct eval_command *c, const struct saved_network *network,
		     uint32_t n_classes, tn_dataset **dataset)
{
	struct tn_error_info error;
	struct tn_dataset_options o = tn_dataset_defaults();
	o.normalise_as = &network->format;
	o.test_fraction = c->data ? 1.0 : 0.0;
	o.keep_own_parts = 1;
	o.n_classes = n_classes;
	if (tn_dataset_open(c->data ? c->data : network->data, &o, dataset, &error))
		return report_error(&error);
	return EXIT_DONE;
}

/* Whether the network has classes that the data set lacks, all of them without names, as train
 * --classes makes them. */
static int has_spare_classes(const struct saved_network *network, const tn_dataset *dataset)
{
	const uint32_t n = network->format.n_classes, n_data = tn_dataset_class_count(dataset);
	char name[64], number[12];
	for (uint32_t i = n_data; i < n; i++) {
		snprintf(number, sizeof(number), "%u", i);
		if (strcmp(class_name(network->classes, i, name, sizeof(name)), number) != 0)
			return 0;
	}
	return n_data && n_data < n;
}

/* A saved network, and the data set that it names or another one.  Of other data than the network's
 * own all is for tests, unless it has a test part. */
static int open_saved(const struct eval_command *c, tn_context *context,
		      struct saved_network *network, tn_dataset **dataset)
{
	int code = saved_network_open(context, c->path, network);
	if (code == EXIT_DONE)
		code = open_data(c, network, 0, dataset);
	if (code != EXIT_DONE || !has_spare_classes(network, *dataset))
		return code;
	network->has_spare = 1;
	tn_dataset_destroy(*dataset);
	*dataset = NULL;
	return open_data(c, network, network->format.n_classes, dataset);
}

/* A data set, and the network for its pictures.  A data set's own mean is that of its training
 * part, which must not become the test part. */
static int open_weights(const struct eval_command *c, tn_context *context,
			struct saved_network *network, tn_dataset **dataset)
{
	struct tn_error_info error;
	struct tn_input_format as;
	struct tn_dataset_options o = tn_dataset_defaults();
	o.test_fraction = c->pictures.normalise == NORMALISE_OWN ? 0.0 : 1.0;
	o.keep_own_parts = 1;
	int code = picture_options_apply(&c->pictures, c->model, &as, &o);
	if (code != EXIT_DONE)
		return code;
	if (tn_dataset_open(c->data, &o, dataset, &error))
		return report_error(&error);
	const struct tn_input_format *format = tn_dataset_format(*dataset);
	if (!format)
		return not_pictures("eval", *dataset);
	char *classes = class_lines(*dataset);
	code = weights_open(context, c->path, c->model, format, classes, network);
	free(classes);
	return code;
}

static int run(const struct eval_command *c, tn_context *context)
{
	struct saved_network network = {0};
	tn_dataset *dataset = NULL;
	int code = c->model ? open_weights(c, context, &network, &dataset)
			    : open_saved(c, context, &network, &dataset);
	if (code == EXIT_DONE)
		code = evaluate(c, context, &network, dataset);
	tn_dataset_destroy(dataset);
	saved_network_release(&network);
	if (code == EXIT_DONE && c->common.ledger)
		print_ledger(context);
	return code;
}

int command_eval(int argc, char **argv)
{
	struct eval_command c = {.pictures = {.normalise = NORMALISE_UNSTATED}};
	int code = parse_arguments(&c, argc, argv);
	if (code >= 0)
		return code;
	tn_context *context = open_context(&c.common, TN_SEED_FROM_ENVIRONMENT, &code);
	if (context)
		code = run(&c, context);
	tn_context_close(context);
	return code;
}
