/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Plans of batch, layer and group norm, with the formulas of the header, the epilogue's included.
 */
#include "trial.h"

#include <stdio.h>

#define PLACE(member) offsetof(struct tn_norm_args, member)

enum { OUTER, CHANNELS, INNER, GROUPS }; /* settings; GROUPS: parts of an image's channels */

/* Operands.  A forward has no more than the first six, a backward no B; RESULT and DRESIDUAL come
 * with an activation, RESIDUAL (last) if there is one. */
enum { X, Y, W, MEAN, RSTD, B, DX = B, DW, DB, RESULT, DRESIDUAL };

static int is_batch(const struct trial *t)
{
	return t->slot == TN_SLOT_BATCH_NORM_FORWARD || t->slot == TN_SLOT_BATCH_NORM_BACKWARD;
}

static int is_forward(const struct trial *t)
{
	return t->slot == TN_SLOT_BATCH_NORM_FORWARD || t->slot == TN_SLOT_LAYER_NORM_FORWARD ||
	       t->slot == TN_SLOT_GROUP_NORM_FORWARD;
}

static int64_t channel_of(const struct trial *t, int64_t i)
{
	return i / t->setting[INNER] % t->setting[CHANNELS];
}

/* The mean and rstd of element i. */
static int64_t group_of(const struct trial *t, int64_t i)
{
	return is_batch(t) ? channel_of(t, i)
			   : i / (t->setting[CHANNELS] / t->setting[GROUPS] * t->setting[INNER]);
}

static double weight(const struct trial *t, int64_t i)
{
	return t->args.norm.has_affine ? t->operand[W].x[channel_of(t, i)] : 1;
}

/* ---- Forward ---------------------------------------------------------------------------------*/

/* The statistics of a group, and how far from them a device's may be. */
struct statistics {
	double mean, rstd;
	double largest;    /* |x| */
	double mean_error; /* times rstd */
	double rstd_error; /* relative */
	int is_open;       /* squares may overflow */
};

static void read_group(const struct trial *t, int64_t group, struct statistics *s)
{
	const double *x = t->operand[X].x;
	const int64_t count = (int64_t)t->operand[X].array.count;
	struct sum sum = {.n = 0}, squares = {.n = 0};
	double n;
	*s = (struct statistics){.largest = 0};
	for (int64_t i = 0; i < count; i++)
		if (group_of(t, i) == group) {
			sum_add(&sum, x[i]);
			s->largest = fmax(s->largest, isfinite(x[i]) ? fabs(x[i]) : 0);
		}
	n = sum.n;
	s->mean = (double)(sum.value / n);
	for (int64_t i = 0; i < count; i++)
		if (group_of(t, i) == group)
			sum_add(&squares, (x[i] - s->mean) * (x[i] - s->mean));
	s->rstd = 1 / sqrt((double)(squares.value / n) + t->args.norm.epsilon);
	s->is_open = s->largest > sqrt(trial_largest(t) / n) / 4;
	/* A subnormal mean has lost digits that a large weight makes visible. */
	s->mean_error = ((n + 8) * trial_epsilon(t) * s->largest + trial_least(t)) * s->rstd;
	/* Squares of x itself may be summed, rather than of what is left of x. */
	s->rstd_error = (n + 8) * trial_epsilon(t) * pow(1 + 2 * s->largest * s->rstd, 2);
}

static void given_statistics(const struct trial *t, int64_t group, struct statistics *s)
{
	*s = (struct statistics){.mean = t->operand[MEAN].x[group],
				 .rstd = t->operand[RSTD].x[group]};
}

static void expect_statistics(struct trial *t, int64_t group, const struct statistics *s)
{
	struct trial_operand *mean = &t->operand[MEAN], *rstd = &t->operand[RSTD];
	mean->expected[group] = s->mean;
	mean->tolerance[group] = s->is_open || !isfinite(s->mean)
					 ? INFINITY
					 : s->mean_error / s->rstd + trial_least(t);
	rstd->expected[group] = s->rstd;
	rstd->tolerance[group] = s->is_open ? INFINITY : s->rstd_error * s->rstd;
}

/* A factor whose product with another one may have lost its digits before a third restores it. */
static int is_tiny(const struct trial *t, double x)
{
	return x != 0 && fabs(x) < 1e8 * trial_least(t);
}

/* May x rstd w or mean rstd w over- or underflow, in any order? */
static int may_overflow(const struct trial *t, const struct statistics *s, double x, double w)
{
	return is_tiny(t, w) || is_tiny(t, s->rstd) ||
	       (fabs(x) + fabs(s->mean) + 1) * (fabs(s->rstd) + 1) * (fabs(w) + 1) >
		       trial_largest(t) / 4;
}

static void expect_y(struct trial *t, int64_t i, const struct statistics *s)
{
	const struct tn_norm_args *a = &t->args.norm;
	const double x = t->operand[X].x[i], w = weight(t, i);
	const double b = a->has_affine ? t->operand[B].x[channel_of(t, i)] : 0;
	const double normal = (x - s->mean) * s->rstd;
	const double rounding = 4 * trial_epsilon(t);
	double value = normal * w + b, error;
	int is_nan = isnan(x) || isnan(w) || isnan(b) || isnan(s->mean) || isnan(s->rstd);
	error = fabs(w) * (s->mean_error + fabs(normal) * (s->rstd_error + rounding) +
			   rounding * (fabs(x) + fabs(s->mean)) * fabs(s->rstd)) +
		rounding * (fabs(b) + fabs(value));
	if (a->has_residual) {
		value += t->operand[t->n - 1].x[i];
		error += rounding * fabs(value);
	}
	is_nan |= a->has_residual && isnan(t->operand[t->n - 1].x[i]);
	t->operand[Y].expected[i] = kit_activate(a->activation, is_nan ? NAN : value);
	t->operand[Y].tolerance[i] = error + trial_least(t);
	if (is_nan)
		return;
	if (s->is_open || (isfinite(value) && may_overflow(t, s, x, w)) ||
	    (!isfinite(value) && a->activation))
		t->operand[Y].tolerance[i] = INFINITY;
	trial_settle(&t->operand[Y], (uint64_t)i, 0);
}

static void forward_formula(struct trial *t)
{
	const int reads = (int)t->args.norm.use_statistics;
	const int64_t n_groups = (int64_t)t->operand[MEAN].array.count;
	trial_expect(&t->operand[Y]);
	for (int i = MEAN; i <= RSTD && !reads; i++)
		trial_expect(&t->operand[i]);
	for (int64_t group = 0; group < n_groups; group++) {
		struct statistics s;
		if (reads)
			given_statistics(t, group, &s);
		else
			read_group(t, group, &s);
		if (!reads)
			expect_statistics(t, group, &s);
		for (int64_t i = 0; i < (int64_t)t->operand[X].array.count; i++)
			if (group_of(t, i) == group)
				expect_y(t, i, &s);
	}
}

/* ---- Backward --------------------------------------------------------------------------------*/

/* dy where the activation did not cut the result off. */
static double upstream(const struct trial *t, int64_t i)
{
	const uint32_t activation = t->args.norm.activation;
	double result;
	if (!activation)
		return t->operand[Y].x[i];
	result = t->operand[RESULT].x[i];
	return result > 0 && (activation != TN_ACTIVATION_RELU6 || result < 6) ? t->operand[Y].x[i]
									       : 0;
}

/* (x - mean) rstd, and what its rounding is relative to. */
static double normal_of(const struct trial *t, int64_t i, double *size)
{
	const double x = t->operand[X].x[i], mean = t->operand[MEAN].x[group_of(t, i)];
	const double rstd = t->operand[RSTD].x[group_of(t, i)];
	*size = (fabs(x) + fabs(mean)) * fabs(rstd);
	return (x - mean) * rstd;
}

static double finite_size(double x)
{
	return isfinite(x) ? fabs(x) : 0;
}

/* May finite numbers over- or underflow on the way to the gradients of element i? */
static int is_extreme(const struct trial *t, int64_t i)
{
	const double x = finite_size(t->operand[X].x[i]), dy = finite_size(upstream(t, i));
	const double mean = finite_size(t->operand[MEAN].x[group_of(t, i)]);
	const double rstd = finite_size(t->operand[RSTD].x[group_of(t, i)]);
	const double w = finite_size(weight(t, i));
	const double product = (x + mean + 1) * (rstd * rstd + 1) * (dy + 1) * (w + 1);
	return is_tiny(t, w) || is_tiny(t, rstd) || is_tiny(t, dy) ||
	       !(product * product * (double)t->operand[X].array.count < trial_largest(t) / 64);
}

/* A term whose rounding is relative to `size` rather than to itself. */
static void add_sized(struct sum *s, double term, double size)
{
	sum_add(s, term);
	if (isfinite(term) && isfinite(size))
		s->magnitude += size - fabs(term);
}

static void expect_dx(struct trial *t, int64_t group)
{
	struct trial_operand *dx = &t->operand[DX];
	const double rstd = t->operand[RSTD].x[group];
	const int64_t count = (int64_t)dx->array.count;
	struct sum g = {.n = 0}, products = {.n = 0};
	int is_open = 0;
	for (int64_t i = 0; i < count; i++) {
		double size, normal = normal_of(t, i, &size),
			     gradient = upstream(t, i) * weight(t, i);
		if (group_of(t, i) != group)
			continue;
		is_open |= is_extreme(t, i);
		sum_add(&g, gradient);
		add_sized(&products, gradient * normal, fabs(gradient) * size);
	}
	for (int64_t i = 0; i < count; i++) {
		double size, normal = normal_of(t, i, &size),
			     gradient = upstream(t, i) * weight(t, i);
		struct sum all = {.n = g.n + 8};
		if (group_of(t, i) != group)
			continue;
		add_sized(&all, rstd * gradient, fabs(rstd * gradient));
		if (!t->args.norm.use_statistics) {
			add_sized(&all, -rstd * (double)(g.value / g.n),
				  fabs(rstd) * (double)g.magnitude / g.n);
			add_sized(&all, -rstd * (normal * (double)(products.value / g.n)),
				  fabs(rstd) * size * (double)products.magnitude / g.n);
		}
		dx->expected[i] = (double)all.value;
		dx->tolerance[i] =
			is_open || isinf(sum_error(t, &g)) || isinf(sum_error(t, &products))
				? INFINITY
				: sum_error(t, &all);
		/* With given statistics 0 times what is not finite may be added. */
		trial_settle(dx, (uint64_t)i,
			     t->args.norm.use_statistics && !(size < trial_largest(t) / 4));
	}
}

static void expect_weights(struct trial *t)
{
	struct trial_operand *dw = &t->operand[DW], *db = &t->operand[DB];
	for (int64_t c = 0; c < t->setting[CHANNELS]; c++) {
		struct sum w = {.n = 4}, b = {.n = 4};
		int is_open = 0;
		for (int64_t i = 0; i < (int64_t)t->operand[X].array.count; i++) {
			double size, normal = normal_of(t, i, &size), dy = upstream(t, i);
			if (channel_of(t, i) != c)
				continue;
			is_open |= is_extreme(t, i);
			add_sized(&w, dy * normal, fabs(dy) * size);
			sum_add(&b, dy);
		}
		if (t->accumulates) {
			sum_add(&w, dw->x[c]);
			sum_add(&b, db->x[c]);
		}
		dw->expected[c] = (double)w.value;
		dw->tolerance[c] = is_open ? INFINITY : sum_error(t, &w);
		trial_settle(dw, (uint64_t)c, 0);
		db->expected[c] = (double)b.value;
		db->tolerance[c] = sum_error(t, &b);
	}
}

static void backward_formula(struct trial *t)
{
	const uint32_t wants = t->args.norm.wants;
	if (wants & 1) {
		trial_expect(&t->operand[DX]);
		for (int64_t g = 0; g < (int64_t)t->operand[MEAN].array.count; g++)
			expect_dx(t, g);
	}
	if (wants & 2) {
		trial_expect(&t->operand[DW]);
		trial_expect(&t->operand[DB]);
		expect_weights(t);
	}
	if (wants & 4) {
		trial_expect(&t->operand[DRESIDUAL]);
		for (uint64_t i = 0; i < t->operand[DRESIDUAL].array.count; i++)
			t->operand[DRESIDUAL].expected[i] = upstream(t, (int64_t)i);
	}
}

/* ---- Plans -----------------------------------------------------------------------------------*/

static void add_statistics(struct trial *t, enum role role)
{
	const tn_dtype wide = t->dtype == TN_F64 ? TN_F64 : TN_F32;
	const int64_t n =
		is_batch(t) ? t->setting[CHANNELS] : t->setting[OUTER] * t->setting[GROUPS];
	struct trial_operand *rstd;
	/* With use_statistics the numbers are anybody's. */
	const int is_saved = role == INPUT && !t->args.norm.use_statistics;
	trial_operand(t, "mean", PLACE(mean), role, wide, 1, &n)->is_saved = is_saved;
	rstd = trial_operand(t, "rstd", PLACE(rstd), role, wide, 1, &n);
	rstd->low = 0.5;
	rstd->high = 2;
	rstd->is_saved = is_saved;
}

static void save(struct trial *t)
{
	for (uint64_t group = 0; group < t->operand[MEAN].array.count; group++) {
		struct statistics s;
		read_group(t, (int64_t)group, &s);
		array_set_number(&t->operand[MEAN].array, group, s.mean);
		array_set_number(&t->operand[RSTD].array, group, s.rstd);
	}
}

static void add_forward(struct trial *t, const struct shape *shape)
{
	struct tn_norm_args *a = &t->args.norm;
	a->use_statistics = is_batch(t) && kit_random(t->kit) % 3 == 0;
	add_statistics(t, a->use_statistics ? INPUT : OUTPUT);
	trial_operand(t, "b", PLACE(b), INPUT, t->dtype, 1, &t->setting[CHANNELS])->is_unread =
		!a->has_affine;
	a->activation = (uint32_t)(kit_random(t->kit) % 4) % 3;
	a->has_residual = kit_random(t->kit) % 3 == 0;
	if (a->has_residual)
		trial_operand(t, "residual", PLACE(residual), INPUT, t->dtype, shape->rank,
			      shape->lengths);
	t->formula = forward_formula;
}

static void add_backward(struct trial *t, const struct shape *shape)
{
	static const uint32_t all_wants[] = {3, 3, 1, 2};
	struct tn_norm_args *a = &t->args.norm;
	struct trial_operand *result;
	a->use_statistics = is_batch(t) && kit_random(t->kit) % 3 == 0;
	a->activation = (uint32_t)(kit_random(t->kit) % 4) % 3;
	a->wants = all_wants[kit_random(t->kit) % 4];
	if (a->activation && kit_random(t->kit) % 2)
		a->wants |= 4;
	add_statistics(t, INPUT);
	trial_operand(t, "dx", PLACE(dx), a->wants & 1 ? OUTPUT : INPUT, t->dtype, shape->rank,
		      shape->lengths)
		->is_unread = !(a->wants & 1);
	for (int i = 0; i < 2; i++)
		trial_operand(t, i ? "db" : "dw", i ? PLACE(db) : PLACE(dw),
			      a->wants & 2 ? OUTPUT : INPUT, t->dtype, 1, &t->setting[CHANNELS])
			->is_unread = !(a->wants & 2);
	if (a->activation) {
		result = trial_operand(t, "result", PLACE(result), INPUT, t->dtype, shape->rank,
				       shape->lengths);
		result->values = BELOW; /* at the ends of the activations too */
		result->low = -1;
		result->high = 8;
		trial_operand(t, "dresidual", PLACE(dresidual), a->wants & 4 ? OUTPUT : INPUT,
			      t->dtype, shape->rank, shape->lengths)
			->is_unread = !(a->wants & 4);
	}
	t->save = a->use_statistics ? NULL : save;
	t->formula = backward_formula;
}

static int is_layer(const struct trial *t)
{
	return t->slot == TN_SLOT_LAYER_NORM_FORWARD || t->slot == TN_SLOT_LAYER_NORM_BACKWARD;
}

static void plan_norm(struct trial *t)
{
	struct tn_norm_args *a = &t->args.norm;
	struct shape shape = {.rank = is_layer(t) ? 2 : 2 + (uint32_t)(kit_random(t->kit) % 3)};
	int64_t *l = t->setting;
	for (uint32_t axis = 0; axis < shape.rank; axis++)
		shape.lengths[axis] = trial_length(t, 5);
	l[GROUPS] = 1;
	if (!is_batch(t) && !is_layer(t)) {
		l[GROUPS] = trial_length(t, 3);
		shape.lengths[1] *= l[GROUPS];
		a->groups = (uint32_t)l[GROUPS];
	}
	l[OUTER] = shape.lengths[0];
	l[CHANNELS] = shape.lengths[1];
	l[INNER] = (int64_t)shape_count(shape.rank - 2, shape.lengths + 2);
	a->has_affine = kit_random(t->kit) % 4 != 0;
	a->epsilon = 1e-3;
	trial_operand(t, "x", PLACE(x), INPUT, t->dtype, shape.rank, shape.lengths);
	trial_operand(t, is_forward(t) ? "y" : "dy", PLACE(y), is_forward(t) ? OUTPUT : INPUT,
		      t->dtype, shape.rank, shape.lengths);
	trial_operand(t, "w", PLACE(w), INPUT, t->dtype, 1, &l[CHANNELS])->is_unread =
		!a->has_affine;
	if (is_forward(t))
		add_forward(t, &shape);
	else
		add_backward(t, &shape);
	snprintf(t->text, sizeof(t->text),
		 "%lld x %lld x %lld, %lld groups%s%s, activation %u, outputs %u",
		 (long long)l[OUTER], (long long)l[CHANNELS], (long long)l[INNER],
		 (long long)l[GROUPS], a->has_affine ? ", affine" : "",
		 a->use_statistics ? ", statistics" : "", a->activation, a->wants);
}

const struct trial_slot norm_slots[] = {
	{TN_SLOT_BATCH_NORM_FORWARD, "norm", 3, TN_FAMILY_NORM, 0, 1, 7, plan_norm},
	{TN_SLOT_LAYER_NORM_FORWARD, "norm", 3, TN_FAMILY_NORM, 0, 1, 7, plan_norm},
	{TN_SLOT_GROUP_NORM_FORWARD, "norm", 3, TN_FAMILY_NORM, 0, 1, 7, plan_norm},
	{TN_SLOT_BATCH_NORM_BACKWARD, "norm", 4, TN_FAMILY_NORM, 1, 1, 10, plan_norm},
	{TN_SLOT_LAYER_NORM_BACKWARD, "norm", 4, TN_FAMILY_NORM, 1, 1, 10, plan_norm},
	{TN_SLOT_GROUP_NORM_BACKWARD, "norm", 4, TN_FAMILY_NORM, 1, 1, 10, plan_norm},
	{0, NULL, 0, 0, 0, 0, 0, NULL},
};
