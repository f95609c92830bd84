/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Finds physical devices that several backends report.
 */
#include "loader/pairs.h"

#include <string.h>

#include "loader/report.h"

int tn_device_same(const struct tn_device_description *a, const struct tn_device_description *b)
{
	return a && b && a->identity_type != TN_IDENTITY_NONE &&
	       a->identity_type == b->identity_type &&
	       !memcmp(a->identity, b->identity, sizeof(a->identity));
}

size_t tn_report_pairs(const struct tn_load_report *report, const struct tn_load_row *row,
		       uint32_t device, struct tn_report_pair *pairs, size_t most)
{
	size_t n = 0;
	for (size_t i = 0; i < report->n_rows; i++) {
		const struct tn_load_row *other = report->rows[i];
		for (uint32_t j = 0; j < other->n_devices && n < most; j++) {
			if ((other != row || j != device) &&
			    tn_device_same(&row->devices[device], &other->devices[j]))
				pairs[n++] = (struct tn_report_pair){other, j};
		}
	}
	return n;
}
