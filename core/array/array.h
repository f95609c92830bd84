/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * What an array is: a view (shape, strides, offset) of a reference-counted storage.
 *
 * An array lives as long as somebody owns it: the scope it was made in, whoever kept it (tn_keep
 * counts), and the library's own holders, such as tape nodes (tn_array_hold).  The three are
 * counted apart, so that giving one back never takes another's.
 */
#ifndef TN_ARRAY_ARRAY_H
#define TN_ARRAY_ARRAY_H

#include <tenon/array.h>

#include "array/observer.h"
#include "array/runtime.h"
#include "array/storage.h"

struct tn_array {
	struct tn_runtime *runtime;
	struct tn_storage *storage;
	tn_dtype dtype;
	int rank;
	int contiguous; /* row-major without gaps; so are all arrays of one element or none */
	int dense;      /* without gaps, in some order of axes */
	int64_t size;   /* elements */
	int64_t offset; /* elements from the block's start */
	uint32_t kept;
	uint32_t held;
	struct tn_scope *scope; /* NULL: no scope owns it */
	struct tn_array *previous, *next;
	/* The tape's; NULL: no derivative is wanted.  It begins with a pointer to the array, which
	 * the array's end sets to NULL. */
	void *tracked;
	int64_t shape[TN_MAX_RANK];
	int64_t strides[TN_MAX_RANK]; /* in elements */
};

struct tn_scope {
	struct tn_scope *parent;
	struct tn_array *arrays;
};

/* An array with storage of its own, compact and uninitialised, in the innermost scope.  On failure
 * NULL, with runtime->report filled and nothing kept.  The shape is one that exists: no
 * overflow. */
tn_array *tn_array_make(struct tn_runtime *runtime, struct tn_device *device, tn_dtype dtype,
			int rank, const int64_t *shape);
/* A view of the storage of `a` with `a`'s dtype: `offset` in elements from the block's start.
 * Takes a reference on the storage. */
tn_array *tn_array_view(const tn_array *a, int rank, const int64_t *shape, const int64_t *strides,
			int64_t offset);

/* The library's own reference, apart from scopes and tn_keep. */
static inline tn_array *tn_array_hold(tn_array *array)
{
	array->held++;
	return array;
}
/* Gives it back; frees the array when nobody else owns it.  Takes NULL. */
void tn_array_unhold(tn_array *array);

/* Frees an array of the innermost scope that nobody has seen yet. */
void tn_array_discard(tn_array *array);

/* Frees all arrays and scopes of a runtime, whoever owns them. */
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

static inline uint64_t tn_array_byte_offset(const tn_array *array)
{
	return array->storage->block.offset + (uint64_t)array->offset * tn_dtype_size(array->dtype);
}

#endif
