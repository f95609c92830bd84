/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Many buffers at once, kinds of memory and limits, and transfers from any address, of any size, in
 * stream order.
 */
#include "frame.h"
#include "process_state.h"
#include "slots.h"

static tn_status allocate(struct kit *kit, uint64_t size, uint32_t kind, uint64_t *buffer)
{
	struct tn_alloc_args args = {.call = {.struct_size = sizeof(args), .error = &kit->error},
				     .size = size,
				     .memory_kind = kind};
	return kit->backend->device.alloc(kit->device, &args, buffer);
}

static void release(struct kit *kit, uint64_t buffer)
{
	struct tn_free_args args = {.call = {.struct_size = sizeof(args), .error = &kit->error},
				    .buffer = buffer};
	if (kit->backend->device.free(kit->device, &args))
		kit_fail(kit, "free: %s", kit->error.text);
}

/* Copies `host` to the device, or back; flags: TN_ASYNC or 0. */
static void transfer(struct kit *kit, int to_device, uint64_t buffer, uint64_t offset,
		     uint64_t size, void *host, uint32_t flags)
{
	struct tn_transfer_args args = {.call = {.struct_size = sizeof(args),
						 .flags = flags,
						 .stream = kit->options.stream,
						 .error = &kit->error},
					.buffer = buffer,
					.offset = offset,
					.size = size,
					.host = host};
	tn_status status = to_device ? kit->backend->device.upload(kit->device, &args)
				     : kit->backend->device.download(kit->device, &args);
	if (status)
		kit_fail(kit, "%s of %llu bytes at %llu: %s: %s", to_device ? "upload" : "download",
			 (unsigned long long)size, (unsigned long long)offset,
			 tn_status_name(status), kit->error.text);
}

static void wait(struct kit *kit)
{
	struct tn_sync_args args = {.call = {.struct_size = sizeof(args),
					     .stream = kit->options.stream,
					     .error = &kit->error}};
	if (kit->backend->device.sync(kit->device, &args))
		kit_fail(kit, "sync: %s", kit->error.text);
}

static void *memory(struct kit *kit, size_t size)
{
	void *memory = malloc(size);
	if (!memory)
		kit_give_up(kit, "the kit is out of memory");
	return memory;
}

/* ---- Buffers ---------------------------------------------------------------------------------*/

enum { N_BUFFERS = 96 };

struct buffers {
	struct kit *kit;
	uint64_t handle[N_BUFFERS];
	uint64_t size[N_BUFFERS];
	unsigned char stamp[N_BUFFERS];
	unsigned char *host; /* room for the largest */
};

static void make_buffer(struct buffers *b, int i, unsigned char stamp)
{
	struct kit *kit = b->kit;
	b->size[i] = kit_random(kit) % (i % 8 ? 3000 : 300000) + 1;
	b->stamp[i] = stamp;
	if (allocate(kit, b->size[i], TN_MEMORY_DEVICE, &b->handle[i]) || !b->handle[i])
		kit_give_up(kit, "alloc of %llu bytes: %s", (unsigned long long)b->size[i],
			    kit->error.text);
	for (int j = 0; j < N_BUFFERS; j++)
		if (j != i && b->handle[j] == b->handle[i])
			kit_fail(kit, "two buffers have the handle %llx",
				 (unsigned long long)b->handle[i]);
	memset(b->host, stamp, (size_t)b->size[i]);
	transfer(kit, 1, b->handle[i], 0, b->size[i], b->host, 0);
}

static void check_buffer(struct buffers *b, int i)
{
	memset(b->host, 0, (size_t)b->size[i]);
	transfer(b->kit, 0, b->handle[i], 0, b->size[i], b->host, 0);
	for (uint64_t byte = 0; byte < b->size[i]; byte++)
		if (b->host[byte] != b->stamp[i])
			kit_fail(b->kit, "byte %llu of a buffer of %llu is %02x, was %02x",
				 (unsigned long long)byte, (unsigned long long)b->size[i],
				 b->host[byte], b->stamp[i]);
}

/* Every third is freed and allocated again while the others exist. */
void check_memory_many(struct kit *kit)
{
	struct buffers b = {.kit = kit};
	kit_case(kit, TN_SLOT_ALLOC, "alloc: %d buffers at once", N_BUFFERS);
	b.host = memory(kit, 300001);
	for (int i = 0; i < N_BUFFERS; i++)
		make_buffer(&b, i, (unsigned char)(i + 1));
	wait(kit);
	for (int i = 0; i < N_BUFFERS; i += 3) {
		release(kit, b.handle[i]);
		b.handle[i] = 0;
	}
	for (int i = 0; i < N_BUFFERS; i += 3)
		make_buffer(&b, i, (unsigned char)(i + 100));
	for (int i = 0; i < N_BUFFERS; i++) {
		check_buffer(&b, i);
		release(kit, b.handle[i]);
	}
	free(b.host);
	kit_pass(kit);
}

/* The source is reused as soon as upload returns. */
static void keeps_bytes(struct kit *kit, uint64_t buffer, size_t size)
{
	unsigned char *sent = memory(kit, size), *found = memory(kit, size);
	for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
		uint64_t random = kit_random(kit);
		memcpy(sent + i, &random, size - i < sizeof(random) ? size - i : sizeof(random));
	}
	memcpy(found, sent, size);
	transfer(kit, 1, buffer, 0, size, found, 0);
	memset(found, 0, size);
	transfer(kit, 0, buffer, 0, size, found, 0);
	if (memcmp(sent, found, size) != 0)
		kit_fail(kit, "the data read back differs from the data written");
	free(sent);
	free(found);
}

/* The handle of pinned memory is its address: the host and the device use the same bytes, and it
 * is host memory of transfers. */
static void is_host_memory(struct kit *kit, uint64_t handle, size_t size)
{
	unsigned char *pinned = (unsigned char *)(uintptr_t)handle; /* NOLINT */
	unsigned char *found = memory(kit, size);
	uint64_t buffer;
	if (allocate(kit, size, TN_MEMORY_DEVICE, &buffer))
		kit_give_up(kit, "alloc: %s", kit->error.text);
	memset(pinned, 0x11, size);
	transfer(kit, 0, handle, 0, size, found, 0);
	for (size_t i = 0; i < size; i++)
		if (found[i] != 0x11)
			kit_fail(kit,
				 "the host wrote 11 to the handle of pinned memory, the device "
				 "has %02x there",
				 found[i]);
	transfer(kit, 1, buffer, 0, size, pinned, TN_ASYNC);
	wait(kit);
	memset(pinned, 0x22, size);
	transfer(kit, 0, buffer, 0, size, pinned, TN_ASYNC);
	wait(kit);
	for (size_t i = 0; i < size; i++)
		if (pinned[i] != 0x11)
			kit_fail(kit,
				 "an asynchronous download to pinned memory wrote %02x, "
				 "expected 11",
				 pinned[i]);
	release(kit, buffer);
	free(found);
}

void check_memory_kinds(struct kit *kit)
{
	for (uint32_t kind = 0; kind < 8; kind++) {
		int claimed = (int)(kit->description.memory_kinds >> kind & 1);
		uint64_t buffer = 0;
		kit_case(kit, TN_SLOT_ALLOC, "alloc: memory of kind %u", kind);
		tn_status status = allocate(kit, 5000, kind, &buffer);
		if (!status && claimed)
			keeps_bytes(kit, buffer, 5000);
		if (!status && claimed && kind == TN_MEMORY_PINNED)
			is_host_memory(kit, buffer, 5000);
		if (claimed ? status || !buffer : status != TN_UNSUPPORTED)
			kit_fail(kit, "%s, but the description has it %sclaimed: %s",
				 tn_status_name(status), claimed ? "" : "un", kit->error.text);
		if (!status && buffer)
			release(kit, buffer);
		kit_pass(kit);
	}
}

/* Devices may write to all that they allocate. */
enum { MOST_ALLOCATED = 1 << 30 };

/* As much as may be asked for without harm to others: half of what is free. */
static uint64_t bytes_to_ask_for(struct kit *kit)
{
	struct tn_memory_information memory = {.struct_size = sizeof(memory)};
	uint64_t free_bytes = process_available_bytes();
	if (!(kit->description.flags & TN_DEVICE_HOST_MEMORY) &&
	    tn_backend_has(kit->backend, TN_SLOT_MEMORY_INFORMATION) &&
	    !kit->backend->memory.information(kit->device, TN_MEMORY_DEVICE, &memory))
		free_bytes = memory.free_bytes;
	return free_bytes / 2 < MOST_ALLOCATED ? free_bytes / 2 : MOST_ALLOCATED;
}

/* max_alloc_bytes and each power of two below, as far as memory is free. */
static void keeps_its_limit(struct kit *kit)
{
	const uint64_t most = kit->description.max_alloc_bytes, free_bytes = bytes_to_ask_for(kit);
	uint64_t tried = 0, buffer;
	for (uint64_t size = UINT64_C(1) << 20; tried < most; size *= 2) {
		if (size > most)
			size = most;
		if (size > free_bytes)
			break;
		kit_case(kit, TN_SLOT_ALLOC, "alloc: %llu bytes of max_alloc_bytes, %llu",
			 (unsigned long long)size, (unsigned long long)most);
		tn_status status = allocate(kit, size, TN_MEMORY_DEVICE, &buffer);
		if (status && size > bytes_to_ask_for(kit))
			break; /* other programs have taken it */
		if (status)
			return kit_fail(kit, "%s: %s", tn_status_name(status), kit->error.text);
		release(kit, buffer);
		kit_pass(kit);
		tried = size;
	}
	if (tried < most)
		kit_remark(kit,
			   "allocations of %llu to max_alloc_bytes, %llu bytes, were not tried",
			   (unsigned long long)tried + 1, (unsigned long long)most);
}

/* An impossible size is refused, and a small allocation still succeeds. */
void check_memory_limit(struct kit *kit)
{
	uint64_t buffer = 77;
	kit_case(kit, TN_SLOT_ALLOC, "alloc: 2^63 bytes");
	if (allocate(kit, UINT64_MAX / 2, TN_MEMORY_DEVICE, &buffer) != TN_OUT_OF_MEMORY)
		kit_fail(kit, "expected OUT_OF_MEMORY");
	if (buffer != 77)
		kit_fail(kit, "the handle was written");
	if (!kit->description.max_alloc_bytes)
		kit_fail(kit, "max_alloc_bytes is 0");
	kit_pass(kit);
	keeps_its_limit(kit);
	kit_case(kit, TN_SLOT_ALLOC, "alloc: small, after an impossible one");
	if (allocate(kit, 4096, TN_MEMORY_DEVICE, &buffer))
		return kit_fail(kit, "%s", kit->error.text);
	keeps_bytes(kit, buffer, 4096);
	release(kit, buffer);
	kit_pass(kit);
}

/* Memory is written, so that it is resident, and freed: the process, and the device if it reports
 * it, have as much free memory after many rounds as after a few. */
void check_memory_freed(struct kit *kit)
{
	enum { WARM = 4, ROUNDS = 20, SIZE = 8 << 20, MOST = ROUNDS * (SIZE / 2) };
	struct tn_memory_information then = {.struct_size = sizeof(then)}, now = then;
	uint64_t resident = 0;
	kit_case(kit, TN_SLOT_FREE, "alloc, upload and free: %d MB, %d times", SIZE >> 20, ROUNDS);
	if (sanitizer_keeps_memory())
		return kit_skip(kit, "a sanitizer keeps freed memory for a while");
	unsigned char *host = memory(kit, SIZE);
	memset(host, 1, SIZE);
	int tells = tn_backend_has(kit->backend, TN_SLOT_MEMORY_INFORMATION) &&
		    !kit->backend->memory.information(kit->device, TN_MEMORY_DEVICE, &then);
	for (int round = 0; round < WARM + ROUNDS; round++) {
		uint64_t buffer;
		if (round == WARM) {
			resident = process_resident_bytes();
			if (tells)
				kit->backend->memory.information(kit->device, TN_MEMORY_DEVICE,
								 &then);
		}
		if (allocate(kit, SIZE, TN_MEMORY_DEVICE, &buffer))
			kit_give_up(kit, "alloc: %s", kit->error.text);
		transfer(kit, 1, buffer, 0, SIZE, host, 0);
		wait(kit);
		release(kit, buffer);
	}
	free(host);
	if (!resident)
		kit_not_tried(kit, 1, "whether the process grows: there is no /proc");
	else if (process_resident_bytes() > resident + MOST)
		kit_fail(kit, "the process has %llu bytes more: buffers are not freed",
			 (unsigned long long)(process_resident_bytes() - resident));
	if (tells)
		kit->backend->memory.information(kit->device, TN_MEMORY_DEVICE, &now);
	/* Host memory is used by other programs too. */
	if (tells && !(kit->description.flags & TN_DEVICE_HOST_MEMORY) &&
	    now.free_bytes + MOST < then.free_bytes)
		kit_fail(kit, "the device has %llu bytes less: buffers are not freed",
			 (unsigned long long)(then.free_bytes - now.free_bytes));
	kit_pass(kit);
}

/* ---- Transfers -------------------------------------------------------------------------------*/

/* From and to host memory at every odd address. */
void check_transfer_unaligned(struct kit *kit)
{
	enum { SIZE = 1000 };
	unsigned char sent[SIZE + 16], found[SIZE + 16];
	uint64_t buffer;
	kit_case(kit, TN_SLOT_UPLOAD, "upload and download: host memory at odd addresses");
	if (allocate(kit, SIZE + 64, TN_MEMORY_DEVICE, &buffer))
		return kit_fail(kit, "alloc: %s", kit->error.text);
	for (uint64_t shift = 1; shift < 16; shift += 2) {
		for (size_t i = 0; i < sizeof(sent); i++)
			sent[i] = (unsigned char)kit_random(kit);
		memset(found, 0xa5, sizeof(found));
		transfer(kit, 1, buffer, 3 * shift, SIZE, sent + shift, 0);
		transfer(kit, 0, buffer, 3 * shift, SIZE, found + 16 - shift, 0);
		if (memcmp(sent + shift, found + 16 - shift, SIZE) != 0)
			kit_fail(kit, "at an address off by %llu the data read back differs",
				 (unsigned long long)shift);
		for (size_t i = 0; i < 16 - shift; i++)
			if (found[i] != 0xa5)
				kit_fail(kit, "a download wrote before its destination");
		for (size_t i = 16 - shift + SIZE; i < sizeof(found); i++)
			if (found[i] != 0xa5)
				kit_fail(kit, "a download wrote past its destination");
	}
	release(kit, buffer);
	kit_pass(kit);
}

void check_transfer_large(struct kit *kit)
{
	static const size_t mebibytes[] = {1, 16, 64};
	for (int i = 0; i < 3; i++) {
		size_t size = (mebibytes[i] << 20) + 5;
		uint64_t buffer;
		if (size > kit->description.max_alloc_bytes || !kit_reaches(kit, size))
			continue;
		kit_case(kit, TN_SLOT_UPLOAD, "upload and download: %zu bytes", size);
		if (allocate(kit, size, TN_MEMORY_DEVICE, &buffer))
			return kit_fail(kit, "alloc: %s", kit->error.text);
		keeps_bytes(kit, buffer, size);
		release(kit, buffer);
		kit_pass(kit);
	}
}

/* Many consecutive uploads to one place, followed by a download; the host memory stays unchanged
 * until the stream is synchronised, as TN_ASYNC requires. */
void check_transfer_order(struct kit *kit)
{
	enum { SIZE = 100000, TIMES = 20 };
	for (int is_async = 0; is_async < 2; is_async++) {
		uint32_t flags = is_async ? TN_ASYNC : 0;
		unsigned char *sent = memory(kit, (size_t)SIZE * TIMES), *found = memory(kit, SIZE);
		uint64_t buffer;
		kit_case(kit, TN_SLOT_UPLOAD, "upload: %d to the same place%s", TIMES,
			 is_async ? ", asynchronous" : "");
		if (allocate(kit, SIZE, TN_MEMORY_DEVICE, &buffer))
			kit_give_up(kit, "alloc: %s", kit->error.text);
		memset(found, 0, SIZE);
		for (int i = 0; i < TIMES; i++) {
			memset(sent + (size_t)i * SIZE, i + 1, SIZE);
			transfer(kit, 1, buffer, 0, SIZE, sent + (size_t)i * SIZE, flags);
		}
		transfer(kit, 0, buffer, 0, SIZE, found, flags);
		if (is_async)
			wait(kit);
		for (int i = 0; i < SIZE; i++)
			if (found[i] != TIMES)
				kit_fail(kit, "byte %d is that of upload %d of %d", i, found[i],
					 TIMES);
		release(kit, buffer);
		free(sent);
		free(found);
		kit_pass(kit);
	}
}
