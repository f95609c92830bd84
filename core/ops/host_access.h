/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Arrays that the host reads and computes with in place, without a copy and without waiting.
 */
#ifndef TN_OPS_HOST_ACCESS_H
#define TN_OPS_HOST_ACCESS_H

#include "array/array.h"

/* May the host read the elements now, where they are? */
int tn_host_may_read(const tn_array *a);
/* May the host compute with the array's memory?  Not while calls are captured, which would not
 * repeat what the host does. */
int tn_host_may_compute(const tn_array *a);

/* The first element of such an array. */
void *tn_host_address(const tn_array *a);

#endif
