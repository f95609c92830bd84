/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * One pooling, checked, and its compositions from maps and reductions.
 */
#ifndef TN_LAYERS_POOL2D_COMPOSE_H
#define TN_LAYERS_POOL2D_COMPOSE_H

#include "array/array.h"
#include "dispatch/operations.h"
#include "layers/window.h"

/* x = (N, C, H, W); y and index = (N, C, P, Q). */
struct tn_pool2d {
	struct tn_runtime *runtime;
	enum tn_operation operation;
	struct tn_window window;
	tn_array *x;
	tn_array *y;
	tn_array *index; /* may be NULL: not wanted, or an average */
	int64_t N, C, H, W, P, Q;
};

/* Is the window so small that its cells are read one by one? */
static inline int tn_pool2d_is_small(const struct tn_pool2d *pool)
{
	return pool->window.kernel[0] <= 16 && pool->window.kernel[1] <= 16 &&
	       pool->window.kernel[0] * pool->window.kernel[1] <= 16;
}

/* Compositions of a struct tn_pool2d without empty arrays. */
tn_status tn_compose_pool2d(void *pool);
tn_status tn_compose_pool2d_backward(void *pool);

#endif
