/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Trains a LeNet on a few of the digits, on the backend of TENON_BACKEND, and prints the losses of
 * its steps; then the device, and the number of host runs.
 *
 *     lenet [STEPS [BATCH]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

enum { MAX_STEPS = 1000, MAX_BATCH = 1024 };

/* The first images of the digits, as many as the steps need. */
static tn_dataset *take_digits(uint64_t n, struct tn_error_info *error)
{
	tn_dataset *digits = NULL, *few = NULL;
	if (tn_dataset_open("digits", NULL, &digits, error))
		return NULL;
	const struct tn_input_format *format = tn_dataset_format(digits);
	size_t size = (size_t)format->channels * format->height * format->width;
	uint8_t *images = malloc(n * size);
	int32_t *labels = malloc(n * sizeof(*labels));
	for (uint64_t i = 0; images && labels && i < n; i++)
		memcpy(images + i * size,
		       tn_dataset_image(digits, TN_PART_TRAIN,
					i % tn_dataset_count(digits, TN_PART_TRAIN), &labels[i]),
		       size);
	struct tn_dataset_source source = tn_dataset_source_defaults();
	source.channels = format->channels;
	source.height = format->height;
	source.width = format->width;
	source.name = "few digits";
	source.images = images;
	source.labels = labels;
	source.n_images = n;
	source.n_classes = format->n_classes;
	source.scale = format->scale;
	if (!images || !labels || tn_dataset_create(&source, &few, error))
		few = NULL;
	free(images);
	free(labels);
	tn_dataset_destroy(digits);
	return few;
}

static int print_loss(void *user, const struct tn_trainer_step *step)
{
	(void)user;
	printf("loss %.9g\n", step->loss);
	return 0;
}

static int train(tn_context *context, const tn_dataset *dataset, tn_data_loader *loader)
{
	const struct tn_input_format *format = tn_dataset_format(dataset);
	const struct tn_model_shape shape = {format->channels, format->height, format->width,
					     format->n_classes};
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 0.02;
	sgd.momentum = 0.9;
	tn_module *net = tn_model_create(context, "lenet", &shape);
	tn_optimizer *optimizer = NULL;
	if (net && !tn_module_build(net))
		optimizer = tn_sgd(net, &sgd);
	struct tn_trainer_options options = tn_trainer_defaults();
	options.train = loader;
	options.on_step = print_loss;
	tn_trainer *trainer = optimizer ? tn_trainer_create(net, optimizer, &options) : NULL;
	int good = trainer && !tn_trainer_run(trainer);
	tn_trainer_destroy(trainer);
	tn_optimizer_destroy(optimizer);
	tn_module_destroy(net);
	return good;
}

static void tell_routes(tn_context *context)
{
	uint64_t on_host = 0;
	struct tn_ledger_row row = {.struct_size = sizeof(row)};
	for (size_t i = 0; !tn_ledger_at(context, i, &row); i++)
		on_host += row.host;
	printf("device %s\nhost %llu\n", tn_device_name(tn_device_current(context)),
	       (unsigned long long)on_host);
}

int main(int argc, char **argv)
{
	int steps = argc > 1 ? atoi(argv[1]) : 20, batch = argc > 2 ? atoi(argv[2]) : 16;
	struct tn_error_info error = {.struct_size = sizeof(error)};
	tn_context *context = NULL;
	if (steps < 1 || steps > MAX_STEPS || batch < 1 || batch > MAX_BATCH) {
		fprintf(stderr, "usage: lenet [STEPS [BATCH]]\n");
		return 2;
	}
	tn_dataset *dataset = take_digits((uint64_t)steps * (uint64_t)batch, &error);
	if (!dataset || tn_context_open(NULL, &context, &error)) {
		fprintf(stderr, "%s: %s\n", error.operation, error.text);
		tn_dataset_destroy(dataset);
		return 1;
	}
	struct tn_data_loader_options batches = tn_data_loader_defaults();
	tn_data_loader *loader = NULL;
	batches.batch_size = (uint32_t)batch;
	batches.shuffle = 1;
	batches.context = context;
	int good = !tn_data_loader_create(dataset, TN_PART_TRAIN, &batches, &loader, &error) &&
		   train(context, dataset, loader);
	tn_data_loader_destroy(loader);
	if (good)
		tell_routes(context);
	else if (tn_error(context))
		fprintf(stderr, "%s: %s\n", tn_error(context)->operation, tn_error(context)->text);
	tn_context_close(context);
	tn_dataset_destroy(dataset);
	return !good;
}
