/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Operations that the host computes whole, on every device: their inputs are read, the result is
 * written back, and the ledger counts the work as the host's.  Errors are kept.
 *
 *	begin -> read ... -> (the caller computes) -> write -> count -> tn_scope_end
 */
#ifndef TN_OPS_HOST_COMPUTE_H
#define TN_OPS_HOST_COMPUTE_H

#include "array/array.h"

/* Opens a scope, which the caller ends if this succeeds.  TN_STATE: an array has a gradient.
 * TN_UNSUPPORTED: TENON_FALLBACK forbids it. */
tn_status tn_host_compute_begin(const char *operation, uint32_t n, const tn_array *const *arrays);
/* The elements as f64 or c128: memory of the caller, or NULL. */
void *tn_host_compute_read(const char *operation, const tn_array *a, tn_dtype dtype);
/* A new array of `dtype` from f64 or c128 on the device of `a`; NULL. */
tn_array *tn_host_compute_write(const tn_array *a, tn_dtype from, tn_dtype dtype, int rank,
				const int64_t *shape, const void *data);
void tn_host_compute_count(const char *operation, const tn_array *a);

#endif
