/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Resizing of pictures.  Nearest: rows and columns are taken, or, where all are repeated equally
 * often, broadcast.  Bilinear: y = A x B^T, where a row of A and B has at most two weights.
 */
#include <math.h>

#include <tenon/autograd.h>

#include "array/array.h"
#include "layers/check_floating.h"
#include "layers/index_map.h"

static const char operation[] = "interpolate";

/* Options with the output's size. */
static tn_status complete(const tn_array *x, struct tn_interpolate_options *o)
{
	struct tn_runtime *rt = x->runtime;
	if (x->rank != 4 || x->shape[2] < 1 || x->shape[3] < 1)
		return tn_runtime_fail(rt, TN_SHAPE, operation,
				       "x: expected (N, C, H, W), found rank %d, %lld elements",
				       x->rank, (long long)x->size);
	if (o->mode > TN_INTERPOLATE_BILINEAR)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				       "mode: expected nearest (0) or bilinear (1), found %u",
				       o->mode);
	if (o->mode == TN_INTERPOLATE_BILINEAR && tn_check_floating(operation, x))
		return rt->error.status;
	if (o->align_corners && o->mode != TN_INTERPOLATE_BILINEAR)
		return tn_runtime_fail(rt, TN_INVALID_ARGUMENT, operation,
				       "align_corners: expected the mode bilinear");
	int has_size = o->size[0] || o->size[1], has_scale = o->scale[0] != 0 || o->scale[1] != 0;
	for (int i = 0; i < 2 && has_scale && !has_size; i++) {
		double length = floor((double)x->shape[2 + i] * o->scale[i]);
		o->size[i] = length >= 1 && length <= INT32_MAX ? (int64_t)length : 0;
	}
	if (has_size != has_scale && o->size[0] >= 1 && o->size[1] >= 1 &&
	    o->size[0] <= INT32_MAX && o->size[1] <= INT32_MAX)
		return TN_OK;
	return tn_runtime_fail(
		rt, TN_INVALID_ARGUMENT, operation,
		"expected a size, or a scale that gives one, of at least 1 x 1, found "
		"size %lld x %lld and scale %g x %g",
		(long long)o->size[0], (long long)o->size[1], o->scale[0], o->scale[1]);
}

/* ---- Nearest ---------------------------------------------------------------------------------*/

/* Each row and column `times` times. */
static tn_array *repeat(const tn_array *x, const int64_t times[2])
{
	const int64_t *n = x->shape;
	const int64_t apart[] = {n[0], n[1], n[2], 1, n[3], 1};
	const int64_t many[] = {n[0], n[1], n[2], times[0], n[3], times[1]};
	const int64_t shape[] = {n[0], n[1], n[2] * times[0], n[3] * times[1]};
	tn_array *cells = tn_reshape(x, 6, apart);
	tn_array *wide = tn_broadcast_to(cells, 6, many);
	tn_array *y = tn_reshape(wide, 4, shape);
	tn_array_destroy(cells);
	tn_array_destroy(wide);
	return y;
}

/* Once and twice the length are that for PyTorch, whatever the scale. */
static int repeats(int64_t n, int64_t length, double scale)
{
	const int64_t times = n / length;
	return n % length == 0 && (times <= 2 || scale == 0 || scale == (double)times);
}

/* PyTorch's positions, in f32 as there. */
static const struct tn_formula nearest_cells = {
	.text = "cell = i64(min((index(0) + first) * step, last))",
	.scalars = "step first last",
	.scalar_dtype = TN_F32};

static tn_array *take_nearest(const tn_array *x, int axis, int64_t n, double scale)
{
	int64_t length = x->shape[2 + axis];
	double step = scale != 0 ? 1.0 / scale : (double)((float)length / (float)n), first = 0;
	if (repeats(n, length, scale)) {
		step = (double)length / (double)n;
		first = 0.5; /* far from the next cell */
	}
	tn_array *cells = tn_index_map(operation, x, TN_I64, 1, &n, &nearest_cells,
				       (const double[]){step, first, (double)(length - 1)});
	tn_array *y = tn_take(x, cells, 2 + axis);
	tn_array_destroy(cells);
	return y;
}

static tn_array *nearest(const tn_array *x, const struct tn_interpolate_options *o)
{
	int is_multiple = 1;
	for (int i = 0; i < 2; i++)
		is_multiple &= repeats(o->size[i], x->shape[2 + i], o->scale[i]);
	if (is_multiple)
		return repeat(
			x, (const int64_t[]){o->size[0] / x->shape[2], o->size[1] / x->shape[3]});
	tn_array *rows = take_nearest(x, 0, o->size[0], o->scale[0]);
	tn_array *y = rows ? take_nearest(rows, 1, o->size[1], o->scale[1]) : NULL;
	tn_array_destroy(rows);
	return y;
}

/* ---- Bilinear --------------------------------------------------------------------------------*/

/* The position lies within the cells 0 to `last`, and the weight of a cell falls to 0 at a distance
 * of 1.  Computed as PyTorch does: in f64 for x of f64, else in f32. */
static const char bilinear_text[] =
	"position = min(max((index(0) + center) * step - center, 0), last)\n"
	"weight = max(1 - abs(position - index(1)), 0)";
enum { STEP, CENTER, LAST, N_SCALARS };
static const char bilinear_scalars[] = "step center last";
static const struct tn_formula weights_f32 = {
	.text = bilinear_text, .scalars = bilinear_scalars, .scalar_dtype = TN_F32};
static const struct tn_formula weights_f64 = {
	.text = bilinear_text, .scalars = bilinear_scalars, .scalar_dtype = TN_F64};

/* The scalars of one axis. */
static void place(const tn_array *x, const struct tn_interpolate_options *o, int axis,
		  double scalars[N_SCALARS])
{
	int64_t n = o->size[axis], length = x->shape[2 + axis];
	scalars[LAST] = (double)(length - 1);
	scalars[CENTER] = 0.5;
	scalars[STEP] = o->scale[axis] != 0 ? 1.0 / o->scale[axis] : (double)length / (double)n;
	if (n == length) { /* PyTorch's, whatever the scale */
		scalars[STEP] = 1;
	} else if (o->align_corners) {
		scalars[CENTER] = 0;
		scalars[STEP] = n > 1 ? (double)(length - 1) / (double)(n - 1) : 0.0;
	}
}

static tn_array *bilinear(const tn_array *x, const struct tn_interpolate_options *o)
{
	double rows[N_SCALARS], columns[N_SCALARS];
	place(x, o, 0, rows);
	place(x, o, 1, columns);
	return tn_axis_products(operation, x, o->size,
				x->dtype == TN_F64 ? &weights_f64 : &weights_f32,
				(const double *const[]){rows, columns});
}

tn_array *tn_interpolate(const tn_array *x, const struct tn_interpolate_options *options)
{
	struct tn_interpolate_options o = tn_interpolate_defaults();
	if (!x || tn_runtime_ready(x->runtime) ||
	    tn_runtime_take(x->runtime, &o, sizeof(o), options, "struct tn_interpolate_options",
			    operation) ||
	    complete(x, &o))
		return NULL;
	return o.mode == TN_INTERPOLATE_NEAREST ? nearest(x, &o) : bilinear(x, &o);
}
