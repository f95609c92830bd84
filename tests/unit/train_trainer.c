/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The trainer: steps of several batches, clipping, schedules, averages, history, callbacks,
 * interruption and captured steps.
 */
#include "train/best.h"
#include "train_fixture.h"

#include "io_files.h"

static tn_metric *metric_of(tn_context *context, uint32_t kind)
{
	struct tn_metric_options options = tn_metric_defaults();
	options.kind = kind;
	return tn_metric_create(context, &options);
}

/* ---- What a training gives -------------------------------------------------------------------*/

static void a_regression_is_learned_and_has_a_history(void **state)
{
	(void)state;
	for (int k = 0; k < BACKENDS; k++) {
		struct fit fit;
		struct tn_trainer_values values = {.struct_size = sizeof(values)};
		open_fit(&fit, contexts[k], 8);
		tn_metric *metrics[] = {
			metric_of(contexts[k], TN_METRIC_R2),
			metric_of(contexts[k], TN_METRIC_MSE),
		};
		fit.options.n_metrics = 2;
		fit.options.metrics = metrics;
		fit.options.n_epochs = 40;
		run_fit(&fit);
		assert_int_equal(tn_trainer_epochs(fit.trainer), 40);
		assert_int_equal(tn_trainer_steps(fit.trainer), 40 * 5);
		assert_int_equal(tn_trainer_history_count(fit.trainer), 40);
		assert_null(tn_trainer_history_at(fit.trainer, 40));
		const struct tn_trainer_epoch *last = tn_trainer_history_at(fit.trainer, 39);
		assert_int_equal(last->epoch, 40);
		assert_int_equal(last->step, 200);
		assert_int_equal(last->train->samples, 37);
		assert_int_equal(last->validation->samples, 9);
		assert_true(last->validation->metrics[0] > 0.9);
		assert_close(last->validation->metrics[1], last->validation->loss, 1e-6);
		assert_close(last->train->metrics[1], last->train->loss, 1e-6);
		assert_close(last->lr, 0.05, 0);
		assert_false(tn_module_is_training(fit.net));
		/* The network is as it was in the last validation. */
		assert_ok(tn_trainer_evaluate(fit.trainer, fit.validation, &values));
		assert_true(values.loss == last->validation->loss);
		assert_true(values.metrics[0] == last->validation->metrics[0]);
		/* The best epoch is the one of the lowest validation loss. */
		const struct tn_trainer_epoch *best = tn_trainer_best(fit.trainer);
		for (size_t i = 0; i < 40; i++)
			assert_true(tn_trainer_history_at(fit.trainer, i)->validation->loss >=
				    best->validation->loss);
		char *json = tn_trainer_history_json(fit.trainer);
		assert_contains(json, "{\"epoch\": 1, \"step\": 5, \"lr\": 0.05, \"seconds\": ");
		assert_contains(json, ", \"train_r2\": ");
		assert_contains(json, ", \"val_mse\": ");
		tn_string_free(json);
		close_fit(&fit);
		tn_metric_destroy(metrics[0]);
		tn_metric_destroy(metrics[1]);
	}
}

/* Targets above 0 as labels. */
static tn_status to_labels(void *user, struct tn_sample *sample, struct tn_error_info *error)
{
	float *y = sample->data[1];
	(void)user, (void)error;
	for (int i = 0; i < TABLE_TARGETS; i++)
		y[i] = y[i] > 0;
	return TN_OK;
}

static void samples_with_several_labels_are_learned(void **state)
{
	(void)state;
	struct fit fit;
	open_fit(&fit, contexts[0], 8);
	tn_data_loader_destroy(fit.train);
	tn_data_loader_destroy(fit.validation);
	for (int part = 0; part < 2; part++) {
		struct tn_data_loader_options loading = tn_data_loader_defaults();
		loading.batch_size = 8;
		loading.transform = to_labels;
		assert_ok(tn_data_loader_create(fit.dataset, part, &loading,
						part ? &fit.validation : &fit.train, NULL));
	}
	struct tn_metric_options options = tn_metric_defaults();
	options.kind = TN_METRIC_F1;
	options.is_multi_label = 1;
	tn_metric *f1 = tn_metric_create(contexts[0], &options);
	fit.options.train = fit.train;
	fit.options.validation = fit.validation;
	tn_loss *loss = make_loss(contexts[0], TN_LOSS_BINARY_CROSS_ENTROPY);
	fit.options.loss = loss;
	fit.options.n_metrics = 1;
	fit.options.metrics = &f1;
	fit.options.monitor = "f1";
	fit.options.n_epochs = 60;
	run_fit(&fit);
	const struct tn_trainer_epoch *best = tn_trainer_best(fit.trainer);
	assert_true(best->validation->metrics[0] > 0.85);
	for (size_t i = 0; i < 60; i++)
		assert_true(tn_trainer_history_at(fit.trainer, i)->validation->metrics[0] <=
			    best->validation->metrics[0]);
	close_fit(&fit);
	tn_loss_destroy(loss);
	tn_metric_destroy(f1);
}

/* nnott's A4.8: in training mode the same data gave other errors each time. */
static void nnott_a4_8_evaluation_is_in_evaluation_mode(void **state)
{
	struct fit fit;
	struct tn_trainer_values first = {.struct_size = sizeof(first)}, second = first;
	(void)state;
	open_fit(&fit, contexts[0], 8);
	make_fit_trainer(&fit);
	tn_module_set_training(fit.net, 1);
	assert_ok(tn_trainer_evaluate(fit.trainer, fit.train, &first));
	assert_ok(tn_trainer_evaluate(fit.trainer, fit.train, &second));
	assert_true(first.loss == second.loss);
	assert_true(tn_module_is_training(fit.net));
	assert_int_equal(tn_data_loader_position(fit.train).index, 0);
	assert_int_equal(tn_data_loader_position(fit.train).epoch, 0);
	close_fit(&fit);
}

static void count_forwards(void *user, tn_module *module, const tn_array *x, const tn_array *y)
{
	int *n = user;
	(void)module;
	assert_int_equal(tn_array_shape(x)[1], 8);
	assert_int_equal(tn_array_shape(y)[1], TABLE_TARGETS);
	++*n;
}

/* nnott's A3.5: its trainer promised the tensors between layers, and gave none. */
static void nnott_a3_5_hooks_see_the_tensors_between_layers(void **state)
{
	struct fit fit;
	int n = 0;
	(void)state;
	open_fit(&fit, contexts[0], 8);
	fit.options.n_epochs = 1;
	fit.options.capture = TN_CAPTURE_OFF; /* a replay calls no hooks */
	assert_ok(tn_module_set_forward_hook(tn_module_child(fit.net, "fc2"), count_forwards, &n));
	run_fit(&fit);
	assert_int_equal(n, 5 + 3);
	close_fit(&fit);
}

/* ---- Steps -----------------------------------------------------------------------------------*/

static size_t weights_after(tn_context *context, uint32_t batch, uint64_t accumulate, double clip,
			    float *weights)
{
	struct fit fit;
	open_fit_with(&fit, context, batch, 0);
	fit.options.accumulate = accumulate;
	fit.options.clip_norm = clip;
	fit.options.n_epochs = 2;
	run_fit(&fit);
	assert_int_equal(tn_trainer_steps(fit.trainer),
			 2 * ((37 + batch * accumulate - 1) / (batch * accumulate)));
	size_t n = read_weights(fit.net, weights);
	close_fit(&fit);
	return n;
}

/* 37 samples: groups of 16, 16 and 5 of batches of 4 give the steps of batches of 16; dropout would
 * draw for each batch. */
static void batches_add_up_to_the_step_of_all_their_samples(void **state)
{
	(void)state;
	for (int k = 0; k < BACKENDS; k++) {
		float one[MOST_WEIGHTS], many[MOST_WEIGHTS];
		for (int clips = 0; clips < 2; clips++) {
			size_t n = weights_after(contexts[k], 16, 1, clips ? 0.3 : INFINITY, one);
			assert_int_equal(
				weights_after(contexts[k], 4, 4, clips ? 0.3 : INFINITY, many), n);
			for (size_t i = 0; i < n; i++)
				assert_close(many[i], one[i], 2e-6);
		}
	}
}

/* For one step an epoch, any number of batches that is large enough. */
static void a_step_may_be_a_whole_epoch(void **state)
{
	static const uint64_t accumulate[] = {10, UINT64_C(1) << 62, UINT64_MAX};
	float weights[3][MOST_WEIGHTS];
	size_t n = 0;
	(void)state;
	for (int i = 0; i < 3; i++) {
		struct fit fit;
		open_fit(&fit, contexts[0], 4);
		fit.options.accumulate = accumulate[i];
		fit.options.n_epochs = 2;
		run_fit(&fit);
		assert_int_equal(tn_trainer_steps(fit.trainer), 2);
		n = read_weights(fit.net, weights[i]);
		close_fit(&fit);
		assert_memory_equal(weights[i], weights[0], n * sizeof(float));
	}
}

/* nnott's A4.7: it clipped the sum over a batch, so that the limit depended on its size. */
static void nnott_a4_7_the_limit_of_the_norm_is_that_of_the_mean(void **state)
{
	static const struct {
		uint32_t batch;
		uint64_t accumulate;
	} cases[] = {{4, 1}, {37, 1}, {4, 3}};
	(void)state;
	for (size_t c = 0; c < 3; c++) {
		struct fit fit;
		float before[MOST_WEIGHTS], after[MOST_WEIGHTS];
		double norm = 0;
		open_fit(&fit, contexts[0], cases[c].batch);
		tn_optimizer_destroy(fit.optimizer);
		struct tn_sgd_options sgd = tn_sgd_defaults();
		sgd.lr = 1;
		fit.optimizer = tn_sgd(fit.net, &sgd);
		size_t n = read_weights(fit.net, before);
		fit.options.accumulate = cases[c].accumulate;
		fit.options.clip_norm = 0.125;
		fit.options.max_steps = 1;
		run_fit(&fit);
		read_weights(fit.net, after);
		for (size_t i = 0; i < n; i++)
			norm += (after[i] - before[i]) * (double)(after[i] - before[i]);
		assert_close(sqrt(norm), 0.125, 1e-6);
		assert_int_equal(tn_trainer_steps(fit.trainer), 1);
		close_fit(&fit);
	}
}

static void values_are_clipped_before_the_norm(void **state)
{
	struct fit fit;
	float before[MOST_WEIGHTS], after[MOST_WEIGHTS];
	(void)state;
	open_fit(&fit, contexts[0], 37);
	tn_optimizer_destroy(fit.optimizer);
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 1;
	fit.optimizer = tn_sgd(fit.net, &sgd);
	size_t n = read_weights(fit.net, before);
	fit.options.clip_value = 0.01;
	fit.options.clip_norm = 1e6;
	fit.options.max_steps = 1;
	run_fit(&fit);
	read_weights(fit.net, after);
	double most = 0;
	for (size_t i = 0; i < n; i++)
		most = fmax(most, fabs((double)after[i] - (double)before[i]));
	assert_close(most, 0.01, 1e-6);
	close_fit(&fit);
}

static int note_lr(void *user, const struct tn_trainer_step *step)
{
	struct fit *fit = user;
	assert_close(step->lr, tn_optimizer_lr(fit->optimizer), 0);
	assert_true(isfinite(step->loss));
	assert_close(step->lr, 0.05 * pow(0.5, (double)((step->step - 1) / 2)), 1e-12);
	return 0;
}

/* nnott's A4.4: its Lookahead hid the rate, and schedules stopped. */
static void nnott_a4_4_rates_reach_an_optimizer_with_lookahead(void **state)
{
	struct fit fit;
	(void)state;
	open_fit(&fit, contexts[0], 8);
	assert_ok(tn_lookahead(fit.optimizer, NULL));
	struct tn_schedule_options options = tn_schedule_defaults();
	options.kind = TN_SCHEDULE_STEP;
	options.period = 2;
	options.gamma = 0.5;
	tn_schedule *schedule = tn_schedule_create(fit.optimizer, &options);
	fit.options.schedule = schedule;
	fit.options.on_step = note_lr;
	run_fit(&fit);
	assert_close(tn_trainer_history_at(fit.trainer, 0)->lr, 0.05 / 4, 1e-12);
	assert_close(tn_trainer_history_at(fit.trainer, 2)->lr, 0.05 / 128, 1e-12);
	/* The end is that of the schedule too. */
	assert_close(tn_optimizer_lr(fit.optimizer), 0.05 * pow(0.5, 7), 1e-12);
	close_fit(&fit);
	tn_schedule_destroy(schedule);
}

/* A plateau measures what is monitored: a loss that never improves by half. */
static void a_schedule_may_count_epochs_and_watch_the_loss(void **state)
{
	struct fit fit;
	(void)state;
	for (int plateau = 0; plateau < 2; plateau++) {
		open_fit(&fit, contexts[0], 8);
		struct tn_schedule_options options = tn_schedule_defaults();
		options.kind = plateau ? TN_SCHEDULE_PLATEAU : TN_SCHEDULE_STEP;
		if (plateau) {
			options.patience = 0;
			options.threshold = 0.99;
			options.factor = 0.5;
		} else {
			options.period = 1;
			options.gamma = 0.5;
		}
		tn_schedule *schedule = tn_schedule_create(fit.optimizer, &options);
		fit.options.schedule = schedule;
		fit.options.schedule_epochs = 1;
		run_fit(&fit);
		for (size_t i = 0; i < 3; i++)
			assert_close(tn_trainer_history_at(fit.trainer, i)->lr,
				     plateau ? (i < 2 ? 0.05 : 0.025) : 0.05 * pow(0.5, (double)i),
				     1e-12);
		close_fit(&fit);
		tn_schedule_destroy(schedule);
	}
}

/* ---- The best epoch --------------------------------------------------------------------------*/

static void a_value_that_is_nan_is_never_the_best(void **state)
{
	struct tn_best best = {.kept = TN_BEST_NOT_KEPT};
	(void)state;
	assert_ok(tn_best_take(&best, 1, NAN));
	assert_false(best.is_found);
	assert_ok(tn_best_take(&best, 2, 5));
	assert_ok(tn_best_take(&best, 3, NAN));
	assert_int_equal(best.epoch, 2);
	assert_true(best.value == 5);
	assert_int_equal(best.waited, 1);
}

struct spoiling {
	struct fit fit;
	float best[MOST_WEIGHTS];
	size_t n;
	uint64_t stop_at; /* the epoch whose callback stops the training; 0: none */
};

/* From the third epoch on the weights are bad; those of the second were kept. */
static int spoil(void *user, const struct tn_trainer_epoch *epoch)
{
	struct spoiling *s = user;
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	if (epoch->is_best)
		s->n = read_weights(s->fit.net, s->best);
	if (epoch->epoch == 2) {
		assert_ok(tn_module_parameter(s->fit.net, "fc2.weight", &view));
		assert_ok(tn_fill(view.value, 30));
	}
	return epoch->epoch == s->stop_at;
}

/* nnott's A4.6: it stopped early, with the weights of the last epoch. */
static void nnott_a4_6_early_stopping_restores_the_best_weights(void **state)
{
	(void)state;
	for (int k = 0; k < 2 * BACKENDS; k++) {
		struct spoiling s = {.stop_at = 0};
		struct tn_trainer_values values = {.struct_size = sizeof(values)};
		float after[MOST_WEIGHTS];
		open_fit(&s.fit, contexts[k / 2], 8);
		tn_optimizer_destroy(s.fit.optimizer);
		struct tn_sgd_options sgd = tn_sgd_defaults();
		sgd.lr = 1e-4;
		s.fit.optimizer = tn_sgd(s.fit.net, &sgd);
		s.fit.options.n_epochs = 50;
		s.fit.options.patience = 3;
		s.fit.options.best = k % 2 ? TN_BEST_ON_HOST : TN_BEST_AUTO;
		s.fit.options.on_epoch = spoil;
		s.fit.options.user = &s;
		run_fit(&s.fit);
		assert_int_equal(tn_trainer_stopped_early(s.fit.trainer), 1);
		assert_int_equal(tn_trainer_epochs(s.fit.trainer), 2 + 3);
		const struct tn_trainer_epoch *best = tn_trainer_best(s.fit.trainer);
		assert_int_equal(best->epoch, 2);
		assert_int_equal(read_weights(s.fit.net, after), s.n);
		assert_memory_equal(after, s.best, s.n * sizeof(float));
		assert_ok(tn_trainer_evaluate(s.fit.trainer, s.fit.validation, &values));
		assert_true(values.loss == best->validation->loss);
		/* It has ended. */
		assert_ok(tn_trainer_run(s.fit.trainer));
		assert_int_equal(tn_trainer_epochs(s.fit.trainer), 5);
		close_fit(&s.fit);
	}
}

/* The checkpoint of the last epoch was saved before they were back, and its callback may stop the
 * training. */
static void the_best_weights_are_restored_after_a_stop_too(void **state)
{
	(void)state;
	for (uint64_t stop_at = 0; stop_at <= 5; stop_at += 5) {
		struct spoiling first = {.stop_at = stop_at}, rest = {.stop_at = 0};
		struct spoiling *const turns[] = {&first, &rest};
		float after[MOST_WEIGHTS];
		char path[64];
		snprintf(path, sizeof(path), "%s", files_folder());
		for (int turn = 0; turn < 2; turn++) {
			struct fit *fit = &turns[turn]->fit;
			open_fit(fit, contexts[0], 8);
			tn_optimizer_destroy(fit->optimizer);
			struct tn_sgd_options sgd = tn_sgd_defaults();
			sgd.lr = 1e-4;
			fit->optimizer = tn_sgd(fit->net, &sgd);
			tn_checkpoint_folder *folder =
				tn_checkpoint_folder_open(contexts[0], path, NULL);
			fit->options.n_epochs = 50;
			fit->options.patience = 3;
			fit->options.on_epoch = spoil;
			fit->options.user = turns[turn];
			fit->options.checkpoints = folder;
			fit->options.resume = 1;
			make_fit_trainer(fit);
			if (!turn && stop_at)
				assert_status(tn_trainer_run(fit->trainer), TN_CANCELLED);
			tn_error_clear(contexts[0]);
			assert_ok(tn_trainer_run(fit->trainer));
			assert_int_equal(tn_trainer_epochs(fit->trainer), 5);
			assert_int_equal(read_weights(fit->net, after), first.n);
			assert_memory_equal(after, first.best, first.n * sizeof(float));
			close_fit(fit);
			tn_checkpoint_folder_close(folder);
		}
		files_remove(path);
	}
}

/* Buffers belong to the best weights: the running statistics of a batch norm. */
static void buffers_are_restored_too(void **state)
{
	struct spoiling s = {.stop_at = 0};
	struct tn_trainer_values values = {.struct_size = sizeof(values)};
	(void)state;
	open_fit(&s.fit, contexts[0], 8);
	tn_optimizer_destroy(s.fit.optimizer);
	tn_module_destroy(s.fit.net);
	s.fit.net = tn_module_sequential(contexts[0]);
	tn_module_sequential_add(s.fit.net, "fc1",
				 tn_module_linear(contexts[0], TABLE_INPUTS, 8, NULL));
	tn_module_sequential_add(s.fit.net, "norm", tn_module_batch_norm1d(contexts[0], 8, NULL));
	tn_module_sequential_add(s.fit.net, "fc2",
				 tn_module_linear(contexts[0], 8, TABLE_TARGETS, NULL));
	assert_ok(tn_module_build(s.fit.net));
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 1e-4;
	s.fit.optimizer = tn_sgd(s.fit.net, &sgd);
	s.fit.options.n_epochs = 4;
	s.fit.options.best = TN_BEST_ON_DEVICE;
	s.fit.options.on_epoch = spoil;
	s.fit.options.user = &s;
	run_fit(&s.fit);
	const struct tn_trainer_epoch *best = tn_trainer_best(s.fit.trainer);
	assert_int_equal(best->epoch, 2);
	assert_ok(tn_trainer_evaluate(s.fit.trainer, s.fit.validation, &values));
	assert_true(values.loss == best->validation->loss);
	close_fit(&s.fit);
}

/* The best weights of a training that evaluates averages are averages. */
static void averages_are_evaluated_in_place_of_the_weights(void **state)
{
	struct fit fit;
	struct tn_trainer_values values = {.struct_size = sizeof(values)};
	(void)state;
	open_fit(&fit, contexts[2], 8);
	struct tn_weight_average_options averaging = tn_weight_average_defaults();
	averaging.decay = 0.9;
	tn_weight_average *average = tn_weight_average_create(fit.net, &averaging);
	fit.options.average = average;
	fit.options.evaluate_average = 1;
	run_fit(&fit);
	assert_int_equal(tn_weight_average_updates(average), 15);
	assert_false(tn_weight_average_is_swapped(average));
	const double seen = tn_trainer_history_at(fit.trainer, 2)->validation->loss;
	assert_ok(tn_trainer_evaluate(fit.trainer, fit.validation, &values));
	assert_true(values.loss == seen);
	assert_ok(tn_weight_average_swap(average));
	fit.options.evaluate_average = 0;
	struct tn_trainer_options options = tn_trainer_defaults();
	options.loss = fit.mse;
	tn_trainer *plain = tn_trainer_create(fit.net, NULL, &options);
	assert_ok(tn_trainer_evaluate(plain, fit.validation, &values));
	assert_true(values.loss == seen);
	assert_ok(tn_weight_average_swap(average));
	assert_ok(tn_trainer_evaluate(plain, fit.validation, &values));
	assert_true(values.loss != seen);
	assert_status(tn_trainer_run(plain), TN_INVALID_ARGUMENT);
	tn_error_clear(contexts[2]);
	tn_trainer_destroy(plain);
	end_fit_trainer(&fit);
	tn_weight_average_destroy(average);
	close_fit(&fit);
}

/* ---- Interruption ----------------------------------------------------------------------------*/

struct stops {
	struct fit fit;
	uint64_t at; /* the step */
	int ended;
	tn_status status;
};

static int stop_at(void *user, const struct tn_trainer_step *step)
{
	const struct stops *s = user;
	assert_int_equal(step->struct_size, sizeof(*step));
	return step->step == s->at;
}

static int stop_epoch(void *user, const struct tn_trainer_epoch *epoch)
{
	(void)user;
	assert_int_equal(epoch->struct_size, sizeof(*epoch));
	assert_int_equal(epoch->train->struct_size, sizeof(*epoch->train));
	return epoch->epoch == 1;
}

static int stop_evaluation(void *user, const struct tn_trainer_values *values)
{
	(void)user;
	assert_int_equal(values->struct_size, sizeof(*values));
	return values->samples == 9;
}

static int stop_progress(void *user, const struct tn_trainer_progress *progress)
{
	(void)user;
	assert_int_equal(progress->struct_size, sizeof(*progress));
	return progress->sample > 0;
}

static void note_end(void *user, tn_trainer *trainer, tn_status status)
{
	struct stops *s = user;
	assert_true(trainer == s->fit.trainer);
	s->ended++;
	s->status = status;
}

/* Stopped after any step, also at the end of an epoch, it goes on to the same bits. */
static void a_stopped_training_goes_on_to_the_same_bits(void **state)
{
	(void)state;
	for (int k = 0; k < BACKENDS; k++) {
		float whole[MOST_WEIGHTS], parts[MOST_WEIGHTS];
		double losses[2][3];
		size_t n = 0;
		for (uint64_t at = 0; at <= 6; at++) {
			struct stops s = {.at = at};
			open_fit(&s.fit, contexts[k], 4);
			tn_metric *mae = metric_of(contexts[k], TN_METRIC_MAE);
			s.fit.options.accumulate = 2;
			s.fit.options.n_metrics = 1;
			s.fit.options.metrics = &mae;
			s.fit.options.user = &s;
			s.fit.options.on_step = at ? stop_at : NULL;
			s.fit.options.on_end = note_end;
			make_fit_trainer(&s.fit);
			if (at) {
				assert_status(tn_trainer_run(s.fit.trainer), TN_CANCELLED);
				assert_contains(tn_error(contexts[k])->text, "the step callback");
				assert_int_equal(s.status, TN_CANCELLED);
				tn_error_clear(contexts[k]);
				assert_int_equal(tn_trainer_steps(s.fit.trainer), at);
				/* An evaluation on the way changes nothing. */
				struct tn_trainer_values values = {.struct_size = sizeof(values)};
				assert_ok(tn_trainer_evaluate(s.fit.trainer, s.fit.train, &values));
			}
			assert_ok(tn_trainer_run(s.fit.trainer));
			assert_int_equal(s.ended, at ? 2 : 1);
			n = read_weights(s.fit.net, at ? parts : whole);
			for (size_t i = 0; i < 3; i++)
				losses[at > 0][i] =
					tn_trainer_history_at(s.fit.trainer, i)->train->metrics[0];
			if (at) {
				assert_memory_equal(parts, whole, n * sizeof(float));
				assert_memory_equal(losses[1], losses[0], sizeof(losses[0]));
			}
			close_fit(&s.fit);
			tn_metric_destroy(mae);
		}
	}
}

static int keep_progress(void *user, const struct tn_trainer_progress *progress)
{
	*(struct tn_trainer_progress *)user = *progress;
	return 1;
}

/* Those of this epoch and of the two after it, at the rate so far. */
static void the_time_left_is_that_of_all_samples(void **state)
{
	struct tn_trainer_progress progress = {.n_samples = 0};
	struct fit fit;
	(void)state;
	open_fit(&fit, contexts[0], 8);
	fit.options.on_progress = keep_progress;
	fit.options.user = &progress;
	make_fit_trainer(&fit);
	assert_status(tn_trainer_run(fit.trainer), TN_CANCELLED);
	tn_error_clear(contexts[0]);
	assert_int_equal(progress.epoch, 1);
	assert_close(progress.seconds_left * progress.samples_per_second,
		     (double)(3 * progress.n_samples - progress.sample), 1e-6);
	close_fit(&fit);
}

static void every_callback_can_stop(void **state)
{
	static const char *const texts[] = {"progress", "evaluation", "epoch"};
	(void)state;
	for (int i = 0; i < 3; i++) {
		struct fit fit;
		char text[64];
		open_fit(&fit, contexts[0], 8);
		fit.options.on_progress = i == 0 ? stop_progress : NULL;
		fit.options.on_evaluation = i == 1 ? stop_evaluation : NULL;
		fit.options.on_epoch = i == 2 ? stop_epoch : NULL;
		make_fit_trainer(&fit);
		assert_status(tn_trainer_run(fit.trainer), TN_CANCELLED);
		snprintf(text, sizeof(text), "stopped by the %s callback", texts[i]);
		assert_contains(tn_error(contexts[0])->text, text);
		tn_error_clear(contexts[0]);
		assert_int_equal(tn_trainer_epochs(fit.trainer), i == 0 ? 0 : 1);
		assert_int_equal(tn_trainer_steps(fit.trainer), i == 0 ? 1 : 5);
		close_fit(&fit);
	}
}

/* The last epoch is the one in which the last step was made. */
static void steps_may_end_it_within_an_epoch(void **state)
{
	struct fit fit;
	(void)state;
	open_fit(&fit, contexts[0], 8);
	fit.options.n_epochs = TN_NO_LIMIT;
	fit.options.max_steps = 7;
	run_fit(&fit);
	assert_int_equal(tn_trainer_steps(fit.trainer), 7);
	assert_int_equal(tn_trainer_epochs(fit.trainer), 2);
	assert_int_equal(tn_trainer_history_at(fit.trainer, 1)->train->samples, 16);
	assert_int_equal(tn_data_loader_position(fit.train).epoch, 2);
	assert_int_equal(tn_data_loader_position(fit.train).index, 0);
	close_fit(&fit);
}

/* ---- Captured steps --------------------------------------------------------------------------*/

static uint64_t replays_of(const tn_context *context)
{
	struct tn_ledger_row row = {.struct_size = sizeof(row)};
	for (size_t i = 0; !tn_ledger_at(context, i, &row); i++) {
		if (!strcmp(row.operation, "replay"))
			return row.native;
	}
	return 0;
}

/* Accumulation, clipping, average, schedule, metrics and dropout, replayed: the same bits. */
static void captured_steps_have_the_same_bits(void **state)
{
	(void)state;
	for (uint64_t accumulate = 1; accumulate <= 3; accumulate++) {
		float weights[2][MOST_WEIGHTS];
		double values[2][6];
		size_t n = 0;
		for (int on = 0; on < 2; on++) {
			struct fit fit;
			open_fit(&fit, contexts[2], 4);
			struct tn_weight_average_options averaging = tn_weight_average_defaults();
			averaging.decay = 0.5;
			tn_weight_average *average = tn_weight_average_create(fit.net, &averaging);
			struct tn_schedule_options options = tn_schedule_defaults();
			options.kind = TN_SCHEDULE_EXPONENTIAL;
			options.gamma = 0.9;
			tn_schedule *schedule = tn_schedule_create(fit.optimizer, &options);
			tn_metric *r2 = metric_of(contexts[2], TN_METRIC_R2);
			fit.options.accumulate = accumulate;
			fit.options.clip_norm = 0.2;
			fit.options.clip_value = 0.5;
			fit.options.average = average;
			fit.options.schedule = schedule;
			fit.options.n_metrics = 1;
			fit.options.metrics = &r2;
			fit.options.capture = on ? TN_CAPTURE_ON : TN_CAPTURE_OFF;
			uint64_t before = replays_of(contexts[2]);
			run_fit(&fit);
			assert_true((replays_of(contexts[2]) > before + 20) == on);
			for (size_t i = 0; i < 3; i++) {
				const struct tn_trainer_epoch *e =
					tn_trainer_history_at(fit.trainer, i);
				values[on][2 * i] = e->train->loss;
				values[on][2 * i + 1] = e->train->metrics[0];
			}
			n = read_weights(fit.net, weights[on]);
			end_fit_trainer(&fit);
			tn_weight_average_destroy(average);
			close_fit(&fit);
			tn_schedule_destroy(schedule);
			tn_metric_destroy(r2);
		}
		assert_memory_equal(weights[0], weights[1], n * sizeof(float));
		assert_memory_equal(values[0], values[1], sizeof(values[0]));
	}
}

/* Replays cannot be measured: without a word from the program, steps are not captured then. */
static void a_profile_measures_all_steps(void **state)
{
	struct fit fit;
	struct tn_profile_row row = {.struct_size = sizeof(row)};
	(void)state;
	open_fit(&fit, contexts[2], 8);
	tn_profile *profile = tn_profile_begin(fit.net, NULL);
	assert_non_null(profile);
	uint64_t before = replays_of(contexts[2]);
	run_fit(&fit);
	assert_int_equal(replays_of(contexts[2]), before);
	assert_ok(tn_profile_end(profile));
	assert_ok(tn_profile_at(profile, 0, &row));
	/* Five batches of training and three of validation in each of three epochs. */
	assert_int_equal(row.calls, 3 * (5 + 3));
	tn_profile_destroy(profile);
	close_fit(&fit);
}

/* ---- Mixed precision -------------------------------------------------------------------------*/

/* A network of f16, whose first steps are skipped while the scale comes down, and which then
 * learns; captured too. */
static void a_network_of_f16_is_trained_with_a_scaler(void **state)
{
	(void)state;
	for (int k = 0; k <= BACKENDS; k++) {
		const int is_captured = k == BACKENDS;
		tn_context *context = contexts[is_captured ? 2 : k];
		struct fit fit;
		struct tn_grad_scaler_state scale = {.struct_size = sizeof(scale)};
		open_fit(&fit, context, 8);
		tn_optimizer_destroy(fit.optimizer);
		tn_module_destroy(fit.net);
		fit.net = tn_module_sequential(context);
		tn_module_sequential_add(fit.net, "fc1",
					 tn_module_linear(context, TABLE_INPUTS, 8, NULL));
		tn_module_sequential_add(fit.net, "relu", tn_module_relu(context));
		tn_module_sequential_add(fit.net, "fc2",
					 tn_module_linear(context, 8, TABLE_TARGETS, NULL));
		assert_ok(tn_module_set_dtype(fit.net, TN_F16));
		assert_ok(tn_module_build(fit.net));
		struct tn_sgd_options sgd = tn_sgd_defaults();
		sgd.lr = 0.1;
		fit.optimizer = tn_sgd(fit.net, &sgd);
		struct tn_grad_scaler_options options = tn_grad_scaler_defaults();
		options.init_scale = 1 << 26;
		tn_grad_scaler *scaler = tn_grad_scaler_create(fit.net, &options);
		struct tn_weight_average_options averaging = tn_weight_average_defaults();
		averaging.decay = 0.9;
		tn_weight_average *average = tn_weight_average_create(fit.net, &averaging);
		fit.options.scaler = scaler;
		fit.options.average = average;
		fit.options.clip_norm = 1;
		fit.options.accumulate = 2;
		fit.options.n_epochs = 30;
		fit.options.capture = is_captured ? TN_CAPTURE_ON : TN_CAPTURE_OFF;
		run_fit(&fit);
		assert_int_equal(tn_trainer_steps(fit.trainer), 90);
		assert_ok(tn_grad_scaler_get_state(scaler, &scale));
		assert_true(scale.scale < 1 << 26 && scale.scale >= 1 << 8);
		assert_in_range(tn_weight_average_updates(average), scale.good_updates, 89);
		assert_true(tn_trainer_history_at(fit.trainer, 29)->validation->loss <
			    0.2 * tn_trainer_history_at(fit.trainer, 0)->validation->loss);
		fit.options.check_gradients = 1;
		assert_null(tn_trainer_create(fit.net, fit.optimizer, &fit.options));
		tn_error_clear(context);
		end_fit_trainer(&fit);
		tn_grad_scaler_destroy(scaler);
		tn_weight_average_destroy(average);
		close_fit(&fit);
	}
}

/* ---- Losses ----------------------------------------------------------------------------------*/

/* Both fields are inputs here. */
static tn_array *own_step(void *user, tn_module *module, uint32_t n_fields, tn_array *const *fields,
			  tn_array **output, tn_array **weight)
{
	const struct fit *fit = user;
	assert_int_equal(n_fields, 2);
	*output = tn_module_forward(module, fields[0]);
	return tn_loss_sum(fit->mse, *output, fields[1], weight);
}

/* The sum over the samples of means over two targets: their number is the weight. */
static tn_array *step_without_weight(void *user, tn_module *module, uint32_t n_fields,
				     tn_array *const *fields, tn_array **output, tn_array **weight)
{
	tn_array *sum = own_step(user, module, n_fields, fields, output, weight);
	*weight = NULL;
	return tn_affine(sum, 1.0 / TABLE_TARGETS, 0);
}

static tn_array *no_sum(void *user, tn_module *module, uint32_t n_fields, tn_array *const *fields,
			tn_array **output, tn_array **weight)
{
	(void)user, (void)n_fields, (void)weight;
	*output = tn_module_forward(module, fields[0]);
	return tn_square(*output);
}

static void steps_may_be_functions(void **state)
{
	static const tn_step_function steps[] = {NULL, own_step, step_without_weight};
	float weights[3][MOST_WEIGHTS];
	size_t n = 0;
	(void)state;
	for (int i = 0; i < 3; i++) {
		struct fit fit;
		open_fit(&fit, contexts[2], 8);
		tn_metric *mse = metric_of(contexts[2], TN_METRIC_MSE);
		fit.options.loss = i ? NULL : fit.mse;
		fit.options.step_function = steps[i];
		fit.options.is_repeatable = i > 0;
		fit.options.capture = i ? TN_CAPTURE_ON : TN_CAPTURE_OFF;
		fit.options.n_metrics = 1;
		fit.options.metrics = &mse;
		run_fit(&fit);
		n = read_weights(fit.net, weights[i]);
		close_fit(&fit);
		tn_metric_destroy(mse);
	}
	for (size_t i = 0; i < n; i++) {
		assert_close(weights[1][i], weights[0][i], 1e-6);
		assert_close(weights[2][i], weights[0][i], 1e-6);
	}
	struct fit fit;
	open_fit(&fit, contexts[0], 8);
	fit.options.loss = NULL;
	fit.options.step_function = no_sum;
	make_fit_trainer(&fit);
	assert_status(tn_trainer_run(fit.trainer), TN_SHAPE);
	assert_contains(tn_error(contexts[0])->text,
			"step_function: expected a sum of one element, found another array");
	tn_error_clear(contexts[0]);
	close_fit(&fit);
}

static void *begin_nothing(void *user, tn_context *context)
{
	(void)user, (void)context;
	return NULL;
}

static tn_status add_nothing(void *state, const tn_array *output, const tn_array *target)
{
	(void)state, (void)output, (void)target;
	return TN_OK;
}

static tn_status value_of_nothing(void *state, double *value)
{
	(void)state, (void)value;
	return TN_OK;
}

struct unreadable {
	int fails;
	uint64_t at; /* from this step on; 0: never */
};

/* Samples of the table's shape. */
static tn_status read_unless_it_fails(void *user, uint64_t sample, void *const *fields,
				      struct tn_error_info *error)
{
	const struct unreadable *unreadable = user;
	(void)error;
	if (unreadable->fails)
		return TN_IO;
	for (uint64_t i = 0; i < TABLE_INPUTS; i++)
		((float *)fields[0])[i] = (float)((7 * sample + i) % 5) - 2;
	for (uint64_t i = 0; i < TABLE_TARGETS; i++)
		((float *)fields[1])[i] = (float)((3 * sample + i) % 4);
	return TN_OK;
}

static int fail_from_here(void *user, const struct tn_trainer_step *step)
{
	struct unreadable *unreadable = user;
	unreadable->fails |= step->step == unreadable->at;
	return 0;
}

/* The next run finishes the epoch, rather than train it twice.  Five steps an epoch. */
static void a_validation_that_failed_is_repeated(void **state)
{
	static const struct tn_field fields[] = {
		{.dtype = TN_F32, .rank = 1, .shape = {TABLE_INPUTS}},
		{.dtype = TN_F32, .rank = 1, .shape = {TABLE_TARGETS}}};
	static const struct {
		uint64_t max_steps, fails_at, epochs;
	} cases[] = {{TN_NO_LIMIT, 10, 3}, {8, 8, 2}};
	(void)state;
	for (int k = 0; k < 2; k++) {
		float weights[2][MOST_WEIGHTS];
		size_t n = 0;
		for (int turn = 0; turn < 2; turn++) {
			struct unreadable unreadable = {0, turn ? cases[k].fails_at : 0};
			struct fit fit;
			tn_dataset *dataset = NULL;
			tn_data_loader *loader = NULL;
			open_fit(&fit, contexts[0], 8);
			struct tn_dataset_fields source = tn_dataset_fields_defaults();
			source.n = 9;
			source.n_fields = 2;
			source.fields = fields;
			source.read = read_unless_it_fails;
			source.user = &unreadable;
			assert_ok(tn_dataset_from_fields(&source, &dataset, NULL));
			struct tn_data_loader_options loading = tn_data_loader_defaults();
			loading.batch_size = 4;
			assert_ok(tn_data_loader_create(dataset, TN_PART_TRAIN, &loading, &loader,
							NULL));
			fit.options.validation = loader;
			fit.options.max_steps = cases[k].max_steps;
			fit.options.on_step = fail_from_here;
			fit.options.user = &unreadable;
			make_fit_trainer(&fit);
			if (turn)
				assert_status(tn_trainer_run(fit.trainer), TN_IO);
			tn_error_clear(contexts[0]);
			unreadable = (struct unreadable){0, 0};
			assert_ok(tn_trainer_run(fit.trainer));
			assert_int_equal(tn_trainer_epochs(fit.trainer), cases[k].epochs);
			assert_int_equal(tn_trainer_history_count(fit.trainer), cases[k].epochs);
			n = read_weights(fit.net, weights[turn]);
			close_fit(&fit);
			tn_data_loader_destroy(loader);
			tn_dataset_destroy(dataset);
		}
		assert_memory_equal(weights[1], weights[0], n * sizeof(float));
	}
}

/* Also where it has begun nothing. */
static void a_failed_evaluation_leaves_the_loader_where_it_was(void **state)
{
	struct fit fit;
	struct tn_trainer_values values = {.struct_size = sizeof(values)};
	(void)state;
	open_fit(&fit, contexts[0], 8);
	struct tn_metric_class class_ = tn_metric_class_defaults();
	class_.name = "nothing";
	class_.begin = begin_nothing;
	class_.add = add_nothing;
	class_.value = value_of_nothing;
	tn_metric *nothing = tn_metric_custom(contexts[0], &class_);
	fit.options.n_metrics = 1;
	fit.options.metrics = &nothing;
	make_fit_trainer(&fit);
	assert_ok(tn_data_loader_seek(fit.train, (struct tn_data_position){2, 8}, NULL));
	assert_status(tn_trainer_evaluate(fit.trainer, fit.train, &values), TN_OUT_OF_MEMORY);
	tn_error_clear(contexts[0]);
	assert_int_equal(tn_data_loader_position(fit.train).epoch, 2);
	assert_int_equal(tn_data_loader_position(fit.train).index, 8);
	close_fit(&fit);
	tn_metric_destroy(nothing);
}

/* The members of the network have an input each; the targets are the second input too. */
static tn_array *step_of_two(void *user, tn_module *module, uint32_t n_fields,
			     tn_array *const *fields, tn_array **output, tn_array **weight)
{
	const struct fit *fit = user;
	(void)n_fields;
	tn_array *a = tn_module_forward(tn_module_child(module, "a"), fields[0]);
	tn_array *b = tn_module_forward(tn_module_child(module, "b"), fields[1]);
	*output = tn_module_forward(tn_module_child(module, "head"), tn_relu(tn_add(a, b)));
	return tn_loss_sum(fit->mse, *output, fields[1], weight);
}

static void a_network_may_have_several_inputs(void **state)
{
	float weights[2][MOST_WEIGHTS];
	size_t n = 0;
	(void)state;
	for (int on = 0; on < 2; on++) {
		struct fit fit;
		open_fit(&fit, contexts[2], 8);
		tn_optimizer_destroy(fit.optimizer);
		tn_module_destroy(fit.net);
		tn_random_set_state(contexts[2], (struct tn_random_state){5, 0});
		fit.net = tn_module_sequential(contexts[2]);
		tn_module_sequential_add(fit.net, "a",
					 tn_module_linear(contexts[2], TABLE_INPUTS, 8, NULL));
		tn_module_sequential_add(fit.net, "b",
					 tn_module_linear(contexts[2], TABLE_TARGETS, 8, NULL));
		tn_module_sequential_add(fit.net, "head",
					 tn_module_linear(contexts[2], 8, TABLE_TARGETS, NULL));
		assert_ok(tn_module_build(fit.net));
		struct tn_adam_options adam = tn_adam_defaults();
		adam.lr = 0.02;
		fit.optimizer = tn_adam(fit.net, &adam);
		fit.options.loss = NULL;
		fit.options.step_function = step_of_two;
		fit.options.is_repeatable = 1;
		fit.options.capture = on ? TN_CAPTURE_ON : TN_CAPTURE_OFF;
		fit.options.n_epochs = 20;
		run_fit(&fit);
		assert_true(tn_trainer_history_at(fit.trainer, 19)->validation->loss <
			    0.1 * tn_trainer_history_at(fit.trainer, 0)->validation->loss);
		n = read_weights(fit.net, weights[on]);
		close_fit(&fit);
	}
	assert_memory_equal(weights[0], weights[1], n * sizeof(float));
}

/* ---- Refusals --------------------------------------------------------------------------------*/

static void refuse_what_is_of_another(struct fit *fit)
{
	struct fit other;
	open_fit(&other, fit->context, 8);
	tn_weight_average *average = tn_weight_average_create(other.net, NULL);
	struct tn_schedule_options options = tn_schedule_defaults();
	options.kind = TN_SCHEDULE_EXPONENTIAL;
	options.gamma = 0.9;
	tn_schedule *schedule = tn_schedule_create(other.optimizer, &options);
	for (int i = 0; i < 2; i++) {
		fit->options.average = i ? NULL : average;
		fit->options.schedule = i ? schedule : NULL;
		assert_null(tn_trainer_create(fit->net, fit->optimizer, &fit->options));
		assert_contains(tn_error(fit->context)->text,
				i ? "a schedule of the optimizer" : "an average of the module");
		tn_error_clear(fit->context);
	}
	fit->options.schedule = NULL;
	tn_schedule_destroy(schedule);
	tn_weight_average_destroy(average);
	close_fit(&other);
}

static void refuse_a_plateau_that_falls_while_the_value_rises(struct fit *fit)
{
	tn_metric *r2 = metric_of(fit->context, TN_METRIC_R2);
	fit->options.n_metrics = 1;
	fit->options.metrics = &r2;
	fit->options.monitor = "r2";
	for (int is_rising = 0; is_rising < 2; is_rising++) {
		struct tn_schedule_options scheduling = tn_schedule_defaults();
		scheduling.kind = TN_SCHEDULE_PLATEAU;
		scheduling.is_rising = is_rising;
		fit->options.schedule = tn_schedule_create(fit->optimizer, &scheduling);
		fit->trainer = tn_trainer_create(fit->net, fit->optimizer, &fit->options);
		assert_true((fit->trainer != NULL) == is_rising);
		if (!is_rising)
			assert_contains(tn_error(fit->context)->text, "a plateau with is_rising 1");
		tn_error_clear(fit->context);
		end_fit_trainer(fit);
		tn_schedule_destroy(fit->options.schedule);
	}
	tn_metric_destroy(r2);
}

/* Refuses the options, and resets them. */
static void refuse(const struct fit *fit, struct tn_trainer_options *options, const char *text)
{
	assert_null(tn_trainer_create(fit->net, NULL, options));
	assert_contains(tn_error(fit->context)->text, text);
	tn_error_clear(fit->context);
	*options = tn_trainer_defaults();
}

static void what_makes_no_sense_is_refused(void **state)
{
	struct fit fit;
	tn_loss *other_loss = make_loss(contexts[1], TN_LOSS_MSE);
	(void)state;
	open_fit(&fit, contexts[0], 8);
	tn_metric *mse = metric_of(contexts[1], TN_METRIC_MSE);
	tn_metric *twice[2];
	for (int i = 0; i < 2; i++)
		twice[i] = tn_metric_create(contexts[0], NULL);
	struct tn_trainer_options options = tn_trainer_defaults();
	options.loss = other_loss;
	refuse(&fit, &options, "expected a loss of the module's context");
	options.loss = fit.mse;
	options.step_function = own_step;
	refuse(&fit, &options, "expected one of loss and step_function, found both");
	options.clip_norm = -1;
	refuse(&fit, &options, "clip_norm: expected a number above 0, found -1");
	options.clip_value = 0;
	refuse(&fit, &options, "clip_value: expected a number above 0, found 0");
	options.min_delta = NAN;
	refuse(&fit, &options, "min_delta: expected a finite number of at least 0, found nan");
	options.n_epochs = 0;
	refuse(&fit, &options, "n_epochs: expected at least 1, found 0");
	options.accumulate = 0;
	refuse(&fit, &options, "accumulate: expected at least 1, found 0");
	options.patience = 0;
	refuse(&fit, &options, "patience: expected at least 1, found 0");
	options.capture = 3;
	refuse(&fit, &options, "capture: expected");
	options.best = 4;
	refuse(&fit, &options, "best: expected TN_BEST_..., found 4");
	options.n_metrics = 17;
	refuse(&fit, &options, "at most 16 metrics, found 17 and no array");
	options.n_metrics = 1;
	options.metrics = &mse;
	refuse(&fit, &options, "metrics of the module's context");
	options.n_metrics = 2;
	options.metrics = twice;
	refuse(&fit, &options, "found two of the name accuracy");
	options.evaluate_average = 1;
	refuse(&fit, &options, "expected an average");
	options.schedule_epochs = 1;
	refuse(&fit, &options, "expected a schedule");
	options.monitor = "precision";
	refuse(&fit, &options, "loss or the name of a metric, found precision");
	options.train = fit.train;
	refuse(&fit, &options, "an optimizer for .train");
	refuse_what_is_of_another(&fit);
	refuse_a_plateau_that_falls_while_the_value_rises(&fit);
	close_fit(&fit);
	tn_metric_destroy(mse);
	tn_metric_destroy(twice[0]);
	tn_metric_destroy(twice[1]);
	tn_loss_destroy(other_loss);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_regression_is_learned_and_has_a_history),
		cmocka_unit_test(samples_with_several_labels_are_learned),
		cmocka_unit_test(nnott_a4_8_evaluation_is_in_evaluation_mode),
		cmocka_unit_test(nnott_a3_5_hooks_see_the_tensors_between_layers),
		cmocka_unit_test(batches_add_up_to_the_step_of_all_their_samples),
		cmocka_unit_test(a_step_may_be_a_whole_epoch),
		cmocka_unit_test(nnott_a4_7_the_limit_of_the_norm_is_that_of_the_mean),
		cmocka_unit_test(values_are_clipped_before_the_norm),
		cmocka_unit_test(nnott_a4_4_rates_reach_an_optimizer_with_lookahead),
		cmocka_unit_test(a_schedule_may_count_epochs_and_watch_the_loss),
		cmocka_unit_test(a_value_that_is_nan_is_never_the_best),
		cmocka_unit_test(nnott_a4_6_early_stopping_restores_the_best_weights),
		cmocka_unit_test(the_best_weights_are_restored_after_a_stop_too),
		cmocka_unit_test(buffers_are_restored_too),
		cmocka_unit_test(averages_are_evaluated_in_place_of_the_weights),
		cmocka_unit_test(a_stopped_training_goes_on_to_the_same_bits),
		cmocka_unit_test(the_time_left_is_that_of_all_samples),
		cmocka_unit_test(every_callback_can_stop),
		cmocka_unit_test(steps_may_end_it_within_an_epoch),
		cmocka_unit_test(captured_steps_have_the_same_bits),
		cmocka_unit_test(a_profile_measures_all_steps),
		cmocka_unit_test(a_network_of_f16_is_trained_with_a_scaler),
		cmocka_unit_test(steps_may_be_functions),
		cmocka_unit_test(a_validation_that_failed_is_repeated),
		cmocka_unit_test(a_failed_evaluation_leaves_the_loader_where_it_was),
		cmocka_unit_test(a_network_may_have_several_inputs),
		cmocka_unit_test(what_makes_no_sense_is_refused),
	};
	return cmocka_run_group_tests(tests, open_all, close_all);
}
