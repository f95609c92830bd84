/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Any bytes as the report that the probe's helper program sends.  An accepted report can be printed
 * and read again.
 */
#include <stdlib.h>
#include <string.h>

#include "loader/report.h"
#include "loader/report_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	tn_load_report *report = tn_report_from_json((const char *)data, size);
	if (!report)
		return 0;
	const char *json = tn_load_report_json(report);
	tn_load_report *again = json ? tn_report_from_json(json, strlen(json)) : NULL;
	if (!again || tn_load_report_count(again) != tn_load_report_count(report) ||
	    !tn_load_report_text(report))
		abort();
	tn_load_report_destroy(again);
	tn_load_report_destroy(report);
	return 0;
}
