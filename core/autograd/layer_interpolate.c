/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Resizing of pictures.  Nearest: rows and columns are taken, or, where all are repeated equally
 * often, broadcast.  Bilinear: y = A x B^T, where a row of A and B has at most two weights.
 */
#include <math.h>

#include <tenon/autograd.h>

#include "array/array.h"
#include "autograd/axis_products.h"
#include "base/memory.h"

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
	return n % length == 0 && (n / length <= 2 || scale == 0 || scale == (double)(n / length));
}

/* PyTorch's positions, in f32 as there. */
static int64_t nearest_cell(int64_t i, int64_t n, int64_t length, double scale)
{
	float step = scale != 0 ? (float)(1.0 / scale) : (float)length / (float)n;
	int64_t cell = (int64_t)floorf((float)i * step);
	if (repeats(n, length, scale))
		return i / (n / length);
	return cell < length ? cell : length - 1;
}

static tn_array *take_nearest(const tn_array *x, int axis, int64_t n, double scale)
{
	int64_t length = x->shape[2 + axis], *cells = tn_mem_zeroed((size_t)n, sizeof(*cells));
	if (!cells) {
		tn_runtime_fail(x->runtime, TN_OUT_OF_MEMORY, operation,
				"no memory for %lld positions", (long long)n);
		return NULL;
	}
	for (int64_t i = 0; i < n; i++)
		cells[i] = nearest_cell(i, n, length, scale);
	struct tn_device *current = x->runtime->device;
	x->runtime->device = tn_array_home(x);
	tn_array *indices = tn_from_host(tn_array_context(x), TN_I64, 1, &n, cells);
	x->runtime->device = current;
	tn_mem_free(cells);
	tn_array *y = tn_take(x, indices, 2 + axis);
	tn_array_destroy(indices);
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

static double position(const struct tn_interpolate_options *o, int axis, int64_t i, int64_t n,
		       int64_t length)
{
	if (n == length)
		return (double)i; /* PyTorch's, whatever the scale */
	if (o->align_corners)
		return n > 1 ? (double)i * (double)(length - 1) / (double)(n - 1) : 0.0;
	double step = o->scale[axis] != 0 ? 1.0 / o->scale[axis] : (double)length / (double)n;
	return fmax(((double)i + 0.5) * step - 0.5, 0.0);
}

static void bilinear_weights(const void *user, int axis, int64_t n, int64_t length, double *weights)
{
	for (int64_t i = 0; i < n; i++) {
		double at = position(user, axis, i, n, length);
		int64_t low = (int64_t)at < length ? (int64_t)at : length - 1;
		int64_t high = low + 1 < length ? low + 1 : low;
		double part = fmin(at - (double)low, 1.0);
		weights[i * length + low] += 1.0 - part;
		weights[i * length + high] += part;
	}
}

tn_array *tn_interpolate(const tn_array *x, const struct tn_interpolate_options *options)
{
	struct tn_interpolate_options o = {0};
	if (!x || tn_runtime_ready(x->runtime) ||
	    tn_runtime_take(x->runtime, &o, sizeof(o), options, "struct tn_interpolate_options",
			    operation) ||
	    complete(x, &o))
		return NULL;
	if (o.mode == TN_INTERPOLATE_NEAREST)
		return nearest(x, &o);
	return tn_axis_products(operation, x, o.size, bilinear_weights, &o);
}
