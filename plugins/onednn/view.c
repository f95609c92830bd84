/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Operands as oneDNN views.
 */
#include "view.h"

#include <inttypes.h>
#include <string.h>

/* The stride of an axis of length 1 is irrelevant, but affects oneDNN's choice of a kernel. */
static void set_unit_strides(struct onednn_view *view)
{
	for (int i = view->rank; i-- > 0;) {
		if (view->shape[i] == 1)
			view->strides[i] =
				i + 1 == view->rank ? 1 : view->strides[i + 1] * view->shape[i + 1];
	}
}

/* The axis with the smallest stride above `last`, of those longer than 1; -1: none is left. */
static int next_axis(const struct onednn_view *view, uint32_t seen)
{
	int found = -1;
	for (int i = 0; i < view->rank; i++) {
		if (view->shape[i] > 1 && !(seen >> i & 1) &&
		    (found < 0 || view->strides[i] < view->strides[found]))
			found = i;
	}
	return found;
}

/* From the smallest stride up, each axis steps over all axes below it. */
static int is_apart(const struct onednn_view *view)
{
	int64_t extent = 1;
	uint32_t seen = 0;
	for (int axis = next_axis(view, seen); axis >= 0; axis = next_axis(view, seen)) {
		if (view->strides[axis] < extent)
			return 0;
		extent += (view->shape[axis] - 1) * view->strides[axis];
		seen |= 1u << axis;
	}
	return 1;
}

tn_status onednn_view(struct onednn_view *view, const struct tn_operand *operand,
		      const struct tn_call *call, const char *operation, const char *which)
{
	if (operand->dtype != TN_F32)
		return tn_plugin_fail(call->error, TN_UNSUPPORTED, operation,
				      "%s: expected f32, found dtype %d", which, operand->dtype);
	if (operand->rank < 1 || operand->rank > DNNL_MAX_NDIMS)
		return tn_plugin_fail(call->error, TN_UNSUPPORTED, operation,
				      "%s: rank %u, expected 1 to %d", which, operand->rank,
				      DNNL_MAX_NDIMS);
	for (uint32_t i = 0; i < operand->rank; i++) {
		if (operand->shape[i] < 1)
			return tn_plugin_fail(call->error, TN_INVALID_ARGUMENT, operation,
					      "%s: axis %u has length %" PRId64, which, i,
					      operand->shape[i]);
	}
	view->rank = (int)operand->rank;
	view->address = operand->buffer + operand->offset;
	memcpy(view->shape, operand->shape, operand->rank * sizeof(int64_t));
	memcpy(view->strides, operand->strides, operand->rank * sizeof(int64_t));
	set_unit_strides(view);
	if (!is_apart(view))
		return tn_plugin_fail(call->error, TN_UNSUPPORTED, operation,
				      "%s: strides below 1 or overlapping elements", which);
	return TN_OK;
}

struct onednn_view onednn_dense(const struct onednn_view *like)
{
	struct onednn_view dense = *like;
	int64_t stride = 1;
	for (int i = dense.rank; i-- > 0;) {
		dense.strides[i] = stride;
		stride *= dense.shape[i];
	}
	return dense;
}

static int is_dense(const struct onednn_view *view)
{
	struct onednn_view dense = onednn_dense(view);
	return !memcmp(dense.strides, view->strides, (size_t)view->rank * sizeof(int64_t));
}

static int is_channels_last(const struct onednn_view *view)
{
	int64_t stride = view->shape[1];
	for (int i = view->rank; i-- > 2;) {
		if (view->shape[i] > 1 && view->strides[i] != stride)
			return 0;
		stride *= view->shape[i];
	}
	return view->strides[1] == 1 && (view->shape[0] == 1 || view->strides[0] == stride);
}

int onednn_is_plain(const struct onednn_view *view)
{
	return is_dense(view) || (view->rank > 2 && is_channels_last(view));
}

void onednn_split(struct onednn_view *view, int axis, int64_t parts)
{
	for (int i = view->rank; i > axis; i--) {
		view->shape[i] = view->shape[i - 1];
		view->strides[i] = view->strides[i - 1];
	}
	view->rank++;
	view->shape[axis] = parts;
	view->shape[axis + 1] /= parts;
	view->strides[axis] = view->strides[axis + 1] * view->shape[axis + 1];
}

int64_t onednn_slice(struct onednn_view *view, int axis, int pieces)
{
	view->shape[axis] /= pieces;
	int64_t step = view->shape[axis] * view->strides[axis];
	set_unit_strides(view);
	return step;
}

static int lies_like_one(const struct onednn_view *view, int axis)
{
	return view->shape[axis] == 1 ||
	       view->strides[axis] == view->strides[axis + 1] * view->shape[axis + 1];
}

static void merge_one(struct onednn_view *view, int axis)
{
	view->shape[axis] *= view->shape[axis + 1];
	view->strides[axis] = view->strides[axis + 1];
	view->rank--;
	for (int i = axis + 1; i < view->rank; i++) {
		view->shape[i] = view->shape[i + 1];
		view->strides[i] = view->strides[i + 1];
	}
}

void onednn_merge(struct onednn_view *const *views, int n, int first)
{
	for (int axis = views[0]->rank - 2; axis >= first; axis--) {
		int all = 1;
		for (int i = 0; i < n; i++)
			all = all && lies_like_one(views[i], axis);
		for (int i = 0; i < n && all; i++)
			merge_one(views[i], axis);
	}
}

dnnl_status_t onednn_describe(const struct onednn_library *library, const struct onednn_view *view,
			      dnnl_memory_desc_t *md)
{
	return library->memory_desc_init_by_strides(md, view->rank, view->shape, dnnl_f32,
						    view->strides);
}
