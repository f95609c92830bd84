/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What the trainer's options choose: what is monitored, when checkpoints are saved, and what is
 * captured.
 */
#include "train_fixture.h"

#include "io_files.h"

/* Opens one whose loss falls slowly and steadily. */
static void open_slow_fit(struct fit *fit)
{
	open_fit(fit, contexts[0], 8);
	tn_optimizer_destroy(fit->optimizer);
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 1e-4;
	fit->optimizer = tn_sgd(fit->net, &sgd);
}

/* ---- What is monitored -----------------------------------------------------------------------*/

static void without_validation_the_training_is_monitored(void **state)
{
	struct fit fit;
	(void)state;
	open_fit(&fit, contexts[0], 8);
	fit.options.validation = NULL;
	run_fit(&fit);
	const struct tn_trainer_epoch *best = tn_trainer_best(fit.trainer);
	for (size_t i = 0; i < 3; i++) {
		const struct tn_trainer_epoch *epoch = tn_trainer_history_at(fit.trainer, i);
		assert_null(epoch->validation);
		assert_true(best->train->loss <= epoch->train->loss);
	}
	char *json = tn_trainer_history_json(fit.trainer);
	assert_contains(json, "\"val_loss\": null}\n");
	tn_string_free(json);
	close_fit(&fit);
}

/* The first epoch is the best there is: the loss falls by less than 10. */
static void what_is_better_by_min_delta_alone_is_not_better(void **state)
{
	(void)state;
	for (int is_patient = 0; is_patient < 2; is_patient++) {
		struct fit fit;
		open_slow_fit(&fit);
		fit.options.n_epochs = 6;
		fit.options.patience = 2;
		fit.options.min_delta = is_patient ? 0 : 10;
		run_fit(&fit);
		assert_int_equal(tn_trainer_stopped_early(fit.trainer), !is_patient);
		assert_int_equal(tn_trainer_epochs(fit.trainer), is_patient ? 6 : 3);
		if (!is_patient)
			assert_int_equal(tn_trainer_best(fit.trainer)->epoch, 1);
		close_fit(&fit);
	}
}

/* A metric whose name a JSON string must escape. */
static void *begin_nothing(void *user, tn_context *context)
{
	(void)context;
	return user;
}

static tn_status add_nothing(void *state, const tn_array *output, const tn_array *target)
{
	(void)state, (void)output, (void)target;
	return TN_OK;
}

static tn_status half(void *state, double *value)
{
	(void)state;
	*value = 0.5;
	return TN_OK;
}

static tn_metric *quoted_metric(tn_context *context, int is_repeatable)
{
	static int any;
	struct tn_metric_class class_ = tn_metric_class_defaults();
	class_.name = "a\"b\\c";
	class_.is_rising = 1;
	class_.is_repeatable = is_repeatable;
	class_.user = &any;
	class_.begin = begin_nothing;
	class_.add = add_nothing;
	class_.value = half;
	tn_metric *metric = tn_metric_custom(context, &class_);
	assert_non_null(metric);
	return metric;
}

static void names_of_metrics_are_escaped_in_json(void **state)
{
	struct fit fit;
	(void)state;
	open_fit(&fit, contexts[0], 8);
	tn_metric *metric = quoted_metric(contexts[0], 0);
	fit.options.n_metrics = 1;
	fit.options.metrics = &metric;
	run_fit(&fit);
	char *json = tn_trainer_history_json(fit.trainer);
	assert_contains(json, ", \"train_a\\u0022b\\u005cc\": 0.5, ");
	tn_string_free(json);
	close_fit(&fit);
	tn_metric_destroy(metric);
}

/* ---- Averages --------------------------------------------------------------------------------*/

/* After the second epoch the weights are bad, and so are averages with them. */
static int spoil(void *user, const struct tn_trainer_epoch *epoch)
{
	const struct fit *fit = user;
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	assert_ok(tn_module_parameter(fit->net, "fc2.weight", &view));
	if (epoch->epoch == 2)
		assert_ok(tn_fill(view.value, 30));
	return 0;
}

/* The best weights, which are averages, are evaluated as they are. */
static void the_best_averages_are_not_exchanged_again(void **state)
{
	struct fit fit;
	struct tn_trainer_values values = {.struct_size = sizeof(values)};
	(void)state;
	open_slow_fit(&fit);
	struct tn_weight_average_options averaging = tn_weight_average_defaults();
	averaging.decay = 0.5;
	tn_weight_average *average = tn_weight_average_create(fit.net, &averaging);
	fit.options.average = average;
	fit.options.evaluate_average = 1;
	fit.options.n_epochs = 4;
	fit.options.best = TN_BEST_ON_DEVICE;
	fit.options.on_epoch = spoil;
	run_fit(&fit);
	const struct tn_trainer_epoch *best = tn_trainer_best(fit.trainer);
	assert_int_equal(best->epoch, 2);
	assert_ok(tn_trainer_evaluate(fit.trainer, fit.validation, &values));
	assert_true(values.loss == best->validation->loss);
	end_fit_trainer(&fit);
	tn_weight_average_destroy(average);
	close_fit(&fit);
}

/* ---- Checkpoints -----------------------------------------------------------------------------*/

static void empty_folder(const char *path)
{
	DIR *entries = opendir(path);
	assert_non_null(entries);
	for (struct dirent *entry = readdir(entries); entry; entry = readdir(entries))
		unlink(files_path(path, entry->d_name));
	closedir(entries);
	assert_int_equal(rmdir(path), 0);
}

static tn_checkpoint_folder *open_folder(const char *path)
{
	struct tn_checkpoint_folder_options options = tn_checkpoint_folder_defaults();
	options.keep = TN_NO_LIMIT;
	tn_checkpoint_folder *folder = tn_checkpoint_folder_open(contexts[0], path, &options);
	assert_non_null(folder);
	return folder;
}

/* Five steps an epoch; three epochs, in which the second metric is monitored. */
static void checkpoints_are_saved_at_their_intervals(void **state)
{
	static const struct {
		uint64_t steps, epochs;
		uint64_t saved[10];
		int has_metric[10];
	} cases[] = {
		{0, 0, {5, 10, 15}, {1, 1, 1}}, /* the default: each epoch */
		{0, 2, {10, 15}, {1, 1}},       /* the last one always */
		{4, 0, {4, 8, 12, 15}, {0, 0, 0, 1}},
		{5, 2, {5, 10, 15}, {0, 1, 1}},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char path[64];
		struct fit fit;
		snprintf(path, sizeof(path), "%s", files_folder());
		tn_checkpoint_folder *folder = open_folder(path);
		open_fit(&fit, contexts[0], 8);
		struct tn_metric_options options = tn_metric_defaults();
		options.kind = TN_METRIC_R2;
		struct tn_metric_options metric_options = tn_metric_defaults();
		metric_options.kind = TN_METRIC_MAE;
		tn_metric *metrics[] = {
			tn_metric_create(contexts[0], &options),
			tn_metric_create(contexts[0], &metric_options),
		};
		fit.options.n_metrics = 2;
		fit.options.metrics = metrics;
		fit.options.monitor = "mae";
		fit.options.checkpoints = folder;
		fit.options.checkpoint_steps = cases[i].steps;
		fit.options.checkpoint_epochs = cases[i].epochs;
		run_fit(&fit);
		size_t n = 0;
		while (n < 10 && cases[i].saved[n])
			n++;
		assert_int_equal(tn_checkpoint_folder_count(folder), n);
		for (size_t k = 0; k < n; k++) {
			struct tn_checkpoint_view view = {.struct_size = sizeof(view)};
			assert_ok(tn_checkpoint_folder_at(folder, k, &view));
			assert_int_equal(view.step, cases[i].saved[k]);
			assert_int_equal(!isnan(view.metric), cases[i].has_metric[k]);
			if (cases[i].has_metric[k])
				assert_true(view.metric ==
					    tn_trainer_history_at(fit.trainer, view.step / 5 - 1)
						    ->validation->metrics[1]);
		}
		close_fit(&fit);
		tn_checkpoint_folder_close(folder);
		tn_metric_destroy(metrics[0]);
		tn_metric_destroy(metrics[1]);
		empty_folder(path);
	}
}

struct waiting {
	struct fit fit;
	uint64_t stop_at; /* the epoch; 0: none */
	float best[MOST_WEIGHTS];
};

/* The second epoch is the best. */
static int spoil_and_stop(void *user, const struct tn_trainer_epoch *epoch)
{
	struct waiting *w = user;
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	if (epoch->epoch == 2) {
		read_weights(w->fit.net, w->best);
		assert_ok(tn_module_parameter(w->fit.net, "fc2.weight", &view));
		assert_ok(tn_fill(view.value, 30));
	}
	return epoch->epoch == w->stop_at;
}

/* Interrupted after one of three epochs that are no better, it waits for two more, and has the
 * weights of the best epoch in the end. */
static void early_stopping_goes_on_waiting_after_an_interruption(void **state)
{
	float best[MOST_WEIGHTS], found[MOST_WEIGHTS];
	char path[64];
	size_t n = 0;
	(void)state;
	snprintf(path, sizeof(path), "%s", files_folder());
	for (int turn = 0; turn < 2; turn++) {
		struct waiting w = {.stop_at = turn ? 0 : 3};
		tn_checkpoint_folder *folder = open_folder(path);
		open_slow_fit(&w.fit);
		w.fit.options.n_epochs = 50;
		w.fit.options.patience = 3;
		w.fit.options.on_epoch = spoil_and_stop;
		w.fit.options.user = &w;
		w.fit.options.checkpoints = folder;
		w.fit.options.resume = 1;
		make_fit_trainer(&w.fit);
		assert_status(tn_trainer_run(w.fit.trainer), turn ? TN_OK : TN_CANCELLED);
		tn_error_clear(contexts[0]);
		assert_int_equal(tn_trainer_epochs(w.fit.trainer), turn ? 5 : 3);
		assert_int_equal(tn_trainer_best(w.fit.trainer)->epoch, 2);
		if (!turn)
			memcpy(best, w.best, sizeof(best));
		n = read_weights(w.fit.net, found);
		close_fit(&w.fit);
		tn_checkpoint_folder_close(folder);
	}
	assert_memory_equal(found, best, n * sizeof(float));
	empty_folder(path);
}

static void a_part_without_samples_is_refused(void **state)
{
	struct fit fit;
	struct tn_trainer_values values = {.struct_size = sizeof(values)};
	(void)state;
	open_fit(&fit, contexts[0], 8);
	tn_data_loader *empty = make_loader(&fit, TN_PART_TEST, 8);
	fit.options.train = empty;
	assert_null(tn_trainer_create(fit.net, fit.optimizer, &fit.options));
	assert_contains(tn_error(contexts[0])->text, "train: expected a part with samples");
	tn_error_clear(contexts[0]);
	fit.options.train = fit.train;
	fit.options.validation = empty;
	assert_null(tn_trainer_create(fit.net, fit.optimizer, &fit.options));
	assert_contains(tn_error(contexts[0])->text, "validation: expected a part with samples");
	tn_error_clear(contexts[0]);
	fit.options.validation = NULL;
	make_fit_trainer(&fit);
	assert_status(tn_trainer_evaluate(fit.trainer, empty, &values), TN_INVALID_ARGUMENT);
	assert_string_equal(tn_error_text(contexts[0]),
			    "evaluate: expected a part with samples, found none");
	tn_error_clear(contexts[0]);
	values.struct_size = 0;
	assert_status(tn_trainer_evaluate(fit.trainer, fit.train, &values), TN_INVALID_ARGUMENT);
	assert_contains(tn_error(contexts[0])->text, "struct tn_trainer_values");
	tn_error_clear(contexts[0]);
	close_fit(&fit);
	tn_data_loader_destroy(empty);
}

/* ---- Capture ---------------------------------------------------------------------------------*/

static uint64_t replays_of(const tn_context *context)
{
	struct tn_ledger_row row = {.struct_size = sizeof(row)};
	for (size_t i = 0; !tn_ledger_at(context, i, &row); i++) {
		if (!strcmp(row.operation, "replay"))
			return row.native;
	}
	return 0;
}

static tn_array *own_step(void *user, tn_module *module, uint32_t n_fields, tn_array *const *fields,
			  tn_array **output, tn_array **weight)
{
	const struct fit *fit = user;
	(void)n_fields;
	*output = tn_module_forward(module, fields[0]);
	return tn_loss_sum(fit->mse, *output, fields[1], weight);
}

/* The program's functions and metrics are captured if it says that they may be repeated. */
static void what_may_differ_between_steps_is_not_captured(void **state)
{
	(void)state;
	for (int own = 0; own < 4; own++) {
		const int is_repeatable = own % 2;
		struct fit fit;
		open_fit(&fit, contexts[2], 4);
		tn_metric *metric = own < 2 ? NULL : quoted_metric(contexts[2], is_repeatable);
		fit.options.n_metrics = metric != NULL;
		fit.options.metrics = &metric;
		if (!metric) {
			fit.options.loss = NULL;
			fit.options.step_function = own_step;
			fit.options.is_repeatable = is_repeatable;
		}
		uint64_t before = replays_of(contexts[2]);
		run_fit(&fit);
		assert_int_equal(replays_of(contexts[2]) > before, is_repeatable);
		close_fit(&fit);
		tn_metric_destroy(metric);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_validation_the_training_is_monitored),
		cmocka_unit_test(what_is_better_by_min_delta_alone_is_not_better),
		cmocka_unit_test(names_of_metrics_are_escaped_in_json),
		cmocka_unit_test(the_best_averages_are_not_exchanged_again),
		cmocka_unit_test(checkpoints_are_saved_at_their_intervals),
		cmocka_unit_test(early_stopping_goes_on_waiting_after_an_interruption),
		cmocka_unit_test(a_part_without_samples_is_refused),
		cmocka_unit_test(what_may_differ_between_steps_is_not_captured),
	};
	return cmocka_run_group_tests(tests, open_all, close_all);
}
