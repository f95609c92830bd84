/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Makes views of the real and imaginary parts of complex arrays, and lists them as operands.
 */
#include "ops/complex_parts.h"

#include "base/dtype.h"

tn_array *tn_complex_part_view(const tn_array *a, int part)
{
	int64_t strides[TN_MAX_RANK];
	for (int i = 0; i < a->rank; i++)
		strides[i] = 2 * a->strides[i];
	tn_array *view = tn_array_view(a, a->rank, a->shape, strides, 2 * a->offset + part);
	if (view)
		view->dtype = tn_real_dtype(a->dtype);
	return view;
}

tn_status tn_complex_parts_add(struct tn_complex_parts *parts, const tn_array *a)
{
	if (!tn_is_complex(a->dtype)) {
		parts->views[parts->n] = NULL;
		parts->arrays[parts->n++] = a;
		return TN_OK;
	}
	for (int part = 0; part < 2; part++) {
		tn_array *view = tn_complex_part_view(a, part);
		if (!view)
			return a->runtime->report.status;
		parts->views[parts->n] = view;
		parts->arrays[parts->n++] = view;
	}
	return TN_OK;
}

void tn_complex_parts_release(struct tn_complex_parts *parts)
{
	while (parts->n)
		tn_array_discard(parts->views[--parts->n]);
}
