/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Blocks of device memory.  Addresses only increase: freed blocks are remembered, so that a use
 * after free is detected and named, and there is a gap after each block.  New memory is all NaN.
 */
#include "cudart.h"

#include <stdio.h>
#include <string.h>

#include "simcuda.h"

enum { MAX_REMEMBERED = 1 << 16, MAX_BLOCKS = 2 * MAX_REMEMBERED, MAX_POISONED = 1 << 22 };

/* The memory of all of them is here and not malloc's, so that a test that looks for leaks of a
 * program does not see freed blocks as such. */
static struct sim_block records[MAX_BLOCKS];
static struct sim_block *unused[MAX_BLOCKS];
static size_t n_records, n_unused;

static struct sim_block *blocks[MAX_BLOCKS]; /* by address, freed ones too */
static size_t n_blocks, n_freed;
static size_t used[SIM_MAX_DEVICES];
static uint64_t cursors[SIM_MAX_DEVICES];
static uint64_t next_number;

/* The first block that begins after the address. */
static size_t find_after(uint64_t address)
{
	size_t low = 0, high = n_blocks;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (blocks[middle]->address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct sim_block *sim_block_find(uint64_t address)
{
	size_t after = find_after(address);
	return after > 0 ? blocks[after - 1] : NULL;
}

static void forget_freed(int all)
{
	size_t kept = 0;
	for (size_t i = 0; i < n_blocks; i++)
		if (blocks[i]->state == SIM_FREED && (all || !blocks[i]->kept))
			unused[n_unused++] = blocks[i];
		else
			blocks[kept++] = blocks[i];
	n_blocks = kept;
	n_freed = 0;
}

/* NULL: there are too many. */
static struct sim_block *take_record(void)
{
	if (n_unused)
		return unused[--n_unused];
	return n_records < MAX_BLOCKS ? &records[n_records++] : NULL;
}

static void insert(struct sim_block *block)
{
	size_t at = find_after(block->address);
	memmove(blocks + at + 1, blocks + at, (n_blocks - at) * sizeof(struct sim_block *));
	blocks[at] = block;
	n_blocks++;
}

/* The addresses of a block: itself and a gap, so that an overrun does not reach another block. */
static size_t room_for(size_t size)
{
	return (size + 2 * SIM_ALIGNMENT - 1) / SIM_ALIGNMENT * SIM_ALIGNMENT;
}

/* An address with enough room, from `from` on; 0: none before the end. */
static uint64_t find_gap(uint64_t from, uint64_t end, size_t room)
{
	size_t next = find_after(from);
	if (next > 0 && blocks[next - 1]->address + room_for(blocks[next - 1]->size) > from)
		from = blocks[next - 1]->address + room_for(blocks[next - 1]->size);
	while (next < n_blocks && blocks[next]->address < end &&
	       blocks[next]->address < from + room) {
		from = blocks[next]->address + room_for(blocks[next]->size);
		next++;
	}
	return from + room <= end ? from : 0;
}

static uint64_t take_address(int device, size_t room)
{
	uint64_t base = sim_arena_base(device);
	if (!base)
		return 0;
	if (n_freed > MAX_REMEMBERED)
		forget_freed(0);
	if (cursors[device] < base)
		cursors[device] = base;
	uint64_t address = find_gap(cursors[device], sim_arena_end(device), room);
	if (!address) {
		forget_freed(0);
		address = find_gap(base, sim_arena_end(device), room);
	}
	if (address)
		cursors[device] = address + room;
	return address;
}

static void poison(uint64_t address, size_t size)
{
	char *bytes = sim_memory((void *)(uintptr_t)address);
	if (size <= 2 * MAX_POISONED) {
		memset(bytes, 0xff, size);
	} else {
		memset(bytes, 0xff, MAX_POISONED);
		memset(bytes + size - MAX_POISONED, 0xff, MAX_POISONED);
	}
}

/* Bytes that can be allocated. */
static size_t room_of(int device)
{
	const struct sim_device *own = sim_device(device);
	size_t free_bytes = own->model.memory - used[device];
	return free_bytes > own->withheld ? free_bytes - own->withheld : 0;
}

void sim_block_limit(int device, size_t bytes)
{
	sim_device(device)->withheld = 0;
	size_t room = room_of(device);
	sim_device(device)->withheld = room > bytes ? room - bytes : 0;
}

struct sim_block *sim_block_make(int device, size_t size, enum sim_state state)
{
	if (size > room_of(device))
		return NULL;
	uint64_t address = take_address(device, room_for(size));
	struct sim_block *block = address ? take_record() : NULL;
	if (!block)
		return NULL;
	*block = (struct sim_block){.address = address,
				    .number = ++next_number,
				    .size = size,
				    .device = device,
				    .state = state};
	insert(block);
	used[device] += size;
	sim_arena_take(address, room_for(size));
	poison(address, size);
	return block;
}

/* A graph may restore a block that it freed. */
void sim_block_live(struct sim_block *block)
{
	if (block->state == SIM_FREED) {
		n_freed--;
		used[block->device] += block->size;
		sim_arena_take(block->address, room_for(block->size));
		sim_pool_count(block->pool, block->size, 0);
	}
	block->state = SIM_LIVE;
}

void sim_block_free(struct sim_block *block)
{
	if (block->state == SIM_FREED)
		return;
	block->state = SIM_FREED;
	n_freed++;
	used[block->device] -= block->size;
	sim_arena_give(block->address, room_for(block->size));
	sim_pool_count(block->pool, 0, block->size);
}

size_t sim_block_used(int device)
{
	return used[device];
}

size_t sim_blocks_live(char *report, size_t size)
{
	size_t live = 0, length = 0;
	for (size_t i = 0; i < n_blocks; i++) {
		const struct sim_block *block = blocks[i];
		if (block->state == SIM_FREED)
			continue;
		live++;
		if (length < size)
			length += (size_t)snprintf(report + length, size - length,
						   "block %llu of %zu bytes on device %d\n",
						   (unsigned long long)block->number, block->size,
						   block->device);
	}
	return live;
}

void sim_blocks_drop(int device)
{
	for (size_t i = 0; i < n_blocks; i++)
		if (device < 0 || blocks[i]->device == device)
			sim_block_free(blocks[i]);
	if (device >= 0)
		return;
	forget_freed(1);
	next_number = 0;
	memset(cursors, 0, sizeof(cursors));
}

/* ---- May it be touched? ----------------------------------------------------------------------*/

static char reason[256];

static const char *no_block(int device, uint64_t address, const struct sim_block *before)
{
	if (before && before->device == device)
		snprintf(reason, sizeof(reason),
			 "%#llx is %llu bytes past block %llu of %zu bytes%s",
			 (unsigned long long)address,
			 (unsigned long long)(address - before->address - before->size),
			 (unsigned long long)before->number, before->size,
			 before->state == SIM_FREED ? ", which was freed" : "");
	else
		snprintf(reason, sizeof(reason), "%#llx is in no block of memory",
			 (unsigned long long)address);
	return reason;
}

static const char *check_block(const struct sim_block *block, uint64_t address, size_t size)
{
	if (address + size > block->address + block->size) {
		snprintf(reason, sizeof(reason),
			 "%zu bytes at %#llx run over the end of block %llu of %zu bytes%s", size,
			 (unsigned long long)address, (unsigned long long)block->number,
			 block->size, block->state == SIM_FREED ? ", which was freed" : "");
		return reason;
	}
	if (block->state == SIM_LIVE || block->state == SIM_FREEING)
		return NULL;
	snprintf(reason, sizeof(reason), "%#llx is in block %llu of %zu bytes, %s",
		 (unsigned long long)address, (unsigned long long)block->number, block->size,
		 block->state == SIM_FREED ? "which was freed"
					   : "whose allocation its stream has not reached");
	return reason;
}

static const char *check_host(uint64_t address, size_t size)
{
	const struct sim_pinned *pinned = sim_pinned_find(address);
	if (pinned && address + size <= pinned->address + pinned->size)
		return NULL;
	if (sim_is_variable(address, size))
		return NULL;
	snprintf(reason, sizeof(reason), "%#llx is an address of the host%s",
		 (unsigned long long)address,
		 pinned ? ", past the end of pinned memory" : " that is not pinned");
	return reason;
}

/* The memory of pools has rules of its own. */
static int reaches(int device, const struct sim_block *block)
{
	return block->pool ? sim_pool_reaches(block->pool, device)
			   : (sim_device(device)->peers >> block->device & 1) != 0;
}

const char *sim_touch(int device, uint64_t address, size_t size, int write)
{
	int home = sim_arena_device(address);
	(void)write;
	if (home < 0)
		return check_host(address, size);
	const struct sim_block *block = sim_block_find(address);
	if (!block || block->device != home || address >= block->address + block->size)
		return no_block(home, address, block);
	if (home != device && !reaches(device, block)) {
		snprintf(reason, sizeof(reason),
			 "%#llx is on device %d, which device %d may not reach",
			 (unsigned long long)address, home, device);
		return reason;
	}
	return check_block(block, address, size);
}
