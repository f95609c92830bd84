/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The CPU plugin's norms against plain loops in double: kinds, shapes, layouts, activations and
 * requested outputs as data, sentinels around the outputs, on every level that this machine
 * supports.
 */
#include "cpu_fixture.h"
#include "cpu_tensor.h"

#define EPSILON 0x1p-24

enum kind { BATCH, GROUP, LAYER };

struct setting {
	enum kind kind;
	int64_t shape[4];
	uint32_t groups;
	double scale, shift; /* of x */
};

/* Channels below, at and beyond one register of every level and the strip; rows below and beyond a
 * group of them and a block; a mean far larger than the deviation. */
static const struct setting settings[] = {
	{BATCH, {1, 1, 1, 1}, 1, 1, 0},
	{BATCH, {1, 3, 1, 1}, 1, 1, 0},
	{BATCH, {7, 1, 3, 5}, 1, 2, -1},
	{BATCH, {2, 6, 5, 4}, 1, 1, 10},
	{BATCH, {3, 16, 4, 4}, 1, 1, 0},
	{BATCH, {5, 24, 3, 3}, 1, 0.1, 100},
	{BATCH, {2, 67, 5, 7}, 1, 1, 0.5},
	{BATCH, {9, 300, 1, 1}, 1, 1, 0},
	{BATCH, {1, 40, 29, 31}, 1, 1, 1},     /* several blocks, the last one short */
	{BATCH, {1, 2, 70, 61}, 1, 0.01, 100}, /* planes longer than a chunk */
	{GROUP, {2, 6, 4, 3}, 3, 1, 0},
	{GROUP, {3, 32, 5, 5}, 1, 1, -3},
	{GROUP, {2, 10, 3, 1}, 10, 1, 0},
	{GROUP, {2, 130, 2, 3}, 2, 1, 0.5}, /* more channels in a group than processed at once */
	{GROUP, {1, 16, 50, 42}, 4, 1, 5},
	{GROUP, {4, 1, 3, 3}, 1, 1, 0},
	{LAYER, {1, 1, 1, 1}, 1, 1, 0},
	{LAYER, {1, 7, 1, 1}, 1, 1, 0},
	{LAYER, {13, 33, 1, 1}, 1, 1, 100},
	{LAYER, {6, 64, 1, 1}, 1, 1, 0},
	{LAYER, {180, 96, 1, 1}, 1, 1, 1},
	{LAYER, {3, 1000, 1, 1}, 1, 0.01, 10},
};
#define N_SETTINGS (sizeof(settings) / sizeof(*settings))

struct variant {
	uint32_t activation, has_residual, has_affine, use_statistics, wants;
	int accumulate;
};

static const struct variant variants[] = {
	{TN_ACTIVATION_NONE, 0, 1, 0, 3, 0},  {TN_ACTIVATION_RELU, 1, 1, 0, 7, 0},
	{TN_ACTIVATION_RELU6, 0, 1, 0, 3, 1}, {TN_ACTIVATION_RELU, 0, 0, 0, 1, 0},
	{TN_ACTIVATION_NONE, 1, 1, 1, 7, 0},  {TN_ACTIVATION_RELU6, 1, 1, 1, 5, 0},
	{TN_ACTIVATION_RELU, 0, 1, 0, 2, 1},  {TN_ACTIVATION_RELU, 1, 1, 0, 4, 0},
};
#define N_VARIANTS (sizeof(variants) / sizeof(*variants))

enum { DX = 1, DW = 2, DRESIDUAL = 4 };

static const struct tn_nn_table *nn_of(const struct fixture *f)
{
	return f->descriptor->query(f->instance, TN_TABLE_NN);
}

/* ---- One call -------------------------------------------------------------------------------- */

enum { X, Y, RESIDUAL, RESULT, GX, GRESIDUAL, BIG, SCALE = BIG, SHIFT, MEAN, RSTD, GW, GB, ALL };

struct call {
	const struct setting *setting;
	const struct variant *variant;
	int64_t channels, groups, plane, count; /* groups of all samples */
	struct tensor t[ALL];
};

static int64_t group_of(const struct call *c, int64_t i)
{
	const struct setting *s = c->setting;
	int64_t channel = i / c->plane % c->channels, sample = i / c->plane / c->channels;
	if (s->kind == BATCH)
		return channel;
	return s->kind == LAYER ? sample : sample * s->groups + channel / (c->channels / s->groups);
}

static int64_t channel_of(const struct call *c, int64_t i)
{
	return i / c->plane % c->channels;
}

static double number(const struct call *c, int which, int64_t i)
{
	return tensor_number(&c->t[which], i);
}

static void set(const struct call *c, int which, int64_t i, double value)
{
	*(float *)tensor_element(&c->t[which], i) = (float)value;
}

/* One number per channel or group, every third element. */
static struct tensor make_values(int64_t n)
{
	struct tensor t = tensor_make(TN_F32, (int64_t[]){n, 1, 1, 2}, LAYOUT_NCHW_GAPS);
	t.operand.strides[0] = 3;
	t.operand.shape[3] = 1;
	t.operand.rank = 1;
	return t;
}

static struct call make(const struct setting *s, const struct variant *v, enum layout layout)
{
	struct call c = {.setting = s, .variant = v, .channels = s->shape[1]};
	c.groups = s->kind == BATCH   ? c.channels
		   : s->kind == LAYER ? s->shape[0]
				      : s->shape[0] * s->groups;
	c.plane = s->shape[2] * s->shape[3];
	c.count = s->shape[0] * c.channels * c.plane;
	for (int i = 0; i < BIG; i++) {
		c.t[i] = tensor_make(TN_F32, s->shape, layout);
		if (s->kind == LAYER)
			c.t[i].operand.rank = 2;
		tensor_randomise(&c.t[i]);
	}
	for (int i = BIG; i < ALL; i++) {
		c.t[i] = make_values(i == MEAN || i == RSTD ? c.groups : c.channels);
		tensor_randomise(&c.t[i]);
	}
	for (int64_t i = 0; i < c.count; i++)
		set(&c, X, i, number(&c, X, i) * s->scale + s->shift);
	for (int64_t i = 0; i < c.groups && v->use_statistics; i++) {
		set(&c, MEAN, i, s->shift + 0.1 * s->scale * number(&c, MEAN, i));
		set(&c, RSTD, i, (1.5 + number(&c, RSTD, i)) / s->scale);
	}
	return c;
}

static void release(struct call *c)
{
	for (int i = 0; i < ALL; i++)
		tensor_free(&c->t[i]);
}

static struct tn_norm_args arguments(const struct call *c, int is_backward)
{
	return (struct tn_norm_args){
		.call = {.struct_size = sizeof(struct tn_norm_args),
			 .flags = is_backward && c->variant->accumulate ? TN_ACCUMULATE : 0},
		.x = c->t[X].operand,
		.y = c->t[Y].operand,
		.w = c->t[SCALE].operand,
		.b = c->t[SHIFT].operand,
		.mean = c->t[MEAN].operand,
		.rstd = c->t[RSTD].operand,
		.dx = c->t[GX].operand,
		.dw = c->t[GW].operand,
		.db = c->t[GB].operand,
		.residual = c->t[RESIDUAL].operand,
		.result = c->t[RESULT].operand,
		.dresidual = c->t[GRESIDUAL].operand,
		.has_affine = c->variant->has_affine,
		.use_statistics = c->variant->use_statistics,
		.wants = is_backward ? c->variant->wants : 0,
		.groups = c->setting->kind == GROUP ? c->setting->groups : 0,
		.epsilon = 1e-5,
		.has_residual = !is_backward && c->variant->has_residual,
		.activation = c->variant->activation,
	};
}

typedef tn_status (*entry)(void *device, const struct tn_norm_args *args);

static entry entry_of(const struct fixture *f, enum kind kind, int is_backward)
{
	const struct tn_nn_table *nn = nn_of(f);
	const entry all[3][2] = {{nn->batch_norm_forward, nn->batch_norm_backward},
				 {nn->group_norm_forward, nn->group_norm_backward},
				 {nn->layer_norm_forward, nn->layer_norm_backward}};
	return all[kind][is_backward];
}

/* Dry run without handles, then the call with exactly the workspace that it requested. */
static tn_status run(const struct fixture *f, enum kind kind, int is_backward,
		     const struct tn_norm_args *args)
{
	struct tn_workspace workspace = {.struct_size = sizeof(workspace)};
	struct tn_norm_args dry = *args, real = *args;
	struct tn_operand *operands[] = {&dry.x,    &dry.y,        &dry.w,      &dry.b,
					 &dry.mean, &dry.rstd,     &dry.dx,     &dry.dw,
					 &dry.db,   &dry.residual, &dry.result, &dry.dresidual};
	for (size_t i = 0; i < sizeof(operands) / sizeof(*operands); i++)
		operands[i]->buffer = 0;
	dry.call.flags |= TN_DRY_RUN;
	dry.call.workspace = real.call.workspace = &workspace;
	tn_status status = entry_of(f, kind, is_backward)(f->device, &dry);
	if (status)
		return status;
	workspace.size = workspace.minimum;
	char *memory = tn_mem_aligned(workspace.size + MARGIN, 256);
	memset(memory, 0xff, workspace.size);
	memset(memory + workspace.size, SENTINEL, MARGIN);
	workspace.buffer = (uint64_t)(uintptr_t)memory;
	status = entry_of(f, kind, is_backward)(f->device, &real);
	for (int i = 0; i < MARGIN; i++)
		assert_int_equal((unsigned char)memory[workspace.size + (size_t)i], SENTINEL);
	tn_mem_free(memory);
	return status;
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

/* A sum of n terms in f32 is off by at most this times epsilon times the sum of their sizes: at
 * most that many consecutive additions before sums are combined in double.  Blocks have up to 2048
 * rows, 8 of them to a group; runs and rows have at least 4 lanes. */
static double additions(const struct call *c, double n)
{
	double most = c->setting->kind == LAYER ? n : 2048;
	return 16 + (n < most ? n : most) / 4;
}

/* Distances from the mean, of each group. */
struct group {
	double mean, variance, spread, count;
};

static struct group *groups_of(const struct call *c)
{
	struct group *g = tn_mem_zeroed((size_t)c->groups, sizeof(*g));
	for (int64_t i = 0; i < c->count; i++)
		g[group_of(c, i)].count++;
	for (int64_t i = 0; i < c->count; i++)
		g[group_of(c, i)].mean += number(c, X, i) / g[group_of(c, i)].count;
	for (int64_t i = 0; i < c->count; i++) {
		struct group *own = &g[group_of(c, i)];
		double away = fabs(number(c, X, i) - own->mean);
		own->variance += away * away / own->count;
		own->spread = away > own->spread ? away : own->spread;
	}
	return g;
}

/* ---- Forward --------------------------------------------------------------------------------- */

static double clamped(const struct call *c, double y)
{
	if (c->variant->activation == TN_ACTIVATION_NONE)
		return y;
	y = y > 0 ? y : 0;
	return c->variant->activation == TN_ACTIVATION_RELU6 && y > 6 ? 6 : y;
}

/* The squares are those of distances of at most twice the spread (from a mean of a few); rstd's
 * error is half of the variance's, and its own roundings. */
static void check_statistics(const struct call *c, const struct group *groups)
{
	for (int64_t i = 0; i < c->groups; i++) {
		const struct group *g = &groups[i];
		double rstd = 1 / sqrt(g->variance + 1e-5), n = additions(c, g->count);
		double far = EPSILON * (fabs(g->mean) + g->spread);
		double error = (n + 8) * EPSILON * 4 * g->spread * g->spread;
		assert_close(number(c, MEAN, i), g->mean, 2 * far + n * EPSILON * 2 * g->spread);
		assert_close(number(c, RSTD, i), rstd,
			     rstd * (0.5 * error * rstd * rstd * 1.1 + 4 * EPSILON));
	}
}

/* y from the mean and rstd that were stored, or given: a subtraction, products and sums round once
 * each.  Group norm's channels also have the rounding of the mean and rstd. */
static void check_y(const struct call *c)
{
	for (int64_t i = 0; i < c->count; i++) {
		int64_t g = group_of(c, i), k = channel_of(c, i);
		double w = c->variant->has_affine ? number(c, SCALE, k) : 1;
		double b = c->variant->has_affine ? number(c, SHIFT, k) : 0;
		double residual = c->variant->has_residual ? number(c, RESIDUAL, i) : 0;
		double own = (number(c, X, i) - number(c, MEAN, g)) * number(c, RSTD, g) * w;
		assert_close(number(c, Y, i), clamped(c, own + b + residual),
			     EPSILON * (6 * fabs(own) + 3 * fabs(b) + 2 * fabs(residual)));
	}
}

static void check_forward(const struct fixture *f, const struct call *c)
{
	struct tn_norm_args args = arguments(c, 0);
	struct group *groups = groups_of(c);
	assert_ok(run(f, c->setting->kind, 0, &args));
	if (!c->variant->use_statistics)
		check_statistics(c, groups);
	check_y(c);
	for (int i = 0; i < ALL; i++)
		tensor_check_sentinels(&c->t[i]);
	tn_mem_free(groups);
}

/* ---- Backward -------------------------------------------------------------------------------- */

/* Sums, and the sums of the sizes of their terms. */
struct sums {
	double g, gx, g_size, gx_size, count;
};

static double g_of(const struct call *c, int64_t i)
{
	double result = number(c, RESULT, i), dy = number(c, Y, i);
	if (c->variant->activation == TN_ACTIVATION_NONE)
		return dy;
	if (!(result > 0) || (c->variant->activation == TN_ACTIVATION_RELU6 && result >= 6))
		return 0;
	return dy;
}

static double away_of(const struct call *c, int64_t i)
{
	int64_t g = group_of(c, i);
	return (number(c, X, i) - number(c, MEAN, g)) * number(c, RSTD, g);
}

static void add(struct sums *s, double g, double away)
{
	s->g += g;
	s->gx += g * away;
	s->g_size += fabs(g);
	s->gx_size += fabs(g * away);
	s->count++;
}

static void check_parameters(const struct call *c, const double *dw, const double *db)
{
	struct sums *sums = tn_mem_zeroed((size_t)c->channels, sizeof(*sums));
	for (int64_t i = 0; i < c->count; i++)
		add(&sums[channel_of(c, i)], g_of(c, i), away_of(c, i));
	for (int64_t k = 0; k < c->channels; k++) {
		const struct sums *s = &sums[k];
		double w = c->variant->accumulate ? dw[k] : 0,
		       b = c->variant->accumulate ? db[k] : 0;
		double n = additions(c, s->count) + 8;
		assert_close(number(c, GW, k), w + s->gx,
			     EPSILON * (n * s->gx_size + 2 * fabs(w + s->gx)));
		assert_close(number(c, GB, k), b + s->g,
			     EPSILON * (n * s->g_size + 2 * fabs(b + s->g)));
	}
	tn_mem_free(sums);
}

static void check_dx(const struct call *c)
{
	struct sums *sums = tn_mem_zeroed((size_t)c->groups, sizeof(*sums));
	for (int64_t i = 0; i < c->count; i++) {
		double w = c->variant->has_affine ? number(c, SCALE, channel_of(c, i)) : 1;
		add(&sums[group_of(c, i)], g_of(c, i) * w, away_of(c, i));
	}
	for (int64_t i = 0; i < c->count; i++) {
		const struct sums *s = &sums[group_of(c, i)];
		double w = c->variant->has_affine ? number(c, SCALE, channel_of(c, i)) : 1;
		double rstd = number(c, RSTD, group_of(c, i)), away = away_of(c, i);
		double g = g_of(c, i) * w, n = additions(c, s->count) + 8;
		double mean = c->variant->use_statistics ? 0 : s->g / s->count;
		double slope = c->variant->use_statistics ? 0 : s->gx / s->count;
		double size = (s->g_size + fabs(away) * s->gx_size) / s->count;
		assert_close(number(c, GX, i), rstd * (g - mean - away * slope),
			     EPSILON * rstd * (8 * fabs(g) + n * size));
	}
	tn_mem_free(sums);
}

static void copy_values(const struct call *c, int which, double *values)
{
	for (int64_t i = 0; i < tensor_count(&c->t[which]); i++)
		values[i] = number(c, which, i);
}

/* The statistics are those of a forward, or given; y becomes dy; result is any number with the
 * relevant signs and magnitudes. */
static void check_backward(const struct fixture *f, const struct call *c)
{
	struct tn_norm_args args = arguments(c, 1);
	uint32_t wants = c->variant->wants;
	double *dw = tn_mem_zeroed((size_t)c->channels, sizeof(*dw));
	double *db = tn_mem_zeroed((size_t)c->channels, sizeof(*db));
	tensor_randomise(&c->t[Y]);
	for (int64_t i = 0; i < c->count; i++)
		set(c, RESULT, i, i % 7 == 3 ? 0 : i % 5 == 1 ? 6 : 8 * number(c, RESULT, i));
	copy_values(c, GW, dw);
	copy_values(c, GB, db);
	assert_ok(run(f, c->setting->kind, 1, &args));
	if (wants & DW)
		check_parameters(c, dw, db);
	if (wants & DX)
		check_dx(c);
	for (int64_t i = 0; i < c->count && wants & DRESIDUAL; i++)
		assert_close(number(c, GRESIDUAL, i), g_of(c, i), 0);
	for (int i = 0; i < ALL; i++)
		tensor_check_sentinels(&c->t[i]);
	tn_mem_free(dw);
	tn_mem_free(db);
}

/* ---- Cases ----------------------------------------------------------------------------------- */

static int is_known(const struct setting *s, const struct variant *v)
{
	return s->kind != LAYER || !v->use_statistics;
}

static void check_level(const struct fixture *f, enum kind kind)
{
	static const enum layout layouts[] = {LAYOUT_NHWC, LAYOUT_NCHW, LAYOUT_NHWC_GAPS};
	for (size_t i = 0; i < N_SETTINGS * N_VARIANTS * 3; i++) {
		const struct setting *s = &settings[i / 3 / N_VARIANTS];
		const struct variant *v = &variants[i / 3 % N_VARIANTS];
		if (s->kind != kind || !is_known(s, v) || (i % 3 == 2 && v != &variants[1]))
			continue;
		struct call c = make(s, v, layouts[i % 3]);
		check_forward(f, &c);
		check_backward(f, &c);
		release(&c);
	}
}

static void agrees_with_plain_loops(enum kind kind)
{
	for (size_t i = 0; i < FIXTURE_LEVELS; i++) {
		struct fixture f = {.variant = fixture_level(i)};
		fixture_open(&f, 2);
		check_level(&f, kind);
		fixture_close(&f);
	}
}

static void batch_norm_agrees_with_plain_loops(void **unused)
{
	(void)unused;
	agrees_with_plain_loops(BATCH);
}

static void group_norm_agrees_with_plain_loops(void **unused)
{
	(void)unused;
	agrees_with_plain_loops(GROUP);
}

static void layer_norm_agrees_with_plain_loops(void **unused)
{
	(void)unused;
	agrees_with_plain_loops(LAYER);
}

/* The first row lies 70 deviations from the rest, and the mean a thousand from 0.  Squares taken
 * about 0 would lose the variance, and about the first row all but a hundredth; about the mean of
 * eight rows they are at most (70 / 8)^2 variances, each of whose sums rounds. */
static void statistics_are_right_with_a_far_mean_and_a_far_first_row(void **unused)
{
	(void)unused;
	static const struct setting far = {BATCH, {6, 20, 30, 31}, 1, 0.1, 100};
	static const enum layout layouts[] = {LAYOUT_NHWC, LAYOUT_NCHW};
	for (size_t i = 0; i < 2 * FIXTURE_LEVELS; i++) {
		struct fixture f = {.variant = fixture_level(i)};
		fixture_open(&f, 2);
		struct call c = make(&far, &variants[0], layouts[i / FIXTURE_LEVELS]);
		for (int64_t k = 0; k < c.channels; k++)
			*(float *)tensor_at(&c.t[X], 0, k, 0, 0) = 110;
		struct tn_norm_args args = arguments(&c, 0);
		struct group *groups = groups_of(&c);
		assert_ok(run(&f, BATCH, 0, &args));
		for (int64_t g = 0; g < c.groups; g++) {
			double rstd = 1 / sqrt(groups[g].variance + 1e-5);
			assert_close(number(&c, MEAN, g), groups[g].mean, 2e-7 * 100);
			assert_close(number(&c, RSTD, g), rstd, 80 * 8 * EPSILON * rstd);
		}
		tn_mem_free(groups);
		release(&c);
		fixture_close(&f);
	}
}

/* One output of each direction in place, over an input that it may overwrite. */
static void outputs_may_take_the_place_of_inputs(void **unused)
{
	(void)unused;
	static const int places[] = {X, Y, RESULT};
	struct fixture f = {0};
	fixture_open(&f, 2);
	for (size_t i = 0; i < N_SETTINGS * 6; i++) {
		const struct setting *s = &settings[i / 6];
		struct call c = make(s, &variants[1], i % 2 ? LAYOUT_NHWC : LAYOUT_NCHW);
		struct call apart = make(s, &variants[1], i % 2 ? LAYOUT_NHWC : LAYOUT_NCHW);
		for (int j = 0; j < ALL; j++)
			memcpy(apart.t[j].memory, c.t[j].memory, c.t[j].bytes);
		struct tn_norm_args args = arguments(&c, 1), others = arguments(&apart, 1);
		int gradient = places[i / 2 % 3], residual = places[(i / 2 + 1) % 3];
		args.dx = c.t[gradient].operand;
		args.dresidual = c.t[residual].operand;
		assert_ok(run(&f, s->kind, 1, &others));
		assert_ok(run(&f, s->kind, 1, &args));
		for (int64_t n = 0; n < c.count; n++) {
			assert_close(number(&c, gradient, n), number(&apart, GX, n), 0);
			assert_close(number(&c, residual, n), number(&apart, GRESIDUAL, n), 0);
		}
		args = arguments(&apart, 0);
		assert_ok(run(&f, s->kind, 0, &args));
		args.y = apart.t[X].operand;
		assert_ok(run(&f, s->kind, 0, &args));
		for (int64_t n = 0; n < c.count; n++)
			assert_close(number(&apart, X, n), number(&apart, Y, n), 0);
		release(&c);
		release(&apart);
	}
	fixture_close(&f);
}

/* All outputs of a forward and a backward, as bytes. */
static char *bits(unsigned n_threads, const struct setting *s, enum layout layout, size_t *bytes)
{
	static const int outputs[] = {MEAN, RSTD, GX, GRESIDUAL, GW, GB};
	struct fixture f = {0};
	fixture_open(&f, n_threads);
	tensor_state = 5;
	struct call c = make(s, &variants[1], layout);
	struct tn_norm_args forward = arguments(&c, 0), backward = arguments(&c, 1);
	assert_ok(run(&f, s->kind, 0, &forward));
	assert_ok(run(&f, s->kind, 1, &backward));
	*bytes = 0;
	for (size_t i = 0; i < sizeof(outputs) / sizeof(*outputs); i++)
		*bytes += c.t[outputs[i]].bytes;
	char *all = tn_mem_alloc(*bytes), *at = all;
	for (size_t i = 0; i < sizeof(outputs) / sizeof(*outputs); i++) {
		memcpy(at, c.t[outputs[i]].memory, c.t[outputs[i]].bytes);
		at += c.t[outputs[i]].bytes;
	}
	release(&c);
	fixture_close(&f);
	return all;
}

static void bits_do_not_depend_on_the_number_of_threads(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < N_SETTINGS; i++) {
		enum layout layout = i % 2 ? LAYOUT_NHWC : LAYOUT_NCHW;
		size_t bytes;
		char *one = bits(1, &settings[i], layout, &bytes);
		char *three = bits(3, &settings[i], layout, &bytes);
		assert_memory_equal(one, three, bytes);
		tn_mem_free(one);
		tn_mem_free(three);
	}
}

/* The gradient of a mean over a plane has strides of 0. */
static void a_gradient_may_be_broadcast_over_the_plane(void **unused)
{
	(void)unused;
	struct fixture f = {0};
	fixture_open(&f, 2);
	struct call c = make(&settings[6], &variants[0], LAYOUT_NHWC);
	struct tn_norm_args args = arguments(&c, 0);
	assert_ok(run(&f, BATCH, 0, &args));
	args = arguments(&c, 1);
	args.y.strides[2] = args.y.strides[3] = 0;
	assert_ok(run(&f, BATCH, 1, &args));
	for (int64_t i = 0; i < c.count; i++)
		set(&c, Y, i, number(&c, Y, i / c.plane * c.plane));
	check_parameters(&c, NULL, NULL);
	check_dx(&c);
	release(&c);
	fixture_close(&f);
}

static void a_nan_stays_in_its_group(void **unused)
{
	(void)unused;
	struct fixture f = {0};
	fixture_open(&f, 1);
	for (size_t i = 0; i < 2 * N_SETTINGS; i++) {
		struct call c =
			make(&settings[i / 2], &variants[2], i % 2 ? LAYOUT_NHWC : LAYOUT_NCHW);
		set(&c, X, c.count / 2, NAN);
		struct tn_norm_args args = arguments(&c, 0);
		assert_ok(run(&f, c.setting->kind, 0, &args));
		for (int64_t k = 0; k < c.count; k++)
			assert_int_equal(isnan(number(&c, Y, k)) != 0,
					 group_of(&c, k) == group_of(&c, c.count / 2));
		release(&c);
	}
	fixture_close(&f);
}

static void refuses(const struct fixture *f, const struct tn_norm_args *args, tn_status status,
		    const char *part)
{
	struct tn_error_info error = {.struct_size = sizeof(error)};
	struct tn_norm_args own = *args;
	own.call.error = &error;
	assert_status(nn_of(f)->group_norm_backward(f->device, &own), status);
	assert_string_equal(error.operation, "group_norm_backward");
	assert_contains(error.text, part);
}

static void what_cannot_be_done_is_refused_before_an_output_changes(void **unused)
{
	(void)unused;
	struct fixture f = {0};
	fixture_open(&f, 1);
	struct call c = make(&settings[10], &variants[1], LAYOUT_NHWC);
	const struct tn_norm_args right = arguments(&c, 1);
	struct tn_norm_args args = right;
	args.groups = 4;
	refuses(&f, &args, TN_SHAPE, "6 channels in 4 groups");
	args = right;
	args.dresidual.dtype = TN_F64;
	refuses(&f, &args, TN_UNSUPPORTED, "dresidual: expected f32");
	args = right;
	args.result.shape[3] = 1;
	refuses(&f, &args, TN_SHAPE, "result: expected x's shape");
	args = right;
	args.dw.shape[0] = 5;
	refuses(&f, &args, TN_SHAPE, "dw: expected 6 elements");
	args = right;
	args.activation = TN_ACTIVATION_TANH;
	refuses(&f, &args, TN_UNSUPPORTED, "activation 4");
	args = right;
	args.wants = 8;
	refuses(&f, &args, TN_UNSUPPORTED, "wants 0x8");
	args = right;
	args.x.strides[1] = 2;
	refuses(&f, &args, TN_UNSUPPORTED, "strides");
	args = right;
	refuses(&f, &args, TN_UNSUPPORTED, "workspace");
	for (int64_t i = 0; i < c.count; i++)
		assert_true(number(&c, GX, i) != 0);
	release(&c);
	c = make(&settings[N_SETTINGS - 1], &variants[0], LAYOUT_NCHW_GAPS);
	args = arguments(&c, 0);
	assert_status(run(&f, LAYER, 0, &args), TN_UNSUPPORTED);
	release(&c);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(batch_norm_agrees_with_plain_loops),
		cmocka_unit_test(group_norm_agrees_with_plain_loops),
		cmocka_unit_test(layer_norm_agrees_with_plain_loops),
		cmocka_unit_test(statistics_are_right_with_a_far_mean_and_a_far_first_row),
		cmocka_unit_test(outputs_may_take_the_place_of_inputs),
		cmocka_unit_test(bits_do_not_depend_on_the_number_of_threads),
		cmocka_unit_test(a_gradient_may_be_broadcast_over_the_plane),
		cmocka_unit_test(a_nan_stays_in_its_group),
		cmocka_unit_test(what_cannot_be_done_is_refused_before_an_output_changes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
