/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A network's parameters and buffers are written to a safetensors file.
 */
#include <tenon/io.h>

#include "base/error.h"
#include "base/memory.h"
#include "nn/tensors.h"

/* Each tensor's offset in one block of host memory is a multiple of 8. */
static size_t room(const struct tn_network_tensor *tensor)
{
	return (tensor->size_bytes + 7) / 8 * 8;
}

static tn_status write_file(const tn_module *module, const char *path, size_t n, const char *values,
			    size_t n_pairs, const struct tn_pair *pairs)
{
	struct tn_error_info error;
	struct tn_tensor_source *tensors = tn_mem_zeroed(n, sizeof(*tensors));
	struct tn_metadata_entry *metadata = tn_mem_zeroed(n_pairs, sizeof(*metadata));
	tn_status status = TN_OUT_OF_MEMORY;
	tn_fail(&error, status, "module_save", "no host memory for the list of %zu tensors", n);
	if (tensors && metadata) {
		for (size_t i = 0; i < n; i++) {
			const struct tn_network_tensor tensor = tn_network_tensor_at(module, i);
			tensors[i] = (struct tn_tensor_source){.name = tensor.name,
							       .dtype = tensor.dtype,
							       .rank = (uint32_t)tensor.rank,
							       .shape = tensor.shape,
							       .data = values};
			values += room(&tensor);
		}
		for (size_t i = 0; i < n_pairs; i++)
			metadata[i] = (struct tn_metadata_entry){pairs[i].key, pairs[i].value};
		status = tn_safetensors_write(path, tensors, n, metadata, n_pairs, &error);
	}
	tn_mem_free(tensors);
	tn_mem_free(metadata);
	return status ? tn_runtime_keep(module->runtime, &error) : TN_OK;
}

tn_status tn_module_save(const tn_module *module, const char *path, size_t n_pairs,
			 const struct tn_pair *pairs)
{
	size_t n, size = 0;
	if (!module || !path)
		return tn_runtime_null(module ? module->runtime : NULL, "module_save", "path");
	tn_status status = tn_network_tensors_list(module, "module_save", &n);
	if (status)
		return status;
	for (size_t i = 0; i < n; i++) {
		const struct tn_network_tensor tensor = tn_network_tensor_at(module, i);
		size += room(&tensor);
	}
	/* All tensors, one after the other, on the host. */
	char *values = tn_mem_alloc(size), *at = values;
	if (!values)
		return tn_runtime_fail(module->runtime, TN_OUT_OF_MEMORY, "module_save",
				       "no host memory for %zu bytes of parameters", size);
	for (size_t i = 0; i < n && !status; i++) {
		const struct tn_network_tensor tensor = tn_network_tensor_at(module, i);
		status = tn_to_host(tensor.value, at, tensor.size_bytes);
		at += room(&tensor);
	}
	if (!status)
		status = write_file(module, path, n, values, n_pairs, pairs);
	tn_mem_free(values);
	return status;
}
