/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Taking structs of options of another version, and checking members by a table.
 */
#include "base/options.h"

#include <string.h>

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

struct numbers {
	double any;
	double finite;
	double positive;
	double share;
	double rate;
	double decay;
	double centre;
	uint32_t choice;
};

static const struct tn_option members[] = {
	{TN_MEMBER(struct numbers, any), .least = -2, .most = INFINITY},
	{TN_MEMBER(struct numbers, finite), TN_MOST, .most = INFINITY},
	{TN_MEMBER(struct numbers, positive), TN_LEAST, .most = INFINITY},
	{TN_MEMBER(struct numbers, share), .most = 0.5},
	{TN_MEMBER(struct numbers, rate), TN_LEAST | TN_MOST, .most = 1},
	{TN_MEMBER(struct numbers, decay), TN_MOST, .most = 1},
	{TN_MEMBER(struct numbers, centre), TN_LEAST | TN_MOST, .least = -INFINITY,
	 .most = INFINITY},
	{TN_MEMBER(struct numbers, choice), .least = 1, .most = 3, .is_choice = 1},
	{0},
};

static const struct numbers right = {.positive = 0.001, .share = 0.5, .rate = 0.9, .choice = 2};

static void members_within_their_ranges_are_right(void **state)
{
	const struct numbers other = {
		.any = INFINITY, .positive = INFINITY, .rate = 0.5, .choice = 3};
	(void)state;
	assert_ok(tn_options_check(&right, members, "test", NULL));
	assert_ok(tn_options_check(&other, members, "test", NULL));
}

/* 0 is a number like any other. */
static void zero_is_within_the_range_or_wrong(void **state)
{
	static const struct {
		size_t offset;
		const char *text; /* NULL: 0 is right */
	} cases[] = {
		{offsetof(struct numbers, finite), NULL},
		{offsetof(struct numbers, positive),
		 "positive: expected a number above 0, found 0"},
		{offsetof(struct numbers, share), NULL},
		{offsetof(struct numbers, rate),
		 "rate: expected a number above 0 and below 1, found 0"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct numbers numbers = right;
		memset((char *)&numbers + cases[i].offset, 0, sizeof(double));
		assert_status(tn_options_check(&numbers, members, "test", &error),
			      cases[i].text ? TN_INVALID_ARGUMENT : TN_OK);
		if (cases[i].text)
			assert_string_equal(error.text, cases[i].text);
	}
	struct numbers none = right;
	none.choice = 0;
	assert_status(tn_options_check(&none, members, "test", &error), TN_INVALID_ARGUMENT);
	assert_string_equal(error.text, "choice: expected 1 to 3, found 0");
}

static void the_member_that_is_wrong_is_named(void **state)
{
	static const struct {
		struct numbers numbers;
		const char *text;
	} cases[] = {
		{{.any = -3}, "any: expected a number of at least -2, found -3"},
		{{.any = NAN}, "any: expected a number of at least -2, found nan"},
		{{.finite = INFINITY}, "finite: expected a finite number of at least 0, found inf"},
		{{.positive = -1}, "positive: expected a number above 0, found -1"},
		{{.positive = 1, .share = 0.75},
		 "share: expected a number from 0 to 0.5, found 0.75"},
		{{.positive = 1, .rate = 1},
		 "rate: expected a number above 0 and below 1, found 1"},
		{{.positive = 1, .rate = 0.5, .decay = 1},
		 "decay: expected a number of at least 0 and below 1, found 1"},
		{{.positive = 1, .rate = 0.5, .centre = -INFINITY},
		 "centre: expected a finite number, found -inf"},
		{{.positive = 1, .rate = 0.5, .choice = UINT32_MAX},
		 "choice: expected 1 to 3, found 4294967295"},
		/* The first of several. */
		{{.positive = 1, .share = -1, .rate = 2},
		 "share: expected a number from 0 to 0.5, found -1"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct numbers numbers = cases[i].numbers;
		assert_status(tn_options_check(&numbers, members, "test", &error),
			      TN_INVALID_ARGUMENT);
		assert_string_equal(error.text, cases[i].text);
		assert_string_equal(error.operation, "test");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(none_are_the_defaults),
		cmocka_unit_test(those_of_this_version_replace_every_default),
		cmocka_unit_test(what_an_older_version_lacks_keeps_its_default),
		cmocka_unit_test(a_later_version_is_taken_while_its_tail_is_zero),
		cmocka_unit_test(one_without_a_size_is_refused),
		cmocka_unit_test(members_within_their_ranges_are_right),
		cmocka_unit_test(zero_is_within_the_range_or_wrong),
		cmocka_unit_test(the_member_that_is_wrong_is_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
