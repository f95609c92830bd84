/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * conv2d, its gradients and its packed weights of any size.  The oracle does not compute every
 * element.  Both gradients and the forward are linear in the operand that has the channels of the
 * result, so
 *     the sum over the channels of v[c] result[c]
 * is a convolution of one channel with the sum of v[c] operand[c].  Random signs v see every
 * element, and a single channel sees its elements one by one.
 */
#include <stdio.h>

#include "base/dtype.h"
#include "packing.h"
#include "sweep_layers.h"

enum axis {
	IMAGES,
	GROUPS,
	INPUTS,  /* channels of x in a group */
	OUTPUTS, /* channels of y in a group */
	HEIGHT,
	WIDTH,
	ROWS, /* of the kernel */
	COLUMNS,
	DOWN, /* strides */
	ACROSS,
	PADDING,
	DILATION,
	AXES
};

enum operand { X, W, Y, BIAS, RESIDUAL, OPERANDS };

struct problem {
	int64_t n, g, c, o;       /* images, groups, channels of x and of y in a group */
	int64_t h, w, r, s, p, q; /* planes of x, w, y */
	int64_t stride[2], dilation[2], padding[4];
};

struct trial {
	struct kit *kit;
	struct problem problem;
	enum operand written;
	int is_one_of_many; /* sweep_is_crowd */
	tn_dtype dtype;
	struct array data[OPERANDS], *all[OPERANDS];
	double *host[OPERANDS]; /* of X, W, Y before the first call; of others always */
	struct tn_conv2d_args args;
};

/* ---- Problems --------------------------------------------------------------------------------*/

/* Room for the kernel, and for two windows with a stride. */
static int64_t plane_of(int64_t length, int64_t kernel, int64_t stride)
{
	int64_t least = kernel + (stride > 1 ? stride : 0);
	return length > least ? length : least;
}

static struct problem problem_of(const int64_t *l)
{
	const int64_t padding = l[PADDING] - 1, dilation = l[DILATION];
	const int64_t rows = dilation * (l[ROWS] - 1) + 1,
		      columns = dilation * (l[COLUMNS] - 1) + 1;
	struct problem t = {.n = l[IMAGES],
			    .g = l[GROUPS],
			    .c = l[INPUTS],
			    .o = l[OUTPUTS],
			    .h = plane_of(l[HEIGHT], rows, l[DOWN]),
			    .w = plane_of(l[WIDTH], columns, l[ACROSS]),
			    .r = l[ROWS],
			    .s = l[COLUMNS],
			    .stride = {l[DOWN], l[ACROSS]},
			    .dilation = {dilation, dilation},
			    .padding = {padding, padding / 2, padding / 2, padding}};
	t.p = (t.h + t.padding[0] + t.padding[2] - rows) / t.stride[0] + 1;
	t.q = (t.w + t.padding[1] + t.padding[3] - columns) / t.stride[1] + 1;
	return t;
}

static double n_x(const struct problem *t)
{
	return (double)(t->n * t->g) * (double)t->c * (double)(t->h * t->w);
}

static double n_w(const struct problem *t)
{
	return (double)(t->g * t->o) * (double)t->c * (double)(t->r * t->s);
}

static double n_y(const struct problem *t)
{
	return (double)(t->n * t->g) * (double)t->o * (double)(t->p * t->q);
}

static uint64_t bytes(tn_dtype dtype, const int64_t *lengths)
{
	if (layer_is_too_long(AXES, lengths))
		return 0;
	const struct problem t = problem_of(lengths);
	const double most = fmax(fmax(n_x(&t), n_y(&t)), n_w(&t));
	return most < 0x1p50 ? (uint64_t)most * tn_dtype_size(dtype) : 0;
}

static double work(const int64_t *lengths)
{
	const struct problem t = problem_of(lengths);
	/* The input gradient visits each kernel at each element of x. */
	double products = fmax(n_y(&t) * (double)t.c, n_x(&t) * (double)t.o) * (double)(t.r * t.s);
	return LAYER_PRODUCT * products + LAYER_VISIT / 5 * (n_x(&t) + n_w(&t) + n_y(&t));
}

static double packed_work(const int64_t *lengths)
{
	return 3 * work(lengths);
}

/* ---- The oracle ------------------------------------------------------------------------------*/

/* The columns [first, end) of y whose window has a cell in the plane for column s of w. */
static void columns_of(const struct problem *t, int64_t s, int64_t *first, int64_t *end)
{
	const int64_t at = s * t->dilation[1] - t->padding[1], step = t->stride[1];
	*first = at < 0 ? (-at + step - 1) / step : 0;
	*end = at < t->w ? (t->w - 1 - at) / step + 1 : 0;
	if (*end > t->q)
		*end = t->q;
}

/* Adds the products of one row of x, one weight and one row of y to what is written. */
static void add_row(const struct problem *t, enum operand written, double *x, double *w, double *y,
		    int64_t n)
{
	const int64_t step = t->stride[1];
	double sum = 0;
	if (written == Y)
		for (int64_t i = 0; i < n; i++)
			y[i] += *w * x[i * step];
	else if (written == X)
		for (int64_t i = 0; i < n; i++)
			x[i * step] += *w * y[i];
	else
		for (int64_t i = 0; i < n; i++)
			sum += x[i * step] * y[i];
	if (written == W)
		*w += sum;
}

/* The same for a plane of x, a weight (r, s) of its kernel and a plane of y. */
static void add_plane(const struct problem *t, enum operand written, int64_t r, int64_t s,
		      double *x, double *w, double *y)
{
	int64_t first, end, column;
	columns_of(t, s, &first, &end);
	column = first * t->stride[1] + s * t->dilation[1] - t->padding[1];
	for (int64_t p = 0; p < t->p && first < end; p++) {
		int64_t row = p * t->stride[0] + r * t->dilation[0] - t->padding[0];
		if (row >= 0 && row < t->h)
			add_row(t, written, x + row * t->w + column, w, y + p * t->q + first,
				end - first);
	}
}

/* Adds all products of the formula to what is written. */
static void add_products(const struct problem *t, enum operand written, double *x, double *w,
			 double *y)
{
	const int64_t kernel = t->r * t->s, x_plane = t->h * t->w, y_plane = t->p * t->q;
	for (int64_t image = 0; image < t->n * t->g; image++)
		for (int64_t o = 0; o < t->o; o++)
			for (int64_t i = 0; i < t->c * kernel; i++) {
				int64_t filter = image % t->g * t->o + o, c = i / kernel;
				add_plane(t, written, i % kernel / t->s, i % t->s,
					  x + (image * t->c + c) * x_plane,
					  w + filter * t->c * kernel + i,
					  y + (image * t->o + o) * y_plane);
			}
}

/* ---- Sums over channels ----------------------------------------------------------------------*/

/* An operand as (outer, channels, inner), with channels those of the result in a group. */
struct channels {
	int64_t outer, n, inner;
	int64_t repeat; /* adjacent outer indices of one group */
};

/* The operand that has the channels of the result. */
static enum operand partner(enum operand written)
{
	return written == W ? Y : W;
}

static struct channels channels_of(const struct problem *t, enum operand written,
				   enum operand operand)
{
	if (written == X && operand == W)
		return (struct channels){t->g * t->o, t->c, t->r * t->s, t->o};
	if (operand == X)
		return (struct channels){t->n * t->g, t->c, t->h * t->w, 1};
	if (operand == W)
		return (struct channels){t->g, t->o, t->c * t->r * t->s, 1};
	return (struct channels){t->n * t->g, t->o, t->p * t->q, 1};
}

/* to[outer, inner] := the sum over channels of v[group, channel] from[outer, channel, inner] */
static double *fold(const double *from, const struct channels *c, int64_t n_groups, const double *v)
{
	double *to = numbers((size_t)(c->outer * c->inner));
	for (int64_t i = 0; i < c->outer * c->n; i++) {
		const int64_t group = i / c->n / c->repeat % n_groups;
		const double factor = v[group * c->n + i % c->n];
		double *sums = to + i / c->n * c->inner;
		for (int64_t j = 0; j < c->inner && factor != 0; j++)
			sums[j] += factor * from[i * c->inner + j];
	}
	return to;
}

/* The terms of an element's sum.  With a stride only every other weight meets an element of x. */
static double n_terms(const struct trial *trial)
{
	const struct problem *t = &trial->problem;
	const int64_t down = t->dilation[0] == 1 ? t->stride[0] : 1;
	const int64_t across = t->dilation[1] == 1 ? t->stride[1] : 1;
	if (trial->written == Y)
		return (double)(t->c * t->r * t->s);
	if (trial->written == W)
		return (double)(t->n * t->p * t->q);
	const int64_t rows = (t->r + down - 1) / down, columns = (t->s + across - 1) / across;
	return (double)(t->o * rows * columns);
}

static double tolerance_of(const struct trial *trial, double begin)
{
	return layer_product_tolerance(kit_family_epsilon(trial->kit, TN_FAMILY_CONV, trial->dtype),
				       n_terms(trial), begin);
}

/* The squares of the tolerances, stored numbers being rounded once more. */
static double *squared_tolerances(const struct trial *trial, const double *found,
				  const double *begin)
{
	uint64_t count = trial->data[trial->written].count;
	double *all = numbers(count);
	const double of_products = tolerance_of(trial, 0);
	for (uint64_t i = 0; i < count; i++) {
		double tolerance = begin ? tolerance_of(trial, begin[i]) : of_products;
		if (tn_is_narrow(trial->dtype))
			tolerance += tn_half_unit(trial->dtype) * fabs(found[i]) + 0x1p-25;
		all[i] = tolerance * tolerance;
	}
	return all;
}

/* The expected sums. */
static double *expected_sums(struct trial *trial, const double *v)
{
	const enum operand written = trial->written, other = partner(written);
	struct problem one = trial->problem;
	struct channels channels = channels_of(&one, written, other);
	double *operands[3] = {trial->host[X], trial->host[W], trial->host[Y]};
	operands[other] = fold(trial->host[other], &channels, one.g, v);
	channels = channels_of(&one, written, written);
	operands[written] = numbers((size_t)(channels.outer * channels.inner));
	if (written == X)
		one.c = 1;
	else
		one.o = 1;
	add_products(&one, written, operands[X], operands[W], operands[Y]);
	free(operands[other]);
	return operands[written];
}

/* Compares the sums of the channels, times v. */
static void compare_sums(struct trial *trial, const double *found, const double *squares,
			 const double *v, double deviations, const char *what)
{
	const struct problem *t = &trial->problem;
	const struct channels channels = channels_of(t, trial->written, trial->written);
	const size_t n_v = (size_t)(t->g * channels.n);
	double *chosen = numbers(n_v), *expected = expected_sums(trial, v);
	double *sums = fold(found, &channels, t->g, v), *tolerance;
	for (size_t i = 0; i < n_v; i++)
		chosen[i] = v[i] * v[i];
	tolerance = fold(squares, &channels, t->g, chosen);
	layer_compare_sums(trial->kit, (size_t)(channels.outer * channels.inner), sums, expected,
			   tolerance, deviations, what);
	free(chosen);
	free(expected);
	free(sums);
	free(tolerance);
}

static void compare(struct trial *trial, const double *begin)
{
	const struct problem *t = &trial->problem;
	const int64_t n = trial->written == X ? t->c : t->o;
	double *found = layer_numbers(&trial->data[trial->written]);
	double *squares = squared_tolerances(trial, found, begin), *v = numbers((size_t)(t->g * n));
	char what[40];
	for (uint64_t i = 0; begin && i < trial->data[trial->written].count; i++)
		found[i] -= begin[i];
	for (int64_t i = 0; i < t->g * n; i++)
		v[i] = kit_random(trial->kit) % 2 ? 1 : -1;
	compare_sums(trial, found, squares, v, RANDOM_SIGNS, "channels with random signs");
	const int64_t channel = (int64_t)(kit_random(trial->kit) % (uint64_t)n);
	for (int64_t i = 0; i < t->g * n; i++)
		v[i] = i % n == channel ? 1.0 : 0;
	snprintf(what, sizeof(what), "channel %lld of each group", (long long)channel);
	if (!trial->is_one_of_many)
		compare_sums(trial, found, squares, v, ONE_ELEMENT, what);
	free(found);
	free(squares);
	free(v);
}

/* ---- Calls -----------------------------------------------------------------------------------*/

static void fill(struct trial *trial)
{
	const int signed_first = (int)(kit_random(trial->kit) >> 40 & 1);
	int n_factors = 0;
	for (int i = 0; i < OPERANDS; i++) {
		if (i <= Y && i != (int)trial->written)
			trial->host[i] =
				layer_fill_factor(&trial->data[i], n_factors++ == signed_first);
		else
			trial->host[i] = layer_fill(&trial->data[i], -4, 4);
	}
}

static void begin_trial(struct kit *kit, struct trial *trial, const struct sweep *sweep,
			tn_dtype dtype, const int64_t *lengths, enum layout layout)
{
	const struct problem t = problem_of(lengths);
	const int64_t y[4] = {t.n, t.g * t.o, t.p, t.q}, channels = t.g * t.o;
	const int64_t x[4] = {t.n, t.g * t.c, t.h, t.w}, w[4] = {channels, t.c, t.r, t.s};
	const int64_t *const lengths_of[OPERANDS] = {x, w, y, &channels, y};
	*trial = (struct trial){.kit = kit,
				.problem = t,
				.written = Y,
				.is_one_of_many = sweep_is_crowd(sweep, lengths),
				.dtype = dtype};
	if (sweep->slot == TN_SLOT_CONV2D_INPUT_GRADIENT)
		trial->written = X;
	if (sweep->slot == TN_SLOT_CONV2D_WEIGHT_GRADIENT)
		trial->written = W;
	sweep_case(kit, sweep, dtype, lengths, "%s", layout_names[layout]);
	for (int i = 0; i < OPERANDS; i++) {
		enum layout own =
			i == BIAS || (i == W && kit_random(kit) >> 40 & 1) ? COMPACT : layout;
		array_make(kit, &trial->data[i], i == (int)trial->written ? OUTPUT : INPUT, dtype,
			   i == BIAS ? 1 : 4, lengths_of[i], own);
		trial->all[i] = &trial->data[i];
	}
	fill(trial);
	trial->args = (struct tn_conv2d_args){.call = CALL(struct tn_conv2d_args),
					      .x = trial->data[X].operand,
					      .w = trial->data[W].operand,
					      .y = trial->data[Y].operand,
					      .bias = trial->data[BIAS].operand,
					      .residual = trial->data[RESIDUAL].operand,
					      .groups = (uint32_t)t.g};
	memcpy(trial->args.stride, t.stride, sizeof(t.stride));
	memcpy(trial->args.dilation, t.dilation, sizeof(t.dilation));
	memcpy(trial->args.padding, t.padding, sizeof(t.padding));
}

static void end(struct trial *trial)
{
	for (int i = 0; i < OPERANDS; i++) {
		free(trial->host[i]);
		array_free(&trial->data[i]);
	}
}

static void call(struct trial *trial, const double *begin)
{
	if (!trial->kit->case_failed && !kit_run(trial->kit, &trial->args, trial->all, OPERANDS))
		compare(trial, begin);
}

/* ---- The forward with its epilogue -----------------------------------------------------------*/

/* activation(sum + bias + residual), with the sums that an earlier call found. */
static void compare_activated(struct trial *trial, const double *sums)
{
	const struct problem *t = &trial->problem;
	const struct array *y = &trial->data[Y];
	const double epsilon = kit_family_epsilon(trial->kit, TN_FAMILY_CONV, trial->dtype);
	double *expected = numbers(y->count), *tolerance = numbers(y->count);
	for (uint64_t i = 0; i < y->count; i++) {
		double added =
			trial->host[BIAS][i / (uint64_t)(t->p * t->q) % (uint64_t)(t->g * t->o)];
		if (trial->args.has_residual)
			added += trial->host[RESIDUAL][i];
		expected[i] = sums[i] + added;
		tolerance[i] = 2 * tolerance_of(trial, 8);
		if (tn_is_narrow(trial->dtype))
			tolerance[i] += tn_half_unit(trial->dtype) * fabs(sums[i]) + 0x1p-25;
		kit_activate_within(trial->args.activation, epsilon, &expected[i], &tolerance[i]);
	}
	array_narrow(y, expected, tolerance);
	array_compare(y, expected, tolerance);
	free(expected);
	free(tolerance);
}

static void runs_epilogue(struct trial *trial)
{
	struct kit *kit = trial->kit;
	double *sums = layer_numbers(&trial->data[Y]);
	trial->args.has_bias = 1;
	trial->args.has_residual = (uint32_t)(kit_random(kit) % 4 != 0);
	trial->args.activation = (uint32_t)(kit_random(kit) % (TN_ACTIVATION_GELU + 1));
	snprintf(kit->case_name + strlen(kit->case_name),
		 sizeof(kit->case_name) - strlen(kit->case_name), ", activation %u%s",
		 trial->args.activation, trial->args.has_residual ? ", residual" : "");
	if (!kit->case_failed && !kit_run(kit, &trial->args, trial->all, OPERANDS))
		compare_activated(trial, sums);
	free(sums);
}

/* ---- Packed weights --------------------------------------------------------------------------*/

static void runs_packed(struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
			const int64_t *lengths, enum layout layout)
{
	struct trial trial;
	uint64_t size, workspace_size;
	const struct packing packing = {.kit = kit,
					.weights = &trial.data[W],
					.conv2d = &trial.args,
					.call = &trial.args.call,
					.packed = &trial.args.packed};
	begin_trial(kit, &trial, sweep, dtype, lengths, layout);
	size = packing_size(&packing, &workspace_size);
	if (size) {
		trial.args.packed =
			(struct tn_packed){packing_room(kit, size), PACKING_GUARD, size};
		packing_fill(&packing, size, workspace_size);
		kit->slot = TN_SLOT_CONV2D_FORWARD;
		call(&trial, NULL);
		kit->slot = TN_SLOT_CONV2D_PREPACK;
		if (!kit->case_failed)
			kit_pass(kit);
		packing_release(kit, trial.args.packed.buffer);
	}
	end(&trial);
}

/* ---- The sweeps ------------------------------------------------------------------------------*/

/* A gradient is added to what is there first, and then computed over it; in one of many cases
 * either. */
static void runs(struct kit *kit, const struct sweep *sweep, tn_dtype dtype, const int64_t *lengths,
		 enum layout layout)
{
	const unsigned one = sweep_draw(kit, sweep, dtype, lengths, 0, 4);
	struct trial trial;
	if (sweep->slot == TN_SLOT_CONV2D_PREPACK)
		return runs_packed(kit, sweep, dtype, lengths, layout);
	begin_trial(kit, &trial, sweep, dtype, lengths, layout);
	if (trial.written != Y && !(trial.is_one_of_many && one % 2)) {
		trial.args.call.flags = TN_ACCUMULATE;
		call(&trial, trial.host[trial.written]);
		trial.args.call.flags = 0;
	}
	if (trial.written == Y || !trial.is_one_of_many || one % 2)
		call(&trial, NULL);
	if (!trial.is_one_of_many)
		layer_repeat(kit, sweep, dtype, lengths, &trial.args, trial.all, OPERANDS);
	if (trial.written == Y && !kit->case_failed && (!trial.is_one_of_many || !one))
		runs_epilogue(&trial);
	end(&trial);
}

static void compact(struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
		    const int64_t *lengths)
{
	runs(kit, sweep, dtype, lengths, COMPACT);
}

static void channels_last(struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
			  const int64_t *lengths)
{
	runs(kit, sweep, dtype, lengths, CHANNELS_LAST);
}

/* Libraries have kernels of their own for each of these.  The axes are in the order of enum
 * conv_axis. */
static const struct form {
	const char *name;
	int64_t least[AXES]; /* beside three long axes */
	struct sweep_axis axes[AXES];
} forms[] = {
	{"3 x 3",
	 {1, 1, 1, 1, 1, 1, 3, 3, 1, 1, 1, 1},
	 {{"n", 1, 0},
	  {"g", 1, 0},
	  {"c", 2, 0},
	  {"o", 3, 0},
	  {"h", 4, 0},
	  {"w", 3, 0},
	  {"r", 3, 257},
	  {"s", 3, 257},
	  {"down", 1, 257},
	  {"across", 1, 257},
	  {"pad", 2, 65},
	  {"dilation", 1, 65}}},
	{"1 x 1",
	 {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
	 {{"n", 2, 0},
	  {"g", 1, 1},
	  {"c", 3, 0},
	  {"o", 4, 0},
	  {"h", 2, 0},
	  {"w", 3, 0},
	  {"r", 1, 1},
	  {"s", 1, 1},
	  {"down", 1, 257},
	  {"across", 1, 257},
	  {"pad", 1, 1},
	  {"dilation", 1, 1}}},
	{"depthwise",
	 {1, 1, 1, 1, 1, 1, 3, 3, 1, 1, 1, 1},
	 {{"n", 2, 0},
	  {"g", 3, 0},
	  {"c", 1, 1},
	  {"o", 1, 2},
	  {"h", 5, 0},
	  {"w", 4, 0},
	  {"r", 3, 257},
	  {"s", 3, 257},
	  {"down", 1, 257},
	  {"across", 1, 257},
	  {"pad", 2, 65},
	  {"dilation", 1, 65}}},
};
enum { FORMS = sizeof(forms) / sizeof(forms[0]) };

static int claims(const struct kit *kit, tn_dtype dtype)
{
	const struct tn_operand one = layer_operand(dtype, 4);
	const int slot = kit->slot == TN_SLOT_CONV2D_PREPACK ? TN_SLOT_CONV2D_FORWARD : kit->slot;
	struct tn_conv2d_args args = {.call = CALL(struct tn_conv2d_args),
				      .x = one,
				      .w = one,
				      .y = one,
				      .groups = 1,
				      .stride = {1, 1},
				      .dilation = {1, 1}};
	return layer_claims(kit, dtype, slot, &args);
}

static void sweeps(struct kit *kit, int slot, const char *name)
{
	struct sweep_cover *cover = sweep_cover_new(kit);
	for (int i = 0; i < FORMS * 2; i++) {
		char text[60];
		struct sweep sweep = {.slot = slot,
				      .name = text,
				      .n_axes = AXES,
				      .claims = claims,
				      .bytes = bytes,
				      .work = slot == TN_SLOT_CONV2D_PREPACK ? packed_work : work,
				      .run = i % 2 ? channels_last : compact};
		snprintf(text, sizeof(text), "%s, %s", name, forms[i / 2].name);
		memcpy(sweep.axes, forms[i / 2].axes, sizeof(forms[i / 2].axes));
		kit_case(kit, slot, "%s", sweep.name);
		sweep_form(kit, &sweep, slot == TN_SLOT_CONV2D_PREPACK ? NULL : cover,
			   forms[i / 2].least);
	}
	free(cover);
}

void check_sizes_conv2d_forward(struct kit *kit)
{
	sweeps(kit, TN_SLOT_CONV2D_FORWARD, "conv2d forward");
}

void check_sizes_conv2d_input_gradient(struct kit *kit)
{
	sweeps(kit, TN_SLOT_CONV2D_INPUT_GRADIENT, "conv2d input gradient");
}

void check_sizes_conv2d_weight_gradient(struct kit *kit)
{
	sweeps(kit, TN_SLOT_CONV2D_WEIGHT_GRADIENT, "conv2d weight gradient");
}

void check_sizes_conv2d_prepack(struct kit *kit)
{
	sweeps(kit, TN_SLOT_CONV2D_PREPACK, "conv2d, packed");
}
