/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Random numbers have the same bits on every backend and with any number of threads, and replays
 * draw new ones.
 */
#include "nn_backends.h"
#include "random_bits.h"

static const char *backend;

static tn_context *open_it(void)
{
	return open_backend(backend);
}

static void numbers_have_the_same_bits_on_every_backend(void **state)
{
	static const char *const backends[] = {"reference!", "auto", "mock"};
	(void)state;
	for (int i = 0; i < 3; i++) {
		backend = backends[i];
		check_random_bits(open_it);
	}
}

static void replays_draw_what_the_steps_would(void **state)
{
	(void)state;
	tn_context *context = open_mock("");
	check_random_capture(context, 0);
	check_random_not_captured(context);
	tn_context_close(context);
}

/* The row of the ledger. */
static struct tn_ledger_row row_of(const tn_context *context, const char *operation)
{
	struct tn_ledger_row row = {.struct_size = sizeof(row)};
	for (size_t i = 0; i < tn_ledger_count(context); i++) {
		assert_ok(tn_ledger_at(context, i, &row));
		if (!strcmp(row.operation, operation))
			return row;
	}
	fail_msg("the ledger has no row %s", operation);
	return row;
}

static void the_ledger_tells_host_draws_from_others(void **state)
{
	(void)state;
	tn_context *context = open_mock("");
	tn_generator *g = tn_default_generator(context);
	const int64_t shape[] = {100};
	const tn_array *mean = tn_full(context, TN_F32, 1, shape, 4);
	assert_non_null(tn_generator_integers(g, TN_I32, 1, shape, 0, 10, 0));
	assert_int_equal(row_of(context, "integers").host, 0);
	assert_int_equal(row_of(context, "integers").native, 1);
	assert_non_null(tn_generator_gamma(g, TN_F32, 1, shape, 1, 1));
	assert_int_equal(row_of(context, "gamma").host, 1);
	assert_int_equal(row_of(context, "gamma").bytes_moved, 400);
	assert_non_null(tn_generator_sample(g, TN_DISTRIBUTION_POISSON, TN_I64,
					    TN_RANK_OF_PARAMETERS, NULL, 1, &mean));
	assert_int_equal(row_of(context, "poisson").bytes_moved, 800 + 800);
	tn_context_close(context);
}

static void host_draws_can_be_forbidden(void **state)
{
	(void)state;
	set_faults("");
	const char *path = mock_file();
	tn_context *context = NULL;
	struct tn_context_options options = tn_context_defaults();
	options.backend = "mock";
	options.plugin_paths = &path;
	options.n_plugin_paths = 1;
	options.fallback = TN_FALLBACK_ERROR;
	assert_ok(tn_context_open(&options, &context, NULL));
	tn_generator *g = tn_default_generator(context);
	assert_non_null(tn_generator_uniform(g, TN_F32, 0, NULL, 0, 1));
	assert_null(tn_generator_gamma(g, TN_F32, 0, NULL, 1, 1));
	assert_kept(context, TN_UNSUPPORTED, "TENON_FALLBACK=error forbids");
	assert_int_equal(tn_generator_get_state(g).stream, 1);
	tn_context_close(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_have_the_same_bits_on_every_backend),
		cmocka_unit_test(replays_draw_what_the_steps_would),
		cmocka_unit_test(the_ledger_tells_host_draws_from_others),
		cmocka_unit_test(host_draws_can_be_forbidden),
	};
	keep_plugin_path();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
