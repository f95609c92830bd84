/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Streams, and the errors that come late.  A fault on the device ends all of it, and the runtime
 * says so in whichever call is next, without saying what failed; so each stream keeps the names of
 * the operations that were given to it since it was last seen to be done.
 */
#ifndef CUDA_STREAM_H
#define CUDA_STREAM_H

#include "plugin.h"

tn_status cuda_streams_open(struct cuda_device *device, struct tn_error_info *error);
void cuda_streams_close(struct cuda_device *device);

/* The stream of a call.  TN_INVALID_ARGUMENT: it is none of this device. */
tn_status cuda_stream_of(struct cuda_device *device, const struct tn_call *call,
			 const char *operation, struct cuda_stream **stream);
/* Waits for all that was queued; what failed is left for the next who asks. */
void cuda_streams_wait(const struct cuda_device *device);
cudaStream_t cuda_stream_handle(const struct cuda_stream *stream);

/* Work of that operation is about to be given to the stream.  The name is kept: a literal, or one
 * that is forgotten before it goes. */
void cuda_stream_note(struct cuda_stream *stream, const char *operation);
void cuda_stream_forget(struct cuda_device *device, const char *operation);
/* A launch came back without an error: with CUDA_LAUNCH_BLOCKING all that the stream was given is
 * done. */
void cuda_stream_launched(const struct cuda_device *device, struct cuda_stream *stream);
/* It takes bytes from that device of the runtime's; should that be lost, who waits for the stream,
 * or asks for its errors, is told. */
void cuda_stream_take_from(struct cuda_stream *stream, int ordinal);
/* Sets a mark, and gives the names that were noted since, at most so many, the last ones; they are
 * no longer under way. */
void cuda_stream_mark(struct cuda_stream *stream);
unsigned cuda_stream_marked(struct cuda_stream *stream, const char **names, unsigned most);
/* TN_NOT_CAPTURABLE: the stream is captured, and cannot be waited for. */
tn_status cuda_stream_refuse(const struct cuda_device *device, const struct cuda_stream *stream,
			     struct tn_error_info *error, const char *operation);
/* Waits for its work. */
tn_status cuda_stream_wait(struct cuda_device *device, struct cuda_stream *stream,
			   struct tn_error_info *error, const char *operation);
/* A function answered `code`.  Where the device is lost by it, the error names what may have
 * failed.  `stream` may be NULL. */
tn_status cuda_stream_fail(struct cuda_device *device, const struct cuda_stream *stream,
			   struct tn_error_info *error, cudaError_t code, const char *operation,
			   const char *function);

tn_status cuda_sync(void *device, const struct tn_sync_args *args);
tn_status cuda_async_error(void *device, void *stream, struct tn_error_info *out);

#endif
