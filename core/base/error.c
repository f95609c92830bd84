/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Writes the message of an error: formatted, cut to fit and made printable.
 */
#include "base/error.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* Longest path in an error text; the text has room for 512 bytes in all. */
#define LABEL_LENGTH 160

void tn_error_reset(struct tn_error_info *error)
{
	if (!error)
		return;
	memset(error, 0, sizeof(*error));
	error->struct_size = sizeof(*error);
}

tn_status tn_fail_v(struct tn_error_info *error, tn_status status, const char *operation,
		    const char *format, va_list arguments)
{
	if (!error)
		return status;
	tn_error_reset(error);
	error->status = status;
	snprintf(error->operation, sizeof(error->operation), "%s", operation);
	vsnprintf(error->text, sizeof(error->text), format, arguments);
	/* The text may contain file names and values of variables. */
	tn_text_make_printable(error->text);
	return status;
}

tn_status tn_fail(struct tn_error_info *error, tn_status status, const char *operation,
		  const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	tn_fail_v(error, status, operation, format, arguments);
	va_end(arguments);
	return status;
}

tn_status tn_no_memory(struct tn_error_info *error, const char *operation, const char *subject,
		       const char *what)
{
	return tn_fail(error, TN_OUT_OF_MEMORY, operation, "%s%s%s%s",
		       subject ? subject : "no host", subject ? ": no memory" : " memory",
		       what ? " for " : "", what ? what : "");
}

const char *tn_file_label(const char *path)
{
	size_t length = path ? strlen(path) : 0;
	if (!path)
		return "(no path)";
	return length > LABEL_LENGTH ? path + length - LABEL_LENGTH : path;
}
