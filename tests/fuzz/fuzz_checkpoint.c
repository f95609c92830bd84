/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Loads the input as a checkpoint of a small training: a refused one changes nothing, and after a
 * loaded one the training goes on.
 */
#include <string.h>
#include <tenon/tenon.h>

#include "file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static tn_context *context;
static tn_module *net;
static uint8_t extra[4];
static struct tn_checkpoint all = {.struct_size = sizeof(all)};

static void drop_message(void *user, int level, const char *subsystem, const char *text,
			 size_t length)
{
	(void)user, (void)level, (void)subsystem, (void)text, (void)length;
}

static void make_training(void)
{
	static const uint8_t images[8] = {1, 2, 3, 4, 5, 6, 7, 8};
	static const int32_t labels[8] = {0, 1, 0, 1, 0, 1, 0, 1};
	static const int64_t shape[] = {4};
	static const struct tn_checkpoint_array array = {"bytes", TN_U8, 1, shape, extra};
	struct tn_context_options options = tn_context_defaults();
	options.backend = "reference!";
	options.log = drop_message;
	struct tn_dataset_source source = tn_dataset_source_defaults();
	source.channels = 1;
	source.height = 1;
	source.width = 1;
	source.name = "dots";
	source.images = images;
	source.labels = labels;
	source.n_images = 8;
	source.n_classes = 2;
	struct tn_data_loader_options batches = tn_data_loader_defaults();
	batches.batch_size = 3;
	batches.seed = 5;
	batches.shuffle = 1;
	struct tn_error_info error;
	tn_dataset *dataset;
	fuzz_require(tn_context_open(&options, &context, &error) == TN_OK);
	net = tn_module_sequential(context);
	tn_module_sequential_add(net, "fc", tn_module_linear(context, 2, 2, NULL));
	tn_module_sequential_add(net, "bn", tn_module_batch_norm1d(context, 2, NULL));
	fuzz_require(tn_module_build(net) == TN_OK);
	all.module = net;
	all.optimizer = tn_nadam(net, NULL);
	tn_lookahead(all.optimizer, NULL);
	struct tn_schedule_options scheduling = tn_schedule_defaults();
	scheduling.kind = TN_SCHEDULE_PLATEAU;
	scheduling.warmup = 3;
	all.schedule = tn_schedule_create(all.optimizer, &scheduling);
	struct tn_weight_average_options averaging = tn_weight_average_defaults();
	averaging.decay = 0.5;
	all.average = tn_weight_average_create(net, &averaging);
	fuzz_require(tn_dataset_create(&source, &dataset, &error) == TN_OK);
	fuzz_require(tn_data_loader_create(dataset, TN_PART_TRAIN, &batches, &all.loader, &error) ==
		     TN_OK);
	all.scaler = tn_grad_scaler_create(net, NULL);
	all.n_extra = 1;
	all.extra = &array;
	fuzz_require(!tn_error(context) && all.schedule && all.average && all.scaler);
}

/* What a refused file must not change. */
struct observed {
	float weights[4];
	double lr;
	struct tn_random_state random;
	struct tn_data_position position;
	uint64_t updates, steps;
	uint8_t extra[4];
};

static void observe(struct observed *observed)
{
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	memset(observed, 0, sizeof(*observed));
	fuzz_require(tn_module_parameter(net, "fc.weight", &view) == TN_OK);
	fuzz_require(tn_to_host(view.value, observed->weights, sizeof(observed->weights)) == TN_OK);
	observed->lr = tn_optimizer_lr(all.optimizer);
	observed->random = tn_random_get_state(context);
	observed->position = tn_data_loader_position(all.loader);
	observed->updates = tn_weight_average_updates(all.average);
	observed->steps = tn_lookahead_steps(all.optimizer);
	memcpy(observed->extra, extra, sizeof(extra));
}

/* A step of the training. */
static void train(void)
{
	fuzz_require(tn_scope_begin(context) == TN_OK);
	tn_module_zero_gradients(net);
	tn_tape *tape = tn_tape_begin(context);
	tn_array *x = tn_ones(context, TN_F32, 2, (const int64_t[]){3, 2});
	tn_array *loss = tn_mean(tn_square(tn_module_forward(net, x)), TN_ALL_AXES, NULL, 0);
	fuzz_require(loss && tn_tape_backward(tape, loss, NULL) == TN_OK);
	tn_tape_end(tape);
	fuzz_require(tn_optimizer_step(all.optimizer) == TN_OK);
	fuzz_require(tn_weight_average_update(all.average) == TN_OK);
	fuzz_require(tn_schedule_advance(all.schedule) == TN_OK);
	fuzz_require(tn_schedule_measure(all.schedule, 1.0) == TN_OK);
	tn_scope_end(context, NULL);
	fuzz_require(!tn_error(context));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct observed before, after;
	if (!context)
		make_training();
	observe(&before);
	tn_status status = tn_checkpoint_load(fuzz_file(data, size), &all);
	if (status == TN_OK) {
		train();
		return 0;
	}
	fuzz_require(tn_error(context) && tn_error(context)->status == status &&
		     tn_error(context)->text[0]);
	tn_error_clear(context);
	observe(&after);
	fuzz_require(!memcmp(&before, &after, sizeof(before)));
	return 0;
}
