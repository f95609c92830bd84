/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Loads and stores.  The span of a warp's addresses is checked first, and lane by lane only if the
 * span is refused.
 */
#include "ptx_memory.h"

#include <string.h>

#include "ptx_warp.h"

#define AHEAD 65536 /* bytes checked ahead */

static const char *const space_names[] = {"generic", "global",    "shared",  "local",
					  "const",   "parameter", "register"};

/* The whole variable of the module that holds the span. */
static int in_variable(const struct ptx_module *module, uint64_t low, uint64_t high,
		       struct ptx_span *span)
{
	for (size_t i = 0; i < module->variable_count; i++) {
		uint64_t start = (uint64_t)(uintptr_t)module->variables[i].data;
		if (low >= start && high <= start + module->variables[i].size) {
			span->low = start;
			span->high = start + module->variables[i].size;
			return 1;
		}
	}
	return 0;
}

/* NULL, or why the span is not allowed.  Caches allowed spans. */
static const char *ask(struct ptx_run *run, struct ptx_span *span, uint64_t low, uint64_t high,
		       int write)
{
	const struct ptx_launch *launch = run->launch;
	if (low >= span->low && high <= span->high)
		return NULL;
	if (in_variable(run->module, low, high, span) || !launch->check)
		return NULL;
	if (high < low)
		return "wraps round the end of the addresses";
	const char *reason = launch->check(launch->arg, low, high - low, write);
	if (reason)
		return reason;
	uint64_t further = high + AHEAD;
	if (further > high && !launch->check(launch->arg, low, further - low, write))
		high = further;
	if (low <= span->high && high >= span->low) {
		low = low < span->low ? low : span->low;
		high = high > span->high ? high : span->high;
	}
	span->low = low;
	span->high = high;
	return NULL;
}

static int refuse(struct ptx_warp *warp, const struct ptx_step *step, unsigned lane, int write,
		  size_t bytes, enum ptx_space space, uint64_t address, const char *reason)
{
	ptx_fail(warp, step, lane, 700, "%zu bytes at %s address 0x%llx must not be %s: %s", bytes,
		 space_names[space], (unsigned long long)address, write ? "written" : "read",
		 reason);
	return 0;
}

static int check_global(struct ptx_warp *warp, const struct ptx_step *step,
			const struct ptx_access *access, uint32_t mask, size_t bytes, int write,
			const uint64_t *address)
{
	struct ptx_run *run = warp->run;
	struct ptx_span *span = (write ? run->writes : run->reads) + access->span;
	uint64_t low = UINT64_MAX, high = 0;
	for (unsigned l = 0; l < PTX_LANES; l++) {
		uint64_t a = mask >> l & 1 ? address[l] : UINT64_MAX;
		uint64_t b = mask >> l & 1 ? address[l] : 0;
		low = a < low ? a : low;
		high = b > high ? b : high;
	}
	if (high + bytes >= high && !ask(run, span, low, high + bytes, write))
		return 1;
	for (unsigned l = 0; l < PTX_LANES; l++) {
		if (!(mask >> l & 1))
			continue;
		const char *reason = ask(run, span, address[l], address[l] + bytes, write);
		if (reason)
			return refuse(warp, step, l, write, bytes, PTX_GLOBAL, address[l], reason);
	}
	return 1;
}

/* The generic address's window, or the space that the opcode names. */
static enum ptx_space window(enum ptx_space space, uint64_t address)
{
	if (space != PTX_GENERIC)
		return space == PTX_CONSTANT ? PTX_GLOBAL : space;
	switch (address & PTX_WINDOW_MASK) {
	case PTX_SHARED_WINDOW:
		return PTX_SHARED;
	case PTX_LOCAL_WINDOW:
		return PTX_LOCAL;
	case PTX_PARAMETER_WINDOW:
		return PTX_PARAMETER;
	default:
		return PTX_GLOBAL;
	}
}

/* Distinct sectors of 32 bytes.  Usually the addresses ascend, and each is compared with the one
 * before. */
static uint64_t count_sectors(const uint64_t *address, uint32_t mask, size_t bytes)
{
	uint64_t seen[PTX_LANES * 2], count = 0;
	for (unsigned l = 0; l < PTX_LANES; l++) {
		if (!(mask >> l & 1))
			continue;
		for (uint64_t s = address[l] / 32; s <= (address[l] + bytes - 1) / 32; s++) {
			uint64_t i = count;
			while (i > 0 && seen[i - 1] != s && seen[i - 1] > s)
				i--;
			if (i > 0 && seen[i - 1] == s)
				continue;
			memmove(seen + i + 1, seen + i, (count - i) * sizeof *seen);
			seen[i] = s;
			count++;
		}
	}
	return count;
}

static void add_sectors(struct ptx_warp *warp, uint64_t n, int write)
{
	warp->run->counts.sectors += n;
	warp->run->counts.written += write ? n : 0;
}

/* A lane's bytes in shared, local or parameter memory; 0 if out of range. */
static int locate_inside(struct ptx_warp *warp, const struct ptx_step *step, unsigned lane,
			 size_t bytes, int write, struct ptx_spot *spot)
{
	enum ptx_space space = spot->space[lane];
	uint64_t offset = spot->address[lane] & UINT32_MAX;
	size_t local = warp->run->kernel->function->local_bytes;
	size_t size = space == PTX_SHARED  ? warp->block->shared_bytes
		      : space == PTX_LOCAL ? local
					   : warp->run->parameter_bytes;
	unsigned char *base = space == PTX_SHARED  ? warp->block->shared
			      : space == PTX_LOCAL ? warp->local + lane * local
						   : warp->run->parameters;
	if (offset + bytes > size)
		return refuse(warp, step, lane, write, bytes, space, offset, "it is past the end");
	if (write && space == PTX_PARAMETER)
		return refuse(warp, step, lane, write, bytes, space, offset, "it is constant");
	spot->pointer[lane] = base + offset;
	spot->address[lane] = offset;
	return 1;
}

static int misaligned(struct ptx_warp *warp, const struct ptx_step *step, unsigned lane,
		      size_t bytes, const struct ptx_spot *spot)
{
	ptx_fail(warp, step, lane, 716, "%zu bytes at %s address 0x%llx are not aligned", bytes,
		 space_names[spot->space[lane]], (unsigned long long)spot->address[lane]);
	return 0;
}

static void find_addresses(struct ptx_warp *warp, const struct ptx_access *access,
			   struct ptx_spot *spot)
{
	const void *base = ptx_lane_source(warp, access->base);
	uint64_t offset = (uint64_t)access->offset;
	if (access->address64)
		for (unsigned l = 0; l < PTX_LANES; l++)
			spot->address[l] = ((const uint64_t *)base)[l] + offset;
	else if (access->base)
		for (unsigned l = 0; l < PTX_LANES; l++)
			spot->address[l] = ((const uint32_t *)base)[l] + offset;
	else
		for (unsigned l = 0; l < PTX_LANES; l++)
			spot->address[l] = offset;
}

/* The bytes of global addresses. */
static void find_bytes(const struct ptx_run *run, struct ptx_spot *spot)
{
	const struct ptx_window window = run->launch->window;
	for (unsigned l = 0; l < PTX_LANES; l++) {
		uint64_t address = spot->address[l], offset = address - window.first;
		uint64_t at = offset < window.size ? window.bytes + offset : address;
		spot->pointer[l] = (unsigned char *)(uintptr_t)at;
	}
}

/* Are the addresses of all 32 lanes contiguous? */
static int side_by_side(const uint64_t *address, size_t bytes)
{
	uint64_t differs = 0, first = address[0];
	for (unsigned l = 0; l < PTX_LANES; l++)
		differs |= address[l] ^ (first + l * bytes);
	return !differs;
}

/* The common case of an access, by opcode and addresses: 1 if it was handled. */
static int locate_side_by_side(struct ptx_warp *warp, const struct ptx_access *access, size_t bytes,
			       int write, struct ptx_spot *spot)
{
	uint64_t low = spot->address[0], high = low + bytes * PTX_LANES;
	struct ptx_span *span = (write ? warp->run->writes : warp->run->reads) + access->span;
	if (low & (bytes - 1) || low < span->low || high > span->high || high < low)
		return 0;
	find_bytes(warp->run, spot);
	spot->shared = 0;
	add_sectors(warp, (high - 1) / 32 - low / 32 + 1, write);
	return 1;
}

/* Shared memory named by the opcode: one check of the highest offset. */
static int locate_shared(struct ptx_warp *warp, uint32_t mask, size_t bytes, struct ptx_spot *spot)
{
	uint64_t high = 0, bits = 0;
	for (unsigned l = 0; l < PTX_LANES; l++) {
		uint64_t offset = mask >> l & 1 ? spot->address[l] & UINT32_MAX : 0;
		bits |= offset;
		high = offset > high ? offset : high;
	}
	if (bits & (bytes - 1) || high + bytes > warp->block->shared_bytes)
		return 0;
	for (unsigned l = 0; l < PTX_LANES; l++) {
		spot->address[l] &= UINT32_MAX;
		spot->pointer[l] = warp->block->shared + spot->address[l];
	}
	spot->shared = mask;
	return 1;
}

/* The general case of an access, with fault reports. */
static int locate_any(struct ptx_warp *warp, const struct ptx_step *step,
		      const struct ptx_access *access, uint32_t mask, size_t bytes, int write,
		      struct ptx_spot *spot)
{
	uint32_t global = 0;
	uint64_t bits = 0;
	spot->shared = 0;
	for (unsigned l = 0; l < PTX_LANES; l++) {
		spot->space[l] = (uint8_t)window(access->space, spot->address[l]);
		global |= (uint32_t)(spot->space[l] == PTX_GLOBAL) << l;
		spot->shared |= (uint32_t)(spot->space[l] == PTX_SHARED) << l;
		bits |= mask >> l & 1 ? spot->address[l] : 0;
	}
	if (bits & (bytes - 1))
		for (unsigned l = 0; l < PTX_LANES; l++)
			if ((mask >> l & 1) && spot->address[l] & (bytes - 1))
				return misaligned(warp, step, l, bytes, spot);
	global &= mask;
	spot->shared &= mask;
	if (global) {
		if (!check_global(warp, step, access, global, bytes, write, spot->address))
			return 0;
		add_sectors(warp, count_sectors(spot->address, global, bytes), write);
	}
	find_bytes(warp->run, spot);
	for (unsigned l = 0; l < PTX_LANES; l++)
		if ((mask & ~global) >> l & 1 && !locate_inside(warp, step, l, bytes, write, spot))
			return 0;
	return 1;
}

int ptx_locate(struct ptx_warp *warp, const struct ptx_step *step, const struct ptx_access *access,
	       uint32_t mask, size_t bytes, int write, struct ptx_spot *spot)
{
	find_addresses(warp, access, spot);
	if (access->space == PTX_SHARED && locate_shared(warp, mask, bytes, spot))
		return 1;
	if (mask == UINT32_MAX && (access->space == PTX_GLOBAL || access->space == PTX_GENERIC) &&
	    side_by_side(spot->address, bytes) &&
	    locate_side_by_side(warp, access, bytes, write, spot))
		return 1;
	return locate_any(warp, step, access, mask, bytes, write, spot);
}

static void load_lane(void *to, const unsigned char *from, size_t size, size_t width, int sign)
{
	uint64_t value = 0;
	if (size == width) {
		memcpy(to, from, size);
		return;
	}
	memcpy(&value, from, size < 8 ? size : 8);
	if (sign && size < 8 && value >> (8 * size - 1))
		value |= ~0ull << 8 * size;
	memcpy(to, &value, width < 8 ? width : 8);
	if (width > 8)
		memset((char *)to + 8, 0, width - 8);
}

/* One element of every lane; the usual sizes are loops of their own. */
static void load_element(uint32_t mask, unsigned char *const *pointer, size_t at, void *to,
			 size_t size, size_t width, int sign)
{
	if (size == 4 && width == 4 && mask == UINT32_MAX) {
		uint32_t *d = to;
		for (unsigned l = 0; l < PTX_LANES; l++)
			memcpy(&d[l], pointer[l] + at, 4);
	} else if (size == 4 && width == 4) {
		uint32_t *d = to;
		for (unsigned l = 0; l < PTX_LANES; l++)
			if (mask >> l & 1)
				memcpy(&d[l], pointer[l] + at, 4);
	} else if (size == 8 && width == 8) {
		uint64_t *d = to;
		for (unsigned l = 0; l < PTX_LANES; l++)
			if (mask >> l & 1)
				memcpy(&d[l], pointer[l] + at, 8);
	} else {
		for (unsigned l = 0; l < PTX_LANES; l++)
			if (mask >> l & 1)
				load_lane((char *)to + l * width, pointer[l] + at, size, width,
					  sign);
	}
}

/* Usually parameters: the same bytes for all lanes. */
static enum ptx_next load_parameter(struct ptx_warp *warp, const struct ptx_step *step,
				    const struct ptx_access *access, uint32_t mask)
{
	const struct ptx_run *run = warp->run;
	unsigned char *pointer[PTX_LANES];
	if ((uint64_t)access->offset + access->size * access->count > run->parameter_bytes)
		return ptx_fail(warp, step, (unsigned)__builtin_ctz(mask), 700,
				"a parameter is read past its end");
	for (unsigned l = 0; l < PTX_LANES; l++)
		pointer[l] = run->parameters + access->offset;
	for (unsigned i = 0; i < access->count; i++)
		if (access->place[i])
			load_element(mask, pointer, i * access->size,
				     ptx_register(warp, access->place[i]), access->size,
				     access->width[i], access->sign);
	return PTX_ON;
}

enum ptx_next ptx_load(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
	const struct ptx_access *access = step->extra;
	size_t bytes = (size_t)access->size * access->count;
	struct ptx_spot spot;
	if (access->space == PTX_PARAMETER && !access->base)
		return load_parameter(warp, step, access, mask);
	if (!ptx_locate(warp, step, access, mask, bytes, 0, &spot))
		return PTX_FAILED;
	if (spot.shared && warp->block->shadow &&
	    !ptx_watch_reads(warp, step, &spot, bytes, access->strong ? PTX_ATOMIC : PTX_READ))
		return PTX_FAILED;
	for (unsigned i = 0; i < access->count; i++)
		if (access->place[i])
			load_element(mask, spot.pointer, i * access->size,
				     ptx_register(warp, access->place[i]), access->size,
				     access->width[i], access->sign);
	return PTX_ON;
}

/* A lane's bytes, put together from its registers. */
static void gather(const struct ptx_warp *warp, const struct ptx_access *access, unsigned lane,
		   unsigned char *bytes)
{
	for (unsigned i = 0; i < access->count; i++)
		memcpy(bytes + i * access->size,
		       (const char *)ptx_lane_source(warp, access->place[i]) + lane * access->size,
		       access->size);
}

/* With race detection, lane after lane: two lanes of one store may race too. */
static enum ptx_next store_watched(struct ptx_warp *warp, const struct ptx_step *step,
				   const struct ptx_access *access, uint32_t mask,
				   const struct ptx_spot *spot)
{
	unsigned char bytes[16 * PTX_VECTOR];
	size_t size = (size_t)access->size * access->count;
	for (unsigned l = 0; l < PTX_LANES; l++) {
		if (!(mask >> l & 1))
			continue;
		gather(warp, access, l, bytes);
		if ((spot->shared >> l & 1) &&
		    !ptx_watch(warp, step, l, (uint32_t)spot->address[l], size,
			       access->strong ? PTX_ATOMIC : PTX_WRITE, bytes))
			return PTX_FAILED;
		memcpy(spot->pointer[l], bytes, size);
	}
	return PTX_ON;
}

static void store_element(uint32_t mask, unsigned char *const *pointer, size_t at, const void *from,
			  size_t size)
{
	for (unsigned l = 0; l < PTX_LANES; l++) {
		if (!(mask >> l & 1))
			continue;
		if (size == 4)
			memcpy(pointer[l] + at, (const char *)from + 4ul * l, 4);
		else if (size == 8)
			memcpy(pointer[l] + at, (const char *)from + 8ul * l, 8);
		else
			memcpy(pointer[l] + at, (const char *)from + size * l, size);
	}
}

enum ptx_next ptx_store(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
	const struct ptx_access *access = step->extra;
	struct ptx_spot spot;
	if (!ptx_locate(warp, step, access, mask, (size_t)access->size * access->count, 1, &spot))
		return PTX_FAILED;
	if (spot.shared && warp->block->shadow)
		return store_watched(warp, step, access, mask, &spot);
	for (unsigned i = 0; i < access->count; i++)
		store_element(mask, spot.pointer, i * access->size,
			      ptx_lane_source(warp, access->place[i]), access->size);
	return PTX_ON;
}

enum ptx_next ptx_copy_async(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
	const struct ptx_copy *copy = step->extra;
	struct ptx_spot to, from;
	unsigned char bytes[16];
	size_t size = copy->to.size;
	uint32_t reading = mask;
	for (unsigned l = 0; l < PTX_LANES; l++)
		if ((copy->ignore && ptx_u32(warp, copy->ignore, l)) ||
		    (copy->bytes && ptx_u32(warp, copy->bytes, l) == 0))
			reading &= ~(1u << l);
	if (!ptx_locate(warp, step, &copy->to, mask, size, 1, &to) ||
	    (reading && !ptx_locate(warp, step, &copy->from, reading, size, 0, &from)))
		return PTX_FAILED;
	for (unsigned l = 0; l < PTX_LANES; l++) {
		if (!(mask >> l & 1))
			continue;
		size_t n = copy->bytes ? ptx_u32(warp, copy->bytes, l) : size;
		memset(bytes, 0, sizeof bytes);
		if (reading >> l & 1)
			memcpy(bytes, from.pointer[l], n < size ? n : size);
		if (!ptx_watch(warp, step, l, (uint32_t)to.address[l], size, PTX_WRITE, bytes))
			return PTX_FAILED;
		memcpy(to.pointer[l], bytes, size);
	}
	return PTX_ON;
}
