/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Each recorded result, and each gradient that a node has given, is reduced to one number on the
 * device, which the host waits for.
 */
#include "autograd/anomaly.h"

#include "array/handle.h"

#include <inttypes.h>
#include <stdio.h>

#include <tenon/autograd.h>

#include "base/dtype.h"
#include "ops/formula.h"

tn_status tn_anomaly_mode(tn_context *context, int on)
{
	if (!context)
		return TN_INVALID_ARGUMENT;
	struct tn_runtime *rt = tn_runtime_of(context);
	tn_status status = tn_handle_check(rt, "anomaly_mode");
	if (status)
		return status;
	if (on && !rt->anomaly)
		rt->anomaly_step = 0;
	rt->anomaly = on != 0;
	return TN_OK;
}

/* *found: is an element infinite or NaN? */
static tn_status find(const tn_array *a, double *found)
{
	static const struct tn_formula mark = {.text = "mark = x - x == 0 ? f32(0) : f32(1)",
					       .inputs = "x"};
	tn_array *marks = tn_formula_map_number(&mark, &a, NULL);
	return marks ? tn_item(tn_max(marks, TN_ALL_AXES, NULL, 0), found)
		     : a->runtime->error.status;
}

tn_status tn_anomaly_check(const tn_array *a, const char *operation, const char *place,
			   int is_backward, uint32_t i)
{
	if (!a || !a->size || !tn_is_inexact(a->dtype))
		return TN_OK;
	struct tn_runtime *rt = a->runtime;
	const struct tn_recorder *recorder = rt->recorder;
	double is_in_real = 0, is_in_imaginary = 0;
	tn_status status = tn_scope_begin(rt->context);
	if (status)
		return status;
	rt->recorder = NULL;
	status = find(tn_real(a), &is_in_real);
	if (!status && tn_is_complex(a->dtype))
		status = find(tn_imag(a), &is_in_imaginary);
	rt->recorder = recorder;
	tn_scope_end(rt->context, NULL);
	if (status || (is_in_real == 0 && is_in_imaginary == 0))
		return status;
	char step[32] = "";
	if (rt->anomaly_step)
		snprintf(step, sizeof(step), ", step %" PRIu64, rt->anomaly_step);
	status = tn_runtime_fail(rt, TN_NOT_FINITE, operation,
				 "%s%s%s%s: %s %u has elements that are infinite or NaN",
				 is_backward ? "backward" : "forward", place ? " in " : "",
				 place ? place : "", step,
				 is_backward ? "the gradient of input" : "output", i);
	rt->error_has_place |= place != NULL;
	return status;
}
