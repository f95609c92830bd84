/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 */
#include "operand.h"

#include <string.h>

#include "status.h"

unsigned cuda_kind(tn_dtype dtype)
{
	static const uint8_t kinds[] = {
		[TN_BOOL] = CUDA_BOOL,    [TN_I8] = CUDA_SIGNED,     [TN_I16] = CUDA_SIGNED,
		[TN_I32] = CUDA_SIGNED,   [TN_I64] = CUDA_SIGNED,    [TN_U8] = CUDA_UNSIGNED,
		[TN_U16] = CUDA_UNSIGNED, [TN_U32] = CUDA_UNSIGNED,  [TN_U64] = CUDA_UNSIGNED,
		[TN_F16] = CUDA_FLOATING, [TN_BF16] = CUDA_FLOATING, [TN_F32] = CUDA_FLOATING,
		[TN_F64] = CUDA_FLOATING, [TN_C64] = CUDA_COMPLEX,   [TN_C128] = CUDA_COMPLEX,
	};
	return dtype > 0 && (size_t)dtype < sizeof(kinds) ? kinds[dtype] : 0;
}

static tn_status check_axes(const struct tn_call *call, const char *operation, const char *name,
			    unsigned number, const struct tn_operand *operand, enum cuda_role role)
{
	int64_t count = 1, distance;
	for (uint32_t d = 0; d < operand->rank; d++) {
		if (operand->shape[d] < 1 ||
		    __builtin_mul_overflow(count, operand->shape[d], &count) ||
		    __builtin_mul_overflow(operand->strides[d], operand->shape[d] - 1, &distance))
			return cuda_fail(call->error, TN_INVALID_ARGUMENT, operation,
					 "%s %u: axis %u has length %lld and stride %lld", name,
					 number, d, (long long)operand->shape[d],
					 (long long)operand->strides[d]);
		if (role == CUDA_WRITES && operand->strides[d] == 0 && operand->shape[d] != 1)
			return cuda_fail(call->error, TN_INVALID_ARGUMENT, operation,
					 "%s %u: stride 0 on axis %u would write an element twice",
					 name, number, d);
	}
	return TN_OK;
}

tn_status cuda_check_operand(const struct tn_call *call, const char *operation, const char *name,
			     unsigned number, const struct tn_operand *operand, enum cuda_role role)
{
	if (!cuda_kind(operand->dtype))
		return cuda_fail(call->error, TN_UNSUPPORTED, operation,
				 "%s %u: dtype %d is not stored on this device", name, number,
				 (int)operand->dtype);
	if (operand->rank > TN_MAX_RANK)
		return cuda_fail(call->error, TN_INVALID_ARGUMENT, operation,
				 "%s %u: rank %u, at most %d is possible", name, number,
				 operand->rank, TN_MAX_RANK);
	tn_status status = check_axes(call, operation, name, number, operand, role);
	if (status)
		return status;
	if (operand->offset % tn_dtype_size(operand->dtype))
		return cuda_fail(call->error, TN_INVALID_ARGUMENT, operation,
				 "%s %u: offset %llu is no multiple of its element's size", name,
				 number, (unsigned long long)operand->offset);
	if (!operand->buffer && !(call->flags & TN_DRY_RUN))
		return cuda_fail(call->error, TN_INVALID_ARGUMENT, operation, "%s %u has no buffer",
				 name, number);
	return TN_OK;
}

tn_status cuda_check_shape(const struct tn_call *call, const char *operation, const char *name,
			   unsigned number, const struct tn_operand *operand, uint32_t rank,
			   const int64_t *shape)
{
	if (operand->rank != rank)
		return cuda_fail(call->error, TN_SHAPE, operation, "%s %u has rank %u, expected %u",
				 name, number, operand->rank, rank);
	for (uint32_t d = 0; d < rank; d++)
		if (operand->shape[d] != shape[d])
			return cuda_fail(call->error, TN_SHAPE, operation,
					 "%s %u: axis %u has length %lld, expected %lld", name,
					 number, d, (long long)operand->shape[d],
					 (long long)shape[d]);
	return TN_OK;
}

struct tn_operand cuda_without_axis(const struct tn_operand *operand, uint32_t axis)
{
	struct tn_operand rest = *operand;
	rest.rank--;
	for (uint32_t d = axis; d < rest.rank; d++) {
		rest.shape[d] = operand->shape[d + 1];
		rest.strides[d] = operand->strides[d + 1];
	}
	return rest;
}

tn_dtype cuda_bits_dtype(tn_dtype dtype)
{
	const size_t size = tn_dtype_size(dtype);
	return size == 1   ? TN_U8
	       : size == 2 ? TN_U16
	       : size == 4 ? TN_U32
	       : size == 8 ? TN_U64
			   : dtype;
}

uint64_t cuda_product(const int64_t *length, uint32_t rank)
{
	uint64_t count = 1;
	for (uint32_t d = 0; d < rank; d++)
		count *= (uint64_t)length[d];
	return count;
}

/* ---- Nests -----------------------------------------------------------------------------------*/

void cuda_nest_begin(struct cuda_nest *nest, uint32_t rank, uint32_t n_kept, const int64_t *length)
{
	nest->rank = rank;
	nest->n_kept = n_kept;
	nest->n_views = 0;
	for (uint32_t d = 0; d < rank; d++)
		nest->length[d] = length[d];
}

uint32_t cuda_nest_add(struct cuda_nest *nest, const struct tn_operand *operand, int kept_only)
{
	struct cuda_view *view = &nest->view[nest->n_views];
	view->address = cuda_address(operand);
	view->dtype = operand->dtype;
	view->kept_only = kept_only;
	for (uint32_t d = 0; d < TN_MAX_RANK; d++)
		view->stride[d] = d < operand->rank ? operand->strides[d] : 0;
	return nest->n_views++;
}

static void remove_axis(struct cuda_nest *nest, uint32_t axis)
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
static int can_merge(const struct cuda_nest *nest, uint32_t axis)
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

void cuda_nest_simplify(struct cuda_nest *nest)
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

static void insert_axis(struct cuda_nest *nest, uint32_t axis)
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

void cuda_nest_pad(struct cuda_nest *nest, uint32_t n_kept, uint32_t n_reduced)
{
	while (nest->rank - nest->n_kept < n_reduced)
		insert_axis(nest, nest->n_kept);
	while (nest->n_kept < n_kept) {
		insert_axis(nest, 0);
		nest->n_kept++;
	}
}

/* The elements between a view's lowest and its highest. */
static uint64_t reach(const struct cuda_nest *nest, const struct cuda_view *view)
{
	uint64_t distance = 0;
	for (uint32_t d = 0; d < nest->rank; d++) {
		uint64_t stride = view->stride[d] < 0 ? 0 - (uint64_t)view->stride[d]
						      : (uint64_t)view->stride[d];
		distance += stride * (uint64_t)(nest->length[d] - 1);
	}
	return distance;
}

int cuda_nest_is_wide(const struct cuda_nest *nest)
{
	if (cuda_product(nest->length, nest->rank) > INT32_MAX)
		return 1;
	for (uint32_t k = 0; k < nest->n_views; k++)
		if (reach(nest, &nest->view[k]) > INT32_MAX)
			return 1;
	return 0;
}
