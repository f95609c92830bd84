/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Sums, products, extremes and their indices along axes.  Empty arrays are handled here: an empty
 * sum is 0, a product 1, a mean NaN, and an extreme an error.
 */
#include <math.h>
#include <string.h>
#include <tenon/order.h>

#include "array/make.h"
#include "array/result_type.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "ops/combine.h"
#include "ops/complex_parts.h"
#include "ops/copy.h"
#include "ops/reduce_axes.h"
#include "ops/reduce_run.h"
#include "program/cast.h"

/* One reduction of one array. */
struct reduction {
	enum tn_operation operation;
	struct tn_runtime *runtime;
	const tn_array *a;
	uint32_t axes;
	int keepdims;
	int64_t count; /* elements reduced to one */
	int rank;      /* of the result */
	int64_t shape[TN_MAX_RANK];
};

static tn_status begin_reduction(struct reduction *r, enum tn_operation operation,
				 const tn_array *a, int n, const int *axes, int keepdims)
{
	int checked[TN_MAX_RANK];
	tn_status status;
	r->operation = operation;
	r->a = a;
	r->keepdims = keepdims != 0;
	r->runtime = tn_begin(1, &a, tn_operations[operation].name);
	if (!r->runtime)
		return TN_PENDING_ERROR;
	int takes_complex =
		operation == TN_DO_SUM || operation == TN_DO_MEAN || operation == TN_DO_PROD;
	if (tn_is_complex(a->dtype) && !takes_complex)
		status = tn_fail(&r->runtime->report, TN_DTYPE, tn_operations[operation].name,
				 "not defined for %s: complex numbers have no order",
				 tn_dtype_name(a->dtype));
	else
		status =
			tn_axes_mask(a, tn_operations[operation].name, &n, axes, checked, &r->axes);
	if (!status)
		r->count = tn_axes_shape(a, r->axes, r->keepdims, &r->rank, r->shape);
	return status ? tn_end_into(r->runtime, status) : TN_OK;
}

/* The result for an empty reduction. */
static tn_status fill_empty(const struct reduction *r, tn_array *out)
{
	char text[TN_SHAPE_TEXT];
	double value = 0;
	if (!out->size)
		return TN_OK;
	if (r->operation == TN_DO_PROD)
		value = 1;
	else if (r->operation == TN_DO_MEAN)
		value = NAN;
	else if (r->operation == TN_DO_LOGSUMEXP)
		value = -INFINITY;
	else if (r->operation != TN_DO_SUM)
		return tn_fail(&r->runtime->report, TN_SHAPE, tn_operations[r->operation].name,
			       "shape %s: an axis of length 0 has no extreme element",
			       tn_array_text(r->a, text));
	struct tn_value_bits bits = tn_bits_of_double(out->dtype, value);
	/* NumPy's mean of no complex numbers is NaN in both parts. */
	if (r->operation == TN_DO_MEAN)
		bits.part[1] = bits.part[0];
	return tn_fill_bits(r->runtime, r->operation, out, &bits);
}

/* One value with one combiner and, unless it is NULL, an epilogue with a scalar. */
static tn_status reduce_one(const struct reduction *r, tn_array *out,
			    const struct tn_formula *prologue, uint32_t combiner,
			    const struct tn_formula *epilogue, double scalar)
{
	struct tn_formula_reduction reduction = {.prologue = prologue,
						 .epilogue = epilogue,
						 .inputs = &r->a,
						 .outputs = &out,
						 .epilogue_scalars = &scalar,
						 .axes = r->axes,
						 .combiners = {combiner}};
	if (r->count == 0)
		return fill_empty(r, out);
	return tn_formula_reduce(r->runtime, r->operation, &reduction);
}

/* The sums of the parts, each multiplied by the scalar if there is an epilogue. */
static tn_status reduce_parts(const struct reduction *r, tn_array *out,
			      const struct tn_formula *epilogue, double scalar)
{
	static const struct tn_formula both = {.text = "z_real = real; z_imag = imag",
					       .inputs = "real imag",
					       .outputs = "z_real z_imag"};
	struct tn_complex_parts in = {0}, to = {0};
	if (r->count == 0)
		return fill_empty(r, out);
	tn_status status = tn_complex_parts_add(&in, r->a);
	if (!status)
		status = tn_complex_parts_add(&to, out);
	if (!status) {
		struct tn_formula_reduction reduction = {
			.prologue = &both,
			.epilogue = epilogue,
			.inputs = in.arrays,
			.outputs = to.views,
			.epilogue_scalars = &scalar,
			.axes = r->axes,
			.combiners = {TN_REDUCE_SUM, TN_REDUCE_SUM}};
		status = tn_formula_reduce(r->runtime, r->operation, &reduction);
	}
	if (!status)
		tn_array_touch(out);
	tn_complex_parts_release(&in);
	tn_complex_parts_release(&to);
	return status;
}

static tn_array *make_output(const struct reduction *r, tn_dtype dtype)
{
	return tn_array_make(r->runtime, tn_array_home(r->a), dtype, r->rank, r->shape);
}

static tn_array *end_reduction(const struct reduction *r, tn_status status, tn_array *out,
			       enum tn_record_kind kind, double scale)
{
	struct tn_record record = {.kind = kind,
				   .operation = tn_operations[r->operation].name,
				   .axes = r->axes,
				   .keepdims = r->keepdims,
				   .scale = scale};
	if (!status && tn_is_inexact(r->a->dtype))
		status = tn_record_made(r->runtime, &record, 1, &r->a, out);
	return tn_end(r->runtime, status, out);
}

static const struct tn_formula as_is = {.text = "z = x", .inputs = "x"};
static const struct tn_formula as_f64 = {.text = "z = f64(x)", .inputs = "x"};
static const struct tn_formula as_i64 = {.text = "z = i64(x)", .inputs = "x"};
/* Maps the order of u64 to that of i64, in which devices compare, and back. */
static const struct tn_formula flipped = {.text = "z = i64(x) ^ (-0x7fffffffffffffff - 1)",
					  .inputs = "x"};
static const struct tn_formula both_divided = {
	.text = "z_real = real / count; z_imag = imag / count",
	.inputs = "real imag",
	.scalars = "count",
	.outputs = "z_real z_imag"};
static const struct tn_formula divided = {
	.text = "z = sum / count", .inputs = "sum", .scalars = "count"};

static tn_array *multiply_two(const void *user, const tn_array *x, const tn_array *y)
{
	(void)user;
	return tn_multiply(x, y);
}

static tn_array *complex_product(const struct reduction *r)
{
	tn_context *context = r->runtime->context;
	if (r->count <= 1) {
		tn_array *out = make_output(r, r->a->dtype);
		if (!out)
			return tn_end(r->runtime, r->runtime->report.status, NULL);
		/* Of no elements it is constant; of one, the sum. */
		return end_reduction(r, reduce_parts(r, out, NULL, 0), out, TN_RECORD_SUM,
				     (double)r->count);
	}
	if (tn_scope_begin(context))
		return NULL;
	tn_array *product =
		tn_combine_all(tn_axes_last(r->a, r->axes, r->count), multiply_two, NULL);
	product = tn_reshape(product, r->rank, r->shape);
	tn_scope_end(context, product);
	return product;
}

static tn_array *sum_or_product(enum tn_operation operation, uint32_t combiner,
				enum tn_record_kind kind, const tn_array *a, int n, const int *axes,
				int keepdims)
{
	const struct tn_formula *prologue;
	struct reduction r;
	tn_array *out;
	if (begin_reduction(&r, operation, a, n, axes, keepdims))
		return NULL;
	if (tn_is_complex(a->dtype) && operation == TN_DO_PROD)
		return complex_product(&r);
	prologue = tn_is_floating(a->dtype) ? &as_is : &as_i64;
	out = make_output(&r, tn_sum_type(a->dtype));
	if (!out)
		return tn_end(r.runtime, TN_OUT_OF_MEMORY, NULL);
	if (tn_is_complex(a->dtype))
		return end_reduction(&r, reduce_parts(&r, out, NULL, 0), out, kind, 1);
	return end_reduction(&r, reduce_one(&r, out, prologue, combiner, NULL, 0), out, kind, 1);
}

tn_array *tn_sum(const tn_array *a, int n, const int *axes, int keepdims)
{
	return sum_or_product(TN_DO_SUM, TN_REDUCE_SUM, TN_RECORD_SUM, a, n, axes, keepdims);
}

tn_array *tn_prod(const tn_array *a, int n, const int *axes, int keepdims)
{
	return sum_or_product(TN_DO_PROD, TN_REDUCE_PRODUCT, TN_RECORD_PRODUCT, a, n, axes,
			      keepdims);
}

tn_array *tn_mean(const tn_array *a, int n, const int *axes, int keepdims)
{
	const struct tn_formula *prologue;
	struct reduction r;
	tn_array *out;
	tn_status status;
	if (begin_reduction(&r, TN_DO_MEAN, a, n, axes, keepdims))
		return NULL;
	prologue = tn_is_floating(a->dtype) ? &as_is : &as_f64;
	out = make_output(&r, tn_is_inexact(a->dtype) ? a->dtype : TN_F64);
	if (!out)
		return tn_end(r.runtime, TN_OUT_OF_MEMORY, NULL);
	const double count = (double)r.count;
	if (tn_is_complex(a->dtype))
		status = reduce_parts(&r, out, &both_divided, count);
	else
		status = reduce_one(&r, out, prologue, TN_REDUCE_SUM, &divided, count);
	return end_reduction(&r, status, out, TN_RECORD_SUM, 1 / count);
}

/* What is compared for an extreme: a bool as an integer, which is stored as a bool again. */
static const struct tn_formula *ordered(tn_dtype dtype)
{
	if (dtype == TN_U64)
		return &flipped;
	return dtype == TN_BOOL ? &as_i64 : &as_is;
}

static tn_array *extremum(enum tn_operation operation, uint32_t combiner, const tn_array *a, int n,
			  const int *axes, int keepdims)
{
	struct reduction r;
	tn_array *out;
	if (begin_reduction(&r, operation, a, n, axes, keepdims))
		return NULL;
	out = make_output(&r, a->dtype);
	if (!out)
		return tn_end(r.runtime, TN_OUT_OF_MEMORY, NULL);
	const struct tn_formula *back = a->dtype == TN_U64 ? &flipped : NULL;
	tn_status status = reduce_one(&r, out, ordered(a->dtype), combiner, back, 0);
	return end_reduction(&r, status, out, TN_RECORD_EXTREMUM, 1);
}

tn_array *tn_max(const tn_array *a, int n, const int *axes, int keepdims)
{
	return extremum(TN_DO_MAX, TN_REDUCE_MAX, a, n, axes, keepdims);
}

tn_array *tn_min(const tn_array *a, int n, const int *axes, int keepdims)
{
	return extremum(TN_DO_MIN, TN_REDUCE_MIN, a, n, axes, keepdims);
}

static tn_array *place_of(enum tn_operation operation, uint32_t combiner, const tn_array *a,
			  int axis, int keepdims)
{
	const int n = axis == TN_AXIS_NONE ? TN_ALL_AXES : 1;
	struct reduction r;
	tn_array *out;
	if (begin_reduction(&r, operation, a, n, &axis, keepdims))
		return NULL;
	out = make_output(&r, TN_I64);
	if (!out)
		return tn_end(r.runtime, TN_OUT_OF_MEMORY, NULL);
	return tn_end(r.runtime, reduce_one(&r, out, ordered(a->dtype), combiner, NULL, 0), out);
}

tn_array *tn_argmax(const tn_array *a, int axis, int keepdims)
{
	return place_of(TN_DO_ARGMAX, TN_REDUCE_ARGMAX, a, axis, keepdims);
}

tn_array *tn_argmin(const tn_array *a, int axis, int keepdims)
{
	return place_of(TN_DO_ARGMIN, TN_REDUCE_ARGMIN, a, axis, keepdims);
}

/* ---- log sum exp -----------------------------------------------------------------------------*/

/* With m = max x, or 0 where that is infinite:  m + log sum exp(x - m).  Nothing overflows, a row
 * of -inf gives -inf, one with +inf gives +inf. */
static const struct tn_formula if_finite = {.text = "m = largest - largest == 0 ? largest : 0",
					    .inputs = "largest"};
static const struct tn_formula shifted = {.text = "z = exp(x - m)", .inputs = "x m"};
static const struct tn_formula shifted_back = {.text = "z = log(sum) + m", .inputs = "sum m"};

tn_array *tn_logsumexp(const tn_array *a, int n, const int *axes, int keepdims)
{
	struct reduction r, with_axes;
	tn_array *out, *m = NULL;
	tn_status status = TN_OUT_OF_MEMORY;
	if (begin_reduction(&r, TN_DO_LOGSUMEXP, a, n, axes, keepdims))
		return NULL;
	if (!tn_is_floating(a->dtype)) {
		tn_runtime_fail(r.runtime, TN_DTYPE, "logsumexp",
				"expected a floating type, found %s", tn_dtype_name(a->dtype));
		return NULL;
	}
	out = make_output(&r, a->dtype);
	if (!out)
		return tn_end(r.runtime, TN_OUT_OF_MEMORY, NULL);
	if (r.count == 0 || out->size == 0)
		return end_reduction(&r, fill_empty(&r, out), out, TN_RECORD_LOGSUMEXP, 1);
	with_axes = r;
	with_axes.keepdims = 1;
	tn_axes_shape(a, r.axes, 1, &with_axes.rank, with_axes.shape);
	m = make_output(&with_axes, a->dtype);
	if (m)
		status = reduce_one(&with_axes, m, &as_is, TN_REDUCE_MAX, &if_finite, 0);
	if (!status) {
		const tn_array *inputs[] = {a, m}, *epilogue_inputs[] = {m};
		struct tn_formula_reduction reduction = {.prologue = &shifted,
							 .epilogue = &shifted_back,
							 .inputs = inputs,
							 .epilogue_inputs = epilogue_inputs,
							 .outputs = &out,
							 .axes = r.axes,
							 .combiners = {TN_REDUCE_SUM}};
		status = tn_formula_reduce(r.runtime, TN_DO_LOGSUMEXP, &reduction);
	}
	tn_array_discard(m);
	return end_reduction(&r, status, out, TN_RECORD_LOGSUMEXP, 1);
}
