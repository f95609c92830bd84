/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Natural numbers of up to 1,536 bits: the largest that the digits of an f64 need have some 1,140.
 */
#ifndef TN_TEXT_BIG_H
#define TN_TEXT_BIG_H

#include <stdint.h>

enum { TN_BIG_WORDS = 48 };

struct tn_big {
	int n;                       /* words in use; the last is not 0 */
	uint32_t word[TN_BIG_WORDS]; /* the lowest first */
};

void tn_big_set(struct tn_big *a, uint64_t value);
void tn_big_multiply(struct tn_big *a, uint32_t factor);
void tn_big_multiply_power_of_10(struct tn_big *a, int exponent);
void tn_big_shift_left(struct tn_big *a, int bits);
void tn_big_add(struct tn_big *a, const struct tn_big *b);
/* b is at most a. */
void tn_big_subtract(struct tn_big *a, const struct tn_big *b);
/* Below, at or above 0, as a is below, at or above b. */
int tn_big_compare(const struct tn_big *a, const struct tn_big *b);

#endif
