/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Errors inside the library: a function that can fail takes a struct tn_error_info (it may be NULL)
 * and returns a status.  The function that detects the error writes the message; its callers
 * forward it.
 */
#ifndef TN_BASE_ERROR_H
#define TN_BASE_ERROR_H

#include <stdarg.h>
#include <tenon/backend.h>
#include <tenon/status.h>

/* An empty error: status TN_OK, no text. */
void tn_error_reset(struct tn_error_info *error);

/* Writes status, operation and printf-formatted text, truncated to fit and made printable
 * (tn_text_make_printable), and returns status. */
tn_status tn_fail(struct tn_error_info *error, tn_status status, const char *operation,
		  const char *format, ...) __attribute__((format(printf, 4, 5)));
tn_status tn_fail_v(struct tn_error_info *error, tn_status status, const char *operation,
		    const char *format, va_list arguments);

/* TN_OUT_OF_MEMORY: "SUBJECT: no memory for WHAT"; without a subject "no host memory for WHAT".
 * NULL for `what`: without "for". */
tn_status tn_no_memory(struct tn_error_info *error, const char *operation, const char *subject,
		       const char *what);

/* The name of a file in error texts: its path, or the end of a long path. */
const char *tn_file_label(const char *path);

#endif
