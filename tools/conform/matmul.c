/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * matmul: sizes, transpositions, row gaps, batches and scales.  The oracle sums each element's
 * products in double.
 */
#include "slots.h"

/* m, n, k and batch axes. */
struct product {
	int64_t m, n, k;
	uint32_t n_batch;
	int64_t batch[4];
};

static const struct product products[] = {
	{1, 1, 1, 0, {0}},       {1, 7, 5, 0, {0}},       {7, 1, 5, 0, {0}},
	{5, 7, 1, 0, {0}},       {1, 1, 300, 0, {0}},     {3, 4, 5, 0, {0}},
	{17, 33, 65, 0, {0}},    {64, 64, 64, 0, {0}},    {5, 3, 10007, 0, {0}},
	{130, 1, 70, 0, {0}},    {1, 260, 90, 0, {0}},    {100, 70, 40, 0, {0}},
	{300, 200, 100, 0, {0}}, {131, 137, 139, 0, {0}}, {21, 19, 1031, 0, {0}},
	{9, 11, 2048, 0, {0}},   {1201, 17, 9, 0, {0}},   {17, 1201, 9, 0, {0}},
};
enum { N_PRODUCTS = sizeof(products) / sizeof(products[0]) };

static const struct product batches[] = {
	{4, 6, 8, 1, {3}},    {1, 5, 9, 1, {7}},          {9, 1, 5, 1, {4}},
	{3, 5, 7, 2, {2, 3}}, {2, 3, 4, 4, {2, 1, 3, 2}}, {16, 16, 16, 1, {33}},
};
enum { N_BATCHES = sizeof(batches) / sizeof(batches[0]) };

/* Variations besides the sizes: bit 0, 1, 2 transpose a, b, c in memory; `gap` elements lie between
 * rows; `shared` makes a (1) or b (2) one matrix for the whole batch. */
struct form {
	unsigned transposed;
	int64_t gap;
	int shared;
	double alpha, beta;
	int whole; /* small whole numbers, whose sums are exact: no term may be missing */
};

/* An array whose inner matrices have one unit stride; the other is at least the length of a row. */
static void make_matrix(struct kit *kit, struct array *array, enum role role, tn_dtype dtype,
			const struct product *p, int64_t rows, int64_t columns, int transposed,
			int64_t gap, int shared)
{
	/* An array of the stored shape, gap included; the operand is a view of it. */
	uint32_t rank = p->n_batch + 2;
	int64_t stored[TN_MAX_RANK];
	memcpy(stored, p->batch, p->n_batch * sizeof(*stored));
	stored[rank - 2] = transposed ? columns : rows;
	stored[rank - 1] = (transposed ? rows : columns) + gap;
	for (uint32_t axis = 0; shared && axis < p->n_batch; axis++)
		stored[axis] = 1;
	array_make(kit, array, role, dtype, rank, stored, gap ? SHIFTED : COMPACT);
	struct tn_operand *o = &array->operand;
	if (transposed) {
		int64_t stride = o->strides[rank - 2];
		o->strides[rank - 2] = 1;
		o->strides[rank - 1] = stride;
	}
	o->shape[rank - 2] = rows;
	o->shape[rank - 1] = columns;
	for (uint32_t axis = 0; axis < p->n_batch; axis++) {
		o->shape[axis] = p->batch[axis];
		if (shared)
			o->strides[axis] = 0;
	}
	array_reshaped(array);
}

/* Expected values and tolerances of one inner product of n_k terms: each product and sum rounds
 * once (k + 1 roundings of at most the sum of magnitudes), then two scales and a sum. */
static void oracle(const struct array *out, const struct product *p, const struct form *f,
		   const double *a, const double *b, const double *c, double *expected,
		   double *tolerance)
{
	const tn_dtype dtype = out->operand.dtype;
	const double epsilon = kit_family_epsilon(out->kit, TN_FAMILY_MATMUL, dtype);
	const double error = kit_family_error(out->kit, TN_FAMILY_MATMUL, dtype, (double)p->k, 4);
	uint64_t n_batch = shape_count(p->n_batch, p->batch);
	for (uint64_t i = 0; i < n_batch * (uint64_t)(p->m * p->n); i++) {
		uint64_t batch = i / (uint64_t)(p->m * p->n);
		const double *row = a + ((int64_t)batch * p->m + (int64_t)i / p->n % p->m) * p->k;
		const double *column = b + (int64_t)batch * p->k * p->n + (int64_t)i % p->n;
		double sum = 0, magnitude = 0, old = f->beta != 0 ? f->beta * c[i] : 0;
		for (int64_t k = 0; k < p->k; k++) {
			sum += row[k] * column[k * p->n];
			magnitude += fabs(row[k] * column[k * p->n]);
		}
		expected[i] = f->alpha * sum + old;
		tolerance[i] = error * fabs(f->alpha) * magnitude + epsilon * 4 * fabs(old);
		/* A whole number is rounded once; so is a number too small for f16, to fewer bits
		 * than that. */
		double rounding = kit_rounding(out->kit, TN_FAMILY_MATMUL, dtype, expected[i]);
		tolerance[i] = f->whole ? rounding : fmax(tolerance[i], rounding);
	}
}

static void set_whole(struct array *array)
{
	for (uint64_t i = 0; i < array->count; i++)
		array_set_number(array, i, (double)(kit_random(array->kit) % 7) - 3);
}

static void multiplies(struct kit *kit, tn_dtype dtype, const struct product *p,
		       const struct form *f)
{
	struct array a, b, c, *all[3] = {&a, &b, &c};
	kit_case(kit, TN_SLOT_MATMUL,
		 "matmul: %s, %lld x %lld x %lld, batch %llu, transposed %u, gap %lld, shared %d, "
		 "alpha %g, beta %g",
		 tn_dtype_name(dtype), (long long)p->m, (long long)p->n, (long long)p->k,
		 (unsigned long long)shape_count(p->n_batch, p->batch), f->transposed,
		 (long long)f->gap, f->shared, f->alpha, f->beta);
	make_matrix(kit, &a, INPUT, dtype, p, p->m, p->k, f->transposed & 1, f->gap,
		    f->shared == 1);
	make_matrix(kit, &b, INPUT, dtype, p, p->k, p->n, f->transposed & 2, f->gap,
		    f->shared == 2);
	make_matrix(kit, &c, OUTPUT, dtype, p, p->m, p->n, f->transposed & 4, f->gap, 0);
	array_randomise(&a, -1, 1);
	array_randomise(&b, -1, 1);
	array_randomise(&c, -1, 1);
	if (f->whole) {
		set_whole(&a);
		set_whole(&b);
		set_whole(&c);
	}
	for (uint64_t i = 0; f->beta == 0 && i < c.count; i++)
		array_set_number(&c, i, NAN); /* which must not be read */
	double *a_numbers = array_numbers(&a), *b_numbers = array_numbers(&b),
	       *c_numbers = array_numbers(&c);
	double *expected = numbers(c.count), *tolerance = numbers(c.count);
	struct tn_matmul_args args = {.call = CALL(struct tn_matmul_args),
				      .a = a.operand,
				      .b = b.operand,
				      .c = c.operand,
				      .alpha = f->alpha,
				      .beta = f->beta};
	if (kit_run_ok(kit, &args, all, 3)) {
		oracle(&c, p, f, a_numbers, b_numbers, c_numbers, expected, tolerance);
		array_narrow(&c, expected, tolerance);
		array_compare(&c, expected, tolerance);
	}
	free(a_numbers);
	free(b_numbers);
	free(c_numbers);
	free(expected);
	free(tolerance);
	for (int i = 0; i < 3; i++)
		array_free(all[i]);
}

/* The header gives such a call no meaning yet. */
static void refuses_another_dtype(struct kit *kit, int which)
{
	static const int64_t shape[] = {4, 4};
	struct array a, b, c, *all[3] = {&a, &b, &c};
	kit_case(kit, TN_SLOT_MATMUL, "matmul: operand %d of f64, the others of f32", which);
	for (int i = 0; i < 3; i++)
		array_make(kit, all[i], i < 2 ? INPUT : OUTPUT, i == which ? TN_F64 : TN_F32, 2,
			   shape, COMPACT);
	struct tn_matmul_args args = {.call = CALL(struct tn_matmul_args),
				      .a = a.operand,
				      .b = b.operand,
				      .c = c.operand,
				      .alpha = 1};
	kit_run_refused(kit, &args, all, 3, TN_UNSUPPORTED);
	for (int i = 0; i < 3; i++)
		array_free(all[i]);
}

static const tn_dtype dtypes[] = {TN_F32, TN_F64};

/* Every size, compact; products longer than 1000 in whole numbers, since the error allowed for
 * their length would hide a missing term. */
void check_matmul_shapes(struct kit *kit)
{
	static const struct form plain = {.alpha = 1}, whole = {.alpha = 1, .whole = 1};
	multiplies(kit, TN_F32, &products[0], &plain);
	for (int which = 0; which < 3; which++)
		refuses_another_dtype(kit, which);
	for (int d = 0; d < 2; d++)
		for (unsigned i = 0; i < N_PRODUCTS && kit_claims_matmul(kit, dtypes[d]); i++) {
			multiplies(kit, dtypes[d], &products[i],
				   products[i].k < 1000 ? &plain : &whole);
			if (products[i].k < 1000)
				multiplies(kit, dtypes[d], &products[i], &whole);
		}
}

/* Every layout of the three matrices, with adjacent or separate rows: small products, products
 * larger in each direction than the blocks of usual libraries, and rows so far apart that each is
 * in its own page. */
void check_matmul_strides(struct kit *kit)
{
	static const unsigned chosen[] = {1, 2, 3, 5, 6, 9, 10}, large[] = {13, 14};
	if (!kit->description.matmul_dtypes)
		return kit_skip(kit, "it supports no matmul");
	for (int d = 0; d < 2; d++) {
		for (unsigned i = 0; i < 7 && kit_claims_matmul(kit, dtypes[d]); i++) {
			for (unsigned turn = 0; turn < 16; turn++) {
				struct form form = {.transposed = turn % 8,
						    .gap = turn >= 8 ? 3 : 0,
						    .alpha = 1,
						    .beta = turn % 3 == 1};
				multiplies(kit, dtypes[d], &products[chosen[i]], &form);
			}
		}
		for (unsigned turn = 0; turn < 8 && kit_claims_matmul(kit, dtypes[d]); turn++) {
			struct form form = {.transposed = turn, .alpha = 1, .whole = 1};
			for (int i = 0; i < 2; i++)
				multiplies(kit, dtypes[d], &products[large[i]], &form);
			form.gap = 4099;
			multiplies(kit, dtypes[d], &products[6], &form);
		}
	}
}

void check_matmul_batch(struct kit *kit)
{
	if (!kit->description.matmul_dtypes)
		return kit_skip(kit, "it supports no matmul");
	for (int d = 0; d < 2; d++) {
		for (unsigned i = 0; i < N_BATCHES && kit_claims_matmul(kit, dtypes[d]); i++) {
			for (unsigned turn = 0; turn < 12; turn++) {
				struct form form = {.transposed = (turn + i) % 8,
						    .gap = turn % 2 ? 3 : 0,
						    .shared = (int)(turn % 3),
						    .alpha = 1,
						    .beta = turn >= 6};
				multiplies(kit, dtypes[d], &batches[i], &form);
			}
		}
	}
}

/* With beta = 0 the output contains NaN before the call, which must not be read. */
void check_matmul_scale(struct kit *kit)
{
	static const double scales[][2] = {{1, 0}, {-0.5, 0}, {1, 1}, {2, -0.75}, {0, 0}, {0, 0.5}};
	static const unsigned chosen[] = {0, 1, 2, 6, 9, 10};
	if (!kit->description.matmul_dtypes)
		return kit_skip(kit, "it supports no matmul");
	for (int d = 0; d < 2; d++) {
		for (unsigned i = 0; i < 36 && kit_claims_matmul(kit, dtypes[d]); i++) {
			struct form form = {.transposed = i % 8,
					    .alpha = scales[i % 6][0],
					    .beta = scales[i % 6][1]};
			multiplies(kit, dtypes[d], &products[chosen[i / 6]], &form);
			multiplies(kit, dtypes[d], &batches[i / 6], &form);
		}
	}
}

void check_matmul_narrow(struct kit *kit)
{
	static const tn_dtype narrow[] = {TN_F16, TN_BF16};
	if (!kit_claims_matmul(kit, TN_F16) && !kit_claims_matmul(kit, TN_BF16))
		return kit_skip(kit, "it supports no matmul of f16 or bf16");
	for (int d = 0; d < 2; d++) {
		for (unsigned i = 0; i < N_PRODUCTS && kit_claims_matmul(kit, narrow[d]); i++) {
			struct form form = {
				.transposed = i % 8, .alpha = 1, .beta = i % 2 ? 0.5 : 0};
			multiplies(kit, narrow[d], &products[i], &form);
		}
	}
}
