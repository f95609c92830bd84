/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The reader of the handwritten digits distributed with Tenon.
 */
#ifndef TN_DATA_DIGITS_H
#define TN_DATA_DIGITS_H

#include "data/dataset.h"

/* Fills *raw only on success. */
tn_status tn_digits_read(const char *path, int as_stored, struct tn_dataset_raw *raw,
			 struct tn_error_info *error);

#endif
