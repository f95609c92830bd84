/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The states of stepped sources (capture/stepped.h) that belong to an object which may be destroyed
 * before the graphs that captured its work: the object keeps a list of them.
 */
#ifndef TN_OPTIM_CAPTURED_H
#define TN_OPTIM_CAPTURED_H

#include "array/runtime.h"

struct tn_captured_list {
	struct tn_captured *first;
};

/* The first member of such a state. */
struct tn_captured {
	struct tn_captured_list *list; /* NULL: the owner has been destroyed */
	struct tn_captured *next;
};

void tn_captured_add(struct tn_captured_list *list, struct tn_captured *captured);
/* The owner of the list is destroyed. */
void tn_captured_abandon(struct tn_captured_list *list);
/* TN_STATE, in the report, once the owner ("the optimizer") has been destroyed. */
tn_status tn_captured_check(struct tn_runtime *runtime, const struct tn_captured *captured,
			    const char *owner);
/* A source's release. */
void tn_captured_release(void *state);

#endif
