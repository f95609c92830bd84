/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Inverse functions of complex numbers that are composed of square roots.
 */
#ifndef TN_OPS_COMPLEX_ARCS_H
#define TN_OPS_COMPLEX_ARCS_H

#include "array/array.h"

enum tn_complex_arc { TN_ARC_SIN, TN_ARC_COS, TN_ARC_SINH, TN_ARC_COSH };

/* Of a complex array; the name is that of errors, and never freed. */
tn_array *tn_complex_arc(enum tn_complex_arc arc, const char *name, const tn_array *z);

#endif
