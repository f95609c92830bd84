/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Upload and download, in stream order.  An upload keeps a copy of its source, which may be reused
 * at once; with TN_ASYNC it reads the source when it runs, and a download writes then.
 */
#include <string.h>

#include "mock.h"

enum { FLAGS = TN_DRY_RUN | TN_ASYNC | TN_DETERMINISTIC };

struct transfer {
	unsigned char *inside;
	void *host;
	uint64_t size;
};

static tn_status run_upload(struct mock_device *device, struct mock_work *work,
			    struct tn_error_info *error)
{
	const struct transfer *transfer = work->args;
	(void)device;
	(void)error;
	memcpy(transfer->inside, transfer->host, transfer->size);
	return TN_OK;
}

static tn_status run_download(struct mock_device *device, struct mock_work *work,
			      struct tn_error_info *error)
{
	const struct transfer *transfer = work->args;
	(void)device;
	(void)error;
	memcpy(transfer->host, transfer->inside, transfer->size);
	return TN_OK;
}

static tn_status begin_transfer(struct mock_device *device, struct tn_transfer_args *own,
				const struct tn_transfer_args *args, const char *operation)
{
	tn_status status = mock_begin(device, own, sizeof(*own), args, FLAGS, operation);
	if (status)
		return status;
	if (!own->size || (!own->host && !(own->call.flags & TN_DRY_RUN)))
		return tn_plugin_fail(own->call.error, TN_INVALID_ARGUMENT, operation,
				      "%llu bytes at %s", (unsigned long long)own->size,
				      own->host ? "the host's memory" : "NULL");
	return TN_OK;
}

/* Queues a transfer; `keep` copies the source. */
static tn_status queue(struct mock_device *device, const struct tn_transfer_args *own, int keep,
		       mock_run *run, const char *operation)
{
	struct mock_packing packing = {
		.device = device, .error = own->call.error, .operation = operation};
	struct transfer transfer = {.host = own->host, .size = own->size};
	tn_status status = mock_pack_begin(
		&packing, 2, mock_room(sizeof(transfer)) + (keep ? mock_room(own->size) : 0));
	if (status)
		return status;
	status = mock_pack_bytes_at(&packing, "buffer", own->buffer, own->offset, own->size,
				    &transfer.inside);
	if (status) {
		mock_work_free(device, packing.work);
		return status;
	}
	if (!keep)
		mock_pack_pinned(&packing, own->host, own->size);
	else
		transfer.host = mock_pack_bytes(&packing, own->host, own->size);
	packing.work->args = mock_pack_bytes(&packing, &transfer, sizeof(transfer));
	packing.work->is_transfer = 1;
	return mock_pack_end(&packing, own->call.stream, run);
}

tn_status mock_upload(void *device, const struct tn_transfer_args *args)
{
	struct mock_device *mock = device;
	struct tn_transfer_args own;
	tn_status status = begin_transfer(mock, &own, args, "upload");
	if (status)
		return status;
	if (own.call.flags & TN_DRY_RUN)
		return tn_plugin_dry_run(&own.call, 0, 0);
	if (!(own.call.flags & TN_ASYNC)) {
		status = mock_capture_refuse(mock, &own.call, "upload");
		if (status)
			return status;
	}
	return queue(mock, &own, !(own.call.flags & TN_ASYNC), run_upload, "upload");
}

/* An earlier error is answered first, and the host's memory is unchanged. */
tn_status mock_download(void *device, const struct tn_transfer_args *args)
{
	struct mock_device *mock = device;
	struct tn_transfer_args own;
	tn_status status = begin_transfer(mock, &own, args, "download");
	if (status)
		return status;
	if (own.call.flags & TN_DRY_RUN)
		return tn_plugin_dry_run(&own.call, 0, 0);
	if (own.call.flags & TN_ASYNC)
		return queue(mock, &own, 0, run_download, "download");
	status = mock_capture_refuse(mock, &own.call, "download");
	if (status)
		return status;
	struct mock_stream *stream = mock_stream_find(mock, own.call.stream);
	mock->n_waits++;
	mock_drain(mock, stream, NULL);
	status = mock_fetch(mock, stream, own.call.error);
	if (!status)
		status = queue(mock, &own, 0, run_download, "download");
	if (status)
		return status;
	mock_drain(mock, stream, NULL);
	return mock_fetch(mock, stream, own.call.error);
}
