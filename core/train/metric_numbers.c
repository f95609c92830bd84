/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Mean squared and absolute errors and R^2, as sums on the device.
 */
#include "train/metric_numbers.h"

#include <math.h>

#include "array/shape.h"
#include "base/dtype.h"
#include "ops/formula.h"

static const char operation[] = "metric";

static tn_status check(const struct tn_metric_sums *sums, const tn_array *output,
		       const tn_array *target)
{
	struct tn_runtime *rt = output->runtime;
	char found[TN_SHAPE_TEXT], expected[TN_SHAPE_TEXT];
	if (!output->rank ||
	    !tn_shape_equal(output->rank, output->shape, target->rank, target->shape))
		return tn_runtime_fail(rt, TN_SHAPE, operation,
				       "%s: expected an output (N, ...) and a target of its shape, "
				       "found shapes %s and %s",
				       sums->kind->name, tn_array_text(output, expected),
				       tn_array_text(target, found));
	if (!tn_is_floating(output->dtype) || tn_is_complex(target->dtype))
		return tn_runtime_fail(rt, TN_DTYPE, operation,
				       "%s: expected a floating output and a real target, found %s "
				       "and %s",
				       sums->kind->name, tn_dtype_name(output->dtype),
				       tn_dtype_name(target->dtype));
	return TN_OK;
}

/* The array in the dtype of the sums. */
static tn_array *in_dtype(const struct tn_metric_sums *sums, const tn_array *array)
{
	return tn_astype(array, sums->form->dtype);
}

static tn_dtype dtype_of(const tn_array *output)
{
	return output->dtype == TN_F64 ? TN_F64 : TN_F32;
}

static const struct tn_formula squared_error = {.text = "z = (output - target) * (output - target)",
						.inputs = "output target"};

/* ---- Mean errors: a sum and its rest, and the number of elements -----------------------------*/

enum { SUM, REST, N };

static tn_status add_error(struct tn_metric_sums *sums, const tn_array *output,
			   const tn_array *target, const struct tn_formula *error)
{
	static const struct tn_formula added = {
		.text = "gain = batch - rest; total = sum + gain;"
			"rest = total - total == 0 ? (total - sum) - gain : 0; sum = total;"
			"n = n + i64(size)",
		.inputs = "sum rest n batch",
		.scalars = "size",
		.outputs = "sum rest n",
		.scalar_dtype = TN_I64};
	tn_status status = check(sums, output, target);
	if (!status)
		status = tn_metric_sums_form(sums, 1, dtype_of(output));
	if (status)
		return status;
	const tn_array *inputs[] = {in_dtype(sums, output), in_dtype(sums, target)};
	const tn_array *errors = tn_formula_map_number(error, inputs, NULL);
	const tn_array *sum = tn_sum(errors, TN_ALL_AXES, NULL, 0);
	double size = (double)output->size;
	return tn_metric_sums_add(sums, &added, 1, &sum, &size);
}

static double mean(const struct tn_metric_sums *sums, double *const *arrays)
{
	(void)sums;
	return arrays[N][0] > 0 ? (arrays[SUM][0] - arrays[REST][0]) / arrays[N][0] : NAN;
}

static tn_status add_mse(struct tn_metric_sums *sums, const tn_array *output,
			 const tn_array *target)
{
	return add_error(sums, output, target, &squared_error);
}

static tn_status add_mae(struct tn_metric_sums *sums, const tn_array *output,
			 const tn_array *target)
{
	static const struct tn_formula absolute_error = {.text = "z = abs(output - target)",
							 .inputs = "output target"};
	return add_error(sums, output, target, &absolute_error);
}

const struct tn_metric_kind tn_metric_mse = {
	.name = "MSE",
	.n_arrays = 3,
	.arrays = {[SUM] = {.is_float = 1}, [REST] = {.is_float = 1, .is_rest = 1}, [N] = {0}},
	.add = add_mse,
	.value = mean,
};
const struct tn_metric_kind tn_metric_mae = {
	.name = "MAE",
	.n_arrays = 3,
	.arrays = {[SUM] = {.is_float = 1}, [REST] = {.is_float = 1, .is_rest = 1}, [N] = {0}},
	.add = add_mae,
	.value = mean,
};

/* ---- R2 --------------------------------------------------------------------------------------*/

/* For each column: a number k near the targets' mean, that of the first batch, which keeps the sums
 * below from cancelling; the sums of (output - target)^2, of target - k and of (target - k)^2, and
 * their rests.  Then the number of rows. */
enum { SHIFT, ERRORS, ERRORS_REST, OFFSETS, OFFSETS_REST, SQUARES, SQUARES_REST, ROWS };

static tn_status add_r2(struct tn_metric_sums *sums, const tn_array *output, const tn_array *target)
{
	static const struct tn_formula added = {
		.text = "gain = batch_errors - errors_rest; total = errors + gain\n"
			"errors_rest = total - total == 0 ? (total - errors) - gain : 0\n"
			"errors = total\n"
			"gain = batch_offsets - offsets_rest; total = offsets + gain\n"
			"offsets_rest = total - total == 0 ? (total - offsets) - gain : 0\n"
			"offsets = total\n"
			"gain = batch_squares - squares_rest; total = squares + gain\n"
			"squares_rest = total - total == 0 ? (total - squares) - gain : 0\n"
			"squares = total\n"
			"shift = shift; rows = rows + i64(batch_rows)",
		.inputs = "shift errors errors_rest offsets offsets_rest squares squares_rest rows "
			  "batch_errors batch_offsets batch_squares",
		.scalars = "batch_rows",
		.outputs =
			"shift errors errors_rest offsets offsets_rest squares squares_rest rows",
		.scalar_dtype = TN_I64};
	static const struct tn_formula chosen = {.text = "z = rows == 0 ? first : shift",
						 .inputs = "rows first shift"};
	static const struct tn_formula offset = {.text = "z = target - shift",
						 .inputs = "target shift"};
	static const struct tn_formula square = {.text = "z = (target - shift) * (target - shift)",
						 .inputs = "target shift"};
	static const int rows = 0;
	tn_status status = check(sums, output, target);
	const int64_t n = output->rank ? output->shape[0] : 0;
	const int64_t shape[] = {n, n ? output->size / n : 0};
	if (status || !output->size)
		return status;
	status = tn_metric_sums_form(sums, shape[1], dtype_of(output));
	if (status)
		return status;
	const tn_array *pair[] = {tn_reshape(in_dtype(sums, output), 2, shape),
				  tn_reshape(in_dtype(sums, target), 2, shape)};
	const tn_array *first = tn_mean(pair[1], 1, &rows, 0);
	const tn_array *choices[] = {sums->arrays[ROWS], first, sums->arrays[SHIFT]};
	tn_array *shift = tn_formula_map_number(&chosen, choices, NULL);
	if (!shift || tn_assign(sums->arrays[SHIFT], shift))
		return tn_runtime_of(sums->context)->error.status;
	const tn_array *shifted[] = {pair[1], shift};
	const tn_array *more[] = {
		tn_sum(tn_formula_map_number(&squared_error, pair, NULL), 1, &rows, 0),
		tn_sum(tn_formula_map_number(&offset, shifted, NULL), 1, &rows, 0),
		tn_sum(tn_formula_map_number(&square, shifted, NULL), 1, &rows, 0),
	};
	return tn_metric_sums_add(sums, &added, 3, more, &(double){(double)n});
}

static double r2(const struct tn_metric_sums *sums, double *const *arrays)
{
	double sum = 0, n = arrays[ROWS][0];
	if (!(n > 0))
		return NAN;
	for (int64_t i = 0; i < sums->form->width; i++) {
		double errors = arrays[ERRORS][i] - arrays[ERRORS_REST][i];
		double offsets = arrays[OFFSETS][i] - arrays[OFFSETS_REST][i];
		double all = arrays[SQUARES][i] - arrays[SQUARES_REST][i] - offsets * offsets / n;
		if (all > 0)
			sum += 1 - errors / all;
		else
			sum += errors == 0 ? 1 : errors > 0 ? 0 : NAN;
	}
	return sum / (double)sums->form->width;
}

/* Sums about the others' k become sums about this one's: with d = their k - k,
 *	sum (y - k) = sum (y - their k) + n d
 *	sum (y - k)^2 = sum (y - their k)^2 + 2 d sum (y - their k) + n d^2 */
static void merge_r2(const struct tn_metric_sums *sums, double *const *arrays,
		     const double *const *others)
{
	for (int64_t i = 0; i < sums->form->width; i++) {
		const double n = others[ROWS][i];
		if (!(n > 0))
			continue;
		if (!(arrays[ROWS][i] > 0))
			arrays[SHIFT][i] = others[SHIFT][i];
		const double d = others[SHIFT][i] - arrays[SHIFT][i];
		const double offsets = others[OFFSETS][i] - others[OFFSETS_REST][i];
		arrays[ERRORS][i] += others[ERRORS][i];
		arrays[ERRORS_REST][i] += others[ERRORS_REST][i];
		arrays[OFFSETS][i] += others[OFFSETS][i] + n * d;
		arrays[OFFSETS_REST][i] += others[OFFSETS_REST][i];
		arrays[SQUARES][i] += others[SQUARES][i] + d * (2 * offsets + n * d);
		arrays[SQUARES_REST][i] += others[SQUARES_REST][i];
		arrays[ROWS][i] += n;
	}
}

const struct tn_metric_kind tn_metric_r2 = {
	.name = "R2",
	.is_rising = 1,
	.n_arrays = 8,
	.arrays = {[SHIFT] = {.is_float = 1, .rank = 1},
		   [ERRORS] = {.is_float = 1, .rank = 1},
		   [ERRORS_REST] = {.is_float = 1, .rank = 1, .is_rest = 1},
		   [OFFSETS] = {.is_float = 1, .rank = 1},
		   [OFFSETS_REST] = {.is_float = 1, .rank = 1, .is_rest = 1},
		   [SQUARES] = {.is_float = 1, .rank = 1},
		   [SQUARES_REST] = {.is_float = 1, .rank = 1, .is_rest = 1},
		   [ROWS] = {.rank = 1}},
	.add = add_r2,
	.value = r2,
	.merge = merge_r2,
};
