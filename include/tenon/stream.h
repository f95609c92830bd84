/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Streams and events.  A stream is a sequence of work on one device, in order; the work of
 * different streams may overlap, and only events order it.  An event marks a place in a stream:
 * another stream can wait for it, and so can the host.
 *
 *     tn_device *device = tn_device_current(ctx);
 *     tn_stream *side = tn_stream_create(device);
 *     tn_event *ready = tn_event_create(device);
 *     tn_stream_push(side);                   // new work on the device goes to `side`
 *     tn_array *next = tn_from_host(ctx, TN_F32, 1, (int64_t[]){n}, data);
 *     tn_event_record(ready);                 // the end of the work given to `side` so far
 *     tn_stream_pop(device);                  // back to the stream before
 *     y = tn_exp(x);                          // may overlap with the upload
 *     tn_event_wait(ready);                   // later work of this stream waits for `next`
 *     y = tn_multiply(y, next);
 *
 * Every device has an ordinary stream, which is current until another is pushed.  All work on a
 * device goes to its current stream: operations, kernels, transfers, replays of graphs, backward
 * and the steps of optimizers.  A call that returns elements to the host (tn_to_host, tn_item)
 * waits for the current stream alone, tn_synchronize for all streams of all devices.
 *
 * What the program orders, with events: each use of an array's elements in a stream other than the
 * one that wrote them last, and each write while another stream may still read them.  This includes
 * arrays inside modules and optimizers, and a new array whose elements nothing has written yet: it
 * may only be used in another stream after an event recorded where it was made.
 *
 * What the library orders: memory.  An array may be freed at any time, in any stream.  Its memory
 * goes back to the stream in which it was made; whichever stream uses it next waits, on the device
 * and not on the host, for the work that other streams were given with this array.  The library
 * does the same for its own memory: workspace, the memory of graphs, the folded weights of frozen
 * networks.
 *
 * A device whose work is done when a call returns has one stream only, and so has a device whose
 * backend has no streams (tenon.stream/1).  There the same calls succeed: all streams are the
 * ordinary one, and an event is reached as soon as it is recorded, for which a device that is not
 * synchronous waits.
 *
 * While the work of a device is captured (tenon/capture.h), all of it is in the stream that was
 * current when the capture began.  During the capture tn_stream_create and the functions below that
 * return a status fail with TN_NOT_CAPTURABLE for that device, tn_event_elapsed excepted.  A replay
 * runs in the stream that is current then; a replay waits for the graph's earlier replays in other
 * streams.
 *
 * Errors are kept; NULL as the only object is TN_INVALID_ARGUMENT, which nobody keeps.  The
 * functions that call the device answer TN_FORKED in a child process and TN_DEVICE_LOST once the
 * device is lost; pushing, popping and destroying still work then.
 */
#ifndef TENON_STREAM_H
#define TENON_STREAM_H

#include <tenon/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tn_stream tn_stream;
typedef struct tn_event tn_event;

/* A device has at most this many streams that a program made. */
#define TN_MAX_STREAMS 63

/* ---- Streams ---------------------------------------------------------------------------------*/

/* Makes a stream on the device, which is opened if necessary.  Its work waits, on the device, for
 * all work given to the device's other streams before the call.  Owned (tn_stream_destroy), at most
 * until the context is closed, which destroys it.  NULL on failure, or while an error is kept:
 *   TN_LIMIT          the device has TN_MAX_STREAMS streams already
 *   TN_NOT_CAPTURABLE the device's work is captured
 *   TN_OUT_OF_MEMORY  no memory on the host or, for the backend's stream, on the device
 * or the reason why the device does not open.
 * [thread: one per context | since 0.1] */
TN_API tn_stream *tn_stream_create(tn_device *device);

/* Wraps a stream of others, given by the vendor's handle (a cudaStream_t).  Work that the program
 * or another library gives to it through the vendor's interface, and work of this device while it
 * is current, are one sequence, in the order in which they were given.  The stream is borrowed: it
 * outlives what is returned, and tn_stream_destroy waits for its work but leaves it as it is.  In
 * all else as tn_stream_create; CUDA's default streams are cudaStreamLegacy and
 * cudaStreamPerThread.  NULL on failure, as there, and also:
 *   TN_INVALID_ARGUMENT native is NULL, or the backend sees that it is no stream of the device
 *   TN_UNSUPPORTED      the device has one stream only, or its backend cannot (tenon.native/1)
 * [thread: one per context | since 0.1] */
TN_API tn_stream *tn_stream_wrap(tn_device *device, void *native);

/* *native := the vendor's handle of the stream, or of the device's current one, also the ordinary:
 * what others give to it is ordered with the device's work in it.  Borrowed: valid until
 * tn_stream_destroy, and of the ordinary one until the context is closed.  They work while an error
 * is kept and while work is captured.  Not kept, except for native NULL: TN_UNSUPPORTED, as
 * tn_stream_wrap; any failure to open the device.  [thread: one per context | since 0.1] */
TN_API TN_CHECKED tn_status tn_stream_native(const tn_stream *stream, void **native);
TN_API TN_CHECKED tn_status tn_stream_current_native(tn_device *device, void **native);

/* Waits for the stream's work and destroys the stream.  An error of that work is reported by the
 * next synchronising call on the device.  Arrays and events that were made or recorded in it stay
 * valid; its free memory goes to the ordinary stream.  If it has been pushed, each of its places on
 * the stack becomes a place of the stream beneath, so that every push still has its pop.  During a
 * capture on the device, the stream is destroyed when that ends.  Takes NULL.
 * [thread: one per context | since 0.1] */
TN_API void tn_stream_destroy(tn_stream *stream);

/* Makes the stream current on its device; the streams beneath stay on the device's stack.  Works
 * while an error is kept.  TN_OUT_OF_MEMORY: no host memory for the stack.
 * [thread: one per context | since 0.1] */
TN_API tn_status tn_stream_push(tn_stream *stream);

/* Makes the stream current again that was current before the last push.  Works while an error is
 * kept.  TN_STATE: no stream is pushed on the device.  [thread: one per context | since 0.1] */
TN_API tn_status tn_stream_pop(tn_device *device);

/* The current stream of the device; NULL: the ordinary one, or the device is NULL.  Borrowed.
 * [thread: one per context | since 0.1] */
TN_API tn_stream *tn_stream_current(const tn_device *device);

/* Waits on the host for all work given to the stream so far, and returns the first asynchronous
 * error of that work.  TN_PENDING_ERROR: the context already keeps an error, and the call did not
 * wait.  [thread: one per context | since 0.1] */
TN_API tn_status tn_stream_synchronize(tn_stream *stream);

/* ---- Events ----------------------------------------------------------------------------------*/

/* Makes an event of the device, which is opened if necessary.  It counts as reached until it is
 * recorded.  Owned (tn_event_destroy), at most until the context is closed, which destroys it.
 * NULL on failure, or while an error is kept: TN_OUT_OF_MEMORY, or the reason why the device does
 * not open.  [thread: one per context | since 0.1] */
TN_API tn_event *tn_event_create(tn_device *device);

/* Destroys the event.  Streams that wait for it still wait for the place that it marked.  Takes
 * NULL.  [thread: one per context | since 0.1] */
TN_API void tn_event_destroy(tn_event *event);

/* Marks the end of the work given so far to the current stream of the event's device.  Recorded
 * again, the event marks the new place only; earlier waits keep the place for which they were made.
 * TN_PENDING_ERROR: the context keeps an error, and nothing was recorded.
 * [thread: one per context | since 0.1] */
TN_API tn_status tn_event_record(tn_event *event);

/* Work given from now on to the current stream of the event's device waits, on the device, until
 * the event is reached.  Returns at once.  Does nothing for an event that was never recorded, or
 * recorded in the same stream.  TN_PENDING_ERROR: the context keeps an error, and later work will
 * not wait.  [thread: one per context | since 0.1] */
TN_API tn_status tn_event_wait(tn_event *event);

/* Waits on the host until the event is reached, and returns the first asynchronous error of the
 * stream in which it was recorded.  TN_PENDING_ERROR: the context already keeps an error, and the
 * call did not wait.  [thread: one per context | since 0.1] */
TN_API tn_status tn_event_synchronize(tn_event *event);

/* *reached := 1 if the event is reached, else 0; does not wait.  Repeated queries reach it in the
 * end.  Works while an error is kept.  [thread: one per context | since 0.1] */
TN_API tn_status tn_event_query(tn_event *event, int *reached);

/* *seconds := the time from `start` to `end`, measured by the device as its work passes them, and
 * negative if `end` was passed first.  On a device with one stream only, the host measures it when
 * they are recorded.  Works while an error is kept.
 *   TN_INVALID_ARGUMENT  one of them was never recorded, or is not reached
 *   TN_DEVICE            they are events of different devices
 * [thread: one per context | since 0.1] */
TN_API tn_status tn_event_elapsed(const tn_event *start, const tn_event *end, double *seconds);

#ifdef __cplusplus
}
#endif
#endif
