/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Device memory that arrays share.
 */
#ifndef TN_ARRAY_STORAGE_H
#define TN_ARRAY_STORAGE_H

#include "array/runtime.h"
#include "device/deferred_release.h"

/* Memory that a caller lends, or another context. */
struct tn_foreign {
	struct tn_deferred_release later;
	struct tn_device *device;
	/* Of its first byte, as the caller gave it; 0: memory of another context's pool. */
	uint64_t address;
	int is_read_only;
	uint64_t imported; /* its handle at the backend; 0: none, the address is the handle */
	/* Called once, after the last use; NULL: not called. */
	void (*release)(void *user);
	void *user;
};

/* Device memory that views share.  `version` counts in-place changes: code that saved a value
 * compares it later. */
struct tn_storage {
	uint32_t references;
	struct tn_device *device;
	struct tn_block block;
	uint64_t version;
	int is_shared;              /* with other contexts: constant */
	struct tn_foreign *foreign; /* NULL: memory of the device's pool */
};

/* Storage of `size` bytes on a device, with one reference.  Fills runtime->report on failure. */
tn_status tn_storage_create(struct tn_runtime *runtime, struct tn_device *device, uint64_t size,
			    struct tn_storage **storage);
/* The same over memory that a caller lends: `size` bytes at `address`, an address of host memory if
 * the device takes any, else what the backend imports.  The caller sets foreign->release when all
 * has succeeded.  TN_UNSUPPORTED: the backend cannot import memory. */
tn_status tn_storage_wrap(struct tn_runtime *runtime, struct tn_device *device,
			  const char *operation, uint64_t address, uint64_t size,
			  struct tn_storage **storage);
/* The same over the memory of a storage of another context, which the device uses as its own. */
tn_status tn_storage_borrow(struct tn_runtime *runtime, struct tn_device *device,
			    const char *operation, const struct tn_storage *lender,
			    struct tn_storage **storage);
void tn_storage_release(struct tn_storage *storage);

static inline int tn_storage_is_read_only(const struct tn_storage *storage)
{
	return storage->is_shared || (storage->foreign && storage->foreign->is_read_only);
}

/* Do they share no byte?  Different storages over lent memory may share some; over the pool's of
 * another context only if they are constant. */
static inline int tn_storages_are_apart(const struct tn_storage *a, const struct tn_storage *b)
{
	return a != b && !(a->foreign && a->foreign->address && b->foreign && b->foreign->address);
}

#endif
