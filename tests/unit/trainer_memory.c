/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The Nth allocation of the host fails, for every N, while a trainer is made and runs, with
 * captured steps, a metric, the best weights and checkpoints, or continues from a checkpoint in the
 * middle of an epoch: an error says so, and the trainer runs once memory is there again.
 */
#include "train_fixture.h"
#define FAILING_MALLOC 0
#include "failing_memory.h"
#include "io_files.h"
#include "test_context.h"

static char path[64];

static int stop(void *user, const struct tn_trainer_step *step)
{
	(void)user;
	return step->step == 1;
}

/* TN_OK or the kept error.  A trainer that failed runs again. */
static tn_status run(struct fit *fit)
{
	struct tn_metric_options options = tn_metric_defaults();
	options.kind = TN_METRIC_R2;
	tn_metric *r2 = tn_metric_create(context, &options);
	tn_checkpoint_folder *folder = tn_checkpoint_folder_open(context, path, NULL);
	fit->options.metrics = &r2;
	fit->options.checkpoints = folder;
	if (r2 && folder)
		fit->trainer = tn_trainer_create(fit->net, fit->optimizer, &fit->options);
	if (fit->trainer)
		(void)tn_trainer_run(fit->trainer);
	tn_status status = tn_error(context) ? tn_error(context)->status : TN_OK;
	tn_error_clear(context);
	if (status && fit->trainer) {
		memory_works();
		(void)tn_trainer_run(fit->trainer);
		if (tn_error(context))
			fail_msg("%s", tn_error(context)->text);
	}
	end_fit_trainer(fit);
	tn_checkpoint_folder_close(folder);
	tn_metric_destroy(r2);
	return status;
}

/* Three batches; resumed: the first was trained before. */
static void open_training(struct fit *fit, int resumed)
{
	memset(fit, 0, sizeof(*fit));
	fit->context = context;
	fit->dataset = make_table(0);
	fit->train = make_loader(fit, TN_PART_TRAIN, 16);
	fit->net = tn_module_linear(context, TABLE_INPUTS, TABLE_TARGETS, NULL);
	assert_ok(tn_module_build(fit->net));
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 0.05;
	fit->optimizer = tn_sgd(fit->net, &sgd);
	fit->mse = make_loss(context, TN_LOSS_MSE);
	fit->options = tn_trainer_defaults();
	fit->options.loss = fit->mse;
	fit->options.train = fit->train;
	fit->options.n_metrics = 1;
	fit->options.best = TN_BEST_ON_DEVICE;
	fit->options.resume = 1;
	snprintf(path, sizeof(path), "%s", files_folder());
	if (!resumed)
		return;
	fit->options.on_step = stop;
	assert_status(run(fit), TN_CANCELLED);
	fit->options.on_step = NULL;
}

static void check(int resumed)
{
	struct fit fit;
	int has_failed = 1;
	long n = 0;
	for (; has_failed; n++) {
		open_training(&fit, resumed);
		memory_fails_at(n, 0);
		tn_status status = run(&fit);
		memory_works();
		has_failed = failing_memory.failed != 0;
		if (status)
			assert_int_equal(status, TN_OUT_OF_MEMORY);
		assert_true(has_failed || !status);
		close_fit(&fit);
		files_remove(path);
	}
	assert_true(n > 100);
}

static int setup(void **state)
{
	(void)state;
	context = open_mock("");
	return 0;
}

static void a_training_survives_any_loss_of_an_allocation(void **state)
{
	(void)state;
	check(0);
}

static void a_continued_training_does_too(void **state)
{
	(void)state;
	check(1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_training_survives_any_loss_of_an_allocation,
						setup, context_teardown),
		cmocka_unit_test_setup_teardown(a_continued_training_does_too, setup,
						context_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
