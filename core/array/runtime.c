/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The error that a context keeps: the first one, until it is cleared.
 */
#include "array/runtime.h"

#include <stdio.h>
#include <string.h>

#include "array/handle.h"
#include "base/answer.h"
#include "base/options.h"

tn_status tn_runtime_keep(struct tn_runtime *runtime, const struct tn_error_info *error)
{
	tn_status status = error->status ? error->status : TN_INTERNAL;
	if (runtime->ended)
		return tn_handle_report(runtime, NULL);
	if (!runtime->error.status) {
		runtime->error = *error;
		runtime->error.status = status;
		runtime->error_has_place = 0;
	}
	return status;
}

tn_status tn_runtime_refuse(const struct tn_runtime *runtime, const char *operation)
{
	return runtime->ended ? tn_handle_report(runtime, operation) : TN_PENDING_ERROR;
}

void tn_runtime_place_error(struct tn_runtime *runtime, const char *place)
{
	struct tn_error_info *error = &runtime->error;
	char text[sizeof(error->text)];
	if (runtime->error_has_place)
		return;
	size_t n = (size_t)snprintf(text, sizeof(text), "in %s: ", place);
	if (n < sizeof(text))
		snprintf(text + n, sizeof(text) - n, "%s", error->text);
	memcpy(error->text, text, sizeof(text));
	runtime->error_has_place = 1;
}

tn_status tn_runtime_fail(struct tn_runtime *runtime, tn_status status, const char *operation,
			  const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	tn_fail_v(&runtime->report, status, operation, format, arguments);
	va_end(arguments);
	return tn_runtime_keep(runtime, &runtime->report);
}

tn_status tn_runtime_null(struct tn_runtime *runtime, const char *operation, const char *name)
{
	if (!runtime)
		return TN_INVALID_ARGUMENT;
	if (tn_runtime_ready(runtime))
		return TN_PENDING_ERROR;
	return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, operation, "%s is NULL", name);
}

tn_status tn_runtime_given(struct tn_runtime *runtime, const char *operation, size_t n,
			   const struct tn_given *given)
{
	for (size_t i = 0; i < n; i++) {
		if (!given[i].object)
			return tn_runtime_null(runtime, operation, given[i].name);
	}
	return TN_OK;
}

tn_status tn_runtime_no_memory(struct tn_runtime *runtime, const char *operation, const char *what)
{
	tn_no_memory(&runtime->report, operation, NULL, what);
	return tn_runtime_keep(runtime, &runtime->report);
}

tn_status tn_runtime_take(struct tn_runtime *runtime, void *own, size_t own_size, const void *given,
			  const char *type, const char *operation)
{
	if (!runtime)
		return TN_INVALID_ARGUMENT;
	tn_status status = tn_options_take(own, own_size, given, type, operation, &runtime->report);
	return status ? tn_runtime_keep(runtime, &runtime->report) : TN_OK;
}

tn_status tn_runtime_answer(struct tn_runtime *runtime, void *out, const void *own, size_t own_size,
			    const char *type, const char *operation)
{
	if (!runtime)
		return tn_answer(out, own, own_size, type, operation, NULL);
	tn_status status = tn_answer(out, own, own_size, type, operation, &runtime->report);
	return status ? tn_runtime_keep(runtime, &runtime->report) : TN_OK;
}

tn_status tn_runtime_check(struct tn_runtime *runtime, const void *options,
			   const struct tn_option *members, const char *operation)
{
	tn_status status = tn_options_check(options, members, operation, &runtime->report);
	return status ? tn_runtime_keep(runtime, &runtime->report) : TN_OK;
}

const struct tn_error_info *tn_error(const tn_context *context)
{
	return context && context->runtime.error.status ? &context->runtime.error : NULL;
}

const char *tn_error_text(tn_context *context)
{
	const struct tn_error_info *error = context ? tn_error(context) : NULL;
	if (!context)
		return "there is no context";
	if (!error)
		return "no error";
	char *text = context->runtime.error_text;
	snprintf(text, sizeof(context->runtime.error_text), "%s: %s", error->operation,
		 error->text);
	return text;
}

void tn_error_clear(tn_context *context)
{
	if (context && !tn_handle_check(&context->runtime, "error_clear"))
		tn_error_reset(&context->runtime.error);
}
