/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Numbers on the host on which all ranks agree.  All ranks call the same functions in the same
 * order; errors are kept.
 */
#ifndef TN_DISTRIBUTED_AGREE_H
#define TN_DISTRIBUTED_AGREE_H

#include <tenon/distributed.h>

#include "array/runtime.h"

/* values := their sums over the ranks, in the order of the ranks.  `label` says what for, if a rank
 * does not come. */
tn_status tn_agree_sum(tn_communicator *communicator, size_t n, double *values, const char *label);
tn_status tn_agree_max(tn_communicator *communicator, size_t n, int64_t *values, const char *label);
/* all has `size` times n values, those of rank 0 first. */
tn_status tn_agree_gather(tn_communicator *communicator, size_t n, const uint64_t *values,
			  uint64_t *all, const char *label);
tn_status tn_agree_gather_numbers(tn_communicator *communicator, size_t n, const double *values,
				  double *all, const char *label);
/* If a rank's status is a failure, whose error its runtime keeps, all ranks fail: those that did
 * not fail themselves with the error of the lowest one that did.  For what ranks did alone. */
tn_status tn_agree_status(tn_communicator *communicator, struct tn_runtime *runtime,
			  tn_status status, const char *label);

#endif
