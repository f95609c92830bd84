/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Softmax along every axis: the forward against its definition, the backward against central
 * differences.
 */
#include "conform.h"

#include <float.h>

#include "base/dtype.h"

static const struct shape cases[] = {
	{1, {1}},      {1, {10}},      {2, {5, 7}},       {2, {2, 37}},
	{2, {3, 200}}, {3, {2, 3, 4}}, {4, {2, 3, 2, 5}},
};
enum { N_CASES = sizeof(cases) / sizeof(cases[0]), MOST_DIFFERENCES = 100 };

struct line {
	const struct shape *shape;
	uint32_t axis;
	uint32_t logarithm;
};

/* Lines as (outer, n, inner). */
static void forward(const void *setting, const double *x, double *y)
{
	const struct line *l = setting;
	int64_t n = l->shape->lengths[l->axis], inner = 1;
	int64_t count = (int64_t)shape_count(l->shape->rank, l->shape->lengths);
	for (uint32_t axis = l->axis + 1; axis < l->shape->rank; axis++)
		inner *= l->shape->lengths[axis];
	for (int64_t i = 0; i < count; i++) {
		int64_t start = i - i / inner % n * inner;
		double largest = -INFINITY, sum = 0;
		for (int64_t j = 0; j < n; j++)
			largest = fmax(largest, x[start + j * inner]);
		for (int64_t j = 0; j < n; j++)
			sum += exp(x[start + j * inner] - largest);
		y[i] = l->logarithm ? x[i] - largest - log(sum) : exp(x[i] - largest) / sum;
	}
}

/* exp(d) of a distance d, itself rounded, is off by (|d| + 4) epsilon of itself; a sum of n of them
 * by n epsilon more; the logarithm is off by the same amount absolutely. */
static double relative_error(const struct line *l, tn_dtype dtype, double range)
{
	return ((double)l->shape->lengths[l->axis] + range + 12) * kit_epsilon(dtype);
}

static void runs_forward(struct kit *kit, tn_dtype dtype, const struct line *l, unsigned layout,
			 double range)
{
	struct array x, y, *all[2] = {&x, &y};
	kit_case(kit, TN_SLOT_SOFTMAX_FORWARD, "%ssoftmax forward: %s, rank %u, axis %u, %s, +-%g",
		 l->logarithm ? "log " : "", tn_dtype_name(dtype), l->shape->rank, l->axis,
		 layout_names[layout], range);
	array_make(kit, &x, INPUT, dtype, l->shape->rank, l->shape->lengths, (enum layout)layout);
	array_make(kit, &y, OUTPUT, dtype, l->shape->rank, l->shape->lengths,
		   (enum layout)((layout + 1) % OUTPUT_LAYOUTS));
	array_randomise(&x, -range, range);
	struct tn_softmax_args args = {.call = CALL(struct tn_softmax_args),
				       .x = x.operand,
				       .y = y.operand,
				       .axis = l->axis,
				       .logarithm = l->logarithm};
	if (!kit_run(kit, &args, all, 2)) {
		double *host = array_numbers(&x), *expected = numbers(x.count);
		double *tolerance = numbers(x.count), error = relative_error(l, dtype, 2 * range);
		forward(l, host, expected);
		/* Subnormal results may be flushed to 0. */
		for (uint64_t i = 0; i < x.count; i++)
			tolerance[i] = l->logarithm ? error * (1 + fabs(expected[i]))
						    : error * expected[i] + FLT_MIN;
		array_narrow(&y, expected, tolerance);
		array_compare(&y, expected, tolerance);
		free(host);
		free(expected);
		free(tolerance);
	}
	array_free(&x);
	array_free(&y);
}

/* The effect of y's own rounding on the gradient, in units of that rounding, for |dy| <= 1:
 *     y (dy - sum y dy): y is off by y, times at most 2, and the sum by at most 1, times y;
 *     dy - exp(y) sum dy: exp(y) is off by exp(y) |y| and a little, times at most n. */
static double stored_error(const struct line *l, double y)
{
	double length = (double)l->shape->lengths[l->axis];
	return l->logarithm ? 1.1 * length * exp(y) * fabs(y) : 3 * y;
}

static void runs_backward(struct kit *kit, tn_dtype dtype, const struct line *l, unsigned layout)
{
	struct array y, dy, dx, *all[3] = {&y, &dy, &dx};
	uint64_t n;
	int accumulate = layout % 2;
	kit_case(kit, TN_SLOT_SOFTMAX_BACKWARD, "%ssoftmax backward: %s, rank %u, axis %u, %s%s",
		 l->logarithm ? "log " : "", tn_dtype_name(dtype), l->shape->rank, l->axis,
		 layout_names[layout], accumulate ? ", accumulated" : "");
	array_make(kit, &y, INPUT, dtype, l->shape->rank, l->shape->lengths,
		   (enum layout)(layout % OUTPUT_LAYOUTS));
	array_make(kit, &dy, INPUT, dtype, l->shape->rank, l->shape->lengths, (enum layout)layout);
	array_make(kit, &dx, OUTPUT, dtype, l->shape->rank, l->shape->lengths,
		   (enum layout)((layout + 2) % OUTPUT_LAYOUTS));
	array_randomise(&dy, -1, 1);
	array_randomise(&dx, -1, 1);
	n = y.count;
	double *x = numbers(n), *value = numbers(n), *expected = numbers(n),
	       *tolerance = numbers(n);
	double *begin = accumulate ? array_numbers(&dx) : numbers(n),
	       *upstream = array_numbers(&dy);
	for (uint64_t i = 0; i < n; i++)
		x[i] = kit_uniform(kit, -2, 2);
	forward(l, x, value);
	for (uint64_t i = 0; i < n; i++)
		array_set_number(&y, i, value[i]);
	struct tn_softmax_args args = {
		.call = {.struct_size = sizeof(args), .flags = accumulate ? TN_ACCUMULATE : 0},
		.y = y.operand,
		.dy = dy.operand,
		.dx = dx.operand,
		.axis = l->axis,
		.logarithm = l->logarithm};
	if (!kit_run(kit, &args, all, 3)) {
		double own = tn_is_narrow(dtype) ? tn_half_unit(dtype) : 0;
		/* h = 1e-4: the differences are off by about h^2 = 1e-8 and 1e-16 / h, times the
		 * length of a line; the kernel by its sum of n terms of at most 1, and by y's own
		 * rounding, which exp makes relative (|log y| < 10 here). */
		double length = (double)l->shape->lengths[l->axis];
		differences(forward, l, x, n, upstream, n, 1e-4, expected);
		for (uint64_t i = 0; i < n; i++) {
			expected[i] += begin[i];
			tolerance[i] = (length * length + 16 * length) * kit_epsilon(dtype) +
				       length * 2e-8 + own * stored_error(l, value[i]);
		}
		array_narrow(&dx, expected, tolerance);
		array_compare(&dx, expected, tolerance);
	}
	free(x);
	free(value);
	free(expected);
	free(tolerance);
	free(begin);
	free(upstream);
	for (int i = 0; i < 3; i++)
		array_free(all[i]);
}

/* Calls `run` for both forms, every shape, axis, dtype and layout. */
static void for_each_line(struct kit *kit, enum tn_slot slot,
			  void (*run)(struct kit *kit, tn_dtype dtype, const struct line *l,
				      unsigned layout))
{
	for (int i = 0; i < LAYER_DTYPES * N_CASES * 2; i++) {
		struct line l = {.shape = &cases[i / LAYER_DTYPES % N_CASES],
				 .logarithm = (uint32_t)(i / LAYER_DTYPES / N_CASES)};
		tn_dtype dtype = layer_dtypes[i % LAYER_DTYPES];
		if (!tn_backend_has(kit->backend, slot))
			continue;
		for (l.axis = 0; l.axis < l.shape->rank; l.axis++)
			for (unsigned layout = 0; layout < LAYOUTS; layout++)
				if (kit_is_tried(kit, dtype, layout))
					run(kit, dtype, &l, layout);
	}
}

static void forward_of(struct kit *kit, tn_dtype dtype, const struct line *l, unsigned layout)
{
	runs_forward(kit, dtype, l, layout, 3);
	runs_forward(kit, dtype, l, layout, 1000);
}

static void backward_of(struct kit *kit, tn_dtype dtype, const struct line *l, unsigned layout)
{
	if (shape_count(l->shape->rank, l->shape->lengths) <= MOST_DIFFERENCES)
		runs_backward(kit, dtype, l, layout);
}

void check_softmax_forward(struct kit *kit)
{
	if (!tn_backend_has(kit->backend, TN_SLOT_SOFTMAX_FORWARD))
		return kit_skip(kit, "the slot is empty");
	for_each_line(kit, TN_SLOT_SOFTMAX_FORWARD, forward_of);
}

void check_softmax_backward(struct kit *kit)
{
	if (!tn_backend_has(kit->backend, TN_SLOT_SOFTMAX_BACKWARD))
		return kit_skip(kit, "the slot is empty");
	for_each_line(kit, TN_SLOT_SOFTMAX_BACKWARD, backward_of);
}
