/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Batch, layer and group norm of any size.  The oracle is the formula of the header for every
 * element; norm.c compares the gradients' formulas with differences.
 */
#include "sweep_layers.h"

/* x = (outer, groups channels, inner); only group norm has groups. */
enum axis { OUTER, GROUPS, CHANNELS, INNER, AXES };

enum kind { BATCH, LAYER, GROUP };

struct problem {
	enum kind kind;
	int64_t outer, groups, channels, inner; /* channels of all groups */
	int64_t n_statistics, n_averaged;
};

static enum kind kind_of(int slot)
{
	switch (slot) {
	case TN_SLOT_BATCH_NORM_FORWARD:
	case TN_SLOT_BATCH_NORM_BACKWARD:
		return BATCH;
	case TN_SLOT_LAYER_NORM_FORWARD:
	case TN_SLOT_LAYER_NORM_BACKWARD:
		return LAYER;
	default:
		return GROUP;
	}
}

static struct problem problem_of(int slot, const int64_t *l)
{
	struct problem t = {.kind = kind_of(slot),
			    .outer = l[OUTER],
			    .groups = l[GROUPS],
			    .channels = l[GROUPS] * l[CHANNELS],
			    .inner = l[INNER]};
	t.n_statistics = t.kind == BATCH   ? t.channels
			 : t.kind == LAYER ? t.outer
					   : t.outer * t.groups;
	t.n_averaged = t.outer * t.channels * t.inner / t.n_statistics;
	return t;
}

static uint64_t bytes(tn_dtype dtype, const int64_t *l)
{
	return layer_bytes(dtype, AXES, l);
}

static double work(const int64_t *l)
{
	return LAYER_VISIT * (double)(l[OUTER] * l[GROUPS] * l[CHANNELS] * l[INNER]);
}

/* ---- The oracle ------------------------------------------------------------------------------*/

/* The statistics of row (n, c), which has `inner` elements. */
static int64_t statistic_of(const struct problem *t, int64_t row)
{
	const int64_t n = row / t->channels, c = row % t->channels;
	if (t->kind == BATCH)
		return c;
	return t->kind == LAYER ? n : n * t->groups + c / (t->channels / t->groups);
}

static void statistics(const struct problem *t, double epsilon, const double *x, double *mean,
		       double *rstd)
{
	const int64_t n_rows = t->outer * t->channels;
	memset(mean, 0, (size_t)t->n_statistics * sizeof(*mean));
	memset(rstd, 0, (size_t)t->n_statistics * sizeof(*rstd));
	for (int64_t i = 0; i < n_rows * t->inner; i++)
		mean[statistic_of(t, i / t->inner)] += x[i] / (double)t->n_averaged;
	for (int64_t row = 0; row < n_rows; row++) {
		const int64_t at = statistic_of(t, row);
		for (int64_t i = row * t->inner; i < (row + 1) * t->inner; i++)
			rstd[at] += (x[i] - mean[at]) * (x[i] - mean[at]) / (double)t->n_averaged;
	}
	for (int64_t i = 0; i < t->n_statistics; i++)
		rstd[i] = 1 / sqrt(rstd[i] + epsilon);
}

static double largest(const double *values, uint64_t n)
{
	double result = 0;
	for (uint64_t i = 0; i < n; i++)
		result = fmax(result, fabs(values[i]));
	return result;
}

/* ---- Calls -----------------------------------------------------------------------------------*/

enum operand { X, Y, SCALE, SHIFT, MEAN, RSTD, DX, DW, DB, RESIDUAL, RESULT, DRESIDUAL, OPERANDS };

struct trial {
	struct kit *kit;
	struct problem problem;
	double epsilon; /* of the dtype */
	struct array data[OPERANDS], *all[OPERANDS];
	double *host[OPERANDS]; /* before the first call */
	struct tn_norm_args args;
};

static int is_like_x(int operand)
{
	return operand <= Y || operand == DX || operand >= RESIDUAL;
}

/* Does a call of that half use the operand? */
static int is_used(int operand, int is_forward)
{
	return is_forward ? operand < DX || operand == RESIDUAL : operand != RESIDUAL;
}

static void make(struct trial *t, int operand, tn_dtype dtype, enum layout layout)
{
	const struct problem *p = &t->problem;
	const int64_t x[3] = {p->outer, p->channels, p->inner};
	const int is_statistic = operand == MEAN || operand == RSTD;
	struct array *array = &t->data[operand];
	if (is_like_x(operand))
		array_make(t->kit, array, INPUT, dtype, p->inner > 1 ? 3 : 2, x, layout);
	else
		array_make(t->kit, array, INPUT, is_statistic && dtype != TN_F64 ? TN_F32 : dtype,
			   1, is_statistic ? &p->n_statistics : &p->channels, COMPACT);
	if (operand == RSTD)
		t->host[operand] = layer_fill(array, 0.5, 2);
	else if (operand == RESULT)
		t->host[operand] = layer_fill(array, -3, 9);
	else
		t->host[operand] = layer_fill(array, -1, 1);
	t->all[operand] = array;
}

static void set_roles(struct trial *t, const int *outputs)
{
	for (int i = 0; i < OPERANDS; i++)
		t->data[i].role = INPUT;
	for (; *outputs >= 0; outputs++)
		t->data[*outputs].role = OUTPUT;
}

static void begin(struct kit *kit, struct trial *t, const struct sweep *sweep, tn_dtype dtype,
		  const int64_t *lengths, int is_forward)
{
	static const enum layout layouts[] = {COMPACT, CHANNELS_LAST, SHIFTED};
	const enum layout layout = layouts[sweep_turn(kit, sweep, dtype, lengths, 0, 3)];
	*t = (struct trial){.kit = kit,
			    .problem = problem_of(sweep->slot, lengths),
			    .epsilon = kit_epsilon(dtype)};
	sweep_case(kit, sweep, dtype, lengths, "%s", layout_names[layout]);
	struct tn_operand *const operands[OPERANDS] = {
		&t->args.x,    &t->args.y,        &t->args.w,      &t->args.b,
		&t->args.mean, &t->args.rstd,     &t->args.dx,     &t->args.dw,
		&t->args.db,   &t->args.residual, &t->args.result, &t->args.dresidual};
	t->args = (struct tn_norm_args){
		.call = CALL(struct tn_norm_args),
		.has_affine = 1,
		.groups = t->problem.kind == GROUP ? (uint32_t)t->problem.groups : 0,
		.epsilon = 1e-5};
	for (int i = 0; i < OPERANDS; i++) {
		if (!is_used(i, is_forward))
			continue;
		make(t, i, dtype, layout);
		*operands[i] = t->data[i].operand;
	}
}

static void end(struct trial *t)
{
	for (int i = 0; i < OPERANDS; i++) {
		free(t->host[i]);
		if (t->all[i])
			array_free(&t->data[i]);
	}
}

/* The operands that the call has. */
static size_t present(const struct trial *t, struct array *there[OPERANDS])
{
	size_t n = 0;
	for (int i = 0; i < OPERANDS; i++)
		if (t->all[i])
			there[n++] = t->all[i];
	return n;
}

static tn_status call(struct trial *t)
{
	struct array *there[OPERANDS];
	size_t n = present(t, there);
	return t->kit->case_failed ? TN_UNSUPPORTED : kit_run(t->kit, &t->args, there, n);
}

static void repeats(struct trial *t, const struct sweep *sweep, tn_dtype dtype,
		    const int64_t *lengths)
{
	struct array *there[OPERANDS];
	size_t n = present(t, there);
	layer_repeat(t->kit, sweep, dtype, lengths, &t->args, there, n);
}

/* ---- Forward ---------------------------------------------------------------------------------*/

static void compare_within(const struct array *array, double *expected, double *tolerance)
{
	array_narrow(array, expected, tolerance);
	layer_compare(array, expected, tolerance);
}

static double *normalised(const struct trial *t, const double *mean, const double *rstd)
{
	const struct problem *p = &t->problem;
	double *y = numbers(t->data[Y].count);
	for (int64_t row = 0; row < p->outer * p->channels; row++) {
		const int64_t at = statistic_of(p, row), c = row % p->channels;
		const double w = t->args.has_affine ? t->host[SCALE][c] : 1;
		const double b = t->args.has_affine ? t->host[SHIFT][c] : 0;
		for (int64_t i = row * p->inner; i < (row + 1) * p->inner; i++) {
			double sum = (t->host[X][i] - mean[at]) * rstd[at] * w + b;
			sum += t->args.has_residual ? t->host[RESIDUAL][i] : 0;
			y[i] = kit_activate(t->args.activation, sum);
		}
	}
	return y;
}

/* By what factor x - mean, times rstd, is off more than x; |x| is at most `largest_x`. */
static double condition_of(double largest_x, double rstd)
{
	return 1 + 2 * largest_x * rstd;
}

/* The errors of all elements that share a mean; as in norm.c, but for the allowance of many terms.
 * |w| is at most 1. */
static double *errors(const struct trial *t, const double *rstd)
{
	const double x = largest(t->host[X], t->data[X].count);
	const double error = layer_positive_terms((double)t->problem.n_averaged + 8) * t->epsilon *
			     (t->args.has_residual ? 4 : 2);
	double *all = numbers((size_t)t->problem.n_statistics);
	for (int64_t i = 0; i < t->problem.n_statistics; i++)
		all[i] = error * pow(condition_of(x, rstd[i]), 2);
	return all;
}

static void compare_y(const struct trial *t, const double *mean, const double *rstd,
		      const double *error)
{
	const int64_t inner = t->problem.inner;
	double *y = normalised(t, mean, rstd), *tolerance = numbers(t->data[Y].count);
	for (uint64_t i = 0; i < t->data[Y].count; i++)
		tolerance[i] = error[statistic_of(&t->problem, (int64_t)i / inner)];
	compare_within(&t->data[Y], y, tolerance);
	free(y);
	free(tolerance);
}

static void compare_forward(struct trial *t)
{
	const struct problem *p = &t->problem;
	double *own = numbers((size_t)(2 * p->n_statistics)), *error;
	double *mean = own, *rstd = own + p->n_statistics;
	if (t->args.use_statistics) {
		memcpy(mean, t->host[MEAN], (size_t)p->n_statistics * sizeof(*mean));
		memcpy(rstd, t->host[RSTD], (size_t)p->n_statistics * sizeof(*rstd));
	} else {
		statistics(p, t->args.epsilon, t->host[X], mean, rstd);
	}
	error = errors(t, rstd);
	compare_y(t, mean, rstd, error);
	if (!t->args.use_statistics) {
		compare_within(&t->data[MEAN], mean, error);
		for (int64_t i = 0; i < p->n_statistics; i++)
			error[i] *= rstd[i];
		compare_within(&t->data[RSTD], rstd, error);
	}
	free(error);
	free(own);
}

/* Plain, with its epilogue, and at inference. */
static void forward(struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
		    const int64_t *lengths)
{
	static const int outputs[] = {Y, MEAN, RSTD, -1}, y_alone[] = {Y, -1};
	struct trial t;
	begin(kit, &t, sweep, dtype, lengths, 1);
	t.args.has_affine = sweep_draw(kit, sweep, dtype, lengths, 1, 4) != 0;
	set_roles(&t, outputs);
	if (!call(&t))
		compare_forward(&t);
	t.args.activation = sweep_draw(kit, sweep, dtype, lengths, 2, TN_ACTIVATION_RELU6 + 1);
	t.args.has_residual = 1;
	if (!call(&t))
		compare_forward(&t);
	if (t.problem.kind == BATCH) {
		set_roles(&t, y_alone);
		t.args.use_statistics = 1;
		sweep_store(&t.data[MEAN], t.host[MEAN]);
		sweep_store(&t.data[RSTD], t.host[RSTD]);
		if (!call(&t))
			compare_forward(&t);
	}
	repeats(&t, sweep, dtype, lengths);
	end(&t);
}

/* ---- Backward --------------------------------------------------------------------------------*/

/* The means of g and of g (x - mean) rstd over the elements that share a mean, with g = dy w. */
static void mean_gradients(const struct trial *t, double *of_g, double *of_product)
{
	const struct problem *p = &t->problem;
	for (int64_t row = 0; row < p->outer * p->channels; row++) {
		const int64_t at = statistic_of(p, row);
		const double w = t->args.has_affine ? t->host[SCALE][row % p->channels] : 1;
		for (int64_t i = row * p->inner; i < (row + 1) * p->inner; i++) {
			double x = (t->host[X][i] - t->host[MEAN][at]) * t->host[RSTD][at];
			of_g[at] += t->host[Y][i] * w / (double)p->n_averaged;
			of_product[at] += t->host[Y][i] * w * x / (double)p->n_averaged;
		}
	}
}

/* dx = rstd (g - mean of g - x' mean of (g x')), with x' = (x - mean) rstd.  |g| is at most 1; x'
 * is off by as many roundings as its condition says; |x| is at most `largest_x`. */
static void compare_dx(struct trial *t, double largest_x)
{
	const struct problem *p = &t->problem;
	const double error = (layer_terms((double)p->n_averaged) + 16) * t->epsilon;
	double *of_g = numbers((size_t)p->n_statistics), *of_product;
	double *expected = numbers(t->data[DX].count), *tolerance = numbers(t->data[DX].count);
	of_product = numbers((size_t)p->n_statistics);
	if (!t->args.use_statistics)
		mean_gradients(t, of_g, of_product);
	for (int64_t row = 0; row < p->outer * p->channels; row++) {
		const int64_t at = statistic_of(p, row);
		const double w = t->args.has_affine ? t->host[SCALE][row % p->channels] : 1;
		const double rstd = t->host[RSTD][at];
		const double condition = condition_of(largest_x, rstd);
		for (int64_t i = row * p->inner; i < (row + 1) * p->inner; i++) {
			double x = (t->host[X][i] - t->host[MEAN][at]) * rstd;
			expected[i] = rstd * (t->host[Y][i] * w - of_g[at] - x * of_product[at]);
			tolerance[i] = error * condition * rstd * (2 + fabs(x)) * (1 + fabs(x));
		}
	}
	array_narrow(&t->data[DX], expected, tolerance);
	layer_compare(&t->data[DX], expected, tolerance);
	free(of_g);
	free(of_product);
	free(expected);
	free(tolerance);
}

/* dw = sum of dy x', or db = sum of dy; added to `old`. */
static void compare_sum(struct trial *t, enum operand which, const double *old, double largest_x)
{
	const struct problem *p = &t->problem;
	const size_t n = (size_t)p->channels;
	const double n_terms = (double)(p->outer * p->inner);
	double *expected = numbers(n), *tolerance = numbers(n);
	for (size_t c = 0; c < n && old; c++) {
		expected[c] = old[c];
		tolerance[c] = fabs(old[c]);
	}
	for (int64_t row = 0; row < p->outer * p->channels; row++) {
		const int64_t at = statistic_of(p, row), c = row % p->channels;
		const double rstd = t->host[RSTD][at], condition = condition_of(largest_x, rstd);
		for (int64_t i = row * p->inner; i < (row + 1) * p->inner; i++) {
			double dy = t->host[Y][i], x = (t->host[X][i] - t->host[MEAN][at]) * rstd;
			expected[c] += which == DW ? dy * x : dy;
			tolerance[c] += fabs(dy) * (which == DW ? (1 + fabs(x)) * condition : 1);
		}
	}
	for (size_t c = 0; c < n; c++)
		tolerance[c] *= (layer_terms(n_terms) + 16) * t->epsilon;
	array_narrow(&t->data[which], expected, tolerance);
	layer_compare(&t->data[which], expected, tolerance);
	free(expected);
	free(tolerance);
}

/* host[Y] becomes dresidual: the part of dy that passes the activation. */
static void pass_activation(struct trial *t)
{
	for (uint64_t i = 0; i < t->data[Y].count && t->args.activation; i++) {
		const double result = t->host[RESULT][i];
		if (result <= 0 || (t->args.activation == TN_ACTIVATION_RELU6 && result >= 6))
			t->host[Y][i] = 0;
	}
}

static void compare_backward(struct trial *t, const double *dw, const double *db)
{
	const double x = largest(t->host[X], t->data[X].count);
	double *none = numbers(t->data[DRESIDUAL].count);
	compare_dx(t, x);
	compare_sum(t, DW, dw, x);
	compare_sum(t, DB, db, x);
	layer_compare(&t->data[DRESIDUAL], t->host[Y], none);
	free(none);
}

/* Statistics as a forward saves them. */
static void save(struct trial *t)
{
	statistics(&t->problem, t->args.epsilon, t->host[X], t->host[MEAN], t->host[RSTD]);
	for (int i = MEAN; i <= RSTD; i++) {
		sweep_store(&t->data[i], t->host[i]);
		sweep_load(&t->data[i], t->host[i]);
	}
}

/* Adding to dw and db, then over them; batch norm then at inference. */
static void backward(struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
		     const int64_t *lengths)
{
	static const int outputs[] = {DX, DW, DB, DRESIDUAL, -1};
	struct trial t;
	begin(kit, &t, sweep, dtype, lengths, 0);
	save(&t);
	set_roles(&t, outputs);
	t.args.has_affine = sweep_draw(kit, sweep, dtype, lengths, 1, 4) != 0;
	t.args.activation = sweep_draw(kit, sweep, dtype, lengths, 2, TN_ACTIVATION_RELU6 + 1);
	t.args.wants = 7;
	t.args.call.flags = TN_ACCUMULATE;
	pass_activation(&t);
	if (!call(&t))
		compare_backward(&t, t.host[DW], t.host[DB]);
	t.args.call.flags = 0;
	t.args.use_statistics = t.problem.kind == BATCH;
	if (!call(&t))
		compare_backward(&t, NULL, NULL);
	repeats(&t, sweep, dtype, lengths);
	end(&t);
}

/* ---- The sweeps ------------------------------------------------------------------------------*/

static int claims(const struct kit *kit, tn_dtype dtype)
{
	const struct tn_operand x = layer_operand(dtype, 2);
	const struct tn_operand one = layer_operand(dtype == TN_F64 ? TN_F64 : TN_F32, 1);
	struct tn_norm_args args = {.call = CALL(struct tn_norm_args),
				    .x = x,
				    .y = x,
				    .mean = one,
				    .rstd = one,
				    .dx = x,
				    .wants = 1,
				    .groups = kind_of(kit->slot) == GROUP,
				    .epsilon = 1e-5};
	return layer_claims(kit, dtype, kit->slot, &args);
}

static void sweep_of(struct kit *kit, int slot, const char *name, const struct sweep_axis *axes,
		     int is_forward)
{
	struct sweep sweep = {.slot = slot,
			      .name = name,
			      .n_axes = AXES,
			      .claims = claims,
			      .bytes = bytes,
			      .work = work,
			      .run = is_forward ? forward : backward};
	memcpy(sweep.axes, axes, sizeof(sweep.axes[0]) * AXES);
	kit_case(kit, slot, "%s", name);
	sweep_axes(kit, &sweep);
}

static const struct sweep_axis batch[AXES] = {
	{"n", 3, 0}, {"groups", 1, 1}, {"c", 2, 0}, {"inner", 4, 0}};
static const struct sweep_axis rows[AXES] = {
	{"rows", 3, 0}, {"groups", 1, 1}, {"c", 5, 0}, {"inner", 1, 1}};
static const struct sweep_axis grouped[AXES] = {
	{"n", 2, 0}, {"groups", 2, 0}, {"c", 3, 0}, {"inner", 3, 0}};

void check_sizes_batch_norm_forward(struct kit *kit)
{
	sweep_of(kit, TN_SLOT_BATCH_NORM_FORWARD, "batch norm forward", batch, 1);
}

void check_sizes_batch_norm_backward(struct kit *kit)
{
	sweep_of(kit, TN_SLOT_BATCH_NORM_BACKWARD, "batch norm backward", batch, 0);
}

void check_sizes_layer_norm_forward(struct kit *kit)
{
	sweep_of(kit, TN_SLOT_LAYER_NORM_FORWARD, "layer norm forward", rows, 1);
}

void check_sizes_layer_norm_backward(struct kit *kit)
{
	sweep_of(kit, TN_SLOT_LAYER_NORM_BACKWARD, "layer norm backward", rows, 0);
}

void check_sizes_group_norm_forward(struct kit *kit)
{
	sweep_of(kit, TN_SLOT_GROUP_NORM_FORWARD, "group norm forward", grouped, 1);
}

void check_sizes_group_norm_backward(struct kit *kit)
{
	sweep_of(kit, TN_SLOT_GROUP_NORM_BACKWARD, "group norm backward", grouped, 0);
}
