/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Records the first SIGINT in a flag, and restores the default for the second.
 */
#include "interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t seen;
static struct sigaction before;

static void remember(int number)
{
	(void)number;
	seen = 1;
}

void interrupt_catch(void)
{
	struct sigaction action = {.sa_handler = remember, .sa_flags = SA_RESTART | SA_RESETHAND};
	sigemptyset(&action.sa_mask);
	if (!sigaction(SIGINT, NULL, &before) && before.sa_handler == SIG_DFL)
		sigaction(SIGINT, &action, NULL);
}

int interrupt_seen(void)
{
	return seen;
}

void interrupt_release(void)
{
	sigaction(SIGINT, &before, NULL);
}

void interrupt_obey(void)
{
	struct sigaction action = {.sa_handler = SIG_DFL};
	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	raise(SIGINT);
}
