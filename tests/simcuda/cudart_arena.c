/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The addresses of the devices' memory, which the host may not touch: under a memory protection key
 * where the processor has them, by mprotect where not (slow when much is in use).
 */
#include "cudart.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

struct arena {
	char *base;
	size_t span, high; /* bytes reserved; bytes from the base that were ever in use */
	uint16_t *blocks;  /* how many lie in each page */
};

static struct arena arenas[SIM_MAX_DEVICES];
static int key = -1; /* of the protection; -1 before the first, -2 for mprotect */
static _Thread_local unsigned depth;

/* Addresses cost nothing: a block's are used again only when all have been used. */
static size_t span_of_device(void)
{
	size_t least = (size_t)16 << 30, wanted = 16 * sim_settings.memory;
	return wanted > least ? wanted : least;
}

static void choose_key(void)
{
	if (key != -1)
		return;
	key = sim_settings.keys ? pkey_alloc(0, PKEY_DISABLE_ACCESS) : -2;
	if (key < 0)
		key = -2;
}

static void protect(struct arena *arena, size_t size)
{
	if (key >= 0)
		pkey_mprotect(arena->base, size, PROT_READ | PROT_WRITE, key);
	else
		mprotect(arena->base, size, PROT_NONE);
}

static int reserve(struct arena *arena)
{
	size_t span = span_of_device();
	choose_key();
	void *base =
		mmap(NULL, span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED)
		return -1;
	arena->blocks = calloc(span / PAGE + 1, sizeof(*arena->blocks));
	if (!arena->blocks) {
		munmap(base, span);
		return -1;
	}
	arena->base = base;
	arena->span = span;
	arena->high = 0;
	protect(arena, span);
	return 0;
}

uint64_t sim_arena_base(int device)
{
	struct arena *arena = &arenas[device];
	if (!arena->base && reserve(arena))
		return 0;
	return (uint64_t)(uintptr_t)arena->base;
}

uint64_t sim_arena_end(int device)
{
	return (uint64_t)(uintptr_t)arenas[device].base + arenas[device].span;
}

int sim_arena_device(uint64_t address)
{
	for (int i = 0; i < SIM_MAX_DEVICES; i++)
		if (arenas[i].base && address >= (uint64_t)(uintptr_t)arenas[i].base &&
		    address < sim_arena_end(i))
			return i;
	return -1;
}

static void change_all(int protection)
{
	for (int i = 0; i < SIM_MAX_DEVICES; i++)
		if (arenas[i].base && arenas[i].high > 0)
			mprotect(arenas[i].base, arenas[i].high, protection);
}

void sim_arena_open(void)
{
	if (depth++ > 0)
		return;
	if (key >= 0)
		pkey_set(key, 0);
	else if (key == -2)
		change_all(PROT_READ | PROT_WRITE);
}

void sim_arena_close(void)
{
	if (--depth > 0)
		return;
	if (key >= 0)
		pkey_set(key, PKEY_DISABLE_ACCESS);
	else if (key == -2)
		change_all(PROT_NONE);
}

void sim_arena_take(uint64_t address, size_t size)
{
	struct arena *arena = &arenas[sim_arena_device(address)];
	size_t first = address - (uint64_t)(uintptr_t)arena->base, last = first + size;
	size_t high = (last + PAGE - 1) / PAGE * PAGE;
	for (size_t page = first / PAGE; page * PAGE < last; page++)
		arena->blocks[page]++;
	if (high > arena->high)
		arena->high = high;
}

static void give_pages(struct arena *arena, size_t first, size_t end)
{
	if (end > first)
		madvise(arena->base + first * PAGE, (end - first) * PAGE, MADV_DONTNEED);
}

void sim_arena_give(uint64_t address, size_t size)
{
	struct arena *arena = &arenas[sim_arena_device(address)];
	size_t first = address - (uint64_t)(uintptr_t)arena->base;
	size_t page = first / PAGE, end = (first + size + PAGE - 1) / PAGE, run = page;
	for (; page < end; page++)
		if (--arena->blocks[page] > 0) {
			give_pages(arena, run, page);
			run = page + 1;
		}
	give_pages(arena, run, end);
}

void sim_arena_restart(void)
{
	for (int i = 0; i < SIM_MAX_DEVICES; i++) {
		if (arenas[i].base)
			munmap(arenas[i].base, arenas[i].span);
		free(arenas[i].blocks);
		arenas[i] = (struct arena){0};
	}
	if (key >= 0)
		pkey_free(key);
	key = -1;
}
