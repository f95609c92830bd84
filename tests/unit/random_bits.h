/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Every function of <tenon/random.h>, for tests on several backends: the bits are those recorded,
 * on any backend and with any number of threads; where the functions run; and what a replay of
 * captured draws gives.
 */
#ifndef TN_TESTS_RANDOM_BITS_H
#define TN_TESTS_RANDOM_BITS_H

#include "program/hash.h"
#include "random_calls.h"

/* More than one part of a host draw, and no multiple of a power of 2. */
enum { RANDOM_N = 4998, RANDOM_ROWS = 42, RANDOM_MOST = RANDOM_N * 16 };

/* Recorded once: they must never change, or a seed would give other numbers. */
static const struct random_case {
	const char *name;
	tn_dtype dtype;
	double p[4];
	uint64_t hash;
} random_cases[] = {
	/* On the device. */
	{"integers", TN_I8, {-100, 101, 0}, 0xfa8aff7ba99ac45e},
	{"integers", TN_U8, {0, 256, 0}, 0xe663029ffe47fc55},
	{"integers", TN_I16, {-5, 5, 1}, 0xf9faa549c3742853},
	{"integers", TN_U16, {0, 0x8000, 0}, 0x5caadcd448a131f9},
	{"integers", TN_I32, {-0x1p31, 0x1p31 - 1, 1}, 0x08d36bf1fdabd26c},
	{"integers", TN_U32, {7, 0x1p32 - 1, 1}, 0x7e1eb670af2665ae},
	{"integers", TN_I64, {-0x1p40, 0x1p50, 0}, 0xb46eb98825e1ed8c},
	{"integers", TN_I64, {-0x1p63, 0x1p63 - 1024, 1}, 0x8348118ef05892e4},
	{"integers", TN_U64, {0, 0x1p33, 1}, 0x21e744fbfae6e9dc},
	{"random", TN_F16, {0}, 0xc7bb087dcbf4837a},
	{"random", TN_BF16, {0}, 0xeb057d6a3bb86b60},
	{"random", TN_F32, {0}, 0xfdafba3cf74adbc1},
	{"random", TN_F64, {0}, 0x26ab3d9fff3c9bff},
	{"uniform", TN_F16, {-3, 0.1}, 0x3871834fc4febc2f},
	{"uniform", TN_F32, {-3, 0.1}, 0x4fb36aa17f7cb47f},
	{"uniform", TN_F64, {-3, 0.1}, 0xecaf910d773333af},
	{"standard_normal", TN_F16, {0}, 0xc3a2155606612656},
	{"standard_normal", TN_BF16, {0}, 0x5649e778d7e319ba},
	{"standard_normal", TN_F32, {0}, 0xf70e51adbef2bd18},
	{"normal", TN_F32, {0.3, 2.7}, 0x1d195f1dfa188e3a},
	{"normal", TN_C64, {0.3, 2.7}, 0xe6f726ad78789057},
	{"bernoulli", TN_BOOL, {0.3}, 0x6b975323a9052b8a},
	/* On the host. */
	{"standard_normal", TN_F64, {0}, 0x3923a56bfdf2f967},
	{"normal", TN_C128, {0.3, 2.7}, 0xd37fe10b9e51a5b5},
	{"exponential", TN_F16, {2}, 0x41b3383365f6de79},
	{"exponential", TN_F64, {2}, 0x1c02e8792cdfbc38},
	{"gamma", TN_F32, {0.3, 2}, 0x9de95b066270adf5},
	{"gamma", TN_F64, {2.5, 2}, 0x287392e60feec936},
	{"beta", TN_F64, {0.4, 3}, 0x960d7dfc3e316dc8},
	{"beta", TN_F64, {2, 3}, 0x382b4c451182bb77},
	{"chisquare", TN_F64, {3}, 0x20a1c58ffd733f91},
	{"f", TN_F64, {3, 4}, 0xeff8072a4b5aedb1},
	{"standard_t", TN_F64, {3}, 0x79adba80571463a3},
	{"laplace", TN_BF16, {1, 2}, 0x6815d9126fd541e6},
	{"logistic", TN_F64, {1, 2}, 0x26f19ee237cf291a},
	{"gumbel", TN_F64, {1, 2}, 0x478cdd1361b6a03a},
	{"cauchy", TN_F64, {1, 2}, 0x0c0e0872d7a72f7f},
	{"lognormal", TN_F64, {1, 2}, 0x08233d794ebc45b1},
	{"rayleigh", TN_F64, {2}, 0x3a59363e64936f3b},
	{"weibull", TN_F64, {1.7}, 0xdd2d9d070c59b136},
	{"pareto", TN_F64, {1.7}, 0xe0eeeb2f199b30de},
	{"power", TN_F64, {1.7}, 0x502f45ec2eb565c3},
	{"wald", TN_F64, {2, 3}, 0xd69b9d55023ae3e4},
	{"triangular", TN_F64, {-1, 0.5, 3}, 0xd3aa34a868020a32},
	{"truncated_normal", TN_F64, {0.2, 2, -1, 1.5}, 0x320a1e971198fe14},
	{"truncated_normal", TN_F64, {0, 1, 3, 9}, 0x4c7ee28a8f9467d5},
	{"binomial", TN_I64, {20, 0.2}, 0x26a07c252babc795},
	{"binomial", TN_I64, {1000, 0.7}, 0xdb83bd0c5dbeb9c0},
	{"poisson", TN_I64, {3}, 0x59f2fecc0727729f},
	{"poisson", TN_I64, {300}, 0x2fdc3b5a59113776},
	{"geometric", TN_I64, {0.01}, 0x633b37a39b22b935},
	{"negative_binomial", TN_I64, {2.5, 0.1}, 0x2c6a157b1e42253c},
	{"noncentral_chisquare", TN_F64, {0.7, 2}, 0xa3616a18c9d626d0},
	{"noncentral_f", TN_F64, {3, 4, 0.5}, 0x3f73d930ad0724d2},
	{"vonmises", TN_F64, {1, 2}, 0x9cad224a67c3f520},
	{"hypergeometric", TN_I64, {70, 50, 40}, 0x4bc60a9880933bff},
	{"logseries", TN_I64, {0.9}, 0x9c70b174bce798ff},
	{"zipf", TN_I64, {1.8}, 0x1fdcd66eb4bd9b02},
};
enum { RANDOM_CASES = sizeof(random_cases) / sizeof(random_cases[0]) };

static inline uint64_t random_hash(const tn_array *a, const char *what)
{
	static unsigned char bytes[RANDOM_MOST];
	uint64_t hash[2];
	if (!a)
		fail_msg("%s gave no array", what);
	const size_t size = (size_t)tn_array_size(a) * tn_dtype_size(tn_array_dtype(a));
	assert_true(size <= sizeof(bytes));
	assert_ok(tn_to_host(a, bytes, size));
	tn_hash_bytes(bytes, size, hash);
	return hash[0];
}

static inline void random_expect(const tn_array *a, const char *what, uint64_t hash)
{
	const uint64_t found = random_hash(a, what);
	if (found != hash)
		fail_msg("%s: 0x%016llx", what, (unsigned long long)found);
}

static inline tn_array *random_line(tn_context *context, int64_t n, const double *values)
{
	return tn_from_host(context, TN_F64, 1, &n, values);
}

/* What is not of the form of the table, from a generator of its own. */
static inline void random_check_others(tn_context *context)
{
	static const double weights[] = {0, 0.5, 3, 0, 2, 1, 0.25, 0, 0, 7, 1, 1};
	static const double shares[] = {0.1, 0.5, 0, 0.4};
	const int64_t shape[] = {70, 5}, few[] = {5};
	tn_generator *g = tn_generator_create(context, 99);
	tn_array *w = random_line(context, 12, weights), *p = random_line(context, 4, shares);
	tn_array *ramp = tn_reshape(tn_arange(context, TN_I32, 0, 350, 1), 2, shape);
	const tn_array *parameters[] = {random_line(context, 5, (double[]){0.5, 3, 2, 1, 0.25}),
					tn_full(context, TN_F32, 0, NULL, 0.25)};
	random_expect(tn_generator_permutation(g, 1000), "permutation", 0xd9d7b3f3bb824cf2);
	random_expect(tn_generator_permutation_of(g, ramp, 0), "permutation_of",
		      0xf22d95505eb0115e);
	random_expect(tn_generator_permuted(g, ramp, 1), "permuted", 0xe0ae51aeffcf17f9);
	random_expect(tn_generator_permuted(g, ramp, TN_AXIS_NONE), "permuted flat",
		      0x7b7409c805f4b4c2);
	assert_ok(tn_generator_shuffle(g, ramp, -1));
	random_expect(ramp, "shuffle", 0xdb9e92ff799f8fbd);
	random_expect(tn_generator_choice(g, 12, 2, shape, 1, NULL), "choice", 0x51ed85288c27b005);
	random_expect(tn_generator_choice(g, 500, 2, shape, 0, NULL), "choice without",
		      0x70b0e7a69b4823a8);
	random_expect(tn_generator_choice(g, 12, 2, shape, 1, w), "choice by weights",
		      0xb88e907085a6e0a3);
	random_expect(tn_generator_choice(g, 12, 1, few, 0, w), "choice without by weights",
		      0x0f98ad9f2c66b50c);
	random_expect(tn_generator_bernoulli_array(g, tn_broadcast_to(p, 2, (int64_t[]){70, 4})),
		      "bernoulli_array", 0x9646626bcd5afd30);
	random_expect(tn_generator_multinomial(g, 2, shape, 100, p), "multinomial",
		      0x7bc0cbbb6cbff4cb);
	random_expect(
		tn_generator_dirichlet(g, TN_F64, 2, shape, random_line(context, 3, weights + 4)),
		"dirichlet", 0x00aa024172f1c395);
	random_expect(tn_generator_sample(g, TN_DISTRIBUTION_NEGATIVE_BINOMIAL, TN_I64, 2, shape, 2,
					  parameters),
		      "sample", 0x91b1df052d8edb84);
	tn_generator_destroy(g);
}

/* With arrays of one number as parameters. */
static inline tn_array *random_sample(tn_context *context, tn_generator *g,
				      const struct random_case *c, int rank, const int64_t *shape)
{
	const struct random_name *row = random_name_of(c->name);
	const tn_array *parameters[4];
	for (uint32_t i = 0; i < row->n_parameters; i++)
		parameters[i] = tn_full(context, TN_F64, 0, NULL, c->p[i]);
	return tn_generator_sample(g, row->n, c->dtype, rank, shape, (int)row->n_parameters,
				   parameters);
}

static inline void random_check_case(tn_context *context, int i)
{
	const struct random_case *c = &random_cases[i];
	const int64_t shape[] = {RANDOM_ROWS, RANDOM_N / RANDOM_ROWS};
	tn_generator *g = tn_generator_create(context, 0x123456789abcdef0);
	char what[80];
	assert_ok(tn_scope_begin(context));
	snprintf(what, sizeof(what), "%d: %s of %s", i, c->name, tn_dtype_name(c->dtype));
	random_expect(random_call(g, c->name, c->dtype, 2, shape, c->p), what, c->hash);
	if (random_name_of(c->name)->n) {
		assert_ok(
			tn_generator_set_state(g, (struct tn_random_state){0x123456789abcdef0, 0}));
		random_expect(random_sample(context, g, c, 2, shape), what, c->hash);
	}
	tn_scope_end(context, NULL);
	tn_generator_destroy(g);
}

/* `open` gives contexts of a backend, with as many threads as TENON_THREADS says. */
static inline void check_random_bits(tn_context *(*open)(void))
{
	static const char *const threads[] = {"1", "3"};
	for (int t = 0; t < 2; t++) {
		setenv("TENON_THREADS", threads[t], 1);
		tn_context *context = open();
		for (int i = 0; i < RANDOM_CASES; i++)
			random_check_case(context, i);
		random_check_others(context);
		tn_context_close(context);
	}
	unsetenv("TENON_THREADS");
}

/* ---- Capture ---------------------------------------------------------------------------------*/

enum { RANDOM_STEP = 4 };

/* Draws from a generator and from the default one; orders need a sort that can be captured. */
static inline void random_step(tn_context *context, tn_generator *g, int has_order,
			       tn_array *out[RANDOM_STEP])
{
	const int64_t shape[] = {33};
	out[0] = tn_generator_integers(g, TN_I64, 1, shape, -5, 100, 0);
	out[1] = tn_generator_uniform(tn_default_generator(context), TN_F32, 1, shape, -1, 1);
	out[2] = tn_generator_standard_normal(g, TN_C64, 1, shape);
	out[3] = has_order ? tn_generator_permutation(g, 33)
			   : tn_generator_bernoulli(g, 1, shape, 0.5);
}

static inline uint64_t random_step_hash(tn_array *const out[RANDOM_STEP])
{
	uint64_t hash = 0;
	for (int i = 0; i < RANDOM_STEP; i++)
		hash = hash * 31 + random_hash(out[i], "a step");
	return hash;
}

static inline void random_rewind(tn_context *context, tn_generator *g)
{
	assert_ok(tn_generator_set_state(g, (struct tn_random_state){5, 10}));
	tn_random_set_state(context, (struct tn_random_state){6, 20});
}

/* Replays draw what the steps would have drawn, and both may be mixed. */
static inline void check_random_capture(tn_context *context, int has_order)
{
	tn_generator *g = tn_generator_create(context, 0);
	tn_array *out[RANDOM_STEP], *captured[RANDOM_STEP];
	tn_graph *graph = NULL;
	uint64_t expected[3];
	random_rewind(context, g);
	for (int i = 0; i < 3; i++) {
		random_step(context, g, has_order, out);
		expected[i] = random_step_hash(out);
	}
	random_rewind(context, g);
	assert_ok(tn_capture_begin(context));
	random_step(context, g, has_order, captured);
	assert_ok(tn_capture_end(context, &graph));
	assert_int_equal(tn_generator_get_state(g).stream, 10);
	assert_int_equal(tn_random_get_state(context).stream, 20);
	assert_ok(tn_graph_replay(graph));
	assert_int_equal(random_step_hash(captured), expected[0]);
	random_step(context, g, has_order, out);
	assert_int_equal(random_step_hash(out), expected[1]);
	const struct tn_random_state state = tn_generator_get_state(g);
	assert_ok(tn_graph_replay(graph));
	assert_int_equal(random_step_hash(captured), expected[2]);
	assert_true(tn_generator_get_state(g).stream > state.stream);
	/* The graph goes on without the owner of the generator. */
	tn_generator_destroy(g);
	assert_ok(tn_graph_replay(graph));
	assert_int_not_equal(random_step_hash(captured), expected[2]);
	tn_graph_destroy(graph);
}

static inline void random_expect_refused(tn_context *context, tn_generator *g, const char *words)
{
	tn_graph *graph;
	assert_int_equal(tn_error(context)->status, TN_NOT_CAPTURABLE);
	assert_contains(tn_error(context)->text, words);
	assert_int_equal(tn_capture_end(context, &graph), TN_NOT_CAPTURABLE);
	tn_error_clear(context);
	assert_int_equal(tn_generator_get_state(g).stream, 0);
}

/* What the host draws would be the same in each replay. */
static inline void check_random_not_captured(tn_context *context)
{
	unsigned char byte = 7;
	tn_generator *g = tn_generator_create(context, 8);
	assert_ok(tn_capture_begin(context));
	assert_null(tn_generator_gamma(g, TN_F32, 0, NULL, 1, 1));
	random_expect_refused(context, g, "numbers that the host draws");
	assert_ok(tn_capture_begin(context));
	assert_null(tn_generator_standard_normal(g, TN_F64, 0, NULL));
	random_expect_refused(context, g, "numbers that the host draws");
	assert_ok(tn_capture_begin(context));
	assert_null(tn_generator_split(g));
	random_expect_refused(context, g, "the new generator");
	assert_ok(tn_capture_begin(context));
	assert_int_equal(tn_generator_bytes(g, &byte, 1), TN_NOT_CAPTURABLE);
	random_expect_refused(context, g, "numbers that the host draws");
	assert_int_equal(byte, 7);
	assert_ok(tn_capture_begin(context));
	assert_int_equal(tn_generator_set_state(g, (struct tn_random_state){1, 1}),
			 TN_NOT_CAPTURABLE);
	random_expect_refused(context, g, "the state");
	tn_generator_destroy(g);
}

#endif
