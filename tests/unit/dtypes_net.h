/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A small network in any dtype, on the backend that is the only argument, or else on the reference,
 * the preferred backend and the mock.
 */
#ifndef TN_TESTS_DTYPES_NET_H
#define TN_TESTS_DTYPES_NET_H

#include <tenon/tenon.h>

#include "unit/mock_fixture.h"

static tn_context *context;
static const char *backend;

static inline int setup(void **state)
{
	struct tn_context_options options = tn_context_defaults();
	options.backend = backend;
	struct tn_error_info error;
	(void)state;
	if (!tn_context_open(&options, &context, &error))
		return 0;
	print_error("%s\n", error.text);
	return 1;
}

static inline int setup_mock(void **state)
{
	(void)state;
	context = open_mock("");
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	tn_context_close(context);
	return 0;
}

enum { IN = 3, HIDDEN = 5, OUT = 2, ROWS = 4, N_ALL = IN * HIDDEN + HIDDEN + HIDDEN * OUT + OUT };

/* The network, not built. */
static inline tn_module *make_net(void)
{
	tn_module *net = tn_module_sequential(context);
	tn_random_set_state(context, (struct tn_random_state){.seed = 3, .stream = 1});
	struct tn_module_norm_options norm = tn_module_norm_defaults();
	norm.no_affine = 1;
	assert_ok(
		tn_module_sequential_add(net, "norm", tn_module_batch_norm1d(context, IN, &norm)));
	assert_ok(tn_module_sequential_add(net, "a", tn_module_linear(context, IN, HIDDEN, NULL)));
	assert_ok(tn_module_sequential_add(net, "b", tn_module_tanh(context)));
	assert_ok(tn_module_sequential_add(net, "c", tn_module_linear(context, HIDDEN, OUT, NULL)));
	return net;
}

static inline tn_module *build_net(tn_dtype dtype)
{
	tn_module *net = make_net();
	assert_ok(tn_module_set_dtype(net, dtype));
	assert_ok(tn_module_build(net));
	return net;
}

/* All parameters, in the order of the tree, as doubles. */
static inline void read_all(const tn_module *net, double values[N_ALL])
{
	size_t n = 0;
	for (size_t i = 0; i < tn_module_parameter_count(net); i++) {
		struct tn_parameter_view view = {.struct_size = sizeof(view)};
		assert_ok(tn_module_parameter_at(net, i, &view));
		size_t size = (size_t)tn_array_size(view.value);
		tn_array *wide = tn_astype(view.value, TN_F64);
		assert_ok(tn_to_host(wide, values + n, size * sizeof(double)));
		tn_array_destroy(wide);
		n += size;
	}
	assert_int_equal(n, N_ALL);
}

static inline tn_array *input(tn_dtype dtype)
{
	float values[ROWS * IN];
	for (int i = 0; i < ROWS * IN; i++)
		values[i] = (float)(i % 7) - 3;
	return tn_astype(tn_from_host(context, TN_F32, 2, (int64_t[]){ROWS, IN}, values), dtype);
}

static inline void find_gradients(tn_module *net)
{
	tn_module_zero_gradients(net);
	tn_tape *tape = tn_tape_begin(context);
	tn_array *y = tn_module_forward(net, input(tn_module_dtype(net)));
	assert_non_null(y);
	assert_int_equal(tn_array_dtype(y), tn_module_dtype(net));
	assert_ok(tn_tape_backward(tape, tn_mean(tn_square(y), TN_ALL_AXES, NULL, 0), NULL));
	tn_tape_end(tape);
}

static inline void step(tn_module *net, tn_optimizer *optimizer)
{
	assert_ok(tn_scope_begin(context));
	tn_module_set_training(net, 1);
	find_gradients(net);
	assert_ok(tn_optimizer_step(optimizer));
	tn_scope_end(context, NULL);
}

static const tn_dtype all_dtypes[] = {TN_F32, TN_F64, TN_F16, TN_BF16};
enum { N_DTYPES = 4 };

static inline tn_optimizer *sgd(tn_module *net)
{
	struct tn_sgd_options options = tn_sgd_defaults();
	options.lr = 1e-3;
	options.momentum = 0.9;
	options.weight_decay = 0.1;
	return tn_sgd(net, &options);
}

/* The number that a store of f16 or bf16 gives. */
static inline double rounded(double value, tn_dtype dtype)
{
	double result;
	tn_array *narrow = tn_full(context, dtype, 0, NULL, value);
	assert_ok(tn_item(narrow, &result));
	tn_array_destroy(narrow);
	return result;
}

/* Runs `group`, a call of cmocka's with these functions. */
static inline int run_everywhere(int n_arguments, char **arguments,
				 int (*group)(CMFixtureFunction setup, CMFixtureFunction teardown))
{
	backend = n_arguments > 1 ? arguments[1] : "reference!";
	int n_failed = group(setup, teardown);
	if (n_arguments > 1)
		return n_failed;
	backend = NULL;
	n_failed += group(setup, teardown);
	/* Last: the fixture changes the environment. */
	return n_failed + group(setup_mock, teardown);
}

#endif
