/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Devices of a report that are one and the same.
 */
#ifndef TN_LOADER_PAIRS_H
#define TN_LOADER_PAIRS_H

#include "loader/report.h"
/* The devices of the report that are the same one as a row's device: at most `most` are written. */
struct tn_report_pair {
	const struct tn_load_row *row;
	uint32_t device;
};
enum { TN_MOST_PAIRS = 8 }; /* that are shown */
size_t tn_report_pairs(const struct tn_load_report *report, const struct tn_load_row *row,
		       uint32_t device, struct tn_report_pair *pairs, size_t most);

#endif
