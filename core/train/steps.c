/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The parts of training steps, captured where possible.
 */
#include "train/steps.h"

#include <math.h>

#include "array/array.h"
#include "nn/module.h"

/* ---- Uncaptured parts ------------------------------------------------------------------------*/

static tn_array *hold(tn_array *array)
{
	return array ? tn_array_hold(array) : NULL;
}

static void keep_loss(struct tn_steps *steps, enum tn_step_part part, struct tn_loss_value value)
{
	struct tn_loss_value *kept = &steps->losses[part];
	tn_array_unhold(kept->loss);
	tn_array_unhold(kept->weight);
	*kept = (struct tn_loss_value){hold(value.loss), hold(value.weight)};
}

static void release_loss(struct tn_steps *steps, enum tn_step_part part)
{
	keep_loss(steps, part, (struct tn_loss_value){NULL, NULL});
}

/* What the gradients of the batch are those of. */
static tn_array *share_of_step(const struct tn_steps *steps, const struct tn_loss_value *value,
			       double scale)
{
	if (value->weight && steps->is_alone)
		return tn_divide(value->loss, tn_detach(value->weight));
	const double share = steps->objective->unit * steps->batches->batch.n;
	const double factor = value->weight ? scale / share : scale;
	return factor == 1.0 ? value->loss : tn_affine(value->loss, factor, 0.0);
}

static tn_status run_batch(struct tn_steps *steps, enum tn_step_part part, double scale)
{
	const struct tn_objective *o = steps->objective;
	const uint32_t n = steps->batches->batch.n;
	struct tn_loss_value value;
	tn_array *output, *target;
	if (part == TN_PART_FIRST)
		tn_module_zero_gradients(o->module);
	tn_tape *tape = tn_tape_begin(o->context);
	if (!tape)
		return o->runtime->error.status;
	tn_status status = tn_objective_loss(o, steps->batches->n_fields, steps->fields, n, &value,
					     &output, &target);
	keep_loss(steps, part, value);
	tn_array *scaled = share_of_step(steps, &value, scale);
	if (scaled && steps->scaler)
		scaled = tn_grad_scaler_scale(steps->scaler, scaled);
	if (!status)
		status = scaled ? tn_tape_backward(tape, scaled, NULL) : TN_PENDING_ERROR;
	tn_tape_end(tape);
	if (!status)
		status = tn_sums_add(steps->sums, &value, output, target, n);
	return status ? o->runtime->error.status : TN_OK;
}

static tn_status run_update(const struct tn_steps *steps)
{
	tn_module *module = steps->objective->module;
	tn_status status = TN_OK;
	if (steps->scaler && (isfinite(steps->clip_value) || isfinite(steps->clip_norm)))
		status = tn_grad_scaler_unscale(steps->scaler);
	if (!status && isfinite(steps->clip_value))
		status = tn_clip_grad_value(module, steps->clip_value);
	if (!status && isfinite(steps->clip_norm))
		status = tn_clip_grad_norm(module, steps->clip_norm, NULL);
	if (!status)
		status = steps->scaler ? tn_grad_scaler_step(steps->scaler, steps->optimizer)
				       : tn_optimizer_step(steps->optimizer);
	if (!status && steps->scaler)
		status = tn_grad_scaler_update(steps->scaler);
	if (!status && steps->average && !tn_grad_scaler_has_skipped(steps->scaler))
		status = tn_weight_average_update(steps->average);
	return status ? module->runtime->error.status : TN_OK;
}

static tn_status run_part(struct tn_steps *steps, enum tn_step_part part, double scale)
{
	return part == TN_PART_UPDATE ? run_update(steps) : run_batch(steps, part, scale);
}

/* ---- Captured parts --------------------------------------------------------------------------*/

/* The rest has a scope of its own, so that its arrays return their memory to the graph. */
static tn_status capture_part(struct tn_steps *steps, enum tn_step_part part, double scale)
{
	tn_context *context = steps->objective->context;
	const struct tn_sums before = *steps->sums;
	if (part != TN_PART_UPDATE)
		release_loss(steps, part);
	tn_status status = tn_capture_begin(context);
	if (status)
		return status;
	if (!tn_scope_begin(context)) {
		/* The context keeps its error, which tn_capture_end returns. */
		(void)run_part(steps, part, scale);
		tn_scope_end(context, NULL);
	}
	status = tn_capture_end(context, &steps->graphs[part]);
	*steps->sums = before;
	return status;
}

static tn_status fixed_part(struct tn_steps *steps, enum tn_step_part part, double scale)
{
	struct tn_runtime *runtime = steps->objective->runtime;
	if (!steps->is_warm[part]) {
		steps->is_warm[part] = 1;
		return run_part(steps, part, scale);
	}
	tn_status status = steps->graphs[part] ? TN_OK : capture_part(steps, part, scale);
	if (!status)
		status = tn_graph_replay(steps->graphs[part]);
	if (!status) {
		if (part != TN_PART_UPDATE)
			tn_sums_count(steps->sums, steps->losses[part].weight != NULL,
				      steps->batches->batch.n);
		return TN_OK;
	}
	/* Neither a capture nor a failed replay has changed anything.  Training continues without
	 * capture when the error only means that the step cannot be captured. */
	tn_steps_release_graphs(steps);
	if (steps->capture == TN_CAPTURE_ON ||
	    (status != TN_NOT_CAPTURABLE && status != TN_UNSUPPORTED && status != TN_OUT_OF_MEMORY))
		return status;
	tn_log_format(runtime->logger, TN_LOG_INFO, "train", "steps are not captured: %s: %s",
		      runtime->error.operation, runtime->error.text);
	tn_error_clear(steps->objective->context);
	steps->capture = TN_CAPTURE_OFF;
	return run_part(steps, part, scale);
}

/* ---- Choosing --------------------------------------------------------------------------------*/

/* A module class of the program may behave differently in each step. */
static int has_foreign(const tn_module *module)
{
	for (size_t i = 0; i < module->n_members; i++) {
		if (has_foreign(module->members[i].module))
			return 1;
	}
	return module->is_foreign;
}

/* Decides before the first step whether full batches are captured. */
static tn_status decide_capture(struct tn_steps *steps)
{
	struct tn_runtime *runtime = steps->objective->runtime;
	int can_capture = tn_backend_has_all(runtime->device->backend, TN_SLOT_CAPTURE_BEGIN,
					     TN_SLOT_GRAPH_RELEASE);
	const char *no = steps->never;
	if (!can_capture)
		no = "the device's backend cannot capture work";
	else if (runtime->ledger_time)
		no = "the ledger times every operation";
	else if (runtime->watch)
		no = "a profile measures a network";
	else if (has_foreign(steps->objective->module))
		no = "the network has modules of the program's own";
	else if (steps->batches->n_full < 2)
		no = "an epoch has fewer than two full batches";
	steps->is_settled = 1;
	if (no && steps->capture == TN_CAPTURE_AUTO) {
		tn_log_format(runtime->logger, TN_LOG_INFO, "train", "steps are not captured: %s",
			      no);
		steps->capture = TN_CAPTURE_OFF;
		return TN_OK;
	}
	if (!can_capture)
		return tn_runtime_fail(runtime, TN_UNSUPPORTED, "train",
				       "capture: the backend of %s cannot capture work",
				       runtime->device->name);
	if (!steps->batches->n_full)
		return tn_runtime_fail(runtime, TN_NOT_CAPTURABLE, "train",
				       "capture: there is no full batch of %u samples",
				       steps->batches->batch_size);
	return TN_OK;
}

static void release_fixed(struct tn_steps *steps)
{
	for (int i = 0; i < TN_MAX_FIELDS; i++) {
		tn_array_unhold(steps->fixed[i]);
		steps->fixed[i] = NULL;
	}
}

tn_status tn_steps_feed(struct tn_steps *steps, int is_regular)
{
	struct tn_batches *batches = steps->batches;
	tn_status status = TN_OK;
	if (steps->capture != TN_CAPTURE_OFF && !steps->is_settled)
		status = decide_capture(steps);
	if (status)
		return status;
	tn_steps_release_batch(steps);
	steps->is_fixed = is_regular && batches->batch.n == batches->batch_size &&
			  steps->capture != TN_CAPTURE_OFF;
	if (!steps->is_fixed) {
		/* The last step of the epoch can use the graphs' memory. */
		tn_steps_release_graphs(steps);
		if (steps->capture == TN_CAPTURE_OFF)
			release_fixed(steps);
		status = tn_batches_upload(batches, steps->fields);
	} else {
		if (!steps->fixed[0])
			status = tn_batches_make(batches, steps->fixed);
		if (!status)
			status = tn_batches_assign(batches, steps->fixed);
		else
			release_fixed(steps); /* those that were made before memory ran out */
		for (uint32_t i = 0; i < batches->n_fields; i++)
			steps->fields[i] = steps->fixed[i];
	}
	for (uint32_t i = 0; i < batches->n_fields; i++) {
		if (steps->fields[i])
			tn_array_hold(steps->fields[i]);
	}
	return status;
}

/* Each rank draws its own random numbers: the streams, which all ranks count alike, are those of
 * another seed. */
static uint64_t seed_of_rank(uint64_t seed, const tn_data_parallel *parallel)
{
	const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
	return parallel ? seed + golden * tn_data_parallel_rank(parallel) : seed;
}

tn_status tn_steps_forward(struct tn_steps *steps, enum tn_step_part part, double scale,
			   int is_last)
{
	struct tn_random_state *random = &steps->objective->runtime->random;
	const uint64_t seed = random->seed;
	tn_status status = TN_OK;
	if (steps->parallel)
		status = tn_data_parallel_hold(steps->parallel, !is_last);
	if (status)
		return status;
	random->seed = seed_of_rank(seed, steps->parallel);
	steps->random = *random;
	steps->last = part;
	steps->is_alone = part == TN_PART_FIRST && is_last && !steps->parallel;
	status = steps->is_fixed ? fixed_part(steps, part, scale) : run_part(steps, part, scale);
	random->seed = seed;
	return status;
}

tn_status tn_steps_finish(const struct tn_steps *steps)
{
	return steps->parallel ? tn_data_parallel_finish(steps->parallel) : TN_OK;
}

tn_status tn_steps_update(struct tn_steps *steps)
{
	/* Whether a scaler's step is skipped is decided on the host. */
	return steps->is_fixed && steps->capture != TN_CAPTURE_OFF && !steps->scaler
		       ? fixed_part(steps, TN_PART_UPDATE, 1.0)
		       : run_update(steps);
}

tn_status tn_steps_loss(const struct tn_steps *steps, uint32_t n, double *sum, double *weight)
{
	const struct tn_loss_value *value = &steps->losses[steps->last];
	tn_status status = tn_item(value->loss, sum);
	if (status)
		return status;
	if (value->weight)
		return tn_item(value->weight, weight);
	*weight = n;
	*sum *= n;
	return TN_OK;
}

void tn_steps_release_batch(struct tn_steps *steps)
{
	for (int i = 0; i < TN_MAX_FIELDS; i++) {
		tn_array_unhold(steps->fields[i]);
		steps->fields[i] = NULL;
	}
}

void tn_steps_release_graphs(struct tn_steps *steps)
{
	for (int i = 0; i < TN_STEP_PARTS; i++) {
		tn_graph_destroy(steps->graphs[i]);
		steps->graphs[i] = NULL;
	}
	release_loss(steps, TN_PART_FIRST);
	release_loss(steps, TN_PART_MORE);
}

void tn_steps_end(struct tn_steps *steps)
{
	tn_steps_release_graphs(steps);
	tn_steps_release_batch(steps);
	release_fixed(steps);
}
