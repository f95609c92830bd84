/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The Nth allocation of the host fails, for every N, while an optimizer, a schedule and an average
 * are made, used and listed: an error says so, and the next attempt works.
 */
#include <tenon/tenon.h>

#include "check.h"
#define FAILING_MALLOC 0
#include "failing_memory.h"

static tn_context *context;
static tn_module *net;

static tn_optimizer *make_adagrad(void)
{
	return tn_adagrad(net,
			  TN_OPTIONS(struct tn_adagrad_options, .initial_accumulator_value = 0.5));
}

static tn_optimizer *make_lamb(void)
{
	return tn_lamb(net, NULL);
}

static void give_gradients(void)
{
	tn_module_zero_gradients(net);
	tn_tape *tape = tn_tape_begin(context);
	tn_array *x = tn_ones(context, TN_F32, 2, (int64_t[]){2, 3});
	tn_array *loss = tn_sum(tn_module_forward(net, x), TN_ALL_AXES, NULL, 0);
	assert_ok(tn_tape_backward(tape, loss, NULL));
	tn_tape_end(tape);
}

/* Everything that allocates; TN_OK or the kept error. */
static tn_status use(tn_optimizer *(*make)(void))
{
	static const uint64_t milestones[] = {1, 2};
	struct tn_optimizer_state_view state;
	struct tn_average_view view;
	tn_optimizer *optimizer = make();
	tn_schedule *schedule = NULL;
	tn_average *average = NULL;
	tn_status status = optimizer ? TN_OK : tn_error(context)->status;
	if (!status)
		status = tn_optimizer_set_gradient_noise(optimizer, 0.1, 0);
	if (!status)
		status = tn_lookahead(optimizer, TN_OPTIONS(struct tn_lookahead_options, .k = 1));
	if (!status)
		status = tn_optimizer_step(optimizer);
	if (!status)
		status = tn_optimizer_state_at(optimizer, 0, &state);
	if (!status) {
		schedule = tn_schedule_create(optimizer, TN_OPTIONS(struct tn_schedule_options,
								    .kind = TN_SCHEDULE_MULTISTEP,
								    .n_milestones = 2,
								    .milestones = milestones));
		average = schedule ? tn_average_create(net, NULL) : NULL;
		status = average ? tn_average_update(average) : tn_error(context)->status;
	}
	if (!status)
		status = tn_average_swap(average);
	if (!status)
		status = tn_average_swap(average);
	if (!status)
		status = tn_average_at(average, 1, &view);
	tn_average_destroy(average);
	tn_schedule_destroy(schedule);
	tn_optimizer_destroy(optimizer);
	return status;
}

static void losing_any_allocation_is_an_error(void **state)
{
	tn_optimizer *(*const makers[])(void) = {make_adagrad, make_lamb};
	(void)state;
	assert_ok(tn_context_open(TN_OPTIONS(struct tn_context_options, .backend = "reference!"),
				  &context, NULL));
	net = tn_module_linear(context, 3, 2, NULL);
	assert_ok(tn_module_build(net));
	for (size_t i = 0; i < 2; i++) {
		long n = 0;
		int failed = 1;
		for (; failed; n++) {
			give_gradients();
			memory_fails_at(n, 0);
			tn_status status = use(makers[i]);
			failed = memory_works() != 0;
			if (status) {
				assert_true(failed);
				assert_int_equal(status, TN_OUT_OF_MEMORY);
				assert_int_equal(tn_error(context)->status, TN_OUT_OF_MEMORY);
			}
			tn_error_clear(context);
		}
		assert_true(n > 20);
		assert_ok(use(makers[i]));
	}
	tn_module_destroy(net);
	tn_context_close(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(losing_any_allocation_is_an_error)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
