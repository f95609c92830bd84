/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Atomic operations: lane after lane, in reverse if the launch's seed is odd.
 */
#include <string.h>

#include "ptx_memory.h"
#include "ptx_small.h"
#include "ptx_warp.h"

static uint64_t mask_of(size_t size)
{
	return size == 8 ? UINT64_MAX : (1ull << size * 8) - 1;
}

static int64_t extended(uint64_t x, size_t size)
{
	unsigned rest = 64 - 8 * (unsigned)size;
	return (int64_t)(x << rest) >> rest;
}

static int less(uint64_t x, uint64_t y, char kind, size_t size)
{
	return kind == 's' ? extended(x, size) < extended(y, size) : x < y;
}

static uint64_t whole(const struct ptx_atomic *atomic, uint64_t old, uint64_t b, uint64_t c)
{
	size_t size = atomic->access.size;
	switch (atomic->operation) {
	case PTX_ATOMIC_ADD:
		return (old + b) & mask_of(size);
	case PTX_ATOMIC_MIN:
		return less(b, old, atomic->kind, size) ? b : old;
	case PTX_ATOMIC_MAX:
		return less(old, b, atomic->kind, size) ? b : old;
	case PTX_ATOMIC_AND:
		return old & b;
	case PTX_ATOMIC_OR:
		return old | b;
	case PTX_ATOMIC_XOR:
		return old ^ b;
	case PTX_ATOMIC_INC:
		return old >= b ? 0 : old + 1;
	case PTX_ATOMIC_DEC:
		return old == 0 || old > b ? b : old - 1;
	case PTX_ATOMIC_CAS:
		return old == b ? c : old;
	default:
		return b;
	}
}

static double combine(const struct ptx_atomic *atomic, double x, double y)
{
	if (atomic->operation == PTX_ATOMIC_ADD)
		return x + y;
	if (x != x || y != y)
		return x != x ? y : x;
	return atomic->operation == PTX_ATOMIC_MIN ? (y < x ? y : x) : (x < y ? y : x);
}

static uint32_t single_bits(float x)
{
	uint32_t bits;
	memcpy(&bits, &x, sizeof bits);
	return bits;
}

static uint16_t small(const struct ptx_atomic *atomic, uint16_t x, uint16_t y)
{
	int is_half = atomic->kind == 'h';
	float a = ptx_from_bits(is_half ? ptx_widen_half(x) : (uint32_t)x << 16);
	float b = ptx_from_bits(is_half ? ptx_widen_half(y) : (uint32_t)y << 16);
	uint32_t sum = single_bits((float)combine(atomic, a, b));
	return is_half ? ptx_half(sum, PTX_NEAREST) : ptx_bhalf(sum, PTX_NEAREST);
}

static uint64_t real(const struct ptx_atomic *atomic, uint64_t old, uint64_t b)
{
	double x, y;
	if (atomic->kind == 'h' || atomic->kind == 't') {
		uint32_t low = small(atomic, (uint16_t)old, (uint16_t)b);
		uint32_t high = atomic->pair
					? small(atomic, (uint16_t)(old >> 16), (uint16_t)(b >> 16))
					: 0u;
		return high << 16 | low;
	}
	if (atomic->access.size == 4) {
		float a = ptx_from_bits((uint32_t)old), c = ptx_from_bits((uint32_t)b);
		return single_bits(
			atomic->operation == PTX_ATOMIC_ADD ? a + c : (float)combine(atomic, a, c));
	}
	memcpy(&x, &old, sizeof x);
	memcpy(&y, &b, sizeof y);
	x = combine(atomic, x, y);
	memcpy(&old, &x, sizeof old);
	return old;
}

static uint64_t value_of(const struct ptx_warp *warp, int32_t place, size_t size, unsigned lane)
{
	uint64_t value = 0;
	if (place)
		memcpy(&value, (const char *)ptx_lane_source(warp, place) + size * lane, size);
	return value;
}

static int one(struct ptx_warp *warp, const struct ptx_step *step, const struct ptx_spot *spot,
	       unsigned lane)
{
	const struct ptx_atomic *atomic = step->extra;
	size_t size = atomic->access.size;
	uint64_t old = 0, b = value_of(warp, atomic->b, size, lane);
	uint64_t c = value_of(warp, atomic->c, size, lane);
	int moves = atomic->operation == PTX_ATOMIC_EXCH || atomic->operation == PTX_ATOMIC_CAS;
	int is_whole = moves || strchr("usb", atomic->kind) != NULL;
	if ((spot->shared >> lane & 1) &&
	    !ptx_watch(warp, step, lane, (uint32_t)spot->address[lane], size, PTX_ATOMIC, &b))
		return 0;
	memcpy(&old, spot->pointer[lane], size);
	uint64_t made = is_whole ? whole(atomic, old, b, c) : real(atomic, old, b);
	memcpy(spot->pointer[lane], &made, size);
	if (atomic->d)
		memcpy((char *)ptx_register(warp, atomic->d) + size * lane, &old, size);
	return 1;
}

enum ptx_next ptx_run_atomic(struct ptx_warp *warp, const struct ptx_step *step, uint32_t mask)
{
	const struct ptx_atomic *atomic = step->extra;
	struct ptx_spot spot;
	unsigned flip = warp->run->launch->order_seed & 1 ? PTX_LANES - 1 : 0;
	if (!ptx_locate(warp, step, &atomic->access, mask, atomic->access.size, 1, &spot))
		return PTX_FAILED;
	for (unsigned l = 0; l < PTX_LANES; l++)
		if ((mask >> (l ^ flip) & 1) && !one(warp, step, &spot, l ^ flip))
			return PTX_FAILED;
	return PTX_ON;
}
