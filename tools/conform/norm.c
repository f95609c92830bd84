/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Batch, layer and group norm, with their epilogues.  The forward's oracle is the definition in
 * double; the gradients' are central differences of it, so no derivation is shared with the code
 * under test.
 */
#include "conform.h"

#include <float.h>

struct setting {
	struct shape shape;  /* of x */
	double scale, shift; /* of its values */
	double epsilon;
	uint32_t has_affine;
	uint32_t use_statistics; /* batch norm only */
};

static const struct setting settings[] = {
	{{2, {6, 3}}, 1, 0, 1e-5, 1, 0},       {{4, {3, 2, 4, 3}}, 2, 0.5, 1e-5, 1, 0},
	{{4, {2, 5, 1, 1}}, 1, 0, 1e-3, 0, 0}, {{4, {2, 3, 3, 2}}, 1, -1, 1e-5, 1, 1},
	{{2, {4, 16}}, 0.5, 3, 1e-5, 0, 0},    {{3, {2, 4, 5}}, 1, 0, 0.1, 1, 0},
	{{2, {1, 33}}, 1, 0, 1e-5, 1, 0},      {{3, {5, 1, 7}}, 1, 10, 1e-5, 1, 1},
};
enum { N_SETTINGS = sizeof(settings) / sizeof(settings[0]) };

enum kind { BATCH, LAYER, GROUP, KINDS };

static const char *const kind_names[KINDS] = {"batch", "layer", "group"};
static const enum tn_slot forward_slots[KINDS] = {
	TN_SLOT_BATCH_NORM_FORWARD, TN_SLOT_LAYER_NORM_FORWARD, TN_SLOT_GROUP_NORM_FORWARD};
static const enum tn_slot backward_slots[KINDS] = {
	TN_SLOT_BATCH_NORM_BACKWARD, TN_SLOT_LAYER_NORM_BACKWARD, TN_SLOT_GROUP_NORM_BACKWARD};

/* The norm as a function of one of x, w, b, the others fixed. */
struct layer {
	const struct setting *setting;
	enum kind kind;
	const double *x, *w, *b;   /* NULL: the variable */
	const double *mean, *rstd; /* NULL: from x */
	int64_t n_outer, n_channels, n_inner;
	int64_t groups; /* of group norm */
};

/* The smallest number of groups above 1 with more than one element per group; else 1. */
static int64_t groups_of(const struct layer *l)
{
	for (int64_t groups = 2; groups <= l->n_channels; groups++) {
		if (l->n_channels % groups == 0 && l->n_channels / groups * l->n_inner > 1)
			return groups;
	}
	return 1;
}

static struct layer layer_of(const struct setting *setting, enum kind kind)
{
	struct layer layer = {.setting = setting,
			      .kind = kind,
			      .n_outer = setting->shape.lengths[0],
			      .n_channels = setting->shape.lengths[1],
			      .n_inner = 1};
	for (uint32_t axis = 2; axis < setting->shape.rank; axis++)
		layer.n_inner *= setting->shape.lengths[axis];
	layer.groups = groups_of(&layer);
	return layer;
}

static int64_t count_of(const struct layer *l)
{
	return l->n_outer * l->n_channels * l->n_inner;
}

/* The mean and rstd of element i, and its w and b. */
static int64_t group_of(const struct layer *l, int64_t i)
{
	if (l->kind == BATCH)
		return i / l->n_inner % l->n_channels;
	if (l->kind == LAYER)
		return i / (l->n_channels * l->n_inner);
	return i / (l->n_channels / l->groups * l->n_inner);
}

static int64_t channel_of(const struct layer *l, int64_t i)
{
	return i / l->n_inner % l->n_channels;
}

static int64_t n_groups(const struct layer *l)
{
	if (l->kind == BATCH)
		return l->n_channels;
	return l->kind == LAYER ? l->n_outer : l->n_outer * l->groups;
}

static void statistics(const struct layer *l, const double *x, double *mean, double *rstd)
{
	int64_t n = count_of(l), size = n / n_groups(l);
	memset(mean, 0, (size_t)n_groups(l) * sizeof(*mean));
	memset(rstd, 0, (size_t)n_groups(l) * sizeof(*rstd));
	for (int64_t i = 0; i < n; i++)
		mean[group_of(l, i)] += x[i] / (double)size;
	for (int64_t i = 0; i < n; i++)
		rstd[group_of(l, i)] += pow(x[i] - mean[group_of(l, i)], 2) / (double)size;
	for (int64_t g = 0; g < n_groups(l); g++)
		rstd[g] = 1 / sqrt(rstd[g] + l->setting->epsilon);
}

static void forward(const void *setting, const double *variable, double *y)
{
	const struct layer *l = setting;
	const double *x = l->x ? l->x : variable, *w = l->w ? l->w : variable;
	const double *b = l->b ? l->b : variable;
	double *own = numbers((size_t)(2 * n_groups(l)));
	double *mean = own, *rstd = own + n_groups(l);
	if (l->mean) {
		memcpy(mean, l->mean, (size_t)n_groups(l) * sizeof(*mean));
		memcpy(rstd, l->rstd, (size_t)n_groups(l) * sizeof(*rstd));
	} else {
		statistics(l, x, mean, rstd);
	}
	for (int64_t i = 0; i < count_of(l); i++) {
		int64_t g = group_of(l, i), c = channel_of(l, i);
		y[i] = (x[i] - mean[g]) * rstd[g] * w[c] + b[c];
	}
	free(own);
}

/* The ones after DB are used with a residual and an activation. */
enum operand { X, Y, SCALE, SHIFT, MEAN, RSTD, DX, DW, DB, RESIDUAL, RESULT, DRESIDUAL, OPERANDS };

struct trial {
	struct kit *kit;
	const struct setting *setting;
	struct layer layer;
	tn_dtype dtype;
	struct array array[OPERANDS];
	struct array *all[OPERANDS];
	double *host[OPERANDS]; /* before the call */
	struct tn_norm_args args;
};

static void make(struct trial *t, enum operand which, enum role role, enum layout layout)
{
	const struct shape *shape = &t->setting->shape;
	int64_t groups = n_groups(&t->layer), *channels = &t->layer.n_channels;
	struct array *array = &t->array[which];
	int is_statistic = which == MEAN || which == RSTD;
	if (which == X || which == Y || which == DX || which >= RESIDUAL)
		array_make(t->kit, array, role, t->dtype, shape->rank, shape->lengths, layout);
	else
		array_make(t->kit, array, role,
			   is_statistic && t->dtype != TN_F64 ? TN_F32 : t->dtype, 1,
			   is_statistic ? &groups : channels, layout);
	array_randomise(array, -1, 1);
	t->all[which] = array;
}

static void begin(struct trial *t, int is_forward, unsigned layout)
{
	int writes_statistics = is_forward && !t->setting->use_statistics;
	for (int i = 0; i < OPERANDS; i++) {
		int is_output = (i >= DX && i <= DB) || i == DRESIDUAL || (i == Y && is_forward) ||
				((i == MEAN || i == RSTD) && writes_statistics);
		/* There is one pair of statistics per group: no two may share an element. */
		int is_own = is_output || i == MEAN || i == RSTD;
		unsigned own = (layout + (unsigned)i) % (is_own ? OUTPUT_LAYOUTS : LAYOUTS);
		make(t, (enum operand)i, is_output ? OUTPUT : INPUT,
		     layout == CHANNELS_LAST ? CHANNELS_LAST : (enum layout)own);
	}
	for (uint64_t i = 0; i < t->array[X].count; i++)
		array_set_number(&t->array[X], i,
				 t->setting->scale * kit_uniform(t->kit, -1, 1) +
					 t->setting->shift);
	for (uint64_t i = 0; i < t->array[SCALE].count && !t->setting->has_affine; i++) {
		array_set_number(&t->array[SCALE], i, 1);
		array_set_number(&t->array[SHIFT], i, 0);
	}
	for (uint64_t i = 0; i < t->array[RSTD].count; i++)
		array_set_number(&t->array[RSTD], i, kit_uniform(t->kit, 0.5, 2));
	for (int i = 0; i < OPERANDS; i++)
		t->host[i] = array_numbers(&t->array[i]);
}

static void end(struct trial *t)
{
	for (int i = 0; i < OPERANDS; i++) {
		free(t->host[i]);
		array_free(&t->array[i]);
	}
}

static void fill_arguments(struct trial *t, uint32_t wants)
{
	t->args = (struct tn_norm_args){.call = CALL(struct tn_norm_args),
					.x = t->array[X].operand,
					.y = t->array[Y].operand,
					.w = t->array[SCALE].operand,
					.b = t->array[SHIFT].operand,
					.mean = t->array[MEAN].operand,
					.rstd = t->array[RSTD].operand,
					.dx = t->array[DX].operand,
					.dw = t->array[DW].operand,
					.db = t->array[DB].operand,
					.has_affine = t->setting->has_affine,
					.use_statistics = t->setting->use_statistics,
					.wants = wants,
					.groups = t->layer.kind == GROUP ? (uint32_t)t->layer.groups
									 : 0,
					.epsilon = t->setting->epsilon,
					.residual = t->array[RESIDUAL].operand,
					.result = t->array[RESULT].operand,
					.dresidual = t->array[DRESIDUAL].operand};
}

static double largest(const double *values, uint64_t n)
{
	double result = 0;
	for (uint64_t i = 0; i < n; i++)
		result = fmax(result, fabs(values[i]));
	return result;
}

static void compare(struct trial *t, enum operand which, const double *expected, double tolerance)
{
	double *all = numbers(t->array[which].count);
	for (uint64_t i = 0; i < t->array[which].count; i++)
		all[i] = tolerance;
	if (tolerance > 0)
		array_narrow(&t->array[which], expected, all);
	array_compare(&t->array[which], expected, all);
	free(all);
}

/* The relative error of a mean of m terms, of a variance and of its root is at most (m + 8) epsilon
 * of the largest term, taken m times at worst; if the mean of x is large (shift >> scale) the
 * difference amplifies it by |x| rstd. */
static double forward_tolerance(const struct trial *t, const double *rstd)
{
	double m = (double)t->array[X].count / (double)t->array[MEAN].count;
	double x = largest(t->host[X], t->array[X].count);
	double condition = 1 + 2 * x * largest(rstd, t->array[RSTD].count);
	return (m + 8) * kit_epsilon(t->dtype) * condition *
	       (1 + largest(t->host[SCALE], t->array[SCALE].count)) * condition;
}

static void checks_forward(struct trial *t)
{
	double *y = numbers(t->array[Y].count), *own = numbers(2 * t->array[MEAN].count);
	double *mean = own, *rstd = own + t->array[MEAN].count, tolerance;
	t->layer.x = t->host[X];
	t->layer.w = t->host[SCALE];
	t->layer.b = t->host[SHIFT];
	if (t->setting->use_statistics) {
		t->layer.mean = t->host[MEAN];
		t->layer.rstd = t->host[RSTD];
		memcpy(rstd, t->host[RSTD], t->array[RSTD].count * sizeof(*rstd));
	} else {
		statistics(&t->layer, t->host[X], mean, rstd);
	}
	forward(&t->layer, NULL, y);
	tolerance = forward_tolerance(t, rstd);
	for (uint64_t i = 0; i < t->array[Y].count; i++)
		y[i] = kit_activate(t->args.activation,
				    y[i] + (t->args.has_residual ? t->host[RESIDUAL][i] : 0));
	/* The residual is below 1 and adds one rounding. */
	compare(t, Y, y, tolerance * (t->args.has_residual ? 2 : 1));
	if (!t->setting->use_statistics) {
		compare(t, MEAN, mean, tolerance);
		compare(t, RSTD, rstd, tolerance * largest(rstd, t->array[RSTD].count));
	}
	free(y);
	free(own);
}

static void normalises(struct kit *kit, enum kind kind, tn_dtype dtype, int number, unsigned layout,
		       uint32_t activation, int has_residual)
{
	struct trial t = {.kit = kit, .setting = &settings[number], .dtype = dtype};
	kit_case(kit, forward_slots[kind], "%s norm forward: %s, setting %d, %s, activation %u%s",
		 kind_names[kind], tn_dtype_name(dtype), number, layout_names[layout], activation,
		 has_residual ? ", residual" : "");
	t.layer = layer_of(t.setting, kind);
	begin(&t, 1, layout);
	fill_arguments(&t, 0);
	t.args.activation = activation;
	t.args.has_residual = (uint32_t)has_residual;
	for (int i = DX; i < OPERANDS; i++)
		t.array[i].role = INPUT;
	if (!kit_run(kit, &t.args, t.all, OPERANDS))
		checks_forward(&t);
	end(&t);
}

/* The backward gets the statistics as stored by a forward: rounded to the dtype. */
static void store_statistics(struct trial *t)
{
	uint64_t n = t->array[MEAN].count;
	double *own = numbers(2 * n);
	statistics(&t->layer, t->host[X], own, own + n);
	for (uint64_t i = 0; i < n; i++) {
		array_set_number(&t->array[MEAN], i, own[i]);
		array_set_number(&t->array[RSTD], i, own[n + i]);
	}
	free(own);
}

/* Central differences with step h are off by h^2 times a third derivative, which for a norm is of
 * the size of rstd^3, and by the rounding of f / h. */
static void check_gradient(struct trial *t, enum operand of, enum operand gradient, int accumulate)
{
	const double **slot = of == X ? &t->layer.x : of == SCALE ? &t->layer.w : &t->layer.b;
	uint64_t n = t->array[of].count, n_y = t->array[Y].count;
	double *expected = numbers(n), h = 1e-4, condition, tolerance;
	double rstd = largest(t->host[RSTD], t->array[RSTD].count);
	double x = largest(t->host[X], t->array[X].count);
	*slot = NULL;
	differences(forward, &t->layer, t->host[of], n, t->host[Y], n_y, h, expected);
	*slot = t->host[of];
	for (uint64_t i = 0; i < n && accumulate; i++)
		expected[i] += t->host[gradient][i];
	/* The sums are of n_y terms of at most condition each. */
	condition = pow(1 + 2 * x * rstd, 2) * (1 + rstd);
	tolerance =
		8 * (double)n_y * kit_epsilon(t->dtype) * condition +
		(double)n_y * (10 * h * h * pow(rstd, 3) * (1 + x * rstd) + 1e-15 / h * condition);
	compare(t, gradient, expected, tolerance);
	free(expected);
}

/* The part of dy that passes the activation, for given results: random ones below, at and above the
 * limits of RELU6. */
static void pass_activation(struct trial *t)
{
	struct array *result = &t->array[RESULT];
	for (uint64_t i = 0; i < result->count; i++)
		array_set_number(result, i, fmin(fmax(floor(kit_uniform(t->kit, -6, 13)), 0), 6));
	/* Elements may share memory: the final value counts. */
	for (uint64_t i = 0; i < result->count; i++) {
		double r = array_number(result, i);
		if (r <= 0 || (t->args.activation == TN_ACTIVATION_RELU6 && r >= 6))
			t->host[Y][i] = 0;
	}
}

/* dresidual is dy or 0, bit for bit. */
static void check_dresidual(struct trial *t)
{
	compare(t, DRESIDUAL, t->host[Y], 0);
}

static void check_gradients_of(struct trial *t, uint32_t wants, int accumulate)
{
	if (wants & 1)
		check_gradient(t, X, DX, 0);
	if (wants & 2) {
		check_gradient(t, SCALE, DW, accumulate);
		check_gradient(t, SHIFT, DB, accumulate);
	}
	if (wants & 4)
		check_dresidual(t);
}

static void prepare_statistics(struct trial *t)
{
	if (!t->setting->use_statistics)
		store_statistics(t);
	for (int i = MEAN; i <= RSTD; i++) {
		free(t->host[i]);
		t->host[i] = array_numbers(&t->array[i]);
	}
	t->layer.x = t->host[X];
	t->layer.w = t->host[SCALE];
	t->layer.b = t->host[SHIFT];
	if (t->setting->use_statistics) {
		t->layer.mean = t->host[MEAN];
		t->layer.rstd = t->host[RSTD];
	}
}

static void differentiates(struct kit *kit, enum kind kind, tn_dtype dtype, int number,
			   unsigned layout, uint32_t wants, uint32_t activation)
{
	int accumulate = layout % 2;
	struct trial t = {.kit = kit, .setting = &settings[number], .dtype = dtype};
	kit_case(kit, backward_slots[kind],
		 "%s norm backward: %s, setting %d, %s, outputs %u, activation %u%s",
		 kind_names[kind], tn_dtype_name(dtype), number, layout_names[layout], wants,
		 activation, accumulate ? ", accumulated" : "");
	t.layer = layer_of(t.setting, kind);
	begin(&t, 0, layout);
	prepare_statistics(&t);
	fill_arguments(&t, wants);
	t.args.call.flags = accumulate ? TN_ACCUMULATE : 0;
	t.args.activation = activation;
	if (activation)
		pass_activation(&t);
	if (!(wants & 1))
		t.array[DX].role = INPUT;
	if (!(wants & 2))
		t.array[DW].role = t.array[DB].role = INPUT;
	if (!(wants & 4))
		t.array[DRESIDUAL].role = INPUT;
	if (!kit_run(kit, &t.args, t.all, OPERANDS))
		check_gradients_of(&t, wants, accumulate);
	end(&t);
}

/* Is the setting valid for this kind? */
static int suits(enum kind kind, const struct setting *setting)
{
	return kind == BATCH ||
	       (!setting->use_statistics && (kind == GROUP || setting->shape.rank == 2));
}

/* Tests one setting in one layout. */
typedef void (*setting_function)(struct kit *kit, enum kind kind, tn_dtype dtype, int number,
				 unsigned layout);

static void each_setting(struct kit *kit, const enum tn_slot *slots, setting_function function)
{
	for (int i = 0; i < LAYER_DTYPES * N_SETTINGS * KINDS; i++) {
		tn_dtype dtype = layer_dtypes[i % LAYER_DTYPES];
		int number = i / LAYER_DTYPES % N_SETTINGS;
		enum kind kind = (enum kind)(i / LAYER_DTYPES / N_SETTINGS);
		if (!tn_backend_has(kit->backend, slots[kind]) || !kit_claims_storage(kit, dtype) ||
		    !suits(kind, &settings[number]))
			continue;
		for (unsigned layout = 0; layout < LAYOUTS; layout++)
			if (kit_is_tried(kit, dtype, layout))
				function(kit, kind, dtype, number, layout);
		function(kit, kind, dtype, number, CHANNELS_LAST);
	}
}

static int has_any(struct kit *kit, const enum tn_slot *slots)
{
	for (int kind = 0; kind < KINDS; kind++) {
		if (tn_backend_has(kit->backend, slots[kind]))
			return 1;
	}
	kit_skip(kit, "its slots are empty");
	return 0;
}

/* ---- Checks ----------------------------------------------------------------------------------*/

static void plain_forward(struct kit *kit, enum kind kind, tn_dtype dtype, int number,
			  unsigned layout)
{
	normalises(kit, kind, dtype, number, layout, TN_ACTIVATION_NONE, 0);
}

static void whole_forward(struct kit *kit, enum kind kind, tn_dtype dtype, int number,
			  unsigned layout)
{
	normalises(kit, kind, dtype, number, layout, layout % 3, layout % 3 == 0 || layout % 2);
}

static void plain_backward(struct kit *kit, enum kind kind, tn_dtype dtype, int number,
			   unsigned layout)
{
	differentiates(kit, kind, dtype, number, layout, layout % 3 + 1, TN_ACTIVATION_NONE);
}

static void whole_backward(struct kit *kit, enum kind kind, tn_dtype dtype, int number,
			   unsigned layout)
{
	differentiates(kit, kind, dtype, number, layout, 7 - layout % 4, layout % 2 + 1);
}

void check_norm_forward(struct kit *kit)
{
	if (has_any(kit, forward_slots))
		each_setting(kit, forward_slots, plain_forward);
}

void check_norm_epilogue(struct kit *kit)
{
	if (has_any(kit, forward_slots))
		each_setting(kit, forward_slots, whole_forward);
}

void check_norm_backward(struct kit *kit)
{
	if (has_any(kit, backward_slots))
		each_setting(kit, backward_slots, plain_backward);
}

void check_norm_dresidual(struct kit *kit)
{
	if (has_any(kit, backward_slots))
		each_setting(kit, backward_slots, whole_backward);
}
