/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The tape's interface for the rest of the library; its structs are in node.h.
 */
#ifndef TN_AUTOGRAD_TAPE_H
#define TN_AUTOGRAD_TAPE_H

#include <tenon/autograd.h>

struct tn_gradient_hook;

/* As tn_tape_watch_into, for a module's weight: replays of captured work also set *filled, so its
 * owner calls tn_capture_forget before freeing it.  The hook, which may be NULL, is called when the
 * gradient is complete (gradient_ready.h); it is borrowed until the tape ends. */
tn_status tn_tape_watch_weight(struct tn_tape *tape, tn_array *array, tn_array *gradient,
			       int *filled, const struct tn_gradient_hook *hook);

/* Is this another network than that of the last call for this tape? */
int tn_tape_is_new_network(struct tn_tape *tape, const void *network);

/* tn_runtime_null for the tape, or for the operand `name` of a call that has one.  `array`, another
 * operand or NULL, tells the context where there is no tape. */
tn_status tn_tape_null(const struct tn_tape *tape, const tn_array *array, const char *operation,
		       const char *name);

#endif
