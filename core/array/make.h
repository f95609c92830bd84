/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * How a public function of the array layer begins and ends.
 *
 *	struct tn_runtime *runtime = tn_begin(2, (const tn_array *[]){a, b}, "add");
 *	if (!runtime)
 *		return NULL;
 *	...
 *	return tn_end(runtime, status, out);
 */
#ifndef TN_ARRAY_MAKE_H
#define TN_ARRAY_MAKE_H

#include "array/array.h"
#include "array/record.h"

/* TN_DEVICE: the arrays live on different devices or contexts.  TN_INVALID_ARGUMENT: `out`
 * addresses an element twice, or is read-only.  Both fill runtime->report. */
tn_status tn_arrays_together(struct tn_runtime *runtime, const char *operation, uint32_t n,
			     const tn_array *const *arrays);
tn_status tn_array_writable(struct tn_runtime *runtime, const char *operation, const tn_array *out);
/* The error of an operand that would be written, and whose storage is read-only: TN_STATE of one
 * that contexts share, else TN_INVALID_ARGUMENT. */
tn_status tn_storage_refuse_write(struct tn_runtime *runtime, const char *operation,
				  const char *name, const struct tn_storage *storage);

/* Is none of them NULL, and no error kept?  TN_INVALID_ARGUMENT: one is, which is kept unless all
 * are; TN_PENDING_ERROR. */
tn_status tn_arrays_given(uint32_t n, const tn_array *const *arrays, const char *operation);

/* The runtime of the arrays, or NULL: one of them is NULL, they are on different devices (errors
 * that are then kept), or an error is kept. */
struct tn_runtime *tn_begin(uint32_t n, const tn_array *const *arrays, const char *operation);
/* The same for functions that return a status. */
tn_status tn_begin_into(uint32_t n, const tn_array *const *arrays, const char *operation);

/* Keeps the report of a failure, and frees `out`, which the caller has made.
 * Returns out or NULL. */
tn_array *tn_end(struct tn_runtime *runtime, tn_status status, tn_array *out);
/* Keeps the report of a failure; returns status. */
tn_status tn_end_into(struct tn_runtime *runtime, tn_status status);

/* Is a recorder set, and is one of the inputs tracked? */
static inline int tn_wants_record(const struct tn_runtime *runtime, uint32_t n,
				  const tn_array *const *inputs)
{
	if (!runtime->recorder)
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		if (inputs[i]->tracked)
			return 1;
	}
	return 0;
}

/* A view of the whole array that no recorder follows.  NULL: the array is NULL, or the error is
 * kept. */
tn_array *tn_array_untracked(const char *operation, const tn_array *a);

/* Passes a successful operation to the recorder, when one is set and an input is tracked. */
tn_status tn_record_made(struct tn_runtime *runtime, struct tn_record *record, uint32_t n,
			 const tn_array *const *inputs, tn_array *output);

/* TN_STATE when an in-place operation would lose a derivative that is wanted. */
tn_status tn_refuse_tracked(struct tn_runtime *runtime, const char *operation, uint32_t n,
			    const tn_array *const *inputs);

#endif
