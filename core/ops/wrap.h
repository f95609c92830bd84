/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Arrays over the memory of others, and the memory of arrays for others.
 */
#ifndef TN_OPS_WRAP_H
#define TN_OPS_WRAP_H

#include <tenon/memory.h>

#include "array/array.h"

/* tn_array_import under another name, with options that were taken. */
tn_array *tn_wrap_memory(struct tn_runtime *runtime, struct tn_device *device,
			 const char *operation, const struct tn_wrap_options *options);

/* Where the array's device has its memory, as the vendor's interface names it.  Fills
 * runtime->report on failure. */
tn_status tn_wrap_address(const tn_array *array, const char *operation, uint64_t *pointer);

#endif
