/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Attention of any size.  The oracle is the formula of the header for every row; attention.c
 * compares the gradients' formulas with differences.
 */
#include "sweep_layers.h"

enum axis { IMAGES, HEADS, QUERIES, KEYS, SIZE, VALUES, AXES };

enum operand { Q, K, V, MASK, Y, MAXIMUM, LOG_SUM, DY, DQ, DK, DV, OPERANDS };

static uint64_t bytes(tn_dtype dtype, const int64_t *l)
{
	const int64_t longer = l[QUERIES] > l[KEYS] ? l[QUERIES] : l[KEYS];
	const int64_t wider = l[SIZE] > l[VALUES] ? l[SIZE] : l[VALUES];
	const int64_t vectors[4] = {l[IMAGES], l[HEADS], longer, wider};
	const int64_t of_scores[4] = {l[IMAGES], l[HEADS], l[QUERIES], l[KEYS]};
	const uint64_t a = layer_bytes(dtype, 4, vectors), b = layer_bytes(dtype, 4, of_scores);
	if (!a || !b)
		return 0;
	return a > b ? a : b;
}

static double work(const int64_t *l)
{
	const double matrices = (double)(l[IMAGES] * l[HEADS]);
	const double scores = (double)l[QUERIES] * (double)l[KEYS];
	const double wide = (double)(l[SIZE] + l[VALUES]);
	return matrices * (LAYER_PRODUCT * scores * wide +
			   LAYER_VISIT * (scores + (double)(l[QUERIES] + l[KEYS]) * wide));
}

struct trial {
	struct kit *kit;
	int64_t n, L, S, E, F; /* n: matrices */
	double epsilon, scale;
	struct array data[OPERANDS], *all[OPERANDS];
	double *host[OPERANDS]; /* before the first call */
	struct tn_attention_args args;
};

/* ---- The oracle ------------------------------------------------------------------------------*/

static double dot(const double *a, const double *b, int64_t n)
{
	double sum = 0;
	for (int64_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

/* s[i, j] of row `at`, which counts the rows of all matrices. */
static void scores(const struct trial *t, int64_t at, double *s)
{
	const double *k = t->host[K] + at / t->L * t->S * t->E;
	for (int64_t j = 0; j < t->S; j++) {
		s[j] = t->scale * dot(t->host[Q] + at * t->E, k + j * t->E, t->E);
		if (t->args.has_mask)
			s[j] += t->host[MASK][at * t->S + j];
		if (t->args.causal && j > at % t->L)
			s[j] = -INFINITY;
	}
}

/* Row `at` of y and its statistics; `s` has room for a row of scores. */
static void row(const struct trial *t, int64_t at, double *s, double *y, double *maximum,
		double *log_sum)
{
	const double *v = t->host[V] + at / t->L * t->S * t->F;
	double sum = 0;
	scores(t, at, s);
	*maximum = -INFINITY;
	for (int64_t j = 0; j < t->S; j++)
		*maximum = fmax(*maximum, s[j]);
	for (int64_t j = 0; j < t->S; j++)
		sum += s[j] = exp(s[j] - *maximum);
	*log_sum = log(t->S > 0 ? sum : 1);
	memset(y, 0, (size_t)t->F * sizeof(*y));
	for (int64_t j = 0; j < t->S; j++)
		for (int64_t f = 0; f < t->F; f++)
			y[f] += s[j] / sum * v[j * t->F + f];
}

static void rows(const struct trial *t, double *y, double *maximum, double *log_sum)
{
	double *s = numbers((size_t)t->S);
	for (int64_t at = 0; at < t->n * t->L; at++)
		row(t, at, s, y + at * t->F, &maximum[at], &log_sum[at]);
	free(s);
}

/* Scores are sums of E terms, below 0.3 E scale in magnitude on average; exp makes their error
 * relative. */
static double error_of(const struct trial *t)
{
	return 2 * t->epsilon *
	       (layer_terms((double)t->E + 4) * (1 + 0.3 * t->scale * (double)t->E) +
		layer_positive_terms((double)t->S) + 30);
}

/* ---- Calls -----------------------------------------------------------------------------------*/

static void make(struct trial *t, int operand, tn_dtype dtype, const int64_t *l, int64_t length,
		 int64_t width, int is_backward)
{
	const int is_output = is_backward ? operand >= DQ : operand >= Y && operand <= LOG_SUM;
	const int64_t shape[4] = {l[IMAGES], l[HEADS], length, width};
	array_make(t->kit, &t->data[operand], is_output ? OUTPUT : INPUT, dtype, width ? 4 : 3,
		   shape, operand % 3 ? COMPACT : SHIFTED);
	t->host[operand] = layer_fill(&t->data[operand], -1, 1);
	t->all[operand] = &t->data[operand];
}

static void begin(struct kit *kit, struct trial *t, const struct sweep *sweep, tn_dtype dtype,
		  const int64_t *l, int is_backward)
{
	const tn_dtype wide = dtype == TN_F64 ? TN_F64 : TN_F32;
	const unsigned draw = sweep_draw(kit, sweep, dtype, l, 0, 4);
	*t = (struct trial){.kit = kit,
			    .n = l[IMAGES] * l[HEADS],
			    .L = l[QUERIES],
			    .S = l[KEYS],
			    .E = l[SIZE],
			    .F = l[VALUES],
			    .epsilon = kit_epsilon(dtype),
			    .scale = 1 / sqrt((double)l[SIZE])};
	sweep_case(kit, sweep, dtype, l, "%s%s", draw & 1 ? "mask" : "no mask",
		   draw & 2 ? ", causal" : "");
	make(t, Q, dtype, l, t->L, t->E, is_backward);
	make(t, K, dtype, l, t->S, t->E, is_backward);
	make(t, V, dtype, l, t->S, t->F, is_backward);
	make(t, MASK, dtype, l, t->L, t->S, is_backward);
	make(t, Y, dtype, l, t->L, t->F, is_backward);
	make(t, MAXIMUM, wide, l, t->L, 0, is_backward);
	make(t, LOG_SUM, wide, l, t->L, 0, is_backward);
	if (is_backward) {
		make(t, DY, dtype, l, t->L, t->F, 1);
		make(t, DQ, dtype, l, t->L, t->E, 1);
		make(t, DK, dtype, l, t->S, t->E, 1);
		make(t, DV, dtype, l, t->S, t->F, 1);
	}
	struct tn_operand *const operands[OPERANDS] = {
		&t->args.q,  &t->args.k,       &t->args.v,       &t->args.mask,
		&t->args.y,  &t->args.maximum, &t->args.log_sum, &t->args.dy,
		&t->args.dq, &t->args.dk,      &t->args.dv};
	for (int i = 0; i < OPERANDS; i++)
		if (t->all[i])
			*operands[i] = t->data[i].operand;
	t->args.call.struct_size = sizeof(t->args);
	t->args.scale = t->scale;
	t->args.has_mask = draw & 1;
	t->args.causal = draw >> 1;
	t->args.wants = is_backward ? 7 : 0;
}

static void end(struct trial *t)
{
	for (int i = 0; i < OPERANDS; i++) {
		free(t->host[i]);
		if (t->all[i])
			array_free(&t->data[i]);
	}
}

static void compare_all(const struct array *array, const double *expected, double error)
{
	double *tolerance = numbers(array->count);
	for (uint64_t i = 0; i < array->count; i++)
		tolerance[i] = error;
	array_narrow(array, expected, tolerance);
	layer_compare(array, expected, tolerance);
	free(tolerance);
}

static void forward(struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
		    const int64_t *lengths)
{
	struct trial t;
	begin(kit, &t, sweep, dtype, lengths, 0);
	if (!kit_run(kit, &t.args, t.all, LOG_SUM + 1)) {
		rows(&t, t.host[Y], t.host[MAXIMUM], t.host[LOG_SUM]);
		for (int i = Y; i <= LOG_SUM; i++)
			compare_all(&t.data[i], t.host[i], error_of(&t));
	}
	layer_repeat(kit, sweep, dtype, lengths, &t.args, t.all, LOG_SUM + 1);
	end(&t);
}

/* y and its statistics as a forward saves them. */
static void save(struct trial *t)
{
	rows(t, t->host[Y], t->host[MAXIMUM], t->host[LOG_SUM]);
	for (int i = Y; i <= LOG_SUM; i++) {
		sweep_store(&t->data[i], t->host[i]);
		sweep_load(&t->data[i], t->host[i]);
	}
}

/* The gradients, with the sums of magnitudes of their terms. */
struct gradients {
	double *value[3], *magnitude[3]; /* dq, dk, dv */
};

static void add_multiple(double factor, const double *from, int64_t n, double *to,
			 double *magnitude)
{
	for (int64_t i = 0; i < n; i++) {
		to[i] += factor * from[i];
		magnitude[i] += fabs(factor * from[i]);
	}
}

/* What row `at` of y gives, by its probability p of key j. */
static void add_key(const struct trial *t, const struct gradients *g, int64_t at, int64_t j,
		    double p)
{
	const int64_t key = at / t->L * t->S + j;
	const double *dy = t->host[DY] + at * t->F, *y = t->host[Y] + at * t->F;
	const double *v = t->host[V] + key * t->F;
	double ds = 0, magnitude = 0;
	for (int64_t f = 0; f < t->F; f++) {
		ds += dy[f] * (v[f] - y[f]);
		magnitude += fabs(dy[f]) * (fabs(v[f]) + fabs(y[f]));
	}
	add_multiple(p, dy, t->F, g->value[2] + key * t->F, g->magnitude[2] + key * t->F);
	for (int64_t e = 0; e < t->E; e++) {
		const double q = t->scale * t->host[Q][at * t->E + e];
		const double k = t->scale * t->host[K][key * t->E + e];
		g->value[0][at * t->E + e] += p * ds * k;
		g->magnitude[0][at * t->E + e] += p * magnitude * fabs(k);
		g->value[1][key * t->E + e] += p * ds * q;
		g->magnitude[1][key * t->E + e] += p * magnitude * fabs(q);
	}
}

static void compare_gradients(struct trial *t, int accumulates)
{
	const double n = layer_positive_terms((double)(t->L + t->S + t->F));
	const double error = 2 * error_of(t) + 2 * n * t->epsilon;
	double *s = numbers((size_t)t->S);
	struct gradients g;
	for (int i = 0; i < 3; i++) {
		g.value[i] = numbers(t->data[DQ + i].count);
		g.magnitude[i] = numbers(t->data[DQ + i].count);
		for (uint64_t k = 0; k < t->data[DQ + i].count && accumulates; k++) {
			g.value[i][k] = t->host[DQ + i][k];
			g.magnitude[i][k] = fabs(g.value[i][k]);
		}
	}
	for (int64_t at = 0; at < t->n * t->L; at++) {
		scores(t, at, s);
		for (int64_t j = 0; j < t->S; j++)
			add_key(t, &g, at, j,
				exp((s[j] - t->host[MAXIMUM][at]) - t->host[LOG_SUM][at]));
	}
	for (int i = 0; i < 3; i++) {
		for (uint64_t k = 0; k < t->data[DQ + i].count; k++)
			g.magnitude[i][k] *= error;
		array_narrow(&t->data[DQ + i], g.value[i], g.magnitude[i]);
		layer_compare(&t->data[DQ + i], g.value[i], g.magnitude[i]);
		free(g.value[i]);
		free(g.magnitude[i]);
	}
	free(s);
}

static void backward(struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
		     const int64_t *lengths)
{
	struct trial t;
	begin(kit, &t, sweep, dtype, lengths, 1);
	save(&t);
	for (int accumulates = 1; accumulates >= 0 && !kit->case_failed; accumulates--) {
		t.args.call.flags = accumulates ? TN_ACCUMULATE : 0;
		if (!kit_run(kit, &t.args, t.all, OPERANDS))
			compare_gradients(&t, accumulates);
	}
	layer_repeat(kit, sweep, dtype, lengths, &t.args, t.all, OPERANDS);
	end(&t);
}

/* ---- The sweeps ------------------------------------------------------------------------------*/

static int claims(const struct kit *kit, tn_dtype dtype)
{
	const struct tn_operand one = layer_operand(dtype == TN_F64 ? TN_F64 : TN_F32, 1);
	const struct tn_operand matrix = layer_operand(dtype, 2);
	struct tn_attention_args args = {.call = CALL(struct tn_attention_args),
					 .q = matrix,
					 .k = matrix,
					 .v = matrix,
					 .y = matrix,
					 .maximum = one,
					 .log_sum = one,
					 .dy = matrix,
					 .dq = matrix,
					 .scale = 1,
					 .wants = 1};
	return layer_claims(kit, dtype, kit->slot, &args);
}

static void sweep_of(struct kit *kit, int slot, const char *name)
{
	const struct sweep sweep = {.slot = slot,
				    .name = name,
				    .n_axes = AXES,
				    .axes = {{"n", 2, 0},
					     {"heads", 3, 0},
					     {"queries", 4, 0},
					     {"keys", 5, 0},
					     {"size", 3, 0},
					     {"values", 2, 0}},
				    .claims = claims,
				    .bytes = bytes,
				    .work = work,
				    .run = slot == TN_SLOT_ATTENTION_FORWARD ? forward : backward};
	kit_case(kit, slot, "%s", name);
	sweep_axes(kit, &sweep);
}

void check_sizes_attention_forward(struct kit *kit)
{
	sweep_of(kit, TN_SLOT_ATTENTION_FORWARD, "attention forward");
}

void check_sizes_attention_backward(struct kit *kit)
{
	sweep_of(kit, TN_SLOT_ATTENTION_BACKWARD, "attention backward");
}
