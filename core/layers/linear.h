/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A linear layer for inference.
 */
#ifndef TN_LAYERS_LINEAR_H
#define TN_LAYERS_LINEAR_H

#include <tenon/autograd.h>

/* activation(x w^T + bias), as tn_linear, not recorded, with weights that stay as they are; packed:
 * w, as tn_linear_prepack made it, or NULL. */
tn_array *tn_linear_activated(const tn_array *x, const tn_array *w, const tn_array *bias,
			      uint32_t activation, tn_array *packed);
/* w in the form that the device's own backend reads fastest: an array of bytes, or NULL in *packed
 * where the backend has none.  The caller drops it when w changes. */
tn_status tn_linear_prepack(const tn_array *x, const tn_array *w, tn_array **packed);

#endif
