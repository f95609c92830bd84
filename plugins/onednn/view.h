/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * An operand as oneDNN describes memory: lengths and strides.
 */
#ifndef ONEDNN_VIEW_H
#define ONEDNN_VIEW_H

#include "plugin.h"

/* The operands that oneDNN can describe: f32, at most 12 axes, strides above 0 without overlapping
 * elements.  Axes of length 1 get the stride that a dense array would give them. */
struct onednn_view {
	int rank;
	dnnl_dims_t shape;
	dnnl_dims_t strides;
	uint64_t address;
};

/* TN_UNSUPPORTED: oneDNN cannot describe it; `which` is its name in the error. */
tn_status onednn_view(struct onednn_view *view, const struct tn_operand *operand,
		      const struct tn_call *call, const char *operation, const char *which);

/* Rows without gaps, the last axis fastest; `like` gives the shape. */
struct onednn_view onednn_dense(const struct onednn_view *like);

/* Is it dense, or dense with the channels (axis 1) fastest?  Most of oneDNN's kernels support
 * both. */
int onednn_is_plain(const struct onednn_view *view);

/* Splits axis `axis` into (parts, length / parts). */
void onednn_split(struct onednn_view *view, int axis, int64_t parts);

/* Makes it the first of `pieces` equal pieces along `axis`; returns the elements to the next. */
int64_t onednn_slice(struct onednn_view *view, int axis, int pieces);

/* Merges neighbours from `first` on into one axis if each can be merged in all n views. */
void onednn_merge(struct onednn_view *const *views, int n, int first);

dnnl_status_t onednn_describe(const struct onednn_library *library, const struct onednn_view *view,
			      dnnl_memory_desc_t *md);

#endif
