/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Trains a LeNet on the handwritten digits that come with Tenon, as tenon-training(7) describes it:
 * with validation, a schedule, early stopping, and checkpoints in a folder.  Stopped at any moment,
 * also by kill -9, and begun again, it continues.
 *
 *     train FOLDER EPOCHS
 */
#include <stdio.h>
#include <stdlib.h>
#include <tenon/tenon.h>

static int on_epoch(void *user, const struct tn_trainer_epoch *epoch)
{
	(void)user;
	printf("epoch %llu  loss %.4f  validation accuracy %.2f %%%s\n",
	       (unsigned long long)epoch->epoch, epoch->train.loss,
	       100 * epoch->validation.metrics[0], epoch->is_best ? "  (the best so far)" : "");
	return 0; /* another number stops the training, which saves a checkpoint */
}

static void on_resumed(void *user, uint64_t epochs, uint64_t steps)
{
	(void)user;
	printf("continues after %llu epochs and %llu steps\n", (unsigned long long)epochs,
	       (unsigned long long)steps);
}

/* Everything that is borrowed outlives the trainer, and the context outlives everything. */
static int train(tn_context *ctx, const tn_dataset *digits, tn_data_loader *const loaders[3],
		 const char *path, uint64_t n_epochs)
{
	const struct tn_model_shape shape = {1, 28, 28, (int64_t)tn_dataset_class_count(digits)};
	struct tn_trainer_values test = {.loss = 0};
	tn_module *net = tn_model_create(ctx, "lenet", &shape);
	tn_module_build(net);
	tn_optimizer *adamw = tn_adamw(net, TN_OPTIONS(struct tn_adamw_options, .lr = 2e-3));
	tn_schedule *schedule = tn_schedule_create(
		adamw, TN_OPTIONS(struct tn_schedule_options, .kind = TN_SCHEDULE_COSINE,
				  .period = n_epochs * tn_data_loader_batches(loaders[0])));
	tn_metric *accuracy = tn_metric_create(ctx, NULL);
	tn_checkpoint_folder *folder = tn_checkpoint_folder_open(
		ctx, path, TN_OPTIONS(struct tn_checkpoint_folder_options, .is_rising = 1));
	tn_trainer *trainer = tn_trainer_create(
		net, adamw,
		TN_OPTIONS(struct tn_trainer_options, .train = loaders[TN_PART_TRAIN],
			   .validation = loaders[TN_PART_VALIDATION], .n_metrics = 1,
			   .metrics = &accuracy, .monitor = "accuracy", .patience = 5,
			   .n_epochs = n_epochs, .schedule = schedule, .clip_norm = 1,
			   .on_epoch = on_epoch, .checkpoints = folder, .checkpoint_steps = 10,
			   .checkpoint_epochs = 1, .resume = 1, .resumed = on_resumed));
	tn_status status = tn_trainer_run(trainer);
	if (!status)
		status = tn_trainer_evaluate(trainer, loaders[TN_PART_TEST], &test);
	if (status)
		fprintf(stderr, "%s\n", tn_error_text(ctx));
	else
		printf("test accuracy %.2f %%\n", 100 * test.metrics[0]);
	tn_trainer_destroy(trainer);
	tn_checkpoint_folder_close(folder);
	tn_metric_destroy(accuracy);
	tn_schedule_destroy(schedule);
	tn_optimizer_destroy(adamw);
	tn_module_destroy(net);
	return status != TN_OK;
}

int main(int argc, char **argv)
{
	struct tn_error_info error;
	tn_context *ctx = NULL;
	tn_dataset *digits = NULL;
	tn_data_loader *loaders[3] = {NULL};
	if (argc != 3)
		return fprintf(stderr, "usage: train FOLDER EPOCHS\n"), 2;
	tn_status status = tn_context_open(NULL, &ctx, &error);
	if (!status)
		status = tn_dataset_open(
			"digits", TN_OPTIONS(struct tn_dataset_options, .validation_fraction = 0.1),
			&digits, &error);
	for (int part = 0; part < 3 && !status; part++)
		status = tn_data_loader_create(
			digits, part,
			TN_OPTIONS(struct tn_data_loader_options, .batch_size = 64, .context = ctx,
				   .shuffle = part == TN_PART_TRAIN, .seed = 7),
			&loaders[part], &error);
	if (status)
		fprintf(stderr, "train: %s\n", error.text);
	else
		status = train(ctx, digits, loaders, argv[1], strtoull(argv[2], NULL, 10));
	for (int part = 0; part < 3; part++)
		tn_data_loader_destroy(loaders[part]);
	tn_dataset_destroy(digits);
	tn_context_close(ctx);
	return status != TN_OK;
}
