/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Copies an array's elements to the host in row-major order.
 */
#include "text/host_elements.h"

#include "base/memory.h"

tn_status tn_host_elements_fetch(const tn_array *a, const char *operation,
				 struct tn_host_elements *elements)
{
	const size_t size = (size_t)a->size * tn_dtype_size(a->dtype);
	*elements = (struct tn_host_elements){.data = tn_mem_alloc(size), .size_bytes = size};
	if (!elements->data)
		return tn_runtime_fail(a->runtime, TN_OUT_OF_MEMORY, operation,
				       "no host memory for %zu bytes", size);
	const tn_status status = tn_to_host(a, elements->data, size);
	if (status)
		tn_host_elements_release(elements);
	return status;
}

void tn_host_elements_release(struct tn_host_elements *elements)
{
	tn_mem_free(elements->data);
	elements->data = NULL;
}
