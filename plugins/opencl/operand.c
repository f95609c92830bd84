/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A handle that is no address can be checked: what an operand reaches must lie inside its buffer.
 */
#include "operand.h"

#include <string.h>

#include "memory.h"

unsigned opencl_kind(tn_dtype dtype)
{
	static const uint8_t kinds[] = {
		[TN_BOOL] = OPENCL_BOOL,    [TN_I8] = OPENCL_SIGNED,     [TN_I16] = OPENCL_SIGNED,
		[TN_I32] = OPENCL_SIGNED,   [TN_I64] = OPENCL_SIGNED,    [TN_U8] = OPENCL_UNSIGNED,
		[TN_U16] = OPENCL_UNSIGNED, [TN_U32] = OPENCL_UNSIGNED,  [TN_U64] = OPENCL_UNSIGNED,
		[TN_F16] = OPENCL_FLOATING, [TN_BF16] = OPENCL_FLOATING, [TN_F32] = OPENCL_FLOATING,
		[TN_F64] = OPENCL_FLOATING, [TN_C64] = OPENCL_COMPLEX,   [TN_C128] = OPENCL_COMPLEX,
	};
	return dtype > 0 && (size_t)dtype < sizeof(kinds) ? kinds[dtype] : 0;
}

static int is_stored(const struct opencl_device *device, tn_dtype dtype)
{
	if (!opencl_kind(dtype))
		return 0;
	return device->facts->has_f64 || (dtype != TN_F64 && dtype != TN_C128);
}

/* The lowest and the highest element that a view reaches; 0: they cannot be counted. */
static int reach(const struct tn_operand *operand, int64_t *lowest, int64_t *highest)
{
	*lowest = *highest = 0;
	for (uint32_t d = 0; d < operand->rank; d++) {
		int64_t distance, *end = operand->strides[d] < 0 ? lowest : highest;
		if (__builtin_mul_overflow(operand->strides[d], operand->shape[d] - 1, &distance) ||
		    __builtin_add_overflow(*end, distance, end))
			return 0;
	}
	return 1;
}

static int lies_within(const struct tn_operand *operand, uint64_t bytes)
{
	int64_t size = (int64_t)tn_dtype_size(operand->dtype), lowest, highest, first;
	if (operand->offset > bytes || !reach(operand, &lowest, &highest))
		return 0;
	first = (int64_t)operand->offset / size;
	return lowest >= -first && highest < (int64_t)bytes / size - first;
}

static tn_status check_place(const struct opencl_device *device, const struct tn_call *call,
			     const char *operation, const char *name, unsigned number,
			     const struct tn_operand *operand)
{
	const struct opencl_buffer *buffer = opencl_buffer_find(device, operand->buffer);
	if (!buffer)
		return opencl_fail(call->error, TN_INVALID_ARGUMENT, operation,
				   "%s %u: %llu is no buffer of this device", name, number,
				   (unsigned long long)operand->buffer);
	if (!lies_within(operand, buffer->size))
		return opencl_fail(call->error, TN_INVALID_ARGUMENT, operation,
				   "%s %u reaches outside its buffer of %llu bytes", name, number,
				   (unsigned long long)buffer->size);
	return TN_OK;
}

static tn_status check_axes(const struct tn_call *call, const char *operation, const char *name,
			    unsigned number, const struct tn_operand *operand,
			    enum opencl_role role)
{
	int64_t count = 1;
	for (uint32_t d = 0; d < operand->rank; d++) {
		if (operand->shape[d] < 1 ||
		    __builtin_mul_overflow(count, operand->shape[d], &count))
			return opencl_fail(call->error, TN_INVALID_ARGUMENT, operation,
					   "%s %u: axis %u has length %lld", name, number, d,
					   (long long)operand->shape[d]);
		if (role == OPENCL_WRITES && operand->strides[d] == 0 && operand->shape[d] != 1)
			return opencl_fail(call->error, TN_INVALID_ARGUMENT, operation,
					   "%s %u: stride 0 on axis %u would write an element "
					   "twice",
					   name, number, d);
	}
	return TN_OK;
}

tn_status opencl_check_operand(const struct opencl_device *device, const struct tn_call *call,
			       const char *operation, const char *name, unsigned number,
			       const struct tn_operand *operand, enum opencl_role role)
{
	if (!is_stored(device, operand->dtype))
		return opencl_fail(call->error, TN_UNSUPPORTED, operation,
				   "%s %u: dtype %d is not stored on this device", name, number,
				   (int)operand->dtype);
	if (operand->rank > TN_MAX_RANK)
		return opencl_fail(call->error, TN_INVALID_ARGUMENT, operation,
				   "%s %u: rank %u, at most %d is possible", name, number,
				   operand->rank, TN_MAX_RANK);
	tn_status status = check_axes(call, operation, name, number, operand, role);
	if (status)
		return status;
	if (operand->offset % tn_dtype_size(operand->dtype))
		return opencl_fail(call->error, TN_INVALID_ARGUMENT, operation,
				   "%s %u: offset %llu is no multiple of its element's size", name,
				   number, (unsigned long long)operand->offset);
	if (call->flags & TN_DRY_RUN)
		return TN_OK;
	return check_place(device, call, operation, name, number, operand);
}

tn_status opencl_check_shape(const struct tn_call *call, const char *operation, const char *name,
			     unsigned number, const struct tn_operand *operand, uint32_t rank,
			     const int64_t *shape)
{
	if (operand->rank != rank)
		return opencl_fail(call->error, TN_SHAPE, operation,
				   "%s %u has rank %u, expected %u", name, number, operand->rank,
				   rank);
	for (uint32_t d = 0; d < rank; d++)
		if (operand->shape[d] != shape[d])
			return opencl_fail(call->error, TN_SHAPE, operation,
					   "%s %u: axis %u has length %lld, expected %lld", name,
					   number, d, (long long)operand->shape[d],
					   (long long)shape[d]);
	return TN_OK;
}

uint64_t opencl_count(const int64_t *length, uint32_t rank)
{
	uint64_t count = 1;
	for (uint32_t d = 0; d < rank; d++)
		count *= (uint64_t)length[d];
	return count;
}

/* ---- Nests -----------------------------------------------------------------------------------*/

uint32_t opencl_nest_add(const struct opencl_device *device, struct opencl_nest *nest,
			 const struct tn_operand *operand, int kept_only)
{
	struct opencl_view *view = &nest->view[nest->n_views];
	const struct opencl_buffer *buffer = opencl_buffer_find(device, operand->buffer);
	memset(view, 0, sizeof(*view));
	view->memory = buffer ? buffer->memory : NULL;
	view->dtype = operand->dtype;
	view->offset = (int64_t)(operand->offset / tn_dtype_size(operand->dtype));
	view->kept_only = kept_only;
	memcpy(view->stride, operand->strides, operand->rank * sizeof(view->stride[0]));
	return nest->n_views++;
}

static void remove_axis(struct opencl_nest *nest, uint32_t axis)
{
	uint32_t behind = nest->rank - axis - 1;
	memmove(&nest->length[axis], &nest->length[axis + 1], behind * sizeof(nest->length[0]));
	for (uint32_t k = 0; k < nest->n_views; k++) {
		int64_t *stride = nest->view[k].stride;
		memmove(&stride[axis], &stride[axis + 1], behind * sizeof(stride[0]));
		stride[nest->rank - 1] = 0;
	}
	nest->rank--;
	if (axis < nest->n_kept)
		nest->n_kept--;
}

/* May axis and the one behind it be counted as one? */
static int can_merge(const struct opencl_nest *nest, uint32_t axis)
{
	if (axis + 1 == nest->n_kept)
		return 0;
	for (uint32_t k = 0; k < nest->n_views; k++) {
		const int64_t *stride = &nest->view[k].stride[axis];
		if (stride[0] != stride[1] * nest->length[axis + 1])
			return 0;
	}
	return 1;
}

void opencl_nest_simplify(struct opencl_nest *nest)
{
	for (uint32_t d = nest->rank; d-- > 0;)
		if (nest->length[d] == 1)
			remove_axis(nest, d);
	for (uint32_t d = nest->rank; d-- > 1;) {
		if (!can_merge(nest, d - 1))
			continue;
		nest->length[d] *= nest->length[d - 1];
		remove_axis(nest, d - 1);
	}
}

static void insert_axis(struct opencl_nest *nest, uint32_t axis)
{
	uint32_t behind = nest->rank - axis;
	memmove(&nest->length[axis + 1], &nest->length[axis], behind * sizeof(nest->length[0]));
	nest->length[axis] = 1;
	for (uint32_t k = 0; k < nest->n_views; k++) {
		int64_t *stride = nest->view[k].stride;
		memmove(&stride[axis + 1], &stride[axis], behind * sizeof(stride[0]));
		stride[axis] = 0;
	}
	nest->rank++;
}

void opencl_nest_pad(struct opencl_nest *nest, uint32_t n_kept, uint32_t n_reduced)
{
	while (nest->rank - nest->n_kept < n_reduced)
		insert_axis(nest, nest->n_kept);
	while (nest->n_kept < n_kept) {
		insert_axis(nest, 0);
		nest->n_kept++;
	}
}
