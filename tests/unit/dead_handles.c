/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * With TENON_CHECK_HANDLES=1, every function that is given a handle that has ended fails, with
 * TN_STATE and what has ended in the error of the context that is open, and in the log.  The calls
 * are made from the headers (null_calls.awk).
 */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "captured_log.h"
#include "mock_fixture.h"

#include "every_handle.h"

static tn_array *dead_arrays[4];

#include "dead_calls.h"

/* ---- The handles -----------------------------------------------------------------------------*/

static void take_handles(void)
{
	take_dead();
	for (int i = 0; i < 4; i++)
		dead_arrays[i] = array;
}

/* The handles of one set have ended; those of the other are valid. */
static int make_destroyed(void **state)
{
	(void)state;
	context = open_mock_here();
	make_objects();
	take_handles();
	destroy_objects();
	tn_context *other = open_mock_here();
	dead_context = other;
	dead_device = tn_device_current(other);
	dead_load_report = tn_context_report(other);
	tn_context_close(other);
	make_objects();
	dead_arrays[0] = dead_arrays[2] = dead_arrays[3] = array;
	return 0;
}

/* Their context is closed, and they are not destroyed. */
static int make_closed(void **state)
{
	(void)state;
	context = open_mock_here();
	make_objects();
	take_handles();
	/* No call gets them. */
	tn_program_destroy(program);
	tn_module_destroy(residual);
	files_remove(folder);
	tn_context_close(context);
	context = open_mock_here();
	make_objects();
	dead_arrays[0] = dead_arrays[2] = dead_arrays[3] = array;
	return 0;
}

static int destroy_handles(void **state)
{
	destroy_objects();
	tn_context_close(context);
	(void)state;
	return 0;
}

/* ---- The calls -------------------------------------------------------------------------------*/

/* They tell that the context has been closed. */
static int tells_the_error(const struct call *call)
{
	return !strcmp(call->function, "tn_error") || !strcmp(call->function, "tn_error_text");
}

/* The context in which the error would be kept is closed. */
static int is_of_closed(const struct call *call)
{
	return !strcmp(call->operand, "context") || !strcmp(call->operand, "device");
}

static int n_named, n_kept;

/* NULL: it fails, and says that a handle has ended, unless it was wrong in another way, too. */
static const char *find_fault(const struct call *call, int has_failed, int is_closed)
{
	const struct tn_error_info *error = tn_error(context);
	const int is_named = strstr(captured_take(), " has ") != NULL;
	n_named += is_named;
	n_kept += error && strstr(error->text, " has ");
	if (call->keeps == ANSWERS)
		return is_named || tells_the_error(call) ? NULL : "answered";
	if (!has_failed)
		return "succeeded";
	if (!is_named && !error)
		return "left nothing";
	return error || is_closed || call->keeps == NOTHING || is_of_closed(call) ? NULL
										  : "left no error";
}

static const struct call *latest;

/* Names the call before cmocka's own handler. */
static void crash(int signal_number)
{
	dprintf(captured_terminal, "%s, %s: signal %d\n", latest->function, latest->operand,
		signal_number);
	_exit(1);
}

static void make_calls(int is_closed)
{
	int n_faults = 0;
	n_named = n_kept = 0;
	captured_begin();
	void (*handler)(int) = signal(SIGSEGV, crash);
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		latest = &calls[i];
		if (is_closed && !latest->is_of_context)
			continue;
		tn_error_clear(context);
		const char *fault = find_fault(latest, latest->has_failed(), is_closed);
		if (fault)
			dprintf(captured_terminal, "%s, %s: %s\n", latest->function,
				latest->operand, fault);
		n_faults += fault != NULL;
	}
	signal(SIGSEGV, handler);
	captured_end();
	tn_error_clear(context);
	assert_int_equal(n_faults, 0);
}

static void a_handle_that_has_been_destroyed_is_an_error(void **state)
{
	(void)state;
	make_calls(0);
	/* Other calls are wrong in another way, too. */
	assert_true(n_named >= 900 && n_kept >= 700);
}

static void a_handle_whose_context_is_closed_is_an_error(void **state)
{
	(void)state;
	make_calls(1);
	assert_true(n_named >= 700);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_handle_that_has_been_destroyed_is_an_error,
						make_destroyed, destroy_handles),
		cmocka_unit_test_setup_teardown(a_handle_whose_context_is_closed_is_an_error,
						make_closed, destroy_handles),
	};
	setenv("TENON_CHECK_HANDLES", "1", 1);
	setenv("TENON_LOG", "error", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
