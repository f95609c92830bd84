/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * tn_evaluate, tn_evaluate_parallel and tn_predict: a network's loss and accuracy on a part, and
 * its answers.
 */
#include <string.h>

#include "array/array.h"
#include "data/format.h"
#include "nn/module.h"
#include "train/trainer_evaluate.h"

/* Both are owned by the caller, on failure too. */
static tn_status make_metrics(tn_context *context, tn_metric *metrics[2])
{
	metrics[0] = tn_metric_create(context, NULL);
	struct tn_metric_options options = tn_metric_defaults();
	options.kind = TN_METRIC_CONFUSION;
	metrics[1] = tn_metric_create(context, &options);
	return tn_runtime_of(context)->error.status;
}

static tn_status evaluate(tn_module *module, tn_data_parallel *parallel, tn_data_loader *loader,
			  size_t n_classes, struct tn_evaluation *result, uint64_t *confusion)
{
	struct tn_objective objective;
	struct tn_trainer_values values;
	double numbers[2];
	tn_metric *metrics[2] = {NULL, NULL};
	const struct tn_trainer_options options = tn_trainer_defaults();
	tn_status status = tn_objective_take(&objective, module, &options);
	if (!status)
		status = make_metrics(module->context, metrics);
	if (!status)
		status = tn_evaluate_loader(&objective, parallel, loader, confusion ? 2 : 1,
					    metrics, numbers, &values);
	if (!status && !values.samples)
		status = tn_runtime_fail(module->runtime, TN_INVALID_ARGUMENT, "evaluate",
					 "expected a part with samples, found none");
	if (!status && confusion)
		status = tn_metric_counts(metrics[1], confusion, n_classes * n_classes);
	if (!status)
		*result = (struct tn_evaluation){.loss = values.loss,
						 .accuracy = numbers[0],
						 .images = values.samples,
						 .seconds = values.seconds};
	tn_metric_destroy(metrics[0]);
	tn_metric_destroy(metrics[1]);
	return status;
}

tn_status tn_evaluate_parallel(tn_module *module, tn_data_parallel *parallel,
			       const tn_dataset *dataset, int part, uint32_t batch_size,
			       struct tn_evaluation *result, uint64_t *confusion)
{
	struct tn_error_info error;
	tn_data_loader *loader;
	if (!module || !dataset || !result)
		return tn_runtime_null(module ? module->runtime : NULL, "evaluate",
				       dataset ? "result" : "dataset");
	tn_status status = tn_runtime_ready(module->runtime);
	if (status)
		return status;
	const size_t n_classes = tn_dataset_class_count(dataset);
	const uint32_t rank = parallel ? tn_communicator_rank(parallel->communicator) : 0;
	const uint32_t n_ranks = parallel ? tn_communicator_size(parallel->communicator) : 1;
	struct tn_data_loader_options options = tn_data_loader_defaults();
	options.batch_size = batch_size ? batch_size : 256 * n_ranks;
	options.context = module->context;
	options.rank = rank;
	options.n_ranks = n_ranks;
	options.uneven = 1;
	if (!tn_dataset_format(dataset))
		return tn_runtime_fail(module->runtime, TN_INVALID_ARGUMENT, "evaluate",
				       "expected a data set of labelled images, found '%s', "
				       "which has other samples",
				       tn_dataset_name(dataset));
	if (confusion)
		memset(confusion, 0, n_classes * n_classes * sizeof(*confusion));
	if (tn_data_loader_create(dataset, part, &options, &loader, &error))
		return tn_runtime_keep(module->runtime, &error);
	status = evaluate(module, parallel, loader, n_classes, result, confusion);
	tn_data_loader_destroy(loader);
	return status;
}

tn_status tn_evaluate(tn_module *module, const tn_dataset *dataset, int part, uint32_t batch_size,
		      struct tn_evaluation *result, uint64_t *confusion)
{
	return tn_evaluate_parallel(module, NULL, dataset, part, batch_size, result, confusion);
}

static const tn_array *in_dtype(const tn_array *array, tn_dtype dtype)
{
	return array && array->dtype != dtype ? tn_astype(array, dtype) : array;
}

tn_status tn_predict(tn_module *module, const struct tn_input_format *given, uint32_t n,
		     const float *images, float *probabilities)
{
	struct tn_input_format format;
	struct tn_error_info error;
	if (!module || !given || !images || !probabilities)
		return tn_runtime_null(module ? module->runtime : NULL, "predict",
				       !given    ? "format"
				       : !images ? "images"
						 : "probabilities");
	int training = module->training;
	tn_status status = tn_runtime_ready(module->runtime);
	if (!status && tn_input_format_take(&format, given, &error))
		status = tn_runtime_keep(module->runtime, &error);
	if (!status)
		status = tn_scope_begin(module->context);
	if (status)
		return status;
	const int64_t shape[] = {n, format.channels, format.height, format.width};
	tn_module_set_training(module, 0);
	tn_array *x = tn_from_host(module->context, TN_F32, 4, shape, images);
	tn_array *y = tn_module_forward(module, in_dtype(x, tn_module_dtype(module)));
	const tn_array *p = tn_softmax(in_dtype(y, TN_F32), 1);
	status = p ? tn_to_host(p, probabilities, (size_t)n * format.n_classes * sizeof(float))
		   : module->runtime->error.status;
	tn_module_set_training(module, training);
	tn_scope_end(module->context, NULL);
	return status;
}
