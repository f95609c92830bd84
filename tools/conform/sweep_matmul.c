/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * matmul of all sizes: m, n, k and two batch axes, transposed in memory, with gaps, and scaled.
 *
 * Every product and sum is exact in the stated accuracy, so that C has one right value whatever the
 * order, and another one if factors or sums are rounded to fewer bits: f64 in f32, f32 in TF32,
 * f16 added up in f16.  So elements times a power of two are whole numbers, and all of C is
 * compared at the price of three matrix-vector products: C v = alpha A (B v) + beta C' v modulo
 * 2^64, for random odd v (Freivalds 1977).
 */
#include "base/dtype.h"
#include "sweep_layers.h"

enum { BATCH, BATCH2, M, N, K, AXES };

/* Does the device multiply them for a wider C, whatever it claims? */
static int takes_narrow(const struct kit *kit, tn_dtype dtype)
{
	struct tn_matmul_args args = {.call = CALL(struct tn_matmul_args),
				      .a = layer_operand(dtype, 2),
				      .b = layer_operand(dtype, 2),
				      .c = layer_operand(TN_F32, 2),
				      .alpha = 1};
	return tn_is_narrow(dtype) && layer_claims(kit, dtype, TN_SLOT_MATMUL, &args);
}

static int claims_floating(const struct kit *kit, tn_dtype dtype)
{
	return tn_is_floating(dtype) && (kit_claims_matmul(kit, dtype) || takes_narrow(kit, dtype));
}

static int claims(const struct kit *kit, tn_dtype dtype)
{
	if (dtype == TN_I8 || dtype == TN_U8)
		return kit->description.matmul_dtypes != 0;
	return claims_floating(kit, dtype);
}

static int64_t largest(const int64_t *n)
{
	int64_t a = n[M] * n[K], b = n[K] * n[N], c = n[M] * n[N];
	a = a > b ? a : b;
	return (a > c ? a : c) * n[BATCH] * n[BATCH2];
}

static uint64_t bytes_of(tn_dtype dtype, const int64_t *lengths)
{
	return (uint64_t)largest(lengths) * tn_dtype_size(dtype);
}

static double work_of(const int64_t *n)
{
	double batch = (double)(n[BATCH] * n[BATCH2]);
	return batch * (double)n[M] * (double)n[N] * (double)n[K] +
	       SWEEP_VISIT * batch * (double)(n[M] * n[K] + n[K] * n[N] + n[M] * n[N]);
}

struct product {
	struct kit *kit;
	const struct sweep *sweep;
	const int64_t *n;
	uint32_t n_batch; /* axes */
	int64_t batch[2];
	tn_dtype dtypes[3];
	unsigned transposed; /* in memory: bit 0 A, 1 B, 2 C */
	int64_t gap;         /* elements between rows */
	unsigned shared;     /* bit 0: A, 1: B is one matrix for the whole batch */
	double alpha, beta;
	struct array data[3], *all[3];
	/* Row k of B times 2^(scale - shift[k]) is whole, and column k of A times 2^shift[k]. */
	int scale, *shift;
};

/* ---- Data ------------------------------------------------------------------------------------*/

/* One of two factors is a term of an exact sum, the other 1 or -1, in turns along k. */
static void set_terms(struct product *p)
{
	struct kit *kit = p->kit;
	const int64_t most = kit_random(kit) % 2 ? FEW_TERMS : MANY_TERMS;
	p->scale = sweep_grain(kit, TN_FAMILY_MATMUL, p->dtypes[0], p->n[K], most);
	for (int64_t k = 0; k < p->n[K]; k++)
		p->shift[k] = k % 2 ? p->scale : 0;
	for (int i = 0; i < 2; i++) {
		struct array *array = &p->data[i];
		const int64_t inner = i ? p->n[N] : 1;
		double *all = numbers(array->count);
		sweep_terms(kit, TN_FAMILY_MATMUL, p->dtypes[0], p->n[K], most, all, array->count);
		for (uint64_t e = 0; e < array->count; e++)
			if ((int64_t)e / inner % p->n[K] % 2 == i)
				all[e] = all[e] < 0 ? -1 : 1;
		sweep_store(array, all);
		free(all);
	}
}

/* An odd number of `bits` binary digits, times 2^-bits, in [1/2, 3/4). */
static double all_digits(uint64_t random, int bits)
{
	const uint64_t first = UINT64_C(1) << (bits - 1);
	return ldexp((double)(first | (random & (first / 2 - 1)) | 1), -bits);
}

/* Products with all digits of their dtype; the others, with which they are added up exactly, are of
 * its last digits: factors that are split into narrower pieces lose something.  Either both factors
 * of one product have half of the digits, or in two products, of which one is subtracted, one
 * factor has all. */
static void set_full(struct product *p)
{
	struct kit *kit = p->kit;
	const int digits = p->dtypes[0] == TN_F64 ? 53 : 24, half = digits / 2;
	const int64_t pairs = p->n[K] / 2, of_both = (int64_t)(kit_random(kit) % 3 == 0);
	const int64_t any = (int64_t)(kit_random(kit) % (uint64_t)p->n[K]);
	const int64_t full = of_both || !pairs ? any : any % pairs * 2, next = full + 1;
	p->scale = digits;
	for (int64_t k = 0; k < p->n[K]; k++)
		p->shift[k] = k == full && of_both ? half : k % 2 ? digits : 0;
	for (int i = 0; i < 2; i++) {
		struct array *array = &p->data[i];
		const int64_t inner = i ? p->n[N] : 1;
		double *all = numbers(array->count);
		for (uint64_t e = 0; e < array->count; e++) {
			const int64_t k = (int64_t)e / inner % p->n[K];
			const int is_full = k == full || (k == next && !of_both);
			const uint64_t random = kit_random(kit);
			double x = 1;
			if (k == full && of_both)
				x = all_digits(random, i ? digits - half : half);
			else if (k % 2 != i)
				x = is_full ? all_digits(random, digits)
					    : ldexp(1 + (double)(random & 3), -digits);
			if (is_full ? k % 2 && !i : random >> 63)
				x = -x;
			all[e] = x;
		}
		sweep_store(array, all);
		free(all);
	}
}

/* For a result of 8 bits, or one that the device rounds to as few: the terms of the second half
 * cancel those of the first, but for 8 pairs whose factors are 1 or -1. */
enum { CANCELLED = 5, PAIRS = 8 };

static int cancels(const struct product *p, int64_t k)
{
	const int64_t half = p->n[K] / 2, place = k % half;
	return k < 2 * half && place % ((half + PAIRS - 1) / PAIRS) != 0;
}

static void set_cancelling(struct product *p)
{
	struct kit *kit = p->kit;
	const int64_t half = p->n[K] / 2;
	p->scale = 2 * CANCELLED;
	for (int64_t k = 0; k < p->n[K]; k++)
		p->shift[k] = CANCELLED;
	for (int i = 0; i < 2; i++) {
		struct array *array = &p->data[i];
		const int64_t inner = i ? p->n[N] : 1;
		double *all = numbers(array->count);
		for (uint64_t e = 0; e < array->count; e++) {
			int64_t k = (int64_t)e / inner % p->n[K];
			uint64_t random = kit_random(kit);
			double sign = random & 1 ? 1 : -1;
			if (half && !cancels(p, k))
				all[e] = sign;
			else if (k < half)
				all[e] = sign * (1 + (double)(random >> 8 & 31) / 32);
			else if (half)
				all[e] = (i ? -1 : 1) * all[(int64_t)e - half * inner];
			else
				all[e] = sign;
		}
		sweep_store(array, all);
		free(all);
	}
}

/* What C has before: whole numbers, or twice as much in last digits. */
static void set_before(struct product *p, int in_last_digits)
{
	struct array *c = &p->data[2];
	sweep_set_whole(c, 2);
	if (!in_last_digits)
		return;
	double *all = numbers(c->count);
	sweep_load(c, all);
	for (uint64_t e = 0; e < c->count; e++)
		all[e] = ldexp(all[e], 1 - p->scale);
	sweep_store(c, all);
	free(all);
}

static void set(struct product *p)
{
	if (!tn_is_floating(p->dtypes[0])) {
		p->scale = 0;
		for (int i = 0; i < 3; i++)
			sweep_set_bits(&p->data[i]);
		return;
	}
	const int is_full = !tn_is_narrow(p->dtypes[0]) && kit_random(p->kit) % 3 &&
			    p->kit->description.accuracy[TN_FAMILY_MATMUL] == TN_ACCURACY_IEEE;
	if (tn_is_narrow(p->dtypes[2]) || kit_rounds(p->kit, TN_FAMILY_MATMUL, p->dtypes[2]))
		set_cancelling(p);
	else if (is_full)
		set_full(p);
	else
		set_terms(p);
	set_before(p, is_full);
}

/* ---- Arrays ----------------------------------------------------------------------------------*/

static void make_matrix(struct product *p, int which, int64_t rows, int64_t columns)
{
	struct array *array = &p->data[which];
	const int transposed = (int)(p->transposed >> which & 1);
	const int shared = which < 2 && p->shared >> which & 1;
	const uint32_t rank = p->n_batch + 2;
	int64_t stored[4];
	for (uint32_t axis = 0; axis < p->n_batch; axis++)
		stored[axis] = shared ? 1 : p->batch[axis];
	stored[rank - 2] = transposed ? columns : rows;
	stored[rank - 1] = (transposed ? rows : columns) + p->gap;
	array_make(p->kit, array, which == 2 ? OUTPUT : INPUT, p->dtypes[which], rank, stored,
		   COMPACT);
	struct tn_operand *o = &array->operand;
	if (transposed) {
		int64_t stride = o->strides[rank - 2];
		o->strides[rank - 2] = 1;
		o->strides[rank - 1] = stride;
	}
	o->shape[rank - 2] = rows;
	o->shape[rank - 1] = columns;
	array_reshaped(array);
	p->all[which] = array;
}

/* After its elements are set: those of a shared matrix are set once. */
static void share(struct product *p)
{
	for (unsigned which = 0; which < 2; which++) {
		struct array *array = &p->data[which];
		for (uint32_t axis = 0; axis < p->n_batch && p->shared >> which & 1; axis++) {
			array->operand.shape[axis] = p->batch[axis];
			array->operand.strides[axis] = 0;
		}
		array_reshaped(array);
	}
}

/* The result has the factors' dtype, or a wider one. */
static void choose(struct product *p, tn_dtype dtype, int is_wide)
{
	static const double betas[] = {0, 0, 1, -1}, alphas[] = {1, 1, -1, 2};
	const struct kit *kit = p->kit;
	const unsigned form = sweep_draw(kit, p->sweep, dtype, p->n, 0, 1 << 16);
	const int is_whole = !tn_is_floating(dtype);
	p->dtypes[0] = dtype;
	p->dtypes[1] = is_whole ? TN_I8 : dtype;
	p->dtypes[2] = is_whole ? TN_I32 : is_wide ? TN_F32 : dtype;
	p->transposed = form >> 1 & 7;
	p->gap = form >> 4 & 1 ? 3 : 0;
	p->shared = form >> 5 & 4 ? form >> 6 & 3 : 0;
	p->alpha = alphas[form >> 9 & 3];
	p->beta = betas[form >> 11 & 3];
	p->n_batch = 0;
	/* Axes of length 1 are there in half of the cases. */
	for (int axis = BATCH; axis <= BATCH2; axis++)
		if (p->n[axis] > 1 || form >> 13 & 1)
			p->batch[p->n_batch++] = p->n[axis];
}

/* ---- Comparison ------------------------------------------------------------------------------*/

/* An element times 2^shift, modulo 2^64; a number that no exact result can be is as wrong. */
static uint64_t whole(double x, int shift)
{
	const double scaled = ldexp(x, shift);
	return fabs(scaled) < 0x1p62 && scaled == rint(scaled) ? (uint64_t)(int64_t)scaled
							       : UINT64_C(1) << 62;
}

struct matrices {
	uint64_t *a, *b, *before, *after; /* row-major, whole */
};

static uint64_t *wholes(const struct product *p, int which, int64_t rows, int64_t columns)
{
	const struct array *array = &p->data[which];
	double *all = numbers(array->count);
	uint64_t *to = (uint64_t *)(void *)all; /* in place */
	sweep_load(array, all);
	for (uint64_t e = 0; e < array->count; e++) {
		int64_t k = which == 0 ? (int64_t)e % columns : (int64_t)e / columns % rows;
		int shift = which == 0 ? p->shift[k] : p->scale;
		if (which == 1)
			shift -= p->shift[k];
		to[e] = whole(all[e], shift);
	}
	return to;
}

/* sums[r] := sum over c of matrix[r, c] v[c] */
static void times(const uint64_t *matrix, int64_t rows, int64_t columns, const uint64_t *v,
		  uint64_t *sums)
{
	for (int64_t r = 0; r < rows; r++) {
		uint64_t sum = 0;
		for (int64_t c = 0; c < columns; c++)
			sum += matrix[r * columns + c] * v[c];
		sums[r] = sum;
	}
}

static uint64_t right_element(const struct product *p, const struct matrices *x, int64_t row,
			      int64_t column)
{
	const int64_t n = p->n[N], k = p->n[K], b = row / p->n[M] * k * n;
	uint64_t sum = 0;
	for (int64_t i = 0; i < k; i++)
		sum += x->a[row * k + i] * x->b[b + i * n + column];
	return (uint64_t)(int64_t)p->alpha * sum +
	       (uint64_t)(int64_t)p->beta * x->before[row * n + column];
}

/* Says which element of a row is wrong. */
static void explain(const struct product *p, const struct matrices *x, int64_t row, uint64_t mask)
{
	for (int64_t j = 0; j < p->n[N]; j++) {
		uint64_t right = right_element(p, x, row, j), found = x->after[row * p->n[N] + j];
		if ((right ^ found) & mask)
			return kit_fail(p->kit,
					"matrix %lld, row %lld, column %lld: expected %.17g "
					"exactly, found %.17g",
					(long long)(row / p->n[M]), (long long)(row % p->n[M]),
					(long long)j, ldexp((double)(int64_t)right, -p->scale),
					ldexp((double)(int64_t)found, -p->scale));
	}
	kit_fail(p->kit, "row %lld differs", (long long)row);
}

static void compare_matrix(const struct product *p, const struct matrices *x, int64_t number,
			   const uint64_t *v, uint64_t *sums)
{
	const int64_t m = p->n[M], n = p->n[N], k = p->n[K], first = number * m;
	const uint64_t mask = tn_is_floating(p->dtypes[0]) ? UINT64_MAX : UINT32_MAX;
	uint64_t *bv = sums, *abv = sums + k, *before = abv + m, *after = before + m;
	times(x->b + number * k * n, k, n, v, bv);
	times(x->a + first * k, m, k, bv, abv);
	times(x->before + first * n, m, n, v, before);
	times(x->after + first * n, m, n, v, after);
	for (int64_t i = 0; i < m; i++) {
		uint64_t right = (uint64_t)(int64_t)p->alpha * abv[i] +
				 (uint64_t)(int64_t)p->beta * before[i];
		if ((right ^ after[i]) & mask)
			return explain(p, x, first + i, mask);
	}
}

static void compare(const struct product *p, uint64_t *before)
{
	const int64_t m = p->n[M], n = p->n[N], k = p->n[K];
	struct matrices x = {wholes(p, 0, m, k), wholes(p, 1, k, n), before, wholes(p, 2, m, n)};
	uint64_t *v = malloc((size_t)n * 8), *sums = malloc((size_t)(k + 3 * m) * 8);
	if (!v || !sums)
		kit_give_up(p->kit, "the kit is out of memory");
	for (int64_t j = 0; j < n; j++)
		v[j] = sweep_odd(p->kit, (uint64_t)j);
	for (int64_t i = 0; i < p->n[BATCH] * p->n[BATCH2] && !p->kit->case_failed; i++)
		compare_matrix(p, &x, i, v, sums);
	free(x.a);
	free(x.b);
	free(x.after);
	free(v);
	free(sums);
}

/* ---- Cases -----------------------------------------------------------------------------------*/

static void repeats(struct product *p, struct tn_matmul_args *args)
{
	if (!tn_is_floating(p->dtypes[0]))
		return;
	for (int i = 0; i < 3; i++)
		sweep_set_normal(&p->data[i]);
	sweep_repeat(p->kit, p->kit->description.determinism[TN_FAMILY_MATMUL], args, p->all, 3);
}

static void multiplies_to(struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
			  const int64_t *lengths, int is_wide)
{
	struct product p = {.kit = kit, .sweep = sweep, .n = lengths};
	choose(&p, dtype, is_wide);
	sweep_case(kit, sweep, dtype, lengths,
		   "to %s, transposed %u, gap %lld, shared %u, alpha %g, beta %g",
		   tn_dtype_name(p.dtypes[2]), p.transposed, (long long)p.gap, p.shared, p.alpha,
		   p.beta);
	make_matrix(&p, 0, lengths[M], lengths[K]);
	make_matrix(&p, 1, lengths[K], lengths[N]);
	make_matrix(&p, 2, lengths[M], lengths[N]);
	p.shift = calloc((size_t)lengths[K], sizeof(*p.shift));
	if (!p.shift)
		kit_give_up(kit, "the kit is out of memory");
	set(&p);
	share(&p);
	uint64_t *before = wholes(&p, 2, lengths[M], lengths[N]);
	struct tn_matmul_args args = {.call = CALL(struct tn_matmul_args),
				      .a = p.data[0].operand,
				      .b = p.data[1].operand,
				      .c = p.data[2].operand,
				      .alpha = p.alpha,
				      .beta = p.beta};
	const int is_claimed = p.dtypes[2] == dtype;
	if (is_claimed ? kit_run_ok(kit, &args, p.all, 3) : !kit_run(kit, &args, p.all, 3)) {
		compare(&p, before);
		if (!kit->case_failed)
			repeats(&p, &args);
	}
	for (int i = 0; i < 3; i++)
		array_free(p.all[i]);
	free(before);
	free(p.shift);
}

static void multiplies(struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
		       const int64_t *lengths)
{
	const int is_claimed = !tn_is_narrow(dtype) || kit_claims_matmul(kit, dtype);
	if (is_claimed)
		multiplies_to(kit, sweep, dtype, lengths, 0);
	if (tn_is_narrow(dtype) && (!is_claimed || sweep_draw(kit, sweep, dtype, lengths, 1, 2)))
		multiplies_to(kit, sweep, dtype, lengths, 1);
}

const struct sweep sweep_of_matmul = {
	TN_SLOT_MATMUL, "matmul",
	AXES,           {{"batch", 1, 0}, {"batch2", 1, 0}, {"m", 3, 0}, {"n", 4, 0}, {"k", 5, 0}},
	claims,         bytes_of,
	work_of,        multiplies};

void check_sizes_matmul(struct kit *kit)
{
	/* So small that k is long in every dtype. */
	static const struct sweep deep = {
		TN_SLOT_MATMUL,
		"deep matmul",
		AXES,
		{{"batch", 1, 1}, {"batch2", 1, 1}, {"m", 3, 3}, {"n", 2, 2}, {"k", 5, 0}},
		claims_floating,
		bytes_of,
		work_of,
		multiplies};
	sweep_axes(kit, &sweep_of_matmul);
	sweep_axes(kit, &deep);
}
