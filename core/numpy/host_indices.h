/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The elements at places along an axis that the host lists.
 */
#ifndef TN_NUMPY_HOST_INDICES_H
#define TN_NUMPY_HOST_INDICES_H

#include "array/array.h"

/* Room for n places; NULL with the error kept. */
int64_t *tn_places_make(struct tn_runtime *runtime, const char *operation, int64_t n);

/* The elements of a at n places, each in range, along an axis, recorded.  Frees the places.  NULL
 * with the error kept. */
tn_array *tn_places_take(const tn_array *a, const char *operation, int axis, int64_t n,
			 int64_t *places);

#endif
