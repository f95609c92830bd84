/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Polynomials as arguments.
 */
#ifndef TN_NUMPY_POLYNOMIAL_H
#define TN_NUMPY_POLYNOMIAL_H

#include "array/array.h"

/* TN_SHAPE: not a line, or one without elements that must have some.  The error is kept. */
tn_status tn_polynomial_check(const char *operation, const char *name, const tn_array *p,
			      int may_be_empty);

#endif
