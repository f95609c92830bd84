/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The trainer with captured steps compared with the trainer without, for tests on several backends.
 */
#ifndef TN_TESTS_CAPTURE_TRAIN_H
#define TN_TESTS_CAPTURE_TRAIN_H

#include <tenon/tenon.h>

#include "check.h"

/* 45 images for training make five batches of eight and one of five. */
enum { TRAIN_SIDE = 6, TRAIN_IMAGES = 54, TRAIN_CLASSES = 3, TRAIN_EPOCHS = 3, TRAIN_STEPS = 18 };

/* The results of a training. */
struct history {
	double losses[TRAIN_STEPS];
	struct {
		uint64_t samples;
		double loss, accuracy, validation_loss;
	} epochs[TRAIN_EPOCHS];
	float weights[64];
	uint64_t replays;
	uint64_t stream;
};

static inline tn_dataset *train_dataset(void)
{
	static uint8_t images[TRAIN_IMAGES][TRAIN_SIDE][TRAIN_SIDE];
	static int32_t labels[TRAIN_IMAGES];
	struct tn_error_info error;
	tn_dataset *dataset = NULL;
	for (int i = 0; i < TRAIN_IMAGES; i++) {
		labels[i] = i % TRAIN_CLASSES;
		for (int y = 0; y < TRAIN_SIDE; y++) {
			for (int x = 0; x < TRAIN_SIDE; x++)
				images[i][y][x] = (uint8_t)((x / 2 == labels[i] ? 150 : 0) +
							    (i * 31 + y * 17 + x * 7) % 90);
		}
	}
	struct tn_dataset_source source = tn_dataset_source_defaults();
	source.channels = 1;
	source.height = TRAIN_SIDE;
	source.width = TRAIN_SIDE;
	source.name = "bars";
	source.images = &images[0][0][0];
	source.labels = labels;
	source.n_images = TRAIN_IMAGES;
	source.n_classes = TRAIN_CLASSES;
	source.validation_fraction = 0.17;
	assert_ok(tn_dataset_create(&source, &dataset, &error));
	return dataset;
}

static inline int keep_step(void *user, const struct tn_trainer_step *step)
{
	struct history *history = user;
	history->losses[step->step - 1] = step->loss;
	return 0;
}

static inline int keep_epoch(void *user, const struct tn_trainer_epoch *epoch)
{
	struct history *history = user;
	const size_t i = epoch->epoch - 1;
	history->epochs[i].samples = epoch->train->samples;
	history->epochs[i].loss = epoch->train->loss;
	history->epochs[i].accuracy = epoch->train->metrics[0];
	history->epochs[i].validation_loss = epoch->validation->loss;
	return 0;
}

static inline tn_data_loader *train_loader(const tn_dataset *dataset, int part, uint32_t batch_size)
{
	tn_data_loader *loader = NULL;
	struct tn_data_loader_options options = tn_data_loader_defaults();
	options.batch_size = batch_size;
	options.shuffle = part == TN_PART_TRAIN;
	assert_ok(tn_data_loader_create(dataset, part, &options, &loader, NULL));
	return loader;
}

/* Convolution, pool, dropout and a linear layer. */
static inline tn_module *train_net(tn_context *context)
{
	static const struct tn_pool2d_options pool = {.struct_size = sizeof(pool),
						      .kernel = {2, 2}};
	tn_module *net = tn_module_sequential(context);
	tn_random_set_state(context, (struct tn_random_state){.seed = 3, .stream = 0});
	tn_module_sequential_add(net, "conv", tn_module_conv2d(context, 1, 2, 3, 3, NULL));
	tn_module_sequential_add(net, "relu", tn_module_relu(context));
	tn_module_sequential_add(net, "pool", tn_module_max_pool2d(context, &pool));
	tn_module_sequential_add(net, "flatten", tn_module_flatten(context));
	tn_module_sequential_add(net, "dropout", tn_module_dropout(context, 0.25));
	tn_module_sequential_add(net, "fc", tn_module_linear(context, 8, TRAIN_CLASSES, NULL));
	return net;
}

static inline uint64_t replays_of(const tn_context *context)
{
	struct tn_ledger_row row = {.struct_size = sizeof(row)};
	for (size_t i = 0; !tn_ledger_at(context, i, &row); i++) {
		if (!strcmp(row.operation, "replay"))
			return row.native;
	}
	return 0;
}

/* Trains the network, which is built and consumed; keeps the error. */
static inline tn_status train_batches(tn_context *context, tn_module *net, uint32_t capture,
				      uint32_t batch_size, struct history *history)
{
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	struct tn_adamw_options adamw = tn_adamw_defaults();
	struct tn_schedule_options cosine = tn_schedule_defaults();
	struct tn_trainer_options options = tn_trainer_defaults();
	tn_dataset *dataset = train_dataset();
	tn_metric *accuracy = tn_metric_create(context, NULL);
	assert_int_equal(tn_dataset_count(dataset, TN_PART_TRAIN), 45);
	memset(history, 0, sizeof(*history));
	options.train = train_loader(dataset, TN_PART_TRAIN, batch_size);
	options.validation = train_loader(dataset, TN_PART_VALIDATION, 256);
	uint64_t before = replays_of(context);
	tn_status status = tn_module_build(net);
	adamw.lr = 0.01;
	tn_optimizer *optimizer = status ? NULL : tn_adamw(net, &adamw);
	cosine.kind = TN_SCHEDULE_COSINE;
	cosine.period = TRAIN_EPOCHS * tn_data_loader_batches(options.train);
	options.schedule = tn_schedule_create(optimizer, &cosine);
	options.n_metrics = 1;
	options.metrics = &accuracy;
	options.n_epochs = TRAIN_EPOCHS;
	options.on_step = keep_step;
	options.on_epoch = keep_epoch;
	options.user = history;
	options.capture = capture;
	tn_trainer *trainer = status ? NULL : tn_trainer_create(net, optimizer, &options);
	if (!status)
		status = trainer ? tn_trainer_run(trainer) : tn_error(context)->status;
	if (!status) {
		assert_ok(tn_module_parameter(net, "fc.weight", &view));
		assert_ok(tn_to_host(view.value, history->weights,
				     (size_t)tn_array_size(view.value) * sizeof(float)));
	}
	history->replays = replays_of(context) - before;
	history->stream = tn_random_get_state(context).stream;
	tn_trainer_destroy(trainer);
	tn_schedule_destroy(options.schedule);
	tn_metric_destroy(accuracy);
	tn_data_loader_destroy(options.train);
	tn_data_loader_destroy(options.validation);
	tn_optimizer_destroy(optimizer);
	tn_module_destroy(net);
	tn_dataset_destroy(dataset);
	return status;
}

static inline tn_status train_history(tn_context *context, tn_module *net, uint32_t capture,
				      struct history *history)
{
	return train_batches(context, net, capture, 8, history);
}

static inline void assert_same_history(const struct history *a, const struct history *b)
{
	for (int i = 0; i < TRAIN_STEPS; i++) {
		if (a->losses[i] != b->losses[i])
			fail_msg("step %d: loss %.9g, expected %.9g", i, a->losses[i],
				 b->losses[i]);
	}
	for (int i = 0; i < TRAIN_EPOCHS; i++) {
		assert_int_equal(a->epochs[i].samples, b->epochs[i].samples);
		assert_true(a->epochs[i].loss == b->epochs[i].loss);
		assert_true(a->epochs[i].accuracy == b->epochs[i].accuracy);
		assert_true(a->epochs[i].validation_loss == b->epochs[i].validation_loss);
	}
	assert_memory_equal(a->weights, b->weights, sizeof(a->weights));
	assert_int_equal(a->stream, b->stream);
}

static inline int spoil_weights(void *user, const struct tn_trainer_epoch *epoch)
{
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	(void)epoch;
	assert_ok(tn_module_parameter(user, "fc.weight", &view));
	assert_ok(tn_fill(view.value, NAN));
	return 0;
}

/* The seventh step is the first replayed one of the second epoch: its update does not follow. */
static inline void check_spoilt_training(tn_context *context)
{
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 0.01;
	tn_dataset *dataset = train_dataset();
	tn_module *net = train_net(context);
	assert_ok(tn_module_build(net));
	tn_optimizer *optimizer = tn_sgd(net, &sgd);
	struct tn_trainer_options options = tn_trainer_defaults();
	options.train = train_loader(dataset, TN_PART_TRAIN, 8);
	options.n_epochs = TRAIN_EPOCHS;
	options.on_epoch = spoil_weights;
	options.user = net;
	options.capture = TN_CAPTURE_ON;
	tn_trainer *trainer = tn_trainer_create(net, optimizer, &options);
	uint64_t before = replays_of(context);
	assert_status(tn_trainer_run(trainer), TN_NOT_FINITE);
	assert_contains(tn_error(context)->text,
			"epoch 2, step 7: expected a finite loss, found nan");
	assert_int_equal(replays_of(context) - before, 2 * (5 - 1) + 1);
	tn_error_clear(context);
	tn_trainer_destroy(trainer);
	tn_data_loader_destroy(options.train);
	tn_optimizer_destroy(optimizer);
	tn_module_destroy(net);
	tn_dataset_destroy(dataset);
}

/* The replaying trainer gives bitwise the same results. */
static inline void check_replayed_training(tn_context *context)
{
	struct history eager, replayed;
	assert_ok(train_history(context, train_net(context), TN_CAPTURE_OFF, &eager));
	assert_int_equal(eager.replays, 0);
	assert_true(eager.losses[TRAIN_STEPS - 1] < eager.losses[0]);
	assert_int_equal(eager.epochs[TRAIN_EPOCHS - 1].samples, 45);
	assert_ok(train_history(context, train_net(context), TN_CAPTURE_AUTO, &replayed));
	/* Full batches, except the first one, and their updates. */
	assert_int_equal(replayed.replays, 2 * (3 * 5 - 1));
	assert_same_history(&replayed, &eager);
}

#endif
