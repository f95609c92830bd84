/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A training with everything that a checkpoint keeps, step by step, and the bytes of its tensors,
 * for tests on several backends.
 */
#ifndef TN_TESTS_CHECKPOINT_RUN_H
#define TN_TESTS_CHECKPOINT_RUN_H

#include <tenon/tenon.h>

#include "io_files.h"

/* 45 images make five batches of eight and one of five. */
enum { RUN_SIDE = 6, RUN_IMAGES = 45, RUN_CLASSES = 3, RUN_BATCH = 8 };

enum { RUN_ADAMW, RUN_NADAM, RUN_SGD, RUN_LAMB, RUN_KINDS };

struct run {
	tn_context *context;
	tn_dataset *dataset;
	tn_module *net;
	tn_optimizer *optimizer;
	tn_schedule *schedule;
	tn_weight_average *average;
	tn_data_loader *loader;
	tn_array *x, *labels; /* of full batches */
	tn_graph *graph;      /* NULL: not captured yet */
	int is_captured;      /* from the second full batch on */
	int is_warm;
	uint64_t step;
	double losses[2]; /* the caller's own: a sum, and the last */
	int64_t shape[1];
	struct tn_checkpoint_array extra[2];
	struct tn_checkpoint all;
};

static inline tn_dataset *run_dataset(const char *name)
{
	static uint8_t images[RUN_IMAGES][RUN_SIDE][RUN_SIDE];
	static int32_t labels[RUN_IMAGES];
	struct tn_error_info error;
	tn_dataset *dataset = NULL;
	for (int i = 0; i < RUN_IMAGES; i++) {
		labels[i] = i % RUN_CLASSES;
		for (int y = 0; y < RUN_SIDE; y++) {
			for (int x = 0; x < RUN_SIDE; x++)
				images[i][y][x] = (uint8_t)((x / 2 == labels[i] ? 150 : 0) +
							    (i * 31 + y * 17 + x * 7) % 90);
		}
	}
	struct tn_dataset_source source = tn_dataset_source_defaults();
	source.channels = 1;
	source.height = RUN_SIDE;
	source.width = RUN_SIDE;
	source.name = name;
	source.images = &images[0][0][0];
	source.labels = labels;
	source.n_images = RUN_IMAGES;
	source.n_classes = RUN_CLASSES;
	assert_ok(tn_dataset_create(&source, &dataset, &error));
	return dataset;
}

/* Convolution, batch norm, dropout and a linear layer of `width` inputs to the last. */
static inline tn_module *run_net(tn_context *context, int64_t channels)
{
	tn_module *net = tn_module_sequential(context);
	tn_module_sequential_add(net, "conv", tn_module_conv2d(context, 1, channels, 3, 3, NULL));
	tn_module_sequential_add(net, "bn", tn_module_batch_norm2d(context, channels, NULL));
	tn_module_sequential_add(net, "relu", tn_module_relu(context));
	tn_module_sequential_add(net, "flatten", tn_module_flatten(context));
	tn_module_sequential_add(net, "dropout", tn_module_dropout(context, 0.25));
	tn_module_sequential_add(net, "fc",
				 tn_module_linear(context, 16 * channels, RUN_CLASSES, NULL));
	assert_ok(tn_module_build(net));
	tn_module_set_training(net, 1);
	return net;
}

static inline tn_optimizer *run_optimizer(tn_module *net, int kind)
{
	tn_optimizer *optimizer = NULL;
	if (kind == RUN_ADAMW) {
		struct tn_adamw_options adamw = tn_adamw_defaults();
		adamw.lr = 0.01;
		adamw.amsgrad = 1;
		optimizer = tn_adamw(net, &adamw);
		struct tn_group_options group = tn_group_defaults();
		group.max_rank = 1;
		group.weight_decay = 0;
		assert_ok(tn_optimizer_set_group(optimizer, &group));
		struct tn_lookahead_options lookahead = tn_lookahead_defaults();
		lookahead.k = 4;
		assert_ok(tn_lookahead(optimizer, &lookahead));
	} else if (kind == RUN_NADAM) {
		struct tn_nadam_options nadam = tn_nadam_defaults();
		nadam.lr = 0.01;
		optimizer = tn_nadam(net, &nadam);
		assert_ok(tn_optimizer_set_lasso(optimizer, 1e-3));
		assert_ok(tn_optimizer_set_gradient_noise(optimizer, 0.01, 0.55));
	} else if (kind == RUN_SGD) {
		struct tn_sgd_options sgd = tn_sgd_defaults();
		sgd.lr = 0.01;
		sgd.momentum = 0.9;
		sgd.weight_decay = 1e-4;
		sgd.nesterov = 1;
		optimizer = tn_sgd(net, &sgd);
	} else {
		struct tn_lamb_options lamb = tn_lamb_defaults();
		lamb.lr = 0.01;
		optimizer = tn_lamb(net, &lamb);
	}
	assert_non_null(optimizer);
	return optimizer;
}

/* All in a context; `seed` of its random state, which loading replaces. */
static inline void run_begin(struct run *run, tn_context *context, int kind, uint64_t seed)
{
	const int64_t images[] = {RUN_BATCH, 1, RUN_SIDE, RUN_SIDE};
	struct tn_augmentation augmentation = tn_augmentation_defaults();
	augmentation.max_shift = 2;
	augmentation.hflip_prob = 0.5;
	struct tn_data_loader_options loader = tn_data_loader_defaults();
	loader.batch_size = RUN_BATCH;
	loader.seed = 5;
	loader.shuffle = 1;
	loader.augmentation = &augmentation;
	struct tn_error_info error;
	memset(run, 0, sizeof(*run));
	run->context = context;
	tn_random_set_state(context, (struct tn_random_state){seed, seed});
	run->dataset = run_dataset("bars");
	run->net = run_net(context, 2);
	run->optimizer = run_optimizer(run->net, kind);
	struct tn_schedule_options options = tn_schedule_defaults();
	options.kind = TN_SCHEDULE_COSINE;
	options.period = 20;
	options.warmup = 3;
	run->schedule = tn_schedule_create(run->optimizer, &options);
	struct tn_weight_average_options averaging = tn_weight_average_defaults();
	averaging.decay = 0.9;
	run->average = tn_weight_average_create(run->net, &averaging);
	assert_ok(
		tn_data_loader_create(run->dataset, TN_PART_TRAIN, &loader, &run->loader, &error));
	run->x = tn_zeros(context, TN_F32, 4, images);
	run->labels = tn_zeros(context, TN_I32, 1, images);
	run->shape[0] = 2;
	run->extra[0] = (struct tn_checkpoint_array){"losses", TN_F64, 1, run->shape, run->losses};
	run->extra[1] = (struct tn_checkpoint_array){"step", TN_U64, 0, NULL, &run->step};
	run->all = (struct tn_checkpoint){.struct_size = sizeof(run->all),
					  .module = run->net,
					  .optimizer = run->optimizer,
					  .schedule = run->schedule,
					  .average = run->average,
					  .loader = run->loader,
					  .n_extra = 2,
					  .extra = run->extra};
}

static inline void run_end(struct run *run)
{
	tn_graph_destroy(run->graph);
	tn_array_destroy(run->x);
	tn_array_destroy(run->labels);
	tn_data_loader_destroy(run->loader);
	tn_weight_average_destroy(run->average);
	tn_schedule_destroy(run->schedule);
	tn_optimizer_destroy(run->optimizer);
	tn_module_destroy(run->net);
	tn_dataset_destroy(run->dataset);
}

/* One step on those arrays. */
static inline tn_status run_step(struct run *run, const tn_array *x, const tn_array *labels)
{
	tn_status status = tn_scope_begin(run->context);
	if (status)
		return status;
	tn_module_zero_gradients(run->net);
	tn_tape *tape = tn_tape_begin(run->context);
	tn_array *loss = tn_cross_entropy(tn_module_forward(run->net, x), labels, NULL);
	status = loss ? tn_tape_backward(tape, loss, NULL) : TN_PENDING_ERROR;
	tn_tape_end(tape);
	if (!status)
		status = tn_optimizer_step(run->optimizer);
	if (!status)
		status = tn_weight_average_update(run->average);
	tn_scope_end(run->context, NULL);
	return status;
}

static inline void run_full(struct run *run)
{
	if (!run->is_captured || !run->is_warm) {
		run->is_warm = 1;
		assert_ok(run_step(run, run->x, run->labels));
		return;
	}
	if (!run->graph) {
		assert_ok(tn_capture_begin(run->context));
		assert_ok(run_step(run, run->x, run->labels));
		assert_ok(tn_capture_end(run->context, &run->graph));
	}
	assert_ok(tn_graph_replay(run->graph));
}

/* Goes on until so many steps are done. */
static inline void run_until(struct run *run, uint64_t step)
{
	struct tn_batch batch = {.struct_size = sizeof(batch)};
	struct tn_error_info error;
	while (run->step < step) {
		assert_ok(tn_data_loader_next(run->loader, &batch, &error));
		if (!batch.n)
			continue;
		uint32_t n = batch.n;
		const void *images = batch.data[0], *labels = batch.data[1];
		assert_ok(tn_scope_begin(run->context));
		const int64_t shape[] = {n, 1, RUN_SIDE, RUN_SIDE};
		if (n == RUN_BATCH) {
			assert_ok(tn_assign_host(run->x, images,
						 RUN_BATCH * RUN_SIDE * RUN_SIDE * sizeof(float)));
			assert_ok(tn_assign_host(run->labels, labels, RUN_BATCH * sizeof(int32_t)));
			run_full(run);
		} else {
			assert_ok(run_step(run,
					   tn_from_host(run->context, TN_F32, 4, shape, images),
					   tn_from_host(run->context, TN_I32, 1, shape, labels)));
		}
		tn_scope_end(run->context, NULL);
		assert_ok(tn_schedule_advance(run->schedule));
		run->step++;
		run->losses[0] += 0.1 / (double)run->step;
		run->losses[1] = 1.0 / (double)run->step;
	}
}

/* The bytes of everything that changes. */
struct snapshot {
	size_t size;
	char bytes[1 << 16];
};

static inline void take_bytes(struct snapshot *snapshot, const void *bytes, size_t size)
{
	assert_true(snapshot->size + size <= sizeof(snapshot->bytes));
	memcpy(snapshot->bytes + snapshot->size, bytes, size);
	snapshot->size += size;
}

static inline void take_array(struct snapshot *snapshot, const tn_array *array)
{
	static char bytes[1 << 14];
	size_t size = (size_t)tn_array_size(array) * tn_dtype_size(tn_array_dtype(array));
	assert_true(size <= sizeof(bytes));
	assert_ok(tn_to_host(array, bytes, size));
	take_bytes(snapshot, bytes, size);
}

static inline void take_snapshot(struct snapshot *snapshot, struct run *run)
{
	struct tn_schedule_state schedule = {.struct_size = sizeof(schedule)};
	snapshot->size = 0;
	for (size_t i = 0; i < tn_module_parameter_count(run->net); i++) {
		struct tn_parameter_view parameter = {.struct_size = sizeof(parameter)};
		struct tn_weight_average_view average = {.struct_size = sizeof(average)};
		struct tn_optimizer_parameter_view setting = {.struct_size = sizeof(setting)};
		assert_ok(tn_module_parameter_at(run->net, i, &parameter));
		take_array(snapshot, parameter.value);
		assert_ok(tn_weight_average_at(run->average, i, &average));
		take_array(snapshot, average.value);
		assert_ok(tn_optimizer_parameter_at(run->optimizer, i, &setting));
		take_bytes(snapshot, &setting.steps, sizeof(setting.steps));
	}
	for (size_t i = 0; i < tn_module_buffer_count(run->net); i++) {
		struct tn_buffer_view buffer = {.struct_size = sizeof(buffer)};
		assert_ok(tn_module_buffer_at(run->net, i, &buffer));
		take_array(snapshot, buffer.value);
	}
	for (size_t i = 0; i < tn_optimizer_state_count(run->optimizer); i++) {
		struct tn_optimizer_state_view view = {.struct_size = sizeof(view)};
		assert_ok(tn_optimizer_state_at(run->optimizer, i, &view));
		take_array(snapshot, view.value);
	}
	const struct tn_random_state random = tn_random_get_state(run->context);
	const struct tn_data_position position = tn_data_loader_position(run->loader);
	const double lr = tn_optimizer_lr(run->optimizer);
	const uint64_t counts[] = {tn_lookahead_steps(run->optimizer),
				   tn_weight_average_updates(run->average), run->step};
	assert_ok(tn_schedule_get_state(run->schedule, &schedule));
	take_bytes(snapshot, &random, sizeof(random));
	take_bytes(snapshot, &position, sizeof(position));
	take_bytes(snapshot, &lr, sizeof(lr));
	take_bytes(snapshot, counts, sizeof(counts));
	take_bytes(snapshot, &schedule.t, sizeof(schedule.t));
	take_bytes(snapshot, &schedule.base_lr, sizeof(schedule.base_lr));
	take_bytes(snapshot, run->losses, sizeof(run->losses));
}

static inline void assert_equal_bytes(const struct snapshot *a, const struct snapshot *b)
{
	assert_int_equal(a->size, b->size);
	assert_memory_equal(a->bytes, b->bytes, a->size);
}

/* A training that is saved after step 9, in the middle of an epoch, and continued by another one in
 * its own context, ends like one that goes on, and like one that goes back.  open: opens a context;
 * is_captured: steps are captured in all of them. */
static inline void check_resume(tn_context *(*open)(void), int kind, int is_captured)
{
	enum { SAVED = 9, LAST = 15 };
	static struct snapshot whole, again;
	struct run first, second;
	char path[512];
	const char *folder = files_folder();
	snprintf(path, sizeof(path), "%s/checkpoint", folder);
	tn_context *context = open();
	run_begin(&first, context, kind, 3);
	first.is_captured = is_captured;
	run_until(&first, SAVED);
	assert_ok(tn_checkpoint_save(path, &first.all));
	run_until(&first, LAST);
	take_snapshot(&whole, &first);
	assert_ok(tn_checkpoint_load(path, &first.all));
	assert_int_equal(first.step, SAVED);
	run_until(&first, LAST);
	take_snapshot(&again, &first);
	assert_equal_bytes(&again, &whole);
	run_end(&first);
	tn_context_close(context);

	context = open();
	run_begin(&second, context, kind, 1234);
	second.is_captured = is_captured;
	run_until(&second, 2);
	assert_ok(tn_checkpoint_load(path, &second.all));
	assert_int_equal(second.step, SAVED);
	run_until(&second, LAST);
	take_snapshot(&again, &second);
	assert_equal_bytes(&again, &whole);
	run_end(&second);
	tn_context_close(context);
	unlink(path);
	rmdir(folder);
}

#endif
