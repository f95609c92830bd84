/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The epilogues of matmul and conv2d (bias, residual, activation) and their packed weights.  The
 * oracles are the formulas in double.  A backend may refuse any of them, but must compute what it
 * accepts.
 */
#include "packing.h"
#include "slots.h"

double kit_activate(uint32_t activation, double x)
{
	if (isnan(x))
		return x;
	switch (activation) {
	case TN_ACTIVATION_RELU:
		return x > 0 ? x : 0;
	case TN_ACTIVATION_RELU6:
		return fmin(fmax(x, 0), 6);
	case TN_ACTIVATION_SIGMOID:
		return 1 / (1 + exp(-x));
	case TN_ACTIVATION_TANH:
		return tanh(x);
	case TN_ACTIVATION_SILU:
		return x / (1 + exp(-x));
	case TN_ACTIVATION_GELU:
		return x * erfc(-x / sqrt(2)) / 2;
	default:
		return x;
	}
}

/* No activation is steeper than 1.13; its own error is a few roundings of its result and
 * argument. */
void kit_activate_within(uint32_t activation, double epsilon, double *value, double *tolerance)
{
	double x = *value;
	*value = kit_activate(activation, x);
	if (activation > TN_ACTIVATION_RELU6)
		*tolerance = 1.2 * *tolerance + 16 * epsilon * (1 + fabs(x));
}

/* ---- Products --------------------------------------------------------------------------------*/

struct product {
	int64_t batch, m, n, k;
};

static const struct product products[] = {
	{1, 1, 1, 1}, {1, 5, 7, 3}, {1, 1, 33, 20},  {1, 40, 1, 9},
	{3, 6, 5, 4}, {6, 4, 3, 7}, {1, 65, 70, 31},
};

enum { A, B, C, BIAS, OPERANDS };

static void compare_product(const struct product *p, const struct tn_matmul_args *args,
			    struct array *const *arrays, double *const *host)
{
	uint64_t n = arrays[C]->count;
	double *expected = numbers(n), *tolerance = numbers(n);
	double epsilon = kit_family_epsilon(arrays[C]->kit, TN_FAMILY_MATMUL, args->c.dtype);
	double error =
		kit_family_error(arrays[C]->kit, TN_FAMILY_MATMUL, args->c.dtype, (double)p->k, 4);
	for (uint64_t i = 0; i < n; i++) {
		int64_t j = (int64_t)i % p->n, row = (int64_t)i / p->n, batch = row / p->m;
		double sum = 0, magnitude = 0, bias = args->has_bias ? host[BIAS][j] : 0;
		double old = args->beta != 0 ? args->beta * host[C][i] : 0;
		for (int64_t k = 0; k < p->k; k++) {
			double term =
				host[A][row * p->k + k] * host[B][(batch * p->k + k) * p->n + j];
			sum += term;
			magnitude += fabs(term);
		}
		expected[i] = args->alpha * sum + old + bias;
		tolerance[i] = error * fabs(args->alpha) * magnitude +
			       epsilon * 4 * (fabs(old) + fabs(bias));
		kit_activate_within(args->activation, epsilon, &expected[i], &tolerance[i]);
	}
	array_compare(arrays[C], expected, tolerance);
	free(expected);
	free(tolerance);
}

static void multiplies(struct kit *kit, tn_dtype dtype, const struct product *p, unsigned turn,
		       uint32_t activation)
{
	const int64_t lengths[][3] = {
		{p->batch, p->m, p->k}, {p->batch, p->k, p->n}, {p->batch, p->m, p->n}};
	struct array data[OPERANDS], *all[OPERANDS];
	double *host[OPERANDS];
	kit_case(kit, TN_SLOT_MATMUL,
		 "matmul: %s, batch %lld, %lld x %lld x %lld, activation %u, form %u",
		 tn_dtype_name(dtype), (long long)p->batch, (long long)p->m, (long long)p->n,
		 (long long)p->k, activation, turn);
	for (int i = 0; i < OPERANDS; i++) {
		all[i] = &data[i];
		if (i == BIAS)
			array_make(kit, &data[i], INPUT, dtype, 1, &p->n,
				   turn % 3 ? SHIFTED : SPACED);
		else
			array_make(kit, &data[i], i == C ? OUTPUT : INPUT, dtype, 3, lengths[i],
				   SHIFTED);
		array_randomise(&data[i], i == BIAS ? -3 : -1, i == BIAS ? 7 : 1);
		host[i] = array_numbers(&data[i]);
	}
	struct tn_matmul_args args = {.call = CALL(struct tn_matmul_args),
				      .a = data[A].operand,
				      .b = data[B].operand,
				      .c = data[C].operand,
				      .alpha = turn % 2 ? 1 : -0.5,
				      .beta = turn == 2 ? 0.75 : 0,
				      .bias = data[BIAS].operand,
				      .has_bias = turn != 3,
				      .activation = activation};
	if (!kit_run(kit, &args, all, OPERANDS))
		compare_product(p, &args, all, host);
	for (int i = 0; i < OPERANDS; i++) {
		free(host[i]);
		array_free(&data[i]);
	}
}

void check_matmul_epilogue(struct kit *kit)
{
	static const tn_dtype dtypes[] = {TN_F32, TN_F64};
	if (!kit->description.matmul_dtypes)
		return kit_skip(kit, "it supports no matmul");
	for (int d = 0; d < 2; d++) {
		for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); i++) {
			for (unsigned turn = 0; turn < 28 && kit_claims_matmul(kit, dtypes[d]);
			     turn++)
				multiplies(kit, dtypes[d], &products[i], turn % 4, turn / 4);
		}
	}
}

/* ---- Convolutions ----------------------------------------------------------------------------*/

struct setting {
	int64_t x[4], w[4];
	uint32_t groups;
	int64_t stride[2], padding[4];
};

static const struct setting settings[] = {
	{{2, 3, 6, 5}, {4, 3, 3, 3}, 1, {1, 1}, {1, 1, 1, 1}},
	{{1, 1, 7, 9}, {6, 1, 5, 5}, 1, {1, 1}, {2, 2, 2, 2}},
	{{2, 4, 6, 7}, {6, 2, 3, 3}, 2, {2, 1}, {1, 0, 0, 1}},
	{{1, 8, 4, 4}, {8, 1, 3, 3}, 8, {1, 1}, {1, 1, 1, 1}},
	{{3, 16, 3, 3}, {33, 16, 1, 1}, 1, {1, 1}, {0, 0, 0, 0}},
	{{1, 32, 8, 8}, {32, 32, 3, 3}, 1, {1, 1}, {1, 1, 1, 1}},
};
enum { N_SETTINGS = sizeof(settings) / sizeof(settings[0]) };

enum { X, W, Y, SHIFT, RESIDUAL, CONV_OPERANDS };

struct trial {
	struct kit *kit;
	const struct setting *t;
	tn_dtype dtype;
	struct array data[CONV_OPERANDS], *all[CONV_OPERANDS];
	double *host[CONV_OPERANDS];
	struct tn_conv2d_args args;
};

static int64_t n_windows(const struct setting *t, int axis)
{
	return (t->x[2 + axis] + t->padding[axis] + t->padding[2 + axis] - t->w[2 + axis]) /
		       t->stride[axis] +
	       1;
}

/* The sum for element (n, o, p, q) of y, with the magnitude and number of its terms. */
static double sum_at(const struct trial *v, const int64_t *at, double *magnitude, double *n_terms)
{
	const struct setting *t = v->t;
	const int64_t *x = t->x, *w = t->w;
	int64_t first = at[1] / (w[0] / t->groups) * w[1];
	double sum = 0;
	*magnitude = *n_terms = 0;
	for (int64_t k = 0; k < w[1] * w[2] * w[3]; k++) {
		int64_t c = k / w[3] / w[2], r = k / w[3] % w[2], s = k % w[3];
		int64_t h = at[2] * t->stride[0] + r - t->padding[0];
		int64_t u = at[3] * t->stride[1] + s - t->padding[1];
		if (h < 0 || h >= x[2] || u < 0 || u >= x[3])
			continue;
		double term = v->host[X][((at[0] * x[1] + first + c) * x[2] + h) * x[3] + u] *
			      v->host[W][at[1] * w[1] * w[2] * w[3] + k];
		sum += term;
		*magnitude += fabs(term);
		*n_terms += 1;
	}
	return sum;
}

static void compare_convolution(struct trial *v)
{
	const struct array *y = &v->data[Y];
	double *expected = numbers(y->count), *tolerance = numbers(y->count);
	double epsilon = kit_family_epsilon(v->kit, TN_FAMILY_CONV, v->dtype);
	for (uint64_t i = 0; i < y->count; i++) {
		int64_t at[4];
		double magnitude, n_terms;
		shape_index(4, y->operand.shape, i, at);
		double bias = v->args.has_bias ? v->host[SHIFT][at[1]] : 0;
		double residual = v->args.has_residual ? v->host[RESIDUAL][i] : 0;
		expected[i] = sum_at(v, at, &magnitude, &n_terms) + bias + residual;
		tolerance[i] = kit_family_error(v->kit, TN_FAMILY_CONV, v->dtype, n_terms, 5) *
			       (magnitude + fabs(bias) + fabs(residual));
		kit_activate_within(v->args.activation, epsilon, &expected[i], &tolerance[i]);
	}
	array_compare(y, expected, tolerance);
	free(expected);
	free(tolerance);
}

/* All images have the same layout, as in a network. */
static void begin(struct trial *v, enum layout layout)
{
	const struct setting *t = v->t;
	const int64_t y[] = {t->x[0], t->w[0], n_windows(t, 0), n_windows(t, 1)};
	const int64_t *const lengths[] = {t->x, t->w, y, &t->w[0], y};
	for (int i = 0; i < CONV_OPERANDS; i++) {
		enum layout own = i == W || i == SHIFT ? COMPACT : layout;
		array_make(v->kit, &v->data[i], i == Y ? OUTPUT : INPUT, v->dtype,
			   i == SHIFT ? 1 : 4, lengths[i], own);
		array_randomise(&v->data[i], i == RESIDUAL ? -4 : -1, i == RESIDUAL ? 4 : 1);
		v->host[i] = array_numbers(&v->data[i]);
		v->all[i] = &v->data[i];
	}
	v->args = (struct tn_conv2d_args){.call = CALL(struct tn_conv2d_args),
					  .x = v->data[X].operand,
					  .w = v->data[W].operand,
					  .y = v->data[Y].operand,
					  .bias = v->data[SHIFT].operand,
					  .residual = v->data[RESIDUAL].operand,
					  .groups = t->groups,
					  .dilation = {1, 1}};
	memcpy(v->args.stride, t->stride, sizeof(t->stride));
	memcpy(v->args.padding, t->padding, sizeof(t->padding));
}

static void end(struct trial *v)
{
	for (int i = 0; i < CONV_OPERANDS; i++) {
		free(v->host[i]);
		array_free(&v->data[i]);
	}
}

static const enum layout image_layouts[] = {COMPACT, CHANNELS_LAST, SPACED};
enum { IMAGE_LAYOUTS = sizeof(image_layouts) / sizeof(image_layouts[0]) };

static void goes_on(struct kit *kit, tn_dtype dtype, int number, enum layout layout,
		    uint32_t activation, int has_residual)
{
	struct trial v = {.kit = kit, .t = &settings[number], .dtype = dtype};
	kit_case(kit, TN_SLOT_CONV2D_FORWARD, "conv2d: %s, setting %d, %s, activation %u%s",
		 tn_dtype_name(dtype), number, layout_names[layout], activation,
		 has_residual ? ", residual" : "");
	begin(&v, layout);
	v.args.has_bias = activation % 2;
	v.args.has_residual = (uint32_t)has_residual;
	v.args.activation = activation;
	if (!kit_run(kit, &v.args, v.all, CONV_OPERANDS))
		compare_convolution(&v);
	end(&v);
}

void check_conv2d_epilogue(struct kit *kit)
{
	static const tn_dtype dtypes[] = {TN_F32, TN_F64};
	if (!tn_backend_has(kit->backend, TN_SLOT_CONV2D_FORWARD))
		return kit_skip(kit, "the slot is empty");
	for (int i = 0; i < N_SETTINGS * IMAGE_LAYOUTS * (TN_ACTIVATION_GELU + 1); i++) {
		int number = i % N_SETTINGS, rest = i / N_SETTINGS;
		enum layout layout = image_layouts[rest % IMAGE_LAYOUTS];
		uint32_t activation = (uint32_t)(rest / IMAGE_LAYOUTS);
		tn_dtype dtype = dtypes[rest % 2];
		if (kit_claims_storage(kit, dtype))
			goes_on(kit, dtype, number, layout, activation, i % 4 != 1);
	}
}

/* ---- Packed weights --------------------------------------------------------------------------*/

/* Two rounds: changed weights are packed again into the same bytes. */
static void runs_packed(struct trial *v, const struct packing *p, uint64_t size,
			uint64_t workspace_size)
{
	struct kit *kit = v->kit;
	v->args.packed = (struct tn_packed){packing_room(kit, size), PACKING_GUARD, size};
	for (int round = 0; round < 2 && !kit->case_failed; round++) {
		kit->slot = TN_SLOT_CONV2D_PREPACK;
		array_randomise(&v->data[W], -1, 1);
		free(v->host[W]);
		v->host[W] = array_numbers(&v->data[W]);
		packing_fill(p, size, workspace_size);
		kit->slot = TN_SLOT_CONV2D_FORWARD;
		if (!kit->case_failed && !kit_run(kit, &v->args, v->all, CONV_OPERANDS))
			compare_convolution(v);
	}
	kit->slot = TN_SLOT_CONV2D_PREPACK;
	if (!kit->case_failed)
		kit->tallies[TN_SLOT_CONV2D_PREPACK].done++;
	packing_release(kit, v->args.packed.buffer);
}

static void packs(struct kit *kit, int number, enum layout layout)
{
	struct trial v = {.kit = kit, .t = &settings[number], .dtype = TN_F32};
	const struct packing p = {.kit = kit,
				  .weights = &v.data[W],
				  .conv2d = &v.args,
				  .call = &v.args.call,
				  .packed = &v.args.packed};
	uint64_t size, workspace_size;
	kit_case(kit, TN_SLOT_CONV2D_PREPACK, "conv2d, packed: f32, setting %d, %s", number,
		 layout_names[layout]);
	begin(&v, layout);
	v.args.has_bias = 1;
	size = packing_size(&p, &workspace_size);
	if (size)
		runs_packed(&v, &p, size, workspace_size);
	end(&v);
}

void check_conv2d_prepack(struct kit *kit)
{
	if (!tn_backend_has(kit->backend, TN_SLOT_CONV2D_PREPACK))
		return kit_skip(kit, "the slot is empty");
	for (int i = 0; i < N_SETTINGS * IMAGE_LAYOUTS; i++)
		packs(kit, i % N_SETTINGS, image_layouts[i / N_SETTINGS]);
}

/* rows x columns, in a batch of one axis, or of two if it is even. */
struct batch {
	uint32_t rank;
	int64_t shape[4];
};

static struct batch batch_of(int64_t n, int64_t rows, int64_t columns)
{
	if (n % 2)
		return (struct batch){3, {n, rows, columns}};
	return (struct batch){4, {2, n / 2, rows, columns}};
}

/* The matrices lie in memory from the last one on. */
static void make_factor(struct kit *kit, struct array *b, tn_dtype dtype, const struct product *p)
{
	const struct batch all = batch_of(p->batch, p->k, p->n);
	const int64_t size = p->k * p->n, half = p->batch / 2 * size;
	const int64_t strides[4] = {-half, -size, p->n, 1};
	array_make_view(kit, b, INPUT, dtype, all.rank, all.shape, strides + 4 - all.rank, 1);
	array_randomise(b, -1, 1);
}

/* A factor packed once serves products of several heights. */
static void packs_factor(struct kit *kit, tn_dtype dtype, const struct product *whole)
{
	struct array b;
	struct tn_matmul_args args = {.call = CALL(struct tn_matmul_args), .alpha = 1};
	const struct packing p = {.kit = kit,
				  .weights = &b,
				  .matmul = &args,
				  .call = &args.call,
				  .packed = &args.packed};
	uint64_t size = 0, workspace_size = 0;
	kit_case(kit, TN_SLOT_MATMUL_PREPACK, "matmul, packed: %s, batch %lld, %lld x %lld",
		 tn_dtype_name(dtype), (long long)whole->batch, (long long)whole->k,
		 (long long)whole->n);
	make_factor(kit, &b, dtype, whole);
	for (int64_t m = whole->m; m > 0 && !kit->case_failed; m = m > 1 ? m / 2 : 0) {
		const struct product part = {whole->batch, m, whole->n, whole->k};
		const struct batch of_a = batch_of(part.batch, m, part.k);
		const struct batch of_c = batch_of(part.batch, m, part.n);
		struct array a, c, *all[OPERANDS] = {&a, &b, &c};
		array_make(kit, &a, INPUT, dtype, of_a.rank, of_a.shape, COMPACT);
		array_make(kit, &c, OUTPUT, dtype, of_c.rank, of_c.shape, COMPACT);
		array_randomise(&a, -1, 1);
		args.a = a.operand;
		args.b = b.operand;
		args.c = c.operand;
		if (m == whole->m) {
			size = packing_size(&p, &workspace_size);
			args.packed = (struct tn_packed){size ? packing_room(kit, size) : 0,
							 PACKING_GUARD, size};
			if (size)
				packing_fill(&p, size, workspace_size);
		}
		double *host[OPERANDS] = {array_numbers(&a), array_numbers(&b), array_numbers(&c)};
		kit->slot = TN_SLOT_MATMUL;
		if (size && !kit->case_failed && !kit_run(kit, &args, all, C + 1))
			compare_product(&part, &args, all, host);
		kit->slot = TN_SLOT_MATMUL_PREPACK;
		for (int i = 0; i <= C; i++)
			free(host[i]);
		array_free(&a);
		array_free(&c);
	}
	if (size && !kit->case_failed)
		kit->tallies[TN_SLOT_MATMUL_PREPACK].done++;
	packing_release(kit, args.packed.buffer);
	array_free(&b);
}

void check_matmul_prepack(struct kit *kit)
{
	static const tn_dtype dtypes[] = {TN_F32, TN_F64};
	if (!tn_backend_has(kit->backend, TN_SLOT_MATMUL_PREPACK))
		return kit_skip(kit, "the slot is empty");
	for (int d = 0; d < 2; d++)
		for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); i++)
			if (kit_claims_matmul(kit, dtypes[d]))
				packs_factor(kit, dtypes[d], &products[i]);
}
