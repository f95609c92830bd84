/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The frame of an operation that the host computes: checks, reads its inputs, writes the result
 * and counts the work.
 */
#include "ops/host_compute.h"

#include "array/make.h"
#include "base/dtype.h"
#include "base/memory.h"
#include "dispatch/ledger.h"
#include "dispatch/route.h"
#include "ops/copy.h"

tn_status tn_host_compute_begin(const char *operation, uint32_t n, const tn_array *const *arrays)
{
	struct tn_runtime *runtime = tn_begin(n, arrays, operation);
	if (!runtime)
		return TN_PENDING_ERROR;
	if (tn_wants_record(runtime, n, arrays))
		return tn_runtime_fail(runtime, TN_STATE, operation,
				       "a tape is recording and an array has a gradient, which %s "
				       "does not have",
				       operation);
	tn_status status = tn_route_allow_host(runtime, tn_operation_named(runtime, operation),
					       tn_array_home(arrays[0]), "compute it");
	if (status && !tn_array_home(arrays[0])->host_memory)
		return tn_end_into(runtime, status);
	return tn_scope_begin(runtime->context);
}

void *tn_host_compute_read(const char *operation, const tn_array *a, tn_dtype dtype)
{
	const size_t size = (size_t)a->size * tn_dtype_size(dtype);
	const tn_array *wide = tn_astype(a, dtype);
	void *data = tn_mem_alloc(size);
	if (!data)
		tn_runtime_no_memory(a->runtime, operation, NULL);
	if (data && wide && !tn_to_host(wide, data, size)) {
		const uint32_t row = tn_operation_named(a->runtime, operation);
		tn_ledger_row_of(a->runtime->ledger, row)->bytes_moved += size;
		return data;
	}
	tn_mem_free(data);
	return NULL;
}

tn_array *tn_host_compute_write(const tn_array *a, tn_dtype from, tn_dtype dtype, int rank,
				const int64_t *shape, const void *data)
{
	tn_array *wide = tn_array_filled(a, from, rank, shape, 0);
	if (!wide ||
	    (wide->size && tn_assign_host(wide, data, (size_t)wide->size * tn_dtype_size(from))))
		return NULL;
	return from == dtype ? wide : tn_astype(wide, dtype);
}

void tn_host_compute_count(const char *operation, const tn_array *a)
{
	tn_route_count_host(a->runtime, tn_operation_named(a->runtime, operation),
			    tn_array_home(a));
}
