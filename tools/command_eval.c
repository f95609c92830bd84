/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 */
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tool.h"

struct eval_command {
	struct common_options common;
	const char *data;
	const char *path;
	int confusion;
	int json;
};

static int parse_arguments(struct eval_command *c, int argc, char **argv)
{
	const struct option_row rows[] = {
		{"data", "NAME|DIR", "test on this data set instead of the one it was trained on",
		 .text = &c->data},
		{"confusion", NULL, "print the confusion matrix", .flag = &c->confusion},
		{"json", NULL, "print the result as JSON", .flag = &c->json},
		{"backend", "NAME", "as TENON_BACKEND", .text = &c->common.backend},
		{"ledger", NULL, "print where operations ran", .flag = &c->common.ledger},
	};
	const struct option_table table = {"tenon eval", "FILE", NULL, rows, N_ROWS(rows)};
	int code = option_table_read(&table, argc, argv);
	if (code != OPTIONS_READ)
		return code;
	if (argc - optind != 1)
		return usage_error("eval", "expected one FILE, found %d words", argc - optind);
	c->path = argv[optind];
	return OPTIONS_READ;
}

/* The column width: the digits of the largest number. */
static void print_confusion(const uint64_t *confusion, uint32_t n, const char *classes)
{
	char name[32];
	uint64_t largest = n - 1;
	for (size_t i = 0; i < (size_t)n * n; i++)
		largest = confusion[i] > largest ? confusion[i] : largest;
	int width = 1 + snprintf(NULL, 0, "%" PRIu64, largest);
	printf("\nlabel \\ answer");
	for (uint32_t i = 0; i < n; i++)
		printf(" %*u", width, i);
	for (uint32_t row = 0; row < n; row++) {
		printf("\n%-14.14s", class_name(classes, row, name, sizeof(name)));
		for (uint32_t column = 0; column < n; column++)
			printf(" %*" PRIu64, width, confusion[row * n + column]);
	}
	printf("\n");
}

static int check_format(const struct saved_network *network, const tn_dataset *dataset)
{
	const struct tn_input_format *a = &network->format, *b = tn_dataset_format(dataset);
	if (!b) {
		fprintf(stderr, "tenon eval: %s: expected labelled pictures\n",
			tn_dataset_name(dataset));
		return 0;
	}
	if (a->channels == b->channels && a->height == b->height && a->width == b->width &&
	    a->n_classes == b->n_classes)
		return 1;
	fprintf(stderr,
		"tenon eval: the network expects %u x %u x %u and %u classes, the data set '%s' "
		"has "
		"%u x %u x %u and "
		"%u\n",
		a->channels, a->height, a->width, a->n_classes, tn_dataset_name(dataset),
		b->channels, b->height, b->width, b->n_classes);
	return 0;
}

static int evaluate(const struct eval_command *c, tn_context *context,
		    struct saved_network *network, const tn_dataset *dataset)
{
	struct tn_evaluation result;
	uint32_t n = network->format.n_classes;
	if (!check_format(network, dataset))
		return EXIT_FAILED;
	if (!tn_dataset_count(dataset, TN_PART_TEST)) {
		fprintf(stderr,
			"tenon eval: %s: expected a test part, found none (--data tests on all "
			"of another data set)\n",
			tn_dataset_name(dataset));
		return EXIT_FAILED;
	}
	uint64_t *confusion = calloc((size_t)n * n, sizeof(*confusion));
	if (!confusion)
		return EXIT_FAILED;
	if (!tn_evaluate(network->module, dataset, TN_PART_TEST, 0, &result, confusion) &&
	    !isfinite(result.loss)) {
		fprintf(stderr, "tenon eval: the loss is not a finite number\n");
		free(confusion);
		return EXIT_FAILED;
	}
	if (!tn_error(context)) {
		if (c->json)
			printf("{\"test_loss\": %.9g, \"test_accuracy\": %.9g, \"images\": %" PRIu64
			       ", \"seconds\": %.3f}\n",
			       result.loss, result.accuracy, result.images, result.seconds);
		else
			printf("test accuracy %.2f%% (loss %.4f, %" PRIu64 " images)\n",
			       100.0 * result.accuracy, result.loss, result.images);
		if (c->confusion && !c->json)
			print_confusion(confusion, n, network->classes);
	}
	free(confusion);
	return finish(context);
}

static int run(const struct eval_command *c, tn_context *context)
{
	struct tn_error_info error;
	struct saved_network network;
	tn_dataset *dataset = NULL;
	int code = saved_network_open(context, c->path, &network);
	if (code != EXIT_DONE)
		return code;
	/* Of other data than the network's own all is for tests, unless it has a test part. */
	const struct tn_dataset_options o = {.struct_size = sizeof(o),
					     .normalise_as = &network.format,
					     .test_fraction = c->data ? 1.0 : 0.0,
					     .keep_own_parts = 1};
	if (tn_dataset_open(c->data ? c->data : network.data, &o, &dataset, &error))
		code = report_error(&error);
	else
		code = evaluate(c, context, &network, dataset);
	tn_dataset_destroy(dataset);
	saved_network_release(&network);
	if (code == EXIT_DONE && c->common.ledger)
		print_ledger(context);
	return code;
}

int command_eval(int argc, char **argv)
{
	struct eval_command c = {.data = NULL};
	int code = parse_arguments(&c, argc, argv);
	if (code >= 0)
		return code;
	tn_context *context = open_context(&c.common, 0, &code);
	if (context)
		code = run(&c, context);
	tn_context_close(context);
	return code;
}
