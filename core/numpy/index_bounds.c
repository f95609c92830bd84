/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Converts indices to i64, and raises, wraps or clips those that are out of range.
 */
#include "numpy/index_bounds.h"

#include <inttypes.h>

#include "array/make.h"
#include "base/dtype.h"
#include "dispatch/operations.h"
#include "ops/formula.h"

/* The place of an index, i32, i64 or in TN_WRAP u64, along an axis of that length; `outside` is out
 * of every range. */
static const struct tn_formula rules[] = {
	[TN_RAISE] = {.text = "i = i64(indices); place = i < 0 ? i + length : i\n"
			      "z = place < 0 || place >= length ? outside : place",
		      .inputs = "indices",
		      .scalars = "length outside",
		      .scalar_dtype = TN_I64},
	[TN_WRAP] = {.text = "rest = i64(indices) % length; z = rest < 0 ? rest + length : rest",
		     .inputs = "indices",
		     .scalars = "length outside",
		     .scalar_dtype = TN_I64},
	[TN_CLIP] = {.text = "i = i64(indices); z = i < 0 ? 0 : i >= length ? length - 1 : i",
		     .inputs = "indices",
		     .scalars = "length outside",
		     .scalar_dtype = TN_I64},
};

static const struct tn_formula wrap_u64 = {.text = "z = i64(indices % u64(length))",
					   .inputs = "indices",
					   .scalars = "length outside",
					   .scalar_dtype = TN_I64};

static tn_status check_arguments(const struct tn_check *check, const char *argument,
				 const tn_array *indices, uint32_t bounds)
{
	struct tn_runtime *runtime = indices->runtime;
	if (bounds > TN_CLIP)
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, check->operation,
				       "bounds: expected one of enum tn_bounds, found %" PRIu32,
				       bounds);
	if (!tn_is_integer(indices->dtype))
		return tn_runtime_fail(runtime, TN_DTYPE, check->operation,
				       "%s: expected integers, found %s", argument,
				       tn_dtype_name(indices->dtype));
	return TN_OK;
}

static tn_status check_range(const struct tn_check *check, const tn_array *indices, int64_t lowest,
			     int64_t length, uint32_t bounds)
{
	struct tn_runtime *runtime = indices->runtime;
	const struct tn_index_range range = {
		.operation = TN_DO_TAKE, .check = check, .lowest = lowest, .limit = length};
	if (bounds != TN_RAISE && length)
		return TN_OK;
	/* Without elements, no rule helps. */
	return tn_end_into(runtime, tn_indices_in_range(runtime, &range, indices));
}

tn_array *tn_index_bounded(const struct tn_check *check, const char *argument,
			   const tn_array *indices, int64_t lowest, int64_t length, uint32_t bounds)
{
	const double scalars[] = {(double)length, 0x1p62};
	if (!indices || check_arguments(check, argument, indices, bounds) ||
	    tn_scope_begin(indices->runtime->context))
		return NULL;
	const tn_array *all = tn_indices_signed(check->operation, argument, indices);
	const int is_unsigned = bounds == TN_WRAP && indices->dtype == TN_U64;
	tn_array *numbers = NULL;
	if (all && !check_range(check, all, lowest, length, bounds))
		numbers = tn_formula_operation(check->operation,
					       is_unsigned ? &wrap_u64 : &rules[bounds], TN_I64,
					       is_unsigned ? &indices : &all, scalars);
	return tn_scope_end(indices->runtime->context, numbers);
}
