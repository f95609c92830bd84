/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The Nth allocation of the host fails, for every N, while an optimizer, a scaler, a schedule and
 * an average are made, used and listed, or a network is converted: an error says so, and the next
 * attempt works.
 */
#include <tenon/tenon.h>

#include "check.h"
#define FAILING_MALLOC 0
#include "failing_memory.h"
#include "optim/shard.h"
#include "test_context.h"

static tn_module *net;

static tn_optimizer *make_adagrad(void)
{
	struct tn_adagrad_options adagrad = tn_adagrad_defaults();
	adagrad.initial_accumulator_value = 0.5;
	return tn_adagrad(net, &adagrad);
}

static tn_optimizer *make_lamb(void)
{
	return tn_lamb(net, NULL);
}

static void give_gradients(void)
{
	tn_module_zero_gradients(net);
	tn_tape *tape = tn_tape_begin(context);
	tn_array *x = tn_ones(context, tn_module_dtype(net), 2, (int64_t[]){2, 3});
	tn_array *loss = tn_sum(tn_module_forward(net, x), TN_ALL_AXES, NULL, 0);
	assert_ok(tn_tape_backward(tape, loss, NULL));
	tn_tape_end(tape);
}

/* Everything that allocates; TN_OK or the kept error. */
static tn_status use(tn_optimizer *(*make)(void))
{
	static const uint64_t milestones[] = {1, 2};
	struct tn_optimizer_state_view state = {.struct_size = sizeof(state)};
	struct tn_weight_average_view view = {.struct_size = sizeof(view)};
	tn_optimizer *optimizer = make();
	tn_schedule *schedule = NULL;
	tn_weight_average *average = NULL;
	tn_grad_scaler *scaler = NULL;
	tn_status status = optimizer ? TN_OK : tn_error(context)->status;
	if (!status)
		status = tn_optimizer_set_gradient_noise(optimizer, 0.1, 0.55);
	if (!status) {
		struct tn_lookahead_options lookahead = tn_lookahead_defaults();
		lookahead.k = 1;
		status = tn_lookahead(optimizer, &lookahead);
	}
	if (!status)
		status = tn_optimizer_step(optimizer);
	if (!status)
		status = tn_optimizer_gather_state(optimizer);
	if (!status)
		status = tn_optimizer_state_at(optimizer, 0, &state);
	if (!status) {
		scaler = tn_grad_scaler_create(net, NULL);
		status =
			scaler ? tn_grad_scaler_step(scaler, optimizer) : tn_error(context)->status;
	}
	if (!status)
		status = tn_grad_scaler_update(scaler);
	if (!status) {
		struct tn_schedule_options options = tn_schedule_defaults();
		options.kind = TN_SCHEDULE_MULTISTEP;
		options.n_milestones = 2;
		options.milestones = milestones;
		schedule = tn_schedule_create(optimizer, &options);
		average = schedule ? tn_weight_average_create(net, NULL) : NULL;
		status = average ? tn_weight_average_update(average) : tn_error(context)->status;
	}
	if (!status)
		status = tn_weight_average_swap(average);
	if (!status)
		status = tn_weight_average_swap(average);
	if (!status)
		status = tn_weight_average_at(average, 1, &view);
	tn_grad_scaler_destroy(scaler);
	tn_weight_average_destroy(average);
	tn_schedule_destroy(schedule);
	tn_optimizer_destroy(optimizer);
	return status;
}

/* Fails at each allocation of `run` in turn; prepares each attempt. */
static void fail_everywhere(tn_status (*run)(tn_optimizer *(*make)(void)),
			    tn_optimizer *(*make)(void), void (*prepare)(void))
{
	long n = 0;
	int failed = 1;
	for (; failed; n++) {
		prepare();
		memory_fails_at(n, 0);
		tn_status status = run(make);
		failed = memory_works() != 0;
		if (status) {
			assert_true(failed);
			assert_int_equal(status, TN_OUT_OF_MEMORY);
			assert_int_equal(tn_error(context)->status, TN_OUT_OF_MEMORY);
		}
		tn_error_clear(context);
	}
	assert_true(n > 20);
	prepare();
	assert_ok(run(make));
}

static void make_net(tn_dtype dtype)
{
	net = tn_module_linear(context, 3, 2, NULL);
	assert_ok(tn_module_set_dtype(net, dtype));
	assert_ok(tn_module_build(net));
}

static int setup(void **state)
{
	(void)state;
	struct tn_context_options options = tn_context_defaults();
	options.backend = "reference!";
	return tn_context_open(&options, &context, NULL);
}

static void losing_any_allocation_is_an_error(void **state)
{
	static const tn_dtype dtypes[] = {TN_F32, TN_F16};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		make_net(dtypes[i]);
		fail_everywhere(use, make_adagrad, give_gradients);
		fail_everywhere(use, make_lamb, give_gradients);
		assert_ok(tn_module_set_shard(net, &(struct tn_shard){.rank = 1, .n_ranks = 2}));
		fail_everywhere(use, make_adagrad, give_gradients);
		tn_module_destroy(net);
	}
}

/* A network with a buffer of f32; a conversion that fails leaves it whole. */
static tn_status convert(tn_optimizer *(*make)(void))
{
	(void)make;
	tn_dtype before = tn_module_dtype(net);
	tn_status status = tn_module_set_dtype(net, before == TN_F64 ? TN_F16 : TN_F64);
	if (status) {
		struct tn_buffer_view buffer = {.struct_size = sizeof(buffer)};
		assert_int_equal(tn_module_dtype(net), before);
		assert_ok(tn_module_buffer_at(net, 0, &buffer));
		assert_int_equal(tn_array_dtype(buffer.value), before == TN_F64 ? TN_F64 : TN_F32);
	}
	return status;
}

static void forward(void)
{
	assert_ok(tn_scope_begin(context));
	tn_array *x = tn_ones(context, tn_module_dtype(net), 2, (int64_t[]){2, 3});
	assert_non_null(tn_module_forward(net, x));
	tn_scope_end(context, NULL);
}

static void a_conversion_that_fails_changes_nothing(void **state)
{
	(void)state;
	net = tn_module_sequential(context);
	assert_ok(tn_module_sequential_add(net, "norm", tn_module_batch_norm1d(context, 3, NULL)));
	assert_ok(tn_module_sequential_add(net, "fc", tn_module_linear(context, 3, 2, NULL)));
	assert_ok(tn_module_build(net));
	for (int i = 0; i < 2; i++)
		fail_everywhere(convert, NULL, forward);
	tn_module_destroy(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(losing_any_allocation_is_an_error),
		cmocka_unit_test(a_conversion_that_fails_changes_nothing),
	};
	return cmocka_run_group_tests(tests, setup, context_teardown);
}
