/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Generators: states, splits, who owns them, and draws that are done again or fail.
 */
#include "mock_fixture.h"
#include "program/random.h"
#include "test_context.h"

enum { N = 64 };

static void draw(tn_generator *g, float numbers[N])
{
	assert_ok(tn_to_host(tn_generator_random(g, TN_F32, 1, (int64_t[]){N}), numbers,
			     N * sizeof(*numbers)));
}

static void a_saved_state_goes_on_with_the_same_numbers(void **state)
{
	float first[N], next[N], again[N];
	(void)state;
	tn_generator *g = tn_generator_create(context, 5), *h = tn_generator_create(context, 6);
	draw(g, first);
	const struct tn_random_state saved = tn_generator_get_state(g);
	assert_int_equal(saved.seed, 5);
	assert_int_equal(saved.stream, 1);
	draw(g, next);
	assert_memory_not_equal(first, next, sizeof(first));
	assert_ok(tn_generator_set_state(h, saved));
	draw(h, again);
	assert_memory_equal(next, again, sizeof(next));
	/* Host draws too: one stream for each call. */
	assert_non_null(tn_generator_gamma(h, TN_F32, 1, (int64_t[]){N}, 0.5, 1));
	assert_non_null(tn_generator_standard_normal(h, TN_F64, 1, (int64_t[]){0}));
	assert_int_equal(tn_generator_get_state(h).stream, 4);
	tn_generator_destroy(g);
	tn_generator_destroy(h);
}

static void the_default_generator_is_the_contexts_state(void **state)
{
	float first[N], again[N];
	(void)state;
	tn_generator *g = tn_default_generator(context);
	assert_ptr_equal(g, tn_default_generator(context));
	tn_random_set_state(context, (struct tn_random_state){3, 8});
	assert_int_equal(tn_generator_get_state(g).seed, 3);
	draw(g, first);
	assert_int_equal(tn_random_get_state(context).stream, 9);
	assert_ok(tn_generator_set_state(g, (struct tn_random_state){3, 8}));
	assert_ok(tn_to_host(tn_random_uniform(context, 1, (int64_t[]){N}, 0, 1), again,
			     sizeof(again)));
	assert_memory_equal(first, again, sizeof(first));
	tn_generator_destroy(g); /* ignored */
	draw(tn_default_generator(context), first);
}

static void the_older_functions_keep_their_bits(void **state)
{
	static const double descending[] = {0.5, -0.25};
	float numbers[N], expected[N];
	(void)state;
	tn_random_set_state(context, (struct tn_random_state){7, 3});
	tn_array *a = tn_random_uniform(context, 1, (int64_t[]){N}, descending[0], descending[1]);
	assert_ok(tn_to_host(a, numbers, sizeof(numbers)));
	for (uint32_t i = 0; i < N; i++) {
		volatile float product = -0.75f * ((float)(tn_random(7, 3, i) >> 8) * 0x1p-24f);
		expected[i] = 0.5f + product;
	}
	assert_memory_equal(numbers, expected, sizeof(numbers));
}

static void splits_are_independent_and_repeatable(void **state)
{
	float numbers[4][N];
	(void)state;
	tn_generator *g = tn_generator_create(context, 5), *h = tn_generator_create(context, 5);
	tn_generator *a = tn_generator_split(g), *b = tn_generator_split(g);
	tn_generator *again = tn_generator_split(h), *inner = tn_generator_split(a);
	const uint64_t seeds[] = {5, tn_generator_get_state(a).seed, tn_generator_get_state(b).seed,
				  tn_generator_get_state(inner).seed};
	for (int i = 0; i < 4; i++) {
		for (int j = 0; j < i; j++)
			assert_int_not_equal(seeds[i], seeds[j]);
	}
	assert_int_equal(tn_generator_get_state(again).seed, seeds[1]);
	assert_int_equal(tn_generator_get_state(again).stream, 0);
	assert_int_equal(tn_generator_get_state(g).stream, 2);
	draw(a, numbers[0]);
	draw(again, numbers[1]);
	assert_int_equal(tn_generator_get_state(a).stream, 2);
	draw(b, numbers[2]);
	draw(g, numbers[3]);
	assert_memory_not_equal(numbers[0], numbers[2], sizeof(numbers[0]));
	assert_memory_not_equal(numbers[0], numbers[3], sizeof(numbers[0]));
	/* `a` had used a stream for its own split. */
	assert_memory_not_equal(numbers[0], numbers[1], sizeof(numbers[0]));
	assert_ok(tn_generator_set_state(a, (struct tn_random_state){seeds[1], 0}));
	draw(a, numbers[0]);
	assert_memory_equal(numbers[0], numbers[1], sizeof(numbers[0]));
	tn_generator_destroy(g);
	draw(b, numbers[2]); /* children outlive it */
	tn_generator_destroy(a);
	tn_generator_destroy(b);
	tn_generator_destroy(h);
	tn_generator_destroy(again);
	tn_generator_destroy(inner);
}

static void draws_that_fail_use_no_stream(void **state)
{
	const int64_t shape[] = {4, 5};
	(void)state;
	tn_generator *g = tn_generator_create(context, 5);
	const tn_array *bad = tn_full(context, TN_F32, 1, shape, -1);
	tn_array *x = tn_ones(context, TN_F32, 2, shape);
	assert_null(tn_generator_uniform(g, TN_F32, 2, shape, 2, 1));
	tn_error_clear(context);
	assert_null(tn_generator_sample(g, TN_DISTRIBUTION_POISSON, TN_I64, 1, shape, 1, &bad));
	tn_error_clear(context);
	assert_null(tn_generator_permuted(g, x, 2));
	tn_error_clear(context);
	assert_null(tn_generator_choice(g, 4, 2, shape, 0, NULL));
	tn_error_clear(context);
	assert_null(tn_generator_choice(g, 4, 0, NULL, 1, bad));
	tn_error_clear(context);
	assert_int_equal(tn_generator_shuffle(g, x, -3), TN_INVALID_ARGUMENT);
	/* Nothing is drawn while an error is kept. */
	assert_null(tn_generator_gamma(g, TN_F32, 2, shape, 1, 1));
	assert_null(tn_generator_integers(g, TN_I32, 2, shape, 0, 1, 1));
	assert_null(tn_generator_split(g));
	assert_int_equal(tn_generator_set_state(g, (struct tn_random_state){1, 1}),
			 TN_PENDING_ERROR);
	tn_error_clear(context);
	assert_int_equal(tn_generator_get_state(g).stream, 0);
	assert_int_equal(tn_generator_get_state(g).seed, 5);
	tn_generator_destroy(g);
}

static void nothing_is_drawn_from_nothing(void **state)
{
	(void)state;
	assert_null(tn_generator_create(NULL, 1));
	assert_null(tn_default_generator(NULL));
	assert_null(tn_generator_split(NULL));
	assert_int_equal(tn_generator_get_state(NULL).stream, 0);
	assert_int_equal(tn_generator_set_state(NULL, (struct tn_random_state){1, 1}),
			 TN_INVALID_ARGUMENT);
	assert_null(tn_generator_random(NULL, TN_F32, 0, NULL));
	assert_null(tn_generator_gamma(NULL, TN_F32, 0, NULL, 1, 1));
	assert_int_equal(tn_generator_bytes(NULL, NULL, 0), TN_INVALID_ARGUMENT);
	tn_generator_destroy(NULL);
	assert_null(tn_error(context));
	assert_null(tn_generator_permuted(tn_default_generator(context), NULL, 0));
	assert_string_equal(tn_error_text(context), "permuted: the array is NULL");
	tn_error_clear(context);
}

static void bytes_are_those_of_the_words(void **state)
{
	unsigned char all[1003], first[5];
	(void)state;
	tn_generator *g = tn_generator_create(context, 17);
	assert_ok(tn_generator_bytes(g, all, sizeof(all)));
	assert_ok(tn_generator_set_state(g, (struct tn_random_state){17, 0}));
	assert_ok(tn_generator_bytes(g, first, sizeof(first)));
	assert_memory_equal(all, first, sizeof(first));
	for (uint32_t i = 0; i < sizeof(all); i++)
		assert_int_equal(all[i], tn_random(17, 0, i / 4) >> 8 * (i % 4) & 0xff);
	assert_int_equal(tn_generator_bytes(g, NULL, 1), TN_INVALID_ARGUMENT);
	assert_kept(context, TN_INVALID_ARGUMENT, "data is NULL");
	assert_ok(tn_generator_bytes(g, NULL, 0));
	tn_generator_destroy(g);
}

/* ---- Computing again -------------------------------------------------------------------------*/

/* y = x u v with numbers of the device and of the host, from a generator that is not the context's
 * own. */
static tn_array *multiply(void *user, tn_array *const *inputs)
{
	const int64_t shape[] = {N};
	tn_array *u = tn_generator_random(user, TN_F32, 1, shape);
	tn_array *v = tn_generator_gamma(user, TN_F32, 1, shape, 2, 1);
	return tn_multiply(tn_multiply(inputs[0], u), v);
}

static void a_computation_that_is_repeated_draws_the_same(void **state)
{
	float forward[N], gradient[N];
	(void)state;
	tn_generator *g = tn_generator_create(context, 5);
	tn_array *x = tn_ones(context, TN_F32, 1, (int64_t[]){N});
	tn_tape *tape = tn_tape_begin(context);
	assert_ok(tn_tape_watch(tape, x));
	tn_array *y = tn_recompute(multiply, g, 1, &x);
	assert_ok(tn_tape_backward(tape, tn_sum(y, TN_ALL_AXES, NULL, 0), NULL));
	assert_ok(tn_to_host(y, forward, sizeof(forward)));
	assert_ok(tn_to_host(tn_tape_gradient(tape, x), gradient, sizeof(gradient)));
	assert_memory_equal(forward, gradient, sizeof(forward));
	assert_int_equal(tn_generator_get_state(g).stream, 2);
	tn_tape_end(tape);
	tn_generator_destroy(g);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, context_setup, context_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_saved_state_goes_on_with_the_same_numbers),
		TEST(the_default_generator_is_the_contexts_state),
		TEST(the_older_functions_keep_their_bits),
		TEST(splits_are_independent_and_repeatable),
		TEST(draws_that_fail_use_no_stream),
		TEST(nothing_is_drawn_from_nothing),
		TEST(bytes_are_those_of_the_words),
		TEST(a_computation_that_is_repeated_draws_the_same),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
