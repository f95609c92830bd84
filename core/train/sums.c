/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Adds up losses and metrics of batches on the device, and reads or joins the sums.
 */
#include "train/sums.h"

#include <string.h>
#include <time.h>

#include "distributed/agree.h"

double tn_clock_seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

tn_status tn_sums_begin(struct tn_sums *sums, tn_context *context, tn_dtype dtype, size_t n_metrics,
			tn_metric *const *metrics)
{
	struct tn_runtime *rt = tn_runtime_of(context);
	memset(sums, 0, sizeof(*sums));
	sums->context = context;
	sums->n_metrics = n_metrics;
	sums->metrics = metrics;
	sums->started = tn_clock_seconds();
	tn_status status = tn_scope_begin(context);
	if (status)
		return status;
	const tn_dtype wide = dtype == TN_F64 ? TN_F64 : TN_F32;
	tn_array *loss = tn_zeros(context, wide, 0, NULL);
	tn_array *weight = tn_zeros(context, wide, 0, NULL);
	sums->loss = loss ? tn_array_hold(loss) : NULL;
	sums->weight = weight ? tn_array_hold(weight) : NULL;
	tn_scope_end(context, NULL);
	for (size_t i = 0; i < n_metrics && loss && weight && !status; i++)
		status = tn_metric_pass_begin(metrics[i], &sums->passes[i]);
	if (!status)
		status = rt->error.status;
	if (status)
		tn_sums_end(sums);
	return status;
}

void tn_sums_end(struct tn_sums *sums)
{
	for (size_t i = 0; i < sums->n_metrics; i++)
		tn_metric_pass_end(sums->metrics[i], sums->passes[i]);
	tn_array_unhold(sums->loss);
	tn_array_unhold(sums->weight);
	memset(sums, 0, sizeof(*sums));
}

void tn_sums_count(struct tn_sums *sums, int is_weighted, uint32_t n)
{
	sums->samples += n;
	sums->equal += is_weighted ? 0 : n;
}

tn_status tn_sums_add(struct tn_sums *sums, const struct tn_loss_value *loss,
		      const tn_array *output, const tn_array *target, uint32_t n)
{
	struct tn_runtime *rt = tn_runtime_of(sums->context);
	tn_status status = TN_OK;
	if (sums->n_metrics && !output)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, "trainer",
				       "step_function: expected *output for the metrics, found "
				       "none");
	for (size_t i = 0; i < sums->n_metrics && !status; i++)
		status = tn_metric_pass_add(sums->metrics[i], sums->passes[i], output, target);
	if (status)
		return status;
	const tn_array *sum = loss->weight ? loss->loss : tn_affine(loss->loss, n, 0.0);
	tn_sums_count(sums, loss->weight != NULL, n);
	status = sum ? tn_add_into(sums->loss, sums->loss, sum) : rt->error.status;
	if (!status && loss->weight)
		status = tn_add_into(sums->weight, sums->weight, loss->weight);
	return status;
}

/* ---- Ranks -----------------------------------------------------------------------------------*/

static tn_status keep(const struct tn_sums *sums, struct tn_sums_kept *kept)
{
	tn_array *arrays[TN_METRIC_ARRAYS];
	struct tn_runtime *rt = tn_runtime_of(sums->context);
	*kept = (struct tn_sums_kept){.samples = sums->samples, .equal = sums->equal};
	tn_status status = tn_item(sums->loss, &kept->loss);
	if (!status)
		status = tn_item(sums->weight, &kept->weight);
	for (size_t i = 0; i < sums->n_metrics && !status; i++) {
		size_t n = tn_metric_pass_arrays(sums->metrics[i], sums->passes[i], arrays,
						 TN_METRIC_ARRAYS);
		for (size_t k = 0; k < n && !status; k++) {
			tn_array *copy = tn_copy(arrays[k]);
			status = copy ? TN_OK : rt->error.status;
			kept->arrays[i][k] = copy ? tn_array_hold(copy) : NULL;
		}
	}
	return status;
}

static tn_status join(struct tn_sums *sums, tn_communicator *communicator)
{
	double totals[4] = {0, 0, (double)sums->samples, (double)sums->equal};
	tn_status status = tn_item(sums->loss, &totals[0]);
	if (!status)
		status = tn_item(sums->weight, &totals[1]);
	if (!status)
		status = tn_agree_sum(communicator, 4, totals, "the sums of losses");
	for (size_t i = 0; i < sums->n_metrics && !status; i++)
		status = tn_metric_pass_join(sums->metrics[i], sums->passes[i], communicator);
	if (!status)
		status = tn_fill(sums->loss, totals[0]);
	if (!status)
		status = tn_fill(sums->weight, totals[1]);
	if (status)
		return status;
	sums->samples = (uint64_t)totals[2];
	sums->equal = (uint64_t)totals[3];
	return TN_OK;
}

tn_status tn_sums_join(struct tn_sums *sums, tn_communicator *communicator,
		       struct tn_sums_kept *kept)
{
	tn_status status = tn_scope_begin(sums->context);
	if (status)
		return status;
	status = kept ? keep(sums, kept) : TN_OK;
	if (!status)
		status = join(sums, communicator);
	tn_scope_end(sums->context, NULL);
	return status;
}

tn_status tn_sums_leave(struct tn_sums *sums, struct tn_sums_kept *kept)
{
	tn_array *arrays[TN_METRIC_ARRAYS];
	tn_status status = tn_fill(sums->loss, kept->loss);
	if (!status)
		status = tn_fill(sums->weight, kept->weight);
	sums->samples = kept->samples;
	sums->equal = kept->equal;
	for (size_t i = 0; i < sums->n_metrics; i++) {
		size_t n = tn_metric_pass_arrays(sums->metrics[i], sums->passes[i], arrays,
						 TN_METRIC_ARRAYS);
		for (size_t k = 0; k < n; k++) {
			tn_array *own = kept->arrays[i][k];
			if (!status)
				status = own ? tn_assign(arrays[k], own) : tn_fill(arrays[k], 0);
			tn_array_unhold(own);
			kept->arrays[i][k] = NULL;
		}
	}
	return status;
}

tn_status tn_sums_read(const struct tn_sums *sums, double *metrics,
		       struct tn_trainer_values *values)
{
	double loss, weight = 0.0;
	tn_status status = tn_item(sums->loss, &loss);
	if (!status && sums->equal < sums->samples)
		status = tn_item(sums->weight, &weight);
	for (size_t i = 0; i < sums->n_metrics && !status; i++)
		status = tn_metric_pass_value(sums->metrics[i], sums->passes[i], &metrics[i]);
	if (status)
		return status;
	*values = (struct tn_trainer_values){
		.struct_size = sizeof(*values),
		.loss = loss / (weight + (double)sums->equal),
		.metrics = metrics,
		.samples = sums->samples,
		.seconds = tn_clock_seconds() - sums->started,
	};
	return TN_OK;
}
