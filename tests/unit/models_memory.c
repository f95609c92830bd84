/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Making the networks of the gallery when host memory runs out: an error, and nothing is left; a
 * sanitizer sees the latter.
 */
#include <limits.h>
#include <tenon/tenon.h>

#include "check.h"
#include "failing_memory.h"
#include "test_context.h"

enum { N_FAILURES = 200 };

static int setup(void **state)
{
	(void)state;
	struct tn_context_options options = tn_context_defaults();
	options.backend = "reference!";
	return tn_context_open(&options, &context, NULL);
}

static tn_module *make(const struct tn_model_info *info, uint32_t form)
{
	const struct tn_model_shape shape = {3, 224, 224, 10};
	char name[64];
	snprintf(name, sizeof(name), "%s:%s", info->name, tn_model_form_name(form));
	return tn_model_create(context, name, &shape);
}

/* Loses allocation n, alone or with all that follow. */
static void lose(const struct tn_model_info *info, uint32_t form, long n, int forever)
{
	memory_fails_at(n, forever);
	tn_module *net = make(info, form);
	const long failed = memory_works();
	assert_true(failed);
	if (net)
		fail_msg("%s: made without allocation %ld", info->name, n);
	assert_non_null(tn_error(context));
	assert_status(tn_error(context)->status, TN_OUT_OF_MEMORY);
	tn_error_clear(context);
}

/* All allocations of small networks, and of others so many, evenly spaced. */
static void check_form(const struct tn_model_info *info, uint32_t form)
{
	memory_fails_at(LONG_MAX, 0);
	tn_module *net = make(info, form);
	memory_works();
	const long counted = failing_memory.counted, step = 1 + counted / N_FAILURES;
	assert_non_null(net);
	assert_true(counted > 10);
	tn_module_destroy(net);
	for (long n = form % step; n < counted; n += step)
		lose(info, form, n, n / step % 2 != 0);
}

static void losing_any_allocation_is_an_error(void **state)
{
	(void)state;
	for (size_t i = 0; tn_model_at(i); i++) {
		for (uint32_t form = 0; tn_model_form_name(form); form++) {
			if (tn_model_at(i)->forms >> form & 1)
				check_form(tn_model_at(i), form);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(losing_any_allocation_is_an_error)};
	return cmocka_run_group_tests(tests, setup, context_teardown);
}
