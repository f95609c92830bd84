/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A network's parameters and buffers in a safetensors file.  Loading reads everything into host
 * memory first, so that a bad file changes nothing.
 */
#include <stdio.h>
#include <string.h>

#include <tenon/io.h>

#include "base/error.h"
#include "base/memory.h"
#include "nn/module.h"
#include "nn/tree.h"

/* Can the module be saved or loaded now? */
static tn_status check_built(const tn_module *module, const char *operation)
{
	tn_status status = tn_runtime_ready(module->runtime);
	if (!status)
		status = tn_module_list(module);
	if (!status && !tn_module_is_built(module))
		status = tn_runtime_fail(module->runtime, TN_STATE, operation,
					 "the module has not been built");
	return status;
}

/* A parameter or a buffer, by number: parameters come first. */
struct tensor {
	const char *name;
	tn_dtype dtype;
	int rank;
	const int64_t *shape;
	tn_array *value;
	size_t size_bytes;
};

static size_t tensor_count(const tn_module *module)
{
	return module->n_listing + module->n_buffer_listing;
}

static struct tensor tensor_at(const tn_module *module, size_t i)
{
	if (i < module->n_listing) {
		const struct tn_weight *weight = module->listing[i].weight;
		return (struct tensor){
			module->listing[i].name, TN_F32,        weight->rank,
			weight->shape,           weight->value, (size_t)weight->size * 4};
	}
	const struct tn_named_buffer *named = &module->buffer_listing[i - module->n_listing];
	const struct tn_buffer *buffer = named->buffer;
	return (struct tensor){named->name,   buffer->dtype,
			       buffer->rank,  buffer->shape,
			       buffer->value, (size_t)buffer->size * tn_dtype_size(buffer->dtype)};
}

/* Each tensor's offset in one block of host memory is a multiple of 8. */
static size_t room(const struct tensor *tensor)
{
	return (tensor->size_bytes + 7) / 8 * 8;
}

static size_t total_room(const tn_module *module)
{
	size_t total = 0;
	for (size_t i = 0; i < tensor_count(module); i++) {
		const struct tensor tensor = tensor_at(module, i);
		total += room(&tensor);
	}
	return total;
}

static tn_status write_file(const tn_module *module, const char *path, const char *values,
			    size_t n_pairs, const struct tn_pair *pairs)
{
	struct tn_error_info error;
	size_t n = tensor_count(module);
	struct tn_tensor_source *tensors = tn_mem_zeroed(n, sizeof(*tensors));
	struct tn_metadata_entry *metadata = tn_mem_zeroed(n_pairs, sizeof(*metadata));
	tn_status status = TN_OUT_OF_MEMORY;
	tn_fail(&error, status, "module_save", "no memory for the list of %zu tensors", n);
	if (tensors && metadata) {
		for (size_t i = 0; i < n; i++) {
			const struct tensor tensor = tensor_at(module, i);
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
	if (!module || !path)
		return TN_INVALID_ARGUMENT;
	tn_status status = check_built(module, "module_save");
	if (status)
		return status;
	/* All tensors, one after the other, on the host. */
	size_t size = total_room(module);
	char *values = tn_mem_alloc(size), *at = values;
	if (!values)
		return tn_runtime_fail(module->runtime, TN_OUT_OF_MEMORY, "module_save",
				       "no memory for %zu bytes of parameters", size);
	for (size_t i = 0; i < tensor_count(module) && !status; i++) {
		const struct tensor tensor = tensor_at(module, i);
		status = tn_to_host(tensor.value, at, tensor.size_bytes);
		at += room(&tensor);
	}
	if (!status)
		status = write_file(module, path, values, n_pairs, pairs);
	tn_mem_free(values);
	return status;
}

static void shape_text(char *text, size_t size, int rank, const int64_t *shape)
{
	size_t at = (size_t)snprintf(text, size, "(");
	for (int i = 0; i < rank && at < size; i++)
		at += (size_t)snprintf(text + at, size - at, i ? ", %lld" : "%lld",
				       (long long)shape[i]);
	if (at < size)
		snprintf(text + at, size - at, ")");
}

static tn_status check_tensor(const struct tensor *tensor, const struct tn_tensor_info *info,
			      const char *path, struct tn_error_info *error)
{
	if (info->dtype != tensor->dtype)
		return tn_fail(error, TN_DTYPE, "module_load",
			       "%s: tensor '%s': expected %s, found %s", path, tensor->name,
			       tensor->dtype == TN_F32 ? "F32" : tn_dtype_name(tensor->dtype),
			       info->type);
	if (info->rank != (uint32_t)tensor->rank ||
	    memcmp(info->shape, tensor->shape, (size_t)tensor->rank * sizeof(int64_t)) != 0) {
		char expected[128], found[128];
		shape_text(expected, sizeof(expected), tensor->rank, tensor->shape);
		shape_text(found, sizeof(found), (int)info->rank, info->shape);
		return tn_fail(error, TN_SHAPE, "module_load",
			       "%s: tensor '%s': expected shape %s, found %s", path, tensor->name,
			       expected, found);
	}
	return TN_OK;
}

static tn_status read_all(const tn_module *module, const char *path, char *values,
			  struct tn_error_info *error)
{
	tn_safetensors *file = NULL;
	size_t n = tensor_count(module);
	tn_status status = tn_safetensors_open(path, &file, error);
	for (size_t i = 0; i < n && !status; i++) {
		const struct tensor tensor = tensor_at(module, i);
		struct tn_tensor_info info = {.struct_size = sizeof(info)};
		size_t index;
		status = tn_safetensors_find(file, tensor.name, &index, error);
		if (!status)
			status = tn_safetensors_info(file, index, &info);
		if (!status)
			status = check_tensor(&tensor, &info, path, error);
		if (!status)
			status = tn_safetensors_read(file, index, values, info.size_bytes, error);
		values += room(&tensor);
	}
	if (!status && tn_safetensors_count(file) != n)
		status = tn_fail(error, TN_FORMAT, "module_load",
				 "%s: expected the network's %zu tensors, found %zu", path, n,
				 tn_safetensors_count(file));
	tn_safetensors_close(file);
	return status;
}

tn_status tn_module_load(tn_module *module, const char *path)
{
	if (!module || !path)
		return TN_INVALID_ARGUMENT;
	tn_status status = check_built(module, "module_load");
	if (status)
		return status;
	struct tn_error_info error;
	char *values = tn_mem_alloc(total_room(module)), *at = values;
	if (!values)
		return tn_runtime_fail(module->runtime, TN_OUT_OF_MEMORY, "module_load",
				       "no memory for the parameters");
	status = read_all(module, path, values, &error);
	if (status)
		status = tn_runtime_keep(module->runtime, &error);
	for (size_t i = 0; i < tensor_count(module) && !status; i++) {
		const struct tensor tensor = tensor_at(module, i);
		status = tn_assign_host(tensor.value, at, tensor.size_bytes);
		at += room(&tensor);
	}
	tn_mem_free(values);
	return status;
}
