/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Arrays of several contexts over one memory: constant ones that are shared, and a writable one
 * that is handed over.  Each thread has a context of its own; what they have in common is a handle.
 *
 *     tn_shared *weights = tn_share(w);                  // in the thread of w
 *     tn_array *v = tn_shared_array(ctx, weights);       // in any other, without a copy
 *     tn_shared_destroy(weights);                        // from any thread
 *
 * The memory stays in the pool of the device that has made it, and is counted there, once.  It goes
 * back when the handles and the arrays of all contexts are gone, in whatever order; a context that
 * is closed before keeps its devices until then.
 */
#ifndef TENON_SHARE_H
#define TENON_SHARE_H

#include <tenon/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A layout of memory that several contexts have. */
typedef struct tn_shared tn_shared;

/* Makes the memory of an array constant, for ever, and gives a handle by which other contexts read
 * it where it is.  Waits for the work of the device.  From now on a function that would write it,
 * through this array or any other view of the memory, in this context or another, fails with
 * TN_STATE; the network's weights in one arena become constant together.  Memory that others can
 * write (tn_array_wrap, tn_array_export, tn_to_dlpack) must be left alone by them.
 *
 * The array stays the caller's, and may be destroyed.  Several handles may be made of one memory.
 * NULL, with the error kept in the array's context:
 *   TN_STATE           the array has a gradient (a tape has followed it), or a captured graph
 *                      writes its memory
 *   TN_NOT_CAPTURABLE  the array's device captures work, and is to be waited for
 *   TN_FORKED, TN_DEVICE_LOST, TN_OUT_OF_MEMORY, or the first error of work for which the host
 *                      waited
 * The handle is owned (tn_shared_destroy).
 * [thread: one per context | since 0.1] */
TN_API tn_shared *tn_share(tn_array *array);

/* The writable form: the memory of an array moves to one other context, the first that calls
 * tn_shared_array.  The array is consumed, whichever scope it belongs to.
 *
 * NULL, with the error kept and the array unchanged:
 *   TN_STATE  the array has a gradient; a captured graph writes its memory; it is constant
 *             (tn_share); its memory has another view or is lent (tn_to_dlpack); or it has another
 *             owner (tn_keep, a module, a tape)
 *   TN_INVALID_ARGUMENT  its memory was wrapped as read-only
 *   and the other errors of tn_share
 * [thread: one per context | since 0.1] */
TN_API tn_shared *tn_hand_over(tn_array *array);

/* An array of a context over the memory, with the shape, strides and dtype that the array had of
 * which the handle was made; the context may be that of the origin.  It is on the context's device
 * of the same name: both contexts have that device open as one, or the memory is the host's and the
 * device takes any address (TN_DEVICE_TAKES_ANY_ADDRESS).
 *
 * It is constant, or, of tn_hand_over, writable.  When the last view of it ends, the call waits for
 * the context's work on the device.  A captured graph that reads it keeps the memory, too.
 *
 * NULL, with the error kept in `context`:
 *   TN_INVALID_ARGUMENT  shared is NULL, or the context has no device of that name; the text names
 *                        the current one
 *   TN_UNSUPPORTED  the two contexts have opened the device apart; the text says why
 *   TN_STATE        the memory was handed over, and a context has taken it already
 *   TN_FORKED       the handle is of the parent of this process
 *   TN_DEVICE_LOST  with all its memory
 *   TN_OUT_OF_MEMORY, or the errors of opening the device
 * [thread: one per context; the handle may be used by several at once | since 0.1] */
TN_API tn_array *tn_shared_array(tn_context *context, tn_shared *shared);

/* The end of a handle; arrays made of it stay.  Takes NULL.  Memory handed over that no context has
 * taken is freed.  [thread: any | since 0.1] */
TN_API void tn_shared_destroy(tn_shared *shared);

#ifdef __cplusplus
}
#endif
#endif
