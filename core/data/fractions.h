/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fractions of a data set that become parts.
 */
#ifndef TN_DATA_FRACTIONS_H
#define TN_DATA_FRACTIONS_H

#include "data/dataset.h"

/* The fractions that a caller asks for. */
struct tn_fractions {
	double test;
	double validation;
	int keep_own_parts; /* passes over that of a part that the data set has */
};

/* Checks them against what was read, and takes them over. */
tn_status tn_dataset_take_fractions(struct tn_dataset_raw *raw, const struct tn_fractions *asked,
				    const char *name, struct tn_error_info *error);

#endif
