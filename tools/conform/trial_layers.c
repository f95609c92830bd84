/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Plans of conv2d, pool2d, softmax, cross-entropy and attention, with the formulas of the header.
 */
#include "trial.h"

#include <stdio.h>

#define PLACE(type, member) offsetof(struct type, member)

/* exp(x) of an x that is off by `error`, times a number of that size. */
static double exponential_error(double error, double size)
{
	return error > 0 && isfinite(size) ? size * expm1(error) : 0;
}

/* ---- conv2d ----------------------------------------------------------------------------------*/

/* Settings: lengths of x, w and y, and the window, in the arguments' order. */
enum { C_N, C_C, C_H, C_W, C_O, C_R, C_S, C_P, C_Q };

/* One term, by the numbers of its elements; x is -1 in the padding. */
typedef void (*term_function)(struct trial *t, void *to, int64_t x, int64_t w, int64_t y);

static int64_t x_of(const struct trial *t, int64_t n, int64_t c, int64_t h, int64_t v)
{
	const int64_t *l = t->setting;
	if (h < 0 || h >= l[C_H] || v < 0 || v >= l[C_W])
		return -1;
	return ((n * l[C_C] + c) * l[C_H] + h) * l[C_W] + v;
}

static void each_term(struct trial *t, term_function function, void *to)
{
	const struct tn_conv2d_args *a = &t->args.conv2d;
	const int64_t *l = t->setting;
	const int64_t of_group = l[C_C] / a->groups, n_w = of_group * l[C_R] * l[C_S];
	for (int64_t y = 0; y < l[C_N] * l[C_O] * l[C_P] * l[C_Q]; y++) {
		int64_t q = y % l[C_Q], p = y / l[C_Q] % l[C_P], n = y / l[C_Q] / l[C_P] / l[C_O];
		int64_t o = y / l[C_Q] / l[C_P] % l[C_O],
			first = o / (l[C_O] / a->groups) * of_group;
		for (int64_t k = 0; k < n_w; k++) {
			int64_t s = k % l[C_S], r = k / l[C_S] % l[C_R], c = k / l[C_S] / l[C_R];
			int64_t h = p * a->stride[0] + r * a->dilation[0] - a->padding[0];
			int64_t v = q * a->stride[1] + s * a->dilation[1] - a->padding[1];
			function(t, to, x_of(t, n, first + c, h, v), o * n_w + k, y);
		}
	}
}

static int written_of(const struct trial *t)
{
	return t->slot == TN_SLOT_CONV2D_FORWARD          ? 2
	       : t->slot == TN_SLOT_CONV2D_INPUT_GRADIENT ? 0
							  : 1;
}

static void add_product(struct trial *t, void *to, int64_t x, int64_t w, int64_t y)
{
	const int64_t at[3] = {x, w, y};
	const int written = written_of(t);
	const int a = written == 0 ? 1 : 0, b = written == 2 ? 1 : 2;
	struct sum *sums = to;
	if (x >= 0)
		sum_add(&sums[at[written]],
			(long double)t->operand[a].x[at[a]] * t->operand[b].x[at[b]]);
}

/* Transforms of whole planes or tiles spread what is not finite: for each result, is a number of
 * the same image, filter or channel infinite or NaN?  So are weights that meet only padding. */
static void spread(struct trial *t, const struct trial_operand *out, unsigned char *is_open)
{
	const int64_t *l = t->setting;
	const int64_t of_image[3] = {l[C_C] * l[C_H] * l[C_W],
				     l[C_C] / t->args.conv2d.groups * l[C_R] * l[C_S],
				     l[C_O] * l[C_P] * l[C_Q]};
	const int written = written_of(t);
	int any = 0;
	for (int i = 0; i < 3; i++)
		for (uint64_t e = 0; e < t->operand[i].array.count && i != written; e++) {
			int64_t image = (int64_t)e / of_image[i];
			if (isfinite(t->operand[i].x[e]))
				continue;
			any = 1;
			if (written == 1 || i == 1) /* gradients of weights, or weights */
				continue;
			memset(is_open + image * of_image[written], 1, (size_t)of_image[written]);
		}
	if (any && written == 1)
		memset(is_open, 1, out->array.count);
	for (uint64_t e = 0; e < t->operand[1].array.count && written != 1; e++)
		for (uint64_t i = 0; !isfinite(t->operand[1].x[e]) && i < out->array.count; i++) {
			int64_t filter = (int64_t)e / of_image[1];
			int64_t of = (int64_t)i / (l[C_P] * l[C_Q]) % l[C_O];
			if (written == 0 || of == filter)
				is_open[i] = 1;
		}
}

static void conv2d_formula(struct trial *t)
{
	const struct tn_conv2d_args *a = &t->args.conv2d;
	struct trial_operand *out = &t->operand[written_of(t)];
	const int64_t plane = t->setting[C_P] * t->setting[C_Q];
	struct sum *sums = (struct sum *)calloc(out->array.count, sizeof(*sums));
	unsigned char *is_open = (unsigned char *)calloc(out->array.count, 1);
	if (!sums || !is_open)
		kit_give_up(t->kit, "the kit is out of memory");
	trial_expect(out);
	each_term(t, add_product, sums);
	spread(t, out, is_open);
	for (uint64_t i = 0; i < out->array.count; i++) {
		if (t->accumulates)
			sum_add(&sums[i], out->x[i]);
		if (a->has_bias)
			sum_add(&sums[i], t->operand[3].x[(int64_t)i / plane % t->setting[C_O]]);
		if (a->has_residual)
			sum_add(&sums[i], t->operand[t->n - 1].x[i]);
		out->expected[i] = (double)sums[i].value;
		out->tolerance[i] = sum_error(t, &sums[i]);
		if (!a->activation)
			trial_settle(out, i, is_open[i]);
		else if (is_open[i] || !isfinite(sums[i].value))
			out->tolerance[i] = isnan(sums[i].value) && !is_open[i] ? 0 : INFINITY;
		out->expected[i] = kit_activate(a->activation, out->expected[i]);
	}
	free(sums);
	free(is_open);
}

/* Draws one axis of a convolution. */
static void draw_axis(struct trial *t, int axis, int64_t *kernel, int64_t *length, int64_t *windows)
{
	struct tn_conv2d_args *a = &t->args.conv2d;
	*kernel = trial_length(t, 3);
	a->stride[axis] = 1 + (int64_t)(kit_random(t->kit) % 3 == 0);
	a->dilation[axis] = 1 + (int64_t)(kit_random(t->kit) % 4 == 0);
	a->padding[axis] = (int64_t)(kit_random(t->kit) % 2);
	a->padding[axis + 2] = (int64_t)(kit_random(t->kit) % 2);
	*length = a->dilation[axis] * (*kernel - 1) + trial_length(t, 5);
	*windows = (*length + a->padding[axis] + a->padding[axis + 2] -
		    a->dilation[axis] * (*kernel - 1) - 1) /
			   a->stride[axis] +
		   1;
}

static void plan_conv2d(struct trial *t)
{
	struct tn_conv2d_args *a = &t->args.conv2d;
	int64_t *l = t->setting;
	const int written = written_of(t);
	static const char *const names[] = {"x", "w", "y"};
	const size_t places[3] = {PLACE(tn_conv2d_args, x), PLACE(tn_conv2d_args, w),
				  PLACE(tn_conv2d_args, y)};
	a->groups = kit_random(t->kit) % 3 ? 1 : 2;
	l[C_N] = trial_length(t, 3);
	l[C_C] = a->groups * trial_length(t, 3);
	l[C_O] = a->groups * trial_length(t, 3);
	draw_axis(t, 0, &l[C_R], &l[C_H], &l[C_P]);
	draw_axis(t, 1, &l[C_S], &l[C_W], &l[C_Q]);
	const int64_t shapes_of[3][4] = {{l[C_N], l[C_C], l[C_H], l[C_W]},
					 {l[C_O], l[C_C] / a->groups, l[C_R], l[C_S]},
					 {l[C_N], l[C_O], l[C_P], l[C_Q]}};
	for (int i = 0; i < 3; i++)
		trial_operand(t, names[i], places[i], i == written ? OUTPUT : INPUT, t->dtype, 4,
			      shapes_of[i]);
	if (written == 2 && kit_random(t->kit) % 2) {
		trial_operand(t, "bias", PLACE(tn_conv2d_args, bias), INPUT, t->dtype, 1, &l[C_O]);
		a->has_bias = 1;
		a->has_residual = kit_random(t->kit) % 2;
		a->activation = (uint32_t)(kit_random(t->kit) % 3);
	}
	if (a->has_residual)
		trial_operand(t, "residual", PLACE(tn_conv2d_args, residual), INPUT, t->dtype, 4,
			      shapes_of[2]);
	snprintf(t->text, sizeof(t->text), "x %lld x %lld x %lld x %lld, w %lld x %lld x %lld%s%s",
		 (long long)l[C_N], (long long)l[C_C], (long long)l[C_H], (long long)l[C_W],
		 (long long)l[C_O], (long long)l[C_R], (long long)l[C_S],
		 a->groups > 1 ? ", 2 groups" : "", a->has_bias ? ", bias" : "");
	t->formula = conv2d_formula;
}

/* ---- pool2d ----------------------------------------------------------------------------------*/

enum { P_H, P_W, P_P, P_Q };

/* Cell k of window (p, q), counted over the whole kernel: its place in the plane, or -1. */
static int64_t cell_of(const struct trial *t, int64_t window, int64_t k)
{
	const struct tn_pool2d_args *a = &t->args.pool2d;
	const int64_t *l = t->setting;
	int64_t h = window / l[P_Q] % l[P_P] * a->stride[0] - a->padding[0] + k / a->kernel[1];
	int64_t v = window % l[P_Q] * a->stride[1] - a->padding[1] + k % a->kernel[1];
	return h < 0 || h >= l[P_H] || v < 0 || v >= l[P_W] ? -1 : h * l[P_W] + v;
}

/* The first of the largest cells; a NaN wins. */
static int64_t largest_cell(const struct trial *t, const double *plane, int64_t window)
{
	const struct tn_pool2d_args *a = &t->args.pool2d;
	int64_t best = -1;
	for (int64_t k = 0; k < a->kernel[0] * a->kernel[1]; k++) {
		int64_t at = cell_of(t, window, k);
		if (at >= 0 && (best < 0 || (!isnan(plane[best]) &&
					     (isnan(plane[at]) || plane[at] > plane[best]))))
			best = at;
	}
	return best;
}

static double divisor(const struct trial *t, int64_t window)
{
	const struct tn_pool2d_args *a = &t->args.pool2d;
	const int64_t most = a->kernel[0] * a->kernel[1];
	int64_t cells = 0;
	for (int64_t k = 0; k < most; k++)
		cells += a->count_padding || cell_of(t, window, k) >= 0;
	return (double)cells;
}

static void average(struct trial *t, const double *plane, uint64_t i)
{
	const struct tn_pool2d_args *a = &t->args.pool2d;
	struct trial_operand *y = &t->operand[1];
	const double cells = divisor(t, (int64_t)i);
	struct sum sum = {.n = 0};
	for (int64_t k = 0; k < a->kernel[0] * a->kernel[1]; k++) {
		int64_t at = cell_of(t, (int64_t)i, k);
		if (at >= 0)
			sum_add(&sum, plane[at]);
	}
	y->expected[i] = (double)(sum.value / cells);
	y->tolerance[i] = sum_error(t, &sum) / cells;
	if (isfinite(sum.value) && sum.magnitude > trial_largest(t) / 2)
		y->tolerance[i] = INFINITY; /* the sum may overflow */
}

static void pool2d_formula(struct trial *t)
{
	const struct tn_pool2d_args *a = &t->args.pool2d;
	const int64_t plane = t->setting[P_H] * t->setting[P_W];
	const int64_t n_windows = t->setting[P_P] * t->setting[P_Q];
	struct trial_operand *y = &t->operand[1], *index = &t->operand[2];
	trial_expect(y);
	if (a->has_index)
		trial_expect(index);
	for (uint64_t i = 0; i < y->array.count; i++) {
		const double *own = t->operand[0].x + (int64_t)i / n_windows * plane;
		if (a->kind == TN_POOL_AVERAGE) {
			average(t, own, i);
			continue;
		}
		int64_t best = largest_cell(t, own, (int64_t)i);
		y->expected[i] = own[best];
		if (a->has_index)
			index->expected[i] = (double)best;
	}
}

static void pool2d_gradient_formula(struct trial *t)
{
	const struct tn_pool2d_args *a = &t->args.pool2d;
	const int64_t plane = t->setting[P_H] * t->setting[P_W];
	const int64_t n_windows = t->setting[P_P] * t->setting[P_Q];
	struct trial_operand *dx = &t->operand[0], *dy = &t->operand[1];
	struct sum *sums = (struct sum *)calloc(dx->array.count, sizeof(*sums));
	if (!sums)
		kit_give_up(t->kit, "the kit is out of memory");
	for (uint64_t i = 0; i < dy->array.count; i++) {
		struct sum *own = sums + (int64_t)i / n_windows * plane;
		if (a->kind == TN_POOL_MAX) {
			sum_add(&own[(int64_t)t->operand[2].x[i]], dy->x[i]);
			continue;
		}
		for (int64_t k = 0; k < a->kernel[0] * a->kernel[1]; k++) {
			int64_t at = cell_of(t, (int64_t)i, k);
			if (at >= 0)
				sum_add(&own[at], dy->x[i] / divisor(t, (int64_t)i));
		}
	}
	trial_expect(dx);
	for (uint64_t i = 0; i < dx->array.count; i++) {
		if (t->accumulates)
			sum_add(&sums[i], dx->x[i]);
		dx->expected[i] = (double)sums[i].value;
		dx->tolerance[i] = sum_error(t, &sums[i]);
	}
	free(sums);
}

/* For the backward: in each window any of its cells. */
static void fill_index(struct trial *t)
{
	const struct tn_pool2d_args *a = &t->args.pool2d;
	struct array *index = &t->operand[2].array;
	for (uint64_t i = 0; a->kind == TN_POOL_MAX && i < index->count; i++) {
		int64_t at = -1;
		while (at < 0)
			at = cell_of(t, (int64_t)i,
				     (int64_t)(kit_random(t->kit) %
					       (uint64_t)(a->kernel[0] * a->kernel[1])));
		array_set_bits(index, i, (uint64_t)at);
	}
}

static void plan_pool2d(struct trial *t)
{
	struct tn_pool2d_args *a = &t->args.pool2d;
	const int is_forward = t->slot == TN_SLOT_POOL2D_FORWARD;
	int64_t *l = t->setting, n = trial_length(t, 3), c = trial_length(t, 4);
	struct trial_operand *index;
	a->kind = kit_random(t->kit) % 3 ? TN_POOL_MAX : TN_POOL_AVERAGE;
	a->has_index = a->kind == TN_POOL_MAX && (!is_forward || kit_random(t->kit) % 4);
	a->count_padding = a->kind == TN_POOL_AVERAGE && kit_random(t->kit) % 2;
	for (int axis = 0; axis < 2; axis++) {
		a->kernel[axis] = trial_length(t, 3);
		a->stride[axis] = trial_length(t, 3);
		for (int side = 0; side < 2; side++)
			a->padding[axis + 2 * side] =
				(int64_t)(kit_random(t->kit) % (uint64_t)(a->kernel[axis] / 2 + 1));
		l[P_H + axis] = a->kernel[axis] - 1 + trial_length(t, 5);
		l[P_P + axis] = (l[P_H + axis] + a->padding[axis] + a->padding[axis + 2] -
				 a->kernel[axis]) /
					a->stride[axis] +
				1;
	}
	const int64_t x[4] = {n, c, l[P_H], l[P_W]}, y[4] = {n, c, l[P_P], l[P_Q]};
	trial_operand(t, "x", PLACE(tn_pool2d_args, x), is_forward ? INPUT : OUTPUT, t->dtype, 4,
		      x);
	trial_operand(t, "y", PLACE(tn_pool2d_args, y), is_forward ? OUTPUT : INPUT, t->dtype, 4,
		      y);
	index = trial_operand(t, "index", PLACE(tn_pool2d_args, index),
			      is_forward && a->has_index ? OUTPUT : INPUT, TN_I32, 4, y);
	index->is_own = 1;
	index->is_unread = !a->has_index;
	t->fill = is_forward ? NULL : fill_index;
	t->formula = is_forward ? pool2d_formula : pool2d_gradient_formula;
	snprintf(t->text, sizeof(t->text), "%s, %lld x %lld x %lld x %lld, kernel %lld x %lld",
		 a->kind == TN_POOL_MAX ? "max" : "average", (long long)n, (long long)c,
		 (long long)l[P_H], (long long)l[P_W], (long long)a->kernel[0],
		 (long long)a->kernel[1]);
}

/* ---- softmax ---------------------------------------------------------------------------------*/

enum { S_N, S_INNER };

static double largest(const double *x, int64_t n, int64_t step)
{
	double most = x[0];
	for (int64_t j = 1; j < n; j++)
		most = isnan(most) || x[j * step] <= most ? most : x[j * step];
	return most;
}

/* sum exp(x - largest); NaN if that is not defined. */
static double exponentials(const double *x, int64_t n, int64_t step, double most)
{
	double sum = 0;
	for (int64_t j = 0; j < n; j++)
		sum += exp(x[j * step] - most);
	return sum;
}

static void softmax_formula(struct trial *t)
{
	const int64_t n = t->setting[S_N], inner = t->setting[S_INNER];
	const double epsilon = trial_epsilon(t);
	struct trial_operand *y = &t->operand[1];
	trial_expect(y);
	for (int64_t i = 0; i < (int64_t)y->array.count; i++) {
		const double *line = t->operand[0].x + i - i / inner % n * inner;
		const double most = largest(line, n, inner), x = t->operand[0].x[i];
		const double sum = exponentials(line, n, inner, most), below = x - most;
		const double error = ((double)n + fmin(fabs(below), 1000) + 12) * epsilon;
		y->expected[i] = t->args.softmax.logarithm ? below - log(sum) : exp(below) / sum;
		y->tolerance[i] = t->args.softmax.logarithm
					  ? ((double)n + 12) * epsilon * (1 + fabs(y->expected[i]))
					  : error * y->expected[i] + trial_least(t);
		if (!isfinite(y->expected[i]))
			y->tolerance[i] = 0;
	}
}

static void softmax_gradient_formula(struct trial *t)
{
	const int64_t n = t->setting[S_N], inner = t->setting[S_INNER];
	const int is_log = (int)t->args.softmax.logarithm;
	const double *y = t->operand[0].x, *dy = t->operand[1].x;
	struct trial_operand *dx = &t->operand[2];
	trial_expect(dx);
	for (int64_t i = 0; i < (int64_t)dx->array.count; i++) {
		const int64_t first = i - i / inner % n * inner;
		const double factor = is_log ? exp(y[i]) : y[i];
		struct sum sum = {.n = 0}, all = {.n = 0};
		for (int64_t j = first; j < first + n * inner; j += inner)
			sum_add(&sum, is_log ? dy[j] : y[j] * dy[j]);
		all = sum;
		all.magnitude = fabs(factor) * (sum.magnitude + (is_log ? 0 : fabs(dy[i]))) +
				(is_log ? fabs(dy[i]) : 0);
		if (is_log)
			all.magnitude += factor * fabs(y[i]) * sum.magnitude;
		if (isnan(all.magnitude) || isinf(all.magnitude)) /* 0 times infinity, or such */
			all.magnitude = 0;
		all.n += 8;
		all.value = is_log ? dy[i] - factor * sum.value : y[i] * (dy[i] - sum.value);
		dx->tolerance[i] =
			isinf(sum_error(t, &sum)) ||
					(isfinite(sum.value) && isfinite(dy[i]) &&
					 sum.magnitude + fabs(dy[i]) > trial_largest(t) / 2)
				? INFINITY
				: sum_error(t, &all);
		if (t->accumulates) {
			dx->tolerance[i] += 4 * trial_epsilon(t) * fabs(dx->x[i]);
			all.value += dx->x[i];
		}
		dx->expected[i] = (double)all.value;
		if (!isfinite(dx->expected[i]) && !isinf(dx->tolerance[i]))
			dx->tolerance[i] = 0;
	}
}

static void plan_softmax(struct trial *t)
{
	struct tn_softmax_args *a = &t->args.softmax;
	const int is_forward = t->slot == TN_SLOT_SOFTMAX_FORWARD;
	struct trial_operand *first;
	struct shape shape;
	do
		shape_random(t->kit, &shape, 5, 300);
	while (!shape.rank);
	a->axis = (uint32_t)(kit_random(t->kit) % shape.rank);
	a->logarithm = (uint32_t)(kit_random(t->kit) % 2);
	t->setting[S_N] = shape.lengths[a->axis];
	t->setting[S_INNER] =
		(int64_t)shape_count(shape.rank - a->axis - 1, shape.lengths + a->axis + 1);
	first = trial_operand(t, is_forward ? "x" : "y",
			      is_forward ? PLACE(tn_softmax_args, x) : PLACE(tn_softmax_args, y),
			      INPUT, t->dtype, shape.rank, shape.lengths);
	first->is_saved = !is_forward;
	first->low = is_forward ? -4 : a->logarithm ? -5 : 0;
	first->high = is_forward ? 4 : a->logarithm ? 0 : 1;
	if (is_forward) {
		trial_operand(t, "y", PLACE(tn_softmax_args, y), OUTPUT, t->dtype, shape.rank,
			      shape.lengths);
	} else {
		trial_operand(t, "dy", PLACE(tn_softmax_args, dy), INPUT, t->dtype, shape.rank,
			      shape.lengths);
		trial_operand(t, "dx", PLACE(tn_softmax_args, dx), OUTPUT, t->dtype, shape.rank,
			      shape.lengths);
	}
	t->formula = is_forward ? softmax_formula : softmax_gradient_formula;
	snprintf(t->text, sizeof(t->text), "%srank %u, axis %u of %lld",
		 a->logarithm ? "log, " : "", shape.rank, a->axis, (long long)t->setting[S_N]);
}

/* ---- Cross-entropy ---------------------------------------------------------------------------*/

enum { X, LABELS, MAXIMUM, LOG_SUM, LOSS, DX };

static int is_class(const struct trial *t, double label)
{
	return label >= 0 && label < (double)t->setting[0];
}

static void cross_entropy_formula(struct trial *t)
{
	const int64_t n_classes = t->setting[0];
	const double error = ((double)n_classes + 32) * trial_epsilon(t);
	for (int i = MAXIMUM; i <= LOSS; i++)
		trial_expect(&t->operand[i]);
	for (uint64_t n = 0; n < t->operand[LOSS].array.count; n++) {
		const double *row = t->operand[X].x + (int64_t)n * n_classes;
		const double label = t->operand[LABELS].x[n], most = largest(row, n_classes, 1);
		const double log_sum = log(exponentials(row, n_classes, 1, most));
		double loss = NAN;
		if (label == t->args.cross_entropy.ignore_label)
			loss = 0;
		else if (is_class(t, label))
			loss = log_sum - (row[(int64_t)label] - most);
		t->operand[MAXIMUM].expected[n] = most;
		t->operand[MAXIMUM].tolerance[n] = isnan(log_sum) ? INFINITY : 0;
		t->operand[LOG_SUM].expected[n] = log_sum;
		t->operand[LOG_SUM].tolerance[n] = error * (1 + fabs(log_sum));
		t->operand[LOSS].expected[n] = loss;
		t->operand[LOSS].tolerance[n] = isfinite(loss) ? error * (1 + fabs(loss)) : 0;
	}
}

static void cross_entropy_gradient_formula(struct trial *t)
{
	const int64_t n_classes = t->setting[0];
	struct trial_operand *dx = &t->operand[DX];
	trial_expect(dx);
	for (int64_t i = 0; i < (int64_t)dx->array.count; i++) {
		const int64_t n = i / n_classes;
		const double label = t->operand[LABELS].x[n], dloss = t->operand[LOSS].x[n];
		const double below = t->operand[X].x[i] - t->operand[MAXIMUM].x[n];
		const double log_sum = t->operand[LOG_SUM].x[n];
		const double p = exp(below - log_sum), is_label = (double)(i % n_classes) == label;
		double value = (p - is_label) * dloss;
		double error = (fmin(fabs(below), 1000) + fmin(fabs(log_sum), 1000) + 12) *
			       trial_epsilon(t) * (p + is_label) * fabs(dloss);
		if (label == t->args.cross_entropy.ignore_label)
			value = error = 0;
		else if (!is_class(t, label))
			value = NAN;
		if (t->accumulates) {
			value += dx->x[i];
			error += 4 * trial_epsilon(t) * fabs(dx->x[i]);
		}
		dx->expected[i] = value;
		dx->tolerance[i] = isfinite(value) ? error + trial_least(t) : 0;
		if (isfinite(value) &&
		    fabs(dx->x[i]) * t->accumulates + 2 * fabs(dloss) > trial_largest(t) / 2)
			dx->tolerance[i] = INFINITY; /* added in any order */
		if (isinf(dloss))                    /* p dloss - dloss is as good */
			trial_settle(dx, (uint64_t)i, 0);
	}
}

static void save_cross_entropy(struct trial *t)
{
	const int64_t n_classes = t->setting[0];
	for (uint64_t n = 0; n < t->operand[LOSS].array.count; n++) {
		const double *row = t->operand[X].x + (int64_t)n * n_classes;
		const double most = largest(row, n_classes, 1);
		array_set_number(&t->operand[MAXIMUM].array, n, most);
		array_set_number(&t->operand[LOG_SUM].array, n,
				 log(exponentials(row, n_classes, 1, most)));
	}
}

static void plan_cross_entropy(struct trial *t)
{
	struct tn_cross_entropy_args *a = &t->args.cross_entropy;
	const int is_forward = t->slot == TN_SLOT_CROSS_ENTROPY_FORWARD;
	const enum role saved = is_forward ? OUTPUT : INPUT;
	const tn_dtype wide = t->dtype == TN_F64 ? TN_F64 : TN_F32;
	const int64_t size[2] = {trial_length(t, 12), trial_length(t, 12)};
	const int32_t ignored[] = {-100, -1, 0, (int32_t)size[1] - 1, (int32_t)size[1], INT32_MIN};
	struct trial_operand *o;
	t->setting[0] = size[1];
	a->ignore_label = ignored[kit_random(t->kit) % 6];
	o = trial_operand(t, "x", PLACE(tn_cross_entropy_args, x), INPUT, t->dtype, 2, size);
	o->low = -4;
	o->high = 4;
	o = trial_operand(t, "labels", PLACE(tn_cross_entropy_args, labels), INPUT, TN_I32, 1,
			  size);
	o->values = BELOW; /* one beyond each end */
	o->low = -1;
	o->high = (double)size[1] + 1;
	o = trial_operand(t, "maximum", PLACE(tn_cross_entropy_args, maximum), saved, wide, 1,
			  size);
	o->low = 2;
	o->high = 5;
	o = trial_operand(t, "log_sum", PLACE(tn_cross_entropy_args, log_sum), saved, wide, 1,
			  size);
	o->low = 0;
	o->high = 3;
	o[-1].is_saved = o->is_saved = !is_forward;
	t->save = is_forward ? NULL : save_cross_entropy;
	trial_operand(t, "loss", PLACE(tn_cross_entropy_args, loss), saved, wide, 1, size);
	if (!is_forward)
		trial_operand(t, "dx", PLACE(tn_cross_entropy_args, dx), OUTPUT, t->dtype, 2, size);
	t->formula = is_forward ? cross_entropy_formula : cross_entropy_gradient_formula;
	snprintf(t->text, sizeof(t->text), "%lld x %lld, ignored %d", (long long)size[0],
		 (long long)size[1], a->ignore_label);
}

/* ---- Attention -------------------------------------------------------------------------------*/

/* Settings: the number of matrices, and the lengths of the header. */
enum { A_BATCH, A_L, A_S, A_E, A_F };
/* Operands: the mask is the last one, if there is one. */
enum { Q, K, V, Y, A_MAXIMUM, A_LOG_SUM, DY, DQ, DK, DV };

/* Score of query row `at` and key j, and the error of its exponential. */
static double score(const struct trial *t, int64_t at, int64_t j, double *error)
{
	const struct tn_attention_args *a = &t->args.attention;
	const int64_t *l = t->setting, key = at / l[A_L] * l[A_S] + j;
	struct sum sum = {.is_scaled = 1};
	*error = 0;
	if (a->causal && j > at % l[A_L])
		return -INFINITY;
	for (int64_t e = 0; e < l[A_E]; e++)
		sum_add(&sum, (long double)a->scale * t->operand[Q].x[at * l[A_E] + e] *
				      t->operand[K].x[key * l[A_E] + e]);
	if (a->has_mask)
		sum_add(&sum, t->operand[t->n - 1].x[at * l[A_S] + j]);
	*error = sum_error(t, &sum);
	return (double)sum.value;
}

/* The scores of a row; `error` is the relative one of its exponentials, INFINITY if they are
 * left open. */
struct row {
	double scores[64], maximum, log_sum, error;
};

static void read_row(const struct trial *t, int64_t at, struct row *row)
{
	const int64_t n = t->setting[A_S];
	double errors[64], sum = 0;
	row->error = ((double)n + 12) * trial_epsilon(t);
	for (int64_t j = 0; j < n; j++)
		row->scores[j] = score(t, at, j, &errors[j]);
	row->maximum = largest(row->scores, n, 1);
	for (int64_t j = 0; j < n; j++) {
		double below = row->scores[j] - row->maximum;
		sum += exp(below);
		if (!(below < -1000)) /* else it is 0 whatever the error */
			row->error =
				fmax(row->error, 2 * errors[j] + ((double)n + 12 + fabs(below)) *
									 trial_epsilon(t));
		else if (isinf(errors[j]))
			row->error = INFINITY;
	}
	row->log_sum = log(n > 0 ? sum : 1);
}

static int is_open(const struct row *row)
{
	return !isnan(row->log_sum) && !(row->error < 0.1);
}

static void attention_formula(struct trial *t)
{
	const int64_t *l = t->setting;
	struct trial_operand *y = &t->operand[Y];
	for (int i = Y; i <= A_LOG_SUM; i++)
		trial_expect(&t->operand[i]);
	for (int64_t at = 0; at < l[A_BATCH] * l[A_L]; at++) {
		struct row row;
		read_row(t, at, &row);
		t->operand[A_MAXIMUM].expected[at] = row.maximum;
		t->operand[A_MAXIMUM].tolerance[at] =
			isnan(row.log_sum) || is_open(&row) ? INFINITY : row.error;
		t->operand[A_LOG_SUM].expected[at] = row.log_sum;
		t->operand[A_LOG_SUM].tolerance[at] =
			is_open(&row) ? INFINITY : row.error * (1 + fabs(row.log_sum));
		for (int64_t f = 0; f < l[A_F]; f++) {
			struct sum sum = {.n = 0};
			int is_masked = 0; /* 0 times what is not finite: may be left out */
			for (int64_t j = 0; j < l[A_S]; j++) {
				double p = exp((row.scores[j] - row.maximum) - row.log_sum);
				double v = t->operand[V].x[(at / l[A_L] * l[A_S] + j) * l[A_F] + f];
				is_masked |= p < 1e-30 && !isfinite(v);
				sum_add(&sum, p * v);
			}
			y->expected[at * l[A_F] + f] = (double)sum.value;
			y->tolerance[at * l[A_F] + f] =
				isnan(row.log_sum) ? 0
				: is_masked || is_open(&row)
					? INFINITY
					: sum_error(t, &sum) +
						  exponential_error(row.error,
								    (double)sum.magnitude);
			if (isnan(row.log_sum))
				y->expected[at * l[A_F] + f] = NAN;
		}
	}
}

/* Adds a term, whose magnitude without cancellation is `size`; one that an implementation may leave
 * out because its weight is 0 makes the sum open if it is not finite. */
static void add_gradient(struct sum *s, double term, double size, int is_masked)
{
	if (is_masked && !isfinite(term)) {
		s->is_mixed = 3;
		s->magnitude = INFINITY;
		return;
	}
	sum_add(s, term);
	if (isfinite(size))
		s->magnitude += size;
}

/* Do finite numbers of a row and a key, or what is made of them, overflow on the way? */
static int is_huge(const struct trial *t, int64_t at, int64_t key, double size)
{
	const int64_t *l = t->setting;
	double most = 1;
	for (int64_t e = 0; e < l[A_E]; e++)
		most = fmax(most, fmax(fabs(t->operand[Q].x[at * l[A_E] + e]),
				       fabs(t->operand[K].x[key * l[A_E] + e])));
	for (int64_t f = 0; f < l[A_F]; f++)
		most = fmax(most, fmax(fabs(t->operand[DY].x[at * l[A_F] + f]),
				       fabs(t->operand[V].x[key * l[A_F] + f])));
	return isfinite(most) &&
	       most * (most + (double)l[A_F] * (size + 1)) > trial_largest(t) / 64;
}

/* Adds what row `at` and key j give to the gradients, whose exponentials have relative errors of
 * `worst` at most. */
static void add_gradients(const struct trial *t, int64_t at, int64_t j, struct sum *const *to,
			  double *worst)
{
	const struct tn_attention_args *a = &t->args.attention;
	const int64_t *l = t->setting, key = at / l[A_L] * l[A_S] + j;
	double error, s = score(t, at, j, &error);
	const double below = s - t->operand[A_MAXIMUM].x[at], log_sum = t->operand[A_LOG_SUM].x[at];
	const double p = exp(below - log_sum);
	const int is_masked = (a->causal && j > at % l[A_L]) || p < 1e-30;
	double ds = 0, size = 0;
	if (!is_masked)
		*worst = fmax(*worst,
			      2 * error + (fabs(below) + fabs(log_sum) + 12 + (double)l[A_F]) *
						  trial_epsilon(t));
	for (int64_t f = 0; f < l[A_F]; f++) {
		double dy = t->operand[DY].x[at * l[A_F] + f];
		double v = t->operand[V].x[key * l[A_F] + f], y = t->operand[Y].x[at * l[A_F] + f];
		ds += p * (dy * (v - y));
		size += fabs(p * dy) * (fabs(v) + fabs(y));
		add_gradient(&to[2][key * l[A_F] + f], p * dy,
			     is_masked ? fabs(p * dy) / trial_epsilon(t) : 0, is_masked);
	}
	if (isfinite(*worst) && is_huge(t, at, key, size))
		*worst = INFINITY;
	if (is_masked) /* an exponential of a large number: anything as small */
		size /= trial_epsilon(t);
	for (int64_t e = 0; e < l[A_E]; e++) {
		double q = t->operand[Q].x[at * l[A_E] + e], k = t->operand[K].x[key * l[A_E] + e];
		add_gradient(&to[0][at * l[A_E] + e], a->scale * ds * k, fabs(a->scale * k) * size,
			     is_masked);
		add_gradient(&to[1][key * l[A_E] + e], a->scale * ds * q, fabs(a->scale * q) * size,
			     is_masked);
	}
}

static void attention_gradient_formula(struct trial *t)
{
	const int64_t *l = t->setting;
	struct sum *sums[3];
	double worst = 0;
	for (int i = 0; i < 3; i++) {
		trial_expect(&t->operand[DQ + i]);
		sums[i] = (struct sum *)calloc(t->operand[DQ + i].array.count, sizeof(**sums));
		if (!sums[i])
			kit_give_up(t->kit, "the kit is out of memory");
	}
	for (int64_t at = 0; at < l[A_BATCH] * l[A_L]; at++)
		for (int64_t j = 0; j < l[A_S]; j++)
			add_gradients(t, at, j, sums, &worst);
	for (int i = 0; i < 3; i++) {
		struct trial_operand *o = &t->operand[DQ + i];
		for (uint64_t e = 0; e < o->array.count; e++) {
			if (t->accumulates)
				sum_add(&sums[i][e], o->x[e]);
			o->expected[e] = (double)sums[i][e].value;
			o->tolerance[e] =
				worst < 0.1 ? sum_error(t, &sums[i][e]) +
						      exponential_error(
							      worst, (double)sums[i][e].magnitude)
					    : INFINITY;
			trial_settle(o, e, 0);
		}
		free(sums[i]);
	}
}

static void save_attention(struct trial *t)
{
	const int64_t *l = t->setting;
	for (int64_t at = 0; at < l[A_BATCH] * l[A_L]; at++) {
		struct row row;
		read_row(t, at, &row);
		array_set_number(&t->operand[A_MAXIMUM].array, (uint64_t)at, row.maximum);
		array_set_number(&t->operand[A_LOG_SUM].array, (uint64_t)at, row.log_sum);
		for (int64_t f = 0; f < l[A_F]; f++) {
			double y = 0;
			for (int64_t j = 0; j < l[A_S]; j++)
				y += exp((row.scores[j] - row.maximum) - row.log_sum) *
				     t->operand[V].x[(at / l[A_L] * l[A_S] + j) * l[A_F] + f];
			array_set_number(&t->operand[Y].array, (uint64_t)(at * l[A_F] + f), y);
		}
	}
}

static void plan_attention(struct trial *t)
{
	struct tn_attention_args *a = &t->args.attention;
	const int is_forward = t->slot == TN_SLOT_ATTENTION_FORWARD;
	const tn_dtype wide = t->dtype == TN_F64 ? TN_F64 : TN_F32;
	const enum role saved = is_forward ? OUTPUT : INPUT;
	const uint32_t n_batch = (uint32_t)(kit_random(t->kit) % 4);
	int64_t *l = t->setting, shape[DV + 2][6];
	for (int i = A_L; i <= A_F; i++)
		l[i] = trial_length(t, 7);
	const int64_t ends[DV + 2][2] = {{l[A_L], l[A_E]}, {l[A_S], l[A_E]}, {l[A_S], l[A_F]},
					 {l[A_L], l[A_F]}, {l[A_L], 0},      {l[A_L], 0},
					 {l[A_L], l[A_F]}, {l[A_L], l[A_E]}, {l[A_S], l[A_E]},
					 {l[A_S], l[A_F]}, {l[A_L], l[A_S]}};
	static const char *const names[] = {"q",  "k",  "v",  "y",  "maximum", "log_sum",
					    "dy", "dq", "dk", "dv", "mask"};
	static const size_t places[] = {
		PLACE(tn_attention_args, q),       PLACE(tn_attention_args, k),
		PLACE(tn_attention_args, v),       PLACE(tn_attention_args, y),
		PLACE(tn_attention_args, maximum), PLACE(tn_attention_args, log_sum),
		PLACE(tn_attention_args, dy),      PLACE(tn_attention_args, dq),
		PLACE(tn_attention_args, dk),      PLACE(tn_attention_args, dv),
		PLACE(tn_attention_args, mask)};
	l[A_BATCH] = 1;
	for (uint32_t axis = 0; axis < n_batch; axis++) {
		shape[0][axis] = trial_length(t, 3);
		l[A_BATCH] *= shape[0][axis];
	}
	a->has_mask = (uint32_t)(kit_random(t->kit) % 2);
	a->causal = kit_random(t->kit) % 3 == 0;
	a->scale = 0.5;
	a->wants = is_forward ? 0 : 7;
	for (int i = 0; i < DV + 2; i++) {
		const int is_saved = i >= Y && i <= A_LOG_SUM;
		if ((is_forward && i >= DY && i <= DV) || (i > DV && !a->has_mask))
			continue;
		memcpy(shape[i], shape[0], n_batch * sizeof(**shape));
		memcpy(shape[i] + n_batch, ends[i], sizeof(ends[i]));
		struct trial_operand *o =
			trial_operand(t, names[i], places[i],
				      is_saved             ? saved
				      : i >= DQ && i <= DV ? OUTPUT
							   : INPUT,
				      i == A_MAXIMUM || i == A_LOG_SUM ? wide : t->dtype,
				      n_batch + (ends[i][1] ? 2 : 1), shape[i]);
		o->is_saved = is_saved && !is_forward;
		if (i == A_MAXIMUM || i == A_LOG_SUM) {
			o->low = 0;
			o->high = 3;
		}
	}
	t->save = is_forward ? NULL : save_attention;
	t->formula = is_forward ? attention_formula : attention_gradient_formula;
	snprintf(t->text, sizeof(t->text), "batch %lld, %lld x %lld, %lld, %lld%s%s",
		 (long long)l[A_BATCH], (long long)l[A_L], (long long)l[A_S], (long long)l[A_E],
		 (long long)l[A_F], a->has_mask ? ", mask" : "", a->causal ? ", causal" : "");
}

const struct trial_slot layer_slots[] = {
	{TN_SLOT_CONV2D_FORWARD, "conv2d", 3, TN_FAMILY_CONV, 0, 1, 5, plan_conv2d},
	{TN_SLOT_CONV2D_INPUT_GRADIENT, "conv2d", 4, TN_FAMILY_CONV, 1, 1, 3, plan_conv2d},
	{TN_SLOT_CONV2D_WEIGHT_GRADIENT, "conv2d", 4, TN_FAMILY_CONV, 1, 1, 3, plan_conv2d},
	{TN_SLOT_POOL2D_FORWARD, "pool2d", 3, TN_FAMILY_POOL, 0, 1, 3, plan_pool2d},
	{TN_SLOT_POOL2D_BACKWARD, "pool2d", 4, TN_FAMILY_POOL, 1, 1, 3, plan_pool2d},
	{TN_SLOT_SOFTMAX_FORWARD, "softmax", 3, TN_FAMILY_SOFTMAX, 0, 1, 2, plan_softmax},
	{TN_SLOT_SOFTMAX_BACKWARD, "softmax", 4, TN_FAMILY_SOFTMAX, 1, 1, 3, plan_softmax},
	{TN_SLOT_CROSS_ENTROPY_FORWARD, "cross_entropy", 3, TN_FAMILY_SOFTMAX, 0, 1, 5,
	 plan_cross_entropy},
	{TN_SLOT_CROSS_ENTROPY_BACKWARD, "cross_entropy", 4, TN_FAMILY_SOFTMAX, 1, 1, 6,
	 plan_cross_entropy},
	{TN_SLOT_ATTENTION_FORWARD, "attention", 3, TN_FAMILY_SOFTMAX, 0, 1, 7, plan_attention},
	{TN_SLOT_ATTENTION_BACKWARD, "attention", 4, TN_FAMILY_SOFTMAX, 1, 1, 11, plan_attention},
	{0, NULL, 0, 0, 0, 0, 0, NULL},
};
