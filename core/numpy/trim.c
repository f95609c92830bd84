/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Arrays without the zeros around them, and of another size.
 */
#include <tenon/manipulate.h>

#include <inttypes.h>
#include <tenon/statistics.h>

#include "array/make.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "ops/axes.h"
#include "ops/copy.h"
#include "ops/formula.h"
#include "ops/host_read.h"
#include "ops/index_formula.h"

/* ---- Zeros -----------------------------------------------------------------------------------*/

/* i64, one element each: where along the axis the first and the last element lie that are not
 * zero; 0 and the end where all are. */
static void find_ends(const tn_array *a, int axis, const tn_array *ends[2])
{
	int others[TN_MAX_RANK], n = 0;
	for (int i = 0; i < a->rank; i++) {
		if (i != axis)
			others[n++] = i;
	}
	const tn_array *is_there = tn_any(a, n, others, 0);
	const int first = 0;
	ends[0] = tn_argmax(is_there, first, 0);
	ends[1] = tn_argmax(tn_flip(is_there, 1, &first), first, 0);
	for (int i = 0; i < 2; i++)
		ends[i] = tn_expand_dims(ends[i], 0);
}

/* How many elements are zero at the front and back of each axis, and whether one is not: waits for
 * the device once. */
static tn_status read_ends(const tn_array *a, int n, const int *axes,
			   int64_t ends[2 * TN_MAX_RANK + 1])
{
	const tn_array *parts[2 * TN_MAX_RANK + 1];
	for (int i = 0; i < n; i++)
		find_ends(a, axes[i], &parts[2 * i]);
	parts[2 * n] = tn_expand_dims(tn_count_nonzero(a, TN_ALL_AXES, NULL, 0), 0);
	const tn_array *all = tn_concatenate(2 * n + 1, parts, 0);
	return tn_host_read("trim_zeros", all, ends, ((size_t)n * 2 + 1) * sizeof(*ends));
}

static tn_array *trimmed(const tn_array *a, uint32_t trim, int n, const int *axes)
{
	int64_t ends[2 * TN_MAX_RANK + 1] = {0};
	tn_array *part = tn_reshape(a, a->rank, a->shape);
	if (a->size && read_ends(a, n, axes, ends))
		return NULL;
	for (int i = 0; i < n; i++) {
		const int64_t length = a->shape[axes[i]];
		const int64_t start = trim & TN_TRIM_FRONT ? ends[2 * i] : 0;
		const int64_t stop = trim & TN_TRIM_BACK ? length - ends[2 * i + 1] : length;
		part = tn_slice(part, axes[i], start, ends[2 * n] ? stop : start, 1);
	}
	return part;
}

tn_array *tn_trim_zeros(const tn_array *a, uint32_t trim, int n, const int *axes)
{
	int checked[TN_MAX_RANK];
	struct tn_runtime *runtime = tn_begin(1, &a, "trim_zeros");
	if (!runtime || tn_axes_check(a, "trim_zeros", "axes", &n, axes, checked))
		return NULL;
	if (!trim || trim & ~(uint32_t)(TN_TRIM_FRONT | TN_TRIM_BACK)) {
		tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "trim_zeros",
				"trim: expected TN_TRIM_FRONT (1), TN_TRIM_BACK (2) or both, found "
				"%" PRIu32,
				trim);
		return NULL;
	}
	if (tn_scope_begin(runtime->context))
		return NULL;
	return tn_scope_end(runtime->context, trimmed(a, trim, n, checked));
}

/* ---- Size ------------------------------------------------------------------------------------*/

static tn_array *repeated(const tn_array *a, int64_t size, int rank, const int64_t *shape)
{
	static const struct tn_formula place = {
		.text = "z = index(0) % length", .scalars = "length", .scalar_dtype = TN_I64};
	const double length = (double)a->size;
	if (!a->size)
		return tn_array_filled(a, a->dtype, rank, shape, 0);
	const tn_array *places = tn_index_formula_make(tn_array_home(a), "resize", TN_I64, 1, &size,
						       &place, &length);
	const tn_array *line = tn_reshape(a, 1, &a->size);
	return places && line ? tn_reshape(tn_take(line, places, 0, TN_RAISE), rank, shape) : NULL;
}

tn_array *tn_resize(const tn_array *a, int rank, const int64_t *shape)
{
	int64_t size;
	struct tn_runtime *runtime = tn_begin(1, &a, "resize");
	if (!runtime)
		return NULL;
	tn_status status = tn_shape_check(runtime, "resize", a->dtype, rank, shape, &size);
	if (status)
		return tn_end(runtime, status, NULL);
	if (tn_scope_begin(runtime->context))
		return NULL;
	return tn_scope_end(runtime->context, repeated(a, size, rank, shape));
}
