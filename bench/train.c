/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Training steps on random data: forward, cross-entropy, backward, SGD (with momentum 0.9 but for
 * the first two), on one batch.  MODEL: mlp, lenet, resnet18, efficientnet, convnext, or one of the
 * gallery with its form, vgg11:small, with ten classes.
 *
 *     bench/train MODEL BATCH            measures eleven windows of a quarter second
 *     bench/train MODEL BATCH --on-demand   measures one window for each line on stdin, so that
 *                                        bench/compare can take turns with PyTorch
 *     bench/train MODEL BATCH --eager    captures no step
 *
 * Where the device's backend captures work, steps are captured and replayed,
 * as the trainer does it.
 *
 * Each window prints images per second.  At the end --on-demand prints the peak memory in KiB; the
 * other way prints a line about memory: the most that the pool handed out, what it has of the
 * system, the process's peak, and the page faults of a warm step.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <tenon/tenon.h>

#include "networks.h"

#define WINDOWS 11
#define WINDOW_SECONDS 0.25

struct bench {
	tn_context *context;
	tn_module *net;
	tn_optimizer *optimizer;
	tn_array *x;
	tn_array *labels;
	int64_t batch;
	int64_t steps;   /* so far */
	tn_graph *graph; /* of a step; NULL: steps are done as usual */
};

static int eager_step(struct bench *b)
{
	if (tn_scope_begin(b->context))
		return 0;
	tn_module_zero_gradients(b->net);
	tn_tape *tape = tn_tape_begin(b->context);
	tn_array *loss = tn_cross_entropy(tn_module_forward(b->net, b->x), b->labels, NULL);
	tn_status status = tn_tape_backward(tape, loss, NULL);
	tn_tape_end(tape);
	if (!status)
		status = tn_optimizer_step(b->optimizer);
	tn_scope_end(b->context, NULL);
	return !status;
}

/* 0: an error, which the context keeps. */
static int step(struct bench *b)
{
	b->steps++;
	return b->graph ? !tn_graph_replay(b->graph) : eager_step(b);
}

/* From here on steps are replayed, where that can be. */
static int capture(struct bench *b)
{
	tn_status status = tn_capture_begin(b->context);
	if (!status) {
		/* Its error is that of the end. */
		(void)eager_step(b);
		status = tn_capture_end(b->context, &b->graph);
	}
	if (status == TN_NOT_CAPTURABLE)
		printf("# steps are not captured: %s\n", tn_error(b->context)->text);
	if (status == TN_NOT_CAPTURABLE || status == TN_UNSUPPORTED) {
		tn_error_clear(b->context);
		return 1;
	}
	return !status;
}

/* Images per second over one window; 0: an error, which the context keeps. */
static double window(struct bench *b)
{
	double start = network_clock(), seconds;
	int64_t steps = 0;
	do {
		if (!step(b))
			return 0.0;
		steps++;
		seconds = network_clock() - start;
	} while (seconds < WINDOW_SECONDS);
	if (tn_synchronize(b->context))
		return 0.0;
	return (double)(steps * b->batch) / (network_clock() - start);
}

static int prepare(struct bench *b, const char *model)
{
	const struct network network = network_find(model);
	struct tn_error_info error;
	if (!network.name) {
		fprintf(stderr, "there is no network '%s'\n", model);
		return 0;
	}
	const struct tn_model_shape *shape = &network.shape;
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 1e-3;
	sgd.momentum = network.momentum;
	if (tn_context_open(NULL, &b->context, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 0;
	}
	b->net = network_create(b->context, &network);
	if (!b->net || tn_module_build(b->net))
		return 0;
	tn_module_set_training(b->net, 1);
	b->optimizer = tn_sgd(b->net, &sgd);
	b->x = tn_random_normal(b->context, 4,
				(int64_t[]){b->batch, shape->channels, shape->height, shape->width},
				0, 1);
	b->labels = tn_astype(
		tn_random_uniform(b->context, 1, &b->batch, 0, (double)shape->n_classes), TN_I32);
	return b->optimizer && b->labels;
}

static long page_faults(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt;
}

static void tell_memory(const struct bench *b, double faults_a_step)
{
	struct tn_memory_use use = {.struct_size = sizeof(use)};
	tn_device_get_memory_use(tn_device_current(b->context), &use);
	printf("# MiB: arrays at most %.1f, pool %.1f, process at most %.1f; %.2f page faults a "
	       "step\n",
	       (double)use.peak / 0x1p20, (double)(use.used + use.cached) / 0x1p20,
	       (double)network_peak_memory() / 1024, faults_a_step);
}

static int run(struct bench *b, int on_demand, int is_eager)
{
	char line[64];
	window(b); /* warm */
	if (!is_eager && !capture(b))
		return 0;
	long faults = page_faults();
	int64_t steps = b->steps;
	for (int i = 0; on_demand ? fgets(line, sizeof(line), stdin) != NULL : i < WINDOWS; i++) {
		double rate = window(b);
		if (rate == 0.0)
			return 0;
		printf("%.1f\n", rate);
		fflush(stdout);
	}
	if (on_demand)
		printf("%ld\n", network_peak_memory());
	else
		tell_memory(b, (double)(page_faults() - faults) / (double)(b->steps - steps));
	return 1;
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: bench/train MODEL BATCH [--on-demand | --eager]\n");
		return 2;
	}
	struct bench b = {.batch = atoll(argv[2])};
	const char *how = argc > 3 ? argv[3] : "";
	int done = b.batch > 0 && prepare(&b, argv[1]) &&
		   run(&b, !strcmp(how, "--on-demand"), !strcmp(how, "--eager"));
	if (!done && b.context && tn_error(b.context))
		fprintf(stderr, "%s: %s\n", tn_error(b.context)->operation,
			tn_error(b.context)->text);
	tn_graph_destroy(b.graph);
	tn_optimizer_destroy(b.optimizer);
	tn_module_destroy(b.net);
	tn_context_close(b.context);
	return !done;
}
