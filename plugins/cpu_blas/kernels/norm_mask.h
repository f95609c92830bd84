/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The gradient of the activations that norms may apply.
 */
#ifndef CPU_NORM_MASK_H
#define CPU_NORM_MASK_H

#include "vector_math.h"

/* dy where 0 < result < high, else 0; a NaN as `high` is no limit. */
static inline vf norm_mask(vf dy, vf result, float high)
{
	vf zero = {0};
	return vf_select((result > zero) & ~(result >= high), dy, zero);
}

#endif
