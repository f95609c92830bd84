/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Values as bit patterns, read back in their own types: the byte order is the host's.
 */
#include "base/bits.h"

#include "check.h"

static void a_value_is_stored_in_its_own_size(void **state)
{
	struct {
		unsigned char before[8], at[8], after[8];
	} place;
	const uint64_t bits = UINT64_C(0x0123456789abcdef);
	uint8_t b1;
	uint16_t b2;
	uint32_t b4;
	(void)state;
	for (size_t size = 1; size <= 8; size *= 2) {
		memset(&place, 0x55, sizeof(place));
		bits_store(place.at, size, bits);
		memcpy(&b1, place.at, sizeof(b1));
		memcpy(&b2, place.at, sizeof(b2));
		memcpy(&b4, place.at, sizeof(b4));
		assert_true(size != 1 || b1 == 0xef);
		assert_true(size != 2 || b2 == 0xcdef);
		assert_true(size != 4 || b4 == 0x89abcdef);
		assert_true(size != 8 || !memcmp(place.at, &bits, sizeof(bits)));
		for (size_t i = size; i < sizeof(place.at); i++)
			assert_int_equal(place.at[i], 0x55);
		assert_int_equal(place.before[7], 0x55);
		assert_int_equal(place.after[0], 0x55);
		assert_true(bits_load(place.at, size) == (bits & (UINT64_MAX >> (64 - 8 * size))));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_value_is_stored_in_its_own_size),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
