/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Counting faults down, those of TENON_MOCK and those that a test sets through the table
 * org.tenon.faults/1 (<tenon/faults.h>).
 */
#include <string.h>
#include <tenon/faults.h>

#include "mock.h"

uint64_t mock_fault_due(struct mock_fault *fault)
{
	if (!fault->first)
		return 0;
	uint64_t number = mock_count(&fault->count);
	return number >= fault->first && number <= fault->last ? number : 0;
}

static struct mock_fault *find_fault(struct mock_device *device, const struct tn_fault_args *args)
{
	struct mock_stream *stream = mock_stream_find(device, args->call.stream);
	switch (args->kind) {
	case TN_FAULT_WORK:
		return &stream->failing;
	case TN_FAULT_LOST:
		return &stream->losing;
	case TN_FAULT_TRANSFER:
		return &stream->failing_transfers;
	case TN_FAULT_ALLOC:
		return &device->failing_allocations;
	default:
		return NULL;
	}
}

static tn_status provoke(void *device, const struct tn_fault_args *args)
{
	struct mock_device *mock = device;
	struct tn_fault_args own;
	tn_status status = mock_begin(mock, &own, sizeof(own), args, 0, "provoke");
	if (status)
		return status;
	if (own.kind == TN_FAULT_LIMIT) {
		mock->limit = own.bytes;
		return TN_OK;
	}
	struct mock_fault *fault = find_fault(mock, &own);
	if (!fault)
		return tn_plugin_fail(own.call.error, TN_UNSUPPORTED, "provoke",
				      "kind of fault %u: expected 1 to 5", own.kind);
	*fault = (struct mock_fault){
		.name = TN_TABLE_FAULTS, .first = own.after + 1, .last = UINT64_MAX};
	if (own.times && own.times < UINT64_MAX - own.after)
		fault->last = own.after + own.times;
	return TN_OK;
}

static void end_faults(struct mock_stream *stream)
{
	memset(&stream->failing, 0, sizeof(stream->failing));
	memset(&stream->losing, 0, sizeof(stream->losing));
	memset(&stream->failing_transfers, 0, sizeof(stream->failing_transfers));
}

static tn_status reset(void *device, const struct tn_sync_args *args)
{
	struct mock_device *mock = device;
	struct tn_sync_args own;
	tn_status status = mock_begin(NULL, &own, sizeof(own), args, 0, "reset");
	if (status)
		return status;
	end_faults(mock->ordinary);
	for (struct mock_stream *stream = mock->streams; stream; stream = stream->next)
		end_faults(stream);
	memset(&mock->failing_allocations, 0, sizeof(mock->failing_allocations));
	mock->limit = 0;
	return TN_OK;
}

const struct tn_faults_table mock_faults_table = {
	.struct_size = sizeof(mock_faults_table),
	.provoke = provoke,
	.reset = reset,
};
