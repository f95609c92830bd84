/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Backwards of the array layer's operations, one for each kind of record, and their shared parts.
 */
#ifndef TN_AUTOGRAD_GRADIENTS_H
#define TN_AUTOGRAD_GRADIENTS_H

#include "autograd/node.h"

/* The form of an input: a gradient that reads no elements needs this and not the array. */
struct tn_recorded_input {
	int rank;
	tn_dtype dtype;
	int64_t shape[TN_MAX_RANK];
};

/* The part of its record that a node keeps: everything but the arrays. */
struct tn_recorded {
	struct tn_record record; /* inputs, output and scalars are not valid */
	struct tn_scalar scalars[TN_PROGRAM_MAX_SCALARS];
	int rank; /* of input 0 */
	int64_t shape[TN_MAX_RANK];
	tn_dtype dtype;
	tn_device *device;
	struct tn_recorded_input inputs[TN_NODE_MAX_INPUTS]; /* as many as the node has */
};

/* The recorder of the array layer's own operations; `tape` is a struct tn_tape. */
tn_status tn_tape_record(void *tape, const struct tn_record *record, struct tn_error_info *error);

#endif
