/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The trainer on several ranks: the same losses, values and decisions as on one, and the same end
 * on all of them.
 */
#include "distributed/training.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tenon/tenon.h>

#include "check.h"
#include "program/hash.h"

enum { MOST_RANKS = 4, MOST_STEPS = 64, MOST_EPOCHS = 8, N_METRICS = 2 };

struct training {
	const char *network; /* of the gallery, or "small", "dropout" or "norms" */
	tn_dtype dtype;
	uint32_t batch_size;
	uint64_t n_epochs, max_steps, accumulate, patience; /* 0: no limit, no accumulation */
	double clip_norm, min_delta;
	int has_scaler;
	int has_weights;          /* of the loss, which also ignores a label */
	uint32_t is_synchronised; /* batch norms */
	uint32_t is_sharded;      /* the optimizer's state */
	const char *folder;       /* of checkpoints; NULL: none */
	uint64_t checkpoint_steps;
	int stop_rank;      /* whose on_step stops the run ... */
	uint64_t stop_step; /* ... at this step; 0: none does */
	int bad_rank;       /* whose samples are NaN ... */
	uint64_t bad_epoch; /* ... in this epoch, from 1; 0: none */
	uint64_t kill_step; /* rank 1 is killed after this step; 0: it is not */
	const char *lost;   /* a folder that rank 0 removes when it has been opened */
};

struct outcome {
	tn_status status;
	char text[512];
	uint64_t n_unsaved, n_steps, steps, epochs, n_history, hash[2], resumed;
	double losses[MOST_STEPS];
	struct {
		double loss[2], metrics[2][N_METRICS], lr;
		uint64_t samples[2];
	} history[MOST_EPOCHS];
	double test_loss;
	uint64_t test_samples, counts[100];
};

/* What the callbacks of a rank need. */
struct run {
	const struct training *t;
	const struct ranked *ranked;
	struct outcome *outcome;
};

static int note_step(void *user, const struct tn_trainer_step *step)
{
	const struct run *run = user;
	struct outcome *outcome = run->outcome;
	need(step->step <= MOST_STEPS);
	outcome->losses[step->step - 1] = step->loss;
	outcome->n_steps = step->step;
	if (step->step == run->t->kill_step && run->ranked->rank == 1)
		(void)raise(SIGKILL);
	return step->step == run->t->stop_step && run->ranked->rank == (uint32_t)run->t->stop_rank;
}

static void note_resumed(void *user, uint64_t epochs, uint64_t steps)
{
	const struct run *run = user;
	(void)epochs;
	run->outcome->resumed = steps;
}

static void note_unsaved(void *user, const struct tn_error_info *error)
{
	const struct run *run = user;
	need(error->status == TN_IO);
	run->outcome->n_unsaved++;
}

static tn_status spoil(void *user, struct tn_sample *sample, struct tn_error_info *error)
{
	const struct run *run = user;
	(void)error;
	if (run->ranked->rank == (uint32_t)run->t->bad_rank &&
	    sample->epoch + 1 == run->t->bad_epoch)
		*(float *)sample->data[0] = NAN;
	return TN_OK;
}

/* ---- The parts -------------------------------------------------------------------------------*/

/* Convolutions with batch norms, one of them before an activation, and one of vectors. */
static tn_module *make_norms(const struct run *run, const struct tn_model_shape *shape)
{
	tn_context *context = run->ranked->context;
	tn_module *net = tn_module_sequential(context);
	const int64_t n = 4 * (shape->height - 2) * (shape->width - 2);
	tn_module *const layers[] = {
		tn_module_conv2d(context, shape->channels, 4, 3, 3, NULL),
		tn_module_batch_norm2d(context, 4, NULL),
		tn_module_relu(context),
		tn_module_flatten(context),
		tn_module_linear(context, n, 16, NULL),
		tn_module_batch_norm1d(context, 16, NULL),
		tn_module_tanh(context),
		tn_module_linear(context, 16, shape->n_classes, NULL),
	};
	for (size_t i = 0; i < sizeof(layers) / sizeof(layers[0]); i++) {
		char name[8];
		(void)snprintf(name, sizeof(name), "l%zu", i);
		need_ok(context, tn_module_sequential_add(net, name, layers[i]));
	}
	return net;
}

static tn_module *make_layers(const struct run *run, const tn_dataset *digits)
{
	const struct tn_input_format *format = tn_dataset_format(digits);
	const struct tn_model_shape shape = {format->channels, format->height, format->width,
					     format->n_classes};
	tn_context *context = run->ranked->context;
	tn_module *net = NULL;
	if (!strcmp(run->t->network, "norms"))
		return make_norms(run, &shape);
	const int has_dropout = !strcmp(run->t->network, "dropout");
	if (!has_dropout && strcmp(run->t->network, "small") != 0) {
		net = tn_model_create(context, run->t->network, &shape);
	} else {
		net = tn_module_sequential(context);
		const int64_t n = shape.channels * shape.height * shape.width;
		need_ok(context, tn_module_sequential_add(net, "flat", tn_module_flatten(context)));
		need_ok(context, tn_module_sequential_add(net, "in",
							  tn_module_linear(context, n, 32, NULL)));
		need_ok(context, tn_module_sequential_add(net, "act", tn_module_relu(context)));
		need_ok(context,
			tn_module_sequential_add(
				net, "drop", tn_module_dropout(context, has_dropout ? 0.5 : 0)));
		need_ok(context, tn_module_sequential_add(net, "out",
							  tn_module_linear(context, 32, 10, NULL)));
	}
	return net;
}

static tn_module *make_network(const struct run *run, const tn_dataset *digits)
{
	tn_context *context = run->ranked->context;
	tn_random_set_state(context, (struct tn_random_state){3, 1});
	tn_module *net = make_layers(run, digits);
	need_ok(context, TN_OK);
	need_ok(context, tn_module_set_dtype(net, run->t->dtype));
	need_ok(context, tn_module_build(net));
	return net;
}

static tn_data_loader *make_loader(const struct run *run, const tn_dataset *digits, int part)
{
	const struct ranked *ranked = run->ranked;
	struct tn_data_loader_options options = tn_data_loader_defaults();
	options.batch_size = part == TN_PART_TRAIN ? run->t->batch_size : 50;
	options.seed = 5;
	options.shuffle = part == TN_PART_TRAIN;
	options.rank = ranked->rank;
	options.n_ranks = ranked->communicator ? ranked->size : 1;
	options.uneven = part != TN_PART_TRAIN;
	options.transform = run->t->bad_epoch && part == TN_PART_TRAIN ? spoil : NULL;
	options.user = (void *)(uintptr_t)run;
	tn_data_loader *loader = NULL;
	struct tn_error_info error;
	need(!tn_data_loader_create(digits, part, &options, &loader, &error));
	return loader;
}

static tn_dataset *open_digits(void)
{
	tn_dataset *digits = NULL;
	struct tn_error_info error;
	struct tn_dataset_options options = tn_dataset_defaults();
	options.validation_fraction = 0.1;
	need(!tn_dataset_open("digits", &options, &digits, &error));
	return digits;
}

static tn_checkpoint_folder *open_folder(const struct run *run)
{
	const struct ranked *ranked = run->ranked;
	tn_checkpoint_folder *folder = NULL;
	if (!run->t->folder)
		return NULL;
	for (uint32_t reader = 0; reader < 2; reader++) {
		if ((ranked->rank > 0) == (reader != 0)) {
			struct tn_checkpoint_folder_options options =
				tn_checkpoint_folder_defaults();
			options.is_read_only = (int)reader;
			folder = tn_checkpoint_folder_open(ranked->context, run->t->folder,
							   &options);
		}
		need_ok(ranked->context, TN_OK);
		if (ranked->communicator)
			need_ok(ranked->context, tn_barrier(ranked->communicator));
	}
	return folder;
}

/* From now on nothing can be written there. */
static void lose_folder(const char *path)
{
	char lock[4096];
	(void)snprintf(lock, sizeof(lock), "%s/tenon.lock", path);
	need(!unlink(lock));
	need(!rmdir(path));
}

/* ---- One run ---------------------------------------------------------------------------------*/

static void note_history(const tn_trainer *trainer, struct outcome *outcome)
{
	outcome->steps = tn_trainer_steps(trainer);
	outcome->epochs = tn_trainer_epochs(trainer);
	outcome->n_history = tn_trainer_history_count(trainer);
	need(outcome->n_history <= MOST_EPOCHS);
	for (size_t i = 0; i < outcome->n_history; i++) {
		const struct tn_trainer_epoch *epoch = tn_trainer_history_at(trainer, i);
		const struct tn_trainer_values *values[] = {epoch->train, epoch->validation};
		outcome->history[i].lr = epoch->lr;
		for (int k = 0; k < 2; k++) {
			outcome->history[i].loss[k] = values[k]->loss;
			outcome->history[i].samples[k] = values[k]->samples;
			for (int m = 0; m < N_METRICS; m++)
				outcome->history[i].metrics[k][m] = values[k]->metrics[m];
		}
	}
}

static void note_weights(tn_module *net, struct outcome *outcome)
{
	enum { MOST = 1 << 20 };
	static double values[MOST];
	const size_t n = read_parameters(net, values, MOST);
	tn_hash_bytes(values, n * sizeof(*values), outcome->hash);
}

static void test_network(tn_trainer *trainer, const struct run *run, const tn_dataset *digits,
			 tn_metric *confusion)
{
	struct tn_trainer_values values = {.struct_size = sizeof(values)};
	tn_data_loader *loader = make_loader(run, digits, TN_PART_TEST);
	need_ok(run->ranked->context, tn_trainer_evaluate(trainer, loader, &values));
	run->outcome->test_loss = values.loss;
	run->outcome->test_samples = values.samples;
	need_ok(run->ranked->context, tn_metric_counts(confusion, run->outcome->counts, 100));
	tn_data_loader_destroy(loader);
}

/* Members of 0 leave the defaults; steps alone are the length of a training. */
static struct tn_trainer_options options_of(const struct training *t)
{
	struct tn_trainer_options options = tn_trainer_defaults();
	if (t->n_epochs || t->max_steps)
		options.n_epochs = t->n_epochs ? t->n_epochs : TN_NO_LIMIT;
	if (t->max_steps)
		options.max_steps = t->max_steps;
	if (t->accumulate)
		options.accumulate = t->accumulate;
	if (t->patience)
		options.patience = t->patience;
	if (t->clip_norm > 0)
		options.clip_norm = t->clip_norm;
	options.min_delta = t->min_delta;
	options.checkpoint_steps = t->checkpoint_steps;
	return options;
}

/* Cross-entropy; with weights, digit k weighs 1 + k, and the zeros are ignored. */
static tn_loss *make_loss(tn_context *context, const struct training *t)
{
	struct tn_loss_options options = tn_loss_defaults();
	if (t->has_weights) {
		options.weight = tn_arange(context, TN_F32, 1, 11, 1);
		options.has_ignore_label = 1;
		options.ignore_label = 0;
	}
	return tn_loss_create(context, &options);
}

static void train(const struct ranked *ranked, const void *argument, void *out)
{
	const struct training *t = argument;
	struct outcome *outcome = out;
	struct run run = {t, ranked, outcome};
	tn_context *context = ranked->context;
	tn_dataset *digits = open_digits();
	tn_module *net = make_network(&run, digits);
	struct tn_data_parallel_options data_parallel = tn_data_parallel_defaults();
	data_parallel.sync_batch_norm = t->is_synchronised;
	data_parallel.sharded = t->is_sharded;
	tn_data_parallel *parallel =
		ranked->communicator
			? tn_data_parallel_create(net, ranked->communicator, &data_parallel)
			: NULL;
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 0.05;
	sgd.momentum = 0.9;
	tn_optimizer *optimizer = tn_sgd(net, &sgd);
	tn_data_loader *train_loader = make_loader(&run, digits, TN_PART_TRAIN);
	tn_data_loader *validation = make_loader(&run, digits, TN_PART_VALIDATION);
	tn_checkpoint_folder *folder = open_folder(&run);
	struct tn_schedule_options scheduling = tn_schedule_defaults();
	scheduling.kind = TN_SCHEDULE_PLATEAU;
	scheduling.factor = 0.5;
	scheduling.patience = 1;
	if (t->min_delta > 0)
		scheduling.threshold = t->min_delta;
	tn_schedule *plateau = tn_schedule_create(optimizer, &scheduling);
	struct tn_metric_options confusion = tn_metric_defaults();
	confusion.kind = TN_METRIC_CONFUSION;
	tn_metric *metrics[N_METRICS] = {
		tn_metric_create(context, NULL),
		tn_metric_create(context, &confusion),
	};
	need_ok(context, TN_OK);
	tn_loss *loss = make_loss(context, t);
	struct tn_trainer_options options = options_of(t);
	options.train = train_loader;
	options.validation = validation;
	options.loss = loss;
	options.n_metrics = N_METRICS;
	options.metrics = metrics;
	options.schedule = plateau;
	options.schedule_epochs = 1;
	options.on_step = note_step;
	options.on_unsaved = note_unsaved;
	options.user = &run;
	options.checkpoints = folder;
	options.resume = 1;
	options.resumed = note_resumed;
	options.parallel = parallel;
	tn_trainer *trainer = tn_trainer_create(net, optimizer, &options);
	need_ok(context, TN_OK);
	if (t->lost && !ranked->rank)
		lose_folder(t->lost);
	outcome->status = tn_trainer_run(trainer);
	const struct tn_error_info *error = tn_error(context);
	if (error)
		memcpy(outcome->text, error->text, sizeof(outcome->text));
	tn_error_clear(context);
	note_history(trainer, outcome);
	note_weights(net, outcome);
	if (!outcome->status)
		test_network(trainer, &run, digits, metrics[1]);
	tn_trainer_destroy(trainer);
	tn_loss_destroy(loss);
	tn_data_parallel_destroy(parallel);
	tn_schedule_destroy(plateau);
	for (int i = 0; i < N_METRICS; i++)
		tn_metric_destroy(metrics[i]);
	tn_checkpoint_folder_close(folder);
	tn_data_loader_destroy(train_loader);
	tn_data_loader_destroy(validation);
	tn_optimizer_destroy(optimizer);
	tn_module_destroy(net);
	tn_dataset_destroy(digits);
}

/* ---- Comparing -------------------------------------------------------------------------------*/

static void run_alone(const struct training *t, struct outcome *outcome)
{
	run_ranked(0, "auto", train, t, outcome, sizeof(*outcome));
}

/* All ranks end alike, but for what they say. */
static void run_ranks(uint32_t size, const struct training *t, struct outcome *outcome)
{
	static struct outcome ranks[MOST_RANKS];
	run_ranked(size, "auto", train, t, ranks, sizeof(*ranks));
	*outcome = ranks[0];
	for (uint32_t rank = 1; rank < size; rank++) {
		assert_int_equal(ranks[rank].status, ranks[0].status);
		memcpy(ranks[rank].text, ranks[0].text, sizeof(ranks[0].text));
		assert_memory_equal(&ranks[rank], &ranks[0], sizeof(*ranks));
	}
}

static void compare(const struct outcome *found, const struct outcome *expected, double tolerance)
{
	assert_int_equal(found->status, expected->status);
	assert_int_equal(found->n_steps, expected->n_steps);
	assert_int_equal(found->steps, expected->steps);
	assert_int_equal(found->epochs, expected->epochs);
	assert_int_equal(found->n_history, expected->n_history);
	for (uint64_t i = 0; i < found->n_steps; i++)
		assert_close(found->losses[i], expected->losses[i], tolerance);
	for (uint64_t i = 0; i < found->n_history; i++) {
		assert_close(found->history[i].lr, expected->history[i].lr, 0);
		for (int k = 0; k < 2; k++) {
			assert_close(found->history[i].loss[k], expected->history[i].loss[k],
				     tolerance);
			assert_int_equal(found->history[i].samples[k],
					 expected->history[i].samples[k]);
			for (int m = 0; m < N_METRICS; m++)
				assert_close(found->history[i].metrics[k][m],
					     expected->history[i].metrics[k][m], 1e-12);
		}
	}
	assert_int_equal(found->test_samples, expected->test_samples);
	assert_close(found->test_loss, expected->test_loss, tolerance);
	assert_memory_equal(found->counts, expected->counts, sizeof(found->counts));
}

static void check(const struct training *t, double tolerance)
{
	struct outcome alone, found;
	run_alone(t, &alone);
	assert_int_equal(alone.status, TN_OK);
	for (uint32_t size = 2; size <= MOST_RANKS; size *= 2) {
		run_ranks(size, t, &found);
		compare(&found, &alone, tolerance);
	}
}

/* ---- The same numbers ------------------------------------------------------------------------*/

/* Ranks round sums otherwise; where two pixels of a pool are nearly equal, the other one may then
 * be the maximum, and in f32 losses move by 1e-4 to 1e-3. */
static void lenet_in_f64_over_20_steps(void **state)
{
	(void)state;
	check(
		&(struct training){
			.network = "lenet", .dtype = TN_F64, .batch_size = 32, .max_steps = 20},
		1e-9);
}

static void mlp_in_f64_over_50_steps(void **state)
{
	(void)state;
	check(
		&(struct training){
			.network = "small", .dtype = TN_F64, .batch_size = 31, .max_steps = 50},
		1e-9);
}

/* Each rank's labels have another sum of weights. */
static void labels_with_weights(void **state)
{
	(void)state;
	check(&(struct training){.network = "small",
				 .dtype = TN_F64,
				 .batch_size = 31,
				 .accumulate = 2,
				 .clip_norm = 0.5,
				 .has_weights = 1,
				 .max_steps = 30},
	      1e-9);
}

/* The losses of validation are those of the running statistics. */
static void synchronised_batch_norms(void **state)
{
	struct training t = {.network = "norms",
			     .dtype = TN_F32,
			     .batch_size = 31,
			     .max_steps = 20,
			     .is_synchronised = 1};
	(void)state;
	check(&t, 1e-4);
	t.dtype = TN_F64;
	t.max_steps = 50;
	check(&t, 1e-9);
}

/* Each rank's own statistics give other losses, which all ranks agree on: evaluation is with those
 * of rank 0. */
static void batch_norms_of_each_rank(void **state)
{
	const struct training t = {
		.network = "norms", .dtype = TN_F64, .batch_size = 31, .max_steps = 10};
	struct outcome alone, found;
	(void)state;
	run_alone(&t, &alone);
	run_ranks(2, &t, &found);
	assert_int_equal(found.status, TN_OK);
	assert_true(fabs(found.losses[9] - alone.losses[9]) > 1e-6);
	assert_int_equal(found.test_samples, alone.test_samples);
}

/* Steps of three batches, of which the epoch's last has fewer, and the last batch is smaller. */
static void with_accumulation_and_clipping(void **state)
{
	(void)state;
	check(&(struct training){.network = "small",
				 .dtype = TN_F64,
				 .batch_size = 119,
				 .accumulate = 3,
				 .clip_norm = 0.5,
				 .n_epochs = 2},
	      1e-9);
}

/* No epoch is better by that much, so that patience ends the run, and the rate falls. */
static void decisions_are_those_of_one_rank(void **state)
{
	const struct training t = {.network = "small",
				   .dtype = TN_F64,
				   .batch_size = 400,
				   .n_epochs = MOST_EPOCHS,
				   .patience = 3,
				   .min_delta = 10};
	struct outcome found;
	(void)state;
	check(&t, 1e-6);
	run_ranks(2, &t, &found);
	assert_int_equal(found.epochs, 4);
	assert_true(found.history[found.n_history - 1].lr < 0.05);
}

/* The last batch, of 3 samples, is left out on 4 ranks, and is a step on one. */
static void a_last_batch_with_fewer_samples_than_ranks_is_left_out(void **state)
{
	struct training t = {.network = "small", .dtype = TN_F32, .batch_size = 1, .n_epochs = 1};
	struct outcome alone, found;
	tn_dataset *digits = open_digits();
	const uint64_t n = tn_dataset_count(digits, TN_PART_TRAIN);
	(void)state;
	tn_dataset_destroy(digits);
	t.batch_size = 100;
	while (n % t.batch_size != 3)
		t.batch_size++;
	run_alone(&t, &alone);
	run_ranks(4, &t, &found);
	assert_int_equal(alone.steps, n / t.batch_size + 1);
	assert_int_equal(found.steps, n / t.batch_size);
	assert_int_equal(found.history[0].samples[0], n - 3);
	assert_int_equal(found.history[0].samples[1], alone.history[0].samples[1]);
}

/* ---- Reproducible ----------------------------------------------------------------------------*/

/* Each rank drops its own elements, the same in every run. */
static void runs_have_the_same_bits(void **state)
{
	const struct training t = {
		.network = "dropout", .dtype = TN_F32, .batch_size = 64, .max_steps = 12};
	struct outcome first, second, alone;
	(void)state;
	run_ranks(4, &t, &first);
	run_ranks(4, &t, &second);
	assert_memory_equal(&first, &second, sizeof(first));
	run_alone(&t, &alone);
	assert_memory_not_equal(first.hash, alone.hash, sizeof(first.hash));
}

enum { MASKED_STEPS = 3 };

struct masks {
	uint64_t hash[MASKED_STEPS][2];
	int n_steps;
};

/* Notes what each kind of dropout leaves of ones. */
static tn_array *note_masks(void *user, tn_module *net, uint32_t n_fields, tn_array *const *fields,
			    tn_array **output, tn_array **weight)
{
	enum { N = 4, C = 8, SIZE = N * C * 2 };
	struct masks *masks = user;
	tn_context *context = tn_array_context(fields[0]);
	float values[3][SIZE];
	const tn_array *ones = tn_ones(context, TN_F32, 3, (int64_t[]){N, C, 2});
	const tn_array *const left[] = {tn_dropout(ones, 0.5), tn_dropout2d(ones, 0.5),
					tn_stochastic_depth(ones, 0.5)};
	(void)n_fields, (void)weight;
	for (int i = 0; i < 3; i++)
		need_ok(context, tn_to_host(left[i], values[i], sizeof(values[i])));
	need(masks->n_steps < MASKED_STEPS);
	tn_hash_bytes(values, sizeof(values), masks->hash[masks->n_steps++]);
	*output = tn_module_forward(net, fields[0]);
	return tn_cross_entropy(*output, fields[1], NULL);
}

/* The argument is the rank whose numbers a process alone draws. */
static void draw_masks(const struct ranked *ranked, const void *argument, void *out)
{
	const struct training t = {.network = "small", .dtype = TN_F32, .batch_size = 60};
	const struct run run = {&t, ranked, NULL};
	const uint64_t rank = *(const uint32_t *)argument;
	tn_context *context = ranked->context;
	tn_dataset *digits = open_digits();
	tn_module *net = make_network(&run, digits);
	tn_data_parallel *parallel =
		ranked->communicator ? tn_data_parallel_create(net, ranked->communicator, NULL)
				     : NULL;
	struct tn_sgd_options sgd = tn_sgd_defaults();
	sgd.lr = 0.1;
	tn_optimizer *optimizer = tn_sgd(net, &sgd);
	struct tn_trainer_options options = tn_trainer_defaults();
	options.train = make_loader(&run, digits, TN_PART_TRAIN);
	options.step_function = note_masks;
	options.user = out;
	options.max_steps = MASKED_STEPS;
	options.parallel = parallel;
	tn_random_set_state(context,
			    (struct tn_random_state){9 + rank * UINT64_C(0x9e3779b97f4a7c15), 4});
	tn_trainer *trainer = tn_trainer_create(net, optimizer, &options);
	need_ok(context, TN_OK);
	need_ok(context, tn_trainer_run(trainer));
	tn_trainer_destroy(trainer);
	tn_data_loader_destroy(options.train);
	tn_optimizer_destroy(optimizer);
	tn_data_parallel_destroy(parallel);
	tn_module_destroy(net);
	tn_dataset_destroy(digits);
}

/* Those of a process alone with the rank's seed; each step has others. */
static void each_rank_drops_elements_of_its_own(void **state)
{
	static struct masks alone[3], ranks[3];
	(void)state;
	for (uint32_t rank = 0; rank < 3; rank++) {
		run_ranked(0, "auto", draw_masks, &rank, &alone[rank], sizeof(*alone));
		assert_int_equal(alone[rank].n_steps, MASKED_STEPS);
	}
	for (int a = 0; a < 3 * MASKED_STEPS; a++) {
		for (int b = 0; b < a; b++)
			assert_memory_not_equal(alone[a / MASKED_STEPS].hash[a % MASKED_STEPS],
						alone[b / MASKED_STEPS].hash[b % MASKED_STEPS],
						sizeof(alone->hash[0]));
	}
	for (uint32_t size = 1; size <= 3; size++) {
		run_ranked(size, "auto", draw_masks, &(uint32_t){0}, ranks, sizeof(*ranks));
		assert_memory_equal(ranks, alone, size * sizeof(*ranks));
	}
}

/* ---- Checkpoints -----------------------------------------------------------------------------*/

static const char *make_folder(char *path, size_t size)
{
	const char *build = getenv("TENON_BUILD");
	(void)snprintf(path, size, "%s/trainer-XXXXXX", build ? build : ".");
	assert_non_null(mkdtemp(path));
	return path;
}

static void remove_folder(const char *path)
{
	char command[4200];
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", path);
	assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c) */
}

/* A run on `first` ranks that a callback of its last rank stops in the middle of an epoch, and goes
 * on on `second`. */
static void stop_and_resume(uint32_t first, uint32_t second, uint32_t is_sharded,
			    const struct outcome *whole)
{
	char path[4096];
	struct training t = {.network = "dropout",
			     .dtype = TN_F64,
			     .batch_size = 200,
			     .n_epochs = 3,
			     .has_weights = 1,
			     .checkpoint_steps = 2};
	struct outcome found;
	t.folder = make_folder(path, sizeof(path));
	t.is_sharded = is_sharded;
	t.stop_step = 9;
	t.stop_rank = (int)first - 1;
	run_ranks(first, &t, &found);
	assert_int_equal(found.status, TN_CANCELLED);
	assert_contains(found.text, "stopped by the step callback");
	/* The ranks agree on it in the step after. */
	assert_int_equal(found.steps, 10);
	t.stop_step = 0;
	run_ranks(second, &t, &found);
	assert_int_equal(found.status, TN_OK);
	assert_int_equal(found.resumed, 10);
	assert_int_equal(found.steps, whole->steps);
	assert_int_equal(found.n_history, whole->n_history);
	for (uint64_t i = 0; i < found.n_history; i++)
		assert_int_equal(found.history[i].samples[0], whole->history[i].samples[0]);
	if (first == second) {
		assert_memory_equal(found.hash, whole->hash, sizeof(found.hash));
		for (uint64_t i = 0; i < found.n_history; i++)
			assert_close(found.history[i].loss[0], whole->history[i].loss[0], 1e-12);
		assert_memory_equal(found.counts, whole->counts, sizeof(found.counts));
	}
	remove_folder(path);
}

static void a_run_goes_on_with_any_number_of_ranks(void **state)
{
	const struct training t = {.network = "dropout",
				   .dtype = TN_F64,
				   .batch_size = 200,
				   .n_epochs = 3,
				   .has_weights = 1};
	struct outcome whole;
	(void)state;
	run_ranks(2, &t, &whole);
	assert_int_equal(whole.status, TN_OK);
	stop_and_resume(2, 2, 0, &whole);
	stop_and_resume(2, 4, 0, &whole);
	stop_and_resume(4, 1, 0, &whole);
}

/* The optimizer's state is gathered to be saved, and parted again. */
static void with_a_share_of_the_optimizers_state(void **state)
{
	const struct training t = {.network = "dropout",
				   .dtype = TN_F64,
				   .batch_size = 200,
				   .n_epochs = 3,
				   .has_weights = 1};
	struct outcome whole;
	(void)state;
	run_ranks(2, &t, &whole);
	stop_and_resume(2, 2, 1, &whole);
	stop_and_resume(2, 3, 1, &whole);
}

/* ---- Failures --------------------------------------------------------------------------------*/

/* What all ranks have learned before that is in a checkpoint. */
static void a_loss_that_is_not_finite_ends_all_ranks(void **state)
{
	static struct outcome ranks[MOST_RANKS];
	char path[4096], file[4200];
	struct training t = {.network = "small",
			     .dtype = TN_F32,
			     .batch_size = 300,
			     .n_epochs = 4,
			     .bad_rank = 1,
			     .bad_epoch = 2,
			     .checkpoint_steps = 100};
	(void)state;
	t.folder = make_folder(path, sizeof(path));
	run_ranked(2, "auto", train, &t, ranks, sizeof(*ranks));
	for (int rank = 0; rank < 2; rank++) {
		assert_int_equal(ranks[rank].status, TN_NOT_FINITE);
		assert_int_equal(ranks[rank].epochs, 1);
		assert_contains(ranks[rank].text, "epoch 2, ");
		assert_contains(ranks[rank].text, "expected a finite loss");
	}
	assert_contains(ranks[0].text, "no operation of a second run of this rank");
	assert_contains(ranks[1].text, "field 0 of the batch");
	(void)snprintf(file, sizeof(file), "%s/step-%012d.safetensors", path, (int)ranks[0].steps);
	assert_int_equal(access(file, R_OK), 0);
	remove_folder(path);
}

/* It is tried again at the end of each epoch. */
static void a_checkpoint_that_cannot_be_written_is_told_to_all_ranks(void **state)
{
	static struct outcome ranks[MOST_RANKS];
	char path[4096];
	struct training t = {.network = "small", .dtype = TN_F32, .batch_size = 300, .n_epochs = 2};
	(void)state;
	t.folder = t.lost = make_folder(path, sizeof(path));
	run_ranked(3, "auto", train, &t, ranks, sizeof(*ranks));
	for (int rank = 0; rank < 3; rank++) {
		assert_int_equal(ranks[rank].status, TN_IO);
		assert_int_equal(ranks[rank].epochs, 2);
		assert_int_equal(ranks[rank].n_unsaved, 2);
		assert_contains(ranks[rank].text, path);
		assert_int_equal(!strncmp(ranks[rank].text, "rank 0: ", 8), rank > 0);
	}
}

/* The others end with that, and the last checkpoint is whole: the run goes on from it. */
static void a_rank_that_is_killed_ends_all_ranks(void **state)
{
	static struct outcome ranks[MOST_RANKS], found;
	char path[4096];
	int statuses[MOST_RANKS];
	struct training t = {.network = "small",
			     .dtype = TN_F32,
			     .batch_size = 300,
			     .n_epochs = 3,
			     .checkpoint_steps = 2,
			     .kill_step = 7};
	(void)state;
	t.folder = make_folder(path, sizeof(path));
	run_ranked_to_end(3, "auto", train, &t, ranks, sizeof(*ranks), statuses);
	assert_true(WIFSIGNALED(statuses[1]) && WTERMSIG(statuses[1]) == SIGKILL);
	for (int rank = 0; rank < 3; rank += 2) {
		assert_int_equal(statuses[rank], 0);
		assert_int_equal(ranks[rank].status, TN_PEER_LOST);
		assert_contains(ranks[rank].text, "rank 1");
		assert_int_equal(ranks[rank].steps, 7);
	}
	t.kill_step = 0;
	run_ranks(2, &t, &found);
	assert_int_equal(found.status, TN_OK);
	assert_int_equal(found.resumed, 6);
	assert_int_equal(found.epochs, 3);
	remove_folder(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lenet_in_f64_over_20_steps),
		cmocka_unit_test(mlp_in_f64_over_50_steps),
		cmocka_unit_test(labels_with_weights),
		cmocka_unit_test(synchronised_batch_norms),
		cmocka_unit_test(batch_norms_of_each_rank),
		cmocka_unit_test(with_accumulation_and_clipping),
		cmocka_unit_test(decisions_are_those_of_one_rank),
		cmocka_unit_test(a_last_batch_with_fewer_samples_than_ranks_is_left_out),
		cmocka_unit_test(runs_have_the_same_bits),
		cmocka_unit_test(each_rank_drops_elements_of_its_own),
		cmocka_unit_test(a_run_goes_on_with_any_number_of_ranks),
		cmocka_unit_test(with_a_share_of_the_optimizers_state),
		cmocka_unit_test(a_loss_that_is_not_finite_ends_all_ranks),
		cmocka_unit_test(a_rank_that_is_killed_ends_all_ranks),
		cmocka_unit_test(a_checkpoint_that_cannot_be_written_is_told_to_all_ranks),
	};
	struct tn_error_info error;
	tn_dataset *digits = NULL;
	/* The digits are gzipped, and a build may be without zlib. */
	if (tn_dataset_open("digits", NULL, &digits, &error) == TN_UNSUPPORTED)
		return 77;
	tn_dataset_destroy(digits);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
