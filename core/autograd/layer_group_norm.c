/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Group norm.
 */
#include "array/array.h"
#include "autograd/node.h"
#include "autograd/norm.h"
#include "ops/norm.h"

tn_array *tn_group_norm(const tn_array *x, const tn_array *w, const tn_array *b, int64_t groups,
			double epsilon)
{
	struct tn_norm_call call = {.kind = TN_NORM_GROUP,
				    .groups = groups,
				    .epsilon = epsilon != 0 ? epsilon : 1e-5,
				    .x = x,
				    .w = w,
				    .b = b};
	struct tn_suspension suspension = tn_tape_suspend(x);
	if (!suspension.runtime)
		return NULL;
	tn_array *y = tn_norm_call_forward(&call);
	y = tn_norm_record(suspension, "group_norm", &call, &(struct tn_norm_inputs){x, w, b}, y);
	tn_array_destroy(call.mean);
	tn_array_destroy(call.rstd);
	return y;
}
