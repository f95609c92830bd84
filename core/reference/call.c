/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Takes the arguments of an entry, and writes the reference backend's errors.
 */
#include "reference/call.h"

#include <stdarg.h>
#include <stdio.h>

static tn_status explain(struct tn_error_info *error, tn_status status, const char *operation,
			 const char *format, va_list arguments)
{
	struct tn_error_info own = {.struct_size = sizeof(own), .status = status};
	if (!error)
		return status;
	snprintf(own.operation, sizeof(own.operation), "%s", operation);
	vsnprintf(own.text, sizeof(own.text), format, arguments);
	tn_struct_answer(error, &own, sizeof(own));
	return status;
}

tn_status tn_reference_explain(struct tn_error_info *error, tn_status status, const char *operation,
			       const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	explain(error, status, operation, format, arguments);
	va_end(arguments);
	return status;
}

tn_status tn_reference_fail(const struct tn_call *call, tn_status status, const char *operation,
			    const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	explain(call->error, status, operation, format, arguments);
	va_end(arguments);
	return status;
}

tn_status tn_reference_no_memory(const struct tn_call *call, const char *operation)
{
	return tn_reference_fail(call, TN_OUT_OF_MEMORY, operation,
				 "no host memory for temporary values");
}

tn_status tn_reference_take(void *own, size_t own_size, const void *theirs, uint32_t flags,
			    const char *operation)
{
	struct tn_call *call = own;
	size_t size = ((const struct tn_call *)theirs)->struct_size;
	if (size < sizeof(*call))
		return TN_INVALID_ARGUMENT;
	flags |= TN_DRY_RUN | TN_DETERMINISTIC;
	if (tn_arguments_take(own, own_size, theirs))
		return tn_reference_fail(call, TN_UNSUPPORTED, operation,
					 "the arguments (%zu bytes) use fields newer than this "
					 "backend's (%zu bytes)",
					 size, own_size);
	if (call->flags & ~flags)
		return tn_reference_fail(call, TN_UNSUPPORTED, operation, "unknown flags 0x%x",
					 call->flags & ~flags);
	if (call->stream)
		return tn_reference_fail(call, TN_INVALID_ARGUMENT, operation,
					 "stream: expected NULL, the device's only stream");
	return TN_OK;
}

int tn_reference_is_dry(const struct tn_call *call)
{
	struct tn_workspace *asked = call->workspace;
	if (!(call->flags & TN_DRY_RUN))
		return 0;
	if (asked && TN_HAS_FIELD(struct tn_workspace, asked, preferred))
		asked->minimum = asked->preferred = 0;
	return 1;
}
