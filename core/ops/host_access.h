/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Arrays that the host computes with in place, without a copy and without waiting.
 */
#ifndef TN_OPS_HOST_ACCESS_H
#define TN_OPS_HOST_ACCESS_H

#include "array/array.h"
#include "base/dtype.h"
#include "ops/index_check.h"

/* May the host compute with the array's memory?  Not while calls are captured, which would not
 * repeat what the host does. */
static inline int tn_array_is_at_hand(const tn_array *a)
{
	return tn_array_is_near(a) && !a->runtime->observer;
}

/* The first element of such an array. */
static inline void *tn_array_address(const tn_array *a)
{
	return (char *)a->storage->block.address + a->offset * (int64_t)tn_dtype_size(a->dtype);
}

#endif
