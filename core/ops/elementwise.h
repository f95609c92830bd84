/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Element operations by number.
 */
#ifndef TN_OPS_ELEMENTWISE_H
#define TN_OPS_ELEMENTWISE_H

#include "array/array.h"
#include "dispatch/operations.h"

/* Runs a row of the table; `values` are its scalars. */
tn_array *tn_element_run(enum tn_operation operation, const tn_array *const *inputs,
			 const double *values);
/* The same for a row of one input, or two, without scalars. */
tn_array *tn_element_unary(enum tn_operation operation, const tn_array *a);
tn_array *tn_element_binary(enum tn_operation operation, const tn_array *a, const tn_array *b);

#endif
