/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * See tolerance.h.
 */
#include "ops/tolerance.h"

#include <math.h>

#include "array/runtime.h"

tn_status tn_tolerance_check(struct tn_runtime *runtime, const char *operation, const char *name,
			     double value)
{
	if (isfinite(value) && value >= 0)
		return TN_OK;
	return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, operation,
			       "%s: expected 0 or a finite number above it, found %g", name, value);
}
