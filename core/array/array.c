/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Creation, ownership and queries of arrays.  An array is in exactly one list: that of the scope
 * that owns it, or the runtime's list of loose arrays, which no scope owns.
 */
#include "array/array.h"

#include <string.h>

#include "array/shape.h"
#include "array/storage.h"
#include "array/handle.h"
#include "base/memory.h"

/* ---- Lists -----------------------------------------------------------------------------------*/

static struct tn_array **list_of(tn_array *array)
{
	return array->scope ? &array->scope->arrays : &array->runtime->loose;
}

static void link_array(tn_array *array, struct tn_scope *scope)
{
	struct tn_array **list;
	array->scope = scope;
	list = list_of(array);
	array->previous = NULL;
	array->next = *list;
	if (array->next)
		array->next->previous = array;
	*list = array;
}

static void unlink_array(tn_array *array)
{
	if (array->previous)
		array->previous->next = array->next;
	else
		*list_of(array) = array->next;
	if (array->next)
		array->next->previous = array->previous;
}

/* ---- Making and freeing ----------------------------------------------------------------------*/

static tn_array *allocate(struct tn_runtime *runtime)
{
	tn_array *array = tn_mem_alloc(sizeof(*array));
	if (!array) {
		tn_fail(&runtime->report, TN_OUT_OF_MEMORY, "array", "no host memory for %zu bytes",
			sizeof(*array));
		return NULL;
	}
	array->runtime = runtime;
	array->kept = array->held = 0;
	array->tracked = NULL;
	return array;
}

tn_array *tn_array_make(struct tn_runtime *runtime, struct tn_device *device, tn_dtype dtype,
			int rank, const int64_t *shape)
{
	int64_t size;
	if (tn_shape_check(runtime, "array", dtype, rank, shape, &size))
		return NULL;
	tn_array *array = allocate(runtime);
	if (!array)
		return NULL;
	array->dtype = dtype;
	array->rank = rank;
	if (rank)
		memcpy(array->shape, shape, (size_t)rank * sizeof(*shape));
	array->size = tn_shape_compact(rank, shape, array->strides);
	array->offset = 0;
	array->contiguous = array->dense = 1;
	if (tn_storage_create(runtime, device, (uint64_t)array->size * tn_dtype_size(dtype),
			      &array->storage)) {
		tn_mem_free(array);
		return NULL;
	}
	link_array(array, runtime->scope);
	return array;
}

tn_array *tn_array_over(struct tn_runtime *runtime, struct tn_storage *storage, tn_dtype dtype,
			int rank, const int64_t *shape, const int64_t *strides, int64_t offset)
{
	tn_array *view = allocate(runtime);
	if (!view)
		return NULL;
	view->dtype = dtype;
	view->rank = rank;
	view->size = 1;
	for (int i = 0; i < rank; i++) {
		view->shape[i] = shape[i];
		view->strides[i] = strides[i];
		view->size *= shape[i];
	}
	view->offset = offset;
	view->contiguous = tn_shape_is_compact(rank, shape, strides);
	view->dense = view->contiguous || tn_shape_is_dense(rank, shape, strides);
	view->storage = storage;
	link_array(view, runtime->scope);
	return view;
}

tn_array *tn_array_view(const tn_array *a, int rank, const int64_t *shape, const int64_t *strides,
			int64_t offset)
{
	tn_array *view =
		tn_array_over(a->runtime, a->storage, a->dtype, rank, shape, strides, offset);
	if (view)
		a->storage->references++;
	return view;
}

/* Keeps what is left of it, to notice its use. */
static void quarantine(tn_array *array)
{
	char text[TN_SHAPE_TEXT];
	struct tn_ended *ended =
		tn_handle_quarantine(array->runtime, array,
				     "the array (%s %s) has been destroyed, or its scope has "
				     "ended",
				     tn_dtype_name(array->dtype), tn_array_text(array, text));
	if (!ended)
		return;
	array->runtime = &ended->context.runtime;
	array->storage = &ended->storage;
	array->scope = NULL;
	array->tracked = NULL;
	array->kept = array->held = 0;
}

static void free_array(tn_array *array)
{
	const int is_checked = array->runtime->is_checked;
	if (is_checked && tn_handle_has_ended(array->runtime, array, "array_destroy"))
		return;
	/* The tracking object begins with a pointer to this array. */
	if (array->tracked)
		*(tn_array **)array->tracked = NULL;
	unlink_array(array);
	tn_storage_release(array->storage);
	if (is_checked)
		quarantine(array);
	else
		tn_mem_free(array);
}

/* Ends the scope's ownership of the array. */
static void leave_scope(tn_array *array)
{
	if (!array->kept && !array->held) {
		free_array(array);
		return;
	}
	unlink_array(array);
	link_array(array, NULL);
}

void tn_array_unhold(tn_array *array)
{
	if (!array)
		return;
	array->held--;
	if (!array->held && !array->kept && !array->scope)
		free_array(array);
}

void tn_array_discard(tn_array *array)
{
	if (array)
		leave_scope(array);
}

void tn_array_end(tn_array *array)
{
	free_array(array);
}

tn_array *tn_keep(tn_array *array)
{
	if (array && array->runtime->is_checked && tn_handle_check(array->runtime, "keep"))
		return NULL;
	if (array)
		array->kept++;
	return array;
}

void tn_array_destroy(tn_array *array)
{
	if (!array)
		return;
	if (array->kept) {
		array->kept--;
		if (!array->kept && !array->held && !array->scope)
			free_array(array);
	} else if (array->scope) {
		leave_scope(array);
	} else if (array->runtime->is_checked) {
		(void)tn_handle_has_ended(array->runtime, array, "array_destroy");
	}
}

/* ---- Scopes ----------------------------------------------------------------------------------*/

tn_status tn_scope_begin(tn_context *context)
{
	if (!context)
		return TN_INVALID_ARGUMENT;
	struct tn_runtime *runtime = tn_runtime_of(context);
	if (runtime->is_checked && tn_handle_check(runtime, "scope_begin"))
		return TN_STATE;
	struct tn_scope *scope = tn_mem_alloc(sizeof(*scope));
	if (!scope)
		return tn_runtime_no_memory(runtime, "scope_begin", "a scope");
	scope->arrays = NULL;
	scope->parent = runtime->scope;
	runtime->scope = scope;
	return TN_OK;
}

static void clear_scope(struct tn_scope *scope)
{
	while (scope->arrays)
		leave_scope(scope->arrays);
}

void tn_array_lift(tn_array *array)
{
	struct tn_scope *scope = array->scope;
	unlink_array(array);
	link_array(array, scope->parent);
}

tn_array *tn_scope_end(tn_context *context, tn_array *result)
{
	if (!context)
		return result;
	struct tn_runtime *runtime = tn_runtime_of(context);
	struct tn_scope *scope = runtime->scope;
	if (result && result->runtime->is_checked && tn_handle_check(result->runtime, "scope_end"))
		result = NULL;
	if (!scope->parent && runtime->is_checked)
		tn_runtime_fail(runtime, TN_STATE, "scope_end", "no scope has begun");
	if (!scope->parent)
		return result;
	if (result && result->scope == scope)
		tn_array_lift(result);
	clear_scope(scope);
	runtime->scope = scope->parent;
	tn_mem_free(scope);
	return result;
}

tn_status tn_scope_end_all(tn_context *context, tn_status status, int n, tn_array **results)
{
	const struct tn_runtime *runtime = tn_runtime_of(context);
	if (!status)
		status = runtime->error.status;
	for (int i = 0; i < n; i++) {
		if (status)
			results[i] = NULL;
		else if (results[i] && results[i]->scope == runtime->scope &&
			 runtime->scope->parent)
			tn_array_lift(results[i]);
	}
	tn_scope_end(context, NULL);
	return status;
}

void tn_runtime_free_arrays(struct tn_runtime *runtime)
{
	while (runtime->scope && runtime->scope->parent)
		tn_scope_end(runtime->context, NULL);
	if (runtime->scope)
		clear_scope(runtime->scope);
	while (runtime->loose)
		free_array(runtime->loose);
	tn_mem_free(runtime->scope);
	runtime->scope = NULL;
}

/* ---- Queries ---------------------------------------------------------------------------------*/

int tn_array_rank(const tn_array *array)
{
	return array && !tn_handle_check(array->runtime, "array_rank") ? array->rank : 0;
}

const int64_t *tn_array_shape(const tn_array *array)
{
	return array && !tn_handle_check(array->runtime, "array_shape") ? array->shape : NULL;
}

const int64_t *tn_array_strides(const tn_array *array)
{
	return array && !tn_handle_check(array->runtime, "array_strides") ? array->strides : NULL;
}

int64_t tn_array_size(const tn_array *array)
{
	return array && !tn_handle_check(array->runtime, "array_size") ? array->size : 0;
}

tn_dtype tn_array_dtype(const tn_array *array)
{
	return array && !tn_handle_check(array->runtime, "array_dtype") ? array->dtype : 0;
}

tn_device *tn_array_device(const tn_array *array)
{
	return array && !tn_handle_check(array->runtime, "array_device") ? array->storage->device
									 : NULL;
}

tn_context *tn_array_context(const tn_array *array)
{
	return array && !tn_handle_check(array->runtime, "array_context") ? array->runtime->context
									  : NULL;
}
