/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Evaluates a network over a loader's part, and restores position and mode.
 */
#include "train/trainer_evaluate.h"

#include "array/array.h"
#include "nn/module.h"

/* *n = 0: there are no more. */
static tn_status evaluate_batch(const struct tn_objective *o, struct tn_batches *batches,
				struct tn_sums *sums, uint32_t *n)
{
	struct tn_loss_value loss;
	tn_array *fields[TN_MAX_FIELDS], *output, *target;
	tn_status status = tn_batches_load(batches);
	*n = batches->batch.n;
	if (!status && *n)
		status = tn_batches_upload(batches, fields);
	if (status || !*n)
		return status;
	status = tn_objective_loss(o, batches->n_fields, fields, *n, &loss, &output, &target);
	return status ? status : tn_sums_add(sums, &loss, output, target, *n);
}

static tn_status evaluate_part(const struct tn_objective *o, struct tn_batches *batches,
			       struct tn_sums *sums)
{
	uint32_t n = 1;
	tn_status status = TN_OK;
	while (n && !status) {
		status = tn_scope_begin(o->context);
		if (status)
			break;
		status = evaluate_batch(o, batches, sums, &n);
		tn_scope_end(o->context, NULL);
	}
	return status;
}

static tn_status seek(struct tn_runtime *rt, tn_data_loader *loader,
		      struct tn_data_position position)
{
	struct tn_error_info error;
	return tn_data_loader_seek(loader, position, &error) ? tn_runtime_keep(rt, &error) : TN_OK;
}

tn_status tn_evaluate_loader(const struct tn_objective *o, tn_data_parallel *parallel,
			     tn_data_loader *loader, size_t n_metrics, tn_metric *const *metrics,
			     double *numbers, struct tn_trainer_values *values)
{
	struct tn_batches batches;
	struct tn_sums sums;
	int training = o->module->training;
	const struct tn_data_position position = tn_data_loader_position(loader);
	tn_status status = tn_batches_of(&batches, o->context, loader);
	if (!status)
		status = tn_sums_begin(&sums, o->context, o->dtype, n_metrics, metrics);
	if (status)
		return status;
	tn_module_set_training(o->module, 0);
	status = seek(o->runtime, loader, (struct tn_data_position){0, 0});
	if (!status && parallel)
		status = tn_data_parallel_broadcast_buffers(parallel);
	if (!status)
		status = evaluate_part(o, &batches, &sums);
	if (!status && parallel)
		status = tn_sums_join(&sums, parallel->communicator, NULL);
	if (!status && !sums.samples)
		status = tn_runtime_fail(o->runtime, TN_INVALID_ARGUMENT, "evaluate",
					 "expected a part with samples, found none");
	if (!status)
		status = tn_sums_read(&sums, numbers, values);
	tn_module_set_training(o->module, training);
	/* Counts are read from the metrics themselves. */
	for (size_t i = 0; i < n_metrics; i++) {
		tn_metric_pass_end(metrics[i], metrics[i]->pass);
		metrics[i]->pass = sums.passes[i];
		metrics[i]->has_samples = !status;
		sums.passes[i] = NULL;
	}
	tn_sums_end(&sums);
	tn_status sought = seek(o->runtime, loader, position);
	return status ? status : sought;
}
