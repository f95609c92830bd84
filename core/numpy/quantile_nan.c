/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Computes quantiles of lines with different numbers of elements.  The host makes a table of the
 * positions for every count that a line may have; the device looks them up.
 */
#include "numpy/quantile_nan.h"

#include <inttypes.h>
#include <string.h>
#include <tenon/statistics.h>

#include "array/make.h"
#include "base/dtype.h"
#include "base/memory.h"
#include "numpy/quantile_position.h"
#include "numpy/sorted_search.h"
#include "ops/formula.h"
#include "ops/host_upload.h"

tn_array *tn_quantile_counts(const char *operation, const tn_array *lines)
{
	static const struct tn_formula is_number = {.text = "z = x == x", .inputs = "x"};
	tn_array *numbers = tn_formula_operation(operation, &is_number, TN_BOOL, &lines, NULL);
	return tn_sum(numbers, 1, (const int[]){-1}, 0);
}

/* Columns 0 to n of the rows from, to and weight: a quantile of that many elements is from + weight
 * (to - from), with a weight below 1/2, of elements at these positions.  Discrete methods have
 * weight 0. */
static void fill_table(double *table, int64_t n, uint32_t method, double q)
{
	double *from = table, *to = table + n + 1, *weight = to + n + 1;
	from[0] = to[0] = weight[0] = 0;
	for (int64_t count = 1; count <= n; count++) {
		const struct tn_quantile_position position =
			tn_quantile_position_of(method, count, q);
		const int is_near = position.weight < 0.5 || position.is_element;
		from[count] = (double)(is_near ? position.lower : position.upper);
		to[count] = (double)(is_near ? position.upper : position.lower);
		weight[count] = position.is_element ? 0
				: is_near           ? position.weight
						    : 1 - position.weight;
	}
}

static tn_array *make_table(const char *operation, const tn_array *sorted, uint32_t method,
			    double q)
{
	const int64_t n = sorted->shape[sorted->rank - 1];
	double *values = tn_mem_alloc(3 * ((size_t)n + 1) * sizeof(double));
	if (!values) {
		tn_runtime_fail(sorted->runtime, TN_OUT_OF_MEMORY, operation,
				"no host memory for %" PRId64 " places", n);
		return NULL;
	}
	fill_table(values, n, method, q);
	tn_array *table =
		tn_host_upload(sorted, operation, TN_F64, 2, (const int64_t[]){3, n + 1}, values);
	tn_mem_free(values);
	return table;
}

/* Row `row` of the table for each line, in the shape of the counts and an axis more. */
static tn_array *look_up(const tn_array *table, int row, const tn_array *counts, tn_dtype dtype)
{
	int64_t shape[TN_MAX_RANK + 1], all = -1;
	const tn_array *line = tn_squeeze(tn_slice(table, 0, row, row + 1, 1), 0);
	tn_array *found = tn_elements_at(line, tn_reshape(counts, 1, &all));
	memcpy(shape, counts->shape, sizeof(counts->shape));
	shape[counts->rank] = 1;
	return tn_astype(tn_reshape(found, counts->rank + 1, shape), dtype);
}

static tn_array *between(const char *operation, const tn_array *sorted, const tn_array *counts,
			 uint32_t method, double q, const struct tn_formula *formula)
{
	if (!sorted || !counts)
		return NULL;
	const tn_dtype wide = tn_is_narrow(sorted->dtype) ? TN_F32 : sorted->dtype;
	const tn_array *table = make_table(operation, sorted, method, q);
	if (!table)
		return NULL;
	const tn_array *from =
		tn_take_along_axis(sorted, look_up(table, 0, counts, TN_I64), sorted->rank - 1);
	const tn_array *inputs[] = {
		from,
		tn_take_along_axis(sorted, look_up(table, 1, counts, TN_I64), sorted->rank - 1),
		look_up(table, 2, counts, wide)};
	return tn_formula_operation(operation, formula, sorted->dtype, inputs, NULL);
}

tn_array *tn_quantile_counted(const char *operation, const tn_array *sorted, const tn_array *counts,
			      uint32_t method, double q)
{
	static const struct tn_formula part = {.text = "z = from + mul_rounded(to - from, weight)",
					       .inputs = "from to weight"};
	/* An infinity may be beside it. */
	static const struct tn_formula element = {.text = "z = weight == 0 ? from : to",
						  .inputs = "from to weight"};
	return between(operation, sorted, counts, method, q,
		       tn_quantile_method(method)->is_discrete ? &element : &part);
}

tn_array *tn_median_counted(const char *operation, const tn_array *sorted, const tn_array *counts)
{
	static const struct tn_formula mean = {.text = "z = weight == 0 ? from : (from + to) / 2",
					       .inputs = "from to weight"};
	return between(operation, sorted, counts, TN_QUANTILE_LINEAR, 0.5, &mean);
}
