/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Trainers in processes of their own, which are killed at any moment and continue from their
 * newest checkpoint, for tests on several backends.  The test program is both: with arguments it
 * is the process that trains.
 */
#ifndef TN_TESTS_KILLED_RUN_H
#define TN_TESTS_KILLED_RUN_H

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "checkpoint_run.h"

/* What is trained, and how; together these have everything that a checkpoint keeps. */
enum { KILLED_ADAMW, KILLED_PLATEAU, KILLED_HALF, KILLED_RECIPES };
enum { KILLED_EPOCHS = 6, KILLED_METRICS = 2, KILLED_VALUES = 5 + KILLED_METRICS };

struct killed_run {
	tn_context *context;
	tn_dataset *dataset;
	tn_data_loader *train, *validation;
	tn_module *net;
	tn_optimizer *optimizer;
	tn_schedule *schedule;
	tn_weight_average *average;
	tn_grad_scaler *scaler;
	tn_metric *metrics[KILLED_METRICS];
	struct tn_trainer_options options;
	int steps; /* a byte is written there after each */
	uint64_t resumed;
	double history[KILLED_EPOCHS][KILLED_VALUES];
};

/* ---- The process that trains -----------------------------------------------------------------*/

static inline int killed_on_step(void *user, const struct tn_trainer_step *step)
{
	const struct killed_run *run = user;
	(void)step;
	return write(run->steps, "", 1) != 1;
}

static inline void killed_on_resumed(void *user, uint64_t epochs, uint64_t steps)
{
	struct killed_run *run = user;
	(void)epochs;
	run->resumed = steps;
}

/* A metric that a program defines: the mean of the outputs' squares.  Its sum is on the device. */
struct killed_metric {
	tn_context *context;
	tn_array *sum;
};

static inline void *killed_metric_begin(void *user, tn_context *context)
{
	struct killed_metric *state = calloc(1, sizeof(*state));
	(void)user;
	assert_non_null(state);
	state->context = context;
	state->sum = tn_keep(tn_zeros(context, TN_F32, 0, NULL));
	return state;
}

static inline tn_status killed_metric_add(void *state, const tn_array *output,
					  const tn_array *target)
{
	struct killed_metric *m = state;
	tn_array *y = tn_astype(output, TN_F32);
	(void)target;
	tn_array *sum = tn_add(m->sum, tn_sum(tn_square(y), TN_ALL_AXES, NULL, 0));
	return sum ? tn_assign(m->sum, sum) : tn_error(m->context)->status;
}

static inline tn_status killed_metric_value(void *state, double *value)
{
	return tn_item(((struct killed_metric *)state)->sum, value);
}

static inline size_t killed_metric_arrays(void *state, tn_array **arrays, size_t room)
{
	if (room)
		arrays[0] = ((struct killed_metric *)state)->sum;
	return 1;
}

static inline void killed_metric_end(void *state)
{
	tn_array_destroy(((struct killed_metric *)state)->sum);
	free(state);
}

/* Forward and loss in a function of the program: of a network of f16, in f32. */
static inline tn_array *killed_step(void *user, tn_module *module, uint32_t n_fields,
				    tn_array *const *fields, tn_array **output, tn_array **weight)
{
	struct tn_cross_entropy_options sum = tn_cross_entropy_defaults();
	(void)user, (void)n_fields, (void)weight; /* the number of samples */
	sum.reduction = TN_REDUCTION_SUM;
	*output = tn_astype(tn_module_forward(module, tn_astype(fields[0], TN_F16)), TN_F32);
	return tn_cross_entropy(*output, fields[1], &sum);
}

static inline tn_data_loader *killed_loader(struct killed_run *run, int recipe, int is_training)
{
	double weights[RUN_IMAGES];
	tn_data_loader *loader = NULL;
	struct tn_augmentation shifts = tn_augmentation_defaults();
	shifts.max_shift = 2;
	shifts.hflip_prob = 0.5;
	struct tn_data_loader_options o = tn_data_loader_defaults();
	o.batch_size = is_training ? RUN_BATCH : 16;
	for (int i = 0; i < RUN_IMAGES; i++)
		weights[i] = 1 + i % 4;
	if (recipe != KILLED_PLATEAU)
		o.context = run->context;
	if (recipe == KILLED_HALF)
		o.prefetch = 3;
	if (is_training) {
		o.seed = 5;
		o.shuffle = 1;
		o.weights = recipe == KILLED_HALF ? weights : NULL;
		o.augmentation = &shifts;
		shifts.noise_std = recipe == KILLED_ADAMW ? 0.05 : 0;
		shifts.mixup_prob = recipe == KILLED_PLATEAU ? 0.5 : 0;
	}
	assert_ok(tn_data_loader_create(run->dataset, TN_PART_TRAIN, &o, &loader, NULL));
	return loader;
}

static inline tn_module *killed_net(tn_context *context, int recipe)
{
	tn_module *net = tn_module_sequential(context);
	tn_module_sequential_add(net, "conv", tn_module_conv2d(context, 1, 2, 3, 3, NULL));
	tn_module_sequential_add(net, "bn", tn_module_batch_norm2d(context, 2, NULL));
	tn_module_sequential_add(net, "relu", tn_module_relu(context));
	tn_module_sequential_add(net, "flatten", tn_module_flatten(context));
	tn_module_sequential_add(net, "dropout", tn_module_dropout(context, 0.25));
	tn_module_sequential_add(net, "fc", tn_module_linear(context, 32, RUN_CLASSES, NULL));
	if (recipe == KILLED_HALF)
		assert_ok(tn_module_set_dtype(net, TN_F16));
	assert_ok(tn_module_build(net));
	return net;
}

/* Lookahead, groups, a cosine after a warm-up, clipping, an exponential average, the best on the
 * device; two batches a step. */
static inline void killed_adamw(struct killed_run *run)
{
	run->optimizer = run_optimizer(run->net, RUN_ADAMW);
	struct tn_schedule_options options = tn_schedule_defaults();
	options.kind = TN_SCHEDULE_COSINE;
	options.period = 20;
	options.warmup = 3;
	run->schedule = tn_schedule_create(run->optimizer, &options);
	struct tn_weight_average_options averaging = tn_weight_average_defaults();
	averaging.decay = 0.9;
	run->average = tn_weight_average_create(run->net, &averaging);
	run->options.accumulate = 2;
	run->options.clip_norm = 1;
	run->options.patience = 50;
}

/* Momentum, a plateau that reduces the rate in each epoch, the mean of all weights in evaluation,
 * the best on the host, labels mixed; three batches a step. */
static inline void killed_plateau(struct killed_run *run)
{
	run->optimizer = run_optimizer(run->net, RUN_SGD);
	struct tn_schedule_options options = tn_schedule_defaults();
	options.kind = TN_SCHEDULE_PLATEAU;
	options.patience = 0;
	options.threshold = 0.5;
	options.factor = 0.5;
	run->schedule = tn_schedule_create(run->optimizer, &options);
	run->average = tn_weight_average_create(run->net, NULL);
	run->options.evaluate_average = 1;
	run->options.schedule_epochs = 1;
	run->options.accumulate = 3;
	run->options.clip_value = 0.5;
	run->options.best = TN_BEST_ON_HOST;
}

/* Weights of f16 with masters of f32, a scale that falls and grows, noise on the gradients, one
 * cycle of the rate; it stops early. */
static inline void killed_half(struct killed_run *run)
{
	run->optimizer = run_optimizer(run->net, RUN_NADAM);
	struct tn_schedule_options options = tn_schedule_defaults();
	options.kind = TN_SCHEDULE_ONE_CYCLE;
	options.period = (uint64_t)KILLED_EPOCHS * 6;
	run->schedule = tn_schedule_create(run->optimizer, &options);
	struct tn_grad_scaler_options scaling = tn_grad_scaler_defaults();
	scaling.init_scale = 0x1p30;
	scaling.growth_interval = 3;
	run->scaler = tn_grad_scaler_create(run->net, &scaling);
	run->options.step_function = killed_step;
	run->options.is_repeatable = 1;
	run->options.patience = 3;
	run->options.min_delta = 100;
}

static inline void killed_begin(struct killed_run *run, tn_context *context, int recipe,
				uint32_t capture, tn_checkpoint_folder *folder)
{
	static const struct tn_metric_class mean_square = {.struct_size = sizeof(mean_square),
							   .name = "own squares",
							   .is_repeatable = 1,
							   .begin = killed_metric_begin,
							   .add = killed_metric_add,
							   .value = killed_metric_value,
							   .arrays = killed_metric_arrays,
							   .end = killed_metric_end};
	run->context = context;
	tn_random_set_state(context, (struct tn_random_state){3, 0});
	run->dataset = run_dataset("bars");
	run->train = killed_loader(run, recipe, 1);
	run->validation = killed_loader(run, recipe, 0);
	run->net = killed_net(context, recipe);
	struct tn_metric_options options = tn_metric_defaults();
	options.kind = TN_METRIC_CONFUSION;
	run->metrics[0] = tn_metric_create(context, &options);
	run->metrics[1] = tn_metric_custom(context, &mean_square);
	run->options = tn_trainer_defaults();
	run->options.train = run->train;
	run->options.validation = run->validation;
	run->options.n_metrics = KILLED_METRICS;
	run->options.metrics = run->metrics;
	run->options.n_epochs = KILLED_EPOCHS;
	run->options.capture = capture;
	run->options.on_step = killed_on_step;
	run->options.user = run;
	run->options.checkpoints = folder;
	run->options.checkpoint_steps = 1;
	run->options.checkpoint_epochs = 1;
	run->options.resume = 1;
	run->options.resumed = killed_on_resumed;
	if (recipe == KILLED_ADAMW)
		killed_adamw(run);
	else if (recipe == KILLED_PLATEAU)
		killed_plateau(run);
	else
		killed_half(run);
	run->options.schedule = run->schedule;
	run->options.average = run->average;
	run->options.scaler = run->scaler;
}

static inline void killed_end(struct killed_run *run)
{
	for (int i = 0; i < KILLED_METRICS; i++)
		tn_metric_destroy(run->metrics[i]);
	tn_grad_scaler_destroy(run->scaler);
	tn_weight_average_destroy(run->average);
	tn_schedule_destroy(run->schedule);
	tn_optimizer_destroy(run->optimizer);
	tn_module_destroy(run->net);
	tn_data_loader_destroy(run->train);
	tn_data_loader_destroy(run->validation);
	tn_dataset_destroy(run->dataset);
}

/* Everything but times, in a file that is the same if all of its tensors are. */
static inline void killed_save(struct killed_run *run, const tn_trainer *trainer, const char *path)
{
	const int64_t shape[] = {KILLED_EPOCHS, KILLED_VALUES};
	const struct tn_checkpoint_array history = {"history", TN_F64, 2, shape, run->history};
	const struct tn_checkpoint all = {.struct_size = sizeof(all),
					  .module = run->net,
					  .optimizer = run->optimizer,
					  .schedule = run->schedule,
					  .average = run->average,
					  .scaler = run->scaler,
					  .loader = run->train,
					  .n_extra = 1,
					  .extra = &history};
	for (size_t i = 0; i < tn_trainer_history_count(trainer); i++) {
		const struct tn_trainer_epoch *epoch = tn_trainer_history_at(trainer, i);
		double *row = run->history[i];
		row[0] = (double)epoch->step;
		row[1] = epoch->lr;
		row[2] = epoch->train->loss;
		row[3] = epoch->validation->loss;
		row[4] = epoch->is_best + 2 * tn_trainer_stopped_early(trainer);
		for (int k = 0; k < KILLED_METRICS; k++)
			row[5 + k] = epoch->train->metrics[k] + 3 * epoch->validation->metrics[k];
	}
	assert_ok(tn_checkpoint_save(path, &all));
}

/* Each of the folder's files can be loaded, and nothing else was left but its lock. */
static inline void killed_check_folder(tn_checkpoint_folder *folder, const char *path,
				       uint64_t least)
{
	struct tn_checkpoint_view view = {.struct_size = sizeof(view), .step = 0};
	size_t n = tn_checkpoint_folder_count(folder);
	for (size_t i = 0; i < n; i++) {
		assert_ok(tn_checkpoint_folder_at(folder, i, &view));
		assert_false(view.is_damaged);
	}
	assert_int_equal(files_count(path), n + 1);
	assert_true(view.step >= least);
}

/* killed BACKEND RECIPE CAPTURE FOLDER RESULT STEPS LEAST: trains to the end. */
static inline int killed_main(char **argv, tn_context *(*open)(const char *backend))
{
	static struct killed_run run;
	const char *path = argv[4];
	tn_context *context = open(argv[1]);
	struct tn_checkpoint_folder_options options = tn_checkpoint_folder_defaults();
	options.keep = 2;
	tn_checkpoint_folder *folder = tn_checkpoint_folder_open(context, path, &options);
	assert_non_null(folder);
	killed_check_folder(folder, path, strtoull(argv[7], NULL, 10));
	killed_begin(&run, context, atoi(argv[2]), (uint32_t)atoi(argv[3]), folder);
	run.steps = atoi(argv[6]);
	tn_trainer *trainer = tn_trainer_create(run.net, run.optimizer, &run.options);
	assert_non_null(trainer);
	if (tn_trainer_run(trainer)) {
		print_error("%s: %s\n", tn_error(context)->operation, tn_error(context)->text);
		return 1;
	}
	killed_save(&run, trainer, argv[5]);
	tn_trainer_destroy(trainer);
	killed_end(&run);
	tn_checkpoint_folder_close(folder);
	tn_context_close(context);
	return 0;
}

/* ---- The process that kills ------------------------------------------------------------------*/

struct killer {
	const char *backend;
	int recipe;
	uint32_t capture; /* TN_CAPTURE_ON or AUTO; every second process has it OFF */
	char folder[80], result[80], whole[80];
	uint32_t random;
	uint64_t steps; /* that were made, and are saved but for the last */
	int kills;
};

static inline uint32_t killer_random(struct killer *killer, uint32_t below)
{
	killer->random = killer->random * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)killer->random * below >> 32);
}

static inline void killer_text(char *text, const char *format, unsigned long long number)
{
	snprintf(text, 32, format, number);
}

/* Starts a training; returns its process.  *steps: where it writes a byte after each. */
static inline pid_t killer_start(struct killer *killer, int *steps)
{
	char recipe[32], capture[32], pipe_end[32], least[32];
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	killer_text(recipe, "%llu", (unsigned long long)killer->recipe);
	killer_text(capture, "%llu",
		    killer_random(killer, 2) ? killer->capture : (unsigned)TN_CAPTURE_OFF);
	killer_text(pipe_end, "%llu", (unsigned long long)ends[1]);
	killer_text(least, "%llu", killer->steps ? killer->steps - 1 : 0);
	setenv("TENON_THREADS", killer_random(killer, 2) ? "3" : "1", 1);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		char backend[32];
		snprintf(backend, sizeof(backend), "%s", killer->backend);
		char name[] = "killed";
		char *const argv[] = {name,           backend,  recipe, capture, killer->folder,
				      killer->result, pipe_end, least,  NULL};
		close(ends[0]);
		execv("/proc/self/exe", argv);
		_exit(99);
	}
	close(ends[1]);
	*steps = ends[0];
	return pid;
}

/* Waits for so many steps; *steps counts those that were made. */
static inline void killer_wait(int fd, uint32_t n, uint64_t *steps)
{
	char byte;
	for (uint32_t i = 0; i < n && read(fd, &byte, 1) == 1; i++)
		++*steps;
}

/* Ends as the uninterrupted training did. */
static inline void killer_compare(struct killer *killer)
{
	size_t size, expected;
	unsigned char *found = files_read(killer->result, &size);
	unsigned char *whole = files_read(killer->whole, &expected);
	assert_int_equal(size, expected);
	assert_memory_equal(found, whole, size);
	free(found);
	free(whole);
	unlink(killer->result);
	files_remove(killer->folder);
	killer->steps = 0;
}

/* One training, which is killed at a random moment of the next few steps, or ends before. */
static inline void killer_kill(struct killer *killer, uint32_t steps_ahead)
{
	int fd, status;
	uint64_t made = 0;
	uint64_t from = killer->steps ? killer->steps - 1 : 0;
	pid_t pid = killer_start(killer, &fd);
	killer_wait(fd, killer_random(killer, steps_ahead), &made);
	const struct timespec pause = {.tv_nsec = (long)killer_random(killer, 3000000)};
	nanosleep(&pause, NULL);
	kill(pid, SIGKILL);
	killer_wait(fd, UINT32_MAX, &made);
	close(fd);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status)) {
		assert_int_equal(WTERMSIG(status), SIGKILL);
		killer->steps = made ? from + made : killer->steps;
		killer->kills++;
		return;
	}
	assert_int_equal(WEXITSTATUS(status), 0);
	killer_compare(killer);
}

/* The training to its end. */
static inline void killer_finish(struct killer *killer)
{
	int fd, status;
	uint64_t made = 0;
	pid_t pid = killer_start(killer, &fd);
	killer_wait(fd, UINT32_MAX, &made);
	close(fd);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Killed so often (TENON_TEST_KILLS: another number) at random moments, it has a checkpoint that
 * can be loaded each time, and ends with the bytes of a training that was not. */
static inline void check_killed(const char *backend, int recipe, uint32_t capture, int kills)
{
	struct killer killer = {.backend = backend, .recipe = recipe, .capture = capture};
	char folder[64];
	const char *wished = getenv("TENON_TEST_KILLS");
	if (wished)
		kills = atoi(wished);
	killer.random = (uint32_t)time(NULL) ^ (uint32_t)getpid() << 16;
	snprintf(folder, sizeof(folder), "%s", files_folder());
	snprintf(killer.folder, sizeof(killer.folder), "%s/run", folder);
	snprintf(killer.result, sizeof(killer.result), "%s/result", folder);
	snprintf(killer.whole, sizeof(killer.whole), "%s/whole", folder);
	killer_finish(&killer);
	assert_int_equal(rename(killer.result, killer.whole), 0);
	files_remove(killer.folder);
	while (killer.kills < kills)
		killer_kill(&killer, 8);
	killer_finish(&killer);
	/* Continued after its end, it is what it was. */
	killer_finish(&killer);
	killer_compare(&killer);
	files_remove(
		folder); /* with what a process left that was killed while it saved its result */
}

#endif
