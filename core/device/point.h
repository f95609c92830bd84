/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Points order the queues that use one piece of memory in turn.  A point is an event at the end of
 * one queue's work so far, for which another queue waits on the device.
 *
 * A piece belongs to the queue that was current when it came from the backend or from another
 * queue.  Free, it lies in a bin of that queue, whose later work may use it at once.
 *
 *	use     work of another queue is given the piece: that queue is one of its users (use.h)
 *	leave   the piece is given back: each user gets a point
 *	join    the piece is taken: the current queue waits for the points, and if the piece belongs
 *	        to another queue, for that queue's work so far too
 *
 * During a capture nothing can be waited for.  Queues are noted in the store instead (users), and a
 * replay and the captured queue's work after the capture first wait for those.  Users of captured
 * work's memory are noted there after the capture too.  Captured work may run in any queue in which
 * graphs are launched (replayers): they count as users of the pieces that captured work was given
 * (is_captured).
 *
 * When the backend cannot record an event or wait for one, the host waits for the queue instead.
 */
#ifndef TN_DEVICE_POINT_H
#define TN_DEVICE_POINT_H

#include "device/device.h"

/* The piece is given back. */
void tn_piece_leave(struct tn_device *device, struct tn_piece *piece);
/* The current queue takes the piece, which then belongs to it and has no points. */
void tn_piece_join(struct tn_device *device, struct tn_piece *piece);
/* Only waits for the points, which are then gone. */
void tn_piece_await(struct tn_device *device, struct tn_piece *piece);
/* The piece gets the other's points too, which then has none. */
void tn_piece_merge_points(struct tn_piece *piece, struct tn_piece *other);
/* Forgets the piece's points, or those in one queue: that work is done. */
void tn_piece_settle(struct tn_device *device, struct tn_piece *piece);
void tn_piece_forget(struct tn_device *device, struct tn_piece *piece,
		     const struct tn_queue *queue);

/* Later work of the queue waits for the work so far of the others among those queues (bits). */
void tn_queue_follow(struct tn_device *device, const struct tn_queue *queue, uint64_t queues);
/* The same of two of the backend's streams, which need not be queues.  0: it cannot be done. */
int tn_stream_follow(struct tn_device *device, void *stream, void *other);
/* Later work of all queues waits for the work so far of the current one. */
void tn_device_align(struct tn_device *device);

/* Destroys the events of all points; in a forked child frees the records alone. */
void tn_points_destroy(struct tn_device *device);

#endif
