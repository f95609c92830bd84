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
	       (unsigned long long)epoch->epoch, epoch->train->loss,
	       100 * epoch->validation->metrics[0], epoch->is_best ? "  (the best so far)" : "");
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
	struct tn_trainer_values test = {.struct_size = sizeof(test)};
	tn_module *net = tn_model_create(ctx, "lenet", &shape);
	tn_module_build(net);
	struct tn_adamw_options adam = tn_adamw_defaults();
	adam.lr = 2e-3;
	tn_optimizer *adamw = tn_adamw(net, &adam);
	struct tn_schedule_options cosine = tn_schedule_defaults();
	cosine.kind = TN_SCHEDULE_COSINE;
	cosine.period = n_epochs * tn_data_loader_batches(loaders[0]);
	tn_schedule *schedule = tn_schedule_create(adamw, &cosine);
	tn_metric *accuracy = tn_metric_create(ctx, NULL);
	struct tn_checkpoint_folder_options keeping = tn_checkpoint_folder_defaults();
	keeping.is_rising = 1;
	tn_checkpoint_folder *folder = tn_checkpoint_folder_open(ctx, path, &keeping);
	struct tn_trainer_options training = tn_trainer_defaults();
	training.train = loaders[TN_PART_TRAIN];
	training.validation = loaders[TN_PART_VALIDATION];
	training.n_metrics = 1;
	training.metrics = &accuracy;
	training.monitor = "accuracy";
	training.patience = 5;
	training.n_epochs = n_epochs;
	training.schedule = schedule;
	training.clip_norm = 1;
	training.on_epoch = on_epoch;
	training.checkpoints = folder;
	training.checkpoint_steps = 10;
	training.checkpoint_epochs = 1;
	training.resume = 1;
	training.resumed = on_resumed;
	tn_trainer *trainer = tn_trainer_create(net, adamw, &training);
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
	struct tn_dataset_options opening = tn_dataset_defaults();
	struct tn_error_info error;
	tn_context *ctx = NULL;
	tn_dataset *digits = NULL;
	tn_data_loader *loaders[3] = {NULL};
	if (argc != 3)
		return fprintf(stderr, "usage: train FOLDER EPOCHS\n"), 2;
	tn_status status = tn_context_open(NULL, &ctx, &error);
	opening.validation_fraction = 0.1;
	if (!status)
		status = tn_dataset_open("digits", &opening, &digits, &error);
	for (int part = 0; part < 3 && !status; part++) {
		struct tn_data_loader_options loading = tn_data_loader_defaults();
		loading.batch_size = 64;
		loading.context = ctx;
		loading.shuffle = part == TN_PART_TRAIN;
		loading.seed = 7;
		status = tn_data_loader_create(digits, part, &loading, &loaders[part], &error);
	}
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
