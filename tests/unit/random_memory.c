/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Each allocation of a draw fails once: the error is kept, nothing is lost, and no stream used.
 */
#include "failing_memory.h"
#include "mock_fixture.h"

static const int64_t shape[] = {40};

/* What the draws read. */
struct inputs {
	tn_array *ramp;
	tn_array *weights;
};

static tn_array *draw_number(int number, tn_generator *g, const struct inputs *in)
{
	switch (number) {
	case 0:
		return tn_generator_integers(g, TN_I16, 1, shape, 0, 10, 0);
	case 1:
		return tn_generator_standard_normal(g, TN_C64, 1, shape);
	case 2:
		return tn_generator_gamma(g, TN_F32, 1, shape, 0.5, 1);
	case 3:
		return tn_generator_sample(g, TN_DISTRIBUTION_POISSON, TN_I64, 1, shape, 1,
					   (const tn_array *[]){in->weights});
	case 4:
		return tn_generator_permuted(g, in->ramp, 0);
	case 5:
		return tn_generator_shuffle(g, in->ramp, 0) ? NULL : in->ramp;
	case 6:
		return tn_generator_choice(g, 40, 1, shape, 0, NULL);
	case 7:
		return tn_generator_choice(g, 40, 1, shape, 1, in->weights);
	case 8:
		return tn_generator_choice(g, 40, 1, shape, 0, in->weights);
	case 9:
		return tn_generator_dirichlet(g, TN_F64, 1, shape, in->weights);
	case 10:
		return tn_generator_bernoulli_array(g, in->weights);
	case 11:
		return tn_generator_normal(g, TN_C128, 1, shape, 0, 1);
	default:
		return NULL;
	}
}

static void draws_survive_without_memory(void **state)
{
	(void)state;
	tn_context *context = open_mock("");
	tn_generator *g = tn_generator_create(context, 3);
	const struct inputs in = {tn_arange(context, TN_F32, 0, 40, 1),
				  tn_ones(context, TN_F32, 1, shape)};
	for (int number = 0; number < 12; number++) {
		long failures = 0, most = 1;
		for (long n = 0; most; n++) {
			const struct tn_random_state before = tn_generator_get_state(g);
			assert_ok(tn_scope_begin(context));
			memory_fails_at(n, 0);
			const tn_array *a = draw_number(number, g, &in);
			most = memory_works();
			if (!a) {
				failures++;
				assert_kept(context, TN_OUT_OF_MEMORY, "");
				assert_int_equal(tn_generator_get_state(g).stream, before.stream);
			}
			assert_null(tn_error(context));
			tn_scope_end(context, NULL);
		}
		assert_true(failures > 0);
	}
	tn_generator_destroy(g);
	tn_context_close(context);
}

static void a_generator_that_has_no_memory_is_none(void **state)
{
	(void)state;
	tn_context *context = open_mock("");
	tn_generator *g = tn_generator_create(context, 3);
	memory_fails_at(0, 0);
	assert_null(tn_generator_create(context, 1));
	assert_int_equal(memory_works(), 1);
	assert_kept(context, TN_OUT_OF_MEMORY, "no host memory for a generator");
	memory_fails_at(0, 0);
	assert_null(tn_generator_split(g));
	assert_int_equal(memory_works(), 1);
	assert_kept(context, TN_OUT_OF_MEMORY, "no host memory for a generator");
	assert_int_equal(tn_generator_get_state(g).stream, 0);
	tn_generator_destroy(g);
	tn_context_close(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(draws_survive_without_memory),
		cmocka_unit_test(a_generator_that_has_no_memory_is_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
