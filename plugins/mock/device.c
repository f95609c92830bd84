/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Table tenon.device/1: describing, opening, waiting and errors.
 */
#include <stdio.h>
#include <string.h>

#include "mock.h"

#define BIT(dtype) (UINT64_C(1) << (dtype))

static tn_status device_count(void *instance, struct tn_device_count *out)
{
	const struct mock_instance *mock = instance;
	struct tn_device_count own = {.count = mock->faults.devices};
	if (mock->faults.absence == TN_NO_DEVICE) {
		own.count = 0;
		own.status = TN_NO_DEVICE;
		snprintf(own.text, sizeof(own.text),
			 "the driver sees no device (TENON_MOCK=no-device)");
	}
	tn_struct_answer(out, &own, sizeof(own));
	return TN_OK;
}

static uint32_t number_of_devices(const struct mock_instance *mock)
{
	return mock->faults.absence ? 0 : mock->faults.devices;
}

static tn_status describe(void *instance, uint32_t index, struct tn_device_description *out)
{
	const struct mock_instance *mock = instance;
	struct tn_device_description own = {
		.kind = TN_DEVICE_ACCELERATOR,
		.memory_kinds = 1u << TN_MEMORY_DEVICE | 1u << TN_MEMORY_PINNED,
		.storage_dtypes = 0xfffe, /* all: they are bytes */
		.program_dtypes = BIT(TN_BOOL) | BIT(TN_I32) | BIT(TN_U32) | BIT(TN_I64) |
				  BIT(TN_F32) | BIT(TN_F64),
		.matmul_dtypes = BIT(TN_F32) | BIT(TN_F64),
		.alignment = 256,
		.preferred_layout = TN_LAYOUT_NCHW,
		.note = "for tests: correct results, and faults set by TENON_MOCK; tenon-mock(7)",
	};
	if (index >= number_of_devices(mock))
		return TN_INVALID_ARGUMENT;
	snprintf(own.name, sizeof(own.name), "mock device %u", index);
	own.memory_bytes = mock_memory_size(mock);
	own.max_alloc_bytes = own.memory_bytes;
	if (index == 0) {
		own.identity_type = mock->faults.identity_type;
		memcpy(own.identity, mock->faults.identity, sizeof(own.identity));
		own.identity2_type = mock->faults.identity2_type;
		memcpy(own.identity2, mock->faults.identity2, sizeof(own.identity2));
		own.slice = mock->faults.slice;
	}
	own.numerics = TN_NUMERICS_F32_SUBNORMALS | TN_NUMERICS_F16_SUBNORMALS;
	memset(own.accuracy, TN_ACCURACY_IEEE, sizeof(own.accuracy));
	memset(own.determinism, TN_DETERMINISM_ALWAYS, sizeof(own.determinism));
	tn_struct_answer(out, &own, sizeof(own));
	return TN_OK;
}

static tn_status open_device(void *instance, const struct tn_open_args *args, void **device)
{
	struct mock_instance *mock = instance;
	struct tn_open_args own;
	tn_status status = mock_begin(NULL, &own, sizeof(own), args, 0, "open");
	if (status)
		return status;
	if (own.index >= number_of_devices(mock))
		return tn_plugin_fail(own.call.error, TN_INVALID_ARGUMENT, "open",
				      "device %u: expected less than %u", own.index,
				      number_of_devices(mock));
	struct mock_device *opened = mock->host->alloc(mock->host->context, sizeof(*opened), 0);
	if (!opened)
		return tn_plugin_fail(own.call.error, TN_OUT_OF_MEMORY, "open",
				      "no memory for a device");
	memset(opened, 0, sizeof(*opened));
	opened->instance = mock;
	opened->index = own.index;
	opened->native = own.native ? own.native : (uint64_t)(uintptr_t)opened;
	opened->ordinary = mock_stream_make(opened);
	if (!opened->ordinary) {
		mock_host_free(opened, opened);
		return tn_plugin_fail(own.call.error, TN_OUT_OF_MEMORY, "open",
				      "no memory for a stream");
	}
	*device = opened;
	return TN_OK;
}

static void close_device(void *device)
{
	struct mock_device *mock = device;
	mock_drain_all(mock);
	while (mock->events) {
		struct mock_event *event = mock->events;
		mock->events = event->next;
		mock_mark_release(mock, event->mark);
		mock_host_free(mock, event);
	}
	mock_graphs_free(mock);
	mock_imports_release(mock);
	while (mock->streams) {
		struct mock_stream *stream = mock->streams;
		mock->streams = stream->next;
		mock_stream_release(mock, stream);
	}
	mock_stream_release(mock, mock->ordinary);
	mock_buffers_free(mock);
	mock_host_free(mock, mock);
}

static tn_status sync_stream(void *device, const struct tn_sync_args *args)
{
	struct mock_device *mock = device;
	struct tn_sync_args own;
	tn_status status = mock_begin(mock, &own, sizeof(own), args, 0, "sync");
	if (!status)
		status = mock_capture_refuse(mock, &own.call, "sync");
	if (status)
		return status;
	struct mock_stream *stream = mock_stream_find(mock, own.call.stream);
	mock->n_waits++;
	mock_drain(mock, stream, NULL);
	return mock_fetch(mock, stream, own.call.error);
}

static tn_status async_error(void *device, void *stream, struct tn_error_info *out)
{
	struct mock_device *mock = device;
	struct mock_stream *found = mock_stream_find(mock, stream);
	if (!found)
		return tn_plugin_fail(out, TN_INVALID_ARGUMENT, "async_error",
				      "the stream does not belong to this device");
	return mock_fetch(mock, found, out);
}

const struct tn_device_table mock_device_table = {
	.struct_size = sizeof(mock_device_table),
	.device_count = device_count,
	.describe = describe,
	.open = open_device,
	.close = close_device,
	.alloc = mock_alloc,
	.free = mock_free,
	.upload = mock_upload,
	.download = mock_download,
	.sync = sync_stream,
	.async_error = async_error,
};
