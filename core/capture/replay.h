/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Records the calls that a function of one array makes, and repeats them: for inference, where
 * dispatch costs more than small layers.
 *
 *	tn_replay_begin(runtime, x);
 *	y = ...array operations of x and of arrays that stay...;
 *	replay = tn_replay_end(runtime, y);
 *	...
 *	if (tn_replay_fits(replay, x))
 *		y = tn_replay_run(replay, x);
 *
 * Between begin and end the runtime's arrays come from the replay's own store of blocks, so that
 * repeated calls find their temporaries at the same addresses; many arrays reuse a block in turn,
 * as in the pool.  In a repetition only x and y have other addresses.  Other arrays are read with
 * their current contents.
 *
 * Some work cannot be repeated: values read back or uploaded, work on the host or on a device with
 * streams, random numbers, writes into older arrays.  It spoils the replay: tn_replay_end returns
 * NULL.
 */
#ifndef TN_CAPTURE_REPLAY_H
#define TN_CAPTURE_REPLAY_H

#include "array/array.h"

struct tn_replay;

/* TN_OUT_OF_MEMORY; TN_STATE: a replay or a tape is already recording (both kept). */
tn_status tn_replay_begin(struct tn_runtime *runtime, const tn_array *x);
/* Always ends the recording.  Returns NULL when y is NULL or the replay is spoilt. */
struct tn_replay *tn_replay_end(struct tn_runtime *runtime, const tn_array *y);
/* Takes NULL. */
void tn_replay_destroy(struct tn_replay *replay);

/* Does x match the recorded one in shape, strides, type and device? */
int tn_replay_fits(const struct tn_replay *replay, const tn_array *x);
/* A new y of the current scope; errors are kept. */
tn_array *tn_replay_run(struct tn_replay *replay, const tn_array *x);

/* Can the calls write y, which shares no memory with x, where it is?  It has the shape and type of
 * the recorded y, compact, and they write no more than that. */
int tn_replay_fits_result(const struct tn_replay *replay, const tn_array *y);
/* Then they do; TN_CANCELLED or a failure leaves y undefined, and is kept. */
tn_status tn_replay_run_into(struct tn_replay *replay, const tn_array *x, tn_array *y);

#endif
