/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Does a data loader starve the network?  Training steps of ResNet-18 for CIFAR-10 on the batches
 * of a loader, beside steps on one batch that stays on the device, in turns.  The loader augments
 * as tn_dataset_augmentation advises for CIFAR: a crop from a padding of 4 pixels, and mirroring.
 *
 *     tests/with-plugins bench/loader [--threads N] [--filter TEXT] [--samples N]
 *
 * The files are synthetic: CIFAR's binary ones, JPEG files of 32 x 32 pixels by class, and of
 * 256 x 256, which are resized to 32 x 32.  A step with the loader takes the next batch, copies it
 * to the device and trains.  Lines for people say how much of the steps was spent waiting for
 * batches, the processor time of a step on either side, and that of loading a batch alone, which a
 * busy machine changes least.
 */
#include "config.h"

#include <time.h>

#include <tenon/tenon.h>

#include "line.h"
#include "loader_files.h"
#include "median.h"
#include "networks.h"

enum { BATCH = 32, STEPS = 4, SIDE = 32 };

struct bench {
	tn_context *context;
	tn_module *net;
	tn_optimizer *optimizer;
	tn_data_loader *loader;
	tn_array *x, *labels; /* the resident batch */
	double waited;        /* seconds in tn_data_loader_next */
};

/* Of the steps of one side. */
struct times {
	double wall[BENCH_MOST_SAMPLES];
	double processor[BENCH_MOST_SAMPLES];
	double waited[BENCH_MOST_SAMPLES];
};

static double clock_seconds(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static tn_status train(struct bench *b, const tn_array *x, const tn_array *labels)
{
	tn_module_zero_gradients(b->net);
	tn_tape *tape = tn_tape_begin(b->context);
	tn_array *loss = tn_cross_entropy(tn_module_forward(b->net, x), labels, NULL);
	tn_status status = tn_tape_backward(tape, loss, NULL);
	tn_tape_end(tape);
	return status ? status : tn_optimizer_step(b->optimizer);
}

/* The next full batch. */
static tn_status next_batch(struct bench *b, struct tn_batch *batch)
{
	struct tn_error_info error;
	double start = clock_seconds(CLOCK_MONOTONIC);
	tn_status status;
	do {
		status = tn_data_loader_next(b->loader, batch, &error);
	} while (!status && batch->n == 0);
	b->waited += clock_seconds(CLOCK_MONOTONIC) - start;
	if (status)
		fprintf(stderr, "%s\n", error.text);
	return status;
}

static tn_status step(struct bench *b, int with_loader)
{
	struct tn_batch batch = {.struct_size = sizeof(batch)};
	const int64_t shape[4] = {BATCH, 3, SIDE, SIDE};
	tn_status status = with_loader ? next_batch(b, &batch) : TN_OK;
	if (status || tn_scope_begin(b->context))
		return TN_PENDING_ERROR;
	if (with_loader)
		status = train(b, tn_from_host(b->context, TN_F32, 4, shape, batch.data[0]),
			       tn_from_host(b->context, TN_I32, 1, shape, batch.data[1]));
	else
		status = train(b, b->x, b->labels);
	tn_scope_end(b->context, NULL);
	return status;
}

/* One sample of a side.  The first step is not measured: it has what was loaded ahead, or runs
 * while that is loaded. */
static tn_status sample(struct bench *b, int with_loader, struct times *times, int i)
{
	tn_status status = step(b, with_loader);
	if (!status)
		status = tn_synchronize(b->context);
	b->waited = 0;
	double wall = clock_seconds(CLOCK_MONOTONIC);
	double processor = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
	for (int k = 0; k < STEPS && !status; k++)
		status = step(b, with_loader);
	if (!status)
		status = tn_synchronize(b->context);
	times->wall[i] = (clock_seconds(CLOCK_MONOTONIC) - wall) / STEPS;
	times->processor[i] = (clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - processor) / STEPS;
	times->waited[i] = b->waited / STEPS / times->wall[i];
	return status;
}

static int measure(struct bench *b, const char *name, int n)
{
	struct times loaded, resident;
	for (int i = 0; i < n; i++) {
		if (sample(b, 1, &loaded, i) || sample(b, 0, &resident, i))
			return 0;
	}
	bench_line(name, "ms", 1e3 * bench_median_of(loaded.wall, n),
		   1e3 * bench_median_of(resident.wall, n), "resident batch");
	printf("# waiting for batches: %.2f %% of a step; processor time: %.4g ms a step, %.4g on "
	       "a resident batch\n",
	       100 * bench_median_of(loaded.waited, n), 1e3 * bench_median_of(loaded.processor, n),
	       1e3 * bench_median_of(resident.processor, n));
	return 1;
}

/* context NULL: batches are loaded when asked for. */
static tn_data_loader *open_loader(tn_context *context, const tn_dataset *dataset)
{
	struct tn_error_info error;
	tn_data_loader *loader = NULL;
	struct tn_data_loader_options loading = tn_data_loader_defaults();
	loading.batch_size = BATCH;
	loading.shuffle = 1;
	loading.drop_last = 1;
	loading.augmentation = tn_dataset_augmentation(dataset);
	loading.context = context;
	if (tn_data_loader_create(dataset, TN_PART_TRAIN, &loading, &loader, &error))
		fprintf(stderr, "%s\n", error.text);
	return loader;
}

/* Prints the processor time of a batch without a network. */
static int load_alone(const tn_dataset *dataset)
{
	enum { BATCHES = 60 };
	struct bench alone = {.loader = open_loader(NULL, dataset)};
	struct tn_batch batch = {.struct_size = sizeof(batch)};
	int n = 0;
	double start = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
	while (alone.loader && n < BATCHES && !next_batch(&alone, &batch))
		n++;
	double seconds = clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
	tn_data_loader_destroy(alone.loader);
	printf("# a batch alone: %.4g ms of processor time\n", 1e3 * seconds / BATCHES);
	return n == BATCHES;
}

/* 0: a failure, which has been printed or which the context keeps. */
static int run_folder(struct bench *b, const char *name, const char *folder, int is_jpeg, int n)
{
	struct tn_error_info error;
	struct tn_dataset_options sides = tn_dataset_defaults();
	sides.image_height = SIDE;
	sides.image_width = SIDE;
	tn_dataset *dataset = NULL;
	if (tn_dataset_open(folder, is_jpeg ? &sides : NULL, &dataset, &error))
		fprintf(stderr, "%s\n", error.text);
	b->loader = dataset ? open_loader(b->context, dataset) : NULL;
	int done = b->loader && measure(b, name, n) && load_alone(dataset);
	tn_data_loader_destroy(b->loader);
	tn_dataset_destroy(dataset);
	return done;
}

static int run(struct bench *b, const struct bench_options *options)
{
	static const struct {
		const char *name;
		int side; /* of JPEG files; 0: CIFAR's binary ones */
	} cases[] = {
		{"loader resnet18 b32 cifar binary", 0},
		{"loader resnet18 b32 jpeg 32", 32},
		{"loader resnet18 b32 jpeg 256", 256},
	};
	int done = 1;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]) && done; i++) {
		int side = cases[i].side;
		if (!bench_wanted(options, cases[i].name))
			continue;
		char *folder = loader_folder();
		if (folder &&
		    (side ? loader_write_jpegs(folder, side) : loader_write_cifar(folder)))
			done = run_folder(b, cases[i].name, folder, side != 0, options->samples);
		loader_folder_remove(folder);
	}
	return done;
}

static int prepare(struct bench *b)
{
	const struct network network = network_find("resnet18");
	const int64_t shape[4] = {BATCH, 3, SIDE, SIDE};
	struct tn_error_info error;
	if (tn_context_open(NULL, &b->context, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 0;
	}
	b->net = network_create(b->context, &network);
	if (!b->net || tn_module_build(b->net))
		return 0;
	tn_module_set_training(b->net, 1);
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 1e-3;
	sgd.momentum = network.momentum;
	b->optimizer = tn_sgd(b->net, &sgd);
	b->x = tn_random_normal(b->context, 4, shape, 0, 1);
	b->labels = tn_astype(tn_random_uniform(b->context, 1, shape, 0, 10), TN_I32);
	return b->optimizer && b->labels;
}

int main(int argc, char **argv)
{
	struct bench_options options = bench_parse(argc, argv);
	char threads[16];
	snprintf(threads, sizeof(threads), "%d", options.threads);
	setenv("TENON_THREADS", threads, 1);
	struct bench b = {.loader = NULL};
	int done = prepare(&b) && run(&b, &options);
	if (!done && b.context && tn_error(b.context))
		fprintf(stderr, "%s: %s\n", tn_error(b.context)->operation,
			tn_error(b.context)->text);
	tn_optimizer_destroy(b.optimizer);
	tn_module_destroy(b.net);
	tn_context_close(b.context);
	return !done;
}
