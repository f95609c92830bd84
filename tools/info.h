/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The parts of `tenon info`.
 */
#ifndef TENON_TOOLS_INFO_H
#define TENON_TOOLS_INFO_H

#include <jansson.h>

#include "tool.h"

/* Prints everything that a report knows of one backend, and what to do when it is absent; the exit
 * code, EXIT_NO_BACKEND where it cannot be used. */
int info_why(const tn_load_report *report, const char *name, int json);

/* Prints a value and takes it; NULL: out of memory.  The exit code. */
int print_json(json_t *value);
/* A string in which bytes that are not UTF-8 have become '?'; null for NULL. */
json_t *printable_json(const char *text);

#endif
