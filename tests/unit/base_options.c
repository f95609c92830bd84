/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Taking structs of options of another version.
 */
#include "base/options.h"

#include "check.h"

struct known {
	uint32_t struct_size;
	int32_t first;
	double second;
};

struct later {
	struct known known;
	uint64_t third;
};

static struct tn_error_info error;

static tn_status take(struct known *own, const void *given)
{
	*own = (struct known){.first = -1, .second = 0.5};
	tn_error_reset(&error);
	return tn_options_take(own, sizeof(*own), given, "struct known", "test", &error);
}

static void none_are_the_defaults(void **state)
{
	struct known own;
	(void)state;
	assert_ok(take(&own, NULL));
	assert_int_equal(own.struct_size, sizeof(own));
	assert_int_equal(own.first, -1);
	assert_true(own.second == 0.5);
}

static void those_of_this_version_replace_every_default(void **state)
{
	const struct known given = {.struct_size = sizeof(given), .first = 7};
	struct known own;
	(void)state;
	assert_ok(take(&own, &given));
	assert_int_equal(own.first, 7);
	assert_true(own.second == 0);
}

static void what_an_older_version_lacks_keeps_its_default(void **state)
{
	const struct known given = {
		.struct_size = offsetof(struct known, second), .first = 7, .second = 9};
	struct known own;
	(void)state;
	assert_ok(take(&own, &given));
	assert_int_equal(own.struct_size, sizeof(own));
	assert_int_equal(own.first, 7);
	assert_true(own.second == 0.5);
}

static void a_later_version_is_taken_while_its_tail_is_zero(void **state)
{
	struct later given = {.known = {.struct_size = sizeof(given), .first = 7}};
	struct known own;
	(void)state;
	assert_ok(take(&own, &given));
	assert_int_equal(own.struct_size, sizeof(own));
	assert_int_equal(own.first, 7);
	for (size_t i = 0; i < sizeof(given.third); i++) {
		given.third = UINT64_C(1) << (8 * i);
		assert_status(take(&own, &given), TN_UNSUPPORTED);
		assert_int_equal(own.first, -1);
		assert_int_equal(error.status, TN_UNSUPPORTED);
		assert_contains(error.text, "struct known");
		assert_contains(error.text, "this version has 16 bytes");
	}
}

static void one_without_a_size_is_refused(void **state)
{
	struct known given = {.first = 7}, own;
	(void)state;
	for (; given.struct_size < sizeof(given.struct_size); given.struct_size++) {
		assert_status(take(&own, &given), TN_INVALID_ARGUMENT);
		assert_int_equal(own.first, -1);
		assert_string_equal(error.operation, "test");
		assert_contains(error.text, "struct known: expected struct_size 16");
	}
	assert_contains(error.text, "found 3");
	assert_ok(take(&own, &given));
	assert_int_equal(own.first, -1);
	given.struct_size = 0;
	assert_status(tn_options_take(&own, sizeof(own), &given, "struct known", "test", NULL),
		      TN_INVALID_ARGUMENT);
}

static void the_macro_sets_the_size_and_nothing_else(void **state)
{
	const struct known *given = TN_OPTIONS(struct known, .second = 2);
	(void)state;
	assert_int_equal(given->struct_size, sizeof(struct known));
	assert_int_equal(given->first, 0);
	assert_true(given->second == 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(none_are_the_defaults),
		cmocka_unit_test(those_of_this_version_replace_every_default),
		cmocka_unit_test(what_an_older_version_lacks_keeps_its_default),
		cmocka_unit_test(a_later_version_is_taken_while_its_tail_is_zero),
		cmocka_unit_test(one_without_a_size_is_refused),
		cmocka_unit_test(the_macro_sets_the_size_and_nothing_else),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
