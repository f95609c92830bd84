/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * An array in equal parts.
 */
#ifndef TN_LAYERS_SPLIT_H
#define TN_LAYERS_SPLIT_H

#include <tenon/autograd.h>

enum { TN_SPLIT_PARTS = 4 };

/* Views of the n parts of x along an axis, whose length n divides; n is at most TN_SPLIT_PARTS.
 * NULL on failure, with the error kept. */
tn_status tn_split_parts(const tn_array *x, int axis, int n, tn_array **parts);

#endif
