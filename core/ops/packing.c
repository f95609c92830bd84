/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Packs weights: asks for the size of the packed form and for workspace, takes both, and calls the
 * slot again.
 */
#include "ops/packing.h"

#include "array/make.h"
#include "device/open.h"
#include "device/pool.h"
#include "dispatch/ledger.h"

struct tn_packed tn_packed_of(tn_array *array)
{
	tn_array_use(array);
	return (struct tn_packed){array->storage->block.buffer, tn_array_byte_offset(array),
				  (uint64_t)array->size};
}

static tn_status pack_into(const struct tn_packing *packing, tn_array *array, uint64_t size)
{
	struct tn_call *call = packing->call;
	struct tn_workspace *workspace = call->workspace;
	struct tn_block block = {.size = 0};
	tn_status status = TN_OK;
	*packing->packed = tn_packed_of(array);
	if (workspace->minimum) {
		status = tn_block_take(packing->device, workspace->minimum, &block,
				       &packing->runtime->report);
		workspace->buffer = block.buffer;
		workspace->offset = block.offset;
		workspace->size = workspace->minimum;
	} else {
		call->workspace = NULL;
	}
	if (!status)
		status = packing->entry(packing->device, call, &size);
	if (block.size)
		tn_block_give(packing->device, &block);
	return status;
}

tn_status tn_packing_run(const struct tn_packing *packing, tn_array **array)
{
	struct tn_runtime *runtime = packing->runtime;
	struct tn_workspace workspace = {.struct_size = sizeof(workspace)};
	struct tn_call *call = packing->call;
	uint64_t size = 0;
	*array = NULL;
	call->flags |= runtime->call_flags | TN_DRY_RUN;
	call->stream = packing->device->stream;
	call->error = &runtime->report;
	call->workspace = &workspace;
	tn_status status = packing->entry(packing->device, call, &size);
	call->flags &= ~(uint32_t)TN_DRY_RUN;
	if (status == TN_UNSUPPORTED || (!status && !size))
		return TN_OK;
	if (!status) {
		const int64_t shape[] = {(int64_t)size};
		*array = tn_array_make(runtime, packing->device, TN_U8, 1, shape);
		if (!*array)
			return runtime->report.status;
		status = pack_into(packing, *array, size);
	}
	if (status) {
		tn_array_discard(*array);
		*array = NULL;
		return tn_device_answer(packing->device, status, &runtime->report);
	}
	if (!runtime->depth)
		tn_ledger_row_of(runtime->ledger, packing->operation)->native++;
	return TN_OK;
}
