/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * NumPy's results of calls that are easily wrong in the last digit, on several backends; and the
 * dtype of operands in every order.
 */
#include "nn_backends.h"
#include "numpy_cases.h"

static void every_backend_gives_the_results_of_numpy(void **state)
{
	static const char *const backends[] = {"reference!", "cpu!", "mock"};
	(void)state;
	for (size_t i = 0; i < sizeof(backends) / sizeof(backends[0]); i++) {
		tn_context *context = open_backend(backends[i]);
		check_numpy_cases(context);
		tn_context_close(context);
	}
}

/* The dtype of three operands, from each place. */
static tn_dtype of_three(const tn_array *a, const tn_array *b, const tn_array *c, int which)
{
	const tn_array *conditions[] = {LINE(TN_BOOL, 1), LINE(TN_BOOL, 1)};
	const tn_array *choices[] = {a, b};
	switch (which) {
	case 0:
		return tn_array_dtype(tn_clip(a, b, c));
	case 1:
		return tn_array_dtype(tn_select(2, conditions, choices, c));
	default:
		return tn_array_dtype(tn_concatenate(3, (const tn_array *[]){a, b, c}, 0));
	}
}

static void the_order_of_operands_does_not_matter(void **state)
{
	static const tn_dtype dtypes[] = {TN_I8,  TN_I16,  TN_U8,  TN_U16, TN_U32,
					  TN_F16, TN_BF16, TN_F32, TN_I32, TN_U64};
	enum { N = sizeof(dtypes) / sizeof(dtypes[0]) };
	static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
					{1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
	(void)state;
	cases_context = open_backend("reference!");
	for (int i = 0; i < N * N * N; i++) {
		assert_ok(tn_scope_begin(cases_context));
		const tn_array *a[] = {LINE(dtypes[i % N], 1), LINE(dtypes[i / N % N], 1),
				       LINE(dtypes[i / N / N], 1)};
		const tn_dtype expected = of_three(a[0], a[1], a[2], 2);
		for (size_t k = 0; k < sizeof(orders) / sizeof(orders[0]); k++) {
			const int *order = orders[k];
			for (int which = 0; which < 3; which++)
				assert_int_equal(
					of_three(a[order[0]], a[order[1]], a[order[2]], which),
					expected);
		}
		tn_scope_end(cases_context, NULL);
	}
	tn_context_close(cases_context);
}

/* A step of 4 where a period is 6. */
static void a_phase_jumps_beyond_the_discontinuity(void **state)
{
	static const double rows[][2] = {{0, -2}, {4, -2}, {5, 4}};
	(void)state;
	cases_context = open_backend("reference!");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		double found[2];
		const tn_array *unwrapped = tn_unwrap(LINE(TN_F64, 0, 4), rows[i][0], 0, 6);
		assert_ok(tn_to_host(unwrapped, found, sizeof(found)));
		assert_close(found[1], rows[i][1], 0);
	}
	tn_context_close(cases_context);
}

/* ---- Tiny and huge parameters ----------------------------------------------------------------*/

enum { DRAWS = 4000 };

static void assert_beta(double a, double b, double expected)
{
	static double drawn[DRAWS];
	double sum = 0;
	const int64_t n = DRAWS;
	const tn_array *array =
		tn_generator_beta(tn_default_generator(cases_context), TN_F64, 1, &n, a, b);
	assert_ok(tn_to_host(array, drawn, sizeof(drawn)));
	for (int i = 0; i < DRAWS; i++)
		sum += drawn[i];
	assert_close(sum / DRAWS, expected, 0.03);
}

static void assert_dirichlet(double a, double b, double expected)
{
	static double drawn[2 * DRAWS];
	double sum = 0;
	const int64_t n = DRAWS;
	const tn_array *array = tn_generator_dirichlet(tn_default_generator(cases_context), TN_F64,
						       1, &n, LINE(TN_F64, a, b));
	assert_ok(tn_to_host(array, drawn, sizeof(drawn)));
	for (int i = 0; i < DRAWS; i++) {
		sum += drawn[2 * i];
		assert_close(drawn[2 * i] + drawn[2 * i + 1], 1, 1e-12);
	}
	assert_close(sum / DRAWS, expected, 0.03);
}

static void beta_of_any_parameters_has_its_mean(void **state)
{
	static const double rows[][3] = {{1e-320, 3e-320, 0.25}, {0x1p-1074, 0x1p-1074, 0.5},
					 {2e-308, 6e-308, 0.25}, {1e-320, 5, 0},
					 {5, 1e-320, 1},         {1e308, 1e308, 0.5},
					 {1.7e308, 1.7e308, 0.5}};
	(void)state;
	cases_context = open_backend("reference!");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_beta(rows[i][0], rows[i][1], rows[i][2]);
		assert_dirichlet(rows[i][0], rows[i][1], rows[i][2]);
	}
	tn_context_close(cases_context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_backend_gives_the_results_of_numpy),
		cmocka_unit_test(the_order_of_operands_does_not_matter),
		cmocka_unit_test(a_phase_jumps_beyond_the_discontinuity),
		cmocka_unit_test(beta_of_any_parameters_has_its_mean),
	};
	keep_plugin_path();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
