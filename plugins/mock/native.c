/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Table tenon.native/1, and the vendor's own, which makes streams that only others know.  The
 * vendor's handle of a stream is its address.  An imported stream has a handle of its own, so that
 * one that was released is no stream any more.
 */
#include <string.h>

#include "mock.h"
#include "vendor.h"

/* ---- Table tenon.native/1 --------------------------------------------------------------------*/

static tn_status device_export(void *device, const struct tn_native_args *args, uint64_t *native)
{
	struct mock_device *mock = device;
	struct tn_native_args own;
	tn_status status = mock_begin(mock, &own, sizeof(own), args, 0, "device_export");
	if (!status)
		*native = mock->native;
	return status;
}

/* The stream of a vendor's handle; NULL: none. */
static struct mock_stream *find_native(struct mock_device *device, uint64_t native)
{
	struct mock_stream *stream = device->streams;
	if (native == (uint64_t)(uintptr_t)device->ordinary)
		return device->ordinary;
	while (stream && native != (uint64_t)(uintptr_t)stream)
		stream = stream->next;
	return stream;
}

static tn_status import_stream(void *device, const struct tn_native_args *args, void **stream)
{
	struct mock_device *mock = device;
	struct tn_native_args own;
	tn_status status = mock_begin(mock, &own, sizeof(own), args, 0, "stream_import");
	if (status)
		return status;
	struct mock_stream *found = find_native(mock, own.native);
	if (!found)
		return tn_plugin_fail(own.call.error, TN_INVALID_ARGUMENT, "stream_import",
				      "%#llx is no stream of this device",
				      (unsigned long long)own.native);
	struct mock_import *made = mock_host_alloc(mock, sizeof(*made));
	if (!made)
		return tn_plugin_fail(own.call.error, TN_OUT_OF_MEMORY, "stream_import",
				      "no memory for a handle");
	*made = (struct mock_import){.next = mock->imports, .stream = found};
	found->references++;
	mock->imports = made;
	*stream = made;
	return TN_OK;
}

static void release(struct mock_device *device, struct mock_import **link)
{
	struct mock_import *gone = *link;
	*link = gone->next;
	mock_stream_release(device, gone->stream);
	mock_host_free(device, gone);
}

void mock_imports_release(struct mock_device *device)
{
	while (device->imports)
		release(device, &device->imports);
}

/* On a lost device too. */
static tn_status release_stream(void *device, const struct tn_stream_args *args)
{
	struct mock_device *mock = device;
	struct tn_stream_args own;
	tn_status status = mock_begin(NULL, &own, sizeof(own), args, 0, "stream_release");
	if (status)
		return status;
	struct mock_import **link = &mock->imports;
	while (*link && *link != own.call.stream)
		link = &(*link)->next;
	if (!*link)
		return tn_plugin_fail(own.call.error, TN_INVALID_ARGUMENT, "stream_release",
				      "the stream is not imported");
	release(mock, link);
	return TN_OK;
}

static tn_status export_stream(void *device, const struct tn_stream_args *args, uint64_t *native)
{
	struct mock_device *mock = device;
	struct tn_stream_args own;
	tn_status status = mock_begin(mock, &own, sizeof(own), args, 0, "stream_export");
	if (!status)
		*native = (uint64_t)(uintptr_t)mock_stream_find(mock, own.call.stream);
	return status;
}

const struct tn_native_table mock_native_table = {
	.struct_size = sizeof(mock_native_table),
	.device_export = device_export,
	.stream_import = import_stream,
	.stream_release = release_stream,
	.stream_export = export_stream,
};

/* ---- Table org.tenon.mock/1 ------------------------------------------------------------------*/

static void *new_stream(void *device)
{
	struct mock_device *mock = device;
	struct mock_stream *made = mock_stream_make(mock);
	if (!made)
		return NULL;
	made->is_native = 1;
	made->next = mock->streams;
	mock->streams = made;
	return made;
}

static tn_status end_stream(void *device, void *stream)
{
	struct mock_device *mock = device;
	struct mock_stream **link = &mock->streams;
	while (*link && *link != stream)
		link = &(*link)->next;
	struct mock_stream *found = *link;
	if (!found || !found->is_native)
		return TN_INVALID_ARGUMENT;
	mock_drain(mock, found, NULL);
	*link = found->next;
	mock_stream_release(mock, found);
	return TN_OK;
}

struct fill {
	unsigned char *address;
	uint64_t size;
	uint8_t byte;
};

static tn_status run_fill(struct mock_device *device, struct mock_work *work,
			  struct tn_error_info *error)
{
	const struct fill *fill = work->args;
	(void)device;
	(void)error;
	memset(fill->address, fill->byte, fill->size);
	return TN_OK;
}

static tn_status fill_in_stream(void *device, void *stream, void *address, uint64_t size,
				uint8_t byte)
{
	struct mock_device *mock = device;
	struct mock_packing packing = {.device = mock, .operation = "stream_fill"};
	const struct fill fill = {.address = address, .size = size, .byte = byte};
	struct mock_stream *found = find_native(mock, (uint64_t)(uintptr_t)stream);
	if (!found)
		return TN_INVALID_ARGUMENT;
	tn_status status = mock_pack_begin(&packing, 0, mock_room(sizeof(fill)));
	if (status)
		return status;
	packing.work->args = mock_pack_bytes(&packing, &fill, sizeof(fill));
	packing.work->run = run_fill;
	mock_queue(mock, found, packing.work);
	return TN_OK;
}

static uint64_t waits(void *device)
{
	return ((const struct mock_device *)device)->n_waits;
}

const struct mock_vendor_table mock_vendor_table = {
	.struct_size = sizeof(mock_vendor_table),
	.stream_new = new_stream,
	.stream_end = end_stream,
	.stream_fill = fill_in_stream,
	.waits = waits,
};
