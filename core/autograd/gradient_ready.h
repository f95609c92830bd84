/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * When gradients are complete.  In a plain backward the hook of a leaf with a target is called once
 * for it, as soon as no node is left that could add to its gradient:
 *
 *	a leaf that nodes have as an input      after the oldest of them
 *	where parts are computed again (tn_recompute), whose leaves are known only then
 *	                                        not before the oldest such part
 *	a leaf that nothing uses                at the end of the pass
 *
 * So each leaf with a hook is reported exactly once in a pass that succeeds, in an order that
 * depends on what was recorded alone.
 */
#ifndef TN_AUTOGRAD_GRADIENT_READY_H
#define TN_AUTOGRAD_GRADIENT_READY_H

#include "autograd/node.h"

struct tn_gradient_hook {
	/* Nothing more is added to the target in this pass.  Called in the pass's scope, while
	 * nothing is recorded; a failure, whose error is kept, ends the pass. */
	tn_status (*ready)(void *user, tn_array *target);
	void *user;
};

/* Finds the last use of each leaf.  For a tape without hooks these functions do nothing. */
void tn_ready_begin(struct tn_tape *tape);
/* The node has run, or was passed over. */
tn_status tn_ready_after(struct tn_tape *tape, const struct tn_node *node);
/* All nodes have. */
tn_status tn_ready_end(struct tn_tape *tape);

#endif
