/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A thread that sleeps until the opening is over, and looks at the clock from time to time.  Each
 * stage is named once.
 */
#include "loader/patience.h"

#include <signal.h>
#include <string.h>

#include <tenon/report.h>

enum { PATIENCE_MS = 5000 };

static void add_milliseconds(struct timespec *time, unsigned ms)
{
	time->tv_sec += ms / 1000;
	time->tv_nsec += (long)(ms % 1000) * 1000000;
	if (time->tv_nsec >= 1000000000) {
		time->tv_nsec -= 1000000000;
		time->tv_sec++;
	}
}

static int is_before(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec < b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

/* Has the present plugin had its time?  Else *due is when to look again. */
static int is_late(const struct tn_patience *patience, struct timespec *due)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	*due = patience->name ? patience->entered : now;
	add_milliseconds(due, patience->patience_ms);
	return patience->name && !is_before(&now, due);
}

static void say(const struct tn_patience *patience)
{
	tn_log_format(patience->logger, TN_LOG_WARNING, "loader",
		      "%s: still waiting for its stage '%s'; '^%s' in TENON_BACKEND leaves it out",
		      patience->path, tn_stage_name(patience->stage), patience->name);
}

static void *look(void *argument)
{
	struct tn_patience *patience = argument;
	struct timespec due;
	pthread_mutex_lock(&patience->mutex);
	while (!patience->ends) {
		if (is_late(patience, &due)) {
			say(patience);
			patience->name = NULL;
			continue;
		}
		pthread_cond_timedwait(&patience->is_ended, &patience->mutex, &due);
	}
	pthread_mutex_unlock(&patience->mutex);
	return NULL;
}

void tn_patience_begin(struct tn_patience *patience, const struct tn_logger *logger,
		       unsigned patience_ms)
{
	pthread_condattr_t attributes;
	memset(patience, 0, sizeof(*patience));
	patience->logger = logger;
	patience->patience_ms = patience_ms ? patience_ms : PATIENCE_MS;
	pthread_mutex_init(&patience->mutex, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&patience->is_ended, &attributes);
	pthread_condattr_destroy(&attributes);
}

/* The program's signals stay with its own threads. */
static int start(struct tn_patience *patience)
{
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int failed = pthread_create(&patience->thread, NULL, look, patience);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return !failed;
}

void tn_patience_note(struct tn_patience *patience, const char *name, const char *path,
		      uint32_t stage)
{
	pthread_mutex_lock(&patience->mutex);
	patience->name = name;
	patience->path = path;
	patience->stage = stage;
	clock_gettime(CLOCK_MONOTONIC, &patience->entered);
	pthread_mutex_unlock(&patience->mutex);
	if (name && !patience->has_thread)
		patience->has_thread = start(patience);
}

void tn_patience_end(struct tn_patience *patience)
{
	pthread_mutex_lock(&patience->mutex);
	patience->ends = 1;
	pthread_cond_signal(&patience->is_ended);
	pthread_mutex_unlock(&patience->mutex);
	if (patience->has_thread)
		pthread_join(patience->thread, NULL);
	pthread_cond_destroy(&patience->is_ended);
	pthread_mutex_destroy(&patience->mutex);
}
