/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Summaries and profiles when host memory runs out: an error, and nothing else changes.
 */
#include <tenon/tenon.h>

#include "check.h"
#include "failing_memory.h"

static tn_context *context;
static tn_module *net;
static tn_array *x;

static void make_net(void)
{
	struct tn_context_options options = tn_context_defaults();
	options.backend = "reference!";
	assert_ok(tn_context_open(&options, &context, NULL));
	tn_module *block = tn_module_sequential(context);
	net = tn_module_sequential(context);
	assert_ok(tn_module_sequential_add(block, "fc", tn_module_linear(context, 3, 4, NULL)));
	assert_ok(tn_module_sequential_add(block, "act", tn_module_tanh(context)));
	assert_ok(tn_module_sequential_add(net, "block", block));
	assert_ok(tn_module_sequential_add(net, "head", tn_module_linear(context, 4, 2, NULL)));
	assert_ok(tn_module_build(net));
	tn_module_set_training(net, 1);
	x = tn_ones(context, TN_F32, 2, (const int64_t[]){2, 3});
}

static tn_status text(char *made)
{
	tn_string_free(made);
	return made ? TN_OK : TN_OUT_OF_MEMORY;
}

static tn_status summarise(void)
{
	const int64_t shape[] = {2, 3};
	struct tn_summary_options options = tn_summary_defaults();
	options.rank = 2;
	options.shape = shape;
	tn_summary *summary = tn_summary_create(net, &options);
	tn_status status = summary ? text(tn_summary_text(summary)) : tn_error(context)->status;
	tn_summary_destroy(summary);
	return status;
}

static tn_status step(tn_profile *profile)
{
	tn_status status = tn_scope_begin(context);
	if (status)
		return status;
	tn_status section = tn_profile_section_begin(profile, "forward");
	tn_tape *tape = tn_tape_begin(context);
	tn_array *y = tn_module_forward(net, x);
	if (!section)
		section = tn_profile_section_end(profile);
	else
		tn_profile_section_end(profile);
	tn_module_zero_gradients(net);
	status = y ? tn_tape_backward(tape, y, y) : tn_error(context)->status;
	tn_tape_end(tape);
	tn_scope_end(context, NULL);
	if (tn_error(context))
		return tn_error(context)->status;
	return status ? status : section;
}

static tn_status profile_step(void)
{
	tn_profile *profile = tn_profile_begin(net, NULL);
	if (!profile)
		return tn_error(context)->status;
	tn_status status = step(profile), ended = tn_profile_end(profile);
	status = status ? status : ended;
	if (!status)
		status = text(tn_profile_table(profile));
	if (!status)
		status = text(tn_profile_json(profile));
	if (!status)
		status = text(tn_profile_trace(profile));
	tn_profile_destroy(profile);
	return status;
}

static void losing_any_allocation_is_an_error(void **state)
{
	tn_status (*const users[])(void) = {summarise, profile_step};
	(void)state;
	make_net();
	for (size_t i = 0; i < 2; i++) {
		long n = 0;
		for (int failed = 1; failed; n++) {
			memory_fails_at(n, 0);
			tn_status status = users[i]();
			failed = memory_works() != 0;
			if (status) {
				assert_true(failed);
				assert_status(status, TN_OUT_OF_MEMORY);
			}
			assert_true(tn_module_is_training(net));
			tn_error_clear(context);
		}
		assert_true(n > 20);
		assert_ok(users[i]());
	}
	tn_module_destroy(net);
	tn_context_close(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(losing_any_allocation_is_an_error)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
