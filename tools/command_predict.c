/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * tenon predict: a network's answers for pictures in files or of a data set.
 */
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "picture_options.h"
#include "print_error.h"
#include "tool.h"

struct predict_command {
	struct common_options common;
	const char *path;
	const char *data;
	const char *model; /* of weights that do not say it */
	struct picture_options pictures;
	uint64_t count;
	int invert;
	int show;
	int n_images;
	char **images;
};

static int parse_arguments(struct predict_command *c, int argc, char **argv)
{
	const struct option_row rows[] = {
		{"invert", NULL, "pictures are dark on light (networks learn the inverse)",
		 .flag = &c->invert},
		{"data", "NAME|DIR", "classify test images of this data set instead",
		 .text = &c->data},
		{"count", "N", "number of images (10)", .count = &c->count, .lowest = 1,
		 .highest = 1000000},
		{"model", "NAME[:FORM]", "the network, if FILE does not say it", .text = &c->model},
		normalise_row(&c->pictures),
		resize_row(&c->pictures),
		crop_row(&c->pictures),
		{"show", NULL, "draw each picture in text", .flag = &c->show},
		{"backend", "NAME", "as TENON_BACKEND", .text = &c->common.backend},
		{"backend-option", "N=V", backend_option_help, .take = take_backend_option,
		 .values = &c->common, .expected = backend_option_form},
	};
	const struct option_table table = {"tenon predict",
					   "FILE [IMAGE...]",
					   "  IMAGE...  PNG, JPEG, PBM, PGM or PPM pictures\n",
					   rows,
					   N_ROWS(rows),
					   NULL,
					   0};
	int code = option_table_read(&table, argc, argv);
	if (code == OPTIONS_READ)
		code = picture_options_check_model(&c->pictures, "predict", c->model);
	if (code != OPTIONS_READ)
		return code;
	if (argc - optind < 1)
		return usage_error("predict", "FILE is missing");
	c->path = argv[optind];
	c->images = argv + optind + 1;
	c->n_images = argc - optind - 1;
	if (!c->data == !c->n_images)
		return usage_error("predict", "expected pictures, or --data");
	if (c->model && !c->data && c->pictures.normalise == NORMALISE_OWN)
		return usage_error("predict", "--normalise own: expected --data too, found none");
	return OPTIONS_READ;
}

/* Draws the picture as the network sees it in text, two pixel rows per line. */
static void draw(const struct tn_input_format *f, const float *x)
{
	static const char shades[] = " .:-=+*#%@";
	float low = x[0], high = x[0];
	for (uint32_t i = 0; i < f->height * f->width; i++) {
		low = x[i] < low ? x[i] : low;
		high = x[i] > high ? x[i] : high;
	}
	for (uint32_t row = 0; row < f->height; row += 2) {
		for (uint32_t column = 0; column < f->width; column++) {
			float v = (x[row * f->width + column] - low) /
				  (high > low ? high - low : 1.0f);
			putchar(shades[(int)(v * 9.0f)]);
		}
		putchar('\n');
	}
}

/* Rejects probabilities that are not finite; returns the exit code. */
static int check_answer(const struct predict_command *c, const char *title, const float *p,
			uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (isfinite(p[i]))
			continue;
		print_error("tenon predict: %s: %s: the network gives a probability of %s: are "
			    "its weights finite?",
			    c->path, title, isnan(p[i]) ? "nan" : "inf");
		return EXIT_FAILED;
	}
	return EXIT_DONE;
}

/* Classifies one prepared input and prints the best three classes. */
static int classify(const struct predict_command *c, tn_context *context,
		    struct saved_network *network, const char *title, const float *x)
{
	char name[64];
	uint32_t n = network->format.n_classes;
	float *p = calloc(n, sizeof(*p));
	if (!p)
		return no_memory("the probabilities");
	if (tn_predict(network->module, &network->format, 1, x, p)) {
		free(p);
		finish(context);
		return EXIT_FAILED;
	}
	if (check_answer(c, title, p, n) != EXIT_DONE) {
		free(p);
		return EXIT_FAILED;
	}
	if (c->show)
		draw(&network->format, x);
	printf("%s:", title);
	for (uint32_t rank = 0; rank < 3 && rank < n; rank++) {
		uint32_t best = 0;
		for (uint32_t i = 1; i < n; i++)
			best = p[i] > p[best] ? i : best;
		printf("%s %s %.1f%%", rank ? "," : "",
		       class_name(network->classes, best, name, sizeof(name)),
		       100.0 * (double)p[best]);
		p[best] = -1.0f;
	}
	printf("\n");
	free(p);
	return EXIT_DONE;
}

/* Converts a picture into the network's input; returns the exit code. */
static int prepare_file(const struct predict_command *c, const struct saved_network *network,
			const char *path, float *x)
{
	struct tn_error_info error;
	struct tn_image image = {0};
	if (tn_image_read(path, &image, &error))
		return report_error(&error);
	const tn_status status =
		tn_input_format_apply(&network->format, &image, c->invert, x, &error);
	tn_image_release(&image);
	if (!status)
		return EXIT_DONE;
	struct tn_error_info named = error;
	snprintf(named.text, sizeof(named.text), "%.200s: %.300s", path, error.text);
	tn_text_make_printable(named.text);
	return report_error(&named);
}

/* Continues after a bad picture, but not after a bad network. */
static int predict_files(const struct predict_command *c, tn_context *context,
			 struct saved_network *network, float *x)
{
	int code = EXIT_DONE;
	for (int i = 0; i < c->n_images; i++) {
		if (prepare_file(c, network, c->images[i], x) != EXIT_DONE) {
			code = EXIT_FAILED;
			continue;
		}
		tn_text_make_printable(c->images[i]); /* it is read, and only shown from here on */
		if (classify(c, context, network, c->images[i], x) != EXIT_DONE)
			return EXIT_FAILED;
	}
	return code;
}

/* Does the data set have pictures as the network expects them? */
static int check_data(const struct predict_command *c, const struct saved_network *network,
		      const tn_dataset *dataset)
{
	const struct tn_input_format *f = tn_dataset_format(dataset);
	if (!f)
		return not_pictures("predict", dataset);
	if (f->channels == network->format.channels && f->height == network->format.height &&
	    f->width == network->format.width)
		return EXIT_DONE;
	print_error("tenon predict: %s: the network expects pictures of %u x %u x %u, the data set "
		    "'%s' has %u x %u x %u",
		    c->path, network->format.channels, network->format.height,
		    network->format.width, tn_dataset_name(dataset), f->channels, f->height,
		    f->width);
	return EXIT_FAILED;
}

/* Classifies images spread evenly over a part. */
static int predict_part(const struct predict_command *c, tn_context *context,
			struct saved_network *network, const tn_dataset *dataset, int part)
{
	struct tn_error_info error;
	tn_data_loader *loader = NULL;
	struct tn_data_loader_options o = tn_data_loader_defaults();
	uint64_t n = tn_dataset_count(dataset, part);
	int code = check_data(c, network, dataset);
	o.batch_size = 1;
	if (code == EXIT_DONE && tn_data_loader_create(dataset, part, &o, &loader, &error))
		code = report_error(&error);
	for (uint64_t i = 0; i < c->count && i < n && code == EXIT_DONE; i++) {
		char title[96];
		struct tn_batch batch = {.struct_size = sizeof(batch)};
		uint64_t index = i * n / (c->count < n ? c->count : n);
		if (tn_data_loader_seek(loader, (struct tn_data_position){0, index}, &error) ||
		    tn_data_loader_next(loader, &batch, &error)) {
			code = report_error(&error);
			break;
		}
		int32_t label = ((const int32_t *)batch.data[1])[0];
		snprintf(title, sizeof(title), "test image %" PRIu64 " (%.48s)", index,
			 tn_dataset_class_name(dataset, label));
		code = classify(c, context, network, title, batch.data[0]);
	}
	tn_data_loader_destroy(loader);
	return code;
}

/* The test part, or all of a data set without one, prepared as the network's format says. */
static int predict_data(const struct predict_command *c, tn_context *context,
			struct saved_network *network)
{
	struct tn_error_info error;
	tn_dataset *dataset = NULL;
	struct tn_dataset_options as_trained = tn_dataset_defaults();
	as_trained.normalise_as = &network->format;
	as_trained.test_fraction = 1.0;
	as_trained.keep_own_parts = 1;
	if (tn_dataset_open(c->data, &as_trained, &dataset, &error))
		return report_error(&error);
	int code = predict_part(c, context, network, dataset, TN_PART_TEST);
	tn_dataset_destroy(dataset);
	return code;
}

/* ---- Networks --------------------------------------------------------------------------------*/

/* Weights whose network the command line names, for pictures prepared as it says: with the data
 * set's own mean, that of its training part, before predict_data opens it as a whole. */
static int open_weights(const struct predict_command *c, tn_context *context,
			struct saved_network *network)
{
	struct tn_error_info error;
	struct tn_input_format as;
	tn_dataset *dataset = NULL;
	struct tn_dataset_options o = tn_dataset_defaults();
	int code = c->data ? picture_options_apply(&c->pictures, c->model, &as, &o)
			   : picture_options_format(&c->pictures, c->model, &as);
	if (code != EXIT_DONE)
		return code;
	if (!c->data)
		return weights_open(context, c->path, c->model, &as, NULL, network);
	if (tn_dataset_open(c->data, &o, &dataset, &error))
		return report_error(&error);
	const struct tn_input_format *format = tn_dataset_format(dataset);
	char *classes = format ? class_lines(dataset) : NULL;
	code = format ? weights_open(context, c->path, c->model, format, classes, network)
		      : not_pictures("predict", dataset);
	free(classes);
	tn_dataset_destroy(dataset);
	return code;
}

static int run(const struct predict_command *c, tn_context *context)
{
	struct saved_network network;
	int code = c->model ? open_weights(c, context, &network)
			    : saved_network_open(context, c->path, &network);
	if (code != EXIT_DONE)
		return code;
	const struct tn_input_format *f = &network.format;
	float *x = calloc((size_t)f->channels * f->height * f->width, sizeof(*x));
	if (!x)
		code = no_memory("a picture");
	else if (c->data)
		code = predict_data(c, context, &network);
	else
		code = predict_files(c, context, &network, x);
	free(x);
	saved_network_release(&network);
	return code;
}

int command_predict(int argc, char **argv)
{
	struct predict_command c = {.count = 10, .pictures = {.normalise = NORMALISE_UNSTATED}};
	int code = parse_arguments(&c, argc, argv);
	if (code >= 0)
		return code;
	tn_context *context = open_context(&c.common, TN_SEED_FROM_ENVIRONMENT, &code);
	if (context)
		code = run(&c, context);
	tn_context_close(context);
	return code;
}
