/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Nodes have numbers from 1 in the order of the walk, newest first, which exist during a pass only.
 */
#include "autograd/gradient_ready.h"

void tn_ready_begin(struct tn_tape *tape)
{
	uint64_t number = 0;
	tape->walked = tape->last_again = 0;
	if (!tape->has_hooks)
		return;
	for (struct tn_node *node = tape->last; node; node = node->previous) {
		number++;
		if (node->is_always)
			tape->last_again = number;
		for (uint32_t i = 0; i < node->n_inputs; i++) {
			if (node->inputs[i] && node->inputs[i]->hook)
				node->inputs[i]->last_use = number;
		}
	}
}

static tn_status report(struct tn_entry *entry)
{
	if (!entry->hook || entry->is_reported)
		return TN_OK;
	entry->is_reported = 1;
	return entry->hook->ready(entry->hook->user, entry->target);
}

/* All whose last use is past; those without one (0) are among them. */
static tn_status report_past(struct tn_tape *tape)
{
	tn_status status = TN_OK;
	for (struct tn_entry *entry = tape->entries; entry && !status; entry = entry->next) {
		if (entry->last_use <= tape->walked)
			status = report(entry);
	}
	return status;
}

tn_status tn_ready_after(struct tn_tape *tape, const struct tn_node *node)
{
	tn_status status = TN_OK;
	if (!tape->has_hooks)
		return TN_OK;
	tape->walked++;
	if (tape->walked <= tape->last_again)
		return tape->walked == tape->last_again ? report_past(tape) : TN_OK;
	for (uint32_t i = 0; i < node->n_inputs && !status; i++) {
		if (node->inputs[i] && node->inputs[i]->last_use == tape->walked)
			status = report(node->inputs[i]);
	}
	return status;
}

tn_status tn_ready_end(struct tn_tape *tape)
{
	return tape->has_hooks ? report_past(tape) : TN_OK;
}
