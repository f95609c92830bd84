/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * New arrays: uninitialised, filled, ranges, or from the host.
 */
#include <math.h>

#include "array/make.h"
#include "array/shape.h"
#include "base/bits.h"
#include "base/dtype.h"
#include "base/memory.h"
#include "device/transfer.h"
#include "dispatch/operations.h"
#include "ops/copy.h"
#include "ops/number.h"
#include "program/cast.h"

/* An array on the current device, or NULL with the error kept. */
static tn_array *make_checked(struct tn_runtime *runtime, const char *operation, tn_dtype dtype,
			      int rank, const int64_t *shape)
{
	int64_t size;
	tn_array *array;
	if (tn_runtime_ready(runtime))
		return NULL;
	if (tn_shape_check(runtime, operation, dtype, rank, shape, &size))
		return tn_end(runtime, runtime->report.status, NULL);
	array = tn_array_make(runtime, runtime->device, dtype, rank, shape);
	return array ? array : tn_end(runtime, runtime->report.status, NULL);
}

static tn_array *filled(tn_context *context, const char *operation, tn_dtype dtype, int rank,
			const int64_t *shape, double value)
{
	struct tn_runtime *runtime = tn_runtime_of(context);
	tn_array *array = make_checked(runtime, operation, dtype, rank, shape);
	if (!array)
		return NULL;
	return tn_end(runtime, tn_fill_run(runtime, TN_DO_FILL, array, value), array);
}

tn_array *tn_empty(tn_context *context, tn_dtype dtype, int rank, const int64_t *shape)
{
	return context ? make_checked(tn_runtime_of(context), "empty", dtype, rank, shape) : NULL;
}

tn_array *tn_zeros(tn_context *context, tn_dtype dtype, int rank, const int64_t *shape)
{
	return context ? filled(context, "zeros", dtype, rank, shape, 0) : NULL;
}

tn_array *tn_ones(tn_context *context, tn_dtype dtype, int rank, const int64_t *shape)
{
	return context ? filled(context, "ones", dtype, rank, shape, 1) : NULL;
}

tn_array *tn_full(tn_context *context, tn_dtype dtype, int rank, const int64_t *shape, double value)
{
	return context ? filled(context, "full", dtype, rank, shape, value) : NULL;
}

static tn_array *from_host(tn_context *context, const char *operation, tn_dtype dtype, int rank,
			   const int64_t *shape, const void *data)
{
	struct tn_runtime *runtime = tn_runtime_of(context);
	tn_array *array = make_checked(runtime, operation, dtype, rank, shape);
	if (!array)
		return NULL;
	if (!data && array->size) {
		tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, operation, "data is NULL");
		tn_array_discard(array);
		return NULL;
	}
	uint64_t size = (uint64_t)array->size * tn_dtype_size(dtype);
	tn_status status = TN_OK;
	if (size) {
		tn_observe_unrepeatable(runtime);
		status = tn_device_upload(tn_array_home(array), &array->storage->block, 0, data,
					  size, &runtime->report);
	}
	return tn_end(runtime, status, array);
}

tn_array *tn_from_host(tn_context *context, tn_dtype dtype, int rank, const int64_t *shape,
		       const void *data)
{
	return context ? from_host(context, "from_host", dtype, rank, shape, data) : NULL;
}

tn_array *tn_scalar_f32(tn_context *context, float value)
{
	return context ? from_host(context, "scalar_f32", TN_F32, 0, NULL, &value) : NULL;
}

tn_array *tn_full_number(tn_context *context, tn_dtype dtype, int rank, const int64_t *shape,
			 tn_number value)
{
	struct tn_runtime *runtime;
	struct tn_value_bits bits;
	tn_array *array;
	tn_status status;
	if (!context)
		return NULL;
	runtime = tn_runtime_of(context);
	array = make_checked(runtime, "full", dtype, rank, shape);
	if (!array)
		return NULL;
	status = tn_number_bits(runtime, "full", "value", value, dtype, &bits);
	if (!status)
		status = tn_fill_bits(runtime, TN_DO_FILL, array, &bits);
	return tn_end(runtime, status, array);
}

/* Element i is start + i step in f64, then converted: the same bits on every backend.  Integers lie
 * between the first and the last one. */
tn_array *tn_arange(tn_context *context, tn_dtype dtype, double start, double stop, double step)
{
	struct tn_runtime *runtime = tn_runtime_of(context);
	double length = ceil((stop - start) / step);
	size_t size = tn_dtype_size(dtype);
	unsigned char *data;
	tn_array *array;
	int64_t n;
	if (!context || tn_runtime_ready(runtime))
		return NULL;
	if (!isfinite(length) || length >= (double)INT32_MAX * 1024 || !tn_compute_dtype(dtype)) {
		tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "arange",
				"cannot create the range from %g to %g by %g in %s", start, stop,
				step, tn_dtype_name(dtype));
		return NULL;
	}
	n = length > 0 ? (int64_t)length : 0;
	const double last = start + (double)(n - 1) * step;
	if (n && (!tn_dtype_holds(dtype, start) || !tn_dtype_holds(dtype, last))) {
		tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "arange",
				"element: %g does not fit %s",
				tn_dtype_holds(dtype, start) ? last : start, tn_dtype_name(dtype));
		return NULL;
	}
	data = tn_mem_alloc((size_t)n * size);
	if (!data) {
		tn_runtime_fail(runtime, TN_OUT_OF_MEMORY, "arange",
				"no host memory for %lld elements", (long long)n);
		return NULL;
	}
	for (int64_t i = 0; i < n; i++) {
		double value = start + (double)i * step;
		uint64_t bits = tn_cast_bits(TN_F64, dtype, tn_bits_of_f64(value));
		bits_store(data + (size_t)i * size, size, bits);
	}
	array = from_host(context, "arange", dtype, 1, &n, data);
	tn_mem_free(data);
	return array;
}

/* No sum or product of a range overflows 128 bits. */
__extension__ typedef __int128 wide_integer;

static wide_integer wide(tn_number number)
{
	return number.dtype == TN_U64 ? (wide_integer)number.u64 : (wide_integer)number.i64;
}

static double real(tn_number number)
{
	if (number.dtype == TN_F64)
		return number.f64;
	return (double)wide(number);
}

static tn_status write_range(struct tn_runtime *runtime, tn_dtype dtype, tn_number start,
			     tn_number step, int64_t n, unsigned char *data)
{
	size_t size = tn_dtype_size(dtype);
	for (int64_t i = 0; i < n; i++) {
		wide_integer value = wide(start) + i * wide(step);
		struct tn_value_bits bits;
		tn_number element =
			value < 0 ? tn_number_i64((int64_t)value) : tn_number_u64((uint64_t)value);
		tn_status status =
			tn_number_bits(runtime, "arange", "element", element, dtype, &bits);
		if (status)
			return status;
		bits_store(data + (size_t)i * size, size, bits.part[0]);
	}
	return TN_OK;
}

tn_array *tn_arange_number(tn_context *context, tn_dtype dtype, tn_number start, tn_number stop,
			   tn_number step)
{
	const tn_number all[] = {start, stop, step};
	struct tn_runtime *runtime;
	unsigned char *data;
	tn_array *array = NULL;
	int64_t n = 0;
	if (!context || tn_runtime_ready(tn_runtime_of(context)))
		return NULL;
	runtime = tn_runtime_of(context);
	for (int i = 0; i < 3; i++) {
		if (all[i].dtype != TN_F64 && all[i].dtype != TN_I64 && all[i].dtype != TN_U64) {
			tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "arange",
					"expected numbers of i64, u64 or f64, found dtype %d",
					all[i].dtype);
			return NULL;
		}
	}
	if (start.dtype == TN_F64 || stop.dtype == TN_F64 || step.dtype == TN_F64)
		return tn_arange(context, dtype, real(start), real(stop), real(step));
	wide_integer length = wide(stop) - wide(start), by = wide(step);
	if (by && (by > 0) == (length > 0))
		length = (length + by + (by > 0 ? -1 : 1)) / by;
	else
		length = 0;
	if (!by || length >= (wide_integer)INT32_MAX * 1024 || !tn_compute_dtype(dtype)) {
		tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "arange",
				"cannot create the range from %g to %g by %g in %s", real(start),
				real(stop), real(step), tn_dtype_name(dtype));
		return NULL;
	}
	n = (int64_t)length;
	data = tn_mem_alloc((size_t)n * tn_dtype_size(dtype));
	if (!data)
		tn_runtime_fail(runtime, TN_OUT_OF_MEMORY, "arange",
				"no host memory for %lld elements", (long long)n);
	else if (write_range(runtime, dtype, start, step, n, data))
		tn_end(runtime, runtime->report.status, NULL);
	else
		array = from_host(context, "arange", dtype, 1, &n, data);
	tn_mem_free(data);
	return array;
}
