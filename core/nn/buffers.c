/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Buffers: state of a module that is not trained, for example running statistics.
 */
#include "nn/buffers.h"

#include <string.h>

#include "array/array.h"
#include "array/handle.h"
#include "base/memory.h"
#include "nn/module.h"
#include "nn/tree.h"

/* ---- Declaring and finding -------------------------------------------------------------------*/

void tn_buffers_free(tn_module *module)
{
	for (size_t i = 0; i < module->n_buffers; i++) {
		tn_array_unhold(module->buffers[i]->value);
		tn_mem_free(module->buffers[i]->name);
		tn_mem_free(module->buffers[i]);
	}
	tn_mem_free(module->buffers);
}

static int is_stored(tn_dtype dtype)
{
	return dtype == TN_F32 || dtype == TN_F64 || dtype == TN_I32 || dtype == TN_I64;
}

tn_status tn_module_add_buffer(tn_module *module, const char *name, tn_dtype dtype, int rank,
			       const int64_t *shape, double value)
{
	if (!module)
		return TN_INVALID_ARGUMENT;
	tn_status status = tn_module_check_new(module, name);
	if (status)
		return status;
	int64_t size = rank && !shape ? -1 : tn_module_elements(rank, shape);
	if (size < 0 || !is_stored(dtype))
		return tn_runtime_fail(
			module->runtime, TN_INVALID_ARGUMENT, module->class_name,
			"buffer '%s': expected lengths of at least 1 and f32, f64, i32 or i64, "
			"found %s",
			name, size < 0 ? "an invalid shape" : tn_dtype_name(dtype));
	struct tn_buffer *buffer = tn_mem_zeroed(1, sizeof(*buffer));
	char *copy = buffer ? tn_mem_copy_string(name) : NULL;
	struct tn_buffer **buffers =
		copy ? tn_mem_realloc(module->buffers, module->n_buffers + 1, sizeof(*buffers))
		     : NULL;
	if (buffers) {
		buffer->name = copy;
		buffer->declared = buffer->dtype = dtype;
		buffer->rank = rank;
		if (rank)
			memcpy(buffer->shape, shape, (size_t)rank * sizeof(*shape));
		buffer->size = size;
		buffer->initial = value;
		module->buffers = buffers;
		buffers[module->n_buffers++] = buffer;
		tn_module_unlist(module);
		return TN_OK;
	}
	tn_mem_free(copy);
	tn_mem_free(buffer);
	return tn_runtime_fail(module->runtime, TN_OUT_OF_MEMORY, module->class_name,
			       "no host memory for buffer '%s'", name);
}

/* ---- The listing of a tree -------------------------------------------------------------------*/

size_t tn_module_buffer_count(const tn_module *module)
{
	return module && !tn_handle_check(module->runtime, "module_buffer_count") &&
			       !tn_module_list(module)
		       ? module->n_buffer_listing
		       : 0;
}

tn_status tn_module_buffer_at(const tn_module *module, size_t index, struct tn_buffer_view *view)
{
	if (module && tn_handle_check(module->runtime, "module_buffer_at"))
		return TN_STATE;
	if (!module || index >= tn_module_buffer_count(module))
		return TN_INVALID_ARGUMENT;
	const struct tn_buffer *buffer = module->buffer_listing[index].buffer;
	const struct tn_buffer_view own = {
		.struct_size = sizeof(own),
		.name = module->buffer_listing[index].name,
		.value = buffer->value,
		.dtype = buffer->dtype,
		.rank = buffer->rank,
		.shape = buffer->shape,
	};
	return tn_runtime_answer(module->runtime, view, &own, sizeof(own), "struct tn_buffer_view",
				 "module_buffer_at");
}

/* ---- Building --------------------------------------------------------------------------------*/

/* A buffer's dtype in a network of `dtype`. */
static tn_dtype dtype_in(const struct tn_buffer *buffer, tn_dtype dtype)
{
	return dtype == TN_F64 && buffer->declared == TN_F32 ? TN_F64 : buffer->declared;
}

tn_status tn_buffers_make(tn_module *module)
{
	for (size_t i = 0; i < module->n_buffer_listing; i++) {
		struct tn_buffer *buffer = module->buffer_listing[i].buffer;
		buffer->dtype = dtype_in(buffer, tn_module_dtype(module));
		tn_array *value = tn_full(module->context, buffer->dtype, buffer->rank,
					  buffer->shape, buffer->initial);
		if (!value)
			return module->runtime->error.status;
		buffer->value = tn_array_hold(value);
	}
	return TN_OK;
}

void tn_buffers_unmake(tn_module *module)
{
	for (size_t i = 0; i < module->n_buffer_listing; i++) {
		struct tn_buffer *buffer = module->buffer_listing[i].buffer;
		tn_array_unhold(buffer->value);
		buffer->value = NULL;
		buffer->dtype = buffer->declared;
	}
}

tn_status tn_buffers_convert(tn_module *module, tn_dtype dtype)
{
	struct tn_runtime *rt = module->runtime;
	const size_t n = module->n_buffer_listing;
	tn_array **values = tn_mem_zeroed(n ? n : 1, sizeof(tn_array *));
	if (!values)
		return tn_runtime_fail(rt, TN_OUT_OF_MEMORY, "module_set_dtype",
				       "no host memory for %zu buffers", n);
	tn_status status = TN_OK;
	for (size_t i = 0; i < n && !status; i++) {
		const struct tn_buffer *buffer = module->buffer_listing[i].buffer;
		tn_dtype own = dtype_in(buffer, dtype);
		values[i] = own == buffer->dtype ? NULL : tn_astype(buffer->value, own);
		if (own != buffer->dtype && !values[i])
			status = rt->error.status;
	}
	for (size_t i = 0; i < n && !status; i++) {
		struct tn_buffer *buffer = module->buffer_listing[i].buffer;
		if (!values[i])
			continue;
		tn_array_unhold(buffer->value);
		buffer->value = tn_array_hold(values[i]);
		buffer->dtype = values[i]->dtype;
	}
	tn_mem_free(values);
	return status;
}
