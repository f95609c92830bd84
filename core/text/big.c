/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Arithmetic on natural numbers of many words, lowest word first.
 */
#include "text/big.h"

#include <string.h>

void tn_big_set(struct tn_big *a, uint64_t value)
{
	a->word[0] = (uint32_t)value;
	a->word[1] = (uint32_t)(value >> 32);
	a->n = a->word[1] ? 2 : value != 0;
}

void tn_big_multiply(struct tn_big *a, uint32_t factor)
{
	uint64_t carry = 0;
	for (int i = 0; i < a->n; i++) {
		carry += (uint64_t)a->word[i] * factor;
		a->word[i] = (uint32_t)carry;
		carry >>= 32;
	}
	if (carry)
		a->word[a->n++] = (uint32_t)carry;
}

void tn_big_multiply_power_of_10(struct tn_big *a, int exponent)
{
	static const uint32_t powers[] = {1,      10,      100,      1000,     10000,
					  100000, 1000000, 10000000, 100000000};
	for (; exponent > 8; exponent -= 9)
		tn_big_multiply(a, 1000000000);
	tn_big_multiply(a, powers[exponent]);
}

void tn_big_shift_left(struct tn_big *a, int bits)
{
	const int words = bits / 32;
	if (!a->n)
		return;
	memmove(a->word + words, a->word, (size_t)a->n * sizeof(a->word[0]));
	memset(a->word, 0, (size_t)words * sizeof(a->word[0]));
	a->n += words;
	tn_big_multiply(a, 1u << bits % 32);
}

void tn_big_add(struct tn_big *a, const struct tn_big *b)
{
	uint64_t carry = 0;
	for (int i = 0; i < b->n || carry; i++) {
		if (i == a->n)
			a->word[a->n++] = 0;
		carry += (uint64_t)a->word[i] + (i < b->n ? b->word[i] : 0);
		a->word[i] = (uint32_t)carry;
		carry >>= 32;
	}
}

void tn_big_subtract(struct tn_big *a, const struct tn_big *b)
{
	int64_t borrow = 0;
	for (int i = 0; i < a->n; i++) {
		borrow += (int64_t)a->word[i] - (i < b->n ? b->word[i] : 0);
		a->word[i] = (uint32_t)borrow;
		borrow = borrow < 0 ? -1 : 0;
	}
	while (a->n && !a->word[a->n - 1])
		a->n--;
}

int tn_big_compare(const struct tn_big *a, const struct tn_big *b)
{
	if (a->n != b->n)
		return a->n - b->n;
	for (int i = a->n; i-- > 0;) {
		if (a->word[i] != b->word[i])
			return a->word[i] < b->word[i] ? -1 : 1;
	}
	return 0;
}
