/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Loads, stores, atomics, asynchronous copies and fences.  Cache hints are parsed and have no
 * effect.
 */
#include <stdio.h>
#include <string.h>

#include "ptx_memory.h"

#define SPACES "global shared shared::cta local const param param::entry param::func"
#define CACHES                                                                                     \
	"ca cg cs lu cv wb wt nc volatile relaxed acquire release acq_rel sc cta gpu sys cluster " \
	"weak "                                                                                    \
	"mmio unified L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last "        \
	"L1::no_allocate L2::64B L2::128B L2::256B L2::cache_hint L2::evict_last "                 \
	"L2::evict_normal L2::evict_first"

static enum ptx_space space_of(const struct ptx_reader *reader)
{
	return ptx_has(reader, "global")                                     ? PTX_GLOBAL
	       : ptx_has(reader, "shared") || ptx_has(reader, "shared::cta") ? PTX_SHARED
	       : ptx_has(reader, "local")                                    ? PTX_LOCAL
	       : ptx_has(reader, "const")                                    ? PTX_CONSTANT
	       : ptx_has(reader, "param") || ptx_has(reader, "param::entry") ||
			       ptx_has(reader, "param::func")
		       ? PTX_PARAMETER
		       : PTX_GENERIC;
}

int ptx_read_access(struct ptx_reader *reader, unsigned operand, struct ptx_access *access)
{
	const struct ptx_operand *address = ptx_top(reader, operand);
	if (address->kind != PTX_OPERAND_ADDRESS)
		return ptx_refuse(reader, "%s: an [address] is expected", reader->now.text);
	access->offset = address->offset;
	access->span = (uint32_t)reader->module->span_count++;
	size_t grain = access->size > 4 ? 4 : access->size;
	if ((access->space == PTX_SHARED || access->space == PTX_GENERIC) &&
	    grain < reader->module->grain)
		reader->module->grain = grain;
	if (address->symbol) {
		/* In a device function, parameters are local. */
		if (access->space == PTX_PARAMETER)
			access->space = address->symbol->space;
		access->offset += (int64_t)address->symbol->offset;
		if (address->symbol->is_extern) {
			access->base = PTX_DYNAMIC_PLACE * PTX_SLOT;
			access->address64 = 1;
		}
	} else if (address->place) {
		access->base = address->place;
		access->address64 = address->size == 8;
		if (address->size < 4)
			return ptx_refuse(reader, "%s: an address has 32 or 64 bits",
					  reader->now.text);
	}
	return 1;
}

static unsigned vector_count(const struct ptx_reader *reader)
{
	return ptx_has(reader, "v2")   ? 2
	       : ptx_has(reader, "v4") ? 4
	       : ptx_has(reader, "v8") ? 8
				       : 1;
}

/* The registers of a load or store; those of a store may be numbers. */
static int read_values(struct ptx_reader *reader, unsigned operand, struct ptx_access *access,
		       const struct ptx_type *type)
{
	struct ptx_operand *top = ptx_top(reader, operand);
	unsigned first =
		top->kind == PTX_OPERAND_VECTOR ? top->first : reader->now.operand[operand];
	unsigned count = top->kind == PTX_OPERAND_VECTOR ? top->count : 1;
	if (count != access->count)
		return ptx_refuse(reader, "%s: %u registers are expected, %u are found",
				  reader->now.text, access->count, count);
	for (unsigned i = 0; i < count; i++) {
		struct ptx_operand *value = &reader->operands[first + i];
		if (access->write) {
			access->place[i] = ptx_fetch_operand(reader, value, access->size, type);
			access->width[i] = access->size;
			continue;
		}
		if (value->kind == PTX_OPERAND_SINK)
			continue;
		if (value->kind != PTX_OPERAND_REGISTER || value->place < PTX_FIRST_PLACE ||
		    value->size < access->size || value->predicate)
			return ptx_refuse(reader, "%s: a register of %u bits is expected",
					  reader->now.text, access->size * 8u);
		access->place[i] = value->place;
		access->width[i] = value->size;
	}
	return 1;
}

static int load_or_store(struct ptx_reader *reader, int write)
{
	struct ptx_access *access = ptx_keep(reader->module, sizeof *access);
	if (!access)
		return ptx_refuse(reader, "out of memory");
	if (!ptx_modifiers(reader, SPACES " v2 v4 v8 " CACHES) || !ptx_wants(reader, 2, 3))
		return 0;
	const struct ptx_type *type = ptx_type_at(reader, 0);
	access->space = space_of(reader);
	access->size = type->size;
	access->count = (uint8_t)vector_count(reader);
	access->sign = type->kind == 's';
	access->write = (uint8_t)write;
	/* Intentional concurrent accesses are not races. */
	access->strong = ptx_has(reader, "volatile") || ptx_has(reader, "relaxed") ||
			 ptx_has(reader, "acquire") || ptx_has(reader, "release");
	if (type->kind == 'p' || reader->now.type_count != 1)
		return ptx_refuse(reader, "%s: unknown type", reader->now.text);
	return ptx_read_access(reader, write ? 0 : 1, access) &&
	       read_values(reader, write ? 1 : 0, access, type) &&
	       ptx_action_step(reader, write ? ptx_store : ptx_load, access) != NULL;
}

static int load(struct ptx_reader *reader)
{
	return load_or_store(reader, 0);
}

static int store(struct ptx_reader *reader)
{
	return load_or_store(reader, 1);
}

static const char *const operations[] = {"add", "min", "max", "and",  "or",
					 "xor", "inc", "dec", "exch", "cas"};

static int atomic(struct ptx_reader *reader)
{
	struct ptx_atomic *atomic = ptx_keep(reader->module, sizeof *atomic);
	int has_result = strcmp(reader->now.part[0], "atom") == 0;
	unsigned n = reader->now.operands, at = has_result ? 1 : 0, found = 10;
	if (!atomic)
		return ptx_refuse(reader, "out of memory");
	if (!ptx_modifiers(reader,
			   SPACES " add min max and or xor inc dec exch cas noftz " CACHES) ||
	    !ptx_wants(reader, at + 2, at + 3))
		return 0;
	const struct ptx_type *type = ptx_type_at(reader, 0);
	for (unsigned i = 0; i < 10; i++)
		if (ptx_has(reader, operations[i]))
			found = i;
	int is_cas = found == PTX_ATOMIC_CAS;
	if (found == 10 || type->size > 8 || type->size < 2 || n != at + (is_cas ? 3 : 2))
		return ptx_refuse(reader, "%s: unknown atomic operation", reader->now.text);
	atomic->operation = (enum ptx_atomic_operation)found;
	atomic->kind = type->kind;
	atomic->pair = type->pair;
	atomic->access.space = space_of(reader);
	atomic->access.size = type->size;
	atomic->access.count = 1;
	atomic->access.write = 1;
	if (!ptx_read_access(reader, at, &atomic->access))
		return 0;
	atomic->b = ptx_fetch(reader, at + 1, type->size, type);
	atomic->c = is_cas ? ptx_fetch(reader, at + 2, type->size, type) : 0;
	atomic->d = has_result ? ptx_target(reader, 0, type->size, type->kind == 's') : 0;
	return ptx_action_step(reader, ptx_run_atomic, atomic) != NULL;
}

/* cp.async.ca.shared.global [to], [from], bytes {, bytes read | predicate}; its groups are no-ops,
 * as copies are done at once. */
static int copy_async(struct ptx_reader *reader)
{
	struct ptx_copy *copy = ptx_keep(reader->module, sizeof *copy);
	if (!copy)
		return ptx_refuse(reader, "out of memory");
	if (!ptx_modifiers(reader, SPACES " async commit_group wait_group wait_all " CACHES))
		return 0;
	if (!ptx_has(reader, "async"))
		return ptx_refuse(reader, "unknown opcode '%s'", reader->now.text);
	if (ptx_has(reader, "commit_group") || ptx_has(reader, "wait_group") ||
	    ptx_has(reader, "wait_all"))
		return ptx_lane_step(reader, "mov_b32", 4, ptx_scratch(reader), 0, 0, 0);
	if (!ptx_wants(reader, 3, 4))
		return 0;
	uint64_t size = ptx_top(reader, 2)->number;
	if (ptx_top(reader, 2)->kind != PTX_OPERAND_NUMBER ||
	    (size != 4 && size != 8 && size != 16))
		return ptx_refuse(reader, "%s: copies 4, 8 or 16 bytes", reader->now.text);
	copy->to.space = PTX_SHARED;
	copy->from.space = PTX_GLOBAL;
	copy->to.size = copy->from.size = (uint8_t)size;
	copy->to.count = copy->from.count = 1;
	copy->to.write = 1;
	if (reader->now.operands == 4 && ptx_top(reader, 3)->predicate)
		copy->ignore = ptx_predicate(reader, ptx_top(reader, 3));
	else if (reader->now.operands == 4)
		copy->bytes = ptx_fetch(reader, 3, 4, NULL);
	return ptx_read_access(reader, 0, &copy->to) && ptx_read_access(reader, 1, &copy->from) &&
	       ptx_action_step(reader, ptx_copy_async, copy) != NULL;
}

/* Blocks and warps run one after another, so memory is always in order. */
static int fence(struct ptx_reader *reader)
{
	if (!ptx_modifiers(reader,
			   "cta gl sys gpu cluster acq_rel sc proxy async global shared::cta"))
		return 0;
	return ptx_lane_step(reader, "mov_b32", 4, ptx_scratch(reader), 0, 0, 0);
}

/* Prefetches have no visible effect. */
static int prefetch(struct ptx_reader *reader)
{
	if (!ptx_modifiers(reader, "global local L1 L2 L2::evict_last L2::evict_normal"))
		return 0;
	return ptx_lane_step(reader, "mov_b32", 4, ptx_scratch(reader), 0, 0, 0);
}

static const struct ptx_opcode opcodes[] = {
	{"atom", atomic}, {"cp", copy_async}, {"fence", fence},       {"ld", load},
	{"ldu", load},    {"membar", fence},  {"prefetch", prefetch}, {"prefetchu", prefetch},
	{"red", atomic},  {"st", store},
};

const struct ptx_opcode_table ptx_memory_opcodes = {opcodes, sizeof opcodes / sizeof *opcodes};
