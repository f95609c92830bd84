/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * One thread makes all such calls, because the thread that has begun MPI must end it.  The caller
 * waits for it by time.
 */
#include "call.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

enum { IDLE, CALLED, ENDED };

/* Guarded by the mutex; of the one instance that has the engine. */
static struct {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	pthread_t thread;
	int has_thread;
	int state;
	int (*function)(void *argument); /* NULL: the thread ends */
	void *argument;
	int code;
} calls = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void *serve(void *unused)
{
	int ends = 0;
	(void)unused;
	pthread_mutex_lock(&calls.mutex);
	while (!ends) {
		while (calls.state != CALLED)
			pthread_cond_wait(&calls.changed, &calls.mutex);
		int (*const function)(void *) = calls.function;
		void *const argument = calls.argument;
		pthread_mutex_unlock(&calls.mutex);
		const int code = function ? function(argument) : 0;
		pthread_mutex_lock(&calls.mutex);
		ends = !function;
		calls.code = code;
		calls.state = ENDED;
		pthread_cond_broadcast(&calls.changed);
	}
	pthread_mutex_unlock(&calls.mutex);
	return NULL;
}

/* Signals are the program's: none is delivered to this thread. */
static int make_thread(void)
{
	sigset_t all, before;
	pthread_condattr_t attributes;
	if (calls.has_thread)
		return 1;
	if (pthread_condattr_init(&attributes))
		return 0;
	(void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	const int failed = pthread_cond_init(&calls.changed, &attributes);
	(void)pthread_condattr_destroy(&attributes);
	if (failed)
		return 0;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	calls.has_thread = !pthread_create(&calls.thread, NULL, serve, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!calls.has_thread)
		(void)pthread_cond_destroy(&calls.changed);
	return calls.has_thread;
}

/* The core has refused a variable that is malformed. */
static double read_timeout(const struct tn_host *host)
{
	const char *text = host->parameter(host->context, "TENON_COMMUNICATOR_TIMEOUT",
					   "the most seconds that MPI waits for all ranks to begin "
					   "and to end (300)");
	double seconds;
	(void)communicator_read_timeout(text, &seconds);
	return seconds;
}

/* Waits so many seconds more; has the call ended?  With the mutex. */
static int wait_for(double seconds)
{
	struct timespec end;
	int expired = 0;
	clock_gettime(CLOCK_MONOTONIC, &end);
	const double fraction = seconds - floor(seconds) + 1e-9 * (double)end.tv_nsec;
	end.tv_sec += (time_t)seconds + (fraction >= 1);
	end.tv_nsec = (long)(1e9 * (fraction - (fraction >= 1)));
	while (calls.state != ENDED && !expired)
		expired = pthread_cond_timedwait(&calls.changed, &calls.mutex, &end) == ETIMEDOUT;
	return calls.state == ENDED;
}

static void warn(const struct tn_host *host, const char *what, double seconds)
{
	char text[128];
	const int n = snprintf(text, sizeof(text), "has waited %.3g s in %s for all ranks", seconds,
			       what);
	host->log(host->context, TN_LOG_WARNING, "communicator", text, (size_t)n);
}

/* With the mutex. */
static tn_status run(const struct tn_host *host, const char *what, struct tn_error_info *error)
{
	const double timeout = read_timeout(host);
	pthread_cond_broadcast(&calls.changed);
	if (!wait_for(timeout / 10)) {
		warn(host, what, timeout / 10);
		if (!wait_for(timeout - timeout / 10))
			return tn_plugin_fail(error, TN_TIMED_OUT, "open",
					      "%s: waited %.3g s for all ranks "
					      "(TENON_COMMUNICATOR_TIMEOUT)",
					      what, timeout);
	}
	calls.state = IDLE;
	return TN_OK;
}

tn_status mpi_call(const struct tn_host *host, const char *what, int (*function)(void *argument),
		   void *argument, int *code, struct tn_error_info *error)
{
	tn_status status;
	pthread_mutex_lock(&calls.mutex);
	if (calls.state != IDLE) {
		status = tn_plugin_fail(error, TN_STATE, "open",
					"an earlier call of MPI still waits for all ranks");
	} else if (!make_thread()) {
		status = tn_plugin_fail(error, TN_OUT_OF_MEMORY, "open", "no thread for MPI");
	} else {
		calls.function = function;
		calls.argument = argument;
		calls.state = CALLED;
		status = run(host, what, error);
		*code = status ? 0 : calls.code;
	}
	pthread_mutex_unlock(&calls.mutex);
	return status;
}

void mpi_call_end(void)
{
	pthread_mutex_lock(&calls.mutex);
	const int ends = calls.has_thread && calls.state == IDLE;
	if (ends) {
		calls.function = NULL;
		calls.state = CALLED;
		pthread_cond_broadcast(&calls.changed);
	}
	pthread_mutex_unlock(&calls.mutex);
	if (!ends)
		return;
	(void)pthread_join(calls.thread, NULL);
	(void)pthread_cond_destroy(&calls.changed);
	calls.has_thread = 0;
	calls.state = IDLE;
}
