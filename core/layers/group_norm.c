/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Group norm, and instance norm, whose groups are single channels.
 */
#include "array/array.h"
#include "array/shape.h"
#include "autograd/node.h"
#include "layers/norm.h"
#include "layers/norm_backward.h"

tn_array *tn_group_norm(const tn_array *x, const tn_array *w, const tn_array *b, int64_t groups,
			double epsilon)
{
	struct tn_norm_call call = {.kind = TN_NORM_GROUP,
				    .groups = groups,
				    .epsilon = epsilon,
				    .x = x,
				    .w = w,
				    .b = b};
	if (tn_norm_given(x, w, b, "group_norm"))
		return NULL;
	struct tn_suspension suspension = tn_tape_suspend(x);
	tn_array *y = tn_norm_call_forward(&call);
	y = tn_norm_record(suspension, "group_norm", &call, &(struct tn_norm_inputs){x, w, b}, y);
	tn_array_destroy(call.mean);
	tn_array_destroy(call.rstd);
	return y;
}

tn_array *tn_instance_norm(const tn_array *x, const tn_array *w, const tn_array *b, double epsilon)
{
	if (tn_norm_given(x, w, b, "instance_norm"))
		return NULL;
	char found[TN_SHAPE_TEXT];
	int64_t cells = 1;
	for (int i = 2; i < x->rank; i++)
		cells *= x->shape[i];
	if (x->rank >= 3 && cells != 1)
		return tn_group_norm(x, w, b, x->shape[1], epsilon);
	tn_runtime_fail(x->runtime, TN_SHAPE, "instance_norm",
			"x: expected (N, C, ...) with more than one element per channel, found %s",
			tn_array_text(x, found));
	return NULL;
}
