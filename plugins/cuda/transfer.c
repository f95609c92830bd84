/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Copies between host and device.  The runtime may return before it has read the source, and not
 * only from pinned memory: a device that can read all of the host's memory needs no staging copy.
 * So every transfer without TN_ASYNC waits.  A buffer may be pinned memory too, so the runtime
 * determines the kind of each side.
 */
#include "memory.h"
#include "ranges.h"
#include "status.h"
#include "stream.h"

struct transfer {
	struct tn_transfer_args args;
	struct cuda_stream *stream;
	int is_idle; /* nothing to do: a dry run, or no bytes */
};

static tn_status take_arguments(struct cuda_device *device, const struct tn_transfer_args *args,
				const char *operation, struct transfer *transfer)
{
	struct tn_transfer_args *own = &transfer->args;
	int goes_on = 0;
	tn_status status =
		cuda_take(device, own, sizeof(*own), args, CUDA_COMPUTE_FLAGS, operation);
	if (!status)
		status = cuda_stream_of(device, &own->call, operation, &transfer->stream);
	if (!status)
		status = tn_plugin_workspace(&own->call, operation, 0, &goes_on);
	if (status)
		return status;
	transfer->is_idle = !goes_on || own->size == 0;
	if (!transfer->is_idle && (!own->host || !own->buffer))
		return tn_plugin_fail(own->call.error, TN_INVALID_ARGUMENT, operation,
				      "host or buffer is NULL");
	if (!transfer->is_idle && !(own->call.flags & TN_ASYNC))
		return cuda_stream_refuse(transfer->stream, own->call.error, operation);
	return TN_OK;
}

tn_status cuda_upload(void *device, const struct tn_transfer_args *args)
{
	CUDA_RANGE range = cuda_range_begin(device, &args->call, "upload");
	struct cuda_device *own = device;
	struct transfer t;
	tn_status status = take_arguments(own, args, "upload", &t);
	if (status || t.is_idle)
		return status;
	cuda_stream_note(t.stream, "upload");
	cudaError_t code = own->rt->cudaMemcpyAsync(cuda_pointer(t.args.buffer + t.args.offset),
						    t.args.host, t.args.size, cudaMemcpyDefault,
						    cuda_stream_handle(t.stream));
	if (code != cudaSuccess)
		return cuda_stream_fail(own, t.stream, t.args.call.error, code, "upload",
					"cudaMemcpyAsync");
	if (t.args.call.flags & TN_ASYNC)
		return TN_OK;
	return cuda_stream_wait(own, t.stream, t.args.call.error, "upload");
}

tn_status cuda_download(void *device, const struct tn_transfer_args *args)
{
	CUDA_RANGE range = cuda_range_begin(device, &args->call, "download");
	struct cuda_device *own = device;
	struct transfer t;
	tn_status status = take_arguments(own, args, "download", &t);
	if (status || t.is_idle)
		return status;
	cuda_stream_note(t.stream, "download");
	cudaError_t code = own->rt->cudaMemcpyAsync(
		t.args.host, cuda_pointer(t.args.buffer + t.args.offset), t.args.size,
		cudaMemcpyDefault, cuda_stream_handle(t.stream));
	if (code != cudaSuccess)
		return cuda_stream_fail(own, t.stream, t.args.call.error, code, "download",
					"cudaMemcpyAsync");
	if (t.args.call.flags & TN_ASYNC)
		return TN_OK;
	return cuda_stream_wait(own, t.stream, t.args.call.error, "download");
}
