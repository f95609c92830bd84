/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The types of layers that are recorded as their parts, which would also take others.
 */
#ifndef TN_LAYERS_CHECK_FLOATING_H
#define TN_LAYERS_CHECK_FLOATING_H

#include "array/array.h"

/* TN_DTYPE (kept): x is not floating. */
tn_status tn_check_floating(const char *operation, const tn_array *x);

#endif
