/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * A linear layer for inference.
 */
#ifndef TN_LAYERS_LINEAR_H
#define TN_LAYERS_LINEAR_H

#include <tenon/autograd.h>

/* activation(x w^T + bias), as tn_linear, not recorded. */
tn_array *tn_linear_activated(const tn_array *x, const tn_array *w, const tn_array *bias,
			      uint32_t activation);

#endif
