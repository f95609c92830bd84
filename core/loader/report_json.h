/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The load report as JSON, read back.
 */
#ifndef TN_LOADER_REPORT_JSON_H
#define TN_LOADER_REPORT_JSON_H

#include "loader/report.h"

/* Reads what tn_load_report_json wrote.  NULL: malformed, or out of memory. */
struct tn_load_report *tn_report_from_json(const char *text, size_t length);

#endif
