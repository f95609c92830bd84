/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Softmax and its logarithm along an axis: the route, and compositions of two reductions and a map
 * (forward), one of each (backward).
 */
#include "layers/softmax.h"

#include "array/make.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "dispatch/operand.h"
#include "dispatch/route.h"
#include "ops/layout.h"
#include "ops/map.h"
#include "ops/reduce_run.h"

struct softmax {
	struct tn_runtime *runtime;
	tn_array *x;
	tn_array *y;
	tn_array *dy;
	tn_array *dx;
	int axis;
	int logarithm;
};

/* An array of the shape with length 1 along the axis. */
static tn_array *make_row(const struct softmax *s, const tn_array *like, tn_dtype dtype)
{
	int64_t shape[TN_MAX_RANK];
	for (int i = 0; i < like->rank; i++)
		shape[i] = i == s->axis ? 1 : like->shape[i];
	return tn_array_make(s->runtime, tn_array_home(like), dtype, like->rank, shape);
}

/* Sums are kept in f32 for narrow types. */
static tn_dtype wide(tn_dtype dtype)
{
	return dtype == TN_F64 ? TN_F64 : TN_F32;
}

/* ---- Forward ---------------------------------------------------------------------------------*/

static const struct tn_formula as_is = {.text = "term = x", .inputs = "x"};
static const struct tn_formula shifted = {.text = "term = exp(x - max_x)", .inputs = "x max_x"};
static const struct tn_formula reciprocal = {.text = "inverse_sum = 1 / sum", .inputs = "sum"};
static const struct tn_formula logarithm = {.text = "log_sum = log(sum)", .inputs = "sum"};
static const struct tn_formula finish = {.text = "y = exp(x - max_x) * inverse_sum",
					 .inputs = "x max_x inverse_sum"};
static const struct tn_formula finish_log = {.text = "y = x - max_x - log_sum",
					     .inputs = "x max_x log_sum"};

static tn_status compose_forward(void *argument)
{
	const struct softmax *s = argument;
	tn_array *max_x = make_row(s, s->x, s->x->dtype);
	tn_array *sum = make_row(s, s->x, wide(s->x->dtype)); /* then its inverse or logarithm */
	const tn_array *inputs[] = {s->x, max_x, sum};
	struct tn_formula_reduction largest = {.prologue = &as_is,
					       .inputs = inputs,
					       .outputs = &max_x,
					       .axes = 1u << s->axis,
					       .combiners = {TN_REDUCE_MAX}};
	struct tn_formula_reduction exponentials = {.prologue = &shifted,
						    .epilogue =
							    s->logarithm ? &logarithm : &reciprocal,
						    .inputs = inputs,
						    .outputs = &sum,
						    .axes = 1u << s->axis,
						    .combiners = {TN_REDUCE_SUM}};
	tn_status status;
	if (!max_x || !sum)
		return tn_report_status(s->runtime);
	status = tn_formula_reduce(s->runtime, TN_DO_MAX, &largest);
	if (!status)
		status = tn_formula_reduce(s->runtime, TN_DO_SUM, &exponentials);
	if (status)
		return status;
	return tn_formula_map(s->runtime, TN_DO_SOFTMAX, s->logarithm ? &finish_log : &finish,
			      inputs, (tn_array *const *)&s->y, NULL);
}

/* ---- Backward --------------------------------------------------------------------------------*/

static const struct tn_formula product = {.text = "term = y * dy", .inputs = "y dy"};
static const struct tn_formula gradient = {.text = "dx = y * (dy - sum)", .inputs = "y dy sum"};
static const struct tn_formula gradient_log = {.text = "dx = dy - exp(y) * sum",
					       .inputs = "y dy sum"};

static tn_status compose_backward(void *argument)
{
	const struct softmax *s = argument;
	tn_array *sum = make_row(s, s->y, wide(s->y->dtype));
	const tn_array *inputs[] = {s->y, s->dy, sum};
	struct tn_formula_reduction reduction = {.prologue = s->logarithm ? &as_is : &product,
						 .inputs = s->logarithm ? inputs + 1 : inputs,
						 .outputs = &sum,
						 .axes = 1u << s->axis,
						 .combiners = {TN_REDUCE_SUM}};
	tn_status status;
	if (!sum)
		return tn_report_status(s->runtime);
	status = tn_formula_reduce(s->runtime, TN_DO_SUM, &reduction);
	if (status)
		return status;
	return tn_formula_map(s->runtime, TN_DO_SOFTMAX_BACKWARD,
			      s->logarithm ? &gradient_log : &gradient, inputs,
			      (tn_array *const *)&s->dx, NULL);
}

/* ---- Public functions ------------------------------------------------------------------------*/

static tn_status check_axis(struct softmax *s, const char *name, const tn_array *x)
{
	if (!tn_is_floating(x->dtype))
		return tn_fail(&s->runtime->report, TN_DTYPE, name,
			       "expected a floating type, found %s", tn_dtype_name(x->dtype));
	if (!tn_axis_normal(&s->axis, x->rank))
		return tn_fail(&s->runtime->report, TN_INVALID_ARGUMENT, name,
			       "axis %d: the array has rank %d", s->axis, x->rank);
	return TN_OK;
}

/* Those of a composition, for widened runs. */
static const uint32_t arrays_of_softmax[] = {
	offsetof(struct softmax, x), offsetof(struct softmax, y), offsetof(struct softmax, dy),
	offsetof(struct softmax, dx), 0};

static tn_status run_softmax(struct softmax *s, tn_array *out, int is_forward)
{
	struct tn_softmax_args args = {.call = {.struct_size = sizeof(args)},
				       .axis = (uint32_t)s->axis,
				       .logarithm = s->logarithm != 0};
	struct tn_route route = {.runtime = s->runtime,
				 .device = tn_array_home(out),
				 .operation = is_forward ? TN_DO_SOFTMAX : TN_DO_SOFTMAX_BACKWARD,
				 .slot = is_forward ? TN_SLOT_SOFTMAX_FORWARD
						    : TN_SLOT_SOFTMAX_BACKWARD,
				 .call = &args.call,
				 .compose = is_forward ? compose_forward : compose_backward,
				 .argument = s,
				 .arrays = arrays_of_softmax,
				 .needs = TN_NEEDS_MAP | TN_NEEDS_REDUCE,
				 .dtype = out->dtype};
	tn_operand_of(&args.y, s->y);
	if (is_forward) {
		tn_operand_of(&args.x, s->x);
	} else {
		tn_operand_of(&args.dy, s->dy);
		tn_operand_of(&args.dx, s->dx);
	}
	return tn_route_run(&route);
}

tn_array *tn_softmax_forward(const tn_array *x, int axis, int is_logarithm)
{
	struct softmax s = {.x = tn_array_const_cast(x), .axis = axis, .logarithm = is_logarithm};
	tn_status status;
	s.runtime = tn_begin(1, &x, "softmax");
	if (!s.runtime)
		return NULL;
	status = check_axis(&s, "softmax", x);
	if (!status) {
		s.y = tn_array_make_like(x, x->dtype);
		status = s.y ? TN_OK : tn_report_status(s.runtime);
	}
	if (!status && s.y->size)
		status = run_softmax(&s, s.y, 1);
	return tn_end(s.runtime, status, s.y);
}

tn_array *tn_softmax_backward(const tn_array *y, const tn_array *dy, int axis, int is_logarithm)
{
	const tn_array *inputs[] = {y, dy};
	struct softmax s = {.y = tn_array_const_cast(y),
			    .dy = tn_array_const_cast(dy),
			    .axis = axis,
			    .logarithm = is_logarithm};
	char expected[TN_SHAPE_TEXT], found[TN_SHAPE_TEXT];
	tn_status status;
	s.runtime = tn_begin(2, inputs, "softmax_backward");
	if (!s.runtime)
		return NULL;
	status = check_axis(&s, "softmax_backward", y);
	if (!status &&
	    (!tn_shape_equal(y->rank, y->shape, dy->rank, dy->shape) || y->dtype != dy->dtype))
		status = tn_fail(&s.runtime->report, TN_SHAPE, "softmax_backward",
				 "dy: expected %s of shape %s, found %s of %s",
				 tn_dtype_name(y->dtype), tn_array_text(y, expected),
				 tn_dtype_name(dy->dtype), tn_array_text(dy, found));
	if (!status) {
		s.dx = tn_array_make_like(y, y->dtype);
		status = s.dx ? TN_OK : tn_report_status(s.runtime);
	}
	if (!status && s.dx->size)
		status = run_softmax(&s, s.dx, 0);
	return tn_end(s.runtime, status, s.dx);
}
