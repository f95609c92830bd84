/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Weights of frozen layers in the backend's own form.
 */
#ifndef TN_NN_FROZEN_PACK_H
#define TN_NN_FROZEN_PACK_H

#include "nn/module.h"

/* Packs a layer's weights by that function of them, once for each forward that is recorded, and
 * keeps them as long as its replay.  NULL: no forward is being recorded, the backend has no such
 * form, or packing failed and the error is kept. */
tn_array *tn_frozen_pack(tn_module *module,
			 tn_status (*pack)(const void *weights, tn_array **packed),
			 const void *weights);

#endif
