/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Data-parallel training steps on random data, on demand, as bench/rival/ddp_gloo.py has them in
 * PyTorch: forward, cross-entropy, backward with the reduction of gradients, SGD.
 *
 *     LAUNCHER -n RANKS bench/distributed MODEL BATCH [--sharded] [--wire-bf16]
 *
 * Ranks train on BATCH images a rank.  For each line on the standard input of rank 0 all of them
 * run one window of about a quarter second, and rank 0 prints the images per second of all
 * together.  Threads are those of TENON_THREADS.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tenon/distributed.h>
#include <tenon/tenon.h>

#include "networks.h"

#define WINDOW_SECONDS 0.25

struct bench {
	tn_context *context;
	tn_communicator *ranks;
	tn_module *net;
	tn_data_parallel *parallel; /* NULL: one rank */
	tn_optimizer *optimizer;
	tn_array *x;
	tn_array *labels;
	int64_t batch;
};

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Failures are kept by the context. */
static void step(struct bench *b)
{
	if (tn_scope_begin(b->context))
		return;
	tn_module_zero_gradients(b->net);
	tn_tape *tape = tn_tape_begin(b->context);
	tn_array *loss = tn_cross_entropy(tn_module_forward(b->net, b->x), b->labels, NULL);
	tn_status status = tn_tape_backward(tape, loss, NULL);
	tn_tape_end(tape);
	if (!status && b->parallel)
		status = tn_data_parallel_finish(b->parallel);
	if (!status)
		tn_optimizer_step(b->optimizer);
	tn_scope_end(b->context, NULL);
}

/* Seconds of so many steps of all ranks. */
static double window(struct bench *b, long steps)
{
	tn_barrier(b->ranks);
	const double start = now();
	for (long i = 0; i < steps; i++)
		step(b);
	tn_synchronize(b->context);
	tn_barrier(b->ranks);
	return now() - start;
}

/* Rank 0's number on all ranks. */
static int64_t agreed(struct bench *b, int64_t number)
{
	struct tn_collective_host host = tn_collective_host_defaults();
	host.operation = TN_COLLECTIVE_BROADCAST;
	host.dtype = TN_I64;
	host.n = 1;
	host.target = &number;
	tn_communicator_run(b->ranks, &host);
	return tn_error(b->context) ? 0 : number;
}

static void run(struct bench *b)
{
	const int64_t images = (int64_t)tn_communicator_size(b->ranks) * b->batch;
	const int is_first = tn_communicator_rank(b->ranks) == 0;
	int64_t steps = 1;
	double seconds = 0.0;
	char line[64];
	for (int i = 0; i < 3; i++)
		seconds = window(b, 1);
	for (;;) {
		if (is_first && !fgets(line, sizeof(line), stdin))
			steps = 0;
		else if (is_first)
			steps = (int64_t)(WINDOW_SECONDS * (double)steps / seconds + 0.5);
		if (is_first && steps < 1 && !feof(stdin))
			steps = 1;
		steps = agreed(b, steps);
		if (!steps)
			return;
		seconds = window(b, steps);
		if (is_first) {
			printf("%.1f\n", (double)(steps * images) / seconds);
			fflush(stdout);
		}
	}
}

static int prepare(struct bench *b, const char *model, const struct tn_data_parallel_options *how)
{
	const struct network network = network_find(model);
	struct tn_error_info error;
	if (!network.name)
		return fprintf(stderr, "there is no network '%s'\n", model), 0;
	const struct tn_model_shape *shape = &network.shape;
	if (tn_context_open(NULL, &b->context, &error) ||
	    tn_communicator_open(b->context, NULL, &b->ranks, &error))
		return fprintf(stderr, "%s\n", error.text), 0;
	b->net = network_create(b->context, &network);
	if (!b->net || tn_module_build(b->net))
		return 0;
	tn_module_set_training(b->net, 1);
	if (tn_communicator_size(b->ranks) > 1) {
		b->parallel = tn_data_parallel_create(b->net, b->ranks, how);
		if (!b->parallel)
			return 0;
	}
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 1e-3;
	sgd.momentum = network.momentum;
	b->optimizer = tn_sgd(b->net, &sgd);
	b->x = tn_random_normal(b->context, 4,
				(int64_t[]){b->batch, shape->channels, shape->height, shape->width},
				0, 1);
	b->labels = tn_astype(
		tn_random_uniform(b->context, 1, &b->batch, 0, (double)shape->n_classes), TN_I32);
	return b->optimizer && b->labels;
}

int main(int argc, char **argv)
{
	struct tn_data_parallel_options how = tn_data_parallel_defaults();
	struct bench b = {.batch = argc > 2 ? atoll(argv[2]) : 0};
	int failed = b.batch < 1;
	for (int i = 3; i < argc; i++) {
		how.sharded |= !strcmp(argv[i], "--sharded");
		if (!strcmp(argv[i], "--wire-bf16"))
			how.wire_dtype = TN_BF16;
	}
	if (failed) {
		fprintf(stderr, "usage: bench/distributed MODEL BATCH [--sharded] [--wire-bf16]\n");
		return 2;
	}
	failed = !prepare(&b, argv[1], &how);
	if (!failed)
		run(&b);
	if (b.context && tn_error(b.context)) {
		fprintf(stderr, "%s: %s\n", tn_error(b.context)->operation,
			tn_error(b.context)->text);
		failed = 1;
	}
	tn_optimizer_destroy(b.optimizer);
	tn_data_parallel_destroy(b.parallel);
	tn_module_destroy(b.net);
	tn_communicator_close(b.ranks);
	tn_context_close(b.context);
	return failed;
}
