/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Streams are in-order command queues.  Commands that may still be running are kept in a ring, with
 * the names of their operations, until their outcome is known.
 */
#ifndef OPENCL_STREAM_H
#define OPENCL_STREAM_H

#include "plugin.h"

tn_status opencl_streams_open(struct opencl_device *device, struct tn_error_info *error);
void opencl_streams_close(struct opencl_device *device);

/* The stream of a handle, NULL being the device's own; NULL: invalid. */
struct opencl_stream *opencl_stream_find(struct opencl_device *device, void *handle);
cl_command_queue opencl_stream_queue(const struct opencl_stream *stream);

/* Takes over the event of a command in the stream.  `operation` is a literal; `staging` is freed
 * when the command is done, and may be NULL. */
void opencl_stream_push(struct opencl_device *device, struct opencl_stream *stream, cl_event event,
			const char *operation, void *staging);

/* Processes finished commands, and fetches and clears the stream's first error.  Does not wait. */
tn_status opencl_stream_fetch(struct opencl_device *device, struct opencl_stream *stream,
			      struct tn_error_info *error);

#endif
