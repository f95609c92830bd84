/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Reads the input as the text of a trainer's state in a checkpoint, and takes the state that it
 * outlines, with zeros everywhere.
 */
#include <string.h>

#include "file.h"
#include "train/trainer_state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static tn_context *context;
static tn_trainer *trainer;

static void make_trainer(void)
{
	static const uint8_t images[8] = {1, 2, 3, 4, 5, 6, 7, 8};
	static const int32_t labels[8] = {0, 1, 0, 1, 0, 1, 0, 1};
	static tn_metric *metrics[2];
	struct tn_context_options options = tn_context_defaults();
	options.backend = "reference!";
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
	struct tn_error_info error;
	tn_dataset *dataset;
	tn_data_loader *loader;
	fuzz_require(tn_context_open(&options, &context, &error) == TN_OK);
	tn_module *net = tn_module_sequential(context);
	tn_module_sequential_add(net, "flatten", tn_module_flatten(context));
	tn_module_sequential_add(net, "fc", tn_module_linear(context, 1, 2, NULL));
	fuzz_require(tn_module_build(net) == TN_OK);
	fuzz_require(tn_dataset_create(&source, &dataset, &error) == TN_OK);
	fuzz_require(tn_data_loader_create(dataset, TN_PART_TRAIN, &batches, &loader, &error) ==
		     TN_OK);
	metrics[0] = tn_metric_create(context, NULL);
	struct tn_metric_options metric_options = tn_metric_defaults();
	metric_options.kind = TN_METRIC_CONFUSION;
	metrics[1] = tn_metric_create(context, &metric_options);
	struct tn_trainer_options trainer_options = tn_trainer_defaults();
	trainer_options.train = loader;
	trainer_options.n_metrics = 2;
	trainer_options.metrics = metrics;
	trainer_options.best = TN_BEST_ON_HOST;
	trainer = tn_trainer_create(net, tn_adamw(net, NULL), &trainer_options);
	fuzz_require(trainer != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tn_trainer_saved saved;
	if (!context)
		make_trainer();
	char *text = malloc(size + 1);
	fuzz_require(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	tn_status status = tn_trainer_prepare_state(trainer, text, 4096, &saved);
	free(text);
	if (!status) {
		status = tn_trainer_load_state(trainer, &saved);
		tn_trainer_saved_release(&saved);
	}
	fuzz_require(!status == !tn_error(context));
	tn_error_clear(context);
	return 0;
}
