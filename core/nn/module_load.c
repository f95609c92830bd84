/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A network's parameters and buffers are read from a safetensors file, in three stages, so that a
 * bad file changes nothing:
 *
 *	match   each tensor of the file, renamed, with the network's; what does not match is a
 *	        problem, reported and, unless the options allow it, an error
 *	read    everything that matches, into host memory
 *	assign  to the network
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tenon/io.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/memory.h"
#include "nn/tensors.h"
#include "nn/tree.h"

/* Where the values of a tensor come from, in the order of names. */
struct target {
	const char *name;
	size_t number; /* of the network's tensor */
	int is_found;  /* also if it does not fit */
	int is_shared; /* it was found under another name of a shared parameter */
	int is_read;
	size_t source; /* in the file */
	size_t offset; /* in the block of host memory */
};

struct loading {
	tn_module *module;
	const char *path;
	struct tn_module_load_options options;
	tn_safetensors *file;
	int is_checkpoint; /* names that begin with a dot are not the network's */
	size_t n;
	struct target *targets;
	char *values;
	struct tn_error_info error; /* the first problem that is not allowed */
	size_t n_errors;
};

/* ---- Match -----------------------------------------------------------------------------------*/

static __attribute__((format(printf, 6, 7))) void add_problem(struct loading *loading,
							      uint32_t problem, int is_allowed,
							      tn_status status, const char *name,
							      const char *format, ...)
{
	struct tn_error_info found;
	va_list arguments;
	char text[400];
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (loading->options.report)
		loading->options.report(loading->options.user, problem, name, text);
	if (is_allowed)
		return;
	tn_fail(&found, status, "module_load", "%s: tensor '%s': %s", loading->path, name, text);
	if (!loading->n_errors++)
		loading->error = found;
}

static void shape_text(char *text, size_t size, int rank, const int64_t *shape)
{
	size_t at = (size_t)snprintf(text, size, "(");
	for (int i = 0; i < rank && at < size; i++)
		at += (size_t)snprintf(text + at, size - at, i ? ", %" PRId64 : "%" PRId64,
				       shape[i]);
	if (at < size)
		snprintf(text + at, size - at, ")");
}

static int is_convertible(tn_dtype from, tn_dtype to)
{
	return tn_is_floating(from) && tn_is_floating(to);
}

static int fits(struct loading *loading, const struct tn_network_tensor *tensor,
		const struct tn_tensor_info *info)
{
	const struct tn_module_load_options *options = &loading->options;
	if (info->dtype != tensor->dtype &&
	    !(options->convert && is_convertible(info->dtype, tensor->dtype))) {
		add_problem(loading, TN_LOAD_MISMATCH, options->allow_mismatch, TN_DTYPE,
			    tensor->name, "expected %s, found %s", tn_dtype_name(tensor->dtype),
			    info->type);
		return 0;
	}
	if (info->rank != (uint32_t)tensor->rank ||
	    memcmp(info->shape, tensor->shape, (size_t)tensor->rank * sizeof(int64_t)) != 0) {
		char expected[128], found[128];
		shape_text(expected, sizeof(expected), tensor->rank, tensor->shape);
		shape_text(found, sizeof(found), (int)info->rank, info->shape);
		add_problem(loading, TN_LOAD_MISMATCH, options->allow_mismatch, TN_SHAPE,
			    tensor->name, "expected shape %s, found %s", expected, found);
		return 0;
	}
	return 1;
}

static int compare_targets(const void *a, const void *b)
{
	return strcmp(((const struct target *)a)->name, ((const struct target *)b)->name);
}

/* The network's name of a tensor of the file: by the first rename whose key it begins with.  NULL:
 * no memory; the caller frees it. */
static char *renamed(const struct tn_module_load_options *options, const char *name)
{
	const char *begin = "";
	for (size_t i = 0; i < options->n_renames; i++) {
		size_t length = strlen(options->renames[i].key);
		if (strncmp(name, options->renames[i].key, length) != 0)
			continue;
		begin = options->renames[i].value;
		name += length;
		break;
	}
	size_t size = strlen(begin) + strlen(name) + 1;
	char *result = tn_mem_alloc(size);
	if (result)
		snprintf(result, size, "%s%s", begin, name);
	return result;
}

/* The network's tensor of that first name; NULL: there is none. */
static struct target *find_target(const struct loading *loading, const char *name)
{
	const struct target key = {.name = name};
	return bsearch(&key, loading->targets, loading->n, sizeof(key), compare_targets);
}

static tn_status match_one(struct loading *loading, size_t source)
{
	struct tn_tensor_info info = {.struct_size = sizeof(info)};
	tn_status status = tn_safetensors_at(loading->file, source, &info);
	if (!status && loading->is_checkpoint && info.name[0] == '.')
		return TN_OK;
	char *name = status ? NULL : renamed(&loading->options, info.name);
	if (!name)
		return tn_no_memory(&loading->error, "module_load", NULL, "the name of a tensor");
	struct target *target = find_target(loading, name);
	const struct tn_named_weight *shared =
		target ? NULL : tn_module_named_weight(loading->module, name);
	if (shared)
		target = find_target(loading, shared->name);
	if (!target) {
		add_problem(loading, TN_LOAD_UNEXPECTED, loading->options.allow_unexpected,
			    TN_FORMAT, name, "the network has no such tensor");
	} else if (target->is_found && (shared || target->is_shared)) {
		/* The file has the shared parameter under each of its names. */
	} else if (target->is_found) {
		status = tn_fail(&loading->error, TN_FORMAT, "module_load",
				 "%s: two tensors, the second is '%s', are renamed to '%s'",
				 loading->path, info.name, name);
	} else {
		const struct tn_network_tensor tensor =
			tn_network_tensor_at(loading->module, target->number);
		target->is_found = 1;
		target->is_shared = shared != NULL;
		target->is_read = fits(loading, &tensor, &info);
		target->source = source;
	}
	tn_mem_free(name);
	return status;
}

static tn_status match(struct loading *loading)
{
	tn_status status = TN_OK;
	loading->targets = tn_mem_zeroed(loading->n, sizeof(*loading->targets));
	if (!loading->targets)
		return tn_fail(&loading->error, TN_OUT_OF_MEMORY, "module_load",
			       "no host memory for the list of %zu tensors", loading->n);
	for (size_t i = 0; i < loading->n; i++)
		loading->targets[i] = (struct target){
			.name = tn_network_tensor_at(loading->module, i).name, .number = i};
	qsort(loading->targets, loading->n, sizeof(*loading->targets), compare_targets);
	loading->is_checkpoint = tn_safetensors_metadata(loading->file, TN_CHECKPOINT_KEY) != NULL;
	for (size_t i = 0; i < tn_safetensors_count(loading->file) && !status; i++)
		status = match_one(loading, i);
	for (size_t i = 0; i < loading->n && !status; i++) {
		const struct target *target = &loading->targets[i];
		if (target->is_found)
			continue;
		int is_optional = tn_network_tensor_at(loading->module, target->number).is_optional;
		add_problem(loading, TN_LOAD_MISSING, loading->options.allow_missing || is_optional,
			    TN_NOT_FOUND, target->name, "the file has no such tensor");
	}
	if (status || !loading->n_errors)
		return status;
	if (loading->n_errors > 1) {
		size_t at = strlen(loading->error.text);
		snprintf(loading->error.text + at, sizeof(loading->error.text) - at,
			 " (and %zu more)", loading->n_errors - 1);
	}
	return loading->error.status;
}

/* ---- Read, assign ----------------------------------------------------------------------------*/

static tn_status read_values(struct loading *loading)
{
	struct tn_tensor_info info = {.struct_size = sizeof(info)};
	tn_status status = TN_OK;
	uint64_t size = 0;
	for (size_t i = 0; i < loading->n && !status; i++) {
		struct target *target = &loading->targets[i];
		if (!target->is_read)
			continue;
		target->offset = (size_t)size;
		status = tn_safetensors_at(loading->file, target->source, &info);
		size += (info.size_bytes + 7) / 8 * 8;
	}
	loading->values = tn_mem_alloc((size_t)size);
	if (!loading->values)
		return tn_fail(&loading->error, TN_OUT_OF_MEMORY, "module_load",
			       "no host memory for %" PRIu64 " bytes of parameters", size);
	for (size_t i = 0; i < loading->n && !status; i++) {
		const struct target *target = &loading->targets[i];
		if (!target->is_read)
			continue;
		status = tn_safetensors_at(loading->file, target->source, &info);
		if (!status)
			status = tn_safetensors_read(loading->file, target->source,
						     loading->values + target->offset,
						     (size_t)info.size_bytes, &loading->error);
	}
	return status;
}

static tn_status assign(const struct loading *loading, const struct target *target)
{
	const struct tn_network_tensor tensor =
		tn_network_tensor_at(loading->module, target->number);
	const char *values = loading->values + target->offset;
	struct tn_tensor_info info = {.struct_size = sizeof(info)};
	tn_status status = tn_safetensors_at(loading->file, target->source, &info);
	if (status || info.dtype == tensor.dtype)
		return status ? status : tn_assign_host(tensor.value, values, tensor.size_bytes);
	tn_context *context = loading->module->runtime->context;
	tn_array *found = tn_from_host(context, info.dtype, tensor.rank, tensor.shape, values);
	tn_array *converted = tn_astype(found, tensor.dtype);
	status = tn_assign(tensor.value, converted);
	tn_array_destroy(converted);
	tn_array_destroy(found);
	return status;
}

tn_status tn_module_load(tn_module *module, const char *path,
			 const struct tn_module_load_options *options)
{
	struct loading loading = {.module = module, .path = path};
	struct tn_module_load_options *own = &loading.options;
	if (!module || !path)
		return tn_runtime_null(module ? module->runtime : NULL, "module_load", "path");
	tn_status status = tn_network_tensors_list(module, "module_load", &loading.n);
	if (!status && options)
		status = tn_runtime_take(module->runtime, own, sizeof(*own), options,
					 "struct tn_module_load_options", "module_load");
	for (size_t i = 0; i < own->n_renames && !status; i++) {
		if (!own->renames || !own->renames[i].key || !own->renames[i].value)
			status =
				tn_runtime_fail(module->runtime, TN_INVALID_ARGUMENT, "module_load",
						"renames[%zu]: expected a key and a value", i);
	}
	if (status)
		return status;
	status = tn_safetensors_open(path, &loading.file, &loading.error);
	if (!status)
		status = tn_safetensors_check(loading.file, &loading.error);
	if (!status)
		status = match(&loading);
	if (!status)
		status = read_values(&loading);
	if (status)
		status = tn_runtime_keep(module->runtime, &loading.error);
	for (size_t i = 0; i < loading.n && !status; i++) {
		if (loading.targets[i].is_read)
			status = assign(&loading, &loading.targets[i]);
	}
	tn_safetensors_close(loading.file);
	tn_mem_free(loading.targets);
	tn_mem_free(loading.values);
	return status;
}
