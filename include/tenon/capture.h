/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Capture and replay: a step whose shapes repeat can be captured once and then replayed with one
 * call, at almost no cost on the host.
 *
 *     step(ctx);                              // run once: compiles kernels, opens libraries
 *     tn_capture_begin(ctx);
 *     step(ctx);                              // recorded, not executed
 *     tn_graph *graph = NULL;
 *     if (tn_capture_end(ctx, &graph))
 *             tn_error_clear(ctx);            // not capturable: run it normally
 *     for (int i = 0; i < n; i++) {
 *             tn_assign_host(x, data, size);
 *             if (graph)
 *                     tn_graph_replay(graph);
 *             else
 *                     step(ctx);
 *     }
 *
 * A replay does the same work on the same memory: it reads the current elements of its arrays, and
 * overwrites the results of the last replay.  Arrays that the step makes and does not free (its
 * loss) have new elements after each replay.
 *
 * Optimizers and random numbers (including tn_dropout) change from step to step, and each replay
 * changes them as the code itself would: it counts the optimizer's step, uses the current learning
 * rate, and draws the next streams of the random state, and of other generators.  Replayed steps
 * give the same bits as ordinary steps, and the two may be mixed.  The captured step itself is not
 * executed: after tn_capture_end all counts are as before.
 *
 * The same holds for the gradients of a module: after tn_capture_end it has those that it had
 * before tn_capture_begin, and after a replay those that the captured work produces.  Forward and
 * backward may be captured without the step, so that gradients can be clipped in between
 * (tn_clip_grad_norm can be captured too, unless the host reads the norm):
 *
 *     tn_module_zero_gradients(net);          // before the capture, and before each replay
 *     tn_graph_replay(graph);
 *     tn_clip_grad_norm(net, 1.0, NULL);
 *     tn_optimizer_step(optimizer);
 *
 * The capture fixes whether backward overwrites a gradient or adds to it: it overwrites after
 * tn_module_zero_gradients, which may also be part of the captured work.
 *
 * Any other number from the host is fixed by the capture, and so is the set of parameters that a
 * captured step updates; put other values that must change into an array.
 */
#ifndef TENON_CAPTURE_H
#define TENON_CAPTURE_H

#include <tenon/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tn_graph tn_graph;

/* Starts recording the work of the current device's current stream (tenon/stream.h).  Errors are
 * kept:
 *   TN_UNSUPPORTED  the device's backend cannot capture work
 *   TN_STATE        a capture is already in progress, or a tape is open
 *   TN_NOT_CAPTURABLE  another context that shares the device is capturing: tenon(7), SEVERAL
 *                   CONTEXTS
 * While work is captured, these fail with TN_NOT_CAPTURABLE: reading an array or writing one from
 * the host, tn_synchronize, operations that run on the host (draws of tenon/random.h among them),
 * tn_optimizer_set_lr, tn_random_set_state, tn_generator_set_state, tn_generator_split,
 * replaying a graph, and the functions of streams and events of that device.
 * [thread: one per context | since 0.1] */
TN_API tn_status tn_capture_begin(tn_context *context);

/* Ends the capture in any case.  On TN_OK *graph is owned (tn_graph_destroy), and none of the work
 * has been executed yet.  Otherwise *graph is NULL, the work is never executed, and the elements of
 * arrays that it made are undefined.  The error is kept: the first one since the beginning, or
 *   TN_NOT_CAPTURABLE  the device could not record an operation, or a tape is still open
 *   TN_STATE           no capture is in progress
 * [thread: one per context | since 0.1] */
TN_API tn_status tn_capture_end(tn_context *context, tn_graph **graph);

/* Executes the work in the current stream of its device, and after the graph's earlier replays in
 * other streams; returns before it is done.  Arrays that it reads must still exist; the graph keeps
 * those that it writes, and memory that is shared with other contexts (tn_share).  End a tape that
 * has used an array made inside the capture before the next replay: it does not detect that the
 * elements change.  TN_STATE: an optimizer whose step was captured has been destroyed, or
 * parameters that were updated together have since been updated separately; nothing is executed or
 * counted.  Errors are kept; a failure on the device is reported by the next synchronising call.
 * If an optimizer or random numbers change from step to step, that may be a replay: after every 16
 * replays of such a graph the next one first waits for all work of that stream and returns any
 * failure of that work; it is then neither started nor counted itself.
 * [thread: one per context | may return before the result is ready | since 0.1] */
TN_API tn_status tn_graph_replay(tn_graph *graph);

/* Waits for the work of the graph, then frees the graph and its memory.  Call it before the context
 * is closed.  Takes NULL.  [thread: one per context | since 0.1] */
TN_API void tn_graph_destroy(tn_graph *graph);

#ifdef __cplusplus
}
#endif
#endif
