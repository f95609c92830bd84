/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A training stops within the step whose loss is not finite, with the weights before it, and names
 * where the first such number arose.
 */
#include "train_fixture.h"

/* Runs a fit to its failure: the weights are those that `before` has. */
static void check_failure(struct fit *fit, const float *before, const char *const *texts)
{
	float after[MOST_WEIGHTS];
	make_fit_trainer(fit);
	assert_status(tn_trainer_run(fit->trainer), TN_NOT_FINITE);
	for (int i = 0; texts[i]; i++)
		assert_contains(tn_error(fit->context)->text, texts[i]);
	tn_error_clear(fit->context);
	size_t n = read_weights(fit->net, after);
	assert_memory_equal(after, before, n * sizeof(float));
	assert_false(tn_module_is_training(fit->net));
}

static void a_batch_that_is_not_finite_is_named(void **state)
{
	(void)state;
	for (int k = 0; k < BACKENDS; k++) {
		static const float values[] = {NAN, INFINITY};
		for (int i = 0; i < 2; i++) {
			struct fit fit;
			float before[MOST_WEIGHTS];
			tn_context *context = open_backend(k);
			open_fit(&fit, context, 37);
			tn_data_loader_destroy(fit.train);
			tn_dataset *good = fit.dataset;
			fit.dataset = make_table(values[i]);
			fit.options.train = fit.train = make_loader(&fit, TN_PART_TRAIN, 37);
			read_weights(fit.net, before);
			check_failure(&fit, before,
				      (const char *const[]){
					      "epoch 1, step 1: expected a finite loss, found nan",
					      "first: field 0 of the batch, x, has", NULL});
			/* Run again, it goes on with the next batch, of the next epoch. */
			float after[MOST_WEIGHTS];
			assert_status(tn_trainer_run(fit.trainer), TN_NOT_FINITE);
			assert_contains(tn_error(context)->text, "epoch 2, step 1: expected");
			tn_error_clear(context);
			size_t n = read_weights(fit.net, after);
			assert_memory_equal(after, before, n * sizeof(float));
			assert_int_equal(tn_trainer_steps(fit.trainer), 0);
			close_fit(&fit);
			tn_dataset_destroy(good);
			tn_context_close(context);
		}
	}
}

struct trouble {
	struct fit fit;
	float weights[MOST_WEIGHTS];
};

static int spoil_weights(void *user, const struct tn_trainer_step *step)
{
	struct trouble *t = user;
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	if (step->step == 2) {
		assert_ok(tn_module_parameter(t->fit.net, "fc2.weight", &view));
		assert_ok(tn_fill(view.value, INFINITY));
	}
	read_weights(t->fit.net, t->weights);
	return 0;
}

static void a_parameter_that_is_not_finite_is_named(void **state)
{
	(void)state;
	for (int k = 0; k < BACKENDS; k++) {
		struct trouble t;
		tn_context *context = open_backend(k);
		open_fit(&t.fit, context, 8);
		t.fit.options.on_step = spoil_weights;
		t.fit.options.user = &t;
		check_failure(&t.fit, t.weights,
			      (const char *const[]){"epoch 1, step 3: expected a finite loss",
						    "first: the parameter fc2.weight has", NULL});
		assert_int_equal(tn_trainer_steps(t.fit.trainer), 2);
		close_fit(&t.fit);
		tn_context_close(context);
	}
}

static int enlarge_weights(void *user, const struct tn_trainer_epoch *epoch)
{
	struct trouble *t = user;
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	(void)epoch;
	assert_ok(tn_module_parameter(t->fit.net, "fc2.bias", &view));
	assert_ok(tn_fill(view.value, 1e30));
	read_weights(t->fit.net, t->weights);
	return 0;
}

/* All weights are finite, and so are the outputs: their squares are not.  The mock device replays
 * captured steps by then. */
static void the_operation_of_an_overflow_is_named(void **state)
{
	(void)state;
	for (int k = 0; k < BACKENDS; k++) {
		struct trouble t;
		tn_context *context = open_backend(k);
		open_fit(&t.fit, context, 8);
		t.fit.options.on_epoch = enlarge_weights;
		t.fit.options.user = &t;
		check_failure(
			&t.fit, t.weights,
			(const char *const[]){"epoch 2, step 6: expected a finite loss, found inf",
					      "the weights are those before this step",
					      "mse_loss: forward", NULL});
		close_fit(&t.fit);
		tn_context_close(context);
	}
}

/* A module of the program's own that overflows in a tree. */
static tn_array *overflow(tn_module *module, void *user, const tn_array *x)
{
	(void)module, (void)user;
	return tn_log(tn_affine(tn_square(x), -1, -1));
}

static void the_module_of_an_operation_is_named(void **state)
{
	static const struct tn_module_class class_ = {
		.struct_size = sizeof(class_), .name = "Overflow", .forward = overflow};
	float before[MOST_WEIGHTS];
	struct fit fit;
	(void)state;
	tn_context *context = open_backend(0);
	open_fit(&fit, context, 8);
	tn_optimizer_destroy(fit.optimizer);
	tn_module_destroy(fit.net);
	fit.net = tn_module_sequential(context);
	tn_module *block = tn_module_sequential(context);
	tn_module_sequential_add(block, "fc", tn_module_linear(context, TABLE_INPUTS, 4, NULL));
	tn_module_sequential_add(block, "strange", tn_module_custom(context, &class_, NULL));
	tn_module_sequential_add(fit.net, "block", block);
	tn_module_sequential_add(fit.net, "head",
				 tn_module_linear(context, 4, TABLE_TARGETS, NULL));
	assert_ok(tn_module_build(fit.net));
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 0.1;
	fit.optimizer = tn_sgd(fit.net, &sgd);
	read_weights(fit.net, before);
	check_failure(&fit, before,
		      (const char *const[]){"epoch 1, step 1: expected a finite loss, found nan",
					    "first: log: forward in block.strange: output 0 has",
					    NULL});
	close_fit(&fit);
	tn_context_close(context);
}

/* The loss is 0; the root's derivative is infinite there. */
static tn_array *root_of_nothing(void *user, const tn_array *output, const tn_array *target,
				 tn_array **weight)
{
	(void)user, (void)target, (void)weight;
	return tn_sum(tn_sqrt(tn_affine(tn_square(output), 0, 0)), TN_ALL_AXES, NULL, 0);
}

static void gradients_are_checked_on_request(void **state)
{
	(void)state;
	for (int k = 0; k < BACKENDS; k++) {
		struct fit fit;
		float before[MOST_WEIGHTS];
		tn_context *context = open_backend(k);
		open_fit(&fit, context, 8);
		struct tn_loss_class root = tn_loss_class_defaults();
		root.name = "root";
		root.is_repeatable = 1;
		root.sum = root_of_nothing;
		fit.options.loss = tn_loss_custom(context, &root);
		fit.options.check_gradients = 1;
		read_weights(fit.net, before);
		check_failure(&fit, before,
			      (const char *const[]){
				      "epoch 1, step 1: expected a finite norm of the gradients",
				      "first: sqrt: backward: the gradient of input 0", NULL});
		end_fit_trainer(&fit);
		tn_loss_destroy(fit.options.loss);
		close_fit(&fit);
		tn_context_close(context);
	}
}

/* The first operation fails, not the loss, and by the trainer's number of the step, of whose two
 * batches each has a tape. */
static void anomaly_mode_names_the_step_of_a_training(void **state)
{
	(void)state;
	for (int k = 0; k < BACKENDS; k++) {
		struct trouble t;
		tn_context *context = open_backend(k);
		open_fit(&t.fit, context, 8);
		t.fit.options.accumulate = 2;
		t.fit.options.on_step = spoil_weights;
		t.fit.options.user = &t;
		assert_ok(tn_anomaly_mode(context, 1));
		check_failure(&t.fit, t.weights,
			      (const char *const[]){"forward in fc2, step 3: output 0 has", NULL});
		assert_int_equal(tn_trainer_steps(t.fit.trainer), 2);
		close_fit(&t.fit);
		tn_context_close(context);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_batch_that_is_not_finite_is_named),
		cmocka_unit_test(a_parameter_that_is_not_finite_is_named),
		cmocka_unit_test(the_operation_of_an_overflow_is_named),
		cmocka_unit_test(the_module_of_an_operation_is_named),
		cmocka_unit_test(gradients_are_checked_on_request),
		cmocka_unit_test(anomaly_mode_names_the_step_of_a_training),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
