/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A mean is a sum over a weight: every loss, with class weights, ignored labels and weights of the
 * program's own, gives the same weights and values however the samples of a step are divided into
 * batches and ranks, and those of an evaluation into batches.
 */
#include "distributed/training.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <tenon/tenon.h>

#include "check.h"

enum {
	SAMPLES = 32,
	INPUTS = 3,
	CLASSES = 4,
	IGNORED = -100,
	N_IGNORED = 12, /* the first ones: of the smallest batches some have no label at all */
	N_WEIGHTS = (INPUTS + 1) * CLASSES,
	MOST_LOSSES = 24,
};

/* What a target holds. */
enum { LABELS, SOME_LABELS, DISTRIBUTIONS, LOG_DISTRIBUTIONS, SIGNS };

static const struct loss {
	uint32_t kind; /* UINT32_MAX: of the program's own */
	int target;
	int has_weight, has_pos_weight;
	struct tn_loss_options options;
} losses[] = {
	{.kind = TN_LOSS_CROSS_ENTROPY},
	{.kind = TN_LOSS_CROSS_ENTROPY, .has_weight = 1},
	{.kind = TN_LOSS_CROSS_ENTROPY, .target = SOME_LABELS},
	{.kind = TN_LOSS_CROSS_ENTROPY,
	 .target = SOME_LABELS,
	 .has_weight = 1,
	 .options = {.label_smoothing = 0.1}},
	{.kind = TN_LOSS_CROSS_ENTROPY, .target = DISTRIBUTIONS, .has_weight = 1},
	{.kind = TN_LOSS_NLL},
	{.kind = TN_LOSS_NLL, .has_weight = 1},
	{.kind = TN_LOSS_NLL, .target = SOME_LABELS, .has_weight = 1},
	{.kind = TN_LOSS_BINARY_CROSS_ENTROPY, .target = DISTRIBUTIONS},
	{.kind = TN_LOSS_BINARY_CROSS_ENTROPY,
	 .target = DISTRIBUTIONS,
	 .has_weight = 1,
	 .has_pos_weight = 1},
	{.kind = TN_LOSS_MSE, .target = DISTRIBUTIONS},
	{.kind = TN_LOSS_L1, .target = DISTRIBUTIONS},
	{.kind = TN_LOSS_SMOOTH_L1, .target = DISTRIBUTIONS, .options = {.beta = 0.25}},
	{.kind = TN_LOSS_HUBER, .target = DISTRIBUTIONS, .options = {.delta = 0.25}},
	{.kind = TN_LOSS_KL_DIV, .target = DISTRIBUTIONS},
	{.kind = TN_LOSS_KL_DIV, .target = LOG_DISTRIBUTIONS, .options = {.log_target = 1}},
	{.kind = TN_LOSS_HINGE_EMBEDDING, .target = SIGNS},
	{.kind = TN_LOSS_MULTI_MARGIN},
	{.kind = TN_LOSS_MULTI_MARGIN, .has_weight = 1, .options = {.p = 2}},
	{.kind = UINT32_MAX, .target = DISTRIBUTIONS},
	{.kind = UINT32_MAX, .target = DISTRIBUTIONS, .has_weight = 1},
};

enum { N_LOSSES = sizeof(losses) / sizeof(losses[0]) };
_Static_assert((int)N_LOSSES <= (int)MOST_LOSSES, "an outcome has room for all");

struct outcome {
	double weights[MOST_LOSSES][N_WEIGHTS];
	double step_loss[MOST_LOSSES], epoch_loss[MOST_LOSSES];
	double evaluated[MOST_LOSSES][SAMPLES]; /* by the size of the batches, less 1 */
};

/* ---- Samples ---------------------------------------------------------------------------------*/

struct samples {
	float x[SAMPLES][INPUTS];
	int32_t labels[SAMPLES];
	float y[SAMPLES][CLASSES];
};

static void fill(struct samples *s, int target)
{
	for (int i = 0; i < SAMPLES; i++) {
		float sum = 0;
		for (int k = 0; k < INPUTS; k++)
			s->x[i][k] = (float)((i * (7 + 4 * k) + 5 * k) % 23) / 11 - 1;
		s->labels[i] = target == SOME_LABELS && i < N_IGNORED ? IGNORED : (i * i) % 7 % 4;
		for (int k = 0; k < CLASSES; k++)
			sum += s->y[i][k] = (float)(1 + (i * (3 + k) + k) % 5);
		for (int k = 0; k < CLASSES; k++) {
			s->y[i][k] /= sum;
			if (target == LOG_DISTRIBUTIONS)
				s->y[i][k] = logf(s->y[i][k]);
			else if (target == SIGNS)
				s->y[i][k] = (i + k) % 3 ? 1 : -1;
		}
	}
}

static tn_dataset *make_dataset(int target)
{
	const int is_label = target <= SOME_LABELS;
	const struct tn_field fields[] = {
		{.name = "x", .dtype = TN_F32, .rank = 1, .shape = {INPUTS}},
		{.name = "y",
		 .dtype = is_label ? TN_I32 : TN_F32,
		 .rank = !is_label,
		 .shape = {CLASSES}}};
	struct samples s;
	struct tn_dataset_fields source = tn_dataset_fields_defaults();
	tn_dataset *dataset = NULL;
	fill(&s, target);
	source.n = SAMPLES;
	source.n_fields = 2;
	source.fields = fields;
	source.data = (const void *[]){s.x, is_label ? (const void *)s.labels : s.y};
	need(!tn_dataset_from_fields(&source, &dataset, NULL));
	return dataset;
}

static tn_data_loader *make_loader(const struct ranked *ranked, const tn_dataset *dataset,
				   uint32_t batch_size, int is_uneven)
{
	tn_data_loader *loader = NULL;
	struct tn_data_loader_options options = tn_data_loader_defaults();
	options.batch_size = batch_size;
	options.rank = ranked->rank;
	options.n_ranks = ranked->communicator ? ranked->size : 1;
	options.uneven = is_uneven;
	need(!tn_data_loader_create(dataset, TN_PART_TRAIN, &options, &loader, NULL));
	return loader;
}

/* ---- Losses ----------------------------------------------------------------------------------*/

/* The squares, each weighed by 1 + y if *user. */
static tn_array *squares(void *user, const tn_array *output, const tn_array *target,
			 tn_array **weight)
{
	const struct loss *loss = user;
	tn_array *d = tn_subtract(output, target);
	tn_array *square = tn_multiply(d, d);
	if (!loss->has_weight)
		return tn_affine(tn_sum(square, TN_ALL_AXES, NULL, 0), 1.0 / CLASSES, 0.0);
	const tn_array *each = tn_affine(target, 1.0, 1.0);
	*weight = tn_sum(each, TN_ALL_AXES, NULL, 0);
	return tn_sum(tn_multiply(square, each), TN_ALL_AXES, NULL, 0);
}

static tn_loss *make_loss(tn_context *context, const struct loss *l)
{
	static const float weights[CLASSES] = {0.25f, 1, 2, 40};
	if (l->kind == UINT32_MAX) {
		struct tn_loss_class own = tn_loss_class_defaults();
		own.name = "squares";
		own.sum = squares;
		own.user = (void *)(uintptr_t)l;
		return tn_loss_custom(context, &own);
	}
	const struct tn_loss_options *given = &l->options;
	struct tn_loss_options options = tn_loss_defaults();
	tn_array *weight = tn_from_host(context, TN_F32, 1, (int64_t[]){CLASSES}, weights);
	options.kind = l->kind;
	options.weight = l->has_weight ? weight : NULL;
	options.pos_weight = l->has_pos_weight ? weight : NULL;
	options.has_ignore_label = l->target == SOME_LABELS;
	options.ignore_label = l->target == SOME_LABELS ? IGNORED : options.ignore_label;
	options.label_smoothing = given->label_smoothing;
	options.log_target = given->log_target;
	options.beta = given->beta > 0 ? given->beta : options.beta;
	options.delta = given->delta > 0 ? given->delta : options.delta;
	options.p = given->p ? given->p : options.p;
	return tn_loss_create(context, &options);
}

/* ---- One training ----------------------------------------------------------------------------*/

static int note_step(void *user, const struct tn_trainer_step *step)
{
	double *loss = user;
	*loss = step->loss;
	return 0;
}

static void evaluate(const struct ranked *ranked, tn_trainer *trainer, const tn_dataset *dataset,
		     double *evaluated)
{
	for (uint32_t n = 1; n <= SAMPLES; n++) {
		struct tn_trainer_values values = {.struct_size = sizeof(values)};
		if (ranked->communicator && n < ranked->size)
			continue;
		tn_data_loader *loader = make_loader(ranked, dataset, n, 1);
		need_ok(ranked->context, tn_trainer_evaluate(trainer, loader, &values));
		need(values.samples == SAMPLES);
		evaluated[n - 1] = values.loss;
		tn_data_loader_destroy(loader);
	}
}

/* Two epochs of one step each, and evaluations. */
static void train(const struct ranked *ranked, uint32_t accumulate, size_t number,
		  struct outcome *outcome)
{
	const struct loss *l = &losses[number];
	tn_context *context = ranked->context;
	tn_dataset *dataset = make_dataset(l->target);
	need_ok(context, tn_scope_begin(context));
	tn_random_set_state(context, (struct tn_random_state){3, 1});
	tn_module *net = tn_module_linear(context, INPUTS, CLASSES, NULL);
	need_ok(context, tn_module_build(net));
	tn_data_parallel *parallel =
		ranked->communicator ? tn_data_parallel_create(net, ranked->communicator, NULL)
				     : NULL;
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 0.5;
	tn_optimizer *optimizer = tn_sgd(net, &sgd);
	tn_loss *loss = make_loss(context, l);
	struct tn_trainer_options options = tn_trainer_defaults();
	options.train = make_loader(ranked, dataset, SAMPLES / accumulate, 0);
	options.loss = loss;
	options.n_epochs = 2;
	options.accumulate = accumulate;
	options.parallel = parallel;
	options.on_step = note_step;
	options.user = &outcome->step_loss[number];
	tn_trainer *trainer = tn_trainer_create(net, optimizer, &options);
	need_ok(context, TN_OK);
	need_ok(context, tn_trainer_run(trainer));
	outcome->epoch_loss[number] = tn_trainer_history_at(trainer, 1)->train->loss;
	need(read_parameters(net, outcome->weights[number], N_WEIGHTS) == N_WEIGHTS);
	evaluate(ranked, trainer, dataset, outcome->evaluated[number]);
	tn_trainer_destroy(trainer);
	tn_data_loader_destroy(options.train);
	tn_loss_destroy(loss);
	tn_optimizer_destroy(optimizer);
	tn_data_parallel_destroy(parallel);
	tn_module_destroy(net);
	tn_scope_end(context, NULL);
	tn_dataset_destroy(dataset);
}

static void train_all(const struct ranked *ranked, const void *argument, void *out)
{
	const uint32_t *accumulate = argument;
	for (size_t i = 0; i < N_LOSSES; i++)
		train(ranked, *accumulate, i, out);
}

/* ---- Tests -----------------------------------------------------------------------------------*/

static void expect(const char *what, const char *text, double found, double expected)
{
	if (!(fabs(found - expected) <= 3e-6 * (1 + fabs(expected))))
		fail_msg("%s, %s: expected %.9g, found %.9g", text, what, expected, found);
}

static void compare(const struct outcome *found, const struct outcome *whole, uint32_t size,
		    uint32_t accumulate)
{
	for (size_t i = 0; i < N_LOSSES; i++) {
		char text[96];
		snprintf(text, sizeof(text), "loss %zu of the table, %u ranks, %u batches", i, size,
			 accumulate);
		expect("the loss of a step", text, found->step_loss[i], whole->step_loss[i]);
		expect("the loss of an epoch", text, found->epoch_loss[i], whole->step_loss[i]);
		for (int w = 0; w < N_WEIGHTS; w++)
			expect("a weight", text, found->weights[i][w], whole->weights[i][w]);
		for (uint32_t n = size ? size : 1; n <= SAMPLES; n++)
			expect("an evaluation", text, found->evaluated[i][n - 1],
			       whole->evaluated[i][SAMPLES - 1]);
	}
}

static void a_step_is_that_of_all_its_samples(void **state)
{
	static const uint32_t sizes[] = {0, 1, 2, 4}, parts[] = {1, 2, 4, 8};
	static struct outcome whole, found[4];
	(void)state;
	run_ranked(0, "auto", train_all, &parts[0], &whole, sizeof(whole));
	for (size_t k = 0; k < 16; k++) {
		const uint32_t size = sizes[k / 4];
		memset(found, 0, sizeof(found));
		run_ranked(size, "auto", train_all, &parts[k % 4], found, sizeof(*found));
		for (uint32_t rank = 0; rank < (size ? size : 1); rank++)
			compare(&found[rank], &whole, size, parts[k % 4]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_step_is_that_of_all_its_samples),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
