/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The parts of `tenon info`.
 */
#ifndef TENON_TOOLS_INFO_H
#define TENON_TOOLS_INFO_H

#include <jansson.h>

#include "tool.h"

/* Prints everything that the report has on one backend, and what to do if it is absent; the exit
 * code, EXIT_NO_BACKEND if it cannot be used. */
int info_why(const tn_load_report *report, const char *name, int json);

/* Prints and releases a value (NULL: out of memory); the exit code. */
int print_json(json_t *value);
/* A string with invalid UTF-8 replaced by '?'; null for NULL. */
json_t *printable_json(const char *text);

#endif
