/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 */
#include "layers/check_floating.h"

#include "array/runtime.h"
#include "base/dtype.h"

tn_status tn_check_floating(const char *operation, const tn_array *x)
{
	if (tn_is_floating(x->dtype))
		return TN_OK;
	return tn_runtime_fail(x->runtime, TN_DTYPE, operation,
			       "expected a floating type, found %s", tn_dtype_name(x->dtype));
}
