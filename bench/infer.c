/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Inference on random data: forwards of a frozen network, one after the other, each with a result
 * of its own.  MODEL: as of bench/train.
 *
 *     bench/infer MODEL BATCH [--plain] [--on-demand]
 *
 * --plain leaves the network as it is.  --on-demand measures one window for each line on stdin;
 * else eleven are measured.  Each window, of a quarter second, prints images per second;
 * --on-demand prints the peak memory in KiB at the end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

#include "networks.h"

#define WINDOWS 11
#define WINDOW_SECONDS 0.25

struct bench {
	tn_context *context;
	tn_module *net;
	tn_array *x;
	int64_t batch;
};

static int forward(struct bench *b)
{
	if (tn_scope_begin(b->context))
		return 0;
	int done = tn_module_forward(b->net, b->x) != NULL;
	tn_scope_end(b->context, NULL);
	return done;
}

/* Images per second over one window; 0: an error, which the context keeps. */
static double window(struct bench *b)
{
	double start = network_clock(), seconds;
	int64_t forwards = 0;
	do {
		if (!forward(b))
			return 0.0;
		forwards++;
		seconds = network_clock() - start;
	} while (seconds < WINDOW_SECONDS);
	if (tn_synchronize(b->context))
		return 0.0;
	return (double)(forwards * b->batch) / (network_clock() - start);
}

static int prepare(struct bench *b, const char *model, int is_plain)
{
	const struct network network = network_find(model);
	struct tn_error_info error;
	if (!network.name) {
		fprintf(stderr, "there is no network '%s'\n", model);
		return 0;
	}
	if (tn_context_open(NULL, &b->context, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 0;
	}
	const struct tn_model_shape *shape = &network.shape;
	b->net = network_create(b->context, &network);
	if (!b->net || tn_module_build(b->net) || (!is_plain && tn_module_freeze(b->net)))
		return 0;
	b->x = tn_random_normal(b->context, 4,
				(int64_t[]){b->batch, shape->channels, shape->height, shape->width},
				0, 1);
	return b->x != NULL;
}

static int run(struct bench *b, int on_demand)
{
	char line[64];
	window(b); /* warm */
	for (int i = 0; on_demand ? fgets(line, sizeof(line), stdin) != NULL : i < WINDOWS; i++) {
		double rate = window(b);
		if (rate == 0.0)
			return 0;
		printf("%.1f\n", rate);
		fflush(stdout);
	}
	if (on_demand)
		printf("%ld\n", network_peak_memory());
	return 1;
}

static int has(int argc, char **argv, const char *word)
{
	for (int i = 3; i < argc; i++) {
		if (!strcmp(argv[i], word))
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct bench b = {.batch = argc > 2 ? atoll(argv[2]) : 0};
	if (b.batch < 1) {
		fprintf(stderr, "usage: bench/infer MODEL BATCH [--plain] [--on-demand]\n");
		return 2;
	}
	int done = prepare(&b, argv[1], has(argc, argv, "--plain")) &&
		   run(&b, has(argc, argv, "--on-demand"));
	if (!done && b.context && tn_error(b.context))
		fprintf(stderr, "%s: %s\n", tn_error(b.context)->operation,
			tn_error(b.context)->text);
	tn_module_destroy(b.net);
	tn_context_close(b.context);
	return !done;
}
