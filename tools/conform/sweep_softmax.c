/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Softmax and its logarithm of any size, along the last axis, a middle one and the first.  The
 * oracle is the formula of the header for every line; softmax.c compares the gradients' formula
 * with differences.
 */
#include "sweep_layers.h"

#include <float.h>

/* x = (outer, length, inner) */
enum axis { OUTER, LENGTH, INNER, AXES };

static uint64_t bytes(tn_dtype dtype, const int64_t *l)
{
	return layer_bytes(dtype, AXES, l);
}

static double work(const int64_t *l)
{
	return 2 * LAYER_VISIT * (double)(l[OUTER] * l[LENGTH] * l[INNER]);
}

/* ---- The oracle ------------------------------------------------------------------------------*/

struct problem {
	int64_t n, inner, count;
	uint32_t logarithm;
	double epsilon;
};

/* The first element of line number i. */
static int64_t line_of(const struct problem *t, int64_t i)
{
	return i / t->inner * t->n * t->inner + i % t->inner;
}

/* Subnormal results may be flushed to 0. */
static void forward_line(const struct problem *t, const double *x, double *y, double *tolerance)
{
	const int64_t end = t->n * t->inner;
	double largest = -INFINITY, least = INFINITY, sum = 0;
	for (int64_t i = 0; i < end; i += t->inner) {
		largest = fmax(largest, x[i]);
		least = fmin(least, x[i]);
	}
	for (int64_t i = 0; i < end; i += t->inner)
		sum += y[i] = exp(x[i] - largest);
	double error = (layer_positive_terms((double)t->n) + (largest - least) + 12) * t->epsilon;
	double logarithm = log(end > 0 ? sum : 1);
	for (int64_t i = 0; i < end; i += t->inner) {
		y[i] = t->logarithm ? x[i] - largest - logarithm : y[i] / sum;
		tolerance[i] = t->logarithm ? error * (1 + fabs(y[i])) : error * y[i] + FLT_MIN;
	}
}

/* dx += y (dy - sum y dy), or dy - exp(y) sum dy */
static void backward_line(const struct problem *t, const double *y, const double *dy, double *dx,
			  double *tolerance)
{
	const int64_t end = t->n * t->inner;
	const double error = (layer_terms((double)t->n) + 16) * t->epsilon;
	double sum = 0, magnitude = 0;
	for (int64_t i = 0; i < end; i += t->inner) {
		double term = t->logarithm ? dy[i] : y[i] * dy[i];
		sum += term;
		magnitude += fabs(term);
	}
	for (int64_t i = 0; i < end; i += t->inner) {
		double factor = t->logarithm ? exp(y[i]) : y[i];
		tolerance[i] = error * (factor * magnitude * (1 + (t->logarithm ? fabs(y[i]) : 0)) +
					(t->logarithm ? 1 : factor) * fabs(dy[i]) + fabs(dx[i])) +
			       FLT_MIN;
		dx[i] += t->logarithm ? dy[i] - factor * sum : factor * (dy[i] - sum);
	}
}

/* ---- Calls -----------------------------------------------------------------------------------*/

static enum layout layout_of(struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
			     const int64_t *lengths)
{
	static const enum layout layouts[] = {COMPACT, COMPACT, SHIFTED, REVERSED, CHANNELS_LAST};
	return layouts[sweep_turn(kit, sweep, dtype, lengths, 0, 5)];
}

/* Makes operands of one shape: rank 2 along the first or last axis, and 3 else. */
static void make(struct kit *kit, const struct sweep *sweep, tn_dtype dtype, const int64_t *l,
		 enum layout layout, size_t n, struct array *data, struct tn_softmax_args *args)
{
	const uint32_t first = l[OUTER] == 1, rank = 3 - first - (l[INNER] == 1 && !first);
	sweep_case(kit, sweep, dtype, l, "%s", layout_names[layout]);
	for (size_t i = 0; i < n; i++)
		array_make(kit, &data[i], i + 1 == n ? OUTPUT : INPUT, dtype, rank, l + first,
			   layout);
	*args = (struct tn_softmax_args){.call = CALL(struct tn_softmax_args),
					 .axis = 1 - first,
					 .logarithm = strstr(sweep->name, "log") != NULL};
}

static struct problem problem_of(const struct array *x, const struct tn_softmax_args *args,
				 const int64_t *l)
{
	return (struct problem){.n = l[LENGTH],
				.inner = l[INNER],
				.count = l[OUTER] * l[INNER],
				.logarithm = args->logarithm,
				.epsilon = kit_epsilon(x->operand.dtype)};
}

static void forward(struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
		    const int64_t *lengths)
{
	struct array data[2], *all[2] = {&data[0], &data[1]};
	struct tn_softmax_args args;
	make(kit, sweep, dtype, lengths, layout_of(kit, sweep, dtype, lengths), 2, data, &args);
	const struct problem t = problem_of(&data[0], &args, lengths);
	const double range = kit_random(kit) % 2 ? 3 : 30;
	double *x = layer_fill(&data[0], -range, range), *y = numbers(data[1].count);
	double *tolerance = numbers(data[1].count);
	args.x = data[0].operand;
	args.y = data[1].operand;
	if (!kit_run(kit, &args, all, 2)) {
		for (int64_t i = 0; i < t.count; i++)
			forward_line(&t, x + line_of(&t, i), y + line_of(&t, i),
				     tolerance + line_of(&t, i));
		array_narrow(&data[1], y, tolerance);
		layer_compare(&data[1], y, tolerance);
	}
	layer_repeat(kit, sweep, dtype, lengths, &args, all, 2);
	free(x);
	free(y);
	free(tolerance);
	array_free(&data[0]);
	array_free(&data[1]);
}

/* y as a forward saves it. */
static double *saved(const struct problem *t, struct array *y)
{
	double *x = numbers(y->count), *value = numbers(y->count), *unused = numbers(y->count);
	for (uint64_t i = 0; i < y->count; i++)
		x[i] = kit_uniform(y->kit, -2, 2);
	for (int64_t i = 0; i < t->count; i++)
		forward_line(t, x + line_of(t, i), value + line_of(t, i), unused);
	sweep_store(y, value);
	sweep_load(y, value);
	free(x);
	free(unused);
	return value;
}

static void compare_backward(const struct problem *t, const struct array *dx, const double *y,
			     const double *dy, const double *old)
{
	double *expected = numbers(dx->count), *tolerance = numbers(dx->count);
	if (old)
		memcpy(expected, old, dx->count * sizeof(*old));
	for (int64_t i = 0; i < t->count; i++) {
		int64_t line = line_of(t, i);
		backward_line(t, y + line, dy + line, expected + line, tolerance + line);
	}
	array_narrow(dx, expected, tolerance);
	layer_compare(dx, expected, tolerance);
	free(expected);
	free(tolerance);
}

static void backward(struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
		     const int64_t *lengths)
{
	struct array data[3], *all[3] = {&data[0], &data[1], &data[2]};
	struct tn_softmax_args args;
	make(kit, sweep, dtype, lengths, layout_of(kit, sweep, dtype, lengths), 3, data, &args);
	const struct problem t = problem_of(&data[0], &args, lengths);
	double *y = saved(&t, &data[0]), *dy = layer_fill(&data[1], -1, 1);
	double *old = layer_fill(&data[2], -1, 1);
	args.y = data[0].operand;
	args.dy = data[1].operand;
	args.dx = data[2].operand;
	for (int accumulates = 1; accumulates >= 0 && !kit->case_failed; accumulates--) {
		args.call.flags = accumulates ? TN_ACCUMULATE : 0;
		if (!kit_run(kit, &args, all, 3))
			compare_backward(&t, &data[2], y, dy, accumulates ? old : NULL);
	}
	layer_repeat(kit, sweep, dtype, lengths, &args, all, 3);
	free(y);
	free(dy);
	free(old);
	for (int i = 0; i < 3; i++)
		array_free(&data[i]);
}

/* ---- The sweeps ------------------------------------------------------------------------------*/

static int claims(const struct kit *kit, tn_dtype dtype)
{
	const struct tn_operand one = layer_operand(dtype, 1);
	struct tn_softmax_args args = {
		.call = CALL(struct tn_softmax_args), .x = one, .y = one, .dy = one, .dx = one};
	return layer_claims(kit, dtype, kit->slot, &args);
}

static void sweeps(struct kit *kit, int slot)
{
	static const struct {
		const char *name;
		struct sweep_axis axes[AXES];
	} forms[] = {
		{"softmax, last axis", {{"lines", 2, 0}, {"length", 3, 0}, {"inner", 1, 1}}},
		{"log_softmax, last axis", {{"lines", 2, 0}, {"length", 3, 0}, {"inner", 1, 1}}},
		{"softmax, middle axis", {{"outer", 2, 0}, {"length", 3, 0}, {"inner", 2, 0}}},
		{"log_softmax, middle axis", {{"outer", 2, 0}, {"length", 3, 0}, {"inner", 2, 0}}},
		{"softmax, first axis", {{"outer", 1, 1}, {"length", 3, 0}, {"lines", 2, 0}}},
		{"log_softmax, first axis", {{"outer", 1, 1}, {"length", 3, 0}, {"lines", 2, 0}}},
	};
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct sweep sweep = {.slot = slot,
				      .name = forms[i].name,
				      .n_axes = AXES,
				      .claims = claims,
				      .bytes = bytes,
				      .work = work,
				      .run = slot == TN_SLOT_SOFTMAX_FORWARD ? forward : backward};
		memcpy(sweep.axes, forms[i].axes, sizeof(forms[i].axes));
		kit_case(kit, slot, "%s", sweep.name);
		sweep_axes(kit, &sweep);
	}
}

void check_sizes_softmax_forward(struct kit *kit)
{
	sweeps(kit, TN_SLOT_SOFTMAX_FORWARD);
}

void check_sizes_softmax_backward(struct kit *kit)
{
	sweeps(kit, TN_SLOT_SOFTMAX_BACKWARD);
}
