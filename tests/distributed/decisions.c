/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What a trainer decides after an epoch, on 1, 2 and 3 ranks as in one process: when rates fall and
 * when it stops, also for values that stay equal, also when it was stopped after any step and goes
 * on from a checkpoint; and what is left of a validation that fails.
 */
#include "distributed/training.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tenon/tenon.h>

#include "check.h"

enum { INPUTS = 3, TRAINED = 12, VALIDATED = 6, SAMPLES = TRAINED + VALIDATED, EPOCH_STEPS = 3 };
enum { MOST_EPOCHS = 8, N_WEIGHTS = INPUTS + 1, WAITED = 5000000 /* ns */ };

static const struct row {
	double lr, min_delta;
	uint64_t patience;
	const char *monitor;
	double threshold;          /* of the plateau, absolute */
	uint64_t plateau_patience; /* rates are halved after so many more epochs */
	int resumes;               /* it is stopped after each step */
	uint64_t epochs;
	int halvings[MOST_EPOCHS]; /* of the rate in each epoch */
} rows[] = {
	/* Nothing is better than the first epoch. */
	{.lr = 0.01,
	 .min_delta = 100,
	 .patience = 5,
	 .threshold = 100,
	 .plateau_patience = 2,
	 .resumes = 1,
	 .epochs = 6,
	 .halvings = {0, 0, 0, 0, 1, 1}},
	/* Weights do not change, and so no value. */
	{.lr = 1e-30, .patience = 3, .plateau_patience = 1, .epochs = 4, .halvings = {0, 0, 0, 1}},
	{.lr = 1e-30, .patience = 1, .plateau_patience = 1, .epochs = 2},
	{.lr = 1e-30,
	 .patience = 3,
	 .monitor = "r2",
	 .plateau_patience = 0,
	 .epochs = 4,
	 .halvings = {0, 0, 1, 2}},
	/* Every epoch is better. */
	{.lr = 0.01, .patience = 1, .plateau_patience = 0, .epochs = MOST_EPOCHS},
};

enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

struct outcome {
	uint64_t epochs, steps, best;
	int stopped_early;
	double lr[MOST_EPOCHS], validation[MOST_EPOCHS];
	double weights[N_WEIGHTS];
	double training[MOST_EPOCHS]; /* the last: other parts of its sums may have been rounded */
};

/* ---- Data ------------------------------------------------------------------------------------*/

/* Whose validation part fails while it is told so. */
struct source {
	int fails;
};

static tn_status read_sample(void *user, uint64_t sample, void *const *fields,
			     struct tn_error_info *error)
{
	const struct source *source = user;
	float *x = fields[0], *y = fields[1];
	(void)error;
	if (source->fails && sample >= TRAINED)
		return TN_IO;
	*y = 0.5f;
	for (uint64_t i = 0; i < INPUTS; i++) {
		x[i] = (float)((7 * sample + 5 * i) % 11) / 5 - 1;
		*y += x[i] * (float)(i + 1);
	}
	return TN_OK;
}

static tn_dataset *make_dataset(struct source *source)
{
	static const struct tn_field fields[] = {
		{.name = "x", .dtype = TN_F32, .rank = 1, .shape = {INPUTS}},
		{.name = "y", .dtype = TN_F32, .rank = 1, .shape = {1}}};
	uint8_t parts[SAMPLES];
	struct tn_dataset_fields options = tn_dataset_fields_defaults();
	tn_dataset *dataset = NULL;
	for (int i = 0; i < SAMPLES; i++)
		parts[i] = i < TRAINED ? TN_PART_TRAIN : TN_PART_VALIDATION;
	options.name = "plane";
	options.n = SAMPLES;
	options.n_fields = 2;
	options.fields = fields;
	options.read = read_sample;
	options.user = source;
	options.parts = parts;
	need(!tn_dataset_from_fields(&options, &dataset, NULL));
	return dataset;
}

static tn_data_loader *make_loader(const struct ranked *ranked, const tn_dataset *dataset, int part)
{
	tn_data_loader *loader = NULL;
	struct tn_data_loader_options options = tn_data_loader_defaults();
	options.batch_size = TRAINED / EPOCH_STEPS;
	options.shuffle = part == TN_PART_TRAIN;
	options.rank = ranked->rank;
	options.n_ranks = ranked->communicator ? ranked->size : 1;
	options.uneven = part != TN_PART_TRAIN;
	need(!tn_data_loader_create(dataset, part, &options, &loader, NULL));
	return loader;
}

/* ---- One training ----------------------------------------------------------------------------*/

struct fit {
	const struct ranked *ranked;
	const struct row *row;
	struct source source;
	uint64_t stop_at;  /* the step after which the last rank stops it; 0: none */
	uint64_t fails_at; /* the step from which on validations fail; 0: none */
	tn_dataset *dataset;
	tn_module *net;
	tn_data_parallel *parallel;
	tn_optimizer *optimizer;
	tn_schedule *schedule;
	tn_metric *r2;
	tn_loss *loss;
	tn_weight_average *average;
	tn_checkpoint_folder *folder;
	struct tn_trainer_options options;
	tn_trainer *trainer;
};

/* Time passes in the step that is the last of the first run. */
static int note_step(void *user, const struct tn_trainer_step *step)
{
	const struct timespec pause = {.tv_nsec = WAITED};
	struct fit *fit = user;
	fit->source.fails |= step->step == fit->fails_at;
	if (step->step != fit->stop_at)
		return 0;
	(void)nanosleep(&pause, NULL);
	return fit->ranked->rank + 1 == fit->ranked->size;
}

static tn_schedule *make_plateau(const struct fit *fit)
{
	struct tn_schedule_options options = tn_schedule_defaults();
	options.kind = TN_SCHEDULE_PLATEAU;
	options.factor = 0.5;
	options.patience = fit->row->plateau_patience;
	options.threshold = fit->row->threshold;
	options.is_absolute = 1;
	options.is_rising = fit->row->monitor != NULL;
	options.epsilon = 0;
	return tn_schedule_create(fit->optimizer, &options);
}

static void begin(struct fit *fit)
{
	const struct ranked *ranked = fit->ranked;
	const struct row *row = fit->row;
	tn_context *context = ranked->context;
	struct tn_metric_options metric = tn_metric_defaults();
	struct tn_loss_options loss = tn_loss_defaults();
	struct tn_sgd_options sgd = tn_sgd_defaults();
	fit->dataset = make_dataset(&fit->source);
	tn_random_set_state(context, (struct tn_random_state){3, 1});
	fit->net = tn_module_linear(context, INPUTS, 1, NULL);
	need_ok(context, tn_module_build(fit->net));
	if (ranked->communicator)
		fit->parallel = tn_data_parallel_create(fit->net, ranked->communicator, NULL);
	sgd.lr = row->lr;
	fit->optimizer = tn_sgd(fit->net, &sgd);
	fit->schedule = make_plateau(fit);
	metric.kind = TN_METRIC_R2;
	fit->r2 = tn_metric_create(context, &metric);
	loss.kind = TN_LOSS_MSE;
	fit->loss = tn_loss_create(context, &loss);
	fit->options = tn_trainer_defaults();
	fit->options.train = make_loader(ranked, fit->dataset, TN_PART_TRAIN);
	fit->options.validation = make_loader(ranked, fit->dataset, TN_PART_VALIDATION);
	fit->options.loss = fit->loss;
	fit->options.n_metrics = 1;
	fit->options.metrics = &fit->r2;
	fit->options.n_epochs = MOST_EPOCHS;
	fit->options.schedule = fit->schedule;
	fit->options.schedule_epochs = 1;
	fit->options.monitor = row->monitor;
	fit->options.patience = row->patience;
	fit->options.min_delta = row->min_delta;
	fit->options.on_step = note_step;
	fit->options.user = fit;
	fit->options.parallel = fit->parallel;
	need_ok(context, TN_OK);
}

static void end(struct fit *fit)
{
	tn_trainer_destroy(fit->trainer);
	tn_checkpoint_folder_close(fit->folder);
	tn_data_loader_destroy(fit->options.train);
	tn_data_loader_destroy(fit->options.validation);
	tn_weight_average_destroy(fit->average);
	tn_loss_destroy(fit->loss);
	tn_metric_destroy(fit->r2);
	tn_schedule_destroy(fit->schedule);
	tn_optimizer_destroy(fit->optimizer);
	tn_data_parallel_destroy(fit->parallel);
	tn_module_destroy(fit->net);
	tn_dataset_destroy(fit->dataset);
}

static void make_trainer(struct fit *fit)
{
	fit->trainer = tn_trainer_create(fit->net, fit->optimizer, &fit->options);
	need_ok(fit->ranked->context, TN_OK);
}

static void note(const struct fit *fit, struct outcome *outcome)
{
	memset(outcome, 0, sizeof(*outcome));
	outcome->epochs = tn_trainer_epochs(fit->trainer);
	outcome->steps = tn_trainer_steps(fit->trainer);
	outcome->best = tn_trainer_best(fit->trainer)->epoch;
	outcome->stopped_early = tn_trainer_stopped_early(fit->trainer);
	for (size_t i = 0; i < tn_trainer_history_count(fit->trainer); i++) {
		const struct tn_trainer_epoch *epoch = tn_trainer_history_at(fit->trainer, i);
		need(i < MOST_EPOCHS);
		outcome->lr[i] = epoch->lr;
		outcome->training[i] = epoch->train->loss;
		outcome->validation[i] = epoch->validation->loss;
	}
	need(read_parameters(fit->net, outcome->weights, N_WEIGHTS) == N_WEIGHTS);
}

/* ---- Patience and checkpoints ----------------------------------------------------------------*/

/* Rank 0 first, which writes it. */
static void open_folder(struct fit *fit, const char *path)
{
	const struct ranked *ranked = fit->ranked;
	struct tn_checkpoint_folder_options options = tn_checkpoint_folder_defaults();
	if (ranked->rank)
		need_ok(ranked->context, tn_barrier(ranked->communicator));
	options.is_read_only = ranked->rank > 0;
	fit->folder = tn_checkpoint_folder_open(ranked->context, path, &options);
	need_ok(ranked->context, TN_OK);
	if (!ranked->rank && ranked->communicator)
		need_ok(ranked->context, tn_barrier(ranked->communicator));
	if (ranked->communicator)
		need_ok(ranked->context, tn_barrier(ranked->communicator));
	fit->options.checkpoints = fit->folder;
	fit->options.checkpoint_epochs = 100; /* at the end alone */
	fit->options.resume = 1;
}

/* Ranks stop after the step that follows. */
static void stop_and_resume(const struct ranked *ranked, const struct row *row, uint64_t step,
			    const char *folder, const struct outcome *whole)
{
	char path[4200];
	struct outcome found;
	(void)snprintf(path, sizeof(path), "%s/row-%d-ranks-%u-step-%llu", folder,
		       (int)(row - rows), ranked->communicator ? ranked->size : 0,
		       (unsigned long long)step);
	for (int turn = 0; turn < 2; turn++) {
		struct fit fit = {.ranked = ranked, .row = row, .stop_at = turn ? 0 : step};
		begin(&fit);
		open_folder(&fit, path);
		make_trainer(&fit);
		const tn_status status = tn_trainer_run(fit.trainer);
		need(status == (turn ? TN_OK : TN_CANCELLED));
		tn_error_clear(ranked->context);
		if (turn) {
			const struct tn_trainer_epoch *epoch =
				tn_trainer_history_at(fit.trainer, (step - 1) / EPOCH_STEPS);
			note(&fit, &found);
			for (int i = 0; i < MOST_EPOCHS; i++)
				need(fabs(found.training[i] - whole->training[i]) <= 1e-5);
			need(!memcmp(&found, whole, offsetof(struct outcome, training)));
			need(epoch->train->seconds >= WAITED * 1e-9);
		}
		end(&fit);
	}
}

/* argument: a folder. */
static void decide(const struct ranked *ranked, const void *argument, void *out)
{
	struct outcome *outcomes = out;
	for (size_t i = 0; i < N_ROWS; i++) {
		struct fit fit = {.ranked = ranked, .row = &rows[i]};
		begin(&fit);
		make_trainer(&fit);
		need_ok(ranked->context, tn_trainer_run(fit.trainer));
		note(&fit, &outcomes[i]);
		end(&fit);
		for (uint64_t step = 1; rows[i].resumes && step + 1 < outcomes[i].steps; step++)
			stop_and_resume(ranked, &rows[i], step, argument, &outcomes[i]);
	}
}

static void check(const struct row *row, const struct outcome *found, const struct outcome *alone)
{
	assert_int_equal(found->epochs, row->epochs);
	assert_int_equal(found->stopped_early, row->epochs < MOST_EPOCHS);
	assert_int_equal(found->best, row->epochs < MOST_EPOCHS ? 1 : MOST_EPOCHS);
	assert_int_equal(found->steps, alone->steps);
	for (uint64_t i = 0; i < row->epochs; i++) {
		assert_close(found->lr[i], row->lr * pow(0.5, row->halvings[i]), 0);
		assert_close(found->training[i], alone->training[i], 1e-5);
		assert_close(found->validation[i], alone->validation[i], 1e-5);
	}
}

static void decisions_are_those_of_one_process(void **state)
{
	static struct outcome alone[N_ROWS], found[3][N_ROWS];
	const char *build = getenv("TENON_BUILD");
	char folder[4096], command[4200];
	(void)state;
	(void)snprintf(folder, sizeof(folder), "%s/decisions-XXXXXX", build ? build : ".");
	assert_non_null(mkdtemp(folder));
	run_ranked(0, "auto", decide, folder, alone, sizeof(alone));
	for (size_t i = 0; i < N_ROWS; i++)
		check(&rows[i], &alone[i], &alone[i]);
	for (uint32_t size = 1; size <= 3; size++) {
		run_ranked(size, "auto", decide, folder, found, sizeof(found[0]));
		for (uint32_t rank = 0; rank < size; rank++) {
			for (size_t i = 0; i < N_ROWS; i++)
				check(&rows[i], &found[rank][i], &alone[i]);
		}
	}
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c) */
}

/* ---- Failures --------------------------------------------------------------------------------*/

struct failure {
	tn_status status, kept;
	char text[512];
	int is_swapped;
	struct outcome outcome; /* after the next run */
};

/* The validation of the second epoch fails, on all ranks or on the last one, with the averages in
 * place of the weights.  A run that follows repeats it.  argument: does it fail, and on all? */
static void fail_validation(const struct ranked *ranked, const void *argument, void *out)
{
	const int *how = argument;
	struct failure *failure = out;
	struct fit fit = {.ranked = ranked, .row = &rows[N_ROWS - 1]};
	tn_context *context = ranked->context;
	begin(&fit);
	if (how[0] && (how[1] || ranked->rank + 1 == ranked->size))
		fit.fails_at = 2 * EPOCH_STEPS;
	fit.average = tn_weight_average_create(fit.net, NULL);
	fit.options.average = fit.average;
	fit.options.evaluate_average = 1;
	make_trainer(&fit);
	failure->status = tn_trainer_run(fit.trainer);
	const struct tn_error_info *error = tn_error(context);
	if (error) {
		failure->kept = error->status;
		memcpy(failure->text, error->text, sizeof(failure->text));
	}
	tn_error_clear(context);
	failure->is_swapped = tn_weight_average_is_swapped(fit.average);
	fit.source.fails = 0;
	fit.fails_at = 0;
	if (how[1] && failure->status)
		need_ok(context, tn_trainer_run(fit.trainer));
	if (how[1])
		note(&fit, &failure->outcome);
	end(&fit);
}

static void a_validation_of_averages_that_fails_is_an_error_and_repeated(void **state)
{
	static struct failure whole[3], found[3];
	(void)state;
	for (uint32_t size = 0; size <= 3; size++) {
		run_ranked(size, "auto", fail_validation, (const int[]){0, 1}, whole,
			   sizeof(*whole));
		run_ranked(size, "auto", fail_validation, (const int[]){1, 1}, found,
			   sizeof(*found));
		for (uint32_t rank = 0; rank < (size ? size : 1); rank++) {
			assert_int_equal(whole[rank].status, TN_OK);
			assert_int_equal(found[rank].status, TN_IO);
			assert_int_equal(found[rank].kept, TN_IO);
			assert_int_equal(found[rank].is_swapped, 0);
			assert_memory_equal(&found[rank].outcome, &whole[rank].outcome,
					    sizeof(found[rank].outcome));
		}
	}
}

/* The others wait for it, and find that it has ended. */
static void a_validation_that_fails_on_one_rank_ends_the_others(void **state)
{
	static struct failure found[3];
	(void)state;
	for (uint32_t size = 2; size <= 3; size++) {
		run_ranked(size, "auto", fail_validation, (const int[]){1, 0}, found,
			   sizeof(*found));
		for (uint32_t rank = 0; rank < size; rank++) {
			const int is_it = rank + 1 == size;
			assert_int_equal(found[rank].status, is_it ? TN_IO : TN_PEER_LOST);
			assert_int_equal(found[rank].kept, found[rank].status);
			assert_int_equal(found[rank].is_swapped, 0);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decisions_are_those_of_one_process),
		cmocka_unit_test(a_validation_of_averages_that_fails_is_an_error_and_repeated),
		cmocka_unit_test(a_validation_that_fails_on_one_rank_ends_the_others),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
