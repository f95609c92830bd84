/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What calls leave behind in the process: descriptors, threads, mappings, memory.  Many of each
 * kind are made between two looks, so that what only every hundredth call loses is seen.
 *
 * Memory is counted by malloc, to the byte.  What it keeps for itself, or a table that grows by
 * doubling, is more after one round than before, but not after each.
 */
#include <stdio.h>

#include "frame.h"
#include "loader/slots.h"
#include "process_state.h"
#include "samples.h"
#include "slots.h"

/* The first calls may open, start and keep what later ones use. */
enum { WARM = 20, ROUNDS = 4, OF_ROUND = 100, CALLS = ROUNDS * OF_ROUND };
/* Malloc's least piece has 32 bytes: at least one is left by every second call. */
enum { MEMORY = OF_ROUND * 16, MAPPED = 8 << 20, MAPPINGS = 16 };

/* ---- Looking at the process ------------------------------------------------------------------*/

static void expect_nothing_left(struct kit *kit, const struct process_state *before,
				const struct process_state *after)
{
	if (after->descriptors > before->descriptors)
		kit_fail(kit, "%d calls left %u files open", CALLS,
			 after->descriptors - before->descriptors);
	if (after->threads > before->threads)
		kit_fail(kit, "%d calls left %u threads", CALLS, after->threads - before->threads);
	if (after->mappings > before->mappings + MAPPINGS)
		kit_fail(kit, "%d calls left %u mappings", CALLS,
			 after->mappings - before->mappings);
	if (!sanitizer_keeps_memory() && after->mapped_bytes > before->mapped_bytes + MAPPED)
		kit_fail(kit, "%d calls left %llu bytes mapped", CALLS,
			 (unsigned long long)(after->mapped_bytes - before->mapped_bytes));
}

/* Makes call number i, and undoes what it made. */
typedef void (*maker)(struct kit *kit, const void *user, int i);

/* Makes `n` calls; returns what is allocated then. */
static uint64_t make_calls(struct kit *kit, maker make, const void *user, int first, int n)
{
	const struct tn_sync_args sync = {.call = CALL(struct tn_sync_args)};
	for (int i = first; i < first + n; i++)
		make(kit, user, i);
	(void)kit->backend->device.sync(kit->device, &sync);
	return process_allocated_bytes();
}

static void leaves_nothing(struct kit *kit, maker make, const void *user)
{
	struct process_state before, after;
	uint64_t then = make_calls(kit, make, user, 0, WARM), least = UINT64_MAX;
	process_state_take(&before);
	for (int round = 0; round < ROUNDS; round++) {
		const uint64_t now = make_calls(kit, make, user, round * OF_ROUND, OF_ROUND);
		const uint64_t left = now > then ? now - then : 0;
		least = left < least ? left : least;
		then = now;
	}
	process_state_take(&after);
	expect_nothing_left(kit, &before, &after);
	if (least >= MEMORY && !sanitizer_keeps_memory())
		kit_fail(kit, "each %d calls left at least %llu bytes of memory behind", OF_ROUND,
			 (unsigned long long)least);
	kit_pass(kit);
}

/* Files, threads and mappings are counted in /proc. */
static void needs_proc(struct kit *kit)
{
	if (!process_has_proc())
		kit_not_tried(kit, 1,
			      "whether files, threads and mappings are left: there is no /proc");
}

/* ---- Slots of operations ---------------------------------------------------------------------*/

static void succeeds(struct kit *kit, const void *user, int i)
{
	(void)i;
	(void)kit_enter(kit, user);
}

/* In turn for an unknown flag, with an error and without, and for a field of a later version. */
static void is_refused(struct kit *kit, const void *user, int i)
{
	union call_args args = *(const union call_args *)user;
	if (i % 3 == 2)
		args.room[args.call.struct_size + 7] = 1;
	if (i % 3 == 2)
		args.call.struct_size += 8;
	else
		args.call.flags |= TN_CALL_FLAG_UNASSIGNED;
	args.call.error = i % 3 == 1 ? NULL : &kit->error;
	if (!kit_enter(kit, &args))
		kit_fail(kit, "it succeeded: expected a refusal");
}

/* In turn with a first operand of no dtype and of too many axes.  What an entry does not look at,
 * it may accept. */
static void has_wrong_operand(struct kit *kit, const void *user, int i)
{
	union call_args args = *(const union call_args *)user;
	const struct tn_slot_operand *row = tn_slots[kit->slot].operands;
	struct tn_operand *operand = (struct tn_operand *)(void *)(args.room + row->offset);
	if (i % 2)
		operand->dtype = 99;
	else
		operand->rank = TN_MAX_RANK + 1;
	args.call.error = &kit->error;
	(void)kit_enter(kit, &args);
}

void check_call_leaks(struct kit *kit)
{
	needs_proc(kit);
	for (int slot = sample_next(kit, -1); slot >= 0; slot = sample_next(kit, slot)) {
		struct sample sample;
		sample_make(kit, &sample, slot, "repeated");
		if (!sample_run(&sample)) {
			sample.args.call.workspace = NULL;
			leaves_nothing(kit, succeeds, &sample.args);
			kit_case(kit, slot, "%s: refused repeatedly", tn_slots[slot].name);
			leaves_nothing(kit, is_refused, &sample.args);
			kit_case(kit, slot, "%s: wrong operands, repeatedly", tn_slots[slot].name);
			if (tn_slots[slot].operands && slot != TN_SLOT_MAP &&
			    slot != TN_SLOT_REDUCE)
				leaves_nothing(kit, has_wrong_operand, &sample.args);
		}
		sample_free(&sample);
	}
}

/* ---- Slots of the device ---------------------------------------------------------------------*/

static void fails_to_alloc(struct kit *kit, const void *user, int i)
{
	struct tn_alloc_args args = {.call = {.struct_size = sizeof(args), .error = &kit->error},
				     .size = i % 3 ? UINT64_MAX / 2 : 4096,
				     .memory_kind = i % 3 ? TN_MEMORY_DEVICE : 31};
	uint64_t buffer;
	(void)user;
	if (!kit->backend->device.alloc(kit->device, &args, &buffer))
		kit_fail(kit, "%llu bytes of kind %u are no failure", (unsigned long long)args.size,
			 args.memory_kind);
}

static void allocates(struct kit *kit, const void *user, int i)
{
	struct tn_alloc_args args = {.call = {.struct_size = sizeof(args), .error = &kit->error},
				     .size = (uint64_t)(i % 7 + 1) * 3000};
	struct tn_free_args release = {.call = CALL(struct tn_free_args)};
	(void)user;
	if (!kit->backend->device.alloc(kit->device, &args, &release.buffer))
		(void)kit->backend->device.free(kit->device, &release);
}

static void fails_to_open(struct kit *kit, const void *user, int i)
{
	struct tn_open_args args = {.call = {.struct_size = sizeof(args), .error = &kit->error},
				    .index = 1000 + (uint32_t)i};
	void *device;
	(void)user;
	if (!kit->backend->device.open(kit->backend->plugin.instance, &args, &device))
		kit_fail(kit, "device %u exists", args.index);
}

static void refuses_transfer(struct kit *kit, const void *user, int i)
{
	unsigned char host[16] = {0};
	const struct tn_transfer_args args = {.call = {.struct_size = sizeof(args),
						       .flags = TN_CALL_FLAG_UNASSIGNED,
						       .error = &kit->error},
					      .buffer = *(const uint64_t *)user,
					      .size = sizeof(host),
					      .host = host};
	tn_status status = i % 2 ? kit->backend->device.upload(kit->device, &args)
				 : kit->backend->device.download(kit->device, &args);
	if (!status)
		kit_fail(kit, "an unknown flag is accepted");
}

static void makes_stream(struct kit *kit, const void *user, int i)
{
	const struct tn_stream_table *table = &kit->backend->stream;
	struct tn_stream_args stream = {.call = CALL(struct tn_stream_args)};
	struct tn_event_args event = {.call = CALL(struct tn_event_args)};
	(void)user, (void)i;
	if (table->stream_create(kit->device, &stream, &stream.call.stream))
		return;
	event.call.stream = stream.call.stream;
	if (!table->event_create(kit->device, &event, &event.event)) {
		(void)table->event_record(kit->device, &event);
		(void)table->event_sync(kit->device, &event);
		(void)table->event_destroy(kit->device, &event);
	}
	(void)table->stream_destroy(kit->device, &stream);
}

void check_memory_leaks(struct kit *kit)
{
	struct tn_alloc_args alloc = {.call = CALL(struct tn_alloc_args), .size = 4096};
	struct tn_free_args release = {.call = CALL(struct tn_free_args)};
	needs_proc(kit);
	kit_case(kit, TN_SLOT_ALLOC, "alloc: refused repeatedly");
	leaves_nothing(kit, fails_to_alloc, NULL);
	kit_case(kit, TN_SLOT_ALLOC, "alloc and free: repeatedly");
	leaves_nothing(kit, allocates, NULL);
	kit_case(kit, TN_SLOT_OPEN, "open: devices that do not exist, repeatedly");
	leaves_nothing(kit, fails_to_open, NULL);
	kit_case(kit, TN_SLOT_UPLOAD, "upload and download: refused repeatedly");
	if (kit->backend->device.alloc(kit->device, &alloc, &release.buffer))
		kit_give_up(kit, "alloc of 4096 bytes failed");
	leaves_nothing(kit, refuses_transfer, &release.buffer);
	(void)kit->backend->device.free(kit->device, &release);
	kit_case(kit, TN_SLOT_STREAM_CREATE, "streams and events: repeatedly");
	if (tn_backend_has(kit->backend, TN_SLOT_STREAM_CREATE))
		leaves_nothing(kit, makes_stream, NULL);
}
