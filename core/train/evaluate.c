/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 */
#include <tenon/loss.h>

#include <string.h>

#include "array/array.h"
#include "base/memory.h"
#include "data/format.h"
#include "nn/module.h"
#include "train/batches.h"

/* Counts the network's answers by label. */
static tn_status count_answers(const tn_array *logits, const int32_t *labels, uint32_t n,
			       int64_t n_classes, uint64_t *confusion)
{
	tn_array *says = tn_argmax(logits, 1);
	int64_t *host = tn_mem_alloc(n * sizeof(*host));
	tn_status status = says ? TN_OK : logits ? logits->runtime->error.status : TN_PENDING_ERROR;
	if (!host && !status)
		status = tn_runtime_fail(says->runtime, TN_OUT_OF_MEMORY, "evaluate",
					 "no memory for answers");
	if (!status)
		status = tn_to_host(says, host, n * sizeof(*host));
	for (uint32_t i = 0; i < n && !status; i++) {
		if (labels[i] >= 0 && labels[i] < n_classes && host[i] >= 0 && host[i] < n_classes)
			confusion[labels[i] * n_classes + host[i]]++;
	}
	tn_mem_free(host);
	return status;
}

static tn_status evaluate_batch(tn_module *module, struct tn_batches *batches, struct tn_sums *sums,
				int64_t n_classes, uint64_t *confusion, uint32_t *n)
{
	tn_array *x, *labels;
	tn_status status = tn_batches_next(batches, &x, &labels, n);
	if (status || !*n)
		return status;
	tn_array *logits = tn_module_forward(module, x);
	tn_array *loss = tn_cross_entropy(logits, labels, NULL);
	status = loss ? tn_sums_add(sums, loss, logits, labels, *n) : module->runtime->error.status;
	if (!status && confusion)
		status = count_answers(logits, batches->labels, *n, n_classes, confusion);
	return status;
}

tn_status tn_evaluate(tn_module *module, const tn_dataset *dataset, int part, uint32_t batch_size,
		      struct tn_evaluation *result, uint64_t *confusion)
{
	if (!module || !dataset || !result)
		return TN_INVALID_ARGUMENT;
	struct tn_batches batches;
	struct tn_sums sums = {0};
	int64_t n_classes = tn_dataset_class_count(dataset);
	struct tn_data_loader_options options = {.struct_size = sizeof(options),
						 .batch_size = batch_size ? batch_size : 256};
	tn_status status = tn_runtime_ready(module->runtime);
	if (status)
		return status;
	int training = module->training;
	if (confusion)
		memset(confusion, 0, (size_t)(n_classes * n_classes) * sizeof(*confusion));
	status = tn_batches_open(&batches, module->context, dataset, part, &options);
	if (status)
		return status;
	tn_module_set_training(module, 0);
	uint32_t n = 1;
	status = tn_sums_begin(&sums, module->context);
	while (n && !status) {
		status = tn_scope_begin(module->context);
		if (status)
			break;
		status = evaluate_batch(module, &batches, &sums, n_classes, confusion, &n);
		tn_scope_end(module->context, NULL);
	}
	if (!status)
		status = tn_sums_read(&sums, result);
	tn_module_set_training(module, training);
	tn_sums_end(&sums);
	tn_batches_close(&batches);
	return status;
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
		return TN_INVALID_ARGUMENT;
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
