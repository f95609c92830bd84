/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What ends a training, or would: batches that are too short for a layer, which are known before
 * the first step, and errors of a step, after which there is a checkpoint.
 */
#include "train_fixture.h"

#include "io_files.h"

enum { N_ROWS = 37 }; /* of the training part of the table */

/* ---- Short batches ---------------------------------------------------------------------------*/

static tn_module *batch_norm(tn_context *context)
{
	return tn_module_batch_norm1d(context, 8, NULL);
}

static tn_module *layer_norm(tn_context *context)
{
	return tn_module_layer_norm(context, 1, (int64_t[]){8}, NULL);
}

static tn_module *group_norm(tn_context *context)
{
	return tn_module_group_norm(context, 8, 8, NULL);
}

/* The fit with a network of that norm. */
static void open_normed(struct fit *fit, uint32_t batch, tn_module *(*norm)(tn_context *))
{
	open_fit(fit, contexts[0], batch);
	tn_optimizer_destroy(fit->optimizer);
	tn_module_destroy(fit->net);
	tn_module *inner = tn_module_sequential(contexts[0]);
	fit->net = tn_module_sequential(contexts[0]);
	tn_module_sequential_add(inner, "fc", tn_module_linear(contexts[0], TABLE_INPUTS, 8, NULL));
	tn_module_sequential_add(inner, "norm", norm(contexts[0]));
	tn_module_sequential_add(fit->net, "block", inner);
	tn_module_sequential_add(fit->net, "out",
				 tn_module_linear(contexts[0], 8, TABLE_TARGETS, NULL));
	assert_ok(tn_module_build(fit->net));
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 0.05;
	fit->optimizer = tn_sgd(fit->net, &sgd);
}

static void drop_last(struct fit *fit, uint32_t batch)
{
	struct tn_data_loader_options options = tn_data_loader_defaults();
	options.batch_size = batch;
	options.drop_last = 1;
	tn_data_loader_destroy(fit->train);
	assert_ok(tn_data_loader_create(fit->dataset, TN_PART_TRAIN, &options, &fit->train, NULL));
	fit->options.train = fit->train;
}

static void a_batch_that_is_too_short_is_refused_before_the_first_step(void **state)
{
	static const struct {
		tn_module *(*norm)(tn_context *);
		uint32_t batch;
		int drops;
		uint64_t max_steps, accumulate;
		uint32_t samples; /* of the short batch; 0: there is none */
		int is_refused;
		const char *text;
	} cases[] = {
		{batch_norm, 8, 0, TN_NO_LIMIT, 1, 0, 0, NULL},
		{batch_norm, 37, 0, TN_NO_LIMIT, 1, 0, 0, NULL},
		{batch_norm, 64, 0, TN_NO_LIMIT, 1, 0, 0, NULL},
		{batch_norm, 12, 0, TN_NO_LIMIT, 1, 1, 1,
		 "at least 2 samples in the last batch of an epoch for layer block.norm "
		 "(BatchNorm1d), found 1: drop_last leaves it out"},
		{batch_norm, 36, 0, TN_NO_LIMIT, 1, 1, 1, "the last batch of an epoch"},
		{batch_norm, 12, 1, TN_NO_LIMIT, 1, 0, 0, NULL},
		{batch_norm, 12, 0, 3, 1, 1, 0, NULL},
		{batch_norm, 12, 0, 4, 1, 1, 1, "the last batch"},
		{batch_norm, 12, 0, 1, 4, 1, 1, "the last batch"},
		{batch_norm, 12, 0, 1, 3, 1, 0, NULL},
		{batch_norm, 1, 0, 1, 1, 1, 1, "2 samples in each batch for layer block.norm"},
		{layer_norm, 12, 0, TN_NO_LIMIT, 1, 0, 0, NULL},
		{group_norm, 12, 0, TN_NO_LIMIT, 1, 0, 0, NULL},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fit fit;
		struct tn_short_batch found = {.struct_size = sizeof(found)};
		open_normed(&fit, cases[i].batch, cases[i].norm);
		if (cases[i].drops)
			drop_last(&fit, cases[i].batch);
		fit.options.n_epochs = 1;
		fit.options.max_steps = cases[i].max_steps;
		fit.options.accumulate = cases[i].accumulate;
		assert_ok(tn_short_batch_find(fit.net, fit.train, &found));
		assert_int_equal(found.samples, cases[i].samples);
		if (found.samples)
			assert_string_equal(found.path, "block.norm");
		fit.trainer = tn_trainer_create(fit.net, fit.optimizer, &fit.options);
		assert_int_equal(!fit.trainer, cases[i].is_refused);
		if (cases[i].is_refused) {
			assert_status(tn_error(contexts[0])->status, TN_SHAPE);
			assert_contains(tn_error(contexts[0])->text, cases[i].text);
			tn_error_clear(contexts[0]);
		} else {
			assert_ok(tn_trainer_run(fit.trainer));
		}
		close_fit(&fit);
	}
}

static tn_data_loader *open_pictures(tn_dataset **dataset, int64_t side)
{
	static const float pixels[3 * 4];
	static const int32_t labels[3];
	const struct tn_field fields[] = {
		{.name = "x", .dtype = TN_F32, .rank = 3, .shape = {1, side, side}},
		{.name = "y", .dtype = TN_I32}};
	struct tn_data_loader_options options = tn_data_loader_defaults();
	struct tn_dataset_fields source = tn_dataset_fields_defaults();
	tn_data_loader *loader = NULL;
	source.n = 3;
	source.n_fields = 2;
	source.fields = fields;
	source.data = (const void *[]){pixels, labels};
	options.batch_size = 2;
	assert_ok(tn_dataset_from_fields(&source, dataset, NULL));
	assert_ok(tn_data_loader_create(*dataset, TN_PART_TRAIN, &options, &loader, NULL));
	return loader;
}

/* A picture of more than one pixel is enough; and what a summary leaves as it is stays so. */
static void pictures_have_many_elements_of_a_channel(void **state)
{
	(void)state;
	for (int64_t side = 1; side <= 2; side++) {
		struct tn_short_batch found = {.struct_size = sizeof(found)};
		tn_dataset *dataset;
		tn_data_loader *loader = open_pictures(&dataset, side);
		tn_module *net = tn_module_batch_norm2d(contexts[0], 1, NULL);
		assert_ok(tn_module_build(net));
		tn_module_set_training(net, 1);
		const struct tn_random_state before = tn_random_get_state(contexts[0]);
		assert_ok(tn_short_batch_find(net, loader, &found));
		const struct tn_random_state after = tn_random_get_state(contexts[0]);
		assert_int_equal(found.samples, side == 1);
		assert_int_equal(found.is_last, side == 1);
		if (side == 1)
			assert_string_equal(found.path, "");
		assert_memory_equal(&before, &after, sizeof(before));
		double mean;
		assert_ok(tn_item(tn_module_own_buffer(net, "running_mean"), &mean));
		assert_true(mean == 0);
		tn_module_destroy(net);
		tn_data_loader_destroy(loader);
		tn_dataset_destroy(dataset);
	}
}

static void an_epoch_without_a_batch_is_refused(void **state)
{
	struct fit fit;
	(void)state;
	open_fit(&fit, contexts[0], 8);
	drop_last(&fit, N_ROWS + 1);
	assert_null(tn_trainer_create(fit.net, fit.optimizer, &fit.options));
	assert_status(tn_error(contexts[0])->status, TN_INVALID_ARGUMENT);
	assert_contains(tn_error(contexts[0])->text,
			"at least a batch of 38 samples with drop_last, found 37 in all");
	tn_error_clear(contexts[0]);
	close_fit(&fit);
}

/* ---- Errors ----------------------------------------------------------------------------------*/

/* From the sixth step on the sum has another shape, or is NaN. */
struct failing {
	int steps;
	int is_nan;
	tn_array *spoilt; /* is infinite then; NULL: none */
};

static tn_array *fail_later(void *user, tn_module *net, uint32_t n_fields, tn_array *const *fields,
			    tn_array **output, tn_array **weight)
{
	struct failing *failing = user;
	(void)n_fields, (void)weight;
	if (++failing->steps == 6 && failing->spoilt)
		assert_ok(tn_fill(failing->spoilt, INFINITY));
	*output = tn_module_forward(net, fields[0]);
	tn_array *sum = tn_mse_loss(*output, fields[1], TN_REDUCTION_SUM);
	if (failing->steps < 6)
		return sum;
	return failing->is_nan ? tn_affine(sum, NAN, 0) : *output;
}

static void open_failing(struct fit *fit, struct failing *failing, tn_checkpoint_folder *folder)
{
	open_fit_with(fit, contexts[0], 4, 0);
	fit->options.loss = NULL;
	fit->options.validation = NULL;
	fit->options.step_function = fail_later;
	fit->options.user = failing;
	fit->options.checkpoints = folder;
	fit->options.resume = 1;
	make_fit_trainer(fit);
}

/* The weights after five steps are in the checkpoint, and a training goes on from it with the batch
 * after the one that failed. */
static void an_error_of_a_step_leaves_a_checkpoint(void **state)
{
	(void)state;
	for (int is_nan = 0; is_nan < 2; is_nan++) {
		struct fit fit;
		struct failing failing = {.is_nan = is_nan};
		float weights[MOST_WEIGHTS], loaded[MOST_WEIGHTS];
		char path[64];
		snprintf(path, sizeof(path), "%s", files_folder());
		tn_checkpoint_folder *folder = tn_checkpoint_folder_open(contexts[0], path, NULL);
		open_failing(&fit, &failing, folder);
		assert_status(tn_trainer_run(fit.trainer), is_nan ? TN_NOT_FINITE : TN_SHAPE);
		assert_int_equal(tn_error(contexts[0])->status, is_nan ? TN_NOT_FINITE : TN_SHAPE);
		tn_error_clear(contexts[0]);
		assert_int_equal(tn_trainer_steps(fit.trainer), 5);
		assert_int_equal(tn_checkpoint_folder_count(folder), 1);
		const size_t n = read_weights(fit.net, weights);
		close_fit(&fit);
		failing.steps = -100;
		open_failing(&fit, &failing, folder);
		const struct tn_checkpoint of_net = {.struct_size = sizeof(of_net),
						     .module = fit.net};
		uint64_t step = 0;
		assert_ok(tn_checkpoint_folder_load(folder, &of_net, &step));
		assert_int_equal(step, 5);
		read_weights(fit.net, loaded);
		assert_memory_equal(weights, loaded, n * sizeof(*weights));
		assert_ok(tn_trainer_run(fit.trainer));
		assert_int_equal(tn_trainer_steps(fit.trainer), 3 * 10 - 1);
		close_fit(&fit);
		tn_checkpoint_folder_close(folder);
		files_remove(path);
	}
}

/* It could not be trained on. */
static void a_network_that_is_not_finite_leaves_none(void **state)
{
	(void)state;
	for (int is_buffer = 0; is_buffer < 2; is_buffer++) {
		struct fit fit;
		struct failing failing = {.is_nan = 0};
		char path[64];
		snprintf(path, sizeof(path), "%s", files_folder());
		tn_checkpoint_folder *folder = tn_checkpoint_folder_open(contexts[0], path, NULL);
		open_fit_with(&fit, contexts[0], 4, 0);
		tn_optimizer_destroy(fit.optimizer);
		tn_module_destroy(fit.net);
		tn_module *norm = tn_module_batch_norm1d(contexts[0], TABLE_TARGETS, NULL);
		fit.net = tn_module_sequential(contexts[0]);
		tn_module_sequential_add(
			fit.net, "fc",
			tn_module_linear(contexts[0], TABLE_INPUTS, TABLE_TARGETS, NULL));
		tn_module_sequential_add(fit.net, "norm", norm);
		assert_ok(tn_module_build(fit.net));
		struct tn_sgd_options sgd = tn_sgd_defaults();
		sgd.lr = 0.05;
		fit.optimizer = tn_sgd(fit.net, &sgd);
		failing.spoilt = is_buffer ? tn_module_own_buffer(norm, "running_var")
					   : tn_module_own_parameter(norm, "bias");
		fit.options.loss = NULL;
		fit.options.validation = NULL;
		fit.options.step_function = fail_later;
		fit.options.user = &failing;
		fit.options.checkpoints = folder;
		make_fit_trainer(&fit);
		assert_status(tn_trainer_run(fit.trainer), TN_SHAPE);
		tn_error_clear(contexts[0]);
		assert_int_equal(tn_checkpoint_folder_count(folder), 0);
		close_fit(&fit);
		tn_checkpoint_folder_close(folder);
		files_remove(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_batch_that_is_too_short_is_refused_before_the_first_step),
		cmocka_unit_test(pictures_have_many_elements_of_a_channel),
		cmocka_unit_test(an_epoch_without_a_batch_is_refused),
		cmocka_unit_test(an_error_of_a_step_leaves_a_checkpoint),
		cmocka_unit_test(a_network_that_is_not_finite_leaves_none),
	};
	return cmocka_run_group_tests(tests, open_all, close_all);
}
