/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Fills arrays, real or complex, by a program without inputs that reads the indices.
 */
#include "ops/index_formula.h"

#include "array/make.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "dispatch/ledger.h"
#include "dispatch/operations.h"
#include "ops/complex_parts.h"
#include "ops/copy.h"
#include "ops/map.h"

tn_status tn_index_formula_fill(struct tn_runtime *runtime, const char *operation,
				const struct tn_formula *formula, const double *scalars,
				tn_array *out)
{
	const uint32_t named = tn_operation_named(runtime, operation);
	struct tn_complex_parts parts = {0};
	if (!tn_is_complex(out->dtype))
		return tn_formula_map(runtime, named, formula, NULL, &out, scalars);
	tn_status status = tn_complex_parts_add(&parts, out);
	if (!status)
		status = tn_formula_map(runtime, named, formula, NULL, &parts.views[0], scalars);
	if (!status)
		status = tn_fill_run(runtime, TN_DO_FILL, parts.views[1], 0);
	tn_complex_parts_release(&parts);
	return status;
}

tn_array *tn_index_formula_make(struct tn_device *device, const char *operation, tn_dtype dtype,
				int rank, const int64_t *shape, const struct tn_formula *formula,
				const double *scalars)
{
	struct tn_runtime *runtime = tn_runtime_of(device->context);
	tn_array *out = NULL;
	int64_t size;
	tn_status status = tn_shape_check(runtime, operation, dtype, rank, shape, &size);
	if (!status) {
		out = tn_array_make(runtime, device, dtype, rank, shape);
		status = out ? TN_OK : runtime->report.status;
	}
	if (!status)
		status = tn_index_formula_fill(runtime, operation, formula, scalars, out);
	return tn_end(runtime, status, out);
}
