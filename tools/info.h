/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The parts of `tenon info`.
 */
#ifndef TENON_TOOLS_INFO_H
#define TENON_TOOLS_INFO_H

#include <jansson.h>

#include "tool.h"

/* Prints everything that one of the reports has on a backend or communicator, and what to do if it
 * is absent; the exit code, EXIT_NO_BACKEND if it cannot be used.  `communicators` may be NULL. */
int info_why(const tn_load_report *backends, const tn_load_report *communicators, const char *name,
	     int json);

/* Prints both reports as one object; the exit code. */
int info_json(const tn_load_report *backends, const tn_load_report *communicators);

/* Prints and releases a value (NULL: out of memory); the exit code. */
int print_json(json_t *value);
/* A string with invalid UTF-8 replaced by '?'; null for NULL. */
json_t *printable_json(const char *text);

#endif
