/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Groups of samples with equal values of a field.
 */
#ifndef TN_DATA_GROUPS_H
#define TN_DATA_GROUPS_H

#include "data/samples.h"

/* groups[i] := the number of sample i's group, from 0 in the order of the values' bytes; *n := the
 * number of groups.  A field that is not in memory is read for every sample. */
tn_status tn_group_samples(const struct tn_samples *samples, uint32_t field, uint32_t *groups,
			   uint32_t *n, struct tn_error_info *error);

#endif
