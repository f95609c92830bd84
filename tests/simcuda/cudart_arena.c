/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The addresses of the devices' memory.  Access to them is forbidden: they are mapped without
 * permissions.  The bytes lie in a file in memory that is mapped a second time elsewhere, where the
 * simulation reads and writes them (sim_memory).  So permissions never change, which would cost
 * more than a small kernel.
 */
#include "cudart.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096 };

/* Of all devices, one behind the other. */
static struct {
	char *addresses, *bytes; /* the addresses used by work, and the bytes */
	size_t span;             /* of one device */
	size_t total;
	uint16_t *blocks; /* how many lie in each page */
	int file;
} arena = {.file = -1};

/* Addresses cost little: they are reused only after all have been used, which is 16 times the
 * memory where that is not very large. */
static size_t span_of_device(void)
{
	const size_t least = (size_t)16 << 30, most = (size_t)256 << 30;
	size_t memory = 0;
	for (int i = 0; i < sim_settings.devices; i++)
		if (sim_settings.models[i].memory > memory)
			memory = sim_settings.models[i].memory;
	size_t wanted = 16 * memory < most ? 16 * memory : memory < most ? most : memory;
	return wanted > least ? wanted : least;
}

static char *map(int protection)
{
	void *at = mmap(NULL, arena.total, protection, MAP_SHARED | MAP_NORESERVE, arena.file, 0);
	return at == MAP_FAILED ? NULL : at;
}

void sim_arena_restart(void)
{
	if (arena.addresses)
		munmap(arena.addresses, arena.total);
	if (arena.bytes)
		munmap(arena.bytes, arena.total);
	if (arena.file >= 0)
		close(arena.file);
	free(arena.blocks);
	memset(&arena, 0, sizeof(arena));
	arena.file = -1;
}

static int reserve(void)
{
	arena.span = span_of_device();
	arena.total = arena.span * (size_t)sim_settings.devices;
	arena.file = memfd_create("simcuda", MFD_CLOEXEC);
	if (arena.file < 0 || ftruncate(arena.file, (off_t)arena.total))
		return -1;
	arena.addresses = map(PROT_NONE);
	arena.bytes = map(PROT_READ | PROT_WRITE);
	arena.blocks = calloc(arena.total / PAGE + 1, sizeof(*arena.blocks));
	return arena.addresses && arena.bytes && arena.blocks ? 0 : -1;
}

uint64_t sim_arena_base(int device)
{
	if (!arena.addresses && reserve()) {
		sim_arena_restart();
		return 0;
	}
	return (uint64_t)(uintptr_t)arena.addresses + (size_t)device * arena.span;
}

uint64_t sim_arena_end(int device)
{
	return sim_arena_base(device) + arena.span;
}

int sim_arena_device(uint64_t address)
{
	uint64_t offset = address - (uint64_t)(uintptr_t)arena.addresses;
	return arena.addresses && offset < arena.total ? (int)(offset / arena.span) : -1;
}

struct ptx_window sim_arena_window(void)
{
	return (struct ptx_window){(uint64_t)(uintptr_t)arena.addresses, arena.total,
				   (uint64_t)(uintptr_t)arena.bytes};
}

void *sim_memory(const void *address)
{
	uint64_t at = (uint64_t)(uintptr_t)address;
	if (sim_arena_device(at) < 0)
		return (void *)(uintptr_t)address;
	return arena.bytes + (at - (uint64_t)(uintptr_t)arena.addresses);
}

void sim_arena_take(uint64_t address, size_t size)
{
	size_t first = address - (uint64_t)(uintptr_t)arena.addresses, last = first + size;
	for (size_t page = first / PAGE; page * PAGE < last; page++)
		arena.blocks[page]++;
}

static void give_pages(size_t first, size_t end)
{
	if (end > first)
		(void)fallocate(arena.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				(off_t)(first * PAGE), (off_t)((end - first) * PAGE));
}

void sim_arena_give(uint64_t address, size_t size)
{
	size_t first = address - (uint64_t)(uintptr_t)arena.addresses;
	size_t page = first / PAGE, end = (first + size + PAGE - 1) / PAGE, run = page;
	for (; page < end; page++)
		if (--arena.blocks[page] > 0) {
			give_pages(run, page);
			run = page + 1;
		}
	give_pages(run, end);
}
