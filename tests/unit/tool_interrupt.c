/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Signals that end the command: the first is recorded, the second ends it; those that were ignored
 * still are.
 */
#include "../../tools/interrupt.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

/* The signal that ends a child which runs `act`; 0: it has ended by itself, with status 0. */
static int signal_that_ends(void (*act)(void))
{
	int status = 0;
	const pid_t child = fork();
	if (child == 0) {
		act();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void raise_once(void)
{
	interrupt_catch();
	raise(SIGTERM);
	_exit(interrupt_seen() != SIGTERM);
}

static void raise_twice(void)
{
	interrupt_catch();
	raise(SIGTERM);
	raise(SIGTERM);
}

static void raise_another(void)
{
	interrupt_catch();
	raise(SIGTERM);
	raise(SIGHUP);
	_exit(interrupt_seen() != SIGTERM);
}

static void raise_an_ignored_one(void)
{
	signal(SIGHUP, SIG_IGN);
	interrupt_catch();
	raise(SIGHUP);
	_exit(interrupt_seen());
}

static void raise_after_release(void)
{
	interrupt_catch();
	interrupt_release();
	raise(SIGINT);
}

static void obey(void)
{
	interrupt_catch();
	raise(SIGUSR1);
	interrupt_obey();
}

static void the_second_signal_ends_the_process(void **state)
{
	static const struct {
		void (*act)(void);
		int ends;
	} cases[] = {
		{raise_once, 0},           {raise_twice, SIGTERM},        {raise_another, 0},
		{raise_an_ignored_one, 0}, {raise_after_release, SIGINT}, {obey, SIGUSR1},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(signal_that_ends(cases[i].act), cases[i].ends);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(the_second_signal_ends_the_process)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
