/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Entries of a report for the same physical device.
 */
#ifndef TN_LOADER_REPORT_PAIRS_H
#define TN_LOADER_REPORT_PAIRS_H

#include "loader/report.h"
/* Writes the devices of the report that are the same physical device as a row's, at most `most`. */
struct tn_report_pair {
	const struct tn_load_row *row;
	uint32_t device;
};
enum { TN_MOST_PAIRS = 8 }; /* that are shown */
size_t tn_report_pairs(const struct tn_load_report *report, const struct tn_load_row *row,
		       uint32_t device, struct tn_report_pair *pairs, size_t most);

#endif
