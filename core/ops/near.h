/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Arrays that the host reads and writes in place, without a copy and without waiting.
 */
#ifndef TN_OPS_NEAR_H
#define TN_OPS_NEAR_H

#include "array/array.h"

/* Can the host use the array's memory now?  Not while calls are captured, which would not repeat
 * what the host does. */
static inline int tn_array_is_near(const tn_array *a)
{
	const struct tn_device *device = tn_array_home(a);
	return device->synchronous && a->storage->block.address && !device->store &&
	       !a->runtime->observer;
}

/* The first element of an array that is near. */
static inline void *tn_array_near(const tn_array *a)
{
	return (char *)a->storage->block.address + a->offset * (int64_t)tn_dtype_size(a->dtype);
}

#endif
