/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Batch, layer and group norm from maps and reductions.  All three are one computation; with x as
 *
 *     batch (N, C, ...)     layer (rows, C)     group (N, G, C / G, ...)
 *
 * the statistics have some of the axes, w and b some, and each is broadcast over the rest.
 */
#include "layers/norm_compose.h"

#include "layers/norm.h"
#include "ops/copy.h"
#include "ops/map.h"
#include "ops/reduce_run.h"

/* Views of all operands. */
struct views {
	const struct tn_norm *n;
	tn_array *x, *y, *dx;          /* like x, as above */
	tn_array *mean, *rstd, *w, *b; /* to broadcast over x */
};

/* ---- Views -----------------------------------------------------------------------------------*/

static uint32_t statistics_axes(const struct tn_norm *n)
{
	static const uint32_t axes[] = {
		[TN_NORM_BATCH] = 2, [TN_NORM_LAYER] = 1, [TN_NORM_GROUP] = 3};
	return axes[n->kind];
}

static uint32_t channel_axes(const struct tn_norm *n)
{
	return n->kind == TN_NORM_GROUP ? 6 : 2;
}

/* All axes of x but those. */
static uint32_t other_axes(const struct views *v, uint32_t axes)
{
	return ((1u << v->x->rank) - 1) & ~axes;
}

static tn_array *whole(const struct tn_norm *n, const tn_array *a)
{
	int is_split = n->kind == TN_NORM_GROUP;
	int64_t shape[TN_MAX_RANK + 1], strides[TN_MAX_RANK + 1];
	for (int i = 0; i < a->rank; i++) {
		shape[i + (is_split && i > 1)] = a->shape[i];
		strides[i + (is_split && i > 1)] = a->strides[i];
	}
	if (is_split) {
		shape[1] = n->groups;
		shape[2] = a->shape[1] / n->groups;
		strides[1] = shape[2] * a->strides[1];
		strides[2] = a->strides[1];
	}
	return tn_array_view(a, a->rank + is_split, shape, strides, a->offset);
}

/* A list of values as a view along `axes` of x, which are adjacent; other axes have length 1. */
static tn_array *spread(const tn_array *x, const tn_array *values, uint32_t axes)
{
	int64_t shape[TN_MAX_RANK], strides[TN_MAX_RANK], step = values->strides[0];
	for (int i = x->rank - 1; i >= 0; i--) {
		shape[i] = axes >> i & 1 ? x->shape[i] : 1;
		strides[i] = step;
		step *= shape[i];
	}
	return tn_array_view(values, x->rank, shape, strides, values->offset);
}

/* 0: there is no host memory. */
static int make_views(struct views *v, const struct tn_norm *n)
{
	*v = (struct views){.n = n, .x = whole(n, n->x), .y = whole(n, n->y)};
	if (!v->x || !v->y)
		return 0;
	v->mean = spread(v->x, n->mean, statistics_axes(n));
	v->rstd = spread(v->x, n->rstd, statistics_axes(n));
	v->dx = n->dx ? whole(n, n->dx) : NULL;
	v->w = n->w ? spread(v->x, n->w, channel_axes(n)) : NULL;
	v->b = n->b ? spread(v->x, n->b, channel_axes(n)) : NULL;
	return v->mean && v->rstd && (v->dx || !n->dx) && (v->w || !n->w) && (v->b || !n->b);
}

static double group_size(const struct tn_norm *n)
{
	return (double)n->x->size / (double)n->mean->size;
}

/* ---- Forward ---------------------------------------------------------------------------------*/

static const struct tn_formula as_is = {.text = "term = x", .inputs = "x"};
static const struct tn_formula to_mean = {
	.text = "mean = sum * inverse_size", .inputs = "sum", .scalars = "inverse_size"};
static const struct tn_formula square = {.text = "squared = (x - mean) * (x - mean)",
					 .inputs = "x mean"};
static const struct tn_formula to_rstd = {
	.text = "rstd = 1 / sqrt(squares * inverse_size + epsilon)",
	.inputs = "squares",
	.scalars = "inverse_size epsilon"};
static const struct tn_formula normal = {.text = "y = (x - mean) * rstd", .inputs = "x mean rstd"};
static const struct tn_formula affine = {.text = "y = (x - mean) * rstd * w + b",
					 .inputs = "x mean rstd w b"};

static tn_status take_statistics(const struct views *v)
{
	const struct tn_norm *n = v->n;
	const tn_array *inputs[] = {v->x, v->mean};
	const double scalars[] = {1 / group_size(n), n->epsilon};
	struct tn_formula_reduction first = {.prologue = &as_is,
					     .epilogue = &to_mean,
					     .inputs = inputs,
					     .outputs = &v->mean,
					     .epilogue_scalars = scalars,
					     .axes = other_axes(v, statistics_axes(n)),
					     .combiners = {TN_REDUCE_SUM}};
	struct tn_formula_reduction second = first;
	tn_status status = tn_formula_reduce(n->runtime, TN_DO_MEAN, &first);
	second.prologue = &square;
	second.epilogue = &to_rstd;
	second.outputs = &v->rstd;
	return status ? status : tn_formula_reduce(n->runtime, TN_DO_MEAN, &second);
}

tn_status tn_compose_norm(void *argument)
{
	const struct tn_norm *n = argument;
	struct views v;
	tn_status status = make_views(&v, n) ? TN_OK : tn_report_status(n->runtime);
	if (!status && !n->use_statistics)
		status = take_statistics(&v);
	if (status)
		return status;
	const tn_array *inputs[] = {v.x, v.mean, v.rstd, v.w, v.b};
	return tn_formula_map(n->runtime, TN_DO_MULTIPLY, n->w ? &affine : &normal, inputs, &v.y,
			      NULL);
}

/* ---- Backward --------------------------------------------------------------------------------*/

/* With x_hat = (x - mean) rstd:  db and dw are the sums of g = dy and of g x_hat over a channel. */
static const struct tn_formula terms = {.text = "g_x_hat = dy * (x - mean) * rstd; g = dy",
					.inputs = "dy x mean rstd",
					.outputs = "g_x_hat g"};
static const struct tn_formula weighted_terms = {
	.text = "g = dy * w; g_x_hat = g * (x - mean) * rstd",
	.inputs = "dy x mean rstd w",
	.outputs = "g_x_hat g"};
static const struct tn_formula added = {.text = "sum = a + b", .inputs = "a b"};

/* dx where the statistics are the batch's: with g = dy or dy w, and its sums over the elements that
 * share a mean, of which inverse_size is 1 / the number. */
static const struct tn_formula input_gradient = {
	.text = "x_hat = (x - mean) * rstd\n"
		"dx = rstd * (dy - sum_g * inverse_size - x_hat * sum_g_x_hat * inverse_size)",
	.inputs = "dy x mean rstd w sum_g_x_hat sum_g",
	.scalars = "inverse_size"};
static const struct tn_formula weighted_input_gradient = {
	.text = "x_hat = (x - mean) * rstd; g = dy * w\n"
		"dx = rstd * (g - sum_g * inverse_size - x_hat * sum_g_x_hat * inverse_size)",
	.inputs = "dy x mean rstd w sum_g_x_hat sum_g",
	.scalars = "inverse_size"};
enum { DY, X, MEAN, RSTD, W, SUM_G_X_HAT, SUM_G, N_INPUTS };

/* dx where the statistics are given. */
static const struct tn_formula given_gradient = {.text = "dx = rstd * dy",
						 .inputs = "dy x mean rstd"};
static const struct tn_formula weighted_given_gradient = {.text = "dx = rstd * dy * w",
							  .inputs = "dy x mean rstd w"};

/* Two sums of terms of dy, for each index on `axes`: lists, and views of them to broadcast over
 * x. */
struct sums {
	tn_array *lists[2];
	tn_array *views[2];
};

static tn_status take_sums(const struct views *v, const struct tn_formula *formula,
			   const tn_array *const *inputs, uint32_t axes, int64_t count,
			   struct sums *sums)
{
	const struct tn_norm *n = v->n;
	tn_dtype dtype = n->x->dtype == TN_F64 ? TN_F64 : TN_F32;
	struct tn_formula_reduction reduction = {.prologue = formula,
						 .inputs = inputs,
						 .outputs = sums->views,
						 .axes = other_axes(v, axes),
						 .combiners = {TN_REDUCE_SUM, TN_REDUCE_SUM}};
	for (int i = 0; i < 2; i++) {
		sums->lists[i] = tn_array_make(n->runtime, tn_array_home(n->x), dtype, 1, &count);
		sums->views[i] = sums->lists[i] ? spread(v->x, sums->lists[i], axes) : NULL;
		if (!sums->views[i])
			return tn_report_status(n->runtime);
	}
	return tn_formula_reduce(n->runtime, TN_DO_SUM, &reduction);
}

/* out := or += value */
static tn_status deliver(const struct tn_norm *n, tn_array *out, const tn_array *value)
{
	const tn_array *inputs[] = {out, value};
	if (!out)
		return TN_OK;
	if (!n->accumulate)
		return tn_copy_run(n->runtime, TN_DO_COPY, out, value);
	return tn_formula_map(n->runtime, TN_DO_ADD, &added, inputs, &out, NULL);
}

static tn_status compose_input(struct views *v, const tn_array **inputs)
{
	const struct tn_norm *n = v->n;
	const double scalars[] = {1 / group_size(n)};
	struct sums sums;
	tn_status status;
	if (n->use_statistics)
		return tn_formula_map(n->runtime, TN_DO_MULTIPLY,
				      n->w ? &weighted_given_gradient : &given_gradient, inputs,
				      &v->dx, NULL);
	status = take_sums(v, n->w ? &weighted_terms : &terms, inputs, statistics_axes(n),
			   n->mean->size, &sums);
	if (status)
		return status;
	inputs[SUM_G_X_HAT] = sums.views[0];
	inputs[SUM_G] = sums.views[1];
	return tn_formula_map(n->runtime, TN_DO_MULTIPLY,
			      n->w ? &weighted_input_gradient : &input_gradient, inputs, &v->dx,
			      scalars);
}

tn_status tn_compose_norm_backward(void *argument)
{
	const struct tn_norm *n = argument;
	struct views v;
	tn_status status = make_views(&v, n) ? TN_OK : tn_report_status(n->runtime);
	if (status)
		return status;
	/* Without w another array fills its place, unread. */
	const tn_array *inputs[N_INPUTS] = {
		[DY] = v.y, [X] = v.x, [MEAN] = v.mean, [RSTD] = v.rstd, [W] = n->w ? v.w : v.rstd};
	if (n->dw || n->db) {
		struct sums sums;
		status = take_sums(&v, &terms, inputs, channel_axes(n), n->x->shape[1], &sums);
		if (!status)
			status = deliver(n, n->dw, sums.lists[0]);
		if (!status)
			status = deliver(n, n->db, sums.lists[1]);
	}
	return status ? status : compose_input(&v, inputs);
}
