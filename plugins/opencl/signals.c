/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Saves and restores the program's signal handlers around calls of a driver.
 */
#include "signals.h"

/* Some signals (SIGKILL, the C library's own) have no handler to save or restore: the calls fail,
 * and nothing has changed. */
void opencl_signals_save(struct opencl_signals *signals)
{
	for (int number = 1; number < NSIG; number++)
		(void)sigaction(number, NULL, &signals->before[number]);
}

void opencl_signals_restore(const struct opencl_signals *signals)
{
	for (int number = 1; number < NSIG; number++) {
		struct sigaction now;
		if (!sigaction(number, NULL, &now) &&
		    now.sa_handler != signals->before[number].sa_handler)
			(void)sigaction(number, &signals->before[number], NULL);
	}
}
