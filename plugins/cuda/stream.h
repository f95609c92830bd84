/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Streams, and asynchronous errors.  A fault on the device affects all of it, and the runtime
 * returns it from whichever call is next, without naming the cause; so each stream keeps the names
 * of the operations that it was given since it was last seen idle.
 */
#ifndef CUDA_STREAM_H
#define CUDA_STREAM_H

#include "plugin.h"

tn_status cuda_streams_open(struct cuda_device *device, struct tn_error_info *error);
void cuda_streams_close(struct cuda_device *device);

/* The stream of a call.  TN_INVALID_ARGUMENT: it does not belong to this device. */
tn_status cuda_stream_of(struct cuda_device *device, const struct tn_call *call,
			 const char *operation, struct cuda_stream **stream);
/* Waits for all queued work; failures are left for the next query. */
void cuda_streams_wait(const struct cuda_device *device);
cudaStream_t cuda_stream_handle(const struct cuda_stream *stream);

/* Work of that operation is about to be given to the stream.  The name is kept: a literal, or one
 * that is removed before its memory is freed. */
void cuda_stream_note(struct cuda_stream *stream, const char *operation);
void cuda_stream_forget(struct cuda_device *device, const char *operation);
/* A launch returned without an error: with CUDA_LAUNCH_BLOCKING all of the stream's work is
 * done. */
void cuda_stream_launched(const struct cuda_device *device, struct cuda_stream *stream);
/* It takes bytes from that device of the runtime's; if that is lost, waiting for the stream or
 * querying its errors reports it. */
void cuda_stream_take_from(struct cuda_stream *stream, int ordinal);
/* Sets a mark, and gives the names noted since, at most that many, the last ones; they no longer
 * count as running. */
void cuda_stream_mark(struct cuda_stream *stream);
unsigned cuda_stream_marked(struct cuda_stream *stream, const char **names, unsigned most);
/* Each stream has a capture of its own. */
int cuda_stream_is_captured(const struct cuda_stream *stream);
void cuda_stream_capture(struct cuda_device *device, struct cuda_stream *stream, int begins);
/* One that is being captured, or NULL. */
struct cuda_stream *cuda_stream_captured(const struct cuda_device *device);
/* TN_NOT_CAPTURABLE: the stream is being captured, and cannot be waited for. */
tn_status cuda_stream_refuse(const struct cuda_stream *stream, struct tn_error_info *error,
			     const char *operation);
/* Waits for its work. */
tn_status cuda_stream_wait(struct cuda_device *device, struct cuda_stream *stream,
			   struct tn_error_info *error, const char *operation);
/* A function returned `code`.  If the device is lost by it, the error names what may have failed.
 * `stream` may be NULL. */
tn_status cuda_stream_fail(struct cuda_device *device, const struct cuda_stream *stream,
			   struct tn_error_info *error, cudaError_t code, const char *operation,
			   const char *function);

tn_status cuda_sync(void *device, const struct tn_sync_args *args);
tn_status cuda_async_error(void *device, void *stream, struct tn_error_info *out);

#endif
