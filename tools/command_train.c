/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * tenon train: reads the options, checks what will be written, trains, tests and saves.
 */
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bar.h"
#include "base/utf8.h"
#include "interrupt.h"
#include "nnott_options.h"
#include "output.h"
#include "picture_options.h"
#include "print_error.h"
#include "terminal.h"
#include "test_part.h"
#include "tool.h"
#include "train_augment.h"
#include "train_devices.h"
#include "train_network.h"
#include "train_optimizer.h"
#include "train_ranks.h"
#include "train_restart.h"
#include "train_results.h"
#include "train_save.h"
#include "train_schedule.h"
#include "weights.h"

struct train_command {
	struct common_options common;
	const char *model;
	const char *data;
	const char *save;
	const char *init;   /* a file of weights */
	const char *freeze; /* a pattern of names */
	const char *metrics_path;
	const char *checkpoint; /* a folder */
	uint64_t checkpoint_steps;
	uint64_t checkpoint_epochs;
	uint64_t keep;
	int resume;
	struct train_optimizer optimizer;
	struct picture_options pictures;
	struct train_network network;
	struct train_schedule schedule;
	struct train_augment augment;
	struct train_results results;
	struct train_ranks ranks;
	struct train_restart restart;
	int skip_train;
	int drop_last;
	uint32_t capture; /* TN_CAPTURE_... */
	uint64_t epochs;
	uint64_t batch;
	uint64_t seed;
	int seeded;                   /* --seed was given: it overrides TENON_SEED, even if 0 */
	int failed;                   /* for a reason not kept in the context */
	int is_unsaved;               /* the last checkpoint could not be written */
	struct tn_error_info unsaved; /* why one could not be */
	double validation;            /* the fraction; below 0: 0.1, or the data set's own part */
	uint64_t classes;             /* of the network; 0: those of the data */
	uint64_t max_shift;
	int flip;
	int quiet;
	struct metrics metrics;
	struct bar bar;
	uint64_t epoch; /* the current one */
	uint64_t n_epochs;
	uint64_t steps; /* made, when the training ended */
	tn_checkpoint_folder *folder;
};

static int take_seed(void *values, const char *argument)
{
	struct train_command *c = values;
	c->seeded = 1;
	return parse_count(argument, 0, UINT64_MAX, &c->seed);
}

/* N steps, with or without an s after it, or N epochs with an e. */
static int take_interval(void *values, const char *argument)
{
	struct train_command *c = values;
	char number[24];
	size_t length = strspn(argument, "0123456789");
	char unit = argument[length] ? argument[length] : 's';
	if (length >= sizeof(number) || (unit != 's' && unit != 'e') ||
	    (argument[length] && argument[length + 1]))
		return 0;
	memcpy(number, argument, length);
	number[length] = '\0';
	return parse_count(number, 1, UINT32_MAX,
			   unit == 's' ? &c->checkpoint_steps : &c->checkpoint_epochs);
}

static const char about[] =
	"  Trains a network on labelled pictures, and tests it. The options of nnott have\n"
	"  their names there too: tenon-nnott(7).\n";

static int read_options(struct train_command *c, int argc, char **argv)
{
	const struct option_row rows[] = {
		{"data", "NAME|DIR", "digits, fashion-mnist, or a folder or file of pictures",
		 .text = &c->data},
		{"epochs", "N", "default: 40000 images in total, at least 3", .count = &c->epochs,
		 .lowest = 1, .highest = 1000000},
		{"batch", "N", "images per step (64)", .count = &c->batch, .lowest = 1,
		 .highest = 65536},
		{"drop-last", NULL, "leave out a last batch of fewer images",
		 .flag = &c->drop_last},
		{"optimizer", "NAME",
		 "adamw (default), sgd, adam, nadam, rmsprop, adagrad,\nadadelta, lion, lars or "
		 "lamb",
		 .choice = &c->optimizer.which, .choices = train_optimizer_names},
		{"lr", "X", "learning rate (adamw 0.002, sgd 0.05)", .real = &c->optimizer.lr,
		 .above_lowest = 1},
		{"momentum", "X", "momentum of sgd and lars (0.9)", .real = &c->optimizer.momentum},
		{"weight-decay", "X", "(adamw 0.01, others 0)", .real = &c->optimizer.weight_decay},
		{"lookahead", NULL, "put Lookahead around the optimizer",
		 .flag = &c->optimizer.lookahead},
		{"lookahead-k", "N", "after every N steps (5)", .count = &c->optimizer.lookahead_k,
		 .lowest = 1, .highest = 1000000},
		{"lookahead-alpha", "X", "by that part of the way (0.5)",
		 .real = &c->optimizer.lookahead_alpha, .highest = 1, .above_lowest = 1},
		{"validation", "X",
		 "fraction of the training part kept for validation\n(0.1, unless the data set has "
		 "a validation part)",
		 .real = &c->validation, .highest = 0.9},
		normalise_row(&c->pictures),
		resize_row(&c->pictures),
		crop_row(&c->pictures),
		{"max-shift", "N", "shift each picture by up to N pixels", .count = &c->max_shift,
		 .highest = 1000},
		{"flip", NULL, "mirror each picture with probability 1/2", .flag = &c->flip},
		{"augment", "WHAT",
		 "none, own (that of the data set), nnott, or settings\nof tn_augment(3): "
		 "roll=2,hflip_prob=0.5",
		 .take = take_augment, .values = &c->augment, .expected = TRAIN_AUGMENT_EXPECTED},
		{"seed", "N",
		 "seed of weights, order, augmentation and dropout\n(TENON_SEED, else 0)",
		 .take = take_seed, .values = c, .expected = "a whole number below 2^64"},
		{"init", "FILE", "begin with the weights of FILE, where their shapes fit",
		 .text = &c->init},
		{"classes", "N", "classes of the network (those of the data)", .count = &c->classes,
		 .lowest = 1, .highest = 1 << 20},
		{"freeze", "PATTERN", "do not train parameters with such names: 'features.*'",
		 .text = &c->freeze},
		{"skip-train", NULL, "do not train: test, and save", .flag = &c->skip_train},
		{"save", "FILE", "write the network as safetensors", .text = &c->save},
		{"metrics", "FILE", "write one JSON object per epoch, and one for the test",
		 .text = &c->metrics_path},
		{"checkpoint", "DIR", "save checkpoints in a folder, and when stopped",
		 .text = &c->checkpoint},
		{"checkpoint-every", "N", "after every N steps, or with Ne epochs (1e)",
		 .take = take_interval, .values = c,
		 .expected = "a whole number of steps (100 or 100s) or epochs (5e)"},
		{"keep", "K", "keep the K newest checkpoints, and the best (3)", .count = &c->keep,
		 .lowest = 1, .highest = 1000000},
		{"resume", NULL, "continue from the newest checkpoint, if there is one",
		 .flag = &c->resume},
		{"restart", "N", "continue so on the next device when one is lost, up to N\ntimes",
		 .count = &c->restart.most, .lowest = 1, .highest = 1000000},
		{"capture", "WHEN", "replay captured steps: auto (if the device can), on\nor off",
		 .choice = &c->capture, .choices = capture_words},
		{"backend", "NAME", "as TENON_BACKEND", .text = &c->common.backend},
		{"backend-option", "N=V", backend_option_help, .take = take_backend_option,
		 .values = &c->common, .expected = backend_option_form},
		{"ledger", "[=time]", "print where operations ran", .take = take_ledger,
		 .values = &c->common, .expected = "time or nothing"},
		{"communicator-option", "N=V", "as local.bytes=8M; may be given again",
		 .take = take_plugin_option, .values = &c->ranks.options,
		 .expected = "COMMUNICATOR.OPTION=VALUE, at most 32 times"},
		{"sync-batch-norm", NULL, "batch norms over the samples of all ranks",
		 .flag = &c->ranks.sync_batch_norm},
		{"shard-optimizer", NULL, "each rank has a share of the optimizer's state",
		 .flag = &c->ranks.shard},
		{"wire", "TYPE", "gradients are sent as they are (same), as f16 or as bf16",
		 .choice = &c->ranks.wire, .choices = train_ranks_wires},
		{"quiet", NULL, "print no progress", .flag = &c->quiet},
	};
	struct option_row all[N_ROWS(rows) + N_NETWORK_ROWS + N_SCHEDULE_ROWS + N_RESULTS_ROWS];
	size_t n = N_ROWS(rows);
	memcpy(all, rows, sizeof(rows));
	n += train_schedule_rows(&c->schedule, all + n);
	n += train_network_rows(&c->network, all + n);
	n += train_results_rows(&c->results, all + n);
	const struct option_table table = {.command = "tenon train",
					   .operands = "MODEL --data NAME|DIR",
					   .about = about,
					   .rows = all,
					   .n_rows = n,
					   .aliases = nnott_options,
					   .n_aliases = n_nnott_options};
	return option_table_read(&table, argc, argv);
}

/* The metadata of a saved network is UTF-8: checked now rather than after the last epoch. */
static int is_utf8(const char *text)
{
	size_t length = strlen(text);
	return tn_utf8_prefix(text, length) == length;
}

/* Options that change nothing are refused. */
static int check_training(const struct train_command *c)
{
	const char *lonely = c->optimizer.lookahead_k > 0       ? "--lookahead-k"
			     : c->optimizer.lookahead_alpha > 0 ? "--lookahead-alpha"
								: NULL;
	if (lonely && !c->optimizer.lookahead)
		return usage_error("train", "%s: expected --lookahead too, found none", lonely);
	if (c->optimizer.momentum >= 0 && !train_optimizer_has_momentum(&c->optimizer))
		return usage_error("train",
				   "--momentum: expected --optimizer sgd or lars, found %s",
				   train_optimizer_names[c->optimizer.which]);
	if (c->skip_train && (c->checkpoint || c->epochs))
		return usage_error("train", "--skip-train: expected no %s, found one",
				   c->checkpoint ? "--checkpoint" : "--epochs");
	return train_schedule_check(&c->schedule, train_optimizer_lr(&c->optimizer));
}

/* -1: go on; else the exit code. */
static int parse_arguments(struct train_command *c, int argc, char **argv)
{
	int code = read_options(c, argc, argv);
	if (code == OPTIONS_READ)
		code = picture_options_check(&c->pictures, "train");
	if (code != OPTIONS_READ)
		return code;
	if (argc - optind != 1)
		return usage_error("train", "expected one MODEL, found %d words", argc - optind);
	c->model = train_network_name(&c->network, argv[optind]);
	if (!c->model)
		return usage_error("train", "expected a shorter MODEL and settings of it");
	code = check_training(c);
	if (code != OPTIONS_READ)
		return code;
	if (c->data && (c->save || c->checkpoint) && !is_utf8(c->data))
		return usage_error("train",
				   "--data: expected a path in UTF-8, which is what %s "
				   "can store, found other bytes",
				   c->save ? "--save" : "--checkpoint");
	const char *lonely = c->resume                                     ? "--resume"
			     : c->restart.most                             ? "--restart"
			     : c->keep                                     ? "--keep"
			     : c->checkpoint_steps || c->checkpoint_epochs ? "--checkpoint-every"
									   : NULL;
	if (lonely && !c->checkpoint)
		return usage_error("train", "%s: expected --checkpoint too, found none", lonely);
	if (c->restart.is_counted && !c->checkpoint)
		return usage_error("train", "tenon launch --restart: expected --checkpoint, from "
					    "which the ranks continue, found none");
	c->restart.has_resume = c->resume;
	c->restart.has_folder = c->checkpoint != NULL;
	c->resume |= c->restart.n_anew > 0 && train_devices_have_begun();
	if (c->save && c->metrics_path && output_same(c->save, c->metrics_path))
		return usage_error("train",
				   "--save and --metrics: expected two files, found '%s'"
				   " and '%s', which are the same",
				   c->save, c->metrics_path);
	const char *plotted =
		c->save && train_results_has_plot(&c->results, c->save) ? "--save"
		: c->metrics_path && train_results_has_plot(&c->results, c->metrics_path)
			? "--metrics"
			: NULL;
	if (plotted)
		return usage_error("train",
				   "%s and --plots: expected different files, found one of the "
				   "plots of '%s'",
				   plotted, c->results.plots);
	return c->data ? OPTIONS_READ : usage_error("train", "--data is missing");
}

static int on_progress(void *user, const struct tn_trainer_progress *progress)
{
	struct train_command *c = user;
	c->epoch = progress->epoch;
	metrics_begin(&c->metrics);
	if (!interrupt_seen())
		bar_progress(&c->bar, progress);
	return interrupt_seen();
}

/* A narrow terminal omits the rate. */
static void print_epoch(const struct tn_trainer_epoch *epoch)
{
	const struct tn_trainer_values *train = epoch->train, *validation = epoch->validation;
	const double images_per_second =
		train->seconds > 0 ? (double)train->samples / train->seconds : 0.0;
	char line[2048], rate[512]; /* a number may have 300 digits */
	int n = snprintf(line, sizeof(line), "epoch %" PRIu64 "  loss %.4f  accuracy %.2f%%",
			 epoch->epoch, train->loss, 100.0 * train->metrics[0]);
	if (validation)
		snprintf(line + n, sizeof(line) - (size_t)n,
			 "  validation loss %.4f  accuracy %.2f%%", validation->loss,
			 100.0 * validation->metrics[0]);
	snprintf(rate, sizeof(rate), "  %.0f images/s", images_per_second);
	if (!terminal_breaks(STDERR_FILENO, strlen(line) + strlen(rate)))
		strcat(line, rate);
	strcat(line, "\n");
	write_wrapped(stderr, line, terminal_columns(STDERR_FILENO));
}

static int on_epoch(void *user, const struct tn_trainer_epoch *epoch)
{
	struct train_command *c = user;
	c->epoch = epoch->epoch;
	bar_clear(&c->bar);
	if (train_ranks_epoch(&c->ranks, epoch->train->seconds))
		return 1;
	metrics_epoch(&c->metrics, epoch, c->ranks.times ? c->ranks.size : 0, c->ranks.times);
	train_results_epoch(&c->results, epoch);
	if (!c->quiet)
		print_epoch(epoch);
	return interrupt_seen();
}

static uint64_t default_epochs(const tn_dataset *dataset)
{
	uint64_t n = tn_dataset_count(dataset, TN_PART_TRAIN);
	uint64_t epochs = n ? (40000 + n - 1) / n : 1;
	return epochs < 3 ? 3 : epochs;
}

/* Without a test part *result has 0 images. */
static int test(struct train_command *c, tn_context *context, tn_module *module,
		const tn_dataset *dataset, struct test_result *result)
{
	if (!tn_dataset_count(dataset, TN_PART_TEST)) {
		*result = (struct test_result){.images = 0};
		if (!c->quiet)
			print_error("not tested: %s has no test part", tn_dataset_name(dataset));
		return 1;
	}
	const int done =
		train_results_test(&c->results, context, &c->ranks, module, dataset, result);
	if (done)
		metrics_test(&c->metrics, result);
	return done;
}

/* Called before the first step; what the metrics have of later epochs is written again. */
static void on_resumed(void *user, uint64_t epochs, uint64_t steps)
{
	struct train_command *c = user;
	c->epoch = epochs;
	metrics_continue(&c->metrics, epochs);
	if (!c->quiet || (c->restart.n_anew && c->ranks.rank == 0))
		say("continues from %s: %" PRIu64 " epoch%s and %" PRIu64 " step%s done\n",
		    c->checkpoint, epochs, epochs == 1 ? "" : "s", steps, steps == 1 ? "" : "s");
}

/* The training goes on. */
static void on_unsaved(void *user, const struct tn_error_info *error)
{
	struct train_command *c = user;
	c->unsaved = *error;
	if (c->ranks.rank)
		return;
	bar_clear(&c->bar);
	say("tenon train: a checkpoint was not written: %s\n", error->text);
}

static int is_complete(const tn_trainer *trainer, uint64_t n_epochs)
{
	return tn_trainer_epochs(trainer) >= n_epochs || tn_trainer_stopped_early(trainer);
}

/* The first signal stops it.  After a failure signals are still caught, for leave_off. */
static tn_status run_until_interrupted(struct train_command *c, tn_context *context,
				       tn_trainer *trainer)
{
	interrupt_catch();
	tn_status status = tn_trainer_run(trainer);
	bar_clear(&c->bar);
	c->steps = tn_trainer_steps(trainer);
	c->is_unsaved = status == TN_IO && !strcmp(tn_error(context)->text, c->unsaved.text);
	/* Complete but for its last checkpoint, it is tested and saved. */
	if (c->is_unsaved && is_complete(trainer, c->n_epochs)) {
		tn_error_clear(context);
		status = TN_OK;
		if (c->ranks.rank == 0)
			say("tenon train: the last checkpoint could not be written\n");
	}
	if (!status)
		interrupt_release();
	return status;
}

/* --max-shift and --flip are short for settings of --augment. */
static const struct tn_augmentation *augmentation(struct train_command *c,
						  const tn_dataset *dataset)
{
	if (c->max_shift)
		train_augment_set(&c->augment, "max_shift", (double)c->max_shift);
	if (c->flip)
		train_augment_set(&c->augment, "hflip_prob", 0.5);
	return train_augment_for(&c->augment, dataset);
}

static void print_early(const struct train_command *c)
{
	if (c->schedule.stops && c->epoch < c->n_epochs && !c->quiet)
		say("stopped after epoch %" PRIu64 ": the network is that of the lowest loss\n",
		    c->epoch);
}

static tn_data_loader *make_loader(struct train_command *c, tn_context *context,
				   const tn_dataset *dataset)
{
	struct tn_error_info error;
	tn_data_loader *loader = NULL;
	struct tn_data_loader_options options = tn_data_loader_defaults();
	options.batch_size = (uint32_t)c->batch;
	options.drop_last = c->drop_last;
	options.seed = c->seed;
	options.shuffle = 1;
	options.augmentation = augmentation(c, dataset);
	options.context = context;
	options.rank = c->ranks.rank;
	options.n_ranks = c->ranks.size;
	if (tn_data_loader_create(dataset, TN_PART_TRAIN, &options, &loader, &error))
		report_error(&error);
	return loader;
}

/* The loader of the training part, without a last batch that is too short for the network; NULL: it
 * failed, which has been printed. */
static tn_data_loader *open_training(struct train_command *c, tn_context *context,
				     tn_module *module, const tn_dataset *dataset)
{
	struct tn_short_batch found = {.struct_size = sizeof(found)};
	tn_data_loader *loader = make_loader(c, context, dataset);
	if (!loader || c->drop_last || tn_data_loader_batches(loader) < 2)
		return loader;
	if (tn_short_batch_find(module, loader, &found) || !found.is_last)
		return loader; /* an error is kept */
	if (c->ranks.rank == 0)
		say("the last batch of each epoch (%u image%s) is left out: %s (%s) needs %u%s\n",
		    found.samples, found.samples == 1 ? "" : "s", found.path, found.class_name,
		    found.least, c->ranks.size > 1 ? " on each rank" : "");
	tn_data_loader_destroy(loader);
	c->drop_last = 1;
	return make_loader(c, context, dataset);
}

/* What does not depend on the data. */
static void fill_options(struct train_command *c, struct tn_trainer_options *o)
{
	o->capture = c->capture;
	o->on_progress = on_progress;
	o->on_epoch = on_epoch;
	o->user = c;
	o->checkpoints = c->folder;
	o->checkpoint_steps = c->checkpoint_steps;
	o->checkpoint_epochs = c->checkpoint_epochs;
	o->resume = c->resume;
	o->resumed = on_resumed;
	o->on_unsaved = on_unsaved;
	o->parallel = c->ranks.parallel;
}

/* With the epochs and the open loaders of `given`.  An error is kept by the context. */
static tn_status train_with(struct train_command *c, tn_context *context, tn_module *module,
			    tn_optimizer *optimizer, const struct train_description *d,
			    const struct tn_trainer_options *given)
{
	struct tn_trainer_options o = *given;
	tn_metric *accuracy = tn_metric_create(context, NULL);
	fill_options(c, &o);
	o.n_metrics = 1;
	o.metrics = &accuracy;
	o.n_pairs = d->n;
	o.pairs = d->pairs;
	tn_status status =
		train_schedule_apply(&c->schedule, optimizer, tn_data_loader_batches(o.train), &o);
	tn_trainer *trainer = status ? NULL : tn_trainer_create(module, optimizer, &o);
	status = trainer ? run_until_interrupted(c, context, trainer) : TN_PENDING_ERROR;
	tn_trainer_destroy(trainer);
	tn_schedule_destroy(o.schedule);
	tn_metric_destroy(accuracy);
	return status;
}

/* 0: it failed, or was interrupted. */
static int train_network(struct train_command *c, tn_context *context, tn_module *module,
			 tn_optimizer *optimizer, const tn_dataset *dataset,
			 const struct train_description *d)
{
	struct tn_trainer_options o = tn_trainer_defaults();
	const int has_validation = tn_dataset_count(dataset, TN_PART_VALIDATION) > 0;
	tn_status status = TN_PENDING_ERROR;
	o.n_epochs = c->n_epochs = c->epochs ? c->epochs : default_epochs(dataset);
	o.train = open_training(c, context, module, dataset);
	if (has_validation)
		o.validation = open_part(context, &c->ranks, dataset, TN_PART_VALIDATION);
	if (o.train && (o.validation || !has_validation))
		status = train_with(c, context, module, optimizer, d, &o);
	else
		c->failed = 1;
	tn_data_loader_destroy(o.train);
	tn_data_loader_destroy(o.validation);
	if (!status)
		print_early(c);
	return !status;
}

/* What to do about an error of checkpoints, which has been printed. */
static void advise(const struct train_command *c, const struct tn_error_info *error)
{
	if (!error || !c->folder)
		return;
	if (!c->resume && error->status == TN_STATE && tn_checkpoint_folder_count(c->folder))
		say("tenon train: --resume continues from it; a new training needs another folder "
		    "for --checkpoint\n");
	else if (c->resume && error->status != TN_UNSUPPORTED &&
		 !strcmp(error->operation, "checkpoint_load"))
		say("tenon train: --resume expects the model, data and options of the training "
		    "that it continues\n");
}

/* The training was interrupted, or has failed: prints the error, saves the network so far, and says
 * how it goes on. */
static void leave_off(struct train_command *c, tn_context *context, tn_module *module,
		      const struct train_description *d)
{
	struct tn_error_info error = {.status = TN_OK};
	if (tn_error(context))
		error = *tn_error(context);
	tn_error_clear(context);
	const int is_interrupted = error.status == TN_CANCELLED || c->is_unsaved;
	/* Of ranks that have failed one by one each has its own weights, or its share of them; with
	 * a lost device they are gone. */
	const int is_common = is_interrupted || error.status == TN_NOT_FINITE;
	struct train_rest rest = {is_interrupted ? "interrupted" : "ended",
				  c->is_unsaved,
				  c->epoch,
				  c->n_epochs,
				  c->folder,
				  NULL};
	if (error.status && !is_interrupted) {
		report_error(&error);
		advise(c, &error);
	}
	c->failed |= error.status != TN_CANCELLED;
	const int has_weights = error.status != TN_DEVICE_LOST && (is_common || !c->ranks.shard);
	if (c->save && c->steps && c->ranks.rank == 0 && has_weights &&
	    train_is_finite(context, module) && train_save(module, c->save, d, NULL))
		rest.saved = c->save;
	if (c->ranks.rank == 0 && (c->steps || is_interrupted))
		train_rest_print(&rest);
	train_restart_note(&c->restart, context, &c->ranks, &error, c->folder);
	/* A rank that ends now has the launcher end the others. */
	if (is_common)
		(void)tn_barrier(c->ranks.communicator); /* an error is kept */
	interrupt_release();
}

/* Before its test, which a signal may end; a failure is told when the network is saved again.  One
 * that its last step has spoiled does not replace what the file has. */
static void save_untested(const struct train_command *c, tn_context *context,
			  const tn_module *module, const struct train_description *d)
{
	if (c->save && !c->skip_train && c->ranks.rank == 0 && train_is_finite(context, module) &&
	    !train_save(module, c->save, d, NULL))
		tn_error_clear(context);
}

static void train(struct train_command *c, tn_context *context, tn_module *module,
		  const tn_dataset *dataset)
{
	struct test_result result;
	tn_optimizer *optimizer = train_optimizer_make(&c->optimizer, module);
	if (!optimizer)
		return;
	struct train_description d;
	const int is_described = train_describe(&d, c->model, c->data, c->seed, dataset);
	int done = is_described &&
		   (c->skip_train || train_network(c, context, module, optimizer, dataset, &d));
	if (!is_described) {
		c->failed = no_memory("the metadata of the network");
	} else if (done) {
		save_untested(c, context, module, &d);
		done = test(c, context, module, dataset, &result);
		c->failed |= !done;
	} else {
		leave_off(c, context, module, &d);
	}
	if (done && !isfinite(result.loss)) {
		print_error("tenon train: the loss is not a finite number: nothing was learned%s",
			    c->save && c->skip_train ? ", nothing is saved" : "");
		c->failed = 1;
	}
	const int writes = done && !c->failed && c->ranks.rank == 0;
	if (writes && c->save && train_save(module, c->save, &d, &result))
		printf("saved %s\n", c->save);
	if (writes && !train_results_show(&c->results, module, dataset))
		c->failed = 1;
	c->failed |= c->is_unsaved && c->ranks.rank == 0;
	train_describe_end(&d);
	tn_optimizer_destroy(optimizer);
}

static void introduce(const struct train_command *c, tn_context *context, const tn_dataset *dataset,
		      const tn_module *module)
{
	const struct tn_input_format *f = tn_dataset_format(dataset);
	char ranks[64] = "";
	if (c->quiet)
		return;
	if (c->ranks.size > 1)
		snprintf(ranks, sizeof(ranks), " on %u ranks (%s)", c->ranks.size,
			 tn_communicator_name(c->ranks.communicator));
	say("%s (%lld parameters) on %s%s: %s, %ux%u, %u classes, %" PRIu64 " train, %" PRIu64
	    " validation, %" PRIu64 " test images\n",
	    c->model, (long long)tn_module_size(module, 0),
	    tn_device_name(tn_device_current(context)), ranks, tn_dataset_name(dataset), f->height,
	    f->width, f->n_classes, tn_dataset_count(dataset, TN_PART_TRAIN),
	    tn_dataset_count(dataset, TN_PART_VALIDATION), tn_dataset_count(dataset, TN_PART_TEST));
}

/* Opens the folder of checkpoints; 0: the context has the error. */
static int open_folder(struct train_command *c, tn_context *context)
{
	struct tn_checkpoint_folder_options o = tn_checkpoint_folder_defaults();
	o.is_read_only = c->ranks.rank > 0;
	if (c->keep)
		o.keep = c->keep;
	if (!c->checkpoint)
		return 1;
	/* Rank 0 makes the folder. */
	if (c->ranks.rank > 0 && tn_barrier(c->ranks.communicator))
		return 0;
	c->folder = tn_checkpoint_folder_open(context, c->checkpoint, &o);
	if (c->folder && c->resume && !tn_checkpoint_folder_count(c->folder) && !c->quiet)
		say("%s has no checkpoint: the training begins\n", c->checkpoint);
	if (c->folder && (c->resume || !tn_checkpoint_folder_count(c->folder)))
		train_devices_begin();
	if (c->folder && c->ranks.rank == 0 && tn_barrier(c->ranks.communicator))
		return 0;
	return c->folder != NULL;
}

/* Builds the network, with the weights of --init. */
static int begin(const struct train_command *c, tn_context *context, tn_module *module)
{
	if (tn_module_build(module))
		return finish(context);
	return c->init ? weights_begin(context, module, c->init, c->quiet) : EXIT_DONE;
}

static int run_with_data(struct train_command *c, tn_context *context, const tn_dataset *dataset)
{
	const struct tn_input_format *f = tn_dataset_format(dataset);
	if (!f)
		return not_pictures("train", dataset);
	const struct tn_model_shape shape = {f->channels, f->height, f->width, f->n_classes};
	tn_module *module = tn_model_create(context, c->model, &shape);
	int code = module ? weights_freeze(module, c->model, c->freeze, c->quiet) : EXIT_DONE;
	if (module && code == EXIT_DONE)
		code = begin(c, context, module);
	if (code != EXIT_DONE) {
		tn_module_destroy(module);
		return code;
	}
	if (module && !train_ranks_share(&c->ranks, module) && open_folder(c, context)) {
		introduce(c, context, dataset, module);
		if (c->metrics_path && c->ranks.rank == 0 &&
		    !metrics_open(&c->metrics, c->metrics_path))
			c->failed = 1;
		else
			train(c, context, module, dataset);
	}
	code = finish(context);
	advise(c, tn_error(context));
	train_restart_note(&c->restart, context, &c->ranks, tn_error(context), c->folder);
	tn_checkpoint_folder_close(c->folder);
	train_ranks_end(&c->ranks);
	tn_module_destroy(module);
	if (code == EXIT_DONE && c->failed)
		code = EXIT_FAILED;
	if (code == EXIT_DONE && c->common.ledger && c->ranks.rank == 0)
		print_ledger(context);
	return code;
}

static int run_with_context(struct train_command *c, tn_context *context)
{
	struct tn_error_info error;
	tn_dataset *dataset = NULL;
	struct tn_input_format as;
	struct tn_dataset_options o = tn_dataset_defaults();
	o.validation_fraction = c->validation < 0 ? 0.1 : c->validation;
	o.keep_own_parts = c->validation < 0;
	o.n_classes = (uint32_t)c->classes;
	c->results.has_spare = c->classes != 0;
	int code = picture_options_apply(&c->pictures, c->model, &as, &o);
	if (code != EXIT_DONE)
		return code;
	if (c->seeded)
		tn_random_set_state(context, (struct tn_random_state){c->seed, 0});
	c->seed = tn_random_get_state(context).seed;
	if (tn_dataset_open(c->data, &o, &dataset, &error))
		return report_error(&error);
	code = run_with_data(c, context, dataset);
	tn_dataset_destroy(dataset);
	return code;
}

/* Checks the output files before training rather than when they are written. */
static int outputs_possible(const struct train_command *c)
{
	if (c->save && !output_possible("train", "--save", c->save, OUTPUT_WHOLE))
		return 0;
	if (!train_results_prepare(&c->results))
		return 0;
	return !c->metrics_path ||
	       output_possible("train", "--metrics", c->metrics_path, OUTPUT_IN_PLACE);
}

static int run(struct train_command *c)
{
	int code;
	const char *backend = c->common.backend;
	char *selection;
	if (!train_devices_selection(backend ? backend : tool_environment("TENON_BACKEND"),
				     &selection))
		return EXIT_FAILED;
	if (selection)
		c->common.backend = selection;
	tn_context *context = open_context(&c->common, TN_SEED_FROM_ENVIRONMENT, &code);
	if (context)
		code = train_ranks_open(&c->ranks, context);
	if (context && code == EXIT_DONE)
		code = train_restart_check(&c->restart, &c->ranks);
	if (context && code == EXIT_DONE) {
		c->quiet |= c->ranks.rank > 0;
		bar_init(&c->bar, tool_environment("TERM"), c->quiet);
		code = run_with_context(c, context);
	}
	if (context)
		train_restart_note(&c->restart, context, &c->ranks, tn_error(context), NULL);
	train_ranks_close(&c->ranks, code);
	tn_context_close(context);
	free(selection);
	train_results_end(&c->results);
	if (!metrics_close(&c->metrics)) {
		/* Its end is that of the training: lines are missing. */
		c->restart.most = 0;
		code = code == EXIT_DONE ? EXIT_FAILED : code;
	}
	return code;
}

int command_train(int argc, char **argv)
{
	struct train_command c = {.optimizer = {.momentum = -1.0, .weight_decay = -1.0},
				  .schedule = train_schedule_start(),
				  .batch = 64,
				  .validation = -1.0};
	if (!train_restart_begin(&c.restart, argc, argv))
		return EXIT_FAILED;
	int code = parse_arguments(&c, argc, argv);
	if (code < 0)
		code = outputs_possible(&c) ? run(&c) : EXIT_FAILED;
	train_restart_run(&c.restart);
	train_restart_end(&c.restart);
	if (interrupt_seen() && code == EXIT_DONE)
		interrupt_obey();
	return code;
}
