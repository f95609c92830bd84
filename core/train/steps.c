/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Training steps, captured where possible.
 */
#include "train/steps.h"

#include <tenon/loss.h>

#include "array/array.h"
#include "nn/module.h"

/* ---- Uncaptured steps ------------------------------------------------------------------------*/

static void keep_loss(struct tn_steps *steps, tn_array *loss)
{
	tn_array_unhold(steps->loss);
	steps->loss = loss ? tn_array_hold(loss) : NULL;
}

/* The step of the current batch. */
static tn_status run_step(struct tn_steps *steps, struct tn_sums *sums, uint32_t n)
{
	struct tn_runtime *runtime = steps->module->runtime;
	const tn_array *x = steps->batch[0], *labels = steps->batch[1];
	tn_module_zero_gradients(steps->module);
	tn_tape *tape = tn_tape_begin(steps->module->context);
	if (!tape)
		return runtime->error.status;
	tn_array *logits = tn_module_forward(steps->module, x);
	tn_array *loss = tn_cross_entropy(logits, labels, NULL);
	keep_loss(steps, loss);
	tn_status status = loss ? tn_tape_backward(tape, loss, NULL) : TN_PENDING_ERROR;
	tn_tape_end(tape);
	if (!status)
		status = tn_optimizer_step(steps->optimizer);
	if (!status)
		status = tn_sums_add(sums, loss, logits, labels, n);
	return status ? runtime->error.status : TN_OK;
}

/* ---- Captured steps --------------------------------------------------------------------------*/

/* The rest has a scope of its own, so that its arrays return their memory to the graph. */
static tn_status capture_step(struct tn_steps *steps, struct tn_sums *sums, uint32_t n)
{
	tn_context *context = steps->module->context;
	const struct tn_sums before = *sums;
	keep_loss(steps, NULL);
	tn_status status = tn_capture_begin(context);
	if (status)
		return status;
	if (!tn_scope_begin(context)) {
		/* The context keeps its error, which tn_capture_end returns. */
		(void)run_step(steps, sums, n);
		tn_scope_end(context, NULL);
	}
	status = tn_capture_end(context, &steps->graph);
	*sums = before;
	return status;
}

/* Steps on the arrays of full batches: the first uncaptured, the others captured where possible. */
static tn_status fixed_step(struct tn_steps *steps, struct tn_sums *sums, uint32_t n)
{
	struct tn_runtime *runtime = steps->module->runtime;
	if (!steps->is_warm) {
		steps->is_warm = 1;
		return run_step(steps, sums, n);
	}
	tn_status status = steps->graph ? TN_OK : capture_step(steps, sums, n);
	if (!status)
		status = tn_graph_replay(steps->graph);
	if (!status) {
		sums->images += n;
		return TN_OK;
	}
	/* Neither a capture nor a failed replay has changed anything.  Training continues without
	 * capture when the error only means that the step cannot be captured. */
	tn_steps_end_epoch(steps);
	if (steps->capture == TN_CAPTURE_ON ||
	    (status != TN_NOT_CAPTURABLE && status != TN_UNSUPPORTED && status != TN_OUT_OF_MEMORY))
		return status;
	tn_log_format(runtime->logger, TN_LOG_INFO, "train", "steps are not captured: %s: %s",
		      runtime->error.operation, runtime->error.text);
	tn_error_clear(steps->module->context);
	steps->capture = TN_CAPTURE_OFF;
	return run_step(steps, sums, n);
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
	struct tn_runtime *runtime = steps->module->runtime;
	int can_capture = tn_backend_has_all(runtime->device->backend, TN_SLOT_CAPTURE_BEGIN,
					     TN_SLOT_GRAPH_RELEASE);
	const char *no = NULL;
	if (!can_capture)
		no = "the device's backend cannot capture work";
	else if (runtime->ledger_time)
		no = "the ledger times every operation";
	else if (has_foreign(steps->module))
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
				       "capture: there is no full batch of %lld images",
				       (long long)steps->batches->shape[0]);
	return TN_OK;
}

static int is_fixed(const struct tn_steps *steps, uint32_t n)
{
	return n == steps->batches->shape[0] && steps->capture != TN_CAPTURE_OFF;
}

tn_status tn_steps_feed(struct tn_steps *steps, uint32_t n)
{
	tn_status status = TN_OK;
	if (steps->capture != TN_CAPTURE_OFF && !steps->is_settled)
		status = decide_capture(steps);
	if (status)
		return status;
	if (!is_fixed(steps, n)) {
		/* The last step of the epoch can use the graph's memory. */
		tn_steps_end_epoch(steps);
		return tn_batches_upload(steps->batches, n, &steps->batch[0], &steps->batch[1]);
	}
	if (!steps->x)
		status = tn_batches_make(steps->batches, &steps->x, &steps->labels);
	if (!status)
		status = tn_batches_assign(steps->batches, steps->x, steps->labels);
	steps->batch[0] = steps->x;
	steps->batch[1] = steps->labels;
	return status;
}

tn_status tn_steps_run(struct tn_steps *steps, struct tn_sums *sums, uint32_t n)
{
	return is_fixed(steps, n) ? fixed_step(steps, sums, n) : run_step(steps, sums, n);
}

tn_status tn_steps_loss(const struct tn_steps *steps, double *loss)
{
	return tn_item(steps->loss, loss);
}

void tn_steps_end_epoch(struct tn_steps *steps)
{
	tn_graph_destroy(steps->graph);
	steps->graph = NULL;
}

void tn_steps_end(struct tn_steps *steps)
{
	tn_steps_end_epoch(steps);
	tn_array_unhold(steps->loss);
	tn_array_unhold(steps->x);
	tn_array_unhold(steps->labels);
	steps->loss = steps->x = steps->labels = NULL;
}
