/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Training on a small synthetic data set, on every available backend: accuracy, callbacks, and
 * backends that start equal and agree.
 */
#include <tenon/tenon.h>

#include "check.h"

#define N 240
#define N_LOSSES 20

/* Pictures of 12 x 12: class k is a bright bar in column band k, with noise. */
static tn_dataset *make_dataset_of(double test, double validation)
{
	static uint8_t images[N][12][12];
	static int32_t labels[N];
	struct tn_error_info error;
	tn_dataset *dataset = NULL;
	uint32_t noise = 12345;
	for (int i = 0; i < N; i++) {
		labels[i] = i % 4;
		for (int y = 0; y < 12; y++) {
			for (int x = 0; x < 12; x++) {
				noise = noise * 1664525u + 1013904223u;
				images[i][y][x] =
					(uint8_t)((x / 3 == i % 4 ? 150 : 0) + (noise >> 24) / 3);
			}
		}
	}
	struct tn_dataset_source source = tn_dataset_source_defaults();
	source.channels = 1;
	source.height = 12;
	source.width = 12;
	source.name = "bars";
	source.images = &images[0][0][0];
	source.labels = labels;
	source.n_images = N;
	source.n_classes = 4;
	source.test_fraction = test;
	source.validation_fraction = validation;
	assert_ok(tn_dataset_create(&source, &dataset, &error));
	return dataset;
}

static tn_dataset *make_dataset(void)
{
	return make_dataset_of(0.2, 0.1);
}

struct heard {
	int epochs;
	int progress;
	int stop_at;
	double left[8]; /* at the end of each epoch */
	struct tn_epoch_metrics last;
};

static int on_epoch(void *user, const struct tn_epoch_metrics *metrics)
{
	struct heard *heard = user;
	heard->epochs++;
	heard->last = *metrics;
	return heard->stop_at == heard->epochs;
}

static int on_progress(void *user, const struct tn_progress *progress)
{
	struct heard *heard = user;
	heard->progress++;
	if (progress->image == progress->n_images)
		heard->left[progress->epoch - 1] = progress->seconds_left;
	return progress->image > progress->n_images;
}

/* A network with convolution, pool and dropout. */
static tn_module *make_net(tn_context *context)
{
	static const struct tn_pool2d_options pool = {.struct_size = sizeof(pool),
						      .kernel = {2, 2}};
	tn_module *net = tn_sequential(context);
	tn_sequential_add(net, "conv", tn_module_conv2d(context, 1, 4, 3, 3, NULL));
	tn_sequential_add(net, "relu", tn_module_relu(context));
	tn_sequential_add(net, "pool", tn_module_max_pool2d(context, &pool));
	tn_sequential_add(net, "flatten", tn_module_flatten(context));
	tn_sequential_add(net, "dropout", tn_module_dropout(context, 0.25));
	tn_sequential_add(net, "fc", tn_module_linear(context, 100, 4, NULL));
	assert_ok(tn_module_build(net));
	return net;
}

static void train_on(const char *backend, uint64_t n_epochs, struct heard *heard, float *losses,
		     struct tn_evaluation *test, tn_status expected)
{
	struct tn_error_info error;
	tn_context *context;
	tn_dataset *dataset = make_dataset();
	struct tn_context_options o = tn_context_defaults();
	o.backend = backend;
	o.seed = 7;
	assert_ok(tn_context_open(&o, &context, &error));
	tn_module *net = make_net(context);
	struct tn_adamw_options adamw_options = tn_adamw_defaults();
	adamw_options.lr = 0.01;
	tn_optimizer *adamw = tn_adamw(net, &adamw_options);
	const struct tn_train_options options = {.struct_size = sizeof(options),
						 .n_epochs = n_epochs,
						 .batch_size = 16,
						 .seed = 7,
						 .progress = on_progress,
						 .epoch = on_epoch,
						 .user = heard,
						 .losses = losses,
						 .n_losses = N_LOSSES};
	assert_status(tn_train(net, adamw, dataset, &options), expected);
	tn_error_clear(context);
	assert_ok(tn_evaluate(net, dataset, TN_PART_TEST, 7, test, NULL));
	tn_optimizer_destroy(adamw);
	tn_module_destroy(net);
	tn_context_close(context);
	tn_dataset_destroy(dataset);
}

static void it_learns_and_says_so(void **state)
{
	struct heard heard = {0};
	struct tn_evaluation test;
	(void)state;
	train_on(NULL, 8, &heard, NULL, &test, TN_OK);
	assert_int_equal(heard.epochs, 8);
	assert_true(heard.progress >= 8);
	assert_int_equal(heard.last.epoch, 8);
	assert_int_equal(heard.last.train.images,
			 172); /* 4 classes of 60: 12 test each; 5 or so validation */
	assert_true(heard.last.validation.images > 0);
	assert_true(test.accuracy > 0.95);
	assert_int_equal(test.images, 48);
	/* For the whole training. */
	for (int i = 0; i < 7; i++)
		assert_true(heard.left[i] > 0);
	assert_true(heard.left[7] == 0);
}

static void a_callback_stops_it(void **state)
{
	struct heard heard = {.stop_at = 2};
	struct tn_evaluation test;
	(void)state;
	train_on(NULL, 8, &heard, NULL, &test, TN_CANCELLED);
	assert_int_equal(heard.epochs, 2);
}

/* Same weights, order and masks to the bit; then sums in another order, so 1e-4 relative. */
static void backends_begin_alike_and_their_first_losses_agree(void **state)
{
	struct heard heard = {0};
	struct tn_evaluation a, b;
	float reference[N_LOSSES], other[N_LOSSES];
	(void)state;
	train_on("reference!", 2, &heard, reference, &a, TN_OK);
	train_on("auto", 2, &heard, other, &b, TN_OK);
	for (int i = 0; i < N_LOSSES; i++)
		assert_close(other[i], reference[i], 1e-4 * fabs((double)reference[i]));
	assert_close(a.accuracy, b.accuracy, 0.05);
}

/* Initial weights and a dropout mask of one backend, as bits. */
static void draw(const char *backend, float *weights, float *mask)
{
	struct tn_error_info error;
	tn_context *context;
	struct tn_parameter_view view;
	struct tn_context_options o = tn_context_defaults();
	o.backend = backend;
	o.seed = 99;
	assert_ok(tn_context_open(&o, &context, &error));
	tn_module *net = make_net(context);
	assert_ok(tn_module_parameter(net, "fc.weight", &view));
	assert_ok(tn_to_host(view.value, weights, 400 * sizeof(*weights)));
	tn_array *ones = tn_ones(context, TN_F32, 2, (int64_t[]){30, 40});
	assert_ok(tn_to_host(tn_dropout(ones, 0.3), mask, 1200 * sizeof(*mask)));
	tn_module_destroy(net);
	tn_context_close(context);
}

static void weights_and_masks_are_the_same_bits_on_every_backend(void **state)
{
	static float weights[2][400], masks[2][1200];
	int kept = 0;
	(void)state;
	draw("reference!", weights[0], masks[0]);
	draw("auto", weights[1], masks[1]);
	assert_memory_equal(weights[0], weights[1], sizeof(weights[0]));
	assert_memory_equal(masks[0], masks[1], sizeof(masks[0]));
	for (int i = 0; i < 1200; i++)
		kept += masks[0][i] != 0.0f;
	assert_true(kept > 780 && kept < 900); /* 840 within four deviations of 16 */
}

static tn_array *asks_for_scael(tn_module *module, void *state, const tn_array *x)
{
	(void)state;
	return tn_multiply(x, tn_module_own_parameter(module, "scael"));
}

static void a_misspelt_parameter_ends_training_and_evaluation(void **state)
{
	static const struct tn_module_class class_ = {
		.struct_size = sizeof(class_), .name = "Scale", .forward = asks_for_scael};
	static const char text[] =
		"module_own_parameter: in own: no parameter 'scael' in Scale; nearest: 'scale'";
	tn_context *context;
	struct tn_evaluation result = {.accuracy = -7};
	(void)state;
	tn_dataset *dataset = make_dataset();
	assert_ok(tn_context_open(NULL, &context, NULL));
	tn_module *net = tn_sequential(context), *own = tn_module_create(context, &class_, NULL);
	assert_ok(tn_module_add_parameter(own, "scale", 1, (int64_t[]){1}, 0, 1));
	assert_ok(tn_sequential_add(net, "own", own));
	assert_ok(tn_module_build(net));
	struct tn_sgd_options options = tn_sgd_defaults();
	options.lr = 0.1;
	tn_optimizer *sgd = tn_sgd(net, &options);
	assert_status(tn_train(net, sgd, dataset, NULL), TN_NOT_FOUND);
	assert_string_equal(tn_error_text(context), text);
	tn_error_clear(context);
	assert_status(tn_evaluate(net, dataset, TN_PART_TEST, 0, &result, NULL), TN_NOT_FOUND);
	assert_string_equal(tn_error_text(context), text);
	assert_close(result.accuracy, -7, 0);
	tn_optimizer_destroy(sgd);
	tn_module_destroy(net);
	tn_error_clear(context);
	tn_context_close(context);
	tn_dataset_destroy(dataset);
}

static void the_confusion_matrix_counts_every_image(void **state)
{
	struct tn_error_info error;
	tn_context *context;
	uint64_t confusion[16], sum = 0, right = 0;
	struct tn_evaluation result;
	(void)state;
	tn_dataset *dataset = make_dataset();
	assert_ok(tn_context_open(NULL, &context, &error));
	tn_module *net = make_net(context);
	assert_ok(tn_evaluate(net, dataset, TN_PART_TEST, 0, &result, confusion));
	for (int i = 0; i < 16; i++) {
		sum += confusion[i];
		right += i / 4 == i % 4 ? confusion[i] : 0;
	}
	assert_int_equal(sum, 48);
	assert_close((double)right / 48, result.accuracy, 1e-6);
	/* A part without images is an error, and has no counts. */
	tn_dataset *whole = make_dataset_of(0, 0);
	assert_status(tn_evaluate(net, whole, TN_PART_TEST, 0, &result, confusion),
		      TN_INVALID_ARGUMENT);
	assert_string_equal(tn_error_text(context),
			    "evaluate: expected a part with samples, found none");
	assert_int_equal(result.images, 48);
	for (int i = 0; i < 16; i++)
		assert_int_equal(confusion[i], 0);
	tn_dataset_destroy(whole);
	tn_module_destroy(net);
	tn_context_close(context);
	tn_dataset_destroy(dataset);
}

static void prediction_gives_probabilities(void **state)
{
	struct tn_error_info error;
	tn_context *context;
	float image[2 * 144] = {0}, p[8];
	(void)state;
	tn_dataset *dataset = make_dataset();
	assert_ok(tn_context_open(NULL, &context, &error));
	tn_module *net = make_net(context);
	tn_module_set_training(net, 1); /* no dropout, though */
	assert_ok(tn_predict(net, tn_dataset_format(dataset), 2, image, p));
	assert_true(tn_module_is_training(net));
	assert_close(p[0] + p[1] + p[2] + p[3], 1, 1e-6);
	assert_close(p[4], p[0], 0);
	tn_module_destroy(net);
	tn_context_close(context);
	tn_dataset_destroy(dataset);
}

/* A network and its trainer, in its own context. */
struct bench {
	tn_context *context;
	tn_dataset *dataset;
	tn_module *net;
	tn_optimizer *sgd;
	double rates[8]; /* the optimizer's at the end of each epoch */
};

static void open_bench(struct bench *b)
{
	struct tn_error_info error;
	const struct tn_sgd_options options = {.struct_size = sizeof(options), .lr = 0.01};
	memset(b, 0, sizeof(*b));
	assert_ok(tn_context_open(NULL, &b->context, &error));
	b->dataset = make_dataset();
	b->net = make_net(b->context);
	b->sgd = tn_sgd(b->net, &options);
}

static void close_bench(struct bench *b)
{
	tn_optimizer_destroy(b->sgd);
	tn_module_destroy(b->net);
	tn_context_close(b->context);
	tn_dataset_destroy(b->dataset);
}

static int note_rate(void *user, const struct tn_epoch_metrics *metrics)
{
	struct bench *b = user;
	b->rates[metrics->epoch - 1] = tn_optimizer_lr(b->sgd);
	return 0;
}

/* One step per epoch, so that the epoch's callback gets the rate of each. */
static void the_cosine_schedule_begins_at_the_rate_and_puts_it_back(void **state)
{
	enum { STEPS = 4 };
	struct bench b;
	(void)state;
	open_bench(&b);
	const struct tn_train_options options = {.struct_size = sizeof(options),
						 .n_epochs = STEPS,
						 .batch_size = N,
						 .schedule = TN_SCHEDULE_COSINE,
						 .epoch = note_rate,
						 .user = &b};
	assert_ok(tn_train(b.net, b.sgd, b.dataset, &options));
	for (int t = 0; t < STEPS; t++)
		assert_close(b.rates[t], 0.01 * (1 + cos(M_PI * t / STEPS)) / 2, 1e-9);
	assert_close(tn_optimizer_lr(b.sgd), 0.01, 0);
	close_bench(&b);
}

/* Any schedule, by steps or epochs, with the period of the whole training if it has none. */
static void other_schedules_have_the_length_of_the_training(void **state)
{
	static const double by_epoch[] = {1, 0.5, 0.1, 0.1}; /* two drops */
	enum { EPOCHS = 4 };
	struct bench b;
	(void)state;
	open_bench(&b);
	struct tn_schedule_options drops = tn_schedule_defaults();
	drops.kind = TN_SCHEDULE_TWO_DROPS;
	struct tn_train_options options = {.struct_size = sizeof(options),
					   .n_epochs = EPOCHS,
					   .batch_size = 16,
					   .epoch = note_rate,
					   .user = &b,
					   .schedule_options = &drops,
					   .schedule_epochs = 1};
	assert_ok(tn_train(b.net, b.sgd, b.dataset, &options));
	for (int t = 0; t < EPOCHS; t++)
		assert_close(b.rates[t], 0.01 * by_epoch[t], 1e-12);
	struct tn_schedule_options cosine = tn_schedule_defaults();
	cosine.kind = TN_SCHEDULE_COSINE;
	cosine.min_lr = 0.005;
	options.batch_size = N;
	options.schedule_options = &cosine;
	options.schedule_epochs = 0;
	assert_ok(tn_train(b.net, b.sgd, b.dataset, &options));
	for (int t = 0; t < EPOCHS; t++)
		assert_close(b.rates[t], 0.005 + 0.0025 * (1 + cos(M_PI * t / EPOCHS)), 1e-9);
	struct tn_schedule_options unknown = tn_schedule_defaults();
	unknown.kind = 99;
	options.schedule_options = &unknown;
	assert_status(tn_train(b.net, b.sgd, b.dataset, &options), TN_INVALID_ARGUMENT);
	tn_error_clear(b.context);
	close_bench(&b);
}

/* No loss is lower by 1000, so that the first epoch is the best: the plateau halves the rate after
 * each other one, and patience ends the training. */
static void losses_that_do_not_fall_reduce_the_rate_and_end_the_training(void **state)
{
	struct bench b;
	(void)state;
	open_bench(&b);
	struct tn_schedule_options plateau = tn_schedule_defaults();
	plateau.kind = TN_SCHEDULE_PLATEAU;
	plateau.factor = 0.5;
	plateau.patience = 0;
	plateau.threshold = 1000;
	plateau.is_absolute = 1;
	const struct tn_train_options options = {.struct_size = sizeof(options),
						 .n_epochs = 8,
						 .batch_size = N,
						 .epoch = note_rate,
						 .user = &b,
						 .schedule_options = &plateau,
						 .patience = 3,
						 .min_delta = 1000};
	assert_ok(tn_train(b.net, b.sgd, b.dataset, &options));
	assert_close(b.rates[0], 0.01, 0);
	assert_close(b.rates[1], 0.005, 1e-12);
	assert_close(b.rates[3], 0.00125, 1e-12);
	assert_close(b.rates[4], 0, 0); /* there was no fifth epoch */
	close_bench(&b);
}

static double weight_change(struct bench *b, const struct tn_train_options *options)
{
	struct tn_parameter_view view;
	double change;
	assert_ok(tn_module_parameter(b->net, "fc.weight", &view));
	tn_array *before = tn_copy(view.value);
	assert_ok(tn_train(b->net, b->sgd, b->dataset, options));
	tn_array *difference = tn_subtract(view.value, before);
	assert_ok(tn_item(tn_sum(tn_square(difference), TN_ALL_AXES, NULL, 0), &change));
	tn_array_destroy(before);
	return sqrt(change);
}

static void clipping_bounds_a_step_and_augmentation_changes_it(void **state)
{
	struct bench b;
	(void)state;
	open_bench(&b);
	struct tn_train_options options = {
		.struct_size = sizeof(options), .batch_size = N, .clip_norm = 1e-3};
	const double clipped = weight_change(&b, &options);
	assert_true(clipped > 0 && clipped <= 0.01 * 1e-3 * 1.001);
	struct tn_augmentation wrong = tn_augmentation_defaults();
	wrong.hflip_prob = 2;
	options.augmentation = &wrong;
	assert_status(tn_train(b.net, b.sgd, b.dataset, &options), TN_INVALID_ARGUMENT);
	tn_error_clear(b.context);
	struct tn_augmentation noise = tn_augmentation_defaults();
	noise.noise_std = 3;
	noise.noise_prob = 1;
	const struct tn_train_options plain = {.struct_size = sizeof(plain), .batch_size = N};
	options = plain;
	options.augmentation = &noise;
	const double quiet = weight_change(&b, &plain), noisy = weight_change(&b, &options);
	assert_true(fabs(quiet - noisy) > 1e-6);
	close_bench(&b);
}

static int note_validation(void *user, const struct tn_epoch_metrics *metrics)
{
	assert_int_equal(metrics->validation.images, 0);
	assert_true(metrics->validation.loss == 0 && metrics->validation.accuracy == 0);
	return note_rate(user, metrics);
}

static void the_rate_is_constant_otherwise_and_validation_needs_a_part(void **state)
{
	struct bench b;
	(void)state;
	open_bench(&b);
	tn_dataset_destroy(b.dataset);
	b.dataset = make_dataset_of(0.2, 0);
	const struct tn_train_options options = {.struct_size = sizeof(options),
						 .n_epochs = 3,
						 .batch_size = N,
						 .epoch = note_validation,
						 .user = &b};
	assert_ok(tn_train(b.net, b.sgd, b.dataset, &options));
	for (int t = 0; t < 3; t++)
		assert_close(b.rates[t], 0.01, 0);
	close_bench(&b);
}

static int spoil(void *user, const struct tn_epoch_metrics *metrics)
{
	struct bench *b = user;
	struct tn_parameter_view view;
	assert_ok(tn_module_parameter(b->net, "fc.weight", &view));
	if (metrics->epoch == 1)
		assert_ok(tn_fill(view.value, NAN));
	return 0;
}

/* 172 images: eleven steps of 16, or one of all. */
static void a_loss_that_is_not_finite_ends_the_training_before_the_next_step(void **state)
{
	static const struct {
		uint32_t batch_size;
		const char *text;
	} cases[] = {
		{16, "epoch 2, step 12: expected a finite loss, found nan"},
		{N, "epoch 2, step 2: expected a finite loss, found nan"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench b;
		float losses[N_LOSSES] = {0};
		open_bench(&b);
		const struct tn_train_options options = {.struct_size = sizeof(options),
							 .n_epochs = 3,
							 .batch_size = cases[i].batch_size,
							 .epoch = spoil,
							 .user = &b,
							 .losses = losses,
							 .n_losses = i ? N_LOSSES : 0};
		assert_status(tn_train(b.net, b.sgd, b.dataset, &options), TN_NOT_FINITE);
		assert_contains(tn_error(b.context)->text, cases[i].text);
		assert_int_equal(isnan(losses[1]) != 0, i);
		close_bench(&b);
	}
}

/* Dropout in a network that is training would give another loss each time. */
static void evaluating_leaves_dropout_out_and_the_network_training(void **state)
{
	struct bench b;
	struct tn_evaluation still, training;
	const int64_t shape[] = {2, 1, 12, 12};
	double equal;
	(void)state;
	open_bench(&b);
	tn_module_set_training(b.net, 0);
	assert_ok(tn_evaluate(b.net, b.dataset, TN_PART_TEST, 0, &still, NULL));
	tn_module_set_training(b.net, 1);
	assert_ok(tn_evaluate(b.net, b.dataset, TN_PART_TEST, 0, &training, NULL));
	assert_close(training.loss, still.loss, 0);
	tn_array *x = tn_random_uniform(b.context, 4, shape, 0, 1);
	tn_array *same = tn_equal(tn_module_forward(b.net, x), tn_module_forward(b.net, x));
	assert_ok(tn_item(tn_min(tn_astype(same, TN_F32), TN_ALL_AXES, NULL, 0), &equal));
	assert_true(equal == 0);
	close_bench(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_misspelt_parameter_ends_training_and_evaluation),
		cmocka_unit_test(the_cosine_schedule_begins_at_the_rate_and_puts_it_back),
		cmocka_unit_test(other_schedules_have_the_length_of_the_training),
		cmocka_unit_test(losses_that_do_not_fall_reduce_the_rate_and_end_the_training),
		cmocka_unit_test(clipping_bounds_a_step_and_augmentation_changes_it),
		cmocka_unit_test(the_rate_is_constant_otherwise_and_validation_needs_a_part),
		cmocka_unit_test(a_loss_that_is_not_finite_ends_the_training_before_the_next_step),
		cmocka_unit_test(evaluating_leaves_dropout_out_and_the_network_training),
		cmocka_unit_test(it_learns_and_says_so),
		cmocka_unit_test(a_callback_stops_it),
		cmocka_unit_test(backends_begin_alike_and_their_first_losses_agree),
		cmocka_unit_test(weights_and_masks_are_the_same_bits_on_every_backend),
		cmocka_unit_test(the_confusion_matrix_counts_every_image),
		cmocka_unit_test(prediction_gives_probabilities),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
