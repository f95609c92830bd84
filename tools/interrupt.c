/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Records the first signal, and restores each one's default when it has arrived.
 */
#include "interrupt.h"

#include <signal.h>
#include <stdio.h>

/* SIGUSR1 is what batch systems send before the time is over. */
static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};
enum { N_NUMBERS = sizeof(numbers) / sizeof(numbers[0]) };

static volatile sig_atomic_t seen;
static struct sigaction before[N_NUMBERS];
static int is_caught; /* before is filled */

static void remember(int number)
{
	if (!seen)
		seen = number;
}

void interrupt_catch(void)
{
	struct sigaction action = {.sa_handler = remember, .sa_flags = SA_RESTART | SA_RESETHAND};
	sigemptyset(&action.sa_mask);
	for (int i = 0; i < N_NUMBERS; i++) {
		if (!sigaction(numbers[i], NULL, &before[i]) && before[i].sa_handler == SIG_DFL)
			sigaction(numbers[i], &action, NULL);
	}
	is_caught = 1;
}

int interrupt_seen(void)
{
	return seen;
}

void interrupt_release(void)
{
	for (int i = 0; is_caught && i < N_NUMBERS; i++)
		sigaction(numbers[i], &before[i], NULL);
	is_caught = 0;
}

void interrupt_obey(void)
{
	struct sigaction action = {.sa_handler = SIG_DFL};
	sigemptyset(&action.sa_mask);
	fflush(NULL);
	sigaction(seen, &action, NULL);
	raise(seen);
}
