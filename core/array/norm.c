/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Batch and layer norm: the route, and compositions of two reductions and a map (forward), of one or
 * two reductions and a map (backward).  Both see x as (outer, C, inner); the statistics are one a
 * channel (batch: over outer and inner) or one a row (layer: over C, where inner is 1).
 */
#include <inttypes.h>
#include <string.h>

#include "array/layout.h"
#include "array/layers.h"
#include "array/make.h"
#include "array/map.h"
#include "array/operand.h"
#include "array/route.h"
#include "array/shape.h"

struct norm {
	struct tn_runtime *runtime;
	int is_layer;
	int is_backward;
	int use_statistics;
	int accumulate;
	double epsilon;
	tn_array *x;
	tn_array *y; /* backward: dy */
	tn_array *w;
	tn_array *b;
	tn_array *mean;
	tn_array *rstd;
	tn_array *dx;
	tn_array *dw;
	tn_array *db;
};

static tn_status failed(const struct norm *n)
{
	tn_status status = n->runtime->report.status;
	return status ? status : TN_OUT_OF_MEMORY;
}

static const char *name_of(const struct norm *n)
{
	if (n->is_backward)
		return n->is_layer ? "layer_norm_backward" : "batch_norm_backward";
	return n->is_layer ? "layer_norm" : "batch_norm";
}

/* ---- Views for the compositions --------------------------------------------------------------*/

/* One value for each channel (or each row, of layer norm's statistics), to broadcast over x. */
static tn_array *spread(const struct norm *n, const tn_array *values, int axis)
{
	int64_t shape[TN_MAX_RANK], strides[TN_MAX_RANK];
	for (int i = 0; i < n->x->rank; i++) {
		shape[i] = i == axis ? values->shape[0] : 1;
		strides[i] = i == axis ? values->strides[0] : 1;
	}
	return tn_array_view(values, n->x->rank, shape, strides, values->offset);
}

static int statistics_axis(const struct norm *n)
{
	return n->is_layer ? 0 : 1;
}

/* The axes over which statistics are taken: all but theirs. */
static uint32_t statistics_axes(const struct norm *n)
{
	return ((1u << n->x->rank) - 1) & ~(1u << statistics_axis(n));
}

static double group_size(const struct norm *n)
{
	return (double)n->x->size / (double)n->mean->size;
}

/* ---- Forward ---------------------------------------------------------------------------------*/

static const struct tn_short_program as_is = {"z = x", 1, 0, 0, 0};
static const struct tn_short_program times = {"z = x * a", 1, 1, 0, 0};
static const struct tn_short_program deviation = {"z = (x - y) * (x - y)", 2, 0, 0, 0};
static const struct tn_short_program to_rstd = {"z = 1 / sqrt(x * a + b)", 1, 2, 0, 0};
static const struct tn_short_program normal = {"z = (x - y) * c", 3, 0, 0, 0};
static const struct tn_short_program affine = {"z = (x - y) * c * d + e", 5, 0, 0, 0};

static tn_status take_statistics(const struct norm *n, tn_array *mean, tn_array *rstd)
{
	const tn_array *inputs[] = {n->x, mean};
	const double scalars[] = {1 / group_size(n), n->epsilon};
	struct tn_short_reduction first = {.prologue = &as_is,
					   .epilogue = &times,
					   .inputs = inputs,
					   .outputs = &mean,
					   .epilogue_scalars = scalars,
					   .axes = statistics_axes(n),
					   .combiners = {TN_REDUCE_SUM}};
	struct tn_short_reduction second = first;
	tn_status status = tn_short_reduce(n->runtime, TN_DO_MEAN, &first);
	second.prologue = &deviation;
	second.epilogue = &to_rstd;
	second.outputs = &rstd;
	return status ? status : tn_short_reduce(n->runtime, TN_DO_MEAN, &second);
}

static tn_status compose_forward(void *argument)
{
	const struct norm *n = argument;
	tn_array *mean = spread(n, n->mean, statistics_axis(n));
	tn_array *rstd = spread(n, n->rstd, statistics_axis(n));
	const tn_array *inputs[] = {n->x, mean, rstd, NULL, NULL};
	tn_status status = TN_OK;
	if (!mean || !rstd)
		return failed(n);
	if (!n->use_statistics)
		status = take_statistics(n, mean, rstd);
	if (status)
		return status;
	if (!n->w)
		return tn_short_map(n->runtime, TN_DO_MULTIPLY, &normal, inputs,
				    (tn_array *const *)&n->y, NULL);
	inputs[3] = spread(n, n->w, 1);
	inputs[4] = spread(n, n->b, 1);
	if (!inputs[3] || !inputs[4])
		return failed(n);
	return tn_short_map(n->runtime, TN_DO_MULTIPLY, &affine, inputs, (tn_array *const *)&n->y,
			    NULL);
}

/* ---- Backward --------------------------------------------------------------------------------*/

/* Inputs: x = dy, y = x, c = mean, d = rstd, e = w. */
static const struct tn_short_program parameter_terms = {"out0 = x * (y - c) * d\nout1 = x", 4, 0, 2,
							0};
static const struct tn_short_program group_terms = {"out0 = x * (y - c) * d\nout1 = x", 4, 0, 2, 0};
static const struct tn_short_program weighted_terms = {
	"g = x * e\nout0 = g * (y - c) * d\nout1 = g", 5, 0, 2, 0};
static const struct tn_short_program added = {"z = x + y", 2, 0, 0, 0};

/* f = sum of g xhat, g = sum of g over the group; a = 1 / its size. */
static const struct tn_short_program input_gradient = {"z = d * (x - g * a - (y - c) * d * f * a)",
						       7, 1, 0, 0};
static const struct tn_short_program weighted_input_gradient = {
	"z = d * (x * e - g * a - (y - c) * d * f * a)", 7, 1, 0, 0};
static const struct tn_short_program given_gradient = {"z = d * x", 4, 0, 0, 0};
static const struct tn_short_program weighted_given_gradient = {"z = d * x * e", 5, 0, 0, 0};

/* Two sums over `axes`, each with the values' own shape. */
static tn_status two_sums(const struct norm *n, const struct tn_short_program *terms,
			  const tn_array *const *inputs, uint32_t axes, tn_array *first,
			  tn_array *second)
{
	tn_array *const outputs[] = {first, second};
	struct tn_short_reduction reduction = {.prologue = terms,
					       .inputs = inputs,
					       .outputs = outputs,
					       .axes = axes,
					       .combiners = {TN_REDUCE_SUM, TN_REDUCE_SUM}};
	return tn_short_reduce(n->runtime, TN_DO_SUM, &reduction);
}

/* out := or += value */
static tn_status deliver(const struct norm *n, tn_array *out, const tn_array *value)
{
	const tn_array *inputs[] = {out, value};
	if (!out)
		return TN_OK;
	if (!n->accumulate)
		return tn_copy_run(n->runtime, TN_DO_COPY, out, value);
	return tn_short_map(n->runtime, TN_DO_ADD, &added, inputs, &out, NULL);
}

static tn_array *make_values(const struct norm *n, int64_t size)
{
	tn_dtype dtype = n->x->dtype == TN_F64 ? TN_F64 : TN_F32;
	return tn_array_make(n->runtime, tn_array_home(n->x), dtype, 1, &size);
}

static tn_status compose_parameters(const struct norm *n, const tn_array *const *inputs,
				    tn_array *const sums[2])
{
	uint32_t axes = ((1u << n->x->rank) - 1) & ~(1u << 1);
	tn_status status = two_sums(n, &parameter_terms, inputs, axes, sums[0], sums[1]);
	if (!status)
		status = deliver(n, n->dw, sums[0]);
	return status ? status : deliver(n, n->db, sums[1]);
}

static tn_status compose_input(const struct norm *n, const tn_array **inputs)
{
	const double scalars[] = {1 / group_size(n)};
	tn_array *sums[] = {make_values(n, n->mean->size), make_values(n, n->mean->size)};
	const struct tn_short_program *map = n->w ? &weighted_input_gradient : &input_gradient;
	tn_status status;
	if (n->use_statistics)
		return tn_short_map(n->runtime, TN_DO_MULTIPLY,
				    n->w ? &weighted_given_gradient : &given_gradient, inputs,
				    (tn_array *const *)&n->dx, NULL);
	if (!sums[0] || !sums[1])
		return failed(n);
	status = two_sums(n, n->w ? &weighted_terms : &group_terms, inputs, statistics_axes(n),
			  sums[0], sums[1]);
	if (status)
		return status;
	inputs[5] = spread(n, sums[0], statistics_axis(n));
	inputs[6] = spread(n, sums[1], statistics_axis(n));
	if (!inputs[5] || !inputs[6])
		return failed(n);
	return tn_short_map(n->runtime, TN_DO_MULTIPLY, map, inputs, (tn_array *const *)&n->dx,
			    scalars);
}

static tn_status compose_backward(void *argument)
{
	const struct norm *n = argument;
	const tn_array *inputs[7] = {n->y, n->x, spread(n, n->mean, statistics_axis(n)),
				     spread(n, n->rstd, statistics_axis(n))};
	tn_array *sums[2];
	tn_status status = TN_OK;
	inputs[4] = n->w ? spread(n, n->w, 1) : inputs[3];
	if (!inputs[2] || !inputs[3] || !inputs[4])
		return failed(n);
	if (n->dw || n->db) {
		sums[0] = make_values(n, n->x->shape[1]);
		sums[1] = make_values(n, n->x->shape[1]);
		status = sums[0] && sums[1] ? compose_parameters(n, inputs, sums) : failed(n);
	}
	return status ? status : compose_input(n, inputs);
}

/* ---- Checks ----------------------------------------------------------------------------------*/

static tn_status check_values(struct norm *n, const char *which, const tn_array *values,
			      int64_t size, tn_dtype dtype)
{
	char text[TN_SHAPE_TEXT];
	if (!values || (values->rank == 1 && values->shape[0] == size && values->dtype == dtype))
		return TN_OK;
	return tn_fail(&n->runtime->report, TN_SHAPE, name_of(n),
		       "%s: expected %" PRId64 " of %s, found %s of %s", which, size,
		       tn_dtype_name(dtype), tn_array_text(values, text),
		       tn_dtype_name(values->dtype));
}

static tn_status check(struct norm *n)
{
	struct tn_error_info *error = &n->runtime->report;
	const tn_array *x = n->x;
	char text[TN_SHAPE_TEXT];
	tn_dtype wide = x->dtype == TN_F64 ? TN_F64 : TN_F32;
	tn_status status;
	if (x->dtype < TN_F16 || x->dtype > TN_F64)
		return tn_fail(error, TN_DTYPE, name_of(n), "x: expected a floating type, found %s",
			       tn_dtype_name(x->dtype));
	if (x->rank < 2 || (n->is_layer && x->rank != 2))
		return tn_fail(error, TN_SHAPE, name_of(n), "x: expected %s, found shape %s",
			       n->is_layer ? "(rows, C)" : "(N, C, ...)", tn_array_text(x, text));
	if (!n->is_backward && !n->w != !n->b)
		return tn_fail(error, TN_INVALID_ARGUMENT, name_of(n),
			       "w and b: expected both or none");
	status = check_values(n, "w", n->w, x->shape[1], x->dtype);
	if (!status)
		status = check_values(n, "b", n->b, x->shape[1], x->dtype);
	if (!status)
		status = check_values(n, "mean", n->mean, x->shape[statistics_axis(n)], wide);
	if (!status)
		status = check_values(n, "rstd", n->rstd, x->shape[statistics_axis(n)], wide);
	return status;
}

/* ---- The route -------------------------------------------------------------------------------*/

static void add_operand(struct tn_route *route, struct tn_operand *operand, const tn_array *array,
			uint32_t access)
{
	if (!array)
		return;
	tn_operand_of(operand, array);
	tn_route_operand(route, operand, access);
}

static tn_status run(struct norm *n)
{
	static const enum tn_slot slots[2][2] = {
		{TN_SLOT_BATCH_NORM_FORWARD, TN_SLOT_BATCH_NORM_BACKWARD},
		{TN_SLOT_LAYER_NORM_FORWARD, TN_SLOT_LAYER_NORM_BACKWARD}};
	static const enum tn_operation operations[2][2] = {
		{TN_DO_BATCH_NORM, TN_DO_BATCH_NORM_BACKWARD},
		{TN_DO_LAYER_NORM, TN_DO_LAYER_NORM_BACKWARD}};
	struct tn_norm_args args = {.call = {.struct_size = sizeof(args)},
				    .has_affine = n->w != NULL,
				    .use_statistics = n->use_statistics != 0,
				    .epsilon = n->epsilon};
	int is_backward = n->is_backward;
	uint32_t statistics = is_backward || n->use_statistics ? TN_READS : TN_WRITES;
	uint32_t gradients = n->accumulate ? TN_READS | TN_WRITES : TN_WRITES;
	struct tn_route route;
	tn_route_init(&route, n->runtime, tn_array_home(n->x), operations[n->is_layer][is_backward],
		      slots[n->is_layer][is_backward], &args.call);
	add_operand(&route, &args.x, n->x, TN_READS);
	add_operand(&route, &args.y, n->y, is_backward ? TN_READS : TN_WRITES);
	add_operand(&route, &args.w, n->w, TN_READS);
	add_operand(&route, &args.b, n->b, TN_READS);
	add_operand(&route, &args.mean, n->mean, statistics);
	add_operand(&route, &args.rstd, n->rstd, statistics);
	add_operand(&route, &args.dx, n->dx, TN_WRITES);
	add_operand(&route, &args.dw, n->dw, gradients);
	add_operand(&route, &args.db, n->db, gradients);
	if (is_backward)
		args.wants = 1 | (n->dw ? 2 : 0);
	if (n->accumulate)
		args.call.flags = TN_ACCUMULATE;
	route.compose = is_backward ? compose_backward : compose_forward;
	route.argument = n;
	route.needs = TN_NEEDS_MAP | TN_NEEDS_REDUCE;
	route.dtype = n->x->dtype;
	return tn_route_run(&route);
}

/* ---- Public functions ------------------------------------------------------------------------*/

static tn_array *mutable(const tn_array *array)
{
	return (tn_array *)(uintptr_t)array;
}

static tn_array *make_statistics(struct norm *n)
{
	return make_values(n, n->x->shape[statistics_axis(n)]);
}

tn_array *tn_norm_forward(int kind, const tn_array *x, const tn_array *w, const tn_array *b,
			  double epsilon, int use_statistics, tn_array **mean, tn_array **rstd)
{
	struct norm n = {.is_layer = kind == 1,
			 .use_statistics = use_statistics != 0,
			 .epsilon = epsilon,
			 .x = mutable(x),
			 .w = mutable(w),
			 .b = mutable(b)};
	const tn_array *inputs[5] = {x};
	uint32_t n_inputs = 1;
	tn_status status;
	if (n.use_statistics) {
		n.mean = *mean;
		n.rstd = *rstd;
		inputs[n_inputs++] = n.mean;
		inputs[n_inputs++] = n.rstd;
	}
	if (w)
		inputs[n_inputs++] = w;
	if (b)
		inputs[n_inputs++] = b;
	n.runtime = tn_begin(n_inputs, inputs, name_of(&n));
	if (!n.runtime)
		return NULL;
	status = check(&n);
	if (!status && !n.use_statistics) {
		n.mean = make_statistics(&n);
		n.rstd = make_statistics(&n);
	}
	if (!status)
		n.y = tn_array_make_like(x, x->dtype);
	if (!status && (!n.mean || !n.rstd || !n.y))
		status = failed(&n);
	if (!status && !x->size && !n.use_statistics && n.mean->size)
		status = tn_fail(&n.runtime->report, TN_SHAPE, name_of(&n),
				 "x: a group without elements has no statistics");
	if (!status && x->size)
		status = run(&n);
	if (!status && !n.use_statistics) {
		*mean = n.mean;
		*rstd = n.rstd;
	} else if (status && !n.use_statistics) {
		tn_array_discard(n.mean);
		tn_array_discard(n.rstd);
	}
	return tn_end(n.runtime, status, n.y);
}

/* dw and db of no element are 0. */
static tn_status gradients_of_nothing(struct norm *n)
{
	tn_status status = TN_OK;
	if (n->dw && !n->accumulate)
		status = tn_fill_run(n->runtime, TN_DO_FILL, n->dw, 0);
	if (!status && n->db && !n->accumulate)
		status = tn_fill_run(n->runtime, TN_DO_FILL, n->db, 0);
	return status;
}

tn_array *tn_norm_backward(int kind, const tn_array *dy, const tn_array *x, const tn_array *w,
			   const tn_array *mean, const tn_array *rstd, int use_statistics,
			   tn_array *dw, tn_array *db, int accumulate)
{
	struct norm n = {.is_layer = kind == 1,
			 .is_backward = 1,
			 .use_statistics = use_statistics != 0,
			 .accumulate = accumulate != 0,
			 .x = mutable(x),
			 .y = mutable(dy),
			 .w = mutable(w),
			 .mean = mutable(mean),
			 .rstd = mutable(rstd),
			 .dw = dw,
			 .db = db};
	const tn_array *inputs[7] = {x, dy, mean, rstd};
	uint32_t n_inputs = 4;
	tn_status status;
	if (w)
		inputs[n_inputs++] = w;
	if (dw)
		inputs[n_inputs++] = dw;
	if (db)
		inputs[n_inputs++] = db;
	n.runtime = tn_begin(n_inputs, inputs, name_of(&n));
	if (!n.runtime)
		return NULL;
	status = check(&n);
	if (!status)
		status = check_values(&n, "dw", dw, x->shape[1], x->dtype);
	if (!status)
		status = check_values(&n, "db", db, x->shape[1], x->dtype);
	if (!status && (!dw != !db || (dw && !w)))
		status = tn_fail(&n.runtime->report, TN_INVALID_ARGUMENT, name_of(&n),
				 "dw and db: expected both or none, and w with them");
	if (!status &&
	    (!tn_shape_equal(x->rank, x->shape, dy->rank, dy->shape) || x->dtype != dy->dtype))
		status = tn_fail(&n.runtime->report, TN_SHAPE, name_of(&n),
				 "dy: expected x's shape and type");
	if (!status) {
		n.dx = tn_array_make_like(x, x->dtype);
		status = n.dx ? TN_OK : failed(&n);
	}
	if (!status)
		status = x->size ? run(&n) : gradients_of_nothing(&n);
	if (!status && dw) {
		tn_array_touch(dw);
		tn_array_touch(db);
	}
	return tn_end(n.runtime, status, n.dx);
}
