/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Three epochs of the trainer against recorded PyTorch numbers: steps over several batches, both
 * clippings, a schedule, a moving average, metrics, validation; captured where the device can.
 *
 * Tolerance: nine steps of some 100 roundings each in f32, of numbers of about 1, which later steps
 * carry on; rates are f64.
 */
#include "record.h"

#include <float.h>
#include <math.h>

#include "parity/parity.h"

enum { EPOCHS = 3, STEPS = 9, MOST_SAMPLES = 64, MOST_FIELD = 8 };
static const double tolerance = 9 * 100 * FLT_EPSILON;

struct training {
	const struct record *record;
	tn_context *context;
	int has_classes;
	tn_dataset *dataset;
	tn_data_loader *loaders[2]; /* of training and validation */
	tn_module *net;
	tn_optimizer *optimizer;
	tn_schedule *schedule;
	tn_weight_average *average;
	tn_loss *loss;
	tn_metric *metrics[2];
	uint64_t n_steps; /* seen by the callback */
};

static const struct record_array *recorded(const struct training *t, const char *prefix,
					   const char *name)
{
	char all[RECORD_NAME];
	snprintf(all, sizeof(all), "%s%s", prefix, name);
	const struct record_array *array = record_array(t->record, all);
	if (!array)
		fail_msg("case %s has no array %s", t->record->layer, all);
	return array;
}

/* ---- Objects ---------------------------------------------------------------------------------*/

static void open_data(struct training *t)
{
	static float x[MOST_SAMPLES][MOST_FIELD], y[MOST_SAMPLES * MOST_FIELD];
	static int32_t labels[MOST_SAMPLES];
	uint8_t parts[MOST_SAMPLES];
	float *next_x = x[0], *next_y = y;
	uint64_t n = 0;
	const struct record_array *own[] = {recorded(t, "x", ""), recorded(t, "test_x", "")};
	const struct record_array *targets[] = {recorded(t, "y", ""), recorded(t, "test_y", "")};
	for (int part = 0; part < 2; part++) {
		for (int64_t i = 0; i < own[part]->shape[0]; i++) {
			parts[n] = part ? TN_PART_VALIDATION : TN_PART_TRAIN;
			labels[n++] = (int32_t)targets[part]->values[t->has_classes ? i : 0];
		}
		for (size_t i = 0; i < own[part]->count; i++)
			*next_x++ = (float)own[part]->values[i];
		for (size_t i = 0; i < targets[part]->count; i++)
			*next_y++ = (float)targets[part]->values[i];
	}
	const struct tn_field fields[] = {
		{.name = "x", .dtype = TN_F32, .rank = 1, .shape = {own[0]->shape[1]}},
		{.name = "y",
		 .dtype = t->has_classes ? TN_I32 : TN_F32,
		 .rank = t->has_classes ? 0 : 1,
		 .shape = {t->has_classes ? 0 : targets[0]->shape[1]}}};
	const struct tn_dataset_fields source = {
		.struct_size = sizeof(source),
		.name = "recorded",
		.n = n,
		.n_fields = 2,
		.fields = fields,
		.data = (const void *[]){x, t->has_classes ? (const void *)labels : y},
		.parts = parts};
	assert_ok(tn_dataset_from_fields(&source, &t->dataset, NULL));
	for (int part = 0; part < 2; part++) {
		struct tn_data_loader_options loading = tn_data_loader_defaults();
		loading.batch_size = (uint32_t)record_ints(t->record, "batch")[0];
		assert_ok(
			tn_data_loader_create(t->dataset, part, &loading, &t->loaders[part], NULL));
	}
}

static void open_net(struct training *t)
{
	tn_context *context = t->context;
	const struct record_array *first = recorded(t, "0.", "fc1.weight"),
				  *last = recorded(t, "0.", "fc2.weight");
	t->net = tn_module_sequential(context);
	struct tn_module_linear_options linear = tn_module_linear_defaults();
	linear.no_bias = 1;
	tn_module_sequential_add(
		t->net, "fc1",
		tn_module_linear(context, first->shape[1], first->shape[0], &linear));
	tn_module_sequential_add(t->net, "norm",
				 tn_module_batch_norm1d(context, first->shape[0], NULL));
	tn_module_sequential_add(t->net, "relu", tn_module_relu(context));
	tn_module_sequential_add(t->net, "fc2",
				 tn_module_linear(context, last->shape[1], last->shape[0], NULL));
	assert_ok(tn_module_build(t->net));
	for (size_t i = 0; i < tn_module_parameter_count(t->net); i++) {
		struct tn_parameter_view view = {.struct_size = sizeof(view)};
		float values[MOST_SAMPLES];
		assert_ok(tn_module_parameter_at(t->net, i, &view));
		const struct record_array *from = recorded(t, "0.", view.name);
		assert_true(from->count <= MOST_SAMPLES);
		for (size_t k = 0; k < from->count; k++)
			values[k] = (float)from->values[k];
		assert_ok(tn_assign_host(view.value, values, from->count * sizeof(float)));
	}
}

static void open_training(struct training *t, const struct record *record, tn_context *context)
{
	*t = (struct training){.record = record, .context = context};
	t->has_classes = !strcmp(record->layer, "classes");
	open_data(t);
	open_net(t);
	struct tn_adamw_options adamw = tn_adamw_defaults();
	adamw.lr = 0.02;
	adamw.weight_decay = 0.05;
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 0.1;
	sgd.momentum = 0.9;
	sgd.weight_decay = 0.01;
	sgd.nesterov = 1;
	t->optimizer = t->has_classes ? tn_adamw(t->net, &adamw) : tn_sgd(t->net, &sgd);
	struct tn_schedule_options options = tn_schedule_defaults();
	options.kind = TN_SCHEDULE_COSINE;
	options.period = 12;
	t->schedule = tn_schedule_create(t->optimizer, &options);
	struct tn_weight_average_options averaging = tn_weight_average_defaults();
	averaging.decay = 0.8;
	t->average = tn_weight_average_create(t->net, &averaging);
	struct tn_loss_options loss = tn_loss_defaults();
	loss.kind = t->has_classes ? TN_LOSS_CROSS_ENTROPY : TN_LOSS_SMOOTH_L1;
	if (t->has_classes)
		loss.label_smoothing = 0.1;
	else
		loss.beta = 0.5;
	t->loss = tn_loss_create(context, &loss);
	for (uint32_t i = 0; i < 2; i++) {
		static const uint32_t kinds[2][2] = {{TN_METRIC_MSE, TN_METRIC_R2},
						     {TN_METRIC_ACCURACY, TN_METRIC_F1}};
		struct tn_metric_options metric_options = tn_metric_defaults();
		metric_options.kind = kinds[t->has_classes][i];
		t->metrics[i] = tn_metric_create(context, &metric_options);
	}
}

static void close_training(struct training *t)
{
	assert_null(tn_error(t->context));
	tn_loss_destroy(t->loss);
	tn_metric_destroy(t->metrics[0]);
	tn_metric_destroy(t->metrics[1]);
	tn_weight_average_destroy(t->average);
	tn_schedule_destroy(t->schedule);
	tn_optimizer_destroy(t->optimizer);
	tn_module_destroy(t->net);
	tn_data_loader_destroy(t->loaders[0]);
	tn_data_loader_destroy(t->loaders[1]);
	tn_dataset_destroy(t->dataset);
}

/* ---- Comparisons -----------------------------------------------------------------------------*/

static int check_step(void *user, const struct tn_trainer_step *step)
{
	struct training *t = user;
	assert_int_equal(step->step, ++t->n_steps);
	assert_close(step->loss, recorded(t, "losses", "")->values[step->step - 1], tolerance);
	return 0;
}

static void check_values(const struct tn_trainer_values *values, const double *expected)
{
	assert_close(values->loss, expected[0], tolerance);
	assert_close(values->metrics[0], expected[1], tolerance);
	assert_close(values->metrics[1], expected[2], 4 * tolerance); /* a quotient of sums */
}

static void check_array(const tn_array *array, const struct record_array *expected)
{
	float values[MOST_SAMPLES];
	assert_int_equal(tn_array_size(array), expected->count);
	assert_ok(tn_to_host(array, values, expected->count * sizeof(float)));
	for (size_t i = 0; i < expected->count; i++)
		assert_close(values[i], expected->values[i],
			     tolerance * fmax(1, fabs(expected->values[i])));
}

static void check_network(const struct training *t)
{
	tn_module *norm = tn_module_child(t->net, "norm");
	for (size_t i = 0; i < tn_module_parameter_count(t->net); i++) {
		struct tn_parameter_view view = {.struct_size = sizeof(view)};
		struct tn_weight_average_view average = {.struct_size = sizeof(average)};
		assert_ok(tn_module_parameter_at(t->net, i, &view));
		check_array(view.value, recorded(t, "1.", view.name));
		assert_ok(tn_weight_average_at(t->average, i, &average));
		check_array(average.value, recorded(t, "a.", view.name));
	}
	check_array(tn_module_own_buffer(norm, "running_mean"),
		    recorded(t, "1.", "norm.running_mean"));
	check_array(tn_module_own_buffer(norm, "running_var"),
		    recorded(t, "1.", "norm.running_var"));
}

static void check_training(const struct record *record, tn_context *context, int steps_are_seen)
{
	struct training t;
	open_training(&t, record, context);
	struct tn_trainer_options options = tn_trainer_defaults();
	options.train = t.loaders[0];
	options.validation = t.loaders[1];
	options.loss = t.loss;
	options.n_metrics = 2;
	options.metrics = t.metrics;
	options.n_epochs = EPOCHS;
	options.accumulate = (uint64_t)record_ints(record, "accumulate")[0];
	options.clip_value = 0.3;
	options.clip_norm = 0.25;
	options.average = t.average;
	options.schedule = t.schedule;
	options.on_step = steps_are_seen ? check_step : NULL;
	options.user = &t;
	tn_trainer *trainer = tn_trainer_create(t.net, t.optimizer, &options);
	assert_non_null(trainer);
	assert_ok(tn_trainer_run(trainer));
	assert_int_equal(tn_trainer_steps(trainer), STEPS);
	assert_int_equal(t.n_steps, steps_are_seen ? STEPS : 0);
	const struct record_array *epochs = recorded(&t, "epochs", "");
	for (size_t i = 0; i < EPOCHS; i++) {
		const struct tn_trainer_epoch *epoch = tn_trainer_history_at(trainer, i);
		const double *expected = &epochs->values[i * 7];
		assert_close(epoch->lr, expected[0], 1e-12);
		check_values(epoch->train, expected + 1);
		check_values(epoch->validation, expected + 4);
	}
	check_network(&t);
	tn_trainer_destroy(trainer);
	close_training(&t);
}

static void check(tn_context *context, const struct record *record, int number)
{
	(void)number;
	check_training(record, context, 0);
	check_training(record, context, 1);
}

const struct parity parity = {
	.claim = "trains_as_pytorch_does",
	.records = {{"training.txt", 2}},
	.check = check,
};
