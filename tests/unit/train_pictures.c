/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Training on a small synthetic data set of pictures, on every available backend: accuracy,
 * callbacks, backends that start equal and agree, and answers to pictures.
 */
#include <tenon/tenon.h>

#include "check.h"

#define N 240
#define N_LOSSES 20

/* Pictures of 12 x 12: class k is a bright bar in column band k, with noise. */
static tn_dataset *make_dataset(void)
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
	source.test_fraction = 0.2;
	source.validation_fraction = 0.1;
	assert_ok(tn_dataset_create(&source, &dataset, &error));
	return dataset;
}

struct heard {
	int epochs;
	int progress;
	double left[8]; /* at the end of each epoch */
	float losses[N_LOSSES];
	uint64_t samples[2]; /* of training and validation */
};

static int on_step(void *user, const struct tn_trainer_step *step)
{
	struct heard *heard = user;
	if (step->step <= N_LOSSES)
		heard->losses[step->step - 1] = (float)step->loss;
	return 0;
}

static int on_epoch(void *user, const struct tn_trainer_epoch *epoch)
{
	struct heard *heard = user;
	heard->epochs++;
	assert_int_equal(epoch->epoch, heard->epochs);
	heard->samples[0] = epoch->train->samples;
	heard->samples[1] = epoch->validation->samples;
	return 0;
}

static int on_progress(void *user, const struct tn_trainer_progress *progress)
{
	struct heard *heard = user;
	heard->progress++;
	if (progress->sample == progress->n_samples)
		heard->left[progress->epoch - 1] = progress->seconds_left;
	return progress->sample > progress->n_samples;
}

static tn_data_loader *make_loader(const tn_dataset *dataset, int part, uint32_t batch_size)
{
	tn_data_loader *loader = NULL;
	struct tn_data_loader_options options = tn_data_loader_defaults();
	options.batch_size = batch_size;
	options.shuffle = part == TN_PART_TRAIN;
	options.seed = 7;
	assert_ok(tn_data_loader_create(dataset, part, &options, &loader, NULL));
	return loader;
}

/* A network with convolution, pool and dropout. */
static tn_module *make_net(tn_context *context)
{
	static const struct tn_pool2d_options pool = {.struct_size = sizeof(pool),
						      .kernel = {2, 2}};
	tn_module *net = tn_module_sequential(context);
	tn_module_sequential_add(net, "conv", tn_module_conv2d(context, 1, 4, 3, 3, NULL));
	tn_module_sequential_add(net, "relu", tn_module_relu(context));
	tn_module_sequential_add(net, "pool", tn_module_max_pool2d(context, &pool));
	tn_module_sequential_add(net, "flatten", tn_module_flatten(context));
	tn_module_sequential_add(net, "dropout", tn_module_dropout(context, 0.25));
	tn_module_sequential_add(net, "fc", tn_module_linear(context, 100, 4, NULL));
	assert_ok(tn_module_build(net));
	return net;
}

static void train_on(const char *backend, uint64_t n_epochs, struct heard *heard, double *accuracy)
{
	struct tn_trainer_values test = {.struct_size = sizeof(test)};
	struct tn_context_options o = tn_context_defaults();
	struct tn_trainer_options options = tn_trainer_defaults();
	tn_context *context;
	tn_dataset *dataset = make_dataset();
	o.backend = backend;
	o.seed = 7;
	assert_ok(tn_context_open(&o, &context, NULL));
	tn_module *net = make_net(context);
	struct tn_adamw_options adamw_options = tn_adamw_defaults();
	adamw_options.lr = 0.01;
	tn_optimizer *adamw = tn_adamw(net, &adamw_options);
	tn_metric *metric = tn_metric_create(context, NULL);
	tn_data_loader *test_loader = make_loader(dataset, TN_PART_TEST, 7);
	options.train = make_loader(dataset, TN_PART_TRAIN, 16);
	options.validation = make_loader(dataset, TN_PART_VALIDATION, 256);
	options.n_metrics = 1;
	options.metrics = &metric;
	options.n_epochs = n_epochs;
	options.on_step = on_step;
	options.on_progress = on_progress;
	options.on_epoch = on_epoch;
	options.user = heard;
	tn_trainer *trainer = tn_trainer_create(net, adamw, &options);
	assert_ok(tn_trainer_run(trainer));
	assert_ok(tn_trainer_evaluate(trainer, test_loader, &test));
	assert_int_equal(test.samples, 48);
	*accuracy = test.metrics[0];
	tn_trainer_destroy(trainer);
	tn_data_loader_destroy(test_loader);
	tn_data_loader_destroy(options.train);
	tn_data_loader_destroy(options.validation);
	tn_metric_destroy(metric);
	tn_optimizer_destroy(adamw);
	tn_module_destroy(net);
	tn_context_close(context);
	tn_dataset_destroy(dataset);
}

static void it_learns_and_says_so(void **state)
{
	struct heard heard = {0};
	double accuracy;
	(void)state;
	train_on(NULL, 8, &heard, &accuracy);
	assert_int_equal(heard.epochs, 8);
	assert_true(heard.progress >= 8);
	/* 4 classes of 60: 12 test each; 5 or so validation */
	assert_int_equal(heard.samples[0], 172);
	assert_int_equal(heard.samples[1], 20);
	assert_true(accuracy > 0.95);
	/* For the whole training. */
	for (int i = 0; i < 7; i++)
		assert_true(heard.left[i] > 0);
	assert_true(heard.left[7] == 0);
}

/* Same weights, order and masks to the bit; then sums in another order, so 1e-4 relative. */
static void backends_begin_alike_and_their_first_losses_agree(void **state)
{
	struct heard a = {0}, b = {0};
	double accuracies[2];
	(void)state;
	train_on("reference!", 2, &a, &accuracies[0]);
	train_on("auto", 2, &b, &accuracies[1]);
	for (int i = 0; i < N_LOSSES; i++)
		assert_close(b.losses[i], a.losses[i], 1e-4 * fabs((double)a.losses[i]));
	assert_close(accuracies[0], accuracies[1], 0.05);
}

/* Initial weights and a dropout mask of one backend, as bits. */
static void draw(const char *backend, float *weights, float *mask)
{
	struct tn_error_info error;
	tn_context *context;
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
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
	struct tn_trainer_values values = {.struct_size = sizeof(values), .loss = -7};
	struct tn_trainer_options options = tn_trainer_defaults();
	tn_context *context;
	(void)state;
	tn_dataset *dataset = make_dataset();
	assert_ok(tn_context_open(NULL, &context, NULL));
	tn_module *net = tn_module_sequential(context),
		  *own = tn_module_custom(context, &class_, NULL);
	assert_ok(tn_module_add_parameter(own, "scale", 1, (int64_t[]){1}, 0, 1));
	assert_ok(tn_module_sequential_add(net, "own", own));
	assert_ok(tn_module_build(net));
	struct tn_sgd_options sgd_options = tn_sgd_defaults();
	sgd_options.lr = 0.1;
	tn_optimizer *sgd = tn_sgd(net, &sgd_options);
	options.train = make_loader(dataset, TN_PART_TRAIN, 16);
	tn_trainer *trainer = tn_trainer_create(net, sgd, &options);
	assert_status(tn_trainer_run(trainer), TN_NOT_FOUND);
	assert_string_equal(tn_error_text(context), text);
	tn_error_clear(context);
	assert_status(tn_trainer_evaluate(trainer, options.train, &values), TN_NOT_FOUND);
	assert_string_equal(tn_error_text(context), text);
	assert_close(values.loss, -7, 0);
	tn_trainer_destroy(trainer);
	tn_data_loader_destroy(options.train);
	tn_optimizer_destroy(sgd);
	tn_module_destroy(net);
	tn_error_clear(context);
	tn_context_close(context);
	tn_dataset_destroy(dataset);
}

static void the_confusion_matrix_counts_every_image(void **state)
{
	struct tn_trainer_values values = {.struct_size = sizeof(values)};
	struct tn_trainer_options options = tn_trainer_defaults();
	struct tn_metric_options matrix = tn_metric_defaults();
	tn_context *context;
	uint64_t confusion[16], sum = 0, right = 0;
	(void)state;
	tn_dataset *dataset = make_dataset();
	assert_ok(tn_context_open(NULL, &context, NULL));
	tn_module *net = make_net(context);
	tn_data_loader *loader = make_loader(dataset, TN_PART_TEST, 256);
	matrix.kind = TN_METRIC_CONFUSION;
	tn_metric *metrics[] = {tn_metric_create(context, NULL),
				tn_metric_create(context, &matrix)};
	options.n_metrics = 2;
	options.metrics = metrics;
	tn_trainer *trainer = tn_trainer_create(net, NULL, &options);
	assert_ok(tn_trainer_evaluate(trainer, loader, &values));
	assert_ok(tn_metric_counts(metrics[1], confusion, 16));
	for (int i = 0; i < 16; i++) {
		sum += confusion[i];
		right += i / 4 == i % 4 ? confusion[i] : 0;
	}
	assert_int_equal(sum, 48);
	assert_close((double)right / 48, values.metrics[0], 1e-6);
	tn_trainer_destroy(trainer);
	tn_metric_destroy(metrics[0]);
	tn_metric_destroy(metrics[1]);
	tn_data_loader_destroy(loader);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_misspelt_parameter_ends_training_and_evaluation),
		cmocka_unit_test(it_learns_and_says_so),
		cmocka_unit_test(backends_begin_alike_and_their_first_losses_agree),
		cmocka_unit_test(weights_and_masks_are_the_same_bits_on_every_backend),
		cmocka_unit_test(the_confusion_matrix_counts_every_image),
		cmocka_unit_test(prediction_gives_probabilities),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
