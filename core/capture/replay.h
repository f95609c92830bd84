/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The calls that a function of one array makes, written down once and made again: for inference,
 * where dispatch costs more than small layers do.
 *
 *	tn_replay_begin(runtime, x);
 *	y = ...array operations of x and of arrays that stay...;
 *	replay = tn_replay_end(runtime, y);
 *	...
 *	if (tn_replay_fits(replay, x))
 *		y = tn_replay_run(replay, x);
 *
 * Between begin and end the runtime's arrays come from a store of blocks that is the replay's own,
 * so that the calls find their temporaries where they were; a block serves many arrays, one after
 * the other, as in the pool.  Again, only x and y lie elsewhere.  What lies in other arrays is read
 * anew.
 *
 * Some things cannot be made again: values that were read back or uploaded, work on the host or on
 * a device with streams, random numbers, writing into arrays that were there before.  They spoil
 * the replay: tn_replay_end gives NULL.
 */
#ifndef TN_CAPTURE_REPLAY_H
#define TN_CAPTURE_REPLAY_H

#include "array/array.h"

struct tn_replay;

/* TN_OUT_OF_MEMORY, TN_STATE: one is being written already, or a tape records (both kept). */
tn_status tn_replay_begin(struct tn_runtime *runtime, const tn_array *x);
/* Always ends.  y NULL, or a spoilt replay: NULL. */
struct tn_replay *tn_replay_end(struct tn_runtime *runtime, const tn_array *y);
/* Takes NULL. */
void tn_replay_destroy(struct tn_replay *replay);

/* Is x like the one that was written down: shape, strides, type and device? */
int tn_replay_fits(const struct tn_replay *replay, const tn_array *x);
/* A new y of the current scope; errors are kept. */
tn_array *tn_replay_run(struct tn_replay *replay, const tn_array *x);

#endif
