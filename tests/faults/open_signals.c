/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: a thread of the backend takes the program's signals.
 * Conform: L5 threads.signals
 */
#include "right.h"

#include <pthread.h>

/* One for each thread that was started and not joined yet; the file's, for the sake of brevity. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t end = PTHREAD_COND_INITIALIZER;
static pthread_t threads[64];
static int n_threads, n_ended;

static void *run(void *argument)
{
	int number = (int)(intptr_t)argument;
	pthread_mutex_lock(&mutex);
	while (n_ended <= number)
		pthread_cond_wait(&end, &mutex);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static tn_status open_device(void *instance, const struct tn_open_args *args, void **device)
{
	tn_status status = right_open(instance, args, device);
	if (!status && n_threads < 64 &&
	    !pthread_create(&threads[n_threads], NULL, run, (void *)(intptr_t)n_threads))
		n_threads++;
	return status;
}

static void close_device(void *device)
{
	pthread_mutex_lock(&mutex);
	n_ended = n_threads;
	pthread_cond_broadcast(&end);
	pthread_mutex_unlock(&mutex);
	while (n_threads > 0)
		pthread_join(threads[--n_threads], NULL);
	n_ended = 0;
	right_close(device);
}

static void break_it(struct right *right)
{
	right->device.open = open_device;
	right->device.close = close_device;
}

RIGHT_PLUGIN("open_signals");
