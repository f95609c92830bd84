/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * An operand as oneDNN describes memory: lengths and strides.
 */
#ifndef ONEDNN_VIEW_H
#define ONEDNN_VIEW_H

#include "plugin.h"

/* What oneDNN can be told of an operand: f32, at most 12 axes, strides above 0 with which no two
 * elements share a place.  Axes of length 1 get the stride that a dense array would give them. */
struct onednn_view {
	int rank;
	dnnl_dims_t shape;
	dnnl_dims_t strides;
	uint64_t address;
};

/* TN_UNSUPPORTED: oneDNN cannot be told of it; `which` is its name in the text. */
tn_status onednn_view(struct onednn_view *view, const struct tn_operand *operand,
		      const struct tn_call *call, const char *operation, const char *which);

/* Rows without gaps, the last axis fastest; `like` gives the shape. */
struct onednn_view onednn_dense(const struct onednn_view *like);

/* Is it dense, or dense with the channels (axis 1) fastest?  Most of oneDNN's kernels take both. */
int onednn_is_plain(const struct onednn_view *view);

/* Splits axis `axis` into (parts, length / parts). */
void onednn_split(struct onednn_view *view, int axis, int64_t parts);

/* Makes it the first of `pieces` equal pieces along `axis`; the elements to the next. */
int64_t onednn_slice(struct onednn_view *view, int axis, int pieces);

/* Merges neighbours from `first` on into one axis where each lies like one in all n views. */
void onednn_merge(struct onednn_view *const *views, int n, int first);

dnnl_status_t onednn_describe(const struct onednn_library *library, const struct onednn_view *view,
			      dnnl_memory_desc_t *md);

#endif
