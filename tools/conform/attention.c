/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Attention: the forward with its statistics against the formula, the backward against central
 * differences of the forward.
 */
#include "conform.h"

#include "base/dtype.h"

struct shapes {
	uint32_t n_batch;
	int64_t batch[2];
	int64_t L, S, E, F;
};

static const struct shapes cases[] = {
	{0, {0}, 1, 1, 1, 1},    {0, {0}, 3, 5, 4, 2},       {1, {2}, 7, 4, 3, 5},
	{2, {2, 3}, 5, 5, 4, 4}, {2, {1, 2}, 33, 70, 16, 9},
};
enum { N_CASES = sizeof(cases) / sizeof(cases[0]) };

/* Variants of a case. */
enum { MASKED = 1, CAUSAL = 2, SHARED = 4, VARIANTS = 8 };

enum { Q, K, V, MASK, Y, MAXIMUM, LOG_SUM, DY, DQ, DK, DV, OPERANDS };

struct trial {
	struct kit *kit;
	const struct shapes *s;
	unsigned variant;
	int64_t n; /* matrices of the batch */
	double scale;
	struct array data[OPERANDS], *all[OPERANDS];
	double *host[OPERANDS];
	struct tn_attention_args args;
};

/* ---- The formula -----------------------------------------------------------------------------*/

static double score(const struct trial *t, const double *q, const double *k, int64_t at, int64_t j)
{
	const struct shapes *s = t->s;
	const int64_t batch = at / s->L, i = at % s->L;
	double sum = 0;
	for (int64_t e = 0; e < s->E; e++)
		sum += q[at * s->E + e] * k[(batch * s->S + j) * s->E + e];
	sum *= t->scale;
	if (t->variant & MASKED)
		sum += t->host[MASK][at * s->S + j];
	return t->variant & CAUSAL && j > i ? -INFINITY : sum;
}

/* Row `at` of y, and its statistics. */
static void row(const struct trial *t, const double *q, const double *k, const double *v,
		int64_t at, double *y, double *maximum, double *log_sum)
{
	const struct shapes *s = t->s;
	double *scores = numbers((size_t)s->S);
	*maximum = -INFINITY;
	for (int64_t j = 0; j < s->S; j++) {
		scores[j] = score(t, q, k, at, j);
		*maximum = fmax(*maximum, scores[j]);
	}
	double sum = exp(scores[0] - *maximum);
	for (int64_t j = 1; j < s->S; j++)
		sum += exp(scores[j] - *maximum);
	*log_sum = log(sum);
	for (int64_t f = 0; f < s->F; f++) {
		y[f] = 0;
		for (int64_t j = 0; j < s->S; j++)
			y[f] += exp(scores[j] - *maximum) / sum *
				v[(at / s->L * s->S + j) * s->F + f];
	}
	free(scores);
}

/* y from q, k and v, one after the other: what is differentiated. */
static void forward(const void *setting, const double *x, double *y)
{
	const struct trial *t = setting;
	const double *k = x + t->n * t->s->L * t->s->E, *v = k + t->n * t->s->S * t->s->E;
	double maximum, log_sum;
	for (int64_t at = 0; at < t->n * t->s->L; at++)
		row(t, x, k, v, at, y + at * t->s->F, &maximum, &log_sum);
}

/* ---- Calls -----------------------------------------------------------------------------------*/

/* (..., rows, columns), or (..., rows) with columns 0.  Shared: one matrix for the whole batch. */
static void make(struct trial *t, int which, tn_dtype dtype, int64_t rows, int64_t columns,
		 int is_shared)
{
	const struct shapes *s = t->s;
	const uint32_t rank = s->n_batch + (columns ? 2 : 1);
	const int written = which == DQ || which == DK || which == DV ||
			    (!t->all[DY] && (which == Y || which == MAXIMUM || which == LOG_SUM));
	struct array *array = &t->data[which];
	int64_t shape[4];
	for (uint32_t axis = 0; axis < s->n_batch; axis++)
		shape[axis] = is_shared ? 1 : s->batch[axis];
	shape[s->n_batch] = rows;
	if (columns)
		shape[s->n_batch + 1] = columns;
	array_make(t->kit, array, written ? OUTPUT : INPUT, dtype, rank, shape,
		   (enum layout)(((unsigned)which + t->variant) % OUTPUT_LAYOUTS));
	for (uint32_t axis = 0; is_shared && axis < s->n_batch; axis++) {
		array->operand.shape[axis] = s->batch[axis];
		array->operand.strides[axis] = 0;
	}
	array_reshaped(array);
	array_randomise(array, -1, 1);
	t->host[which] = array_numbers(array);
	t->all[which] = array;
}

static void begin(struct trial *t, tn_dtype dtype, int is_backward)
{
	const struct shapes *s = t->s;
	const tn_dtype wide = dtype == TN_F64 ? TN_F64 : TN_F32;
	const int is_shared = (t->variant & SHARED) != 0;
	t->n = (int64_t)shape_count(s->n_batch, s->batch);
	t->scale = 0.7;
	if (is_backward)
		make(t, DY, dtype, s->L, s->F, 0);
	make(t, Q, dtype, s->L, s->E, 0);
	make(t, K, dtype, s->S, s->E, is_shared);
	make(t, V, dtype, s->S, s->F, is_shared);
	make(t, MASK, dtype, s->L, s->S, 0);
	make(t, Y, dtype, s->L, s->F, 0);
	make(t, MAXIMUM, wide, s->L, 0, 0);
	make(t, LOG_SUM, wide, s->L, 0, 0);
	if (is_backward) {
		make(t, DQ, dtype, s->L, s->E, 0);
		make(t, DK, dtype, s->S, s->E, 0);
		make(t, DV, dtype, s->S, s->F, 0);
	}
	struct tn_operand *const operands[OPERANDS] = {
		&t->args.q,  &t->args.k,       &t->args.v,       &t->args.mask,
		&t->args.y,  &t->args.maximum, &t->args.log_sum, &t->args.dy,
		&t->args.dq, &t->args.dk,      &t->args.dv};
	t->args.call.struct_size = sizeof(t->args);
	t->args.scale = t->scale;
	t->args.has_mask = (t->variant & MASKED) != 0;
	t->args.causal = (t->variant & CAUSAL) != 0;
	t->args.wants = is_backward ? 7 : 0;
	for (int i = 0; i < OPERANDS; i++)
		if (t->all[i])
			*operands[i] = t->data[i].operand;
}

static void end(struct trial *t)
{
	for (int i = 0; i < OPERANDS; i++) {
		free(t->host[i]);
		if (t->all[i])
			array_free(&t->data[i]);
	}
}

static tn_status run(struct trial *t)
{
	struct array *there[OPERANDS];
	size_t n = 0;
	for (int i = 0; i < OPERANDS; i++)
		if (t->all[i])
			there[n++] = t->all[i];
	return kit_run(t->kit, &t->args, there, n);
}

/* Scores are off by E roundings and exp makes them relative, sums by S: y is below 1. */
static double error_of(const struct trial *t, tn_dtype dtype)
{
	return ((double)(t->s->E + t->s->S) + 30) * 2 * kit_epsilon(dtype);
}

static void runs_forward(struct kit *kit, tn_dtype dtype, const struct shapes *s, unsigned variant)
{
	struct trial t = {.kit = kit, .s = s, .variant = variant};
	kit_case(kit, TN_SLOT_ATTENTION_FORWARD,
		 "attention forward: %s, %lld x %lld, %lld, %lld%s%s%s", tn_dtype_name(dtype),
		 (long long)s->L, (long long)s->S, (long long)s->E, (long long)s->F,
		 variant & MASKED ? ", mask" : "", variant & CAUSAL ? ", causal" : "",
		 variant & SHARED ? ", shared" : "");
	begin(&t, dtype, 0);
	if (!run(&t)) {
		const size_t rows = (size_t)(t.n * s->L);
		double *y = numbers(t.data[Y].count), *maximum = numbers(rows);
		double *log_sum = numbers(rows), *tolerance = numbers(t.data[Y].count + rows);
		for (size_t at = 0; at < rows; at++)
			row(&t, t.host[Q], t.host[K], t.host[V], (int64_t)at,
			    y + (int64_t)at * s->F, &maximum[at], &log_sum[at]);
		for (size_t i = 0; i < t.data[Y].count + rows; i++)
			tolerance[i] = error_of(&t, dtype);
		array_compare(&t.data[MAXIMUM], maximum, tolerance);
		array_compare(&t.data[LOG_SUM], log_sum, tolerance);
		array_narrow(&t.data[Y], y, tolerance);
		array_compare(&t.data[Y], y, tolerance);
		free(y);
		free(maximum);
		free(log_sum);
		free(tolerance);
	}
	end(&t);
}

/* Gives y and the statistics their values, and returns q, k and v, one after the other. */
static double *saved(struct trial *t)
{
	const struct shapes *s = t->s;
	const size_t n_q = t->data[Q].count, n_k = t->data[K].count, n_v = t->data[V].count;
	double *x = numbers(n_q + n_k + n_v), *y = numbers((size_t)s->F);
	memcpy(x, t->host[Q], n_q * sizeof(*x));
	memcpy(x + n_q, t->host[K], n_k * sizeof(*x));
	memcpy(x + n_q + n_k, t->host[V], n_v * sizeof(*x));
	for (int64_t at = 0; at < t->n * s->L; at++) {
		double maximum, log_sum;
		row(t, t->host[Q], t->host[K], t->host[V], at, y, &maximum, &log_sum);
		array_set_number(&t->data[MAXIMUM], (uint64_t)at, maximum);
		array_set_number(&t->data[LOG_SUM], (uint64_t)at, log_sum);
		for (int64_t f = 0; f < s->F; f++)
			array_set_number(&t->data[Y], (uint64_t)(at * s->F + f), y[f]);
	}
	free(y);
	return x;
}

static void runs_backward(struct kit *kit, tn_dtype dtype, const struct shapes *s, unsigned variant)
{
	struct trial t = {.kit = kit, .s = s, .variant = variant};
	const int adds = variant % 3 == 1;
	kit_case(kit, TN_SLOT_ATTENTION_BACKWARD, "attention backward: %s, %lld x %lld%s%s%s%s",
		 tn_dtype_name(dtype), (long long)s->L, (long long)s->S,
		 variant & MASKED ? ", mask" : "", variant & CAUSAL ? ", causal" : "",
		 variant & SHARED ? ", shared" : "", adds ? ", accumulated" : "");
	begin(&t, dtype, 1);
	t.args.call.flags = adds ? TN_ACCUMULATE : 0;
	double *x = saved(&t);
	const size_t n_x = t.data[Q].count + t.data[K].count + t.data[V].count;
	double *gradient = numbers(n_x), *tolerance = numbers(n_x);
	if (!run(&t)) {
		size_t at = 0;
		differences(forward, &t, x, n_x, t.host[DY], t.data[Y].count, 1e-4, gradient);
		for (int which = DQ; which <= DV; which++) {
			const size_t count = t.data[which].count;
			for (size_t i = at; i < at + count; i++) {
				gradient[i] += adds ? t.host[which][i - at] : 0;
				tolerance[i] = (double)(s->L + s->F) * error_of(&t, dtype) +
					       1e-7 * (double)(s->L * s->F);
			}
			array_compare(&t.data[which], gradient + at, tolerance + at);
			at += count;
		}
	}
	free(x);
	free(gradient);
	free(tolerance);
	end(&t);
}

void check_attention_forward(struct kit *kit)
{
	if (!tn_backend_has(kit->backend, TN_SLOT_ATTENTION_FORWARD))
		return kit_skip(kit, "the slot is empty");
	for (int d = 0; d < LAYER_DTYPES; d++)
		for (unsigned i = 0; i < N_CASES * VARIANTS; i++)
			if (kit_claims_storage(kit, layer_dtypes[d]))
				runs_forward(kit, layer_dtypes[d], &cases[i / VARIANTS],
					     i % VARIANTS);
}

void check_attention_backward(struct kit *kit)
{
	static const tn_dtype dtypes[] = {TN_F32, TN_F64};
	if (!tn_backend_has(kit->backend, TN_SLOT_ATTENTION_BACKWARD))
		return kit_skip(kit, "the slot is empty");
	for (int d = 0; d < 2; d++)
		for (unsigned i = 0; i < (N_CASES - 1) * VARIANTS; i++)
			if (kit_claims_storage(kit, dtypes[d]))
				runs_backward(kit, dtypes[d], &cases[i / VARIANTS], i % VARIANTS);
}
