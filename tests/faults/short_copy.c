/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fault: a copy skips the last element.
 * Conform: L2 copy.layouts
 * Doctor: copies.strided
 */
#include "right.h"

static tn_status copy(void *device, const struct tn_copy_args *args)
{
	struct tn_copy_args own;
	(void)device;
	tn_status status = right_take(&own, sizeof(own), args, "copy");
	if (!status)
		status = right_copy_check(&own);
	if (status || right_is_dry(&own.call))
		return status;
	for (uint64_t i = 0, n = right_count(&own.output); i + 1 < n; i++)
		memmove(right_element(&own.output, i), right_element(&own.input, i),
			tn_dtype_size(own.output.dtype));
	return TN_OK;
}

static void break_it(struct right *right)
{
	right->copy.copy = copy;
}

RIGHT_PLUGIN("short_copy");
