/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Lists the parameters and buffers of a built network as the tensors of its file.
 */
#include "nn/tensors.h"

#include "nn/tree.h"

tn_status tn_network_tensors_list(const tn_module *module, const char *operation, size_t *n)
{
	tn_status status = tn_runtime_ready(module->runtime);
	if (!status)
		status = tn_module_list(module);
	if (!status && !tn_module_is_built(module))
		status = tn_runtime_fail(module->runtime, TN_STATE, operation,
					 "the module has not been built");
	if (!status)
		*n = module->n_listing + module->n_buffer_listing;
	return status;
}

struct tn_network_tensor tn_network_tensor_at(const tn_module *module, size_t i)
{
	if (i < module->n_listing) {
		const struct tn_weight *weight = module->listing[i].weight;
		const tn_dtype dtype = tn_module_dtype(module);
		return (struct tn_network_tensor){.name = module->listing[i].name,
						  .dtype = dtype,
						  .rank = weight->rank,
						  .shape = weight->shape,
						  .value = weight->value,
						  .size_bytes = (size_t)weight->size *
								tn_dtype_size(dtype)};
	}
	const struct tn_named_buffer *named = &module->buffer_listing[i - module->n_listing];
	const struct tn_buffer *buffer = named->buffer;
	return (struct tn_network_tensor){.name = named->name,
					  .dtype = buffer->dtype,
					  .rank = buffer->rank,
					  .shape = buffer->shape,
					  .value = buffer->value,
					  .size_bytes = (size_t)buffer->size *
							tn_dtype_size(buffer->dtype),
					  .is_optional = buffer->is_optional};
}
