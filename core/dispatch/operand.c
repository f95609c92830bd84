/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Makes operands of arrays, merges and sorts their axes, and tells whether two arrays share memory.
 */
#include "dispatch/operand.h"

#include <string.h>

#include "array/shape.h"

static void begin_operand(struct tn_operand *operand, const tn_array *array, uint32_t rank)
{
	tn_array_use(array);
	operand->buffer = array->storage->block.buffer;
	operand->offset = tn_array_byte_offset(array);
	operand->dtype = array->dtype;
	operand->rank = rank;
}

void tn_operand_of(struct tn_operand *operand, const tn_array *array)
{
	size_t size = (size_t)array->rank * sizeof(int64_t);
	begin_operand(operand, array, (uint32_t)array->rank);
	memcpy(operand->shape, array->shape, size);
	memcpy(operand->strides, array->strides, size);
}

void tn_operand_broadcast(struct tn_operand *operand, const tn_array *array, int rank,
			  const int64_t *shape)
{
	begin_operand(operand, array, (uint32_t)rank);
	memcpy(operand->shape, shape, (size_t)rank * sizeof(*shape));
	tn_shape_broadcast_strides(array, rank, shape, operand->strides);
}

/* Axis `from` of every operand becomes axis `to`. */
static void move_axis(struct tn_operand *const *operands, uint32_t n, uint32_t from, uint32_t to)
{
	for (uint32_t i = 0; i < n; i++) {
		operands[i]->shape[to] = operands[i]->shape[from];
		operands[i]->strides[to] = operands[i]->strides[from];
	}
}

/* Can axis `outer` and the axis `inner` be walked as one? */
static int can_merge(struct tn_operand *const *operands, uint32_t n, uint32_t outer, uint32_t inner)
{
	for (uint32_t i = 0; i < n; i++) {
		if (operands[i]->strides[outer] !=
		    operands[i]->strides[inner] * operands[i]->shape[inner])
			return 0;
	}
	return 1;
}

uint32_t tn_operands_merge(struct tn_operand *const *operands, uint32_t n, uint32_t first,
			   uint32_t last)
{
	uint32_t to = first;
	for (uint32_t axis = first; axis < last; axis++) {
		if (operands[0]->shape[axis] == 1)
			continue;
		if (to > first && can_merge(operands, n, to - 1, axis)) {
			for (uint32_t i = 0; i < n; i++) {
				operands[i]->shape[to - 1] *= operands[i]->shape[axis];
				operands[i]->strides[to - 1] = operands[i]->strides[axis];
			}
			continue;
		}
		if (to != axis)
			move_axis(operands, n, axis, to);
		to++;
	}
	for (uint32_t i = 0; i < n && to != last; i++) {
		for (uint32_t axis = last; axis < operands[i]->rank; axis++)
			move_axis(&operands[i], 1, axis, to + axis - last);
		operands[i]->rank -= last - to;
	}
	return to - first;
}

static int64_t size_of_stride(const struct tn_operand *operand, uint32_t axis)
{
	return operand->strides[axis] < 0 ? -operand->strides[axis] : operand->strides[axis];
}

static void swap_axes(struct tn_operand *const *operands, uint32_t n, uint32_t a, uint32_t b)
{
	for (uint32_t i = 0; i < n; i++) {
		struct tn_operand *operand = operands[i];
		int64_t shape = operand->shape[a], stride = operand->strides[a];
		operand->shape[a] = operand->shape[b];
		operand->strides[a] = operand->strides[b];
		operand->shape[b] = shape;
		operand->strides[b] = stride;
	}
}

void tn_operands_sort(struct tn_operand *const *operands, uint32_t n, uint32_t leader,
		      uint32_t first, uint32_t last)
{
	for (uint32_t i = first + 1; i < last; i++) {
		for (uint32_t j = i; j > first && size_of_stride(operands[leader], j - 1) <
							  size_of_stride(operands[leader], j);
		     j--)
			swap_axes(operands, n, j, j - 1);
	}
}

/* ---- Overlap ---------------------------------------------------------------------------------*/

/* b, broadcast to a's shape, has a's strides on every axis that has more than one element. */
static int same_view(const tn_array *a, const tn_array *b)
{
	int more = a->rank - b->rank;
	if (a->offset != b->offset || a->dtype != b->dtype || more < 0 || a->size != b->size)
		return 0;
	for (int i = 0; i < b->rank; i++) {
		if (a->shape[more + i] != b->shape[i] ||
		    (b->shape[i] != 1 && a->strides[more + i] != b->strides[i]))
			return 0;
	}
	return 1;
}

static void bytes_of(const tn_array *a, int64_t *low, int64_t *high)
{
	int64_t size = (int64_t)tn_dtype_size(a->dtype);
	tn_shape_extent(a->rank, a->shape, a->strides, low, high);
	*low = (a->offset + *low) * size;
	*high = (a->offset + *high + 1) * size;
}

enum tn_overlap tn_array_overlap(const tn_array *a, const tn_array *b)
{
	int64_t a_low, a_high, b_low, b_high;
	if (tn_storages_are_apart(a->storage, b->storage) || !a->size || !b->size)
		return TN_OVERLAP_NONE;
	if (a->storage == b->storage && same_view(a, b))
		return TN_OVERLAP_SAME;
	bytes_of(a, &a_low, &a_high);
	bytes_of(b, &b_low, &b_high);
	uint64_t a_start = 0, b_start = 0;
	if (a->storage != b->storage) {
		a_start = a->storage->foreign->address;
		b_start = b->storage->foreign->address;
	}
	return a_start + (uint64_t)a_high <= b_start + (uint64_t)b_low ||
			       b_start + (uint64_t)b_high <= a_start + (uint64_t)a_low
		       ? TN_OVERLAP_NONE
		       : TN_OVERLAP_PARTIAL;
}
