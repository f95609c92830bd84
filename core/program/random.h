/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Random numbers as a pure function of (seed, stream, i), with the same bits on every backend.
 *
 *   tn_random(seed, stream, i) = word (i mod 4) of Philox4x32-10 with the counter
 *       {i / 4 low, i / 4 high, stream low, stream high} and the key {seed low, seed high}.
 *
 *   J. Salmon, M. Moraes, R. Dror, D. Shaw: Parallel random numbers: as easy as 1, 2, 3.  SC 2011.
 *
 * tn_normal turns a word into a standard normal number, Phi^-1((word + 1/2) / 2^32), with integer
 * operations and f32 additions and products alone, each rounded to nearest and none contracted:
 *
 *     h = word >= 2^31 ? ~word : word          the tail probability is (2 h + 1) / 2^33
 *     g = 2 h + 1,  z = leading zeros of g,  n = g << z
 *     c = table[8 (31 - z) + (n >> 28 & 7)]
 *     u = (float)((n >> 4 & 0xffffff) - 0x800000) * 2^-23         both steps are exact
 *     q = c[0] + u (c[1] + u (c[2] + u (c[3] + u c[4])))
 *     result = word >= 2^31 ? q : -q
 *
 * Largest error against the quantile: TN_NORMAL_ERROR.  Results lie within +-6.4.
 */
#ifndef TN_PROGRAM_RANDOM_H
#define TN_PROGRAM_RANDOM_H

#include <stddef.h>
#include <stdint.h>

#define TN_NORMAL_SEGMENTS 256
#define TN_NORMAL_COEFFICIENTS 5
#define TN_NORMAL_ERROR 5e-7

/* Philox's multipliers, and what each round adds to the key. */
#define TN_PHILOX_M0 0xD2511F53u
#define TN_PHILOX_M1 0xCD9E8D57u
#define TN_PHILOX_W0 0x9E3779B9u
#define TN_PHILOX_W1 0xBB67AE85u
#define TN_PHILOX_ROUNDS 10

/* Row 8 k + s: the quantile's polynomial for tail probabilities 2^(k-33) (1 + [s, s + 1) / 8).
 * Printers and backends copy it unchanged. */
extern const float tn_normal_table[TN_NORMAL_SEGMENTS][TN_NORMAL_COEFFICIENTS];

/* The four words of one counter. */
void tn_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

uint32_t tn_random(uint64_t seed, uint64_t stream, uint64_t i);

/* out[j] = tn_random(seed, stream, i + j), j < n: many counters at once. */
void tn_random_block(uint64_t seed, uint64_t stream, uint64_t i, uint32_t *out, size_t n);

float tn_normal(uint32_t word);

/* out[j] = tn_normal(words[j]); out may be words. */
void tn_normal_block(const uint32_t *words, float *out, size_t n);

#endif
