/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * An array is a view (shape, strides, offset) of a reference-counted storage.
 *
 * An array lives as long as it has an owner: the scope it was made in, callers of tn_keep
 * (counted), or holders inside the library, for example tape nodes (tn_array_hold).  The three are
 * counted separately, so that releasing one reference never drops another owner's.
 */
#ifndef TN_ARRAY_ARRAY_H
#define TN_ARRAY_ARRAY_H

#include <tenon/array.h>

#include "array/observer.h"
#include "array/runtime.h"
#include "array/storage.h"
#include "device/use.h"

struct tn_array {
	struct tn_runtime *runtime;
	struct tn_storage *storage;
	tn_dtype dtype;
	int rank;
	int contiguous; /* row-major without gaps; also true of at most one element */
	int dense;      /* without gaps, in some order of axes */
	int64_t size;   /* elements */
	int64_t offset; /* elements from the block's start */
	uint32_t kept;
	uint32_t held;
	struct tn_scope *scope; /* NULL: no scope owns it */
	struct tn_array *previous, *next;
	/* Owned by the tape; NULL: no derivative is wanted.  It begins with a pointer to the array,
	 * which is set to NULL when the array is freed. */
	void *tracked;
	int64_t shape[TN_MAX_RANK];
	int64_t strides[TN_MAX_RANK]; /* in elements */
};

struct tn_scope {
	struct tn_scope *parent;
	struct tn_array *arrays;
};

/* An array with storage of its own, compact and uninitialised, in the innermost scope.  On failure
 * NULL, with runtime->report filled and nothing kept.  TN_LIMIT: more bytes than can be addressed.
 */
tn_array *tn_array_make(struct tn_runtime *runtime, struct tn_device *device, tn_dtype dtype,
			int rank, const int64_t *shape);
/* A view of the storage of `a` with `a`'s dtype: `offset` in elements from the block's start.
 * Takes a reference on the storage. */
tn_array *tn_array_view(const tn_array *a, int rank, const int64_t *shape, const int64_t *strides,
			int64_t offset);

/* An array over a storage, whose reference passes to it; on failure it stays with the caller.  No
 * element lies outside the storage. */
tn_array *tn_array_over(struct tn_runtime *runtime, struct tn_storage *storage, tn_dtype dtype,
			int rank, const int64_t *shape, const int64_t *strides, int64_t offset);

/* Where one type serves for arrays that are read and those that are written; or where a const array
 * becomes a result, or the tape changes what it keeps of it. */
static inline tn_array *tn_array_const_cast(const tn_array *array)
{
	return (tn_array *)(uintptr_t)array;
}

/* The library's own reference, apart from scopes and tn_keep. */
static inline tn_array *tn_array_hold(tn_array *array)
{
	array->held++;
	return array;
}
/* Drops it; frees the array when it has no other owner.  Takes NULL. */
void tn_array_unhold(tn_array *array);

/* Frees an array of the innermost scope that has no other owner. */
void tn_array_discard(tn_array *array);

/* Frees an array whoever owns it. */
void tn_array_end(tn_array *array);

/* Moves an array from its scope, which has a parent, to the parent: a second result of a
 * composition. */
void tn_array_lift(tn_array *array);

/* Ends a scope that has several results: each moves to the parent, as that of tn_scope_end does;
 * NULL is a result that is not wanted.  If `status` is a failure, or an error is kept, all are
 * freed and become NULL.  Returns that status. */
tn_status tn_scope_end_all(tn_context *context, tn_status status, int n, tn_array **results);

/* Frees all arrays and scopes of a runtime, regardless of owners. */
void tn_runtime_free_arrays(struct tn_runtime *runtime);

/* Notes that the array's elements are about to change in place. */
static inline void tn_array_touch(tn_array *array)
{
	const struct tn_observer *observer = array->runtime->observer;
	array->storage->version++;
	if (observer && observer->changed)
		observer->changed(array->runtime, array->storage);
}

static inline struct tn_device *tn_array_home(const tn_array *array)
{
	return array->storage->device;
}

/* To be called before work of the current stream is given the array. */
static inline void tn_array_use(const tn_array *array)
{
	const struct tn_observer *observer = array->runtime->observer;
	tn_block_use(array->storage->device, &array->storage->block);
	if (observer && observer->shared && array->storage->is_shared)
		observer->shared(array->runtime, array->storage);
}

static inline uint64_t tn_array_byte_offset(const tn_array *array)
{
	return array->storage->block.offset + (uint64_t)array->offset * tn_dtype_size(array->dtype);
}

#endif
