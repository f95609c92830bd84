/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Releases the memory of an array on the host.
 */
#include <string.h>
#include <tenon/io.h>

#include "base/memory.h"

void tn_host_array_release(struct tn_host_array *array)
{
	if (!array)
		return;
	tn_mem_free(array->data);
	memset(array, 0, sizeof(*array));
}
