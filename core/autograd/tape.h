/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What others than programs ask of a tape; what it is made of is in node.h.
 */
#ifndef TN_AUTOGRAD_TAPE_H
#define TN_AUTOGRAD_TAPE_H

#include <tenon/autograd.h>

/* As tn_tape_watch_into, for a module's weight: replays of captured work set *filled, too, so who
 * frees it tells the graphs (tn_capture_forget). */
tn_status tn_tape_watch_weight(struct tn_tape *tape, tn_array *array, tn_array *gradient,
			       int *filled);

#endif
