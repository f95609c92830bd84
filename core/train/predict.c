/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * tn_predict: a network's answers to images.
 */
#include <tenon/train.h>

#include "array/array.h"
#include "data/format.h"
#include "nn/module.h"

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
