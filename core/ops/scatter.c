/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The route of the scatter slot: only the device's own backend, since callers have other ways.
 */
#include "ops/scatter.h"

#include "array/make.h"
#include "dispatch/operand.h"
#include "dispatch/operations.h"
#include "dispatch/route.h"
#include "ops/index_check.h"
#include "ops/layout.h"

int tn_can_scatter(const tn_array *out)
{
	return tn_backend_has(tn_array_home(out)->backend, TN_SLOT_SCATTER);
}

static tn_status call(tn_array *out, const tn_array *line, int axis, const tn_array *a,
		      uint32_t mode)
{
	struct tn_gather_args args = {
		.call = {.struct_size = sizeof(args)}, .axis = (uint32_t)axis, .mode = mode};
	struct tn_route route = {.runtime = out->runtime,
				 .device = tn_array_home(out),
				 .operation = TN_DO_SCATTER,
				 .slot = TN_SLOT_SCATTER,
				 .call = &args.call,
				 .is_native_only = 1};
	tn_operand_of(&args.input, a);
	tn_operand_of(&args.indices, line);
	tn_operand_of(&args.output, out);
	return tn_route_run(&route);
}

tn_status tn_scatter(tn_array *out, const tn_array *indices, int axis, const tn_array *a,
		     uint32_t mode)
{
	const tn_array *all[] = {out, indices, a};
	tn_status status = tn_begin_into(3, all, "scatter");
	if (status)
		return status;
	struct tn_runtime *runtime = out->runtime;
	tn_array *line = NULL;
	if (!tn_can_scatter(out))
		return TN_UNSUPPORTED;
	if (!a->size)
		return TN_OK;
	status = tn_indices_line(runtime, indices, &line);
	if (!status)
		status = call(out, line, axis, a, mode);
	if (!status)
		tn_array_touch(out);
	tn_array_discard(line);
	if (status != TN_UNSUPPORTED)
		return tn_end_into(runtime, status);
	runtime->report.status = TN_OK;
	return TN_UNSUPPORTED;
}
