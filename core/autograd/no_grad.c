/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What a tape does not record.
 */
#include <tenon/autograd.h>

#include "array/array.h"
#include "array/handle.h"
#include "array/make.h"

tn_status tn_no_grad_begin(tn_context *context)
{
	if (!context)
		return TN_INVALID_ARGUMENT;
	struct tn_runtime *rt = tn_runtime_of(context);
	tn_status status = tn_handle_check(rt, "no_grad_begin");
	if (status)
		return status;
	if (!rt->no_grad++) {
		rt->paused = rt->recorder;
		rt->recorder = NULL;
	}
	return TN_OK;
}

tn_status tn_no_grad_end(tn_context *context)
{
	if (!context)
		return TN_INVALID_ARGUMENT;
	struct tn_runtime *rt = tn_runtime_of(context);
	if (!rt->no_grad)
		return tn_runtime_fail(rt, TN_STATE, "no_grad_end", "no scope has begun");
	if (!--rt->no_grad) {
		rt->recorder = rt->paused;
		rt->paused = NULL;
	}
	return TN_OK;
}

tn_array *tn_detach(const tn_array *array)
{
	return tn_array_untracked("detach", array);
}
