/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The parts of complex arrays.  No backend computes with complex numbers: an operation is a real
 * program over views of the real and the imaginary parts.
 */
#ifndef TN_OPS_COMPLEX_PARTS_H
#define TN_OPS_COMPLEX_PARTS_H

#include "array/array.h"

/* The view of the real (part 0) or imaginary (part 1) elements of a complex array, not recorded;
 * NULL with runtime->report filled. */
tn_array *tn_complex_part_view(const tn_array *a, int part);

/* The parts of arrays as operands of real programs. */
struct tn_complex_parts {
	uint32_t n;
	tn_array *views[2 * TN_PROGRAM_MAX_INPUTS];        /* made; NULL for a real array */
	const tn_array *arrays[2 * TN_PROGRAM_MAX_INPUTS]; /* the views and the real arrays */
};

/* Adds a complex array's two parts, or a real array; at most TN_PROGRAM_MAX_INPUTS arrays. */
tn_status tn_complex_parts_add(struct tn_complex_parts *parts, const tn_array *a);
void tn_complex_parts_release(struct tn_complex_parts *parts);

#endif
