/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Arrays over the memory of other libraries.  A tensor says where its elements are, not how much
 * memory there is: the memory that is wrapped reaches from its lowest element to its highest.
 */
#include <tenon/dlpack.h>

#include <inttypes.h>
#include <string.h>

#include "array/make.h"
#include "array/shape.h"
#include "device/native.h"
#include "io/dlpack_type.h"
#include "ops/wrap.h"

/* A tensor, and what its managed form adds to it. */
struct incoming {
	const char *operation;
	struct tn_runtime *runtime;
	const struct tn_dlpack_tensor *tensor;
	int needs_strides;
	struct tn_wrap_options wrap;
};

/* ---- The tensor ------------------------------------------------------------------------------*/

static tn_status read_dtype(struct incoming *in)
{
	const struct tn_dlpack_dtype type = in->tensor->dtype;
	struct tn_error_info *error = &in->runtime->report;
	if (type.lanes != 1)
		return tn_fail(error, TN_UNSUPPORTED, in->operation,
			       "dtype: expected elements of one lane, found %u lanes", type.lanes);
	in->wrap.dtype = tn_dlpack_to_dtype(type);
	if (!in->wrap.dtype)
		return tn_fail(error, TN_UNSUPPORTED, in->operation,
			       "dtype: no element type has DLPack's code %u with %u bits",
			       type.code, type.bits);
	return TN_OK;
}

static tn_status read_shape(struct incoming *in, int64_t *size)
{
	const struct tn_dlpack_tensor *tensor = in->tensor;
	struct tn_error_info *error = &in->runtime->report;
	if (tensor->ndim < 0 || tensor->ndim > TN_MAX_RANK)
		return tn_fail(error, tensor->ndim < 0 ? TN_INVALID_ARGUMENT : TN_LIMIT,
			       in->operation, "ndim: expected 0 to %d, found %" PRId32, TN_MAX_RANK,
			       tensor->ndim);
	if (tensor->ndim && !tensor->shape)
		return tn_fail(error, TN_INVALID_ARGUMENT, in->operation, "shape is NULL");
	if (tensor->ndim && !tensor->strides && in->needs_strides)
		return tn_fail(error, TN_INVALID_ARGUMENT, in->operation,
			       "strides is NULL, which DLPack does not allow from version 1.2 on");
	in->wrap.rank = tensor->ndim;
	in->wrap.shape = tensor->shape;
	in->wrap.strides = tensor->strides;
	return tn_shape_check(in->runtime, in->operation, in->wrap.dtype, tensor->ndim,
			      tensor->shape, size);
}

/* The lowest and the highest element of a tensor that has some, from its first one on.  0: more
 * than can be addressed. */
static int find_range(const struct tn_wrap_options *wrap, int64_t *low, int64_t *high)
{
	*low = *high = 0;
	for (int i = 0; i < wrap->rank; i++) {
		int64_t reach, stride = wrap->strides[i];
		if (wrap->shape[i] == 1)
			continue;
		if (__builtin_mul_overflow(wrap->shape[i] - 1, stride, &reach) ||
		    __builtin_add_overflow(reach < 0 ? *low : *high, reach, reach < 0 ? low : high))
			return 0;
	}
	return 1;
}

static tn_status read_place(struct incoming *in, int64_t size)
{
	struct tn_wrap_options *wrap = &in->wrap;
	const uint64_t data = (uint64_t)(uintptr_t)in->tensor->data;
	const int64_t element = (int64_t)tn_dtype_size(wrap->dtype);
	struct tn_error_info *error = &in->runtime->report;
	char shape[TN_SHAPE_TEXT], strides[TN_SHAPE_TEXT];
	int64_t low = 0, high = size - 1, from, length;
	uint64_t first, begin, end;
	if (!size)
		return TN_OK;
	if (!data)
		return tn_fail(error, TN_INVALID_ARGUMENT, in->operation,
			       "data is NULL, and shape %s has elements",
			       tn_shape_print(wrap->rank, wrap->shape, shape));
	int fits = !wrap->strides || find_range(wrap, &low, &high);
	if (!fits || __builtin_add_overflow(data, in->tensor->byte_offset, &first) ||
	    __builtin_mul_overflow(low, element, &from) ||
	    __builtin_add_overflow(first, from, &begin) ||
	    __builtin_sub_overflow(high, low, &length) ||
	    __builtin_add_overflow(length, 1, &length) ||
	    __builtin_mul_overflow(length, element, &length) ||
	    __builtin_add_overflow(begin, length, &end))
		return tn_fail(error, TN_LIMIT, in->operation,
			       "shape %s with strides %s at byte_offset %" PRIu64
			       " is more than can be addressed",
			       tn_shape_print(wrap->rank, wrap->shape, shape),
			       wrap->strides ? tn_shape_print(wrap->rank, wrap->strides, strides)
					     : "NULL",
			       in->tensor->byte_offset);
	wrap->data = (void *)(uintptr_t)begin;
	wrap->offset = -low;
	wrap->size_bytes = (uint64_t)length;
	return TN_OK;
}

/* ---- Where it is, and where it is to be ------------------------------------------------------*/

/* The device that uses memory of the host in place: the one asked for, the current one, the first
 * that can, or the built-in one. */
static struct tn_device *host_device(struct tn_runtime *runtime, struct tn_device *wanted)
{
	if (wanted && tn_device_takes_any_address(wanted))
		return wanted;
	if (tn_device_takes_any_address(runtime->device))
		return runtime->device;
	for (size_t i = 0; i < tn_context_device_count(runtime->context); i++) {
		struct tn_device *device = tn_context_device(runtime->context, i);
		if (tn_device_takes_any_address(device))
			return device;
	}
	return runtime->reference;
}

/* NULL: the context has none. */
static struct tn_device *source_device(struct incoming *in, struct tn_device *wanted)
{
	struct tn_dlpack_device place = in->tensor->device, own;
	if (place.type == TN_DLPACK_CPU || place.type == TN_DLPACK_CUDA_HOST)
		return host_device(in->runtime, wanted);
	if (place.type == TN_DLPACK_CUDA_MANAGED)
		place.type = TN_DLPACK_CUDA;
	for (size_t i = 0; i < tn_context_device_count(in->runtime->context); i++) {
		struct tn_device *device = tn_context_device(in->runtime->context, i);
		if (tn_dlpack_of_device(device, &own) && own.type == place.type &&
		    own.id == place.id)
			return device;
	}
	tn_fail(&in->runtime->report, TN_DEVICE, in->operation,
		"device: this context has none for DLPack's type %" PRId32 " (%s), number %" PRId32,
		place.type, tn_dlpack_type_name(place.type), place.id);
	return NULL;
}

/* The device of the result. */
static struct tn_device *target_device(const struct incoming *in, struct tn_device *source,
				       struct tn_device *wanted)
{
	struct tn_runtime *runtime = in->runtime;
	if (wanted)
		return wanted;
	/* A program's arrays are not placed on the built-in device unless a selection names it. */
	for (size_t i = 0; i < tn_context_device_count(runtime->context); i++) {
		if (tn_context_device(runtime->context, i) == source)
			return source;
	}
	return runtime->device;
}

/* ---- The array -------------------------------------------------------------------------------*/

static tn_status check_options(const struct incoming *in,
			       const struct tn_from_dlpack_options *options)
{
	struct tn_error_info *error = &in->runtime->report;
	if (options->copy > TN_COPY_ALWAYS)
		return tn_fail(error, TN_INVALID_ARGUMENT, in->operation,
			       "copy: expected TN_COPY_IF_NEEDED (0), NEVER (1) or ALWAYS (2), "
			       "found %" PRIu32,
			       options->copy);
	if (options->stream < 0)
		return tn_fail(error, TN_INVALID_ARGUMENT, in->operation,
			       "stream: expected 0 or more, found %" PRId64, options->stream);
	if (options->device && options->device->context != in->runtime->context)
		return tn_fail(error, TN_DEVICE, in->operation,
			       "device: %s belongs to another context", options->device->name);
	return TN_OK;
}

/* Later work of the device waits for the stream that wrote the elements. */
static tn_status wait_for(const struct incoming *in, struct tn_device *source, int64_t stream)
{
	struct tn_error_info *error = &in->runtime->report;
	if (!stream)
		return TN_OK;
	if (!tn_device_has_native(source))
		return tn_fail(error, TN_UNSUPPORTED, in->operation,
			       "stream: %s cannot wait for streams of others: wait before the call",
			       source->name);
	return tn_device_take_from(source, (uint64_t)stream, in->operation, error);
}

/* A copy on `target`, after which the memory is returned. */
static tn_array *make_copy(struct incoming *in, struct tn_device *source, struct tn_device *target)
{
	struct tn_wrap_options wrap = in->wrap;
	wrap.release = NULL;
	tn_array *wrapped = tn_wrap_memory(in->runtime, source, in->operation, &wrap);
	if (!wrapped)
		return NULL;
	tn_array *copy = target == source ? tn_copy(wrapped) : tn_to(wrapped, target);
	tn_array_destroy(wrapped);
	if (copy)
		in->wrap.release(in->wrap.user);
	return copy;
}

static tn_array *make(struct incoming *in, const struct tn_from_dlpack_options *options)
{
	struct tn_runtime *runtime = in->runtime;
	int64_t size = 0;
	tn_status status = check_options(in, options);
	if (!status)
		status = read_dtype(in);
	if (!status)
		status = read_shape(in, &size);
	if (!status)
		status = read_place(in, size);
	struct tn_device *source = status ? NULL : source_device(in, options->device);
	if (!source)
		return tn_end(runtime, runtime->report.status, NULL);
	struct tn_device *target = target_device(in, source, options->device);
	int copies = target != source || options->copy == TN_COPY_ALWAYS;
	if (copies && options->copy == TN_COPY_NEVER) {
		tn_fail(&runtime->report, TN_UNSUPPORTED, in->operation,
			"copy: %s cannot use memory of DLPack's type %" PRId32
			" (%s) without a copy",
			target->name, in->tensor->device.type,
			tn_dlpack_type_name(in->tensor->device.type));
		return tn_end(runtime, TN_UNSUPPORTED, NULL);
	}
	status = wait_for(in, source, options->stream);
	if (status)
		return tn_end(runtime, status, NULL);
	return copies ? make_copy(in, source, target)
		      : tn_wrap_memory(runtime, source, in->operation, &in->wrap);
}

static int begin(struct incoming *in, tn_context *context, const void *managed,
		 struct tn_from_dlpack_options *options, const struct tn_from_dlpack_options *given)
{
	if (!context || tn_runtime_ready(tn_runtime_of(context)))
		return 0;
	in->runtime = tn_runtime_of(context);
	if (!managed) {
		tn_runtime_fail(in->runtime, TN_INVALID_ARGUMENT, in->operation, "managed is NULL");
		return 0;
	}
	return !tn_runtime_take(in->runtime, options, sizeof(*options), given,
				"struct tn_from_dlpack_options", in->operation);
}

static void release_versioned(void *user)
{
	struct tn_dlpack_managed *managed = user;
	if (managed->deleter)
		managed->deleter(managed);
}

static void release_unversioned(void *user)
{
	struct tn_dlpack_managed_unversioned *managed = user;
	if (managed->deleter)
		managed->deleter(managed);
}

tn_array *tn_from_dlpack(tn_context *context, struct tn_dlpack_managed *managed,
			 const struct tn_from_dlpack_options *given)
{
	struct incoming in = {.operation = "from_dlpack"};
	struct tn_from_dlpack_options options = tn_from_dlpack_defaults();
	if (!begin(&in, context, managed, &options, given))
		return NULL;
	if (managed->version.major != TN_DLPACK_MAJOR) {
		tn_runtime_fail(in.runtime, TN_UNSUPPORTED, in.operation,
				"version: expected %d, found %" PRIu32 ".%" PRIu32, TN_DLPACK_MAJOR,
				managed->version.major, managed->version.minor);
		return NULL;
	}
	in.tensor = &managed->tensor;
	in.needs_strides = managed->version.minor >= 2;
	in.wrap.is_read_only = (managed->flags & TN_DLPACK_READ_ONLY) != 0;
	in.wrap.release = release_versioned;
	in.wrap.user = managed;
	return make(&in, &options);
}

tn_array *tn_from_dlpack_unversioned(tn_context *context,
				     struct tn_dlpack_managed_unversioned *managed,
				     const struct tn_from_dlpack_options *given)
{
	struct incoming in = {.operation = "from_dlpack_unversioned"};
	struct tn_from_dlpack_options options = tn_from_dlpack_defaults();
	if (!begin(&in, context, managed, &options, given))
		return NULL;
	in.tensor = &managed->tensor;
	in.wrap.release = release_unversioned;
	in.wrap.user = managed;
	return make(&in, &options);
}
