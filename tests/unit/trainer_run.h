/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A trainer that is stopped, and continues from its checkpoint, for tests on several backends.
 */
#ifndef TN_TESTS_TRAINER_RUN_H
#define TN_TESTS_TRAINER_RUN_H

#include "checkpoint_run.h"

/* Six batches of an epoch make three steps. */
enum { TRAINER_EPOCHS = 4, TRAINER_STEPS = 12 };

struct trainer_run {
	struct run run;
	tn_data_loader *validation;
	tn_loss *loss;
	tn_metric *metrics[2];
	tn_grad_scaler *scaler; /* of steps that are not captured; else NULL */
	tn_trainer *trainer;
	uint64_t stop_at;
	uint64_t resumed[2]; /* epochs and steps */
	void *extra;         /* of a test's own callbacks */
};

static inline int stop_there(void *user, const struct tn_trainer_step *step)
{
	const struct trainer_run *t = user;
	return step->step == t->stop_at;
}

static inline void note_resumed(void *user, uint64_t epochs, uint64_t steps)
{
	struct trainer_run *t = user;
	t->resumed[0] = epochs;
	t->resumed[1] = steps;
}

/* Cross-entropy whose classes weigh 0.5, 1, 1.5, ... */
static inline tn_loss *make_weighted_loss(tn_context *context)
{
	struct tn_loss_options options = tn_loss_defaults();
	float weights[RUN_CLASSES];
	for (int i = 0; i < RUN_CLASSES; i++)
		weights[i] = 0.5f * (float)(i + 1);
	tn_array *weight = tn_from_host(context, TN_F32, 1, (int64_t[]){RUN_CLASSES}, weights);
	options.weight = weight;
	tn_loss *loss = tn_loss_create(context, &options);
	tn_array_destroy(weight);
	return loss;
}

/* With callbacks of the test's own; on_unsaved may be NULL. */
static inline void
trainer_begin_with(struct trainer_run *t, tn_context *context, uint64_t seed, uint32_t capture,
		   tn_checkpoint_folder *folder,
		   int (*on_step)(void *user, const struct tn_trainer_step *step),
		   void (*on_unsaved)(void *user, const struct tn_error_info *error))
{
	struct tn_data_loader_options whole = tn_data_loader_defaults();
	whole.batch_size = 16;
	struct tn_error_info error;
	memset(t, 0, sizeof(*t));
	run_begin(&t->run, context, RUN_ADAMW, seed);
	assert_ok(tn_data_loader_create(t->run.dataset, TN_PART_TRAIN, &whole, &t->validation,
					&error));
	t->metrics[0] = tn_metric_create(context, NULL);
	struct tn_metric_options options = tn_metric_defaults();
	options.kind = TN_METRIC_CONFUSION;
	t->metrics[1] = tn_metric_create(context, &options);
	if (capture == TN_CAPTURE_OFF) {
		struct tn_grad_scaler_options scaling = tn_grad_scaler_defaults();
		scaling.growth_interval = 5;
		t->scaler = tn_grad_scaler_create(t->run.net, &scaling);
	}
	t->loss = make_weighted_loss(context);
	struct tn_trainer_options trainer = tn_trainer_defaults();
	trainer.train = t->run.loader;
	trainer.validation = t->validation;
	trainer.loss = t->loss;
	trainer.n_metrics = 2;
	trainer.metrics = t->metrics;
	trainer.n_epochs = TRAINER_EPOCHS;
	trainer.accumulate = 2;
	trainer.clip_norm = 1;
	trainer.average = t->run.average;
	trainer.scaler = t->scaler;
	trainer.schedule = t->run.schedule;
	trainer.capture = capture;
	trainer.patience = 9;
	trainer.best = TN_BEST_ON_DEVICE;
	trainer.on_step = on_step;
	trainer.on_unsaved = on_unsaved;
	trainer.user = t;
	trainer.checkpoints = folder;
	trainer.checkpoint_steps = 2;
	trainer.resume = 1;
	trainer.resumed = note_resumed;
	t->trainer = tn_trainer_create(t->run.net, t->run.optimizer, &trainer);
	assert_non_null(t->trainer);
}

static inline void trainer_begin(struct trainer_run *t, tn_context *context, uint64_t seed,
				 uint32_t capture, tn_checkpoint_folder *folder)
{
	trainer_begin_with(t, context, seed, capture, folder, stop_there, NULL);
}

static inline void trainer_end(struct trainer_run *t)
{
	tn_trainer_destroy(t->trainer);
	tn_grad_scaler_destroy(t->scaler);
	tn_metric_destroy(t->metrics[0]);
	tn_metric_destroy(t->metrics[1]);
	tn_loss_destroy(t->loss);
	tn_data_loader_destroy(t->validation);
	run_end(&t->run);
}

/* All tensors, and the history without its times. */
static inline void take_trainer(struct snapshot *snapshot, struct trainer_run *t)
{
	struct tn_grad_scaler_state scale = {.struct_size = sizeof(scale)};
	take_snapshot(snapshot, &t->run);
	if (t->scaler)
		assert_ok(tn_grad_scaler_get_state(t->scaler, &scale));
	take_bytes(snapshot, &scale.scale, sizeof(scale.scale));
	take_bytes(snapshot, &scale.good_updates, sizeof(scale.good_updates));
	assert_int_equal(tn_trainer_history_count(t->trainer), TRAINER_EPOCHS);
	for (size_t i = 0; i < TRAINER_EPOCHS; i++) {
		const struct tn_trainer_epoch *epoch = tn_trainer_history_at(t->trainer, i);
		const struct tn_trainer_values *values[] = {epoch->train, epoch->validation};
		take_bytes(snapshot, &epoch->step, sizeof(epoch->step));
		take_bytes(snapshot, &epoch->lr, sizeof(epoch->lr));
		take_bytes(snapshot, &epoch->is_best, sizeof(epoch->is_best));
		for (int k = 0; k < 2; k++) {
			take_bytes(snapshot, &values[k]->loss, sizeof(double));
			take_bytes(snapshot, values[k]->metrics, 2 * sizeof(double));
		}
	}
}

/* Stopped after any step, and continued in another context, a training ends with the bytes and the
 * history of one that was not. */
static inline void check_resumed_trainer(tn_context *(*open)(void), uint32_t capture)
{
	static const uint64_t stops[] = {1, 6, 8};
	static struct snapshot whole, again;
	struct trainer_run t;
	tn_context *context = open();
	trainer_begin(&t, context, 3, capture, NULL);
	assert_ok(tn_trainer_run(t.trainer));
	assert_int_equal(tn_trainer_steps(t.trainer), TRAINER_STEPS);
	take_trainer(&whole, &t);
	trainer_end(&t);
	tn_context_close(context);
	for (size_t i = 0; i < sizeof(stops) / sizeof(stops[0]); i++) {
		char path[64];
		snprintf(path, sizeof(path), "%s", files_folder());
		for (int turn = 0; turn < 3; turn++) {
			context = open();
			struct tn_checkpoint_folder_options options =
				tn_checkpoint_folder_defaults();
			options.keep = 1;
			tn_checkpoint_folder *folder =
				tn_checkpoint_folder_open(context, path, &options);
			assert_non_null(folder);
			trainer_begin(&t, context, 3 + (uint64_t)turn, capture, folder);
			t.stop_at = turn ? 0 : stops[i];
			assert_status(tn_trainer_run(t.trainer), turn ? TN_OK : TN_CANCELLED);
			tn_error_clear(context);
			assert_int_equal(t.resumed[1], turn == 2   ? TRAINER_STEPS
						       : turn == 1 ? stops[i]
								   : 0);
			if (turn)
				take_trainer(&again, &t);
			if (turn)
				assert_equal_bytes(&again, &whole);
			trainer_end(&t);
			tn_checkpoint_folder_close(folder);
			tn_context_close(context);
		}
		files_remove(path);
	}
}

#endif
