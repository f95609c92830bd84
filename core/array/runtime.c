/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The error that a context keeps: the first one, until it is cleared.
 */
#include "array/runtime.h"

#include <stdio.h>
#include <string.h>

#include "base/options.h"

tn_status tn_runtime_keep(struct tn_runtime *runtime, const struct tn_error_info *error)
{
	tn_status status = error->status ? error->status : TN_INTERNAL;
	if (!runtime->error.status) {
		runtime->error = *error;
		runtime->error.status = status;
	}
	return status;
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

tn_status tn_runtime_check(struct tn_runtime *runtime, void *options,
			   const struct tn_option *members, const char *operation)
{
	tn_status status = tn_options_check(options, members, operation, &runtime->report);
	return status ? tn_runtime_keep(runtime, &runtime->report) : TN_OK;
}

const struct tn_error_info *tn_error(const tn_context *context)
{
	const struct tn_error_info *error = &context->runtime.error;
	return error->status ? error : NULL;
}

void tn_error_clear(tn_context *context)
{
	tn_error_reset(&tn_runtime_of(context)->error);
}
