/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The checks that the tests of several backends share, on the available CUDA device, a GPU or the
 * simulated one: captured steps, resumed trainings, streams, late errors, narrow dtypes, second
 * derivatives.
 *
 *     real_checks              all
 *     real_checks PATTERN      those whose names match
 */
#include "capture_step.h"
#include "capture_train.h"
#include "half_checks.h"
#include "index_checks.h"
#include "integer_checks.h"
#include "second_checks.h"
#include "stream_cases.h"
#include "trainer_run.h"

static tn_context *open_device(void)
{
	struct tn_error_info error = {.struct_size = sizeof(error)};
	tn_context *context = NULL;
	struct tn_context_options options = tn_context_defaults();
	options.backend = "cuda!";
	if (tn_context_open(&options, &context, &error))
		fail_msg("%s: %s", error.operation, error.text);
	assert_non_null(strstr(tn_device_name(tn_device_current(context)), "cuda:"));
	return context;
}

static void check(void (*run)(tn_context *context))
{
	tn_context *context = open_device();
	run(context);
	tn_context_close(context);
}

static void check_norms(tn_context *context)
{
	check_replays_of(context, WITH_LAMB);
}

static void replayed_steps_are_steps(void **state)
{
	(void)state;
	check(check_replayed_steps);
	check(check_norms);
}

static void the_trainer_replays(void **state)
{
	(void)state;
	check(check_replayed_training);
	check(check_spoilt_training);
}

static void a_resumed_training_ends_with_the_same_bits(void **state)
{
	(void)state;
	for (int kind = 0; kind < RUN_KINDS; kind++)
		for (int is_captured = 0; is_captured < 2; is_captured++)
			check_resume(open_device, kind, is_captured);
}

static void a_resumed_trainer_ends_with_the_same_bits(void **state)
{
	(void)state;
	check_resumed_trainer(open_device, TN_CAPTURE_OFF);
	check_resumed_trainer(open_device, TN_CAPTURE_ON);
}

static void streams_and_events_order_work(void **state)
{
	(void)state;
	check(check_producer_and_consumer);
	check(check_memory_that_another_stream_reads);
	check(check_memory_of_other_calls);
	check(check_the_stack);
	check(check_events);
	check(check_replays_in_several_streams);
	check(check_memory_that_a_replay_reads);
	leave_streams(open_device());
}

static void check_late_errors(tn_context *context)
{
	check_index_errors(context, LATER, LATER);
	check_label_in_training(context, LATER);
}

static void indices_out_of_range_are_reported(void **state)
{
	(void)state;
	check(check_late_errors);
	check(check_label_in_replay);
}

static void operations_on_halves_agree_with_f32(void **state)
{
	(void)state;
	check(check_all_halves);
}

static void products_of_integers_wrap(void **state)
{
	(void)state;
	check(check_integer_products);
}

static void second_derivatives_agree_with_the_reference(void **state)
{
	(void)state;
	check(check_all_second);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replayed_steps_are_steps),
		cmocka_unit_test(the_trainer_replays),
		cmocka_unit_test(a_resumed_training_ends_with_the_same_bits),
		cmocka_unit_test(a_resumed_trainer_ends_with_the_same_bits),
		cmocka_unit_test(streams_and_events_order_work),
		cmocka_unit_test(indices_out_of_range_are_reported),
		cmocka_unit_test(operations_on_halves_agree_with_f32),
		cmocka_unit_test(products_of_integers_wrap),
		cmocka_unit_test(second_derivatives_agree_with_the_reference),
	};
	setenv("TENON_DETERMINISTIC", "1", 1);
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
