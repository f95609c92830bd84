/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What the norms share.
 */
#ifndef TN_AUTOGRAD_NORM_H
#define TN_AUTOGRAD_NORM_H

#include "autograd/tape.h"

/* The backward of a node with the inputs x, w, b and the saved x, w, mean, rstd; kind as in
 * tn_norm_forward.  dy may have another shape
 * than the saved x; dx gets dy's. */
tn_status tn_norm_node_backward(struct tn_node *node, int kind, tn_array *dy, int use_statistics);

/* activation(y + residual), recorded; y is consumed.  `residual` may be NULL. */
tn_array *tn_finish(tn_array *y, const tn_array *residual, uint32_t activation);

#endif
