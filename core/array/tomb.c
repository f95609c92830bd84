/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The handles that ended last, of all contexts of the process, and the list of contexts that are
 * open.
 */
#include "array/tomb.h"

#include <pthread.h>
#include <stdio.h>

#include "base/memory.h"

/* The handles that are remembered: a later use of one that ended before them is not noticed. */
enum { MOST_TOMBS = 4096 };

_Atomic int tn_tombs_are_kept;

static struct {
	pthread_mutex_t mutex;
	struct tn_tomb *oldest, *newest;
	size_t n;
	struct tn_runtime *open;
} quarantine = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* ---- Contexts --------------------------------------------------------------------------------*/

void tn_tombs_open(struct tn_runtime *runtime)
{
	pthread_mutex_lock(&quarantine.mutex);
	runtime->is_checked = 1;
	tn_tombs_are_kept = 1;
	runtime->next_checked = quarantine.open;
	quarantine.open = runtime;
	pthread_mutex_unlock(&quarantine.mutex);
}

static struct tn_runtime **find_open(const struct tn_runtime *runtime)
{
	struct tn_runtime **link = &quarantine.open;
	while (*link && *link != runtime)
		link = &(*link)->next_checked;
	return link;
}

void tn_tombs_close(struct tn_runtime *runtime)
{
	if (!runtime->is_checked)
		return;
	pthread_mutex_lock(&quarantine.mutex);
	struct tn_runtime **link = find_open(runtime);
	if (*link)
		*link = runtime->next_checked;
	pthread_mutex_unlock(&quarantine.mutex);
	tn_fail(&runtime->error, TN_STATE, "context", "the context has been closed");
}

void tn_tombs_take_context(tn_context *context, void *companion)
{
	struct tn_runtime *rt = &context->runtime;
	struct tn_tomb *tomb = tn_bury(rt, context, "the context has been closed");
	if (!tomb) {
		tn_mem_free(companion);
		return;
	}
	tomb->companion = companion;
	rt->tomb = tomb;
	rt->scope = &tomb->scope;
	rt->device = &tomb->device;
}

/* ---- Handles ---------------------------------------------------------------------------------*/

/* Puts the tomb among the others; returns the one that has to go. */
static struct tn_tomb *enter(struct tn_tomb *tomb)
{
	struct tn_tomb *oldest = NULL;
	pthread_mutex_lock(&quarantine.mutex);
	if (quarantine.newest)
		quarantine.newest->next = tomb;
	else
		quarantine.oldest = tomb;
	quarantine.newest = tomb;
	if (quarantine.n == MOST_TOMBS) {
		oldest = quarantine.oldest;
		quarantine.oldest = oldest->next;
	} else {
		quarantine.n++;
	}
	pthread_mutex_unlock(&quarantine.mutex);
	return oldest;
}

struct tn_tomb *tn_bury(struct tn_runtime *runtime, void *handle, const char *format, ...)
{
	va_list arguments;
	struct tn_tomb *tomb = tn_mem_zeroed(1, sizeof(*tomb));
	if (!tomb) {
		tn_mem_free(handle);
		return NULL;
	}
	struct tn_runtime *rt = &tomb->context.runtime;
	va_start(arguments, format);
	tn_fail_v(&rt->error, TN_STATE, "handle", format, arguments);
	va_end(arguments);
	tomb->handle = handle;
	tomb->of = runtime;
	rt->context = &tomb->context;
	rt->scope = &tomb->scope;
	rt->device = &tomb->device;
	rt->is_checked = 1;
	rt->tomb = tomb;
	tomb->device.context = &tomb->context;
	tomb->storage.device = &tomb->device;
	tomb->storage.references = 1;
	snprintf(tomb->device.name, sizeof(tomb->device.name), "no device");
	struct tn_tomb *oldest = enter(tomb);
	if (oldest) {
		tn_mem_free(oldest->handle);
		tn_mem_free(oldest->companion);
		tn_mem_free(oldest);
	}
	return tomb;
}

void tn_handle_end(struct tn_runtime **runtime, void *handle, const char *what)
{
	if (!tn_tombs_are_kept || !(*runtime)->is_checked) {
		tn_mem_free(handle);
		return;
	}
	struct tn_tomb *tomb = tn_bury(*runtime, handle, "%s has been destroyed", what);
	if (tomb)
		*runtime = &tomb->context.runtime;
}

tn_status tn_tomb_report(const struct tn_runtime *runtime, const char *operation)
{
	const struct tn_error_info *error = &runtime->error;
	struct tn_logger logger;
	pthread_mutex_lock(&quarantine.mutex);
	struct tn_runtime *living = *find_open(runtime->tomb->of);
	pthread_mutex_unlock(&quarantine.mutex);
	if (!operation)
		operation = error->operation;
	if (living)
		logger = *living->logger;
	else
		tn_logger_init(&logger);
	tn_log_format(&logger, TN_LOG_ERROR, "handle", "%s: %s", operation, error->text);
	if (!living)
		return TN_STATE;
	tn_fail(&living->report, TN_STATE, operation, "%s", error->text);
	if (!living->error.status) {
		living->error = living->report;
		living->error_has_place = 0;
	}
	return TN_STATE;
}

int tn_has_ended(const struct tn_runtime *runtime, const void *handle, const char *operation)
{
	if (!tn_tombs_are_kept || !runtime->tomb)
		return 0;
	(void)tn_tomb_report(runtime, operation);
	return runtime->tomb->handle == handle;
}
