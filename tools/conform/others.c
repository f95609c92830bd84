/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The other devices of the backend, beside the one under test: each opens, is the one that was
 * described, has memory of its own and runs every slot.
 */
#include "samples.h"
#include "slots.h"

enum { SIZE = 48 << 20, LEAST = SIZE / 2, TRIES = 5 };

/* Bytes that are free on a device; 0: it does not tell. */
static uint64_t free_bytes(const struct kit *kit)
{
	struct tn_memory_information memory = {.struct_size = sizeof(memory)};
	if (kit->description.flags & TN_DEVICE_HOST_MEMORY ||
	    !tn_backend_has(kit->backend, TN_SLOT_MEMORY_INFORMATION) ||
	    kit->backend->memory.information(kit->device, TN_MEMORY_DEVICE, &memory))
		return 0;
	return memory.free_bytes;
}

/* Allocates on one device; are as many bytes missing there, and on the other one?  Other programs
 * may allocate and free meanwhile. */
static int lacks_bytes(struct kit *other, const struct kit *kit, int *is_same)
{
	const uint64_t here = free_bytes(other), there = free_bytes(kit);
	struct tn_alloc_args alloc = {
		.call = {.struct_size = sizeof(alloc), .error = &other->error}, .size = SIZE};
	struct tn_free_args release = {.call = CALL(struct tn_free_args)};
	if (other->backend->device.alloc(other->device, &alloc, &release.buffer)) {
		kit_fail(other, "alloc: %s", other->error.text);
		return 1;
	}
	const int lacks = here >= free_bytes(other) + LEAST;
	*is_same = there >= free_bytes(kit) + LEAST;
	(void)other->backend->device.free(other->device, &release);
	return lacks;
}

/* What is allocated on a device is missing there, and on no other. */
static void has_its_own_memory(struct kit *other, const struct kit *kit)
{
	const uint64_t here = free_bytes(other);
	int lacks = 0, is_same = 0;
	kit_case(other, TN_SLOT_OPEN, "device %u beside device %u", other->index, kit->index);
	if (!free_bytes(kit) || here < 4 * (uint64_t)SIZE)
		return kit_remark(other,
				  "device %u does not tell how much memory is free: whether "
				  "it is another than device %u was not checked",
				  other->index, kit->index);
	for (int i = 0; i < TRIES && (!lacks || is_same); i++)
		lacks = lacks_bytes(other, kit, &is_same);
	if (!lacks)
		kit_fail(other, "%d bytes were allocated, and as many are free as before", SIZE);
	if (is_same)
		kit_fail(other,
			 "%d bytes were allocated on device %u, and are missing on device %u: it "
			 "is the same one",
			 SIZE, other->index, kit->index);
	kit_pass(other);
}

static void runs_every_slot(struct kit *other)
{
	for (int slot = sample_next(other, -1); slot >= 0; slot = sample_next(other, slot)) {
		struct sample sample;
		sample_make(other, &sample, slot, "on another device");
		(void)sample_run(&sample);
		sample_free(&sample);
	}
}

/* Opens one more device beside that of the kit; NULL after a failure. */
static struct kit *open_other(struct kit *kit, uint32_t index)
{
	struct kit *other = malloc(sizeof(*other));
	if (!other)
		kit_give_up(kit, "the kit is out of memory");
	*other = *kit;
	memset(other->tallies, 0, sizeof(other->tallies));
	kit_case(other, TN_SLOT_OPEN, "open: device %u", index);
	if (!kit_open(other, kit->backend, index))
		return other;
	kit_fail(kit, "open: device %u: %s", index, other->error.text);
	free(other);
	return NULL;
}

static void close_other(struct kit *kit, struct kit *other)
{
	other->backend->device.close(other->device);
	for (int slot = 0; slot < KIT_TALLIES; slot++) {
		kit->tallies[slot].done += other->tallies[slot].done;
		kit->tallies[slot].failed += other->tallies[slot].failed;
		kit->tallies[slot].unsupported += other->tallies[slot].unsupported;
	}
	free(other);
}

/* Is each of the devices from `first` on another than that of the kit?  With `runs` each is tried
 * too, and compared with those that follow. */
static void check_each(struct kit *kit, uint32_t first, uint32_t count, uint32_t tested, int runs)
{
	for (uint32_t index = first; index < count; index++) {
		struct kit *other = index == tested ? NULL : open_other(kit, index);
		if (!other)
			continue;
		has_its_own_memory(other, kit);
		if (runs) {
			check_describe(other);
			check_memory_many(other);
			check_transfer_offsets(other);
			runs_every_slot(other);
			check_each(other, index + 1, count, tested, 0);
		}
		close_other(kit, other);
	}
}

void check_device_others(struct kit *kit)
{
	struct tn_device_count count = {.struct_size = sizeof(count)};
	if (kit->backend->device.device_count(kit->backend->plugin.instance, &count) ||
	    count.count < 2)
		return kit_skip(kit, "it has one device");
	check_each(kit, 0, count.count, kit->index, 1);
}
