/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The backward of an element program.
 */
#ifndef TN_AUTOGRAD_GRADIENT_MAP_H
#define TN_AUTOGRAD_GRADIENT_MAP_H

#include "autograd/node.h"

tn_status tn_map_backward(struct tn_node *node, tn_array *dy);

#endif
