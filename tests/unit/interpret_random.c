/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Philox's words and the normal distribution of the block interpreter, to their recorded bits.
 */
#include "check.h"

#include "program/random.h"

/* Random123's known answers for philox4x32 with 10 rounds (its file kat_vectors). */
static void philox_gives_the_published_answers(void **state)
{
	static const struct {
		uint32_t counter[4], key[2], words[4];
	} cases[] = {
		{{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{{~0u, ~0u, ~0u, ~0u},
		 {~0u, ~0u},
		 {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
		 {0xa4093822, 0x299f31d0},
		 {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint32_t words[4];
		tn_philox(cases[i].counter, cases[i].key, words);
		assert_memory_equal(words, cases[i].words, sizeof(words));
	}
}

static void a_number_is_a_word_of_its_counter(void **state)
{
	const uint64_t seed = 0x0123456789abcdef, stream = 0xfedcba9876543210;
	const uint64_t places[] = {0, 1, 2, 3, 4, 7, 0x3fffffffcu, 0x400000001u, UINT64_MAX};
	(void)state;
	for (size_t j = 0; j < sizeof(places) / sizeof(*places); j++) {
		uint64_t i = places[j];
		uint32_t words[4];
		tn_philox((uint32_t[]){(uint32_t)(i / 4), (uint32_t)(i / 4 >> 32), 0x76543210,
				       0xfedcba98},
			  (uint32_t[]){0x89abcdef, 0x01234567}, words);
		assert_int_equal(tn_random(seed, stream, i), words[i % 4]);
	}
}

static void blocks_hold_the_same_numbers(void **state)
{
	const uint64_t starts[] = {0, 1, 3, 0x3fffffff0u, UINT64_MAX - 7};
	(void)state;
	for (size_t s = 0; s < sizeof(starts) / sizeof(*starts); s++) {
		for (size_t n = 0; n < 300; n += n < 20 ? 1 : 17) {
			uint32_t block[301];
			block[n] = 42;
			tn_random_block(7, 9, starts[s], block, n);
			for (size_t j = 0; j < n; j++)
				assert_int_equal(block[j], tn_random(7, 9, starts[s] + j));
			assert_int_equal(block[n], 42);
		}
	}
}

/* Q(p): Newton's steps on the upper tail, from an initial value that cannot overshoot. */
static double quantile(double p)
{
	double q = p > 0.2 ? (0.5 - p) * sqrt(2 * M_PI) : sqrt(-2 * log(p));
	for (int i = 0; i < 60; i++) {
		double density = exp(-q * q / 2) / sqrt(2 * M_PI);
		double step = (erfc(q / sqrt(2)) / 2 - p) / density;
		q += fabs(step) > 0.5 ? 0.2 * step : step;
	}
	return q;
}

static void check_normal(uint32_t word)
{
	double p = ((double)word + 0.5) * 0x1p-32;
	double expected = p < 0.5 ? -quantile(p) : quantile(1 - p);
	assert_close(tn_normal(word), expected, TN_NORMAL_ERROR);
	assert_true(tn_normal(~word) == -tn_normal(word));
}

/* The tail word by word, both sides of every segment's borders, and a walk over the rest. */
static void normal_is_the_quantile_to_the_stated_error(void **state)
{
	(void)state;
	for (uint32_t word = 0; word < 3000; word++)
		check_normal(word);
	for (unsigned k = 4; k < 31; k++) {
		for (unsigned s = 0; s < 8; s++) {
			uint32_t border = (8 + s) << (k - 3);
			check_normal(border - 1);
			check_normal(border);
		}
	}
	for (uint64_t word = 3000; word < 0x80000000; word += 65521)
		check_normal((uint32_t)word);
	check_normal(0x7fffffff);
}

/* Recorded bits: a different computation would give another distribution. */
static void normal_keeps_its_bits(void **state)
{
	static const struct {
		uint32_t word, bits;
	} cases[] = {
		{0, 0xc0cad08d},          {1, 0xc0c55364},          {2, 0xc0c2b92d},
		{12345, 0xc091222f},      {0x01234567, 0xc027716e}, {0x3fffffff, 0xbf2cab5c},
		{0x40000000, 0xbf2cab5c}, {0x7fffffff, 0x80000000}, {0x80000000, 0x00000000},
		{0xdeadbeef, 0x3f90149a}, {0xffffffff, 0x40cad08d},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		float value = tn_normal(cases[i].word);
		uint32_t bits;
		memcpy(&bits, &value, sizeof(bits));
		assert_int_equal(bits, cases[i].bits);
	}
	/* A checksum over many words detects contraction anywhere. */
	uint64_t sum = 0;
	for (uint64_t word = 0; word < 0x100000000; word += 40009) {
		float value = tn_normal((uint32_t)word);
		uint32_t bits;
		memcpy(&bits, &value, sizeof(bits));
		sum = sum * 0x9E3779B97F4A7C15u + bits;
	}
	assert_true(sum == UINT64_C(0x8fd6ae740c1af839));
}

static void normal_blocks_may_be_in_place(void **state)
{
	uint32_t words[77];
	float values[77];
	(void)state;
	tn_random_block(1, 2, 3, words, 77);
	for (size_t j = 0; j < 77; j++)
		values[j] = tn_normal(words[j]);
	tn_normal_block(words, (float *)words, 77);
	assert_memory_equal(words, values, sizeof(values));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(philox_gives_the_published_answers),
		cmocka_unit_test(a_number_is_a_word_of_its_counter),
		cmocka_unit_test(blocks_hold_the_same_numbers),
		cmocka_unit_test(normal_is_the_quantile_to_the_stated_error),
		cmocka_unit_test(normal_keeps_its_bits),
		cmocka_unit_test(normal_blocks_may_be_in_place),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
