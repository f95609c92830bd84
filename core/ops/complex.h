/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Element operations on complex arrays.
 */
#ifndef TN_OPS_COMPLEX_H
#define TN_OPS_COMPLEX_H

#include "array/array.h"
#include "dispatch/operations.h"

/* An element operation, one of whose inputs is complex, as a new array. */
tn_array *tn_complex_element(struct tn_runtime *runtime, enum tn_operation operation,
			     const tn_array *const *inputs, const double *scalars);
/* The same into an existing array. */
tn_status tn_complex_element_into(struct tn_runtime *runtime, enum tn_operation operation,
				  const tn_array *const *inputs, tn_array *out);

#endif
