/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Logic, shifts, fields and permutations of bits.  A predicate is a register of 32 bits, all or
 * none set, so that logic of predicates is logic of b32.
 */
#include "ptx_levels.h"

static inline u32 reverse32(u32 x)
{
	x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
	x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
	x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
	return __builtin_bswap32(x);
}

static inline u64 reverse64(u64 x)
{
	return (u64)reverse32((u32)x) << 32 | reverse32((u32)(x >> 32));
}

static inline u32 highest32(u32 x)
{
	return x ? 31 - (u32)__builtin_clz(x) : UINT32_MAX;
}

static inline u32 highest64(u64 x)
{
	return x ? 63 - (u32)__builtin_clzll(x) : UINT32_MAX;
}

/* The n-th set bit at or after `base` (n > 0), at or before it (n < 0); `base` itself for 0. */
static inline u32 nth_set(u32 mask, u32 base, s32 n)
{
	int step = n < 0 ? -1 : 1;
	if (n == 0)
		return base < 32 && (mask >> base & 1) ? base : UINT32_MAX;
	u32 left = n < 0 ? 0 - (u32)n : (u32)n;
	for (s64 i = base; i >= 0 && i < 32; i += step)
		if ((mask >> i & 1) && --left == 0)
			return (u32)i;
	return UINT32_MAX;
}

/* Only the low byte of position and length counts. */
static inline u64 field_u(u64 x, u32 position, u32 length, u32 width)
{
	position &= 0xff;
	length &= 0xff;
	if (position >= width || length == 0)
		return 0;
	x >>= position;
	return length >= 64 ? x : x & ((1ull << length) - 1);
}

static inline u64 field_s(u64 x, u32 position, u32 length, u32 width)
{
	position &= 0xff;
	length &= 0xff;
	if (length == 0)
		return 0;
	u32 last = position + length - 1 < width - 1 ? position + length - 1 : width - 1;
	u64 sign = x >> last & 1;
	u32 taken = position >= width ? 0 : last - position + 1;
	u64 field = taken ? field_u(x, position, taken, width) : 0;
	return sign && taken < 64 ? field | ~0ull << taken : field;
}

static inline u64 insert(u64 x, u64 y, u32 position, u32 length, u32 width)
{
	position &= 0xff;
	length &= 0xff;
	if (position >= width || length == 0)
		return y;
	u64 mask = (length >= 64 ? ~0ull : (1ull << length) - 1) << position;
	return (y & ~mask) | (x << position & mask);
}

static inline u32 byte_of(u64 bytes, u32 selector)
{
	u32 byte = (u32)(bytes >> 8 * (selector & 7)) & 0xff;
	if (selector & 8)
		return byte & 0x80 ? 0xff : 0;
	return byte;
}

static inline u32 permute(u32 x, u32 y, u32 z)
{
	u64 bytes = (u64)y << 32 | x;
	return byte_of(bytes, z & 15) | byte_of(bytes, z >> 4 & 15) << 8 |
	       byte_of(bytes, z >> 8 & 15) << 16 | byte_of(bytes, z >> 12 & 15) << 24;
}

/* The special modes of prmt, as selectors of the plain mode. */
static inline u32 selector(u32 mode, u32 z)
{
	static const u16 table[6][4] = {
		{0x3210, 0x4321, 0x5432, 0x6543}, /* f4e */
		{0x5670, 0x6701, 0x7012, 0x0123}, /* b4e */
		{0x0000, 0x1111, 0x2222, 0x3333}, /* rc8 */
		{0x3210, 0x3211, 0x3222, 0x3333}, /* ecl */
		{0x0000, 0x1110, 0x2210, 0x3210}, /* ecr */
		{0x1010, 0x3232, 0x1010, 0x3232}, /* rc16 */
	};
	return table[mode][z & 3];
}

static inline u32 funnel_left(u32 low, u32 high, u32 n)
{
	return n == 0 ? high : n >= 32 ? low : high << n | low >> (32 - n);
}

static inline u32 funnel_right(u32 low, u32 high, u32 n)
{
	return n == 0 ? low : n >= 32 ? high : low >> n | high << (32 - n);
}

static inline u32 min_u(u32 x, u32 y)
{
	return x < y ? x : y;
}

#define ROWS(X)                                                                                    \
	X(mov_b8, u8, u8, u8, u8, x)                                                               \
	X(mov_b16, u16, u16, u16, u16, x)                                                          \
	X(mov_b32, u32, u32, u32, u32, x)                                                          \
	X(mov_b64, u64, u64, u64, u64, x)                                                          \
	X(mov_b128, u128, u128, u128, u128, x)                                                     \
	X(and_b16, u16, u16, u16, u16, x &y)                                                       \
	X(and_b32, u32, u32, u32, u32, x &y)                                                       \
	X(and_b64, u64, u64, u64, u64, x &y)                                                       \
	X(andn_b32, u32, u32, u32, u32, ~x &y)                                                     \
	X(or_b16, u16, u16, u16, u16, x | y)                                                       \
	X(or_b32, u32, u32, u32, u32, x | y)                                                       \
	X(or_b64, u64, u64, u64, u64, x | y)                                                       \
	X(xor_b16, u16, u16, u16, u16, x ^ y)                                                      \
	X(xor_b32, u32, u32, u32, u32, x ^ y)                                                      \
	X(xor_b64, u64, u64, u64, u64, x ^ y)                                                      \
	X(not_b16, u16, u16, u16, u16, ~x)                                                         \
	X(not_b32, u32, u32, u32, u32, ~x)                                                         \
	X(not_b64, u64, u64, u64, u64, ~x)                                                         \
	X(cnot_b16, u16, u16, u16, u16, x == 0)                                                    \
	X(cnot_b32, u32, u32, u32, u32, x == 0)                                                    \
	X(cnot_b64, u64, u64, u64, u64, x == 0)                                                    \
	X(shl_b16, u16, u16, u32, u32, y < 16 ? (u32)x << y : 0)                                   \
	X(shl_b32, u32, u32, u32, u32, y < 32 ? x << y : 0)                                        \
	X(shl_b64, u64, u64, u32, u32, y < 64 ? x << y : 0)                                        \
	X(shr_u16, u16, u16, u32, u32, y < 16 ? x >> y : 0)                                        \
	X(shr_u32, u32, u32, u32, u32, y < 32 ? x >> y : 0)                                        \
	X(shr_u64, u64, u64, u32, u32, y < 64 ? x >> y : 0)                                        \
	X(shr_s16, s16, s16, u32, u32, x >> min_u(y, 15))                                          \
	X(shr_s32, s32, s32, u32, u32, x >> min_u(y, 31))                                          \
	X(shr_s64, s64, s64, u32, u32, x >> min_u(y, 63))                                          \
	X(popc_b32, u32, u32, u32, u32, __builtin_popcount(x))                                     \
	X(popc_b64, u32, u64, u64, u64, __builtin_popcountll(x))                                   \
	X(clz_b32, u32, u32, u32, u32, 31 - highest32(x))                                          \
	X(clz_b64, u32, u64, u64, u64, 63 - highest64(x))                                          \
	X(brev_b32, u32, u32, u32, u32, reverse32(x))                                              \
	X(brev_b64, u64, u64, u64, u64, reverse64(x))                                              \
	X(bfind_u32, u32, u32, u32, u32, highest32(x))                                             \
	X(bfind_s32, u32, s32, s32, s32, highest32((u32)(x < 0 ? ~x : x)))                         \
	X(bfind_u64, u32, u64, u64, u64, highest64(x))                                             \
	X(bfind_s64, u32, s64, s64, s64, highest64((u64)(x < 0 ? ~x : x)))                         \
	X(bfindshift_b32, u32, u32, u32, u32, x == UINT32_MAX ? x : 31 - x)                        \
	X(bfindshift_b64, u32, u32, u32, u32, x == UINT32_MAX ? x : 63 - x)                        \
	X(fns_b32, u32, u32, u32, s32, nth_set(x, y, z))                                           \
	X(bfe_u32, u32, u32, u32, u32, field_u(x, y, z, 32))                                       \
	X(bfe_s32, u32, u32, u32, u32, field_s(x, y, z, 32))                                       \
	X(bfe_u64, u64, u64, u32, u32, field_u(x, y, z, 64))                                       \
	X(bfe_s64, u64, u64, u32, u32, field_s(x, y, z, 64))                                       \
	X(prmt_b32, u32, u32, u32, u32, permute(x, y, z))                                          \
	X(prmt_f4e, u32, u32, u32, u32, permute(x, y, selector(0, z)))                             \
	X(prmt_b4e, u32, u32, u32, u32, permute(x, y, selector(1, z)))                             \
	X(prmt_rc8, u32, u32, u32, u32, permute(x, y, selector(2, z)))                             \
	X(prmt_ecl, u32, u32, u32, u32, permute(x, y, selector(3, z)))                             \
	X(prmt_ecr, u32, u32, u32, u32, permute(x, y, selector(4, z)))                             \
	X(prmt_rc16, u32, u32, u32, u32, permute(x, y, selector(5, z)))                            \
	X(shf_l_wrap, u32, u32, u32, u32, funnel_left(x, y, z & 31))                               \
	X(shf_r_wrap, u32, u32, u32, u32, funnel_right(x, y, z & 31))                              \
	X(shf_l_clamp, u32, u32, u32, u32, funnel_left(x, y, min_u(z, 32)))                        \
	X(shf_r_clamp, u32, u32, u32, u32, funnel_right(x, y, min_u(z, 32)))

ROWS(LANE_FUNCTION)

static void bfi_b32(void *result, const void *const s[4])
{
	const u32 *a = s[0], *b = s[1], *c = s[2], *e = s[3];
	u32 *d = result;
	for (int l = 0; l < PTX_LANES; l++)
		d[l] = (u32)insert(a[l], b[l], c[l], e[l], 32);
}

static void bfi_b64(void *result, const void *const s[4])
{
	const u64 *a = s[0], *b = s[1];
	const u32 *c = s[2], *e = s[3];
	u64 *d = result;
	for (int l = 0; l < PTX_LANES; l++)
		d[l] = insert(a[l], b[l], c[l], e[l], 64);
}

/* Each bit of the table's number represents one combination of x, y, z. */
static void lop3_b32(void *result, const void *const s[4])
{
	const u32 *a = s[0], *b = s[1], *c = s[2], *table = s[3];
	u32 *d = result;
	for (int l = 0; l < PTX_LANES; l++) {
		u32 r = 0;
		for (u32 i = 0; i < 8; i++)
			if (table[l] >> i & 1)
				r |= (i & 4 ? a[l] : ~a[l]) & (i & 2 ? b[l] : ~b[l]) &
				     (i & 1 ? c[l] : ~c[l]);
		d[l] = r;
	}
}

static const struct ptx_lane_entry rows[] = {
	ROWS(LANE_ENTRY){"bfi_b32", bfi_b32}, {"bfi_b64", bfi_b64}, {"lop3_b32", lop3_b32}};

const struct ptx_lane_family LANE_LEVEL(ptx_bits) = {rows, sizeof rows / sizeof *rows};
