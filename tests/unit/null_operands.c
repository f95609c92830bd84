/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * No public function passes over a NULL in silence: with any of its objects or names NULL it fails,
 * and an error names the function and the operand, wherever another operand tells the context or
 * takes the report.  The calls are made from the headers (null_calls.awk).
 */
#include <ctype.h>

#include "every_handle.h"

#include "null_calls.h"

/* ---- The calls -------------------------------------------------------------------------------*/

/* "conv2d" of tn_conv2d, "add" of tn_add_into, "choice" of tn_generator_choice, the class of a
 * module, and the name of the ufunc or the distribution. */
static int names_function(const char *operation, const char *function)
{
	if (isupper((unsigned char)*operation))
		return !strncmp(function, "tn_module_", strlen("tn_module_"));
	if (!strncmp(function, "tn_ufunc_", strlen("tn_ufunc_")) ||
	    !strcmp(function, "tn_generator_sample"))
		return *operation != '\0';
	return *operation && strstr(function, operation);
}

static const char *find_fault(const struct call *call, int has_failed,
			      const struct tn_error_info *error)
{
	if (!has_failed)
		return "succeeded";
	if (call->keeps == NOTHING)
		return NULL;
	if (!error->status)
		return "left no error";
	if (call->keeps == IN_CONTEXT && !names_function(error->operation, call->function))
		return "left the error of another function";
	return strstr(error->text, "NULL") || strstr(error->text, call->operand)
		       ? NULL
		       : "left an error that does not name the operand";
}

static void every_null_operand_is_an_error(void **state)
{
	static const struct tn_error_info none;
	int n_faults = 0;
	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		const struct call *call = &calls[i];
		const struct tn_error_info *error = (const struct tn_error_info *)room;
		memset(room, 0, sizeof(room));
		tn_error_clear(context);
		int has_failed = call->has_failed();
		if (call->keeps != IN_REPORT)
			error = tn_error(context) ? tn_error(context) : &none;
		const char *fault = find_fault(call, has_failed, error);
		if (fault)
			print_error("%s, %s = NULL, %s: %s: %s\n", call->function, call->operand,
				    fault, error->operation, error->text);
		n_faults += fault != NULL;
	}
	tn_error_clear(context);
	assert_int_equal(n_faults, 0);
}

static int make_handles(void **state)
{
	struct tn_context_options options = tn_context_defaults();
	options.backend = "reference";
	assert_ok(tn_context_open(&options, &context, NULL));
	make_objects();
	(void)state;
	return 0;
}

static int destroy_handles(void **state)
{
	destroy_objects();
	tn_context_close(context);
	(void)state;
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_null_operand_is_an_error)};
	return cmocka_run_group_tests(tests, make_handles, destroy_handles);
}
