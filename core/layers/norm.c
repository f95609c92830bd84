/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Batch, layer and group norm: checks shapes, makes outputs and takes the route.
 */
#include "layers/norm.h"

#include <inttypes.h>

#include "array/make.h"
#include "array/shape.h"
#include "base/dtype.h"
#include "dispatch/operand.h"
#include "dispatch/operations.h"
#include "dispatch/route.h"
#include "layers/norm_compose.h"
#include "ops/copy.h"
#include "ops/epilogue.h"
#include "ops/layout.h"

static enum tn_operation operation_of(const struct tn_norm *n)
{
	static const enum tn_operation operations[3][2] = {
		{TN_DO_BATCH_NORM, TN_DO_BATCH_NORM_BACKWARD},
		{TN_DO_LAYER_NORM, TN_DO_LAYER_NORM_BACKWARD},
		{TN_DO_GROUP_NORM, TN_DO_GROUP_NORM_BACKWARD}};
	return operations[n->kind][n->is_backward];
}

static enum tn_slot slot_of(const struct tn_norm *n)
{
	static const enum tn_slot slots[3][2] = {
		{TN_SLOT_BATCH_NORM_FORWARD, TN_SLOT_BATCH_NORM_BACKWARD},
		{TN_SLOT_LAYER_NORM_FORWARD, TN_SLOT_LAYER_NORM_BACKWARD},
		{TN_SLOT_GROUP_NORM_FORWARD, TN_SLOT_GROUP_NORM_BACKWARD}};
	return slots[n->kind][n->is_backward];
}

static const char *name_of(const struct tn_norm *n)
{
	return tn_operations[operation_of(n)].name;
}

/* The number of means. */
static int64_t count_statistics(const struct tn_norm *n)
{
	if (n->kind == TN_NORM_GROUP)
		return n->x->shape[0] * n->groups;
	return n->x->shape[n->kind == TN_NORM_LAYER ? 0 : 1];
}

/* ---- Checks ----------------------------------------------------------------------------------*/

static tn_status check_values(struct tn_norm *n, const char *which, const tn_array *values,
			      int64_t size, tn_dtype dtype)
{
	char text[TN_SHAPE_TEXT];
	if (!values || (values->rank == 1 && values->shape[0] == size && values->dtype == dtype))
		return TN_OK;
	return tn_fail(&n->runtime->report, TN_SHAPE, name_of(n),
		       "%s: expected %" PRId64 " elements of %s, found shape %s of %s", which, size,
		       tn_dtype_name(dtype), tn_array_text(values, text),
		       tn_dtype_name(values->dtype));
}

/* Checks an array that must be like x; NULL: absent. */
static tn_status check_like(struct tn_norm *n, const char *which, const tn_array *a)
{
	char expected[TN_SHAPE_TEXT], found[TN_SHAPE_TEXT];
	if (!a ||
	    (tn_shape_equal(n->x->rank, n->x->shape, a->rank, a->shape) && n->x->dtype == a->dtype))
		return TN_OK;
	return tn_fail(&n->runtime->report, TN_SHAPE, name_of(n),
		       "%s: expected %s of %s, like x, found %s of %s", which,
		       tn_array_text(n->x, expected), tn_dtype_name(n->x->dtype),
		       tn_array_text(a, found), tn_dtype_name(a->dtype));
}

static tn_status check_operands(struct tn_norm *n)
{
	struct tn_error_info *error = &n->runtime->report;
	const tn_array *x = n->x;
	tn_dtype wide = x->dtype == TN_F64 ? TN_F64 : TN_F32;
	char text[TN_SHAPE_TEXT];
	if (!tn_is_floating(x->dtype))
		return tn_fail(error, TN_DTYPE, name_of(n), "x: expected a floating type, found %s",
			       tn_dtype_name(x->dtype));
	if (x->rank < 2 || (n->kind == TN_NORM_LAYER && x->rank != 2) ||
	    (n->kind == TN_NORM_GROUP && x->rank == TN_MAX_RANK))
		return tn_fail(error, TN_SHAPE, name_of(n), "x: expected %s, found shape %s",
			       n->kind == TN_NORM_LAYER ? "(rows, C)" : "(N, C, ...)",
			       tn_array_text(x, text));
	if (n->kind == TN_NORM_GROUP &&
	    (n->groups < 1 || n->groups > UINT32_MAX || x->shape[1] % n->groups))
		return tn_fail(error, TN_SHAPE, name_of(n),
			       "groups: %" PRId64 " channels in %" PRId64
			       " groups: expected a whole number of channels in each",
			       x->shape[1], n->groups);
	if (!n->is_backward && !n->w != !n->b)
		return tn_fail(error, TN_INVALID_ARGUMENT, name_of(n),
			       "w and b: expected both or none");
	tn_status status =
		tn_activation_check(n->runtime, name_of(n), n->activation, TN_ACTIVATION_RELU6);
	if (!status)
		status = check_values(n, "w", n->w, x->shape[1], x->dtype);
	if (!status)
		status = check_values(n, "b", n->b, x->shape[1], x->dtype);
	if (!status)
		status = check_values(n, "mean", n->mean, count_statistics(n), wide);
	if (!status)
		status = check_values(n, "rstd", n->rstd, count_statistics(n), wide);
	if (!status)
		status = check_like(n, "residual", n->residual);
	if (!status)
		status = check_like(n, "result", n->result);
	return status;
}

static tn_status check_backward(struct tn_norm *n)
{
	tn_status status = check_operands(n);
	if (!status)
		status = check_like(n, "dy", n->y);
	if (!status)
		status = check_values(n, "dw", n->dw, n->x->shape[1], n->x->dtype);
	if (!status)
		status = check_values(n, "db", n->db, n->x->shape[1], n->x->dtype);
	if (!status && (!n->dw != !n->db || (n->dw && !n->w)))
		status = tn_fail(&n->runtime->report, TN_INVALID_ARGUMENT, name_of(n),
				 "dw and db: expected both or none, and w with them");
	if (!status && n->activation && !n->result)
		status = tn_fail(&n->runtime->report, TN_INVALID_ARGUMENT, name_of(n),
				 "result: required for the gradient of an activation");
	return status;
}

/* ---- The route -------------------------------------------------------------------------------*/

static void operand_of(struct tn_operand *operand, const tn_array *array)
{
	if (array)
		tn_operand_of(operand, array);
}

static void set_route(struct tn_norm *n, struct tn_norm_args *args, struct tn_route *route)
{
	*args = (struct tn_norm_args){.call = {.struct_size = sizeof(*args)},
				      .has_affine = n->w != NULL,
				      .use_statistics = n->use_statistics != 0,
				      .groups = (uint32_t)n->groups,
				      .epsilon = n->epsilon};
	if (n->is_backward)
		args->wants = 1 | (n->dw ? 2 : 0);
	if (n->accumulate)
		args->call.flags = TN_ACCUMULATE;
	operand_of(&args->x, n->x);
	operand_of(&args->y, n->y);
	operand_of(&args->w, n->w);
	operand_of(&args->b, n->b);
	operand_of(&args->mean, n->mean);
	operand_of(&args->rstd, n->rstd);
	operand_of(&args->dx, n->dx);
	operand_of(&args->dw, n->dw);
	operand_of(&args->db, n->db);
	*route = (struct tn_route){.runtime = n->runtime,
				   .device = tn_array_home(n->x),
				   .operation = operation_of(n),
				   .slot = slot_of(n),
				   .call = &args->call};
}

/* Those of a composition, for widened runs. */
static const uint32_t arrays_of_norm[] = {
	offsetof(struct tn_norm, x),  offsetof(struct tn_norm, y),
	offsetof(struct tn_norm, w),  offsetof(struct tn_norm, b),
	offsetof(struct tn_norm, dx), offsetof(struct tn_norm, dw),
	offsetof(struct tn_norm, db), 0};

/* Without residual and activation. */
static tn_status normalise_plainly(struct tn_norm *n)
{
	struct tn_norm_args args;
	struct tn_route route;
	set_route(n, &args, &route);
	route.compose = n->is_backward ? tn_compose_norm_backward : tn_compose_norm;
	route.argument = n;
	route.arrays = arrays_of_norm;
	route.needs = TN_NEEDS_MAP | TN_NEEDS_REDUCE;
	route.dtype = n->x->dtype;
	return tn_route_run(&route);
}

/* All in one call, where the backend supports that. */
static tn_status normalise_finished(struct tn_norm *n)
{
	struct tn_norm_args args;
	struct tn_route route;
	set_route(n, &args, &route);
	args.activation = n->activation;
	args.has_residual = n->residual != NULL;
	if (n->dresidual)
		args.wants |= 4;
	operand_of(&args.residual, n->residual);
	operand_of(&args.result, n->result);
	operand_of(&args.dresidual, n->dresidual);
	route.is_native_only = 1;
	return tn_route_run(&route);
}

/* Computes dresidual in a separate step; it is then the dy of a plain norm. */
static tn_status go_back_in_steps(struct tn_norm *n)
{
	struct tn_norm plain = *n;
	tn_array *apart = NULL;
	tn_status status;
	if (!n->dresidual)
		apart = tn_array_make_like(n->y, n->y->dtype);
	plain.y = n->dresidual ? n->dresidual : apart;
	if (!plain.y)
		return tn_report_status(n->runtime);
	status = tn_epilogue_backward(n->runtime, plain.y, n->y, n->result, n->activation);
	if (!status)
		status = normalise_plainly(&plain);
	tn_array_discard(apart);
	return status;
}

static tn_status normalise(struct tn_norm *n)
{
	int is_plain = !n->activation && !n->residual && !n->dresidual;
	tn_status status = is_plain ? TN_UNSUPPORTED : normalise_finished(n);
	if (status != TN_UNSUPPORTED)
		return status;
	if (n->is_backward && !is_plain)
		return go_back_in_steps(n);
	status = normalise_plainly(n);
	if (status || n->is_backward)
		return status;
	return tn_epilogue_run(n->runtime, n->y, NULL, n->residual, n->activation);
}

/* ---- The functions ---------------------------------------------------------------------------*/

static struct tn_norm norm_of(const struct tn_norm_call *call, int is_backward)
{
	return (struct tn_norm){.kind = call->kind,
				.is_backward = is_backward,
				.use_statistics = call->use_statistics != 0,
				.groups = call->kind == TN_NORM_GROUP ? call->groups : 0,
				.epsilon = call->epsilon,
				.activation = call->activation,
				.x = tn_array_const_cast(call->x),
				.w = tn_array_const_cast(call->w)};
}

/* tn_begin over all[0] and those of the others that are not NULL. */
static struct tn_runtime *begin_norm(const struct tn_norm *n, const tn_array *const *all,
				     uint32_t count)
{
	const tn_array *inputs[10] = {all[0]};
	uint32_t n_inputs = 1;
	for (uint32_t i = 1; i < count; i++) {
		if (all[i])
			inputs[n_inputs++] = all[i];
	}
	return tn_begin(n_inputs, inputs, name_of(n));
}

static tn_array *make_statistics(const struct tn_norm *n)
{
	tn_dtype dtype = n->x->dtype == TN_F64 ? TN_F64 : TN_F32;
	int64_t count = count_statistics(n);
	return tn_array_make(n->runtime, tn_array_home(n->x), dtype, 1, &count);
}

static tn_status make_outputs(struct tn_norm *n)
{
	if (!n->use_statistics) {
		n->mean = make_statistics(n);
		n->rstd = make_statistics(n);
	}
	n->y = tn_array_make_like(n->x, n->x->dtype);
	if (!n->mean || !n->rstd || !n->y)
		return tn_report_status(n->runtime);
	if (!n->x->size && !n->use_statistics && n->mean->size)
		return tn_fail(&n->runtime->report, TN_SHAPE, name_of(n),
			       "x: a group without elements has no statistics");
	return TN_OK;
}

tn_array *tn_norm_call_forward(struct tn_norm_call *call)
{
	struct tn_norm n = norm_of(call, 0);
	tn_status status;
	n.b = tn_array_const_cast(call->b);
	n.residual = tn_array_const_cast(call->residual);
	if (n.use_statistics) {
		n.mean = call->mean;
		n.rstd = call->rstd;
	}
	const tn_array *all[] = {n.x, n.w, n.b, n.mean, n.rstd, n.residual};
	n.runtime = begin_norm(&n, all, 6);
	if (!n.runtime)
		return NULL;
	status = check_operands(&n);
	if (!status)
		status = make_outputs(&n);
	if (!status && n.x->size)
		status = normalise(&n);
	if (!status) {
		call->mean = n.mean;
		call->rstd = n.rstd;
	} else if (!n.use_statistics) {
		tn_array_discard(n.mean);
		tn_array_discard(n.rstd);
	}
	return tn_end(n.runtime, status, n.y);
}

tn_array *tn_norm_call_backward(struct tn_norm_call *call)
{
	struct tn_norm n = norm_of(call, 1);
	tn_status status;
	n.accumulate = call->accumulate != 0;
	n.y = tn_array_const_cast(call->dy);
	n.mean = call->mean;
	n.rstd = call->rstd;
	n.result = call->activation ? tn_array_const_cast(call->result) : NULL;
	n.dw = call->dw;
	n.db = call->db;
	const tn_array *all[] = {n.x, n.y, n.mean, n.rstd, n.w, n.result, n.dw, n.db};
	n.runtime = begin_norm(&n, all, 8);
	if (!n.runtime)
		return NULL;
	status = check_backward(&n);
	if (!status) {
		n.dx = tn_array_make_like(n.x, n.x->dtype);
		if (n.dx && call->wants_dresidual)
			n.dresidual = tn_array_make_like(n.x, n.x->dtype);
		if (!n.dx || (call->wants_dresidual && !n.dresidual))
			status = tn_report_status(n.runtime);
	}
	if (!status && n.x->size) {
		status = normalise(&n);
	} else if (!status && n.dw && !n.accumulate) {
		/* dw and db of an empty x are 0. */
		status = tn_fill_run(n.runtime, TN_DO_FILL, n.dw, 0);
		if (!status)
			status = tn_fill_run(n.runtime, TN_DO_FILL, n.db, 0);
	}
	if (!status && n.dw) {
		tn_array_touch(n.dw);
		tn_array_touch(n.db);
	}
	if (!status)
		call->dresidual = n.dresidual;
	else
		tn_array_discard(n.dresidual);
	return tn_end(n.runtime, status, n.dx);
}

tn_array *tn_norm_forward(int kind, const tn_array *x, const tn_array *w, const tn_array *b,
			  double epsilon, int use_statistics, tn_array **mean, tn_array **rstd)
{
	struct tn_norm_call call = {.kind = kind,
				    .epsilon = epsilon,
				    .use_statistics = use_statistics,
				    .x = x,
				    .w = w,
				    .b = b};
	tn_array *y;
	if (use_statistics) {
		call.mean = *mean;
		call.rstd = *rstd;
	}
	y = tn_norm_call_forward(&call);
	if (y) {
		*mean = call.mean;
		*rstd = call.rstd;
	}
	return y;
}

tn_array *tn_norm_backward(int kind, const tn_array *dy, const tn_array *x, const tn_array *w,
			   const tn_array *mean, const tn_array *rstd, int use_statistics,
			   tn_array *dw, tn_array *db, int accumulate)
{
	return tn_norm_call_backward(&(struct tn_norm_call){.kind = kind,
							    .use_statistics = use_statistics,
							    .x = x,
							    .w = w,
							    .mean = tn_array_const_cast(mean),
							    .rstd = tn_array_const_cast(rstd),
							    .dy = dy,
							    .dw = dw,
							    .db = db,
							    .accumulate = accumulate});
}
