/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * With n = (x - mean) rstd and g = dy w, all by operations that have derivatives, also by x, on
 * which mean and rstd depend:
 *     dx = rstd (g - mean of g - n mean of (g n)),   dw = sum of dy n,   db = sum of dy
 * Where the statistics are given, dx = rstd g.  x is viewed so that the elements that share
 * statistics are whole axes, and w so that it broadcasts.  f16 and bf16 are computed in f32.
 */
#include "layers/norm_double_backward.h"

#include <tenon/backend.h>

#include "array/array.h"
#include "autograd/gradient_reduce.h"
#include "layers/norm.h"
#include "ops/formula.h"

/* The view in which statistics are over whole axes. */
struct layout {
	int rank;
	int64_t shape[TN_MAX_RANK];      /* of x */
	int64_t parameter[TN_MAX_RANK];  /* of w */
	int64_t statistics[TN_MAX_RANK]; /* of mean and rstd */
	int n_axes;
	int axes[TN_MAX_RANK];
};

static void add_axis(struct layout *layout, int64_t length, int is_shared, int is_of_w)
{
	int axis = layout->rank++;
	layout->shape[axis] = length;
	layout->parameter[axis] = is_of_w ? length : 1;
	layout->statistics[axis] = is_shared ? 1 : length;
	if (is_shared)
		layout->axes[layout->n_axes++] = axis;
}

static struct layout layout_of(const struct tn_norm_recorded *norm)
{
	const tn_array *x = norm->x;
	struct layout layout = {0};
	if (norm->kind == TN_NORM_LAYER) {
		add_axis(&layout, norm->row ? x->size / norm->row : 0, 0, 0);
		add_axis(&layout, norm->row, 1, 1);
	} else if (norm->kind == TN_NORM_GROUP) {
		int64_t pixels = 1;
		for (int i = 2; i < x->rank; i++)
			pixels *= x->shape[i];
		add_axis(&layout, x->shape[0], 0, 0);
		add_axis(&layout, norm->groups, 0, 1);
		add_axis(&layout, x->shape[1] / norm->groups, 1, 1);
		add_axis(&layout, pixels, 1, 0);
	} else {
		for (int i = 0; i < x->rank; i++)
			add_axis(&layout, x->shape[i], i != 1, i == 1);
	}
	return layout;
}

static tn_array *mean(const struct layout *layout, const tn_array *a)
{
	return tn_mean(a, layout->n_axes, layout->axes, 1);
}

/* A gradient of w or b, in its own form. */
static tn_array *parameter_gradient(const struct layout *layout, tn_array *g, const tn_array *w)
{
	tn_array *sum = tn_sum_to_shape(g, layout->rank, layout->parameter);
	return tn_astype(tn_reshape(sum, w->rank, w->shape), w->dtype);
}

/* dy where the activation lets it pass. */
static tn_array *before_activation(const struct tn_norm_recorded *norm, const tn_array *dy)
{
	static const struct tn_formula relu = {.text = "g = y > 0 ? dy : 0", .inputs = "dy y"};
	static const struct tn_formula relu6 = {.text = "g = y > 0 && y < 6 ? dy : 0",
						.inputs = "dy y"};
	return tn_formula_map_number(norm->activation == TN_ACTIVATION_RELU6 ? &relu6 : &relu,
				     (const tn_array *[]){dy, norm->result}, NULL);
}

static tn_array *rstd_of(const tn_array *var, double epsilon)
{
	static const struct tn_formula formula = {
		.text = "rstd = 1 / sqrt(var + epsilon)", .inputs = "var", .scalars = "epsilon"};
	const tn_number scalar = tn_number_f64(epsilon);
	return tn_formula_map_number(&formula, &var, &scalar);
}

void tn_norm_differentiate(struct tn_norm_recorded *norm, const tn_array *dy)
{
	const struct layout layout = layout_of(norm);
	const tn_array *x = norm->x, *w = norm->w;
	tn_dtype dtype = x->dtype == TN_F64 ? TN_F64 : TN_F32;
	tn_array *before = norm->activation ? before_activation(norm, dy)
					    : tn_reshape(dy, dy->rank, dy->shape);
	norm->dresidual = before;
	tn_array *wide_dy = tn_reshape(tn_astype(before, dtype), layout.rank, layout.shape);
	tn_array *wide_x = tn_reshape(tn_astype(x, dtype), layout.rank, layout.shape);
	tn_array *offset, *rstd;
	if (norm->mean) {
		offset =
			tn_subtract(wide_x, tn_reshape(norm->mean, layout.rank, layout.statistics));
		rstd = tn_reshape(norm->rstd, layout.rank, layout.statistics);
	} else {
		offset = tn_subtract(wide_x, mean(&layout, wide_x));
		rstd = rstd_of(mean(&layout, tn_square(offset)), norm->epsilon);
	}
	tn_array *n = tn_multiply(offset, rstd), *g = wide_dy;
	if (w) {
		norm->dw = parameter_gradient(&layout, tn_multiply(wide_dy, n), w);
		norm->db = parameter_gradient(&layout, wide_dy, w);
		g = tn_multiply(wide_dy,
				tn_reshape(tn_astype(w, dtype), layout.rank, layout.parameter));
	}
	if (!norm->mean) {
		tn_array *along = tn_multiply(n, mean(&layout, tn_multiply(g, n)));
		g = tn_subtract(tn_subtract(g, mean(&layout, g)), along);
	}
	tn_array *dx = tn_reshape(tn_multiply(g, rstd), x->rank, x->shape);
	norm->dx = tn_astype(dx, x->dtype);
}
