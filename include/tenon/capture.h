/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Capture and replay: a step whose shapes repeat is written down once, and then done with one call, so that
 * it costs the host next to nothing.
 *
 *     step(ctx);                              // once as usual: compiles kernels, opens libraries
 *     tn_capture_begin(ctx);
 *     step(ctx);                              // is recorded, and not done
 *     tn_graph *graph = NULL;
 *     if (tn_capture_end(ctx, &graph))
 *             tn_error_clear(ctx);            // it cannot be captured: go on as usual
 *     for (int i = 0; i < n; i++) {
 *             tn_assign_host(x, data, size);
 *             if (graph)
 *                     tn_graph_replay(graph);
 *             else
 *                     step(ctx);
 *     }
 *
 * A replay does the same work on the same memory: it reads the elements that arrays have then, and writes
 * over those that it wrote before.  Arrays that the step makes and leaves (its loss) so have new
 * elements after each replay.
 *
 * What an optimizer and random numbers (tn_dropout too) change from step to step, each replay changes as the
 * code would have done: it counts the optimizer's step, takes the learning rate that is set then, and draws
 * the next streams of the random state.  Steps that are replayed give the same bits as others, and the two
 * may be mixed.  The captured step itself was not done: after tn_capture_end all counts are what they were
 * before.
 *
 * So it is with the gradients of a module: after tn_capture_end it has those that it had before
 * tn_capture_begin, and after a replay those that the captured work leaves.  Forward and backward may be
 * captured without the step, which the host can then clip (tn_clip_grad_norm reads its norm there, and is
 * TN_NOT_CAPTURABLE):
 *
 *     tn_module_zero_gradients(net);          // before the capture, and before each replay
 *     tn_graph_replay(graph);
 *     tn_clip_grad_norm(net, 1.0, NULL);
 *     tn_optimizer_step(optimizer);
 *
 * Whether backward writes a gradient anew or adds to it stays as it was when it was captured: anew after
 * tn_module_zero_gradients, which may be part of the captured work, too.
 *
 * Any other number of the host's stays as it was when the step was captured, and so does which parameters
 * a captured step steps; what else has to change lies in an array.
 */
#ifndef TENON_CAPTURE_H
#define TENON_CAPTURE_H

#include <tenon/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tn_graph tn_graph;

/* Work on the current device is written down from here on.  Errors are kept:
 *   TN_UNSUPPORTED  the device's backend captures no work
 *   TN_STATE        work is captured already, or a tape has begun
 * While work is captured these are TN_NOT_CAPTURABLE: reading an array or writing one from the host,
 * tn_sync, operations that run on the host, tn_optimizer_set_lr, tn_random_state_set, replaying a graph.
 * [thread: one per context | since 0.1] */
TN_API tn_status tn_capture_begin(tn_context *context);

/* Ends it, whatever has happened.  On TN_OK *graph is owned (tn_graph_destroy), and nothing of the work has
 * been done yet.  Otherwise *graph is NULL, nothing of it is ever done, and arrays that it made have no
 * elements worth reading.  The error is kept: the first one since the beginning, or
 *   TN_NOT_CAPTURABLE  the device could not write something down, or a tape has begun and not ended
 *   TN_STATE           no work is captured
 * [thread: one per context | since 0.1] */
TN_API tn_status tn_capture_end(tn_context *context, tn_graph **graph);

/* Does the work, in order with the other operations on its device, and returns before it is done.  Arrays
 * that it reads have to be there still; those that it writes are kept by the graph.  A tape that has used an
 * array which was made inside the capture is to be ended before the next replay: it does not notice that
 * the elements change.  TN_STATE: an optimizer whose step was captured has been destroyed, or parameters that
 * were stepped together have been stepped apart since; nothing is done or counted.  Errors are kept; what
 * fails on the device is answered later, by what waits for it.  Where an optimizer or random numbers change
 * from step to step, that may be a replay: after each 16 of such a graph the next one first waits for all
 * work of the device, and answers what has failed there; then it has not been started or counted itself.
 * [thread: one per context | may return before the result is ready | since 0.1] */
TN_API tn_status tn_graph_replay(tn_graph *graph);

/* Gives it back, with its memory; waits for its work.  To be called before its context is closed.  Takes
 * NULL.  [thread: one per context | since 0.1] */
TN_API void tn_graph_destroy(tn_graph *graph);

#ifdef __cplusplus
}
#endif
#endif
