/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Computes MurmurHash3's 128 bits of bytes.
 *
 * Words are read in the host's byte order: only hashes of one machine are compared with each other.
 */
#include "program/hash.h"

#include <string.h>

#define C1 UINT64_C(0x87c37b91114253d5)
#define C2 UINT64_C(0x4cf5ad432745937f)

static uint64_t rotate(uint64_t x, int count)
{
	return x << count | x >> (64 - count);
}

static uint64_t mix_low(uint64_t k)
{
	return rotate(k * C1, 31) * C2;
}

static uint64_t mix_high(uint64_t k)
{
	return rotate(k * C2, 33) * C1;
}

static uint64_t finish(uint64_t k)
{
	k = (k ^ k >> 33) * UINT64_C(0xff51afd7ed558ccd);
	k = (k ^ k >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	return k ^ k >> 33;
}

void tn_hash_bytes(const void *data, size_t size, uint64_t hash[2])
{
	const unsigned char *bytes = data;
	uint64_t h1 = 0, h2 = 0, k[2];
	size_t whole = size / 16 * 16;
	for (size_t i = 0; i < whole; i += 16) {
		memcpy(k, bytes + i, 16);
		h1 = (rotate(h1 ^ mix_low(k[0]), 27) + h2) * 5 + 0x52dce729;
		h2 = (rotate(h2 ^ mix_high(k[1]), 31) + h1) * 5 + 0x38495ab5;
	}
	k[0] = k[1] = 0;
	for (size_t i = whole; i < size; i++)
		k[(i - whole) / 8] |= (uint64_t)bytes[i] << (8 * ((i - whole) % 8));
	h2 ^= mix_high(k[1]);
	h1 ^= mix_low(k[0]);
	h1 ^= size;
	h2 ^= size;
	h1 += h2;
	h2 += h1;
	h1 = finish(h1);
	h2 = finish(h2);
	hash[0] = h1 + h2;
	hash[1] = h2 + hash[0];
}
