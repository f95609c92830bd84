/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The rules that all public functions share: NULL in gives NULL out and an error that names the
 * operand, a kept error blocks all work, and arrays of different devices cannot be combined.
 */
#include "array/make.h"

#include "array/shape.h"
#include "array/handle.h"

tn_status tn_arrays_together(struct tn_runtime *runtime, const char *operation, uint32_t n,
			     const tn_array *const *arrays)
{
	const struct tn_device *home = tn_array_home(arrays[0]);
	for (uint32_t i = 0; i < n; i++) {
		const struct tn_device *device = tn_array_home(arrays[i]);
		if (arrays[i]->runtime != runtime && arrays[i]->runtime->ended)
			return tn_handle_report(arrays[i]->runtime, operation);
		if (arrays[i]->runtime != runtime)
			return tn_fail(&runtime->report, TN_DEVICE, operation,
				       "operand %u (on %s) belongs to another context", i,
				       device->name);
		if (device != home)
			return tn_fail(
				&runtime->report, TN_DEVICE, operation,
				"operand 0 is on %s and operand %u on %s: move one with tn_to",
				home->name, i, device->name);
	}
	return TN_OK;
}

tn_status tn_storage_refuse_write(struct tn_runtime *runtime, const char *operation,
				  const char *name, const struct tn_storage *storage)
{
	if (storage->is_shared)
		return tn_fail(&runtime->report, TN_STATE, operation,
			       "%s: its memory is shared with other contexts, and constant", name);
	return tn_fail(&runtime->report, TN_INVALID_ARGUMENT, operation,
		       "%s: its memory was wrapped as read-only", name);
}

tn_status tn_array_writable(struct tn_runtime *runtime, const char *operation, const tn_array *out)
{
	char text[TN_SHAPE_TEXT];
	if (runtime->recorder && out->tracked)
		return tn_fail(&runtime->report, TN_STATE, operation,
			       "out: a tape is recording and this array has a gradient: writing "
			       "into it cannot be recorded");
	if (tn_storage_is_read_only(out->storage))
		return tn_storage_refuse_write(runtime, operation, "out", out->storage);
	if (out->contiguous || tn_shape_is_injective(out->rank, out->shape, out->strides))
		return TN_OK;
	return tn_fail(&runtime->report, TN_INVALID_ARGUMENT, operation,
		       "out: a view of shape %s with strides %s has elements that share memory",
		       tn_array_text(out, text),
		       tn_shape_print(out->rank, out->strides, (char[TN_SHAPE_TEXT]){0}));
}

/* Operand `which` is NULL: usually the result of an earlier failure, whose error is kept. */
static tn_status null_operand(uint32_t n, const tn_array *const *arrays, const char *operation,
			      uint32_t which)
{
	for (uint32_t i = 0; i < n; i++) {
		if (!arrays[i])
			continue;
		if (tn_runtime_ready(arrays[i]->runtime))
			return tn_runtime_refuse(arrays[i]->runtime, operation);
		return tn_runtime_fail(arrays[i]->runtime, TN_INVALID_ARGUMENT, operation,
				       "operand %u is NULL", which);
	}
	return TN_INVALID_ARGUMENT;
}

/* Inline: it begins every call. */
static inline tn_status given(uint32_t n, const tn_array *const *arrays, const char *operation)
{
	for (uint32_t i = 0; i < n; i++) {
		if (!arrays[i])
			return null_operand(n, arrays, operation, i);
	}
	return arrays[0]->runtime->error.status ? tn_runtime_refuse(arrays[0]->runtime, operation)
						: TN_OK;
}

tn_status tn_arrays_given(uint32_t n, const tn_array *const *arrays, const char *operation)
{
	return given(n, arrays, operation);
}

tn_status tn_begin_into(uint32_t n, const tn_array *const *arrays, const char *operation)
{
	tn_status status = given(n, arrays, operation);
	if (status)
		return status;
	struct tn_runtime *runtime = arrays[0]->runtime;
	status = tn_arrays_together(runtime, operation, n, arrays);
	return status ? tn_runtime_keep(runtime, &runtime->report) : TN_OK;
}

struct tn_runtime *tn_begin(uint32_t n, const tn_array *const *arrays, const char *operation)
{
	return tn_begin_into(n, arrays, operation) ? NULL : arrays[0]->runtime;
}

tn_array *tn_end(struct tn_runtime *runtime, tn_status status, tn_array *out)
{
	if (!status && out)
		return out;
	tn_end_into(runtime, status ? status : TN_OUT_OF_MEMORY);
	tn_array_discard(out);
	return NULL;
}

tn_status tn_end_into(struct tn_runtime *runtime, tn_status status)
{
	if (!status)
		return TN_OK;
	if (status == TN_PENDING_ERROR || runtime->error.status)
		return status;
	if (runtime->report.status != status && !runtime->report.status)
		runtime->report.status = status;
	tn_runtime_keep(runtime, &runtime->report);
	return status;
}

tn_status tn_record_made(struct tn_runtime *runtime, struct tn_record *record, uint32_t n,
			 const tn_array *const *inputs, tn_array *output)
{
	if (!tn_wants_record(runtime, n, inputs))
		return TN_OK;
	record->n_inputs = n;
	record->inputs = (tn_array *const *)inputs;
	record->output = output;
	runtime->report.status = TN_OK;
	return runtime->recorder->record(runtime->recorder->user, record, &runtime->report);
}

tn_status tn_refuse_tracked(struct tn_runtime *runtime, const char *operation, uint32_t n,
			    const tn_array *const *inputs)
{
	if (!tn_wants_record(runtime, n, inputs))
		return TN_OK;
	return tn_fail(&runtime->report, TN_STATE, operation,
		       "a tape is recording and an operand has a gradient: writing into an "
		       "existing array cannot be recorded, use the function that makes one");
}

tn_array *tn_array_untracked(const char *operation, const tn_array *a)
{
	struct tn_runtime *runtime = tn_begin(1, &a, operation);
	if (!runtime)
		return NULL;
	tn_array *view = tn_array_view(a, a->rank, a->shape, a->strides, a->offset);
	return tn_end(runtime, view ? TN_OK : runtime->report.status, view);
}
