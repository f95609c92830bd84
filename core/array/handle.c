/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The ends of handles of contexts, and the list of contexts that are open and check them.
 */
#include "array/handle.h"

#include <stdio.h>

#include "base/memory.h"

static struct tn_runtime *open_runtimes; /* under the quarantine's lock */

/* NULL: there is no host memory. */
static struct tn_ended *make_ended(struct tn_runtime *of, void *handle,
				   const struct tn_error_info *error)
{
	struct tn_ended *ended = tn_mem_zeroed(1, sizeof(*ended));
	if (!ended)
		return NULL;
	struct tn_runtime *rt = &ended->context.runtime;
	rt->error = *error;
	rt->context = &ended->context;
	rt->scope = &ended->scope;
	rt->device = &ended->device;
	rt->is_checked = 1;
	rt->ended = ended;
	ended->quarantined.handle = handle;
	ended->quarantined.text = rt->error.text;
	ended->of = of;
	ended->device.context = &ended->context;
	ended->device.has_ended = 1;
	ended->storage.device = &ended->device;
	ended->storage.references = 1;
	snprintf(ended->device.name, sizeof(ended->device.name), "no device");
	return ended;
}

/* ---- Contexts --------------------------------------------------------------------------------*/

void tn_handles_open(struct tn_runtime *runtime)
{
	tn_quarantine_open();
	tn_quarantine_lock();
	runtime->is_checked = 1;
	runtime->next_checked = open_runtimes;
	open_runtimes = runtime;
	tn_quarantine_unlock();
}

static struct tn_runtime **find_open(const struct tn_runtime *runtime)
{
	struct tn_runtime **link = &open_runtimes;
	while (*link && *link != runtime)
		link = &(*link)->next_checked;
	return link;
}

void tn_handles_close(struct tn_runtime *runtime)
{
	if (!runtime->is_checked)
		return;
	tn_quarantine_lock();
	struct tn_runtime **link = find_open(runtime);
	if (*link)
		*link = runtime->next_checked;
	tn_quarantine_unlock();
	tn_fail(&runtime->error, TN_STATE, "context", "the context has been closed");
	struct tn_ended *ended = make_ended(runtime, runtime->context, &runtime->error);
	if (!ended)
		return;
	runtime->ended = ended;
	runtime->scope = &ended->scope;
	runtime->device = &ended->device;
}

void tn_handle_end_context(tn_context *context, void *companion)
{
	struct tn_ended *ended = context->runtime.ended;
	if (!ended) {
		tn_mem_free(companion);
		tn_mem_free(context);
		return;
	}
	ended->quarantined.companion = companion;
	tn_quarantine_add(&ended->quarantined);
}

/* ---- Handles ---------------------------------------------------------------------------------*/

struct tn_ended *tn_handle_quarantine(struct tn_runtime *runtime, void *handle, const char *format,
				      ...)
{
	va_list arguments;
	struct tn_error_info error;
	va_start(arguments, format);
	tn_fail_v(&error, TN_STATE, "handle", format, arguments);
	va_end(arguments);
	struct tn_ended *ended = make_ended(runtime, handle, &error);
	if (ended)
		tn_quarantine_add(&ended->quarantined);
	else
		tn_mem_free(handle);
	return ended;
}

struct tn_ended *tn_handle_end(struct tn_runtime **runtime, void *handle, const char *what)
{
	if (!tn_quarantine_is_open || !(*runtime)->is_checked) {
		tn_mem_free(handle);
		return NULL;
	}
	struct tn_ended *ended =
		tn_handle_quarantine(*runtime, handle, "%s has been destroyed", what);
	if (ended)
		*runtime = &ended->context.runtime;
	return ended;
}

tn_status tn_handle_report(const struct tn_runtime *runtime, const char *operation)
{
	const struct tn_error_info *error = &runtime->error;
	struct tn_logger logger;
	tn_quarantine_lock();
	struct tn_runtime *living = *find_open(runtime->ended->of);
	tn_quarantine_unlock();
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

int tn_handle_has_ended(const struct tn_runtime *runtime, const void *handle, const char *operation)
{
	if (!tn_quarantine_is_open || !runtime->ended)
		return 0;
	(void)tn_handle_report(runtime, operation);
	return runtime->ended->quarantined.handle == handle;
}
