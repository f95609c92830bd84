/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The walk over the nodes, for nodes whose backward records and walks on its own.
 */
#ifndef TN_AUTOGRAD_BACKWARD_H
#define TN_AUTOGRAD_BACKWARD_H

#include "autograd/node.h"

/* In a pass that selects: marks what the needed gradients depend on, in the nodes newer than
 * `oldest` (NULL: all). */
void tn_tape_mark_needed(struct tn_tape *tape, struct tn_node *oldest);
/* Runs the backward of the nodes newer than `oldest`, newest first.  drops: each lets go of what it
 * saved. */
tn_status tn_tape_walk(struct tn_tape *tape, const struct tn_node *oldest, int drops);

#endif
