/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A network's parameters in a safetensors file.  Loading reads everything into host memory first, so
 * that a bad file changes nothing.
 */
#include <stdio.h>
#include <string.h>

#include <tenon/io.h>

#include "base/error.h"
#include "base/memory.h"
#include "nn/module.h"

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

/* All weights of the listing, one after the other, on the host; freed by the caller. */
static tn_status fetch_all(const tn_module *module, float **values)
{
	size_t n = (size_t)tn_module_size(module, 0), at = 0;
	*values = tn_mem_alloc(n * sizeof(**values));
	if (!*values)
		return tn_runtime_fail(module->runtime, TN_OUT_OF_MEMORY, "module_save",
				       "no memory for %zu parameters", n);
	for (size_t i = 0; i < module->n_listing; i++) {
		const struct tn_weight *weight = module->listing[i].weight;
		size_t size = (size_t)weight->size;
		tn_status status = tn_to_host(weight->value, *values + at, size * sizeof(float));
		if (status)
			return status;
		at += size;
	}
	return TN_OK;
}

static tn_status write_file(const tn_module *module, const char *path, const float *values,
			    size_t n_pairs, const struct tn_pair *pairs)
{
	struct tn_error_info error;
	size_t n = module->n_listing;
	struct tn_tensor_source *tensors = tn_mem_zeroed(n, sizeof(*tensors));
	struct tn_metadata_entry *metadata = tn_mem_zeroed(n_pairs, sizeof(*metadata));
	tn_status status = TN_OUT_OF_MEMORY;
	tn_fail(&error, status, "module_save", "no memory for the list of %zu tensors", n);
	if (tensors && metadata) {
		for (size_t i = 0; i < n; i++) {
			const struct tn_weight *weight = module->listing[i].weight;
			tensors[i] = (struct tn_tensor_source){.name = module->listing[i].name,
							       .dtype = TN_F32,
							       .rank = (uint32_t)weight->rank,
							       .shape = weight->shape,
							       .data = values};
			values += weight->size;
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
	float *values = NULL;
	tn_status status = check_built(module, "module_save");
	if (status)
		return status;
	status = fetch_all(module, &values);
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

static tn_status check_tensor(const struct tn_named_weight *named,
			      const struct tn_tensor_info *info, const char *path,
			      struct tn_error_info *error)
{
	const struct tn_weight *weight = named->weight;
	if (info->dtype != TN_F32)
		return tn_fail(error, TN_DTYPE, "module_load",
			       "%s: tensor '%s': expected F32, found %s", path, named->name,
			       info->type);
	if (info->rank != (uint32_t)weight->rank ||
	    memcmp(info->shape, weight->shape, (size_t)weight->rank * sizeof(int64_t)) != 0) {
		char expected[128], found[128];
		shape_text(expected, sizeof(expected), weight->rank, weight->shape);
		shape_text(found, sizeof(found), (int)info->rank, info->shape);
		return tn_fail(error, TN_SHAPE, "module_load",
			       "%s: tensor '%s': expected shape %s, found %s", path, named->name,
			       expected, found);
	}
	return TN_OK;
}

static tn_status read_tensor(const tn_safetensors *file, const char *path,
			     const struct tn_named_weight *named, float *values,
			     struct tn_error_info *error)
{
	size_t index;
	struct tn_tensor_info info = {.struct_size = sizeof(info)};
	tn_status status = tn_safetensors_find(file, named->name, &index, error);
	if (!status)
		status = tn_safetensors_info(file, index, &info);
	if (!status)
		status = check_tensor(named, &info, path, error);
	if (!status)
		status = tn_safetensors_read(file, index, values, info.size_bytes, error);
	return status;
}

static tn_status read_all(const tn_module *module, const char *path, float *values,
			  struct tn_error_info *error)
{
	tn_safetensors *file = NULL;
	tn_status status = tn_safetensors_open(path, &file, error);
	for (size_t i = 0; i < module->n_listing && !status; i++) {
		status = read_tensor(file, path, &module->listing[i], values, error);
		values += module->listing[i].weight->size;
	}
	if (!status && tn_safetensors_count(file) != module->n_listing)
		status = tn_fail(error, TN_FORMAT, "module_load",
				 "%s: expected the network's %zu tensors, found %zu", path,
				 module->n_listing, tn_safetensors_count(file));
	tn_safetensors_close(file);
	return status;
}

static tn_status assign_all(const tn_module *module, const float *values)
{
	for (size_t i = 0; i < module->n_listing; i++) {
		const struct tn_weight *weight = module->listing[i].weight;
		size_t size = (size_t)weight->size;
		tn_status status = tn_assign_host(weight->value, values, size * sizeof(float));
		if (status)
			return status;
		values += size;
	}
	return TN_OK;
}

tn_status tn_module_load(tn_module *module, const char *path)
{
	if (!module || !path)
		return TN_INVALID_ARGUMENT;
	tn_status status = check_built(module, "module_load");
	if (status)
		return status;
	struct tn_error_info error;
	float *values = tn_mem_alloc((size_t)tn_module_size(module, 0) * sizeof(*values));
	if (!values)
		return tn_runtime_fail(module->runtime, TN_OUT_OF_MEMORY, "module_load",
				       "no memory for the parameters");
	status = read_all(module, path, values, &error);
	status = status ? tn_runtime_keep(module->runtime, &error) : assign_all(module, values);
	tn_mem_free(values);
	return status;
}
