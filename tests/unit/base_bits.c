/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Values as bit patterns, read back in their own types: the byte order is the host's; and the
 * formats of 16 bits, in the library and for plugins.
 */
#include "base/bits.h"

#include <math.h>
#include <tenon/plugin.h>

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
		assert_true(tn_plugin_load_bits(place.at, size) == bits_load(place.at, size));
		tn_plugin_store_bits(place.after, size, bits);
		assert_memory_equal(place.after, place.at, size);
	}
}

/* An f16 by its definition. */
static float value_of_f16(uint32_t half)
{
	const int exponent = (int)(half >> 10 & 31), fraction = (int)(half & 0x3ff);
	float value = exponent == 31 ? (fraction ? NAN : INFINITY)
		      : exponent     ? ldexpf((float)(1024 + fraction), exponent - 25)
				     : ldexpf((float)fraction, -24);
	return half & 0x8000 ? -value : value;
}

static void every_f16_and_bf16_has_its_value(void **state)
{
	(void)state;
	for (uint32_t x = 0; x < 0x10000; x++) {
		const float half = tn_f32_of_f16((uint16_t)x), brain = tn_f32_of_bf16((uint16_t)x);
		const float expected = value_of_f16(x);
		assert_true(isnan(expected) ? isnan(half) : half == expected);
		assert_true(!signbit(half) == !(x & 0x8000));
		assert_true(tn_bits_of_f32(brain) == x << 16);
		/* The same bits for plugins, NaNs too. */
		assert_true(tn_plugin_bits_of_f32(tn_plugin_f32_of_f16((uint16_t)x)) ==
			    tn_bits_of_f32(half));
		assert_true(tn_plugin_bits_of_f32(tn_plugin_f32_of_bf16((uint16_t)x)) == x << 16);
		if (isnan(half))
			assert_int_equal(tn_f16_of_f32(half), x | 0x200); /* quiet */
		else
			assert_int_equal(tn_f16_of_f32(half), x);
	}
}

static void rounding_is_to_nearest_even_and_the_same_for_plugins(void **state)
{
	(void)state;
	/* Every exponent; fractions with and without ties. */
	for (uint64_t i = 0; i < UINT64_C(1) << 32; i += 0x1ff) {
		const uint32_t bits = (uint32_t)(i & 0x1000 ? i : i & ~UINT64_C(0xfff));
		const float x = tn_f32_of_bits(bits), magnitude = fabsf(x);
		const uint16_t half = tn_f16_of_f32(x), brain = tn_bf16_of_f32(x);
		assert_int_equal(tn_plugin_f16_of_f32(x), half);
		assert_int_equal(tn_plugin_bf16_of_f32(x), brain);
		if (isnan(x)) {
			assert_true(isnan(tn_f32_of_f16(half)) && isnan(tn_f32_of_bf16(brain)));
			continue;
		}
		/* The last place of x as an f16. */
		int exponent;
		frexpf(magnitude, &exponent);
		const int place = exponent < -13 ? -24 : exponent - 11;
		const double rounded = ldexp(nearbyint(ldexp((double)magnitude, -place)), place);
		assert_true((double)fabsf(tn_f32_of_f16(half)) ==
			    (rounded > 65504 ? (double)INFINITY : rounded));
		assert_int_equal(half >> 15, bits >> 31);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_value_is_stored_in_its_own_size),
		cmocka_unit_test(every_f16_and_bf16_has_its_value),
		cmocka_unit_test(rounding_is_to_nearest_even_and_the_same_for_plugins),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
