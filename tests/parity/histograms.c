/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Histograms of points, and rules for bins, against recorded NumPy results.
 */
#include "parity/numpy_calls.h"

static tn_array *histogramdd(struct call *c)
{
	return tn_histogramdd(c->x, record_ints(c->record, "bins"), c->numbers, c->y,
			      (int)setting(c, "density"), c->others);
}
static tn_array *histogram2d(struct call *c)
{
	return tn_histogram2d(c->x, c->y, record_ints(c->record, "bins"), c->numbers, c->z,
			      (int)setting(c, "density"), c->others);
}
static tn_array *histogram2d_edges(struct call *c)
{
	const tn_array *edges[] = {c->z, c->w};
	return tn_histogram2d_edges(c->x, c->y, edges, NULL, (int)setting(c, "density"));
}
static tn_array *histogram_bin_edges(struct call *c)
{
	return tn_histogram_bin_edges(c->x, (uint32_t)setting(c, "rule"), c->numbers);
}

static const struct call_row rows[] = {
	{"histogramdd", NULL, histogramdd},
	{"histogram2d", NULL, histogram2d},
	{"histogram2d_edges", NULL, histogram2d_edges},
	{"histogram_bin_edges", NULL, histogram_bin_edges},
};
static const struct call_rows all = {"histograms.txt", 159, sizeof(rows) / sizeof(rows[0]), rows};

static void the_reference_has_numpys_histograms(void **state)
{
	(void)state;
	run_calls(trial_open("reference!"), &all, 0);
}

static void the_preferred_backend_has_numpys_histograms(void **state)
{
	(void)state;
	run_calls(trial_open(NULL), &all, 0);
}

static void the_mock_has_numpys_histograms(void **state)
{
	(void)state;
	run_calls(open_mock(""), &all, 0);
}

static const char *given_backend;

/* One that takes long to compile a kernel for each program and dtype. */
static void the_given_backend_has_numpys_histograms(void **state)
{
	(void)state;
	run_calls(trial_open(given_backend), &all, 1);
}

int main(int n_arguments, char **arguments)
{
	const struct CMUnitTest given[] = {
		cmocka_unit_test(the_given_backend_has_numpys_histograms)};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_reference_has_numpys_histograms),
		cmocka_unit_test(the_preferred_backend_has_numpys_histograms),
		/* Last: it changes the environment. */
		cmocka_unit_test(the_mock_has_numpys_histograms),
	};
	given_backend = n_arguments > 1 ? arguments[1] : NULL;
	return given_backend ? cmocka_run_group_tests(given, NULL, NULL)
			     : cmocka_run_group_tests(tests, NULL, NULL);
}
