/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Checks of a norm's arguments.  All arrays of one call have the same layout, columns (NHWC, rows
 * of layer norm) or planes (NCHW); the host composes other layouts.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "norm.h"

struct rule {
	const char *name;
	const struct tn_operand *operand;
	int is_used;
	struct cpu_norm_view *view; /* NULL: `length` elements in one axis */
	int64_t length;
};

#define RULES 12

/* ---- Checks ----------------------------------------------------------------------------------*/

static tn_status check_x(const struct cpu_norm *n)
{
	const struct tn_operand *x = &n->args.x;
	uint32_t most = n->kind == CPU_NORM_LAYER ? 2 : TN_MAX_RANK;
	if (x->rank < 2 || x->rank > most)
		return tn_plugin_fail(n->args.call.error, TN_SHAPE, n->name,
				      "x: rank %u, expected from 2 to %u", x->rank, most);
	for (uint32_t i = 0; i < x->rank; i++) {
		if (x->shape[i] < 1)
			return tn_plugin_fail(n->args.call.error, TN_INVALID_ARGUMENT, n->name,
					      "x: axis %u has length %" PRId64
					      ", expected at least 1",
					      i, x->shape[i]);
	}
	return TN_OK;
}

static tn_status check_settings(const struct cpu_norm *n)
{
	const struct tn_norm_args *a = &n->args;
	struct tn_error_info *error = a->call.error;
	if (a->has_affine > 1 || a->use_statistics > 1 || a->has_residual > 1)
		return tn_plugin_fail(
			error, TN_INVALID_ARGUMENT, n->name,
			"has_affine %u, use_statistics %u, has_residual %u: expected 0 or "
			"1",
			a->has_affine, a->use_statistics, a->has_residual);
	if (n->kind == CPU_NORM_GROUP && (a->groups < 1 || a->x.shape[1] % a->groups))
		return tn_plugin_fail(error, TN_SHAPE, n->name,
				      "%" PRId64
				      " channels in %u groups: expected an equal number in each",
				      a->x.shape[1], a->groups);
	if (n->is_backward && a->wants > 7)
		return tn_plugin_fail(error, TN_UNSUPPORTED, n->name,
				      "wants 0x%x: expected only bits 0 to 2", a->wants);
	if (a->activation > TN_ACTIVATION_RELU6)
		return tn_plugin_fail(error, TN_UNSUPPORTED, n->name,
				      "activation %u: expected NONE, RELU or RELU6", a->activation);
	if (!(a->epsilon >= 0))
		return tn_plugin_fail(error, TN_INVALID_ARGUMENT, n->name,
				      "epsilon %g: expected at least 0", a->epsilon);
	return TN_OK;
}

static int same_shape(const struct tn_operand *a, const struct tn_operand *b)
{
	int same = a->rank == b->rank;
	for (uint32_t i = 0; same && i < a->rank; i++)
		same = a->shape[i] == b->shape[i];
	return same;
}

static tn_status check_operand(const struct cpu_norm *n, const struct rule *rule)
{
	struct tn_error_info *error = n->args.call.error;
	if (rule->operand->dtype != TN_F32)
		return tn_plugin_fail(error, TN_UNSUPPORTED, n->name,
				      "%s: expected f32, found dtype %d", rule->name,
				      rule->operand->dtype);
	if (rule->view && !same_shape(rule->operand, &n->args.x))
		return tn_plugin_fail(error, TN_SHAPE, n->name, "%s: expected x's shape",
				      rule->name);
	if (!rule->view && (rule->operand->rank != 1 || rule->operand->shape[0] != rule->length))
		return tn_plugin_fail(error, TN_SHAPE, n->name,
				      "%s: expected %" PRId64 " elements in one axis", rule->name,
				      rule->length);
	return TN_OK;
}

/* ---- Views -----------------------------------------------------------------------------------*/

/* The stride of the axes from 2 on, merged into one; -1: they cannot be merged. */
static int64_t merged(const struct tn_operand *o)
{
	int64_t step = -1, next = 0;
	for (uint32_t axis = o->rank; axis-- > 2;) {
		if (o->shape[axis] == 1)
			continue;
		if (o->strides[axis] < 0 || (step >= 0 && o->strides[axis] != next))
			return -1;
		if (step < 0)
			step = o->strides[axis];
		next = o->strides[axis] * o->shape[axis];
	}
	return step < 0 ? 0 : step;
}

static int find_view(const struct cpu_norm *n, const struct tn_operand *o, int in_planes,
		     struct cpu_norm_view *view)
{
	int64_t step = merged(o);
	if (step < 0 || (in_planes && n->rows > 1 && step != 1) ||
	    (!in_planes && n->channels > 1 && o->strides[1] != 1))
		return 0;
	view->is_used = 1;
	view->at = (float *)(uintptr_t)(o->buffer + o->offset);
	view->sample = o->strides[0];
	view->down = in_planes ? o->strides[1] : n->rows > 1 ? step : o->strides[0];
	return 1;
}

static int find_views(struct cpu_norm *n, const struct rule *rules, int in_planes)
{
	for (int i = 0; i < RULES; i++) {
		if (rules[i].is_used && rules[i].view &&
		    !find_view(n, rules[i].operand, in_planes, rules[i].view))
			return 0;
	}
	n->in_planes = in_planes;
	return 1;
}

/* The samples of a matrix as rows of one matrix, if every array allows it. */
static void merge_samples(struct cpu_norm *n)
{
	const struct cpu_norm_view *views[] = {&n->x,      &n->y,  &n->residual,
					       &n->result, &n->dx, &n->dresidual};
	for (int i = 0; i < 6; i++) {
		if (views[i]->is_used && n->rows > 1 && n->samples > 1 &&
		    views[i]->sample != n->rows * views[i]->down)
			return;
	}
	n->rows *= n->samples;
	n->samples = 1;
}

static tn_status find_layout(struct cpu_norm *n, const struct rule *rules)
{
	const struct tn_operand *x = &n->args.x;
	n->samples = x->shape[0];
	n->channels = x->shape[1];
	n->rows = 1;
	for (uint32_t axis = 2; axis < x->rank; axis++)
		n->rows *= x->shape[axis];
	if (!find_views(n, rules, 0) && (n->kind == CPU_NORM_LAYER || !find_views(n, rules, 1)))
		return tn_plugin_fail(
			n->args.call.error, TN_UNSUPPORTED, n->name,
			"strides: expected stride 1 in all arrays, along the channels or along "
			"the numbers of each channel");
	if (!n->in_planes && n->kind != CPU_NORM_GROUP)
		merge_samples(n);
	if (!n->in_planes && n->kind != CPU_NORM_LAYER) {
		/* A single channel with contiguous rows is a plane. */
		const struct cpu_norm_view *views[] = {&n->x,      &n->y,  &n->residual,
						       &n->result, &n->dx, &n->dresidual};
		int are_neighbours = n->channels == 1;
		for (int i = 0; i < 6; i++)
			are_neighbours &= !views[i]->is_used || views[i]->down == 1;
		if (are_neighbours)
			n->in_planes = 1;
	}
	return TN_OK;
}

/* ---- All of it -------------------------------------------------------------------------------*/

tn_status cpu_norm_take(struct cpu_norm *n, const struct tn_norm_args *args)
{
	uint32_t flags = TN_DRY_RUN | TN_DETERMINISTIC | (n->is_backward ? TN_ACCUMULATE : 0);
	struct rule rules[RULES];
	tn_status status = tn_plugin_take(&n->args, sizeof(n->args), args, flags, n->name);
	if (!status)
		status = check_x(n);
	if (!status)
		status = check_settings(n);
	if (status)
		return status;
	n->groups = n->kind == CPU_NORM_BATCH   ? n->args.x.shape[1]
		    : n->kind == CPU_NORM_GROUP ? n->args.groups
						: 1;
	const struct tn_norm_args *a = &n->args;
	int forward = !n->is_backward, wants = n->is_backward ? (int)a->wants : 0;
	int64_t channels = a->x.shape[1];
	int64_t values = n->kind == CPU_NORM_BATCH ? channels : a->x.shape[0] * n->groups;
	const struct rule all[RULES] = {
		{"x", &a->x, 1, &n->x, 0},
		{forward ? "y" : "dy", &a->y, 1, &n->y, 0},
		{"residual", &a->residual, forward && a->has_residual, &n->residual, 0},
		{"result", &a->result, !forward && a->activation, &n->result, 0},
		{"dx", &a->dx, wants & CPU_NORM_DX, &n->dx, 0},
		{"dresidual", &a->dresidual, wants & CPU_NORM_DRESIDUAL, &n->dresidual, 0},
		{"w", &a->w, a->has_affine != 0, NULL, channels},
		{"b", &a->b, a->has_affine && forward, NULL, channels},
		{"mean", &a->mean, 1, NULL, values},
		{"rstd", &a->rstd, 1, NULL, values},
		{"dw", &a->dw, wants & CPU_NORM_DW, NULL, channels},
		{"db", &a->db, wants & CPU_NORM_DW, NULL, channels},
	};
	memcpy(rules, all, sizeof(all));
	for (int i = 0; i < RULES && !status; i++) {
		if (rules[i].is_used)
			status = check_operand(n, &rules[i]);
	}
	return status ? status : find_layout(n, rules);
}

void cpu_norm_clamp(const struct cpu_norm *n, float *low, float *high)
{
	*low = n->args.activation ? 0 : -INFINITY;
	*high = n->args.activation == TN_ACTIVATION_RELU6 ? 6 : INFINITY;
}

float cpu_norm_limit(const struct cpu_norm *n)
{
	return n->args.activation == TN_ACTIVATION_RELU6 ? 6 : NAN;
}

tn_status cpu_norm_workspace(const struct cpu_norm *n, uint64_t size, float **memory)
{
	struct tn_workspace *workspace = n->args.call.workspace;
	if (!workspace || (!(n->args.call.flags & TN_DRY_RUN) && workspace->size < size))
		return tn_plugin_fail(n->args.call.error, TN_UNSUPPORTED, n->name,
				      "workspace: expected %" PRIu64 " bytes", size);
	if (n->args.call.flags & TN_DRY_RUN)
		workspace->minimum = workspace->preferred = size;
	else
		*memory = (float *)(uintptr_t)(workspace->buffer + workspace->offset);
	return TN_OK;
}
