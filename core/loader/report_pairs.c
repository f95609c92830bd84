/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Finds physical devices that several backends report.
 */
#include "loader/report_pairs.h"

#include <string.h>

#include "loader/report.h"

struct identity {
	uint32_t type;
	const uint8_t *bytes; /* 16 */
};

int tn_device_same(const struct tn_device_description *a, const struct tn_device_description *b)
{
	if (!a || !b)
		return 0;
	const struct identity of_a[] = {{a->identity_type, a->identity},
					{a->identity2_type, a->identity2}},
			      of_b[] = {{b->identity_type, b->identity},
					{b->identity2_type, b->identity2}};
	for (size_t i = 0; i < 4; i++) {
		const struct identity *x = &of_a[i / 2], *y = &of_b[i % 2];
		/* The parts of one GPU have one PCI address. */
		if (x->type != TN_IDENTITY_NONE && x->type == y->type &&
		    !memcmp(x->bytes, y->bytes, sizeof(a->identity)) &&
		    (x->type != TN_IDENTITY_PCI || a->slice == b->slice))
			return 1;
	}
	return 0;
}

size_t tn_report_pairs(const struct tn_load_report *report, const struct tn_load_row *row,
		       uint32_t device, struct tn_report_pair *pairs, size_t most)
{
	size_t n = 0;
	for (size_t i = 0; i < report->n_rows; i++) {
		const struct tn_load_row *other = report->rows[i];
		for (uint32_t j = 0; j < other->n_devices && n < most; j++) {
			if ((other != row || j != device) &&
			    tn_device_same(row->devices[device], other->devices[j]))
				pairs[n++] = (struct tn_report_pair){other, j};
		}
	}
	return n;
}
