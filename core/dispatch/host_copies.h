/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Copies of one call's operands that the host can read: the bytes that they span are copied to the
 * host, and those that the call writes are copied back.  Operands that share bytes share the copy,
 * so that an in-place operation stays in place; bytes between the elements of a written view return
 * unchanged.
 */
#ifndef TN_DISPATCH_HOST_COPIES_H
#define TN_DISPATCH_HOST_COPIES_H

#include "array/runtime.h"
#include "loader/slot_contents.h"

/* Bytes [low, high) of a device buffer. */
struct tn_host_span {
	uint64_t buffer;
	uint64_t low, high;
	int reads;  /* the present bytes are needed */
	int writes; /* they change */
	struct tn_block host;
	unsigned char *address; /* of byte `low` */
};

struct tn_host_copies {
	struct tn_runtime *runtime;
	struct tn_device *device;         /* where the operands are */
	struct tn_call *call;             /* the call, with operands on the host */
	struct tn_slot_contents contents; /* of that call */
	uint32_t n_spans;
	struct tn_host_span spans[TN_SLOT_MOST_OPERANDS + TN_SLOT_MOST_SCALARS];
	uint64_t bytes; /* copied, both ways */
};

/* All fill runtime->report on failure.  Call tn_host_copies_end after tn_host_copies_make in any
 * case. */

tn_status tn_host_copies_make(struct tn_host_copies *copies, struct tn_runtime *runtime,
			      struct tn_device *device, enum tn_slot slot,
			      const struct tn_call *call);
/* Copies the bytes written by the call back to the device. */
tn_status tn_host_copies_take_back(struct tn_host_copies *copies);
void tn_host_copies_end(struct tn_host_copies *copies);

#endif
