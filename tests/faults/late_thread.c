/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: a thread that the device starts is not joined, and ends after its instance.
 * Conform: L5 threads.end
 */
#include "right.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

static void *run(void *argument)
{
	const struct timespec time = {.tv_nsec = 200000000};
	nanosleep(&time, NULL);
	return argument;
}

static tn_status open_device(void *instance, const struct tn_open_args *args, void **device)
{
	tn_status status = right_open(instance, args, device);
	sigset_t all, before;
	pthread_t thread;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (!status && !pthread_create(&thread, NULL, run, NULL))
		pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return status;
}

static void break_it(struct right *right)
{
	right->device.open = open_device;
}

RIGHT_PLUGIN("late_thread");
