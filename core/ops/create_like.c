/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * New arrays of another one's shape, order of axes, device and, unless one is given, dtype.
 */
#include <tenon/manipulate.h>

#include "array/make.h"
#include "base/dtype.h"
#include "dispatch/operations.h"
#include "ops/copy.h"
#include "ops/layout.h"
#include "ops/number.h"

static tn_array *make_like(const tn_array *a, tn_dtype dtype, const char *operation)
{
	struct tn_runtime *runtime = tn_begin(1, &a, operation);
	if (!runtime)
		return NULL;
	if (dtype && !tn_dtype_size(dtype)) {
		tn_runtime_fail(runtime, TN_DTYPE, operation,
				"dtype: expected an element type, or 0 for that of a, found %d",
				dtype);
		return NULL;
	}
	return tn_end(runtime, TN_OK, tn_array_make_like(a, dtype ? dtype : a->dtype));
}

static tn_array *filled_like(const tn_array *a, tn_number value, tn_dtype dtype,
			     const char *operation)
{
	tn_array *out = make_like(a, dtype, operation);
	struct tn_value_bits bits;
	if (!out)
		return NULL;
	tn_status status =
		tn_number_bits(out->runtime, operation, "value", value, out->dtype, &bits);
	if (!status)
		status = tn_fill_bits(out->runtime, TN_DO_FILL, out, &bits);
	return tn_end(out->runtime, status, out);
}

tn_array *tn_empty_like(const tn_array *a, tn_dtype dtype)
{
	return make_like(a, dtype, "empty_like");
}

tn_array *tn_zeros_like(const tn_array *a, tn_dtype dtype)
{
	return filled_like(a, tn_number_f64(0), dtype, "zeros_like");
}

tn_array *tn_ones_like(const tn_array *a, tn_dtype dtype)
{
	return filled_like(a, tn_number_f64(1), dtype, "ones_like");
}

tn_array *tn_full_like(const tn_array *a, double value, tn_dtype dtype)
{
	return filled_like(a, tn_number_f64(value), dtype, "full_like");
}

tn_array *tn_full_like_number(const tn_array *a, tn_number value, tn_dtype dtype)
{
	return filled_like(a, value, dtype, "full_like");
}
