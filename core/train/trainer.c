/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Creates a trainer from its options, runs it until it has finished, and answers questions about
 * it.
 */
#include "train/trainer.h"

#include <math.h>
#include <string.h>

#include "array/array.h"
#include "base/answer.h"
#include "array/handle.h"
#include "base/memory.h"
#include "base/options.h"
#include "data/data_loader.h"
#include "nn/tree.h"
#include "optim/weight_average.h"
#include "optim/grad_scaler.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"
#include "train/ranks.h"
#include "train/short_batch.h"
#include "train/trainer_checkpoint.h"
#include "train/trainer_epoch.h"
#include "train/trainer_evaluate.h"

static const char operation[] = "trainer";

/* ---- Options ---------------------------------------------------------------------------------*/

static tn_status refuse(struct tn_runtime *rt, const char *text)
{
	return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation, "%s", text);
}

static const struct tn_option numbers[] = {
	{TN_MEMBER(struct tn_trainer_options, clip_value), TN_LEAST, .most = INFINITY},
	{TN_MEMBER(struct tn_trainer_options, clip_norm), TN_LEAST, .most = INFINITY},
	{TN_MEMBER(struct tn_trainer_options, min_delta), TN_MOST, .most = INFINITY},
	{0},
};

/* Counts, of which none is 0. */
static tn_status check_counts(struct tn_runtime *rt, const struct tn_trainer_options *o)
{
	const struct {
		const char *name;
		uint64_t found;
	} counts[] = {{"n_epochs", o->n_epochs},
		      {"max_steps", o->max_steps},
		      {"accumulate", o->accumulate},
		      {"patience", o->patience},
		      {"step_interval", o->step_interval}};
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		if (!counts[i].found)
			return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
					       "%s: expected at least 1, found 0", counts[i].name);
	}
	return TN_OK;
}

static tn_status check_numbers(struct tn_runtime *rt, const struct tn_trainer_options *o)
{
	tn_status status = check_counts(rt, o);
	if (!status)
		status = tn_runtime_check(rt, o, numbers, operation);
	if (status)
		return status;
	if (o->capture > TN_CAPTURE_OFF)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				       "capture: expected TN_CAPTURE_AUTO, ON or OFF, found %u",
				       o->capture);
	if (o->best > TN_BEST_NOT_KEPT)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				       "best: expected TN_BEST_..., found %u", o->best);
	if (o->n_metrics > TN_MOST_METRICS || (o->n_metrics && !o->metrics))
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				       "expected at most %d metrics, found %zu%s", TN_MOST_METRICS,
				       o->n_metrics, o->metrics ? "" : " and no array");
	return TN_OK;
}

static tn_status check_objects(struct tn_runtime *rt, const tn_module *module,
			       const tn_optimizer *optimizer, const struct tn_trainer_options *o)
{
	tn_status status = tn_module_check_network(module, operation);
	if (status)
		return status;
	if (o->train && !optimizer)
		return refuse(rt, "expected an optimizer for .train, found none");
	if (optimizer && optimizer->module != module)
		return refuse(rt, "expected an optimizer of the module, found one of another");
	if (o->scaler && tn_grad_scaler_module(o->scaler) != module)
		return refuse(rt, "expected a scaler of the module, found one of another");
	if (o->average && tn_weight_average_module(o->average) != module)
		return refuse(rt, "expected an average of the module, found one of another");
	if (o->schedule && tn_schedule_optimizer(o->schedule) != optimizer)
		return refuse(rt, "expected a schedule of the optimizer, found one of another");
	if (o->scaler && o->check_gradients)
		return refuse(rt, "check_gradients: expected 0 with a scaler, which checks them");
	if (o->evaluate_average && !o->average)
		return refuse(rt, "evaluate_average: expected an average, found none");
	if (o->schedule_epochs && !o->schedule)
		return refuse(rt, "schedule_epochs: expected a schedule, found none");
	for (size_t i = 0; i < o->n_metrics; i++) {
		if (!o->metrics[i] || o->metrics[i]->runtime != rt)
			return refuse(rt,
				      "expected metrics of the module's context, found another");
		for (size_t k = 0; k < i; k++) {
			const char *name = tn_metric_name(o->metrics[i]);
			if (!strcmp(name, tn_metric_name(o->metrics[k])))
				return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
						       "expected metrics of different names, found "
						       "two of the name %s",
						       name);
		}
	}
	return TN_OK;
}

/* The number of the monitored metric plus 1; 0: the loss. */
static tn_status find_monitored(tn_trainer *t)
{
	const struct tn_trainer_options *o = &t->options;
	t->best.is_rising = 0;
	if (!o->monitor || !strcmp(o->monitor, "loss"))
		return TN_OK;
	for (size_t i = 0; i < o->n_metrics; i++) {
		if (strcmp(o->monitor, tn_metric_name(t->metrics[i])) != 0)
			continue;
		t->monitored = 1 + i;
		t->best.is_rising = tn_metric_is_rising(t->metrics[i]);
		return TN_OK;
	}
	return tn_runtime_fail(t->runtime, TN_INVALID_ARGUMENT, operation,
			       "monitor: expected loss or the name of a metric, found %s",
			       o->monitor);
}

/* A plateau would take what is better for worse. */
static tn_status check_plateau(const tn_trainer *t)
{
	const tn_schedule *schedule = t->options.schedule;
	if (!schedule || tn_schedule_options_of(schedule)->kind != TN_SCHEDULE_PLATEAU ||
	    (tn_schedule_options_of(schedule)->is_rising != 0) == t->best.is_rising)
		return TN_OK;
	return tn_runtime_fail(t->runtime, TN_INVALID_ARGUMENT, operation,
			       "schedule: expected a plateau with is_rising %d, like the monitored "
			       "value, found %d",
			       t->best.is_rising, !t->best.is_rising);
}

/* Why steps cannot be captured without a word from the program; NULL: they can. */
static const char *never_captured(const tn_trainer *t)
{
	const struct tn_trainer_options *o = &t->options;
	if (o->parallel)
		return "gradients are summed over ranks";
	if (t->objective.loss ? !tn_loss_is_repeatable(t->objective.loss) : !o->is_repeatable)
		return "the loss is a function of the program's own";
	for (size_t i = 0; i < o->n_metrics; i++) {
		if (!t->metrics[i]->class_.is_repeatable)
			return "a metric is of a class of the program's own";
	}
	return NULL;
}

/* What depends on other options. */
static void set_defaults(struct tn_trainer_options *o)
{
	if (!o->checkpoint_steps && !o->checkpoint_epochs)
		o->checkpoint_epochs = 1;
	if (o->best == TN_BEST_AUTO)
		o->best = o->patience != TN_NO_LIMIT ? TN_BEST_ON_DEVICE : TN_BEST_NOT_KEPT;
}

/* Will the training come to a batch that is too short for a layer? */
static tn_status check_batches(const tn_trainer *t)
{
	const struct tn_trainer_options *o = &t->options;
	struct tn_short_batch found;
	if (!o->train || o->step_function)
		return TN_OK;
	tn_short_batch_look(t->module, o->train, &found);
	const uint64_t n = tn_data_loader_batches(o->train);
	const int is_reached = !found.is_last || o->max_steps >= (n - 1) / o->accumulate + 1;
	return found.samples && is_reached
		       ? tn_short_batch_refuse(t->runtime, o->train, &found, operation)
		       : TN_OK;
}

/* ---- Life ------------------------------------------------------------------------------------*/

static tn_status make_parts(tn_trainer *t)
{
	const struct tn_trainer_options *o = &t->options;
	tn_status status = tn_objective_take(&t->objective, t->module, o);
	for (size_t i = 0; i < o->n_metrics; i++)
		t->metrics[i] = o->metrics[i];
	if (!status)
		status = find_monitored(t);
	if (!status)
		status = check_plateau(t);
	if (!status && o->train)
		status = tn_batches_of(&t->batches, t->context, o->train);
	if (!status && o->train)
		status = tn_batches_check(t->runtime, o->train, operation);
	if (!status && o->validation && !tn_data_loader_facts(o->validation).count)
		status = refuse(t->runtime, "validation: expected a part with samples, found none");
	t->best.module = t->module;
	t->best.delta = o->min_delta;
	t->best.kept = o->best;
	t->history.n_metrics = o->n_metrics;
	t->history.metrics = t->metrics;
	t->steps = (struct tn_steps){.objective = &t->objective,
				     .optimizer = t->optimizer,
				     .average = o->average,
				     .scaler = o->scaler,
				     .clip_value = o->clip_value,
				     .clip_norm = o->clip_norm,
				     .parallel = o->parallel,
				     .batches = &t->batches,
				     .sums = &t->sums,
				     .never = never_captured(t),
				     .capture = o->capture};
	return status;
}

/* What does not need the other ranks. */
static tn_status make_checked(tn_trainer *t)
{
	tn_status status = check_numbers(t->runtime, &t->options);
	if (!status)
		status = check_objects(t->runtime, t->module, t->optimizer, &t->options);
	if (!status)
		status = make_parts(t);
	return status ? status : check_batches(t);
}

tn_trainer *tn_trainer_create(tn_module *module, tn_optimizer *optimizer,
			      const struct tn_trainer_options *options)
{
	struct tn_trainer_options o = tn_trainer_defaults();
	if (!module) {
		tn_runtime_null(optimizer ? optimizer->module->runtime : NULL, operation, "module");
		return NULL;
	}
	struct tn_runtime *rt = module->runtime;
	if (tn_runtime_take(rt, &o, sizeof(o), options, "struct tn_trainer_options", operation) ||
	    tn_runtime_ready(rt))
		return NULL;
	tn_trainer *t = tn_mem_zeroed(1, sizeof(*t));
	char *monitor = tn_mem_copy_string(o.monitor);
	if (!t || (o.monitor && !monitor)) {
		tn_mem_free(t);
		tn_mem_free(monitor);
		tn_runtime_no_memory(rt, operation, "a trainer");
		return NULL;
	}
	set_defaults(&o);
	t->module = module;
	t->optimizer = optimizer;
	t->context = module->context;
	t->runtime = rt;
	t->options = o;
	t->first_lr = optimizer ? tn_optimizer_lr(optimizer) : 0.0;
	t->options.monitor = t->monitor = monitor;
	if (!tn_trainer_check_ranks(t, make_checked(t)))
		return t;
	tn_trainer_destroy(t);
	return NULL;
}

void tn_trainer_destroy(tn_trainer *t)
{
	if (!t || tn_handle_has_ended(t->runtime, t, "trainer_destroy"))
		return;
	tn_steps_end(&t->steps);
	tn_objective_release(&t->objective);
	tn_sums_end(&t->sums);
	tn_best_release(&t->best);
	tn_history_release(&t->history);
	tn_mem_free(t->monitor);
	tn_handle_end(&t->runtime, t, "the trainer");
}

/* ---- Training --------------------------------------------------------------------------------*/

static int is_finished(const tn_trainer *t)
{
	const struct tn_trainer_options *o = &t->options;
	return t->state.is_early || t->state.epoch >= o->n_epochs ||
	       (t->state.step >= o->max_steps && !t->state.in_epoch);
}

static tn_status stop(tn_trainer *t)
{
	tn_status status = tn_trainer_checkpoint_stop(t);
	if (!status)
		status = tn_trainer_checkpoint_end(t);
	return status ? status
		      : tn_runtime_fail(t->runtime, TN_CANCELLED, "train",
					"stopped by the %s callback", t->stopped_by);
}

static tn_status run(tn_trainer *t)
{
	tn_status status = TN_OK;
	while (!status && !t->state.is_done && !t->stopped_by && !is_finished(t))
		status = tn_trainer_epoch(t);
	if (!status && t->stopped_by)
		return stop(t);
	if (!status && !t->state.is_done)
		status = tn_trainer_advance(t);
	if (!status && !t->state.is_done)
		status = tn_best_restore(&t->best);
	t->state.is_done |= !status;
	if (status)
		tn_trainer_checkpoint_failed(t);
	return status ? status : tn_trainer_checkpoint_end(t);
}

tn_status tn_trainer_run(tn_trainer *t)
{
	if (!t)
		return TN_INVALID_ARGUMENT;
	tn_status status = tn_runtime_ready(t->runtime);
	if (status)
		return status;
	if (!t->options.train)
		return refuse(t->runtime, "run: expected .train in the trainer's options, found "
					  "none");
	if (t->is_running)
		return tn_runtime_fail(t->runtime, TN_STATE, operation,
				       "run: the trainer is running already");
	status = tn_trainer_checkpoint_begin(t);
	if (status)
		return status;
	t->is_running = 1;
	t->stopped_by = NULL;
	t->is_common = 0;
	t->votes = 0;
	status = run(t);
	t->is_running = 0;
	if (t->options.on_end)
		t->options.on_end(t->options.user, t, status);
	return status;
}

tn_status tn_trainer_evaluate(tn_trainer *t, tn_data_loader *loader,
			      struct tn_trainer_values *values)
{
	static const char type[] = "struct tn_trainer_values", name[] = "trainer_evaluate";
	struct tn_trainer_values own;
	if (!t || !loader)
		return tn_runtime_null(t ? t->runtime : NULL, name, "loader");
	if (tn_answer_check(values, sizeof(own), type, name, &t->runtime->report))
		return tn_runtime_keep(t->runtime, &t->runtime->report);
	tn_weight_average *average =
		t->options.evaluate_average && tn_weight_average_updates(t->options.average)
			? t->options.average
			: NULL;
	tn_status status = tn_runtime_ready(t->runtime);
	/* During a validation, and once the best weights are back, these are averages. */
	if (t->state.is_done && t->best.has_weights)
		average = NULL;
	int swaps = average && !tn_weight_average_is_swapped(average);
	if (!status && swaps)
		status = tn_weight_average_swap(average);
	if (status)
		return status;
	status = tn_trainer_check_loader(t, loader, "evaluate", 0);
	if (!status)
		status = tn_evaluate_loader(&t->objective, t->options.parallel, loader,
					    t->options.n_metrics, t->metrics, t->evaluated, &own);
	if (!status)
		status = tn_runtime_answer(t->runtime, values, &own, sizeof(own), type, name);
	return swaps ? tn_trainer_swap_back(t, status) : status;
}

/* ---- Questions -------------------------------------------------------------------------------*/

uint64_t tn_trainer_epochs(const tn_trainer *t)
{
	return t && !tn_handle_check(t->runtime, "trainer_epochs") ? t->state.epoch : 0;
}

uint64_t tn_trainer_steps(const tn_trainer *t)
{
	return t && !tn_handle_check(t->runtime, "trainer_steps") ? t->state.step : 0;
}

int tn_trainer_stopped_early(const tn_trainer *t)
{
	return t && !tn_handle_check(t->runtime, "trainer_stopped_early") ? t->state.is_early : 0;
}

size_t tn_trainer_history_count(const tn_trainer *t)
{
	return t && !tn_handle_check(t->runtime, "trainer_history_count") ? t->history.n : 0;
}

const struct tn_trainer_epoch *tn_trainer_history_at(const tn_trainer *t, size_t index)
{
	if (t && tn_handle_check(t->runtime, "trainer_history_at"))
		return NULL;
	return t && index < t->history.n ? t->history.epochs[index] : NULL;
}

const struct tn_trainer_epoch *tn_trainer_best(const tn_trainer *t)
{
	if (!t || tn_handle_check(t->runtime, "trainer_best"))
		return NULL;
	for (size_t i = 0; t->best.is_found && i < t->history.n; i++) {
		if (t->history.epochs[i]->epoch == t->best.epoch)
			return t->history.epochs[i];
	}
	return NULL;
}

char *tn_trainer_history_json(const tn_trainer *t)
{
	if (!t || tn_handle_check(t->runtime, "trainer_history_json"))
		return NULL;
	char *json = tn_history_json(&t->history);
	if (!json)
		tn_runtime_no_memory(t->runtime, operation, "the history");
	return json;
}
