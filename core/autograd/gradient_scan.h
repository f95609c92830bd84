/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Backwards of scans.
 */
#ifndef TN_AUTOGRAD_GRADIENT_SCAN_H
#define TN_AUTOGRAD_GRADIENT_SCAN_H

#include "autograd/node.h"
tn_status tn_cumsum_backward(struct tn_node *node, tn_array *dy);
tn_status tn_cumprod_backward(struct tn_node *node, tn_array *dy);
tn_status tn_cumulative_extremum_backward(struct tn_node *node, tn_array *dy);

#endif
