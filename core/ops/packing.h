/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Weights in the backend's own form: what the slots that pack them, for products and for
 * convolutions, have in common.
 */
#ifndef TN_OPS_PACKING_H
#define TN_OPS_PACKING_H

#include "array/array.h"

struct tn_packing {
	struct tn_runtime *runtime;
	struct tn_device *device;
	uint32_t operation;       /* enum tn_operation, for the ledger */
	struct tn_call *call;     /* the arguments, with their operands */
	struct tn_packed *packed; /* a member of the arguments */
	tn_status (*entry)(struct tn_device *device, const struct tn_call *call, uint64_t *size);
};

/* Makes an array of bytes in *array, or NULL where the backend sees no benefit.  On failure
 * runtime->report is filled. */
tn_status tn_packing_run(const struct tn_packing *packing, tn_array **array);

/* The member of a call that is given the packed weights. */
struct tn_packed tn_packed_of(tn_array *array);

#endif
