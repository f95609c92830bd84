/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Arrays whose elements the host has made.
 */
#ifndef TN_OPS_HOST_UPLOAD_H
#define TN_OPS_HOST_UPLOAD_H

#include "array/array.h"

/* A new array on the device of `a`, of elements in host memory; not recorded.  Captured work cannot
 * repeat it.  NULL with the error kept. */
tn_array *tn_host_upload(const tn_array *a, const char *operation, tn_dtype dtype, int rank,
			 const int64_t *shape, const void *elements);

#endif
