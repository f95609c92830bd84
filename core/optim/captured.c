/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Links an owner with the states that captured graphs keep of it, so that each side may be
 * destroyed first.
 */
#include "optim/captured.h"

#include "base/error.h"

void tn_captured_add(struct tn_captured_list *list, struct tn_captured *captured)
{
	*captured = (struct tn_captured){.list = list, .next = list->first};
	list->first = captured;
}

void tn_captured_abandon(struct tn_captured_list *list)
{
	for (struct tn_captured *each = list->first; each; each = each->next)
		each->list = NULL;
	list->first = NULL;
}

tn_status tn_captured_check(struct tn_runtime *runtime, const struct tn_captured *captured,
			    const char *owner)
{
	if (captured->list)
		return TN_OK;
	return tn_fail(&runtime->report, TN_STATE, "graph_replay",
		       "%s whose step was captured has been destroyed", owner);
}

void tn_captured_release(void *state)
{
	struct tn_captured *captured = state;
	struct tn_captured **link = captured->list ? &captured->list->first : NULL;
	while (link && *link && *link != captured)
		link = &(*link)->next;
	if (link && *link)
		*link = captured->next;
}
