/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The stack of spans.  Each knows the most memory in use while it ran: the pool keeps one such
 * number, which starts again where a span begins or ends, and the larger one goes to the span
 * around it.
 */
#include "array/watch.h"

#include "base/memory.h"
#include "device/pool.h"

static void raise_high(struct tn_watch_frame *frame, uint64_t high)
{
	if (frame->high < high)
		frame->high = high;
}

/* A place on the stack; NULL: out of memory. */
static struct tn_watch_frame *push(struct tn_watch *watch)
{
	if (watch->n_frames == watch->room) {
		size_t room = watch->room ? 2 * watch->room : 32;
		struct tn_watch_frame *frames =
			tn_mem_realloc(watch->frames, room, sizeof(*frames));
		if (!frames)
			return NULL;
		watch->frames = frames;
		watch->room = room;
	}
	return &watch->frames[watch->n_frames++];
}

void tn_watch_begin(struct tn_watch *watch, enum tn_watch_kind kind, uint32_t row, const char *name)
{
	struct tn_watch_frame *frame = watch->n_lost ? NULL : push(watch);
	if (!frame) {
		watch->n_lost++;
		watch->failed = TN_OUT_OF_MEMORY;
		return;
	}
	uint64_t high = tn_pool_restart_high(watch->device);
	if (watch->n_frames > 1)
		raise_high(frame - 1, high);
	struct tn_memory_use use = {.struct_size = sizeof(use)};
	tn_device_get_memory_use(watch->device, &use);
	*frame = (struct tn_watch_frame){.kind = kind,
					 .row = row,
					 .outer_row = watch->row,
					 .name = name,
					 .base = use.used,
					 .high = use.used};
	if (kind == TN_WATCH_FORWARD)
		watch->row = row;
	watch->functions->begun(watch, frame);
}

void tn_watch_end(struct tn_watch *watch, const tn_array *result)
{
	if (watch->n_lost) {
		watch->n_lost--;
		return;
	}
	struct tn_watch_frame *frame = &watch->frames[--watch->n_frames];
	raise_high(frame, tn_pool_restart_high(watch->device));
	watch->row = frame->outer_row;
	if (watch->n_frames)
		raise_high(frame - 1, frame->high);
	watch->functions->ended(watch, frame, result);
}

void tn_watch_release(struct tn_watch *watch)
{
	tn_mem_free(watch->frames);
	watch->frames = NULL;
	watch->n_frames = watch->room = 0;
}
