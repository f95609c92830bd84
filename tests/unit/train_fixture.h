/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Trainings of small tables of numbers, for tests of the trainer on the CPU backend, the built-in
 * one and the mock device, whose memory the host cannot read.
 */
#ifndef TN_TESTS_TRAIN_FIXTURE_H
#define TN_TESTS_TRAIN_FIXTURE_H

#include "mock_fixture.h"

enum { BACKENDS = 3, TABLE_ROWS = 46, TABLE_INPUTS = 3, TABLE_TARGETS = 2, MOST_WEIGHTS = 256 };

/* The mock's fixture changes the environment. */
static inline tn_context *open_backend(int number)
{
	static const char *const variables[] = {"TENON_PLUGIN_PATH", "TENON_PLUGIN_PATH_ONLY",
						"TENON_BACKEND"};
	static char before[3][4096];
	static int is_kept;
	const char *const backends[] = {NULL, "reference!"};
	tn_context *context = NULL;
	for (int i = 0; i < 3; i++) {
		const char *value = getenv(variables[i]);
		if (!is_kept)
			snprintf(before[i], sizeof(before[i]), "%s", value ? value : "");
		else if (before[i][0])
			setenv(variables[i], before[i], 1);
		else
			unsetenv(variables[i]);
	}
	is_kept = 1;
	if (number == 2)
		return open_mock("");
	struct tn_context_options o = tn_context_defaults();
	o.backend = backends[number];
	assert_ok(tn_context_open(&o, &context, NULL));
	return context;
}

/* Rows of three inputs and two targets, nearly linear in them; nine rows of validation. */
static inline tn_dataset *make_table(float spoilt)
{
	static const struct tn_field fields[] = {
		{.name = "x", .dtype = TN_F32, .rank = 1, .shape = {TABLE_INPUTS}},
		{.name = "y", .dtype = TN_F32, .rank = 1, .shape = {TABLE_TARGETS}}};
	float x[TABLE_ROWS][TABLE_INPUTS], y[TABLE_ROWS][TABLE_TARGETS];
	uint8_t parts[TABLE_ROWS];
	tn_dataset *dataset = NULL;
	for (int i = 0; i < TABLE_ROWS; i++) {
		for (int k = 0; k < TABLE_INPUTS; k++)
			x[i][k] = (float)((i * (7 + 4 * k) + 5 * k) % 23) / 11 - 1;
		y[i][0] = x[i][0] - 2 * x[i][1] + 0.5f;
		y[i][1] = x[i][2] + 0.1f * (float)(i % 3) - 0.25f * x[i][0];
		parts[i] = i % 5 == 4 ? TN_PART_VALIDATION : TN_PART_TRAIN;
	}
	x[0][0] += spoilt;
	const struct tn_dataset_fields source = {.struct_size = sizeof(source),
						 .name = "table",
						 .n = TABLE_ROWS,
						 .n_fields = 2,
						 .fields = fields,
						 .data = (const void *[]){x, y},
						 .parts = parts};
	assert_ok(tn_dataset_from_fields(&source, &dataset, NULL));
	return dataset;
}

/* With the options' defaults. */
static inline tn_loss *make_loss(tn_context *context, uint32_t kind)
{
	struct tn_loss_options options = tn_loss_defaults();
	options.kind = kind;
	return tn_loss_create(context, &options);
}

/* A network and what trains it. */
struct fit {
	tn_context *context;
	tn_dataset *dataset;
	tn_data_loader *train, *validation;
	tn_module *net;
	tn_optimizer *optimizer;
	tn_loss *mse;
	struct tn_trainer_options options; /* of the trainer; MSE with both loaders */
	tn_trainer *trainer;
};

static inline tn_data_loader *make_loader(const struct fit *fit, int part, uint32_t batch)
{
	tn_data_loader *loader = NULL;
	struct tn_data_loader_options options = tn_data_loader_defaults();
	options.batch_size = batch;
	options.shuffle = part == TN_PART_TRAIN;
	options.seed = 3;
	assert_ok(tn_data_loader_create(fit->dataset, part, &options, &loader, NULL));
	return loader;
}

/* fc1, layer norm, relu, dropout, fc2. */
static inline tn_module *make_fit_net(tn_context *context, double dropout)
{
	tn_module *net = tn_module_sequential(context);
	tn_random_set_state(context, (struct tn_random_state){.seed = 5, .stream = 0});
	tn_module_sequential_add(net, "fc1", tn_module_linear(context, TABLE_INPUTS, 8, NULL));
	tn_module_sequential_add(net, "norm",
				 tn_module_layer_norm(context, 1, (int64_t[]){8}, NULL));
	tn_module_sequential_add(net, "relu", tn_module_relu(context));
	tn_module_sequential_add(net, "dropout", tn_module_dropout(context, dropout));
	tn_module_sequential_add(net, "fc2", tn_module_linear(context, 8, TABLE_TARGETS, NULL));
	assert_ok(tn_module_build(net));
	return net;
}

static inline void open_fit_with(struct fit *fit, tn_context *context, uint32_t batch,
				 double dropout)
{
	memset(fit, 0, sizeof(*fit));
	fit->context = context;
	fit->dataset = make_table(0);
	fit->train = make_loader(fit, TN_PART_TRAIN, batch);
	fit->validation = make_loader(fit, TN_PART_VALIDATION, 4);
	fit->net = make_fit_net(context, dropout);
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 0.05;
	sgd.momentum = 0.9;
	fit->optimizer = tn_sgd(fit->net, &sgd);
	fit->mse = make_loss(context, TN_LOSS_MSE);
	fit->options = tn_trainer_defaults();
	fit->options.loss = fit->mse;
	fit->options.train = fit->train;
	fit->options.validation = fit->validation;
	fit->options.n_epochs = 3;
	fit->options.user = fit;
}

static inline void open_fit(struct fit *fit, tn_context *context, uint32_t batch)
{
	open_fit_with(fit, context, batch, 0.1);
}

static inline void make_fit_trainer(struct fit *fit)
{
	fit->trainer = tn_trainer_create(fit->net, fit->optimizer, &fit->options);
	if (!fit->trainer)
		fail_msg("%s", tn_error(fit->context)->text);
}

/* Before what it borrows is destroyed. */
static inline void end_fit_trainer(struct fit *fit)
{
	tn_trainer_destroy(fit->trainer);
	fit->trainer = NULL;
}

static inline void close_fit(struct fit *fit)
{
	end_fit_trainer(fit);
	tn_loss_destroy(fit->mse);
	tn_optimizer_destroy(fit->optimizer);
	tn_module_destroy(fit->net);
	tn_data_loader_destroy(fit->train);
	tn_data_loader_destroy(fit->validation);
	tn_dataset_destroy(fit->dataset);
}

/* All parameters, one after the other; returns their number. */
static inline size_t read_weights(const tn_module *net, float *to)
{
	struct tn_parameter_view view = {.struct_size = sizeof(view)};
	size_t n = 0;
	for (size_t i = 0; i < tn_module_parameter_count(net); i++) {
		assert_ok(tn_module_parameter_at(net, i, &view));
		size_t size = (size_t)tn_array_size(view.value);
		assert_true(n + size <= MOST_WEIGHTS);
		assert_ok(tn_to_host(view.value, to + n, size * sizeof(*to)));
		n += size;
	}
	return n;
}

/* One of each. */
static tn_context *contexts[BACKENDS];

static inline int open_all(void **state)
{
	(void)state;
	for (int i = 0; i < BACKENDS; i++)
		contexts[i] = open_backend(i);
	return 0;
}

static inline int close_all(void **state)
{
	(void)state;
	for (int i = 0; i < BACKENDS; i++)
		tn_context_close(contexts[i]);
	return 0;
}

static inline void run_fit(struct fit *fit)
{
	make_fit_trainer(fit);
	if (tn_trainer_run(fit->trainer))
		fail_msg("%s: %s", tn_error(fit->context)->operation, tn_error(fit->context)->text);
}

#endif
