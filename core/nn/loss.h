/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What all losses share: checks and reductions.  Errors are kept.
 */
#ifndef TN_NN_LOSS_H
#define TN_NN_LOSS_H

#include <tenon/loss.h>

#include "array/array.h"

/* TN_INVALID_ARGUMENT: the reduction is above `last`. */
tn_status tn_loss_check_reduction(struct tn_runtime *rt, const char *operation, uint32_t reduction,
				  uint32_t last);
/* TN_DTYPE: the input is not floating. */
tn_status tn_loss_check_input(const char *operation, const tn_array *input);
/* TN_DTYPE, TN_SHAPE: the weight is not floating of shape (classes).  TN_DEVICE: it is on another
 * device than the input.  NULL: TN_OK. */
tn_status tn_loss_check_weight(const char *operation, const tn_array *input, const tn_array *weight,
			       int64_t classes);

/* The array itself, or converted to that dtype. */
const tn_array *tn_loss_in_dtype(const tn_array *a, tn_dtype dtype);
/* Reduces losses (consumed; NULL gives NULL). */
tn_array *tn_loss_reduce(tn_array *losses, uint32_t reduction);

#endif
