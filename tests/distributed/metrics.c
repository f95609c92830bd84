/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Metrics over ranks: each kind with each of its options has on 1, 2 and 3 ranks the value that it
 * has in one process, of a training and of evaluations, also where ranks have no samples.
 */
#include "distributed/training.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tenon/tenon.h>

#include "check.h"

enum { SAMPLES = 133, TRAINED = 100, VALIDATED = 31, CLASSES = 4, COLUMNS = 2, INPUTS = 4 };

/* What output and target hold. */
enum { LABELS, SEVERAL_LABELS, NUMBERS };

static const struct row {
	struct tn_metric_options options;
	int is_custom;
	int data;
	tn_dtype dtype;   /* of numbers */
	double largest;   /* of the errors of numbers, in units */
	double tolerance; /* of the value */
} rows[] = {
	{.options = {.kind = TN_METRIC_ACCURACY}},
	{.options = {.kind = TN_METRIC_ACCURACY, .has_ignore_label = 1, .ignore_label = 2}},
	{.options = {.kind = TN_METRIC_ACCURACY, .is_multi_label = 1, .threshold = 0.25},
	 .data = SEVERAL_LABELS},
	{.options = {.kind = TN_METRIC_TOP_K, .k = 2}},
	{.options = {.kind = TN_METRIC_TOP_K, .k = 3, .has_ignore_label = 1}},
	{.options = {.kind = TN_METRIC_F1, .average = TN_F1_MACRO}},
	{.options = {.kind = TN_METRIC_F1, .average = TN_F1_MICRO, .has_ignore_label = 1}},
	{.options = {.kind = TN_METRIC_F1, .average = TN_F1_MACRO, .is_multi_label = 1},
	 .data = SEVERAL_LABELS},
	{.options = {.kind = TN_METRIC_F1, .average = TN_F1_MICRO, .is_multi_label = 1},
	 .data = SEVERAL_LABELS},
	{.options = {.kind = TN_METRIC_CONFUSION}},
	/* The sums of a batch are whole and below 2^24, those of an epoch are not: exact is a sum
	 * with its rest alone. */
	{.options = {.kind = TN_METRIC_MSE}, .data = NUMBERS, .dtype = TN_F32, .largest = 800},
	{.options = {.kind = TN_METRIC_MAE}, .data = NUMBERS, .dtype = TN_F32, .largest = 5e5},
	{.options = {.kind = TN_METRIC_MSE}, .data = NUMBERS, .dtype = TN_F64, .largest = 800},
	{.options = {.kind = TN_METRIC_R2},
	 .data = NUMBERS,
	 .dtype = TN_F32,
	 .largest = 1150,
	 .tolerance = 1e-12},
	{.options = {.kind = TN_METRIC_R2},
	 .data = NUMBERS,
	 .dtype = TN_F64,
	 .largest = 1150,
	 .tolerance = 1e-12},
	{.is_custom = 1, .data = NUMBERS, .dtype = TN_F64, .largest = 800},
};

enum { N_ROWS = sizeof(rows) / sizeof(rows[0]), MOST_ROWS = 24, N_PASSES = 3 };
_Static_assert((int)N_ROWS <= (int)MOST_ROWS, "an outcome has room for all");

/* Of a training, its validation and the evaluation of two samples. */
struct outcome {
	double values[MOST_ROWS][N_PASSES];
	uint64_t counts[CLASSES * CLASSES]; /* of the two samples */
};

/* ---- A metric of the program's own -----------------------------------------------------------*/

/* The mean of all outputs. */
struct mean {
	tn_array *sum, *n;
};

static void *mean_begin(void *user, tn_context *context)
{
	struct mean *mean = calloc(1, sizeof(*mean));
	(void)user;
	need(mean);
	mean->sum = tn_keep(tn_zeros(context, TN_F64, 0, NULL));
	mean->n = tn_keep(tn_zeros(context, TN_I64, 0, NULL));
	return mean;
}

static tn_status mean_add(void *state, const tn_array *output, const tn_array *target)
{
	const struct mean *mean = state;
	const double size = (double)tn_array_size(output);
	(void)target;
	tn_status status = tn_add_into(mean->sum, mean->sum, tn_sum(output, TN_ALL_AXES, NULL, 0));
	return status ? status : tn_assign(mean->n, tn_affine(mean->n, 1, size));
}

static tn_status mean_value(void *state, double *value)
{
	const struct mean *mean = state;
	*value = item_of(mean->sum) / item_of(mean->n);
	return TN_OK;
}

static size_t mean_arrays(void *state, tn_array **arrays, size_t room)
{
	const struct mean *mean = state;
	need(room >= 2);
	arrays[0] = mean->sum;
	arrays[1] = mean->n;
	return 2;
}

static void mean_end(void *state)
{
	struct mean *mean = state;
	tn_array_destroy(mean->sum);
	tn_array_destroy(mean->n);
	free(mean);
}

static tn_metric *make_metric(tn_context *context, const struct row *row)
{
	static const struct tn_metric_class mean = {.struct_size = sizeof(mean),
						    .name = "mean",
						    .begin = mean_begin,
						    .add = mean_add,
						    .value = mean_value,
						    .arrays = mean_arrays,
						    .end = mean_end,
						    .is_sum = 1};
	struct tn_metric_options options = row->options;
	if (row->is_custom)
		return tn_metric_custom(context, &mean);
	options.struct_size = sizeof(options);
	options.k = options.k ? options.k : tn_metric_defaults().k;
	return tn_metric_create(context, &options);
}

/* ---- Samples ---------------------------------------------------------------------------------*/

struct samples {
	float scores[SAMPLES][CLASSES];
	int32_t labels[SAMPLES];
	float several[SAMPLES][CLASSES];
	float numbers[SAMPLES][COLUMNS];
	float targets[SAMPLES][COLUMNS];
	uint8_t parts[SAMPLES];
};

static double drawn(int i, int k)
{
	return fmod(sin(12.9898 * i + 78.233 * k + 1) * 43758.5453, 1);
}

/* Numbers are whole; their targets have a trend, so that ranks have different means. */
static void fill(struct samples *s, double largest)
{
	for (int i = 0; i < SAMPLES; i++) {
		s->labels[i] = (i * i + i / 7) % CLASSES;
		for (int k = 0; k < CLASSES; k++) {
			s->scores[i][k] = (float)drawn(i, k) + (k == s->labels[i] ? 0.4f : 0);
			s->several[i][k] = drawn(i, k + 10) > 0;
		}
		for (int k = 0; k < COLUMNS; k++) {
			s->targets[i][k] = (float)(i * (k + 1));
			s->numbers[i][k] =
				s->targets[i][k] + (float)rint(largest * drawn(i, k + 20));
		}
		s->parts[i] = i < TRAINED               ? TN_PART_TRAIN
			      : i < TRAINED + VALIDATED ? TN_PART_VALIDATION
							: TN_PART_TEST;
	}
}

static tn_dataset *make_dataset(const struct row *row)
{
	static struct samples s;
	const struct tn_field scores = {
		.name = "x", .dtype = TN_F32, .rank = 1, .shape = {CLASSES}};
	const struct tn_field numbers = {
		.name = "x", .dtype = TN_F32, .rank = 1, .shape = {COLUMNS}};
	const struct tn_field label = {.name = "y", .dtype = TN_I32};
	const struct tn_field fields[][2] = {[LABELS] = {scores, label},
					     [SEVERAL_LABELS] = {scores, scores},
					     [NUMBERS] = {numbers, numbers}};
	const void *const data[][2] = {[LABELS] = {s.scores, s.labels},
				       [SEVERAL_LABELS] = {s.scores, s.several},
				       [NUMBERS] = {s.numbers, s.targets}};
	struct tn_dataset_fields source = tn_dataset_fields_defaults();
	tn_dataset *dataset = NULL;
	fill(&s, row->largest);
	source.n = SAMPLES;
	source.n_fields = 2;
	source.fields = fields[row->data];
	source.data = data[row->data];
	source.parts = s.parts;
	need(!tn_dataset_from_fields(&source, &dataset, NULL));
	return dataset;
}

static tn_data_loader *make_loader(const struct ranked *ranked, const tn_dataset *dataset, int part)
{
	static const uint32_t batches[] = {
		[TN_PART_TRAIN] = 12, [TN_PART_VALIDATION] = 5, [TN_PART_TEST] = 3};
	tn_data_loader *loader = NULL;
	struct tn_data_loader_options options = tn_data_loader_defaults();
	options.batch_size = batches[part];
	options.rank = ranked->rank;
	options.n_ranks = ranked->communicator ? ranked->size : 1;
	options.uneven = part != TN_PART_TRAIN;
	need(!tn_data_loader_create(dataset, part, &options, &loader, NULL));
	return loader;
}

/* ---- One training ----------------------------------------------------------------------------*/

/* The field is the output, in the row's dtype; the network's is the loss. */
static tn_array *pass_through(void *user, tn_module *net, uint32_t n_fields,
			      tn_array *const *fields, tn_array **output, tn_array **weight)
{
	const struct row *row = user;
	tn_context *context = tn_array_context(fields[0]);
	const int64_t shape[] = {tn_array_shape(fields[0])[0], INPUTS};
	(void)n_fields, (void)weight;
	*output = row->dtype ? tn_astype(fields[0], row->dtype) : fields[0];
	return tn_sum(tn_module_forward(net, tn_ones(context, TN_F32, 2, shape)), TN_ALL_AXES, NULL,
		      0);
}

static void train(const struct ranked *ranked, size_t number, struct outcome *outcome)
{
	const struct row *row = &rows[number];
	tn_context *context = ranked->context;
	tn_dataset *dataset = make_dataset(row);
	need_ok(context, tn_scope_begin(context));
	tn_random_set_state(context, (struct tn_random_state){3, 1});
	tn_module *net = tn_module_linear(context, INPUTS, 1, NULL);
	need_ok(context, tn_module_build(net));
	tn_data_parallel *parallel =
		ranked->communicator ? tn_data_parallel_create(net, ranked->communicator, NULL)
				     : NULL;
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 0;
	tn_optimizer *optimizer = tn_sgd(net, &sgd);
	tn_metric *metric = make_metric(context, row);
	tn_data_loader *test = make_loader(ranked, dataset, TN_PART_TEST);
	struct tn_trainer_values values = {.struct_size = sizeof(values)};
	struct tn_trainer_options options = tn_trainer_defaults();
	options.train = make_loader(ranked, dataset, TN_PART_TRAIN);
	options.validation = make_loader(ranked, dataset, TN_PART_VALIDATION);
	options.step_function = pass_through;
	options.user = (void *)(uintptr_t)row;
	options.n_metrics = 1;
	options.metrics = &metric;
	options.parallel = parallel;
	tn_trainer *trainer = tn_trainer_create(net, optimizer, &options);
	need_ok(context, TN_OK);
	/* First, so that a rank without samples does not know the metric's classes or columns. */
	need_ok(context, tn_trainer_evaluate(trainer, test, &values));
	need(values.samples == SAMPLES - TRAINED - VALIDATED);
	outcome->values[number][2] = values.metrics[0];
	if (row->options.kind == TN_METRIC_CONFUSION)
		need_ok(context,
			tn_metric_counts(metric, outcome->counts, (size_t)CLASSES * CLASSES));
	need_ok(context, tn_trainer_run(trainer));
	const struct tn_trainer_epoch *epoch = tn_trainer_history_at(trainer, 0);
	need(epoch->train->samples == TRAINED && epoch->validation->samples == VALIDATED);
	outcome->values[number][0] = epoch->train->metrics[0];
	outcome->values[number][1] = epoch->validation->metrics[0];
	tn_trainer_destroy(trainer);
	tn_metric_destroy(metric);
	tn_data_loader_destroy(options.train);
	tn_data_loader_destroy(options.validation);
	tn_data_loader_destroy(test);
	tn_optimizer_destroy(optimizer);
	tn_data_parallel_destroy(parallel);
	tn_module_destroy(net);
	tn_scope_end(context, NULL);
	tn_dataset_destroy(dataset);
}

static void train_all(const struct ranked *ranked, const void *argument, void *out)
{
	(void)argument;
	for (size_t i = 0; i < N_ROWS; i++)
		train(ranked, i, out);
}

/* ---- Tests -----------------------------------------------------------------------------------*/

static void compare(const struct outcome *found, const struct outcome *alone, uint32_t size)
{
	static const char *const passes[] = {"training", "validation", "two samples"};
	for (size_t i = 0; i < N_ROWS; i++) {
		for (int k = 0; k < N_PASSES; k++) {
			const double value = found->values[i][k], expected = alone->values[i][k];
			if (!(fabs(value - expected) <= rows[i].tolerance * fabs(expected)))
				fail_msg("metric %zu of the table, %s on %u ranks: expected "
					 "%.17g, found %.17g",
					 i, passes[k], size, expected, value);
		}
	}
	assert_memory_equal(found->counts, alone->counts, sizeof(found->counts));
}

static void ranks_have_the_metrics_of_one_process(void **state)
{
	static struct outcome alone, found[3];
	(void)state;
	run_ranked(0, "auto", train_all, NULL, &alone, sizeof(alone));
	for (uint32_t size = 1; size <= 3; size++) {
		run_ranked(size, "auto", train_all, NULL, found, sizeof(*found));
		for (uint32_t rank = 0; rank < size; rank++)
			compare(&found[rank], &alone, size);
	}
}

/* A new kind fails here until it has a row. */
static void every_kind_is_in_the_table(void **state)
{
	struct tn_context_options opening = tn_context_defaults();
	struct tn_metric_options options = tn_metric_defaults();
	tn_context *context = NULL;
	(void)state;
	opening.backend = "reference!";
	assert_ok(tn_context_open(&opening, &context, NULL));
	for (uint32_t kind = 0;; kind++) {
		int is_there = 0;
		options.kind = kind;
		tn_metric *metric = tn_metric_create(context, &options);
		for (size_t i = 0; i < N_ROWS; i++)
			is_there |= rows[i].options.kind == kind && !rows[i].is_custom;
		assert_int_equal(is_there, metric != NULL);
		if (!metric)
			break;
		tn_metric_destroy(metric);
	}
	tn_error_clear(context);
	tn_context_close(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_have_the_metrics_of_one_process),
		cmocka_unit_test(every_kind_is_in_the_table),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
