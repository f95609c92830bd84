/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Host draws of one number for each element.
 */
#ifndef TN_RANDOM_SAMPLE_H
#define TN_RANDOM_SAMPLE_H

#include "array/array.h"
#include "random/distribution.h"

/* Of the distribution of that number in the table, with the same parameters for all elements. */
tn_array *tn_sample_host(tn_generator *generator, uint32_t distribution, tn_dtype dtype, int rank,
			 const int64_t *shape, const double *parameters);

#endif
