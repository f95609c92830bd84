/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Sets against recorded NumPy results.
 */
#include "parity/calls.h"

static tn_array *unique(struct call *c)
{
	const int axis = (int)setting(c, "axis"), equal_nan = (int)setting(c, "equal_nan");
	if (!setting(c, "all"))
		return tn_unique(c->x, axis, equal_nan, NULL, NULL, NULL);
	return tn_unique(c->x, axis, equal_nan, &c->others[0], &c->others[1], &c->others[2]);
}
static tn_array *isin(struct call *c)
{
	return tn_isin(c->x, c->y, (int)setting(c, "invert"));
}
static tn_array *union1d(struct call *c)
{
	return tn_union1d(c->x, c->y);
}
static tn_array *intersect1d(struct call *c)
{
	const int all = (int)setting(c, "all");
	return tn_intersect1d(c->x, c->y, (int)setting(c, "unique"), all ? &c->others[0] : NULL,
			      all ? &c->others[1] : NULL);
}
static tn_array *setdiff1d(struct call *c)
{
	return tn_setdiff1d(c->x, c->y, (int)setting(c, "unique"));
}
static tn_array *setxor1d(struct call *c)
{
	return tn_setxor1d(c->x, c->y, (int)setting(c, "unique"));
}

static const struct call_row rows[] = {
	{"unique", NULL, unique},       {"isin", NULL, isin},
	{"union1d", NULL, union1d},     {"intersect1d", NULL, intersect1d},
	{"setdiff1d", NULL, setdiff1d}, {"setxor1d", NULL, setxor1d},
};
static const struct call_rows all = {"sets.txt", 312, sizeof(rows) / sizeof(rows[0]), rows};

static void the_reference_has_numpys_sets(void **state)
{
	(void)state;
	run_calls(trial_open("reference!"), &all, 0);
}

static void the_preferred_backend_has_numpys_sets(void **state)
{
	(void)state;
	run_calls(trial_open(NULL), &all, 0);
}

static void the_mock_has_numpys_sets(void **state)
{
	(void)state;
	run_calls(open_mock(""), &all, 0);
}

static const char *given_backend;

/* One that takes long to compile a kernel for each program and dtype. */
static void the_given_backend_has_numpys_sets(void **state)
{
	(void)state;
	run_calls(trial_open(given_backend), &all, 1);
}

int main(int n_arguments, char **arguments)
{
	const struct CMUnitTest given[] = {cmocka_unit_test(the_given_backend_has_numpys_sets)};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_reference_has_numpys_sets),
		cmocka_unit_test(the_preferred_backend_has_numpys_sets),
		/* Last: it changes the environment. */
		cmocka_unit_test(the_mock_has_numpys_sets),
	};
	given_backend = n_arguments > 1 ? arguments[1] : NULL;
	return given_backend ? cmocka_run_group_tests(given, NULL, NULL)
			     : cmocka_run_group_tests(tests, NULL, NULL);
}
