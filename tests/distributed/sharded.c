/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Sharded optimizer state over the ranks of one machine: beside a whole optimizer in each rank, the
 * parameters after every step and the gathered states have the same bits.  On the reference, whose
 * memory is the host's, and on the mock, where arenas pass through pinned memory.
 */
#include <tenon/distributed.h>
#include <unistd.h>

#include "array/array.h"
#include "distributed/ranks.h"
#include "distributed/sharded.h"
#include "unit/mock_fixture.h"

enum { STEPS = 4 };

/* Assertions of cmocka are for the process of the test alone. */
static void expect(int holds, const tn_context *context, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "rank %s: %s: %s\n", getenv("TENON_LOCAL_RANK"), what,
		context && tn_error(context) ? tn_error(context)->text : "");
	_exit(1);
}

static tn_context *open_context(const char *backend)
{
	const char *path = mock_file();
	struct tn_context_options options = tn_context_defaults();
	options.backend = backend;
	options.plugin_paths = &path;
	options.n_plugin_paths = 1;
	struct tn_error_info error = {0};
	tn_context *context = NULL;
	if (tn_context_open(&options, &context, &error))
		fprintf(stderr, "%s\n", error.text);
	expect(context != NULL, NULL, backend);
	return context;
}

/* A matrix of 6 rows of the arena, one of 3, two vectors: shares end within a matrix. */
static tn_module *make_net(tn_context *context, tn_dtype dtype)
{
	tn_module *net = tn_module_sequential(context);
	tn_random_set_state(context, (struct tn_random_state){.seed = 5, .stream = 1});
	tn_module_sequential_add(net, "a", tn_module_linear(context, 20, 17, NULL));
	tn_module_sequential_add(net, "b", tn_module_linear(context, 17, 9, NULL));
	tn_module_set_dtype(net, dtype);
	expect(!tn_module_build(net), context, "build");
	return net;
}

static void find_gradients(tn_context *context, tn_module *net)
{
	tn_module_zero_gradients(net);
	tn_tape *tape = tn_tape_begin(context);
	tn_array *x =
		tn_sin(tn_reshape(tn_arange(context, TN_F32, 0, 60, 1), 2, (int64_t[]){3, 20}));
	tn_array *y = tn_module_forward(net, tn_astype(x, tn_module_dtype(net)));
	tn_status status = tn_tape_backward(tape, tn_sum(tn_square(y), TN_ALL_AXES, NULL, 0), NULL);
	tn_tape_end(tape);
	expect(!status, context, "backward");
}

static void expect_same(const tn_context *context, const tn_array *a, const tn_array *b,
			const char *what)
{
	unsigned char x[8192], y[8192];
	const size_t size = (size_t)tn_array_size(a) * tn_dtype_size(tn_array_dtype(a));
	expect(size <= sizeof(x) && tn_array_size(a) == tn_array_size(b), context, "sizes");
	expect(!tn_to_host(a, x, size) && !tn_to_host(b, y, size), context, "to_host");
	expect(!memcmp(x, y, size), context, what);
}

static void step(tn_context *context, tn_module *net, tn_optimizer *optimizer)
{
	expect(!tn_scope_begin(context), context, "scope");
	find_gradients(context, net);
	expect(!tn_optimizer_step(optimizer), context, "step");
	tn_scope_end(context, NULL);
}

static void compare(tn_context *context, tn_communicator *ranks, tn_dtype dtype)
{
	struct tn_adamw_options options = tn_adamw_defaults();
	options.lr = 0.01;
	options.weight_decay = 0.1;
	struct tn_sharded sharded;
	struct tn_optimizer_state_view a = {.struct_size = sizeof(a)},
				       b = {.struct_size = sizeof(b)};
	tn_module *net = make_net(context, dtype), *whole_net = make_net(context, dtype);
	expect(!tn_sharded_open(&sharded, net, ranks), context, "sharded_open");
	tn_optimizer *optimizer = tn_adamw(net, &options), *whole = tn_adamw(whole_net, &options);
	for (int i = 0; i < STEPS; i++) {
		step(context, net, optimizer);
		step(context, whole_net, whole);
		expect_same(context, net->arena.values, whole_net->arena.values, "parameters");
	}
	expect(!tn_optimizer_gather_state(optimizer), context, "gather_state");
	for (size_t i = 0; i < tn_optimizer_state_count(whole); i++) {
		expect(!tn_optimizer_state_at(optimizer, i, &a) &&
			       !tn_optimizer_state_at(whole, i, &b),
		       context, "state_at");
		expect_same(context, a.value, b.value, a.state);
	}
	step(context, net, optimizer);
	step(context, whole_net, whole);
	expect_same(context, net->arena.values, whole_net->arena.values, "parameters");
	tn_optimizer_destroy(whole);
	tn_optimizer_destroy(optimizer);
	tn_sharded_close(&sharded);
	tn_module_destroy(net);
	tn_module_destroy(whole_net);
}

static void run_rank(uint32_t rank, const void *backend)
{
	struct tn_error_info error = {0};
	tn_communicator *ranks = NULL;
	tn_context *context = open_context(backend);
	(void)rank;
	if (tn_communicator_open(context, NULL, &ranks, &error))
		fprintf(stderr, "%s\n", error.text);
	expect(ranks != NULL, context, "communicator_open");
	compare(context, ranks, TN_F32);
	compare(context, ranks, TN_BF16);
	tn_communicator_close(ranks);
	tn_context_close(context);
}

static void ranks_with_shares_have_the_bits_of_the_whole(void **state)
{
	static const char *const backends[] = {"reference!", "mock"};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		for (uint32_t size = 1; size <= 3; size++)
			ranks_run(size, run_rank, backends[i], NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_with_shares_have_the_bits_of_the_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
