/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Arrays put together along an axis, and taken apart.
 */
#include <tenon/manipulate.h>

#include <inttypes.h>
#include <limits.h>

#include "array/make.h"
#include "array/shape.h"
#include "base/memory.h"
#include "ops/axes.h"

/* ---- Stack -----------------------------------------------------------------------------------*/

static tn_status check_stack(struct tn_runtime *runtime, int n, const tn_array *const *arrays,
			     int *axis)
{
	const tn_array *first = arrays[0];
	char expected[TN_SHAPE_TEXT], found[TN_SHAPE_TEXT];
	if (first->rank == TN_MAX_RANK)
		return tn_runtime_fail(runtime, TN_LIMIT, "stack",
				       "arrays: expected at most %d axes, found shape %s",
				       TN_MAX_RANK - 1, tn_array_text(first, found));
	if (!tn_axis_normal(axis, first->rank + 1))
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "stack",
				       "axis: expected %d to %d for arrays of shape %s, found %d",
				       -first->rank - 1, first->rank, tn_array_text(first, found),
				       *axis);
	for (int i = 1; i < n; i++) {
		if (!tn_shape_equal(first->rank, first->shape, arrays[i]->rank, arrays[i]->shape))
			return tn_runtime_fail(runtime, TN_SHAPE, "stack",
					       "arrays[%d]: expected shape %s, found %s", i,
					       tn_array_text(first, expected),
					       tn_array_text(arrays[i], found));
	}
	return TN_OK;
}

tn_array *tn_stack(int n, const tn_array *const *arrays, int axis)
{
	if (n < 1 || !arrays)
		return NULL;
	struct tn_runtime *runtime = tn_begin((uint32_t)n, arrays, "stack");
	if (!runtime || check_stack(runtime, n, arrays, &axis))
		return NULL;
	tn_array *joined = NULL, **layers = tn_mem_zeroed((size_t)n, sizeof(tn_array *));
	if (!layers) {
		tn_runtime_fail(runtime, TN_OUT_OF_MEMORY, "stack", "no host memory for %d arrays",
				n);
		return NULL;
	}
	for (int i = 0; i < n; i++)
		layers[i] = tn_expand_dims(arrays[i], axis);
	if (!runtime->error.status)
		joined = tn_concatenate(n, (const tn_array *const *)layers, axis);
	for (int i = 0; i < n; i++)
		tn_array_discard(layers[i]);
	tn_mem_free(layers);
	return joined;
}

/* ---- Block -----------------------------------------------------------------------------------*/

/* Lists in lists that are being joined. */
struct block {
	const tn_array *const *next; /* the array that is next */
	int rank;                    /* of all, with missing axes */
};

static tn_array *with_rank(const tn_array *a, int rank)
{
	int64_t shape[TN_MAX_RANK];
	for (int i = 0; i < rank; i++)
		shape[i] = i < rank - a->rank ? 1 : a->shape[i - (rank - a->rank)];
	return tn_reshape(a, rank, shape);
}

static tn_array *join_lists(struct block *block, int depth, const int *counts)
{
	const tn_array *first = *block->next;
	if (!depth)
		return with_rank(*block->next++, block->rank);
	const tn_array **parts = tn_mem_alloc((size_t)counts[0] * sizeof(*parts));
	if (!parts) {
		tn_runtime_fail(first->runtime, TN_OUT_OF_MEMORY, "block",
				"no host memory for %d arrays", counts[0]);
		return NULL;
	}
	for (int i = 0; i < counts[0]; i++)
		parts[i] = join_lists(block, depth - 1, counts + 1);
	tn_array *joined = tn_concatenate(counts[0], parts, block->rank - depth);
	tn_mem_free(parts);
	return joined;
}

/* How many arrays there are; 0 with the error kept. */
static uint32_t count_blocks(struct tn_runtime *runtime, int depth, const int *counts)
{
	int64_t n = 1;
	for (int i = 0; i < depth; i++) {
		if (counts[i] < 1)
			tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "block",
					"counts[%d]: expected 1 or more, found %d", i, counts[i]);
		if (counts[i] < 1)
			return 0;
		n = n > INT32_MAX / counts[i] ? INT32_MAX : n * counts[i];
	}
	return (uint32_t)n;
}

tn_array *tn_block(int depth, const int *counts, const tn_array *const *arrays)
{
	if (!counts || !arrays)
		return NULL;
	struct tn_runtime *runtime = tn_begin(1, arrays, "block");
	if (runtime && (depth < 1 || depth > TN_MAX_RANK)) {
		tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "block",
				"depth: expected 1 to %d, found %d", TN_MAX_RANK, depth);
		return NULL;
	}
	const uint32_t n = runtime ? count_blocks(runtime, depth, counts) : 0;
	struct block block = {.next = arrays, .rank = depth};
	if (!n || !tn_begin(n, arrays, "block") || tn_scope_begin(runtime->context))
		return NULL;
	for (uint32_t i = 0; i < n; i++)
		block.rank = arrays[i]->rank > block.rank ? arrays[i]->rank : block.rank;
	return tn_scope_end(runtime->context, join_lists(&block, depth, counts));
}

tn_array *tn_append(const tn_array *a, const tn_array *values, int axis)
{
	const tn_array *both[] = {a, values};
	struct tn_runtime *runtime = tn_begin(2, both, "append");
	char expected[TN_SHAPE_TEXT], found[TN_SHAPE_TEXT];
	if (!runtime)
		return NULL;
	int a_axis = axis, values_axis = axis;
	tn_array *first = tn_axis_or_flat(a, "append", &a_axis);
	tn_array *second = first ? tn_axis_or_flat(values, "append", &values_axis) : NULL;
	int fits = second && first->rank == second->rank;
	for (int i = 0; fits && i < first->rank; i++)
		fits = i == a_axis || first->shape[i] == second->shape[i];
	if (second && !fits)
		tn_runtime_fail(runtime, TN_SHAPE, "append",
				"values: expected shape %s but for axis %d, found %s",
				tn_array_text(first, expected), a_axis,
				tn_array_text(second, found));
	tn_array *joined =
		fits ? tn_concatenate(2, (const tn_array *[]){first, second}, a_axis) : NULL;
	tn_array_discard(second);
	tn_array_discard(first);
	return joined;
}

/* ---- Split -----------------------------------------------------------------------------------*/

static void clear(int n, tn_array **parts)
{
	for (int i = 0; parts && i < n; i++)
		parts[i] = NULL;
}

static void forget(int n, tn_array **parts)
{
	for (int i = 0; i < n; i++)
		tn_array_discard(parts[i]);
	clear(n, parts);
}

tn_status tn_unstack(const tn_array *a, int axis, tn_array **parts)
{
	const int is_axis = a && tn_axis_normal(&axis, a->rank);
	const int64_t length = is_axis ? a->shape[axis] : 0;
	const int n = length <= INT_MAX ? (int)length : 0;
	clear(n, parts);
	tn_status status = tn_begin_into(1, &a, "unstack");
	if (!status && !is_axis)
		status = tn_axis_check(a, "unstack", "axis", &axis);
	if (status)
		return status;
	if (!parts || n < length)
		return tn_runtime_fail(a->runtime, TN_INVALID_ARGUMENT, "unstack",
				       "parts: expected room for %" PRId64 " arrays", length);
	for (int i = 0; i < n && !status; i++) {
		tn_array *part = tn_slice(a, axis, i, i + 1, 1);
		parts[i] = tn_squeeze(part, axis);
		tn_array_discard(part);
		status = parts[i] ? TN_OK : a->runtime->error.status;
	}
	if (status)
		forget(n, parts);
	return status;
}

/* The end of part i of n: of equal parts, whose first ones may be longer by 1, or where the next
 * index says, by Python's rules. */
static int64_t end_of_part(int64_t length, int i, int n, const int64_t *indices)
{
	const int64_t each = length / n, longer = length % n, next = i + 1;
	if (!indices)
		return next * each + (next < longer ? next : longer);
	return i < n - 1 ? indices[i] : length;
}

static tn_status split(const tn_array *a, const char *operation, int n, const int64_t *indices,
		       int axis, tn_array **parts)
{
	const int n_parts = indices ? n + 1 : n;
	tn_status status = TN_OK;
	int64_t start = 0;
	if (!parts)
		return tn_runtime_fail(a->runtime, TN_INVALID_ARGUMENT, operation, "parts is NULL");
	for (int i = 0; i < n_parts && !status; i++) {
		int64_t end = end_of_part(a->shape[axis], i, n_parts, indices);
		parts[i] = tn_slice(a, axis, start, end, 1);
		status = parts[i] ? TN_OK : a->runtime->error.status;
		start = end;
	}
	if (status)
		forget(n_parts, parts);
	return status;
}

static tn_status check_split(const tn_array *a, const char *operation, int n,
			     const int64_t *indices, int *axis, tn_array **parts)
{
	clear(indices && n < INT_MAX ? n + 1 : n, parts);
	tn_status status = tn_begin_into(1, &a, operation);
	if (status)
		return status;
	if (n < (indices ? 0 : 1) || n == INT_MAX)
		return tn_runtime_fail(a->runtime, TN_INVALID_ARGUMENT, operation,
				       "n: expected %s, found %d",
				       indices ? "0 or more indices" : "1 or more parts", n);
	return tn_axis_check(a, operation, "axis", axis);
}

tn_status tn_array_split(const tn_array *a, int n, const int64_t *indices, int axis,
			 tn_array **parts)
{
	tn_status status = check_split(a, "array_split", n, indices, &axis, parts);
	return status ? status : split(a, "array_split", n, indices, axis, parts);
}

tn_status tn_split(const tn_array *a, int n, const int64_t *indices, int axis, tn_array **parts)
{
	tn_status status = check_split(a, "split", n, indices, &axis, parts);
	char shape[TN_SHAPE_TEXT];
	if (status)
		return status;
	if (!indices && a->shape[axis] % n)
		return tn_runtime_fail(a->runtime, TN_SHAPE, "split",
				       "n: axis %d of shape %s does not have %d equal parts", axis,
				       tn_array_text(a, shape), n);
	return split(a, "split", n, indices, axis, parts);
}
