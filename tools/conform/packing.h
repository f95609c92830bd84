/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Packed weights: the slots conv2d_prepack and matmul_prepack.
 */
#ifndef TN_TOOLS_CONFORM_PACKING_H
#define TN_TOOLS_CONFORM_PACKING_H

#include "conform.h"

enum { PACKING_GUARD = 256 }; /* bytes before and after the packed weights */

/* Weights to be packed, and the slot that does it: that of `conv2d` or `matmul`. */
struct packing {
	struct kit *kit;
	struct array *weights;
	struct tn_conv2d_args *conv2d; /* one is NULL */
	struct tn_matmul_args *matmul;
	struct tn_call *call;
	struct tn_packed *packed;
};

/* The bytes that packing takes, and its workspace; 0: the slot refuses, or packing has no use. */
uint64_t packing_size(const struct packing *p, uint64_t *workspace_size);

/* Memory on the device for so many bytes between two guards. */
uint64_t packing_room(struct kit *kit, uint64_t size);
void packing_release(struct kit *kit, uint64_t buffer);

/* Packs the weights into `size` bytes of p->packed, between two guards. */
void packing_fill(const struct packing *p, uint64_t size, uint64_t workspace_size);

#endif
