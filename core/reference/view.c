/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Checks operands, and copies floating ones to compact arrays of double and back.
 */
#include "reference/view.h"

#include <stdio.h>

#include "program/cast.h"

uint64_t tn_reference_count(const struct tn_operand *operand)
{
	uint64_t n = 1;
	for (uint32_t axis = 0; axis < operand->rank; axis++)
		n *= (uint64_t)operand->shape[axis];
	return n;
}

const char *tn_reference_shape_text(uint32_t rank, const int64_t *shape, char *text)
{
	size_t at = 1;
	text[0] = '(';
	for (uint32_t axis = 0; axis < rank && at < SHAPE_TEXT; axis++)
		at += (size_t)snprintf(text + at, SHAPE_TEXT - at, axis ? ", %lld" : "%lld",
				       (long long)shape[axis]);
	if (at < SHAPE_TEXT)
		snprintf(text + at, SHAPE_TEXT - at, ")");
	return text;
}

static tn_status check_axis(const struct tn_call *call, const char *operation, const char *name,
			    const struct tn_operand *operand, uint32_t axis, int access)
{
	if (operand->shape[axis] < 1)
		return tn_reference_fail(call, TN_SHAPE, operation,
					 "%s: axis %u has length %lld, expected at least 1", name,
					 axis, (long long)operand->shape[axis]);
	if (access == WRITE && operand->shape[axis] > 1 && operand->strides[axis] == 0)
		return tn_reference_fail(call, TN_INVALID_ARGUMENT, operation,
					 "%s: an output may not have stride 0 (axis %u)", name,
					 axis);
	return TN_OK;
}

tn_status tn_reference_check(const struct tn_call *call, const char *operation, const char *name,
			     const struct tn_operand *operand, int access)
{
	tn_status status = TN_OK;
	int64_t n = 1;
	if (!tn_dtype_size(operand->dtype))
		return tn_reference_fail(call, TN_UNSUPPORTED, operation, "%s: unknown dtype %d",
					 name, operand->dtype);
	if (operand->rank > TN_MAX_RANK)
		return tn_reference_fail(call, TN_UNSUPPORTED, operation,
					 "%s: rank %u, expected at most %d", name, operand->rank,
					 TN_MAX_RANK);
	for (uint32_t axis = 0; axis < operand->rank && !status; axis++) {
		status = check_axis(call, operation, name, operand, axis, access);
		if (!status && __builtin_mul_overflow(n, operand->shape[axis], &n))
			status = tn_reference_fail(call, TN_SHAPE, operation,
						   "%s: more than 2^63 - 1 elements", name);
	}
	if (!status && !operand->buffer && !(call->flags & TN_DRY_RUN))
		status = tn_reference_fail(call, TN_INVALID_ARGUMENT, operation,
					   "%s: buffer 0 is never a handle", name);
	return status;
}

tn_status tn_reference_check_real(const struct tn_call *call, const char *operation,
				  const char *name, const struct tn_operand *operand,
				  tn_dtype dtype, int access)
{
	if (dtype != TN_F32 && dtype != TN_F64)
		return tn_reference_fail(call, TN_UNSUPPORTED, operation,
					 "dtype %d: expected f32 or f64", dtype);
	if (operand->dtype != dtype)
		return tn_reference_fail(call, TN_DTYPE, operation,
					 "%s: expected dtype %d, found %d", name, dtype,
					 operand->dtype);
	return tn_reference_check(call, operation, name, operand, access);
}

tn_status tn_reference_check_shape(const struct tn_call *call, const char *operation,
				   const char *name, const struct tn_operand *operand,
				   uint32_t rank, const int64_t *shape)
{
	char expected[SHAPE_TEXT], found[SHAPE_TEXT];
	if (operand->rank == rank &&
	    (rank == 0 || memcmp(operand->shape, shape, rank * sizeof(*shape)) == 0))
		return TN_OK;
	tn_reference_shape_text(rank, shape, expected);
	tn_reference_shape_text(operand->rank, operand->shape, found);
	return tn_reference_fail(call, TN_SHAPE, operation, "%s: expected shape %s, found %s", name,
				 expected, found);
}

void tn_reference_cursor(struct cursor *cursor, const struct tn_operand *operand)
{
	cursor->operand = operand;
	cursor->at = (char *)(uintptr_t)operand->buffer + operand->offset;
	for (uint32_t axis = 0; axis < operand->rank; axis++) {
		cursor->step[axis] =
			operand->strides[axis] * (int64_t)tn_dtype_size(operand->dtype);
		cursor->index[axis] = 0;
	}
}

double *tn_reference_numbers(void *device, uint64_t n)
{
	const struct tn_host *host = ((struct reference_device *)device)->host;
	if (n > SIZE_MAX / sizeof(double))
		return NULL;
	return host->alloc(host->context, n * sizeof(double), 0);
}

void tn_reference_release(void *device, void *numbers)
{
	const struct tn_host *host = ((struct reference_device *)device)->host;
	if (numbers)
		host->free(host->context, numbers);
}

static double number_load(const struct cursor *cursor)
{
	const tn_dtype dtype = cursor->operand->dtype;
	double f64;
	float f32;
	if (dtype == TN_F32) {
		memcpy(&f32, cursor->at, sizeof(f32));
		return f32;
	}
	if (dtype != TN_F64)
		return tn_f64_of_bits(
			tn_cast_bits(dtype, TN_F64, bits_load(cursor->at, tn_dtype_size(dtype))));
	memcpy(&f64, cursor->at, sizeof(f64));
	return f64;
}

void tn_reference_read(double *dst, const struct tn_operand *operand)
{
	uint64_t n = tn_reference_count(operand);
	struct cursor cursor;
	tn_reference_cursor(&cursor, operand);
	for (uint64_t i = 0; i < n; i++, cursor_next(&cursor))
		dst[i] = number_load(&cursor);
}

double *tn_reference_unpack(void *device, const struct tn_operand *operand)
{
	double *numbers = tn_reference_numbers(device, tn_reference_count(operand));
	if (numbers)
		tn_reference_read(numbers, operand);
	return numbers;
}

void tn_reference_write(const struct tn_operand *operand, const double *src, int accumulate)
{
	uint64_t n = tn_reference_count(operand);
	struct cursor cursor;
	tn_reference_cursor(&cursor, operand);
	for (uint64_t i = 0; i < n; i++, cursor_next(&cursor)) {
		double f64 = accumulate ? number_load(&cursor) + src[i] : src[i];
		float f32 = (float)f64;
		if (operand->dtype == TN_F32)
			memcpy(cursor.at, &f32, sizeof(f32));
		else if (operand->dtype == TN_F64)
			memcpy(cursor.at, &f64, sizeof(f64));
		else
			bits_store(cursor.at, tn_dtype_size(operand->dtype),
				   tn_cast_bits(TN_F64, operand->dtype, tn_bits_of_f64(f64)));
	}
}
