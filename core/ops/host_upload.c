/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * See host_upload.h.
 */
#include "ops/host_upload.h"

#include "array/make.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "device/transfer.h"

tn_array *tn_host_upload(const tn_array *a, const char *operation, tn_dtype dtype, int rank,
			 const int64_t *shape, const void *elements)
{
	struct tn_runtime *runtime = a->runtime;
	tn_array *made = NULL;
	int64_t size;
	tn_status status = tn_shape_check(runtime, operation, dtype, rank, shape, &size);
	if (!status) {
		made = tn_array_make(runtime, tn_array_home(a), dtype, rank, shape);
		status = made ? TN_OK : runtime->report.status;
	}
	if (!status && size) {
		tn_observe_unrepeatable(runtime);
		status = tn_device_upload(tn_array_home(a), &made->storage->block, 0, elements,
					  (uint64_t)size * tn_dtype_size(dtype), &runtime->report);
	}
	return tn_end(runtime, status, made);
}
