/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The three parts of a data set.
 */
#ifndef TN_DATA_SPLIT_H
#define TN_DATA_SPLIT_H

#include "data/dataset.h"

/* Fills index and count of the three parts, from raw->parts, raw->n_test and the fractions. */
tn_status tn_dataset_split(tn_dataset *dataset, struct tn_dataset_raw *raw,
			   struct tn_error_info *error);

/* Fills mean and deviation of the format of images from `as`, or, where that is NULL, from the
 * training part. */
tn_status tn_dataset_normalise(tn_dataset *dataset, const struct tn_input_format *as,
			       struct tn_error_info *error);

#endif
