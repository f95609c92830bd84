/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Device memory that arrays share.
 */
#ifndef TN_ARRAY_STORAGE_H
#define TN_ARRAY_STORAGE_H

#include "array/runtime.h"

/* Device memory that views share.  `version` counts in-place changes: code that saved a value
 * compares it later. */
struct tn_storage {
	uint32_t references;
	struct tn_device *device;
	struct tn_block block;
	uint64_t version;
};

/* Storage of `size` bytes on a device, with one reference.  Fills runtime->report on failure. */
tn_status tn_storage_create(struct tn_runtime *runtime, struct tn_device *device, uint64_t size,
			    struct tn_storage **storage);
void tn_storage_release(struct tn_storage *storage);

#endif
