/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * alloc, upload and download of all sizes: transfers at all offsets, and allocations up to what the
 * device says to have, of which only both ends are written.
 */
#include <unistd.h>

#include "frame.h"
#include "sweep.h"

static int claims_bytes(const struct kit *kit, tn_dtype dtype)
{
	(void)kit;
	return dtype == TN_U8;
}

static tn_status allocate(struct kit *kit, uint64_t size, uint64_t *buffer)
{
	struct tn_alloc_args args = {.call = {.struct_size = sizeof(args), .error = &kit->error},
				     .size = size};
	return kit->backend->device.alloc(kit->device, &args, buffer);
}

static void release(struct kit *kit, uint64_t buffer)
{
	struct tn_free_args args = {.call = {.struct_size = sizeof(args), .error = &kit->error},
				    .buffer = buffer};
	if (kit->backend->device.free(kit->device, &args))
		kit_fail(kit, "free: %s", kit->error.text);
}

static void wait_for(struct kit *kit)
{
	struct tn_sync_args args = {.call = {.struct_size = sizeof(args), .error = &kit->error}};
	if (kit->backend->device.sync(kit->device, &args))
		kit_fail(kit, "sync: %s", kit->error.text);
}

static void transfer(struct kit *kit, int up, uint32_t flags, uint64_t buffer, uint64_t offset,
		     unsigned char *host, uint64_t size)
{
	struct tn_transfer_args args = {
		.call = {.struct_size = sizeof(args), .flags = flags, .error = &kit->error},
		.buffer = buffer,
		.offset = offset,
		.size = size,
		.host = host};
	tn_status status = up ? kit->backend->device.upload(kit->device, &args)
			      : kit->backend->device.download(kit->device, &args);
	if (status)
		kit_fail(kit, "%s: %s: %s", up ? "upload" : "download", tn_status_name(status),
			 kit->error.text);
	if (flags & TN_ASYNC)
		wait_for(kit);
}

static void compare(struct kit *kit, const unsigned char *found, const unsigned char *right,
		    uint64_t size, const char *what)
{
	uint64_t i = 0;
	if (!memcmp(found, right, size))
		return;
	while (found[i] == right[i])
		i++;
	kit_fail(kit, "%s: byte %llu of %llu is %02x, expected %02x", what, (unsigned long long)i,
		 (unsigned long long)size, found[i], right[i]);
}

static unsigned char *random_bytes(struct kit *kit, uint64_t size)
{
	uint64_t *words = malloc((size + 7) & ~UINT64_C(7));
	if (!words)
		kit_give_up(kit, "the kit is out of memory");
	for (uint64_t i = 0; i < (size + 7) / 8; i++)
		words[i] = kit_random(kit);
	return (unsigned char *)words;
}

/* ---- Transfers -------------------------------------------------------------------------------*/

enum { SIZE, OFFSET, AXES, BEHIND = 64 };

static uint64_t bytes_of(tn_dtype dtype, const int64_t *lengths)
{
	(void)dtype;
	return (uint64_t)(lengths[SIZE] + lengths[OFFSET]);
}

static double work_of(const int64_t *lengths)
{
	return SWEEP_VISIT / 4 * (double)(lengths[SIZE] + lengths[OFFSET]);
}

/* A buffer is written whole, then `size` bytes of it, and read in part and whole. */
static void transfers(struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
		      const int64_t *lengths)
{
	const uint64_t size = (uint64_t)lengths[SIZE], offset = (uint64_t)lengths[OFFSET] - 1;
	const uint64_t whole = offset + size + BEHIND;
	const uint32_t flags = sweep_draw(kit, sweep, dtype, lengths, 0, 2) ? TN_ASYNC : 0;
	uint64_t buffer;
	sweep_case(kit, sweep, dtype, lengths, "%s", flags ? "asynchronous" : "synchronous");
	if (allocate(kit, whole, &buffer))
		return kit_fail(kit, "alloc: %s", kit->error.text);
	unsigned char *right = random_bytes(kit, whole), *part = random_bytes(kit, size);
	unsigned char *found = calloc(whole, 1);
	if (!found)
		kit_give_up(kit, "the kit is out of memory");
	transfer(kit, 1, flags, buffer, 0, right, whole);
	transfer(kit, 1, flags, buffer, offset, part, size);
	memcpy(right + offset, part, size);
	transfer(kit, 0, flags, buffer, offset, found, size);
	compare(kit, found, part, size, "the part");
	transfer(kit, 0, flags, buffer, 0, found, whole);
	compare(kit, found, right, whole, "the buffer");
	release(kit, buffer);
	free(right);
	free(part);
	free(found);
	kit_pass(kit);
}

/* The axis "offset" counts from 1. */
void check_sizes_transfer(struct kit *kit)
{
	static const struct sweep sweep = {
		TN_SLOT_UPLOAD, "transfer", AXES,    {{"size", 77, 0}, {"offset + 1", 14, 0}},
		claims_bytes,   bytes_of,   work_of, transfers};
	sweep_axes(kit, &sweep);
}

/* ---- Allocations -----------------------------------------------------------------------------*/

static uint64_t one_byte(tn_dtype dtype, const int64_t *lengths)
{
	(void)dtype;
	(void)lengths;
	return 1;
}

static double no_work(const int64_t *lengths)
{
	(void)lengths;
	return 0;
}

static void allocates(struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
		      const int64_t *lengths)
{
	const uint64_t size = (uint64_t)lengths[0], end = size < 64 ? size : 64;
	uint64_t buffer;
	sweep_case(kit, sweep, dtype, lengths, "%s", "");
	if (allocate(kit, size, &buffer))
		return kit_fail(kit, "%s", kit->error.text);
	unsigned char *right = random_bytes(kit, 128), found[128] = {0};
	transfer(kit, 1, 0, buffer, size - end, right + 64, end);
	transfer(kit, 1, 0, buffer, 0, right, end);
	if (size >= 128) {
		transfer(kit, 0, 0, buffer, size - end, found + 64, end);
		compare(kit, found + 64, right + 64, 64, "the end");
	}
	transfer(kit, 0, 0, buffer, 0, found, end);
	compare(kit, found, right, end, "the beginning");
	release(kit, buffer);
	free(right);
	kit_pass(kit);
}

/* A quarter of a gigabyte, which a backend may clear in a while; in --mode=large what is certainly
 * free: half of what the device reports, and half of the host's. */
static uint64_t limit(struct kit *kit)
{
	struct tn_memory_information information = {.struct_size = sizeof(information)};
	uint64_t most = kit->description.max_alloc_bytes;
	if (!check_is_large(kit->check) && most > 256 << 20)
		most = 256 << 20;
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	const uint64_t host = (uint64_t)sysconf(_SC_AVPHYS_PAGES) * page;
	if (host / 2 < most)
		most = host / 2;
	if (tn_backend_has(kit->backend, TN_SLOT_MEMORY_INFORMATION) &&
	    !kit->backend->memory.information(kit->device, TN_MEMORY_DEVICE, &information) &&
	    information.free_bytes / 2 < most)
		most = information.free_bytes / 2;
	return most;
}

void check_sizes_alloc(struct kit *kit)
{
	struct sweep sweep = {.slot = TN_SLOT_ALLOC,
			      .name = "alloc",
			      .n_axes = 1,
			      .axes = {{"bytes", 77, 0}},
			      .claims = claims_bytes,
			      .bytes = one_byte,
			      .work = no_work,
			      .run = allocates};
	sweep.axes[0].most = (int64_t)limit(kit);
	sweep_axes(kit, &sweep);
}
