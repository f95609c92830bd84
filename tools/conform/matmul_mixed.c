/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * matmul with a C wider than A and B, and with scales.  A backend may refuse any of them, but must
 * compute what it accepts.
 */
#include "program/cast.h"
#include "slots.h"

struct product {
	int64_t batch, m, n, k;
};

static const struct product products[] = {
	{1, 1, 1, 1}, {1, 5, 7, 3}, {1, 17, 33, 65}, {3, 6, 1, 20}, {1, 9, 11, 2048},
};
enum { N_PRODUCTS = sizeof(products) / sizeof(products[0]) };

/* Of A, B and C; with has_scales a C of that dtype may have scales. */
static const struct dtypes {
	tn_dtype of[3];
	int has_scales;
} dtypes[] = {
	{{TN_F16, TN_F16, TN_F32}, 1}, {{TN_BF16, TN_BF16, TN_F32}, 1},
	{{TN_F32, TN_F32, TN_F32}, 1}, {{TN_I8, TN_I8, TN_I32}, 0},
	{{TN_U8, TN_I8, TN_I32}, 0},   {{TN_I8, TN_I8, TN_F32}, 1},
	{{TN_U8, TN_I8, TN_F32}, 1},
};
enum { N_DTYPES = sizeof(dtypes) / sizeof(dtypes[0]) };

enum { A, B, C, BIAS, A_SCALE, B_SCALE, OPERANDS };

/* What a case adds to A B. */
enum {
	TURNS_A = 1,
	TURNS_B = 2,
	ADDS = 4,
	HAS_A_SCALE = 8,
	HAS_B_SCALE = 16,
	WHOLE_TENSOR = 32,
	FROM_LAST = 64, /* the matrices of A and B lie in memory from the last one on */
	WHOLE = 128,    /* A and B are small whole numbers, whose sums are exact */
};
static const unsigned forms[] = {
	0,
	TURNS_A | ADDS,
	TURNS_B | FROM_LAST,
	HAS_A_SCALE,
	TURNS_A | TURNS_B | HAS_B_SCALE | ADDS,
	HAS_A_SCALE | HAS_B_SCALE,
	HAS_A_SCALE | HAS_B_SCALE | WHOLE_TENSOR | ADDS,
};
enum { FORMS = sizeof(forms) / sizeof(forms[0]) };

struct trial {
	const struct product *p;
	const struct dtypes *d;
	struct array data[OPERANDS], *all[OPERANDS];
	double *host[OPERANDS];
	struct tn_matmul_args args;
	int is_whole;
};

static void make_matrix(struct kit *kit, struct trial *t, int which, int64_t rows, int64_t columns,
			unsigned is_turned, unsigned is_from_last)
{
	struct array *array = &t->data[which];
	const int64_t size = rows * columns;
	const int64_t shape[3] = {t->p->batch, is_turned ? columns : rows,
				  is_turned ? rows : columns};
	const int64_t strides[3] = {is_from_last ? -size : size, shape[2], 1};
	array_make_view(kit, array, which == C ? OUTPUT : INPUT, t->d->of[which], 3, shape, strides,
			1);
	if (is_turned) {
		struct tn_operand *o = &array->operand;
		int64_t stride = o->strides[1];
		o->shape[1] = rows;
		o->shape[2] = columns;
		o->strides[1] = o->strides[2];
		o->strides[2] = stride;
		array_reshaped(array);
	}
}

/* A vector; for a whole tensor its one element, n times. */
static void make_vector(struct kit *kit, struct trial *t, int which, tn_dtype dtype, int64_t n,
			int is_whole)
{
	struct array *array = &t->data[which];
	const int64_t length = is_whole ? 1 : n;
	array_make(kit, array, INPUT, dtype, 1, &length, is_whole ? COMPACT : SPACED);
	array->operand.shape[0] = n;
	if (is_whole)
		array->operand.strides[0] = 0;
	array_reshaped(array);
}

static void set_whole(struct array *array)
{
	for (uint64_t i = 0; i < array->count; i++)
		array_set_number(array, i, (double)(kit_random(array->kit) % 7) - 3);
}

static void make(struct kit *kit, struct trial *t, unsigned form)
{
	const struct product *p = t->p;
	make_matrix(kit, t, A, p->m, p->k, form & TURNS_A, form & FROM_LAST);
	make_matrix(kit, t, B, p->k, p->n, form & TURNS_B, form & FROM_LAST);
	make_matrix(kit, t, C, p->m, p->n, 0, 0);
	make_vector(kit, t, BIAS, t->d->of[C], p->n, 0);
	make_vector(kit, t, A_SCALE, TN_F32, p->m, form & WHOLE_TENSOR);
	make_vector(kit, t, B_SCALE, TN_F32, p->n, form & WHOLE_TENSOR);
	for (int i = 0; i < OPERANDS; i++) {
		t->all[i] = &t->data[i];
		array_randomise(&t->data[i], i < BIAS ? -1 : 0.5, 1);
		if (i < C && form & WHOLE && tn_is_floating(t->d->of[i]))
			set_whole(&t->data[i]);
		t->host[i] = array_numbers(&t->data[i]);
	}
	t->args = (struct tn_matmul_args){.call = CALL(struct tn_matmul_args),
					  .a = t->data[A].operand,
					  .b = t->data[B].operand,
					  .c = t->data[C].operand,
					  .alpha = form & ADDS ? -3 : 1,
					  .beta = form & ADDS ? 2 : 0,
					  .bias = t->data[BIAS].operand,
					  .has_bias = (form & ADDS) != 0};
	t->is_whole = form & WHOLE || !tn_is_floating(t->d->of[A]);
	if (form & HAS_A_SCALE)
		t->args.a_scale = &t->data[A_SCALE].operand;
	if (form & HAS_B_SCALE)
		t->args.b_scale = &t->data[B_SCALE].operand;
}

/* The sum over k for element i of C, exact for integers, and the sum of magnitudes. */
static double sum_of(const struct trial *t, uint64_t i, double *magnitude)
{
	const struct product *p = t->p;
	int64_t j = (int64_t)i % p->n, row = (int64_t)i / p->n, batch = row / p->m;
	double sum = 0;
	*magnitude = 0;
	for (int64_t k = 0; k < p->k; k++) {
		double term =
			t->host[A][row * p->k + k] * t->host[B][(batch * p->k + k) * p->n + j];
		sum += term;
		*magnitude += fabs(term);
	}
	return sum;
}

/* The result modulo 2^32. */
static double wrapped(const struct trial *t, uint64_t i, double sum)
{
	const struct tn_matmul_args *args = &t->args;
	double rest = args->beta != 0 ? args->beta * t->host[C][i] : 0;
	if (args->has_bias)
		rest += t->host[BIAS][i % (uint64_t)t->p->n];
	return (double)(int32_t)(uint32_t)(uint64_t)(int64_t)(args->alpha * sum + rest);
}

static void compare(struct kit *kit, const struct trial *t)
{
	const struct tn_matmul_args *args = &t->args;
	const struct array *c = &t->data[C];
	const uint64_t n = (uint64_t)t->p->n, m = (uint64_t)t->p->m;
	double *expected = numbers(c->count), *tolerance = numbers(c->count);
	/* Sums of whole numbers are exact, and what follows them is in f32. */
	double epsilon = tn_is_floating(t->d->of[A])
				 ? kit_family_epsilon(kit, TN_FAMILY_MATMUL, t->d->of[A])
				 : kit_epsilon(TN_F32);
	for (uint64_t i = 0; i < c->count; i++) {
		double magnitude, sum = sum_of(t, i, &magnitude), scale = args->alpha;
		if (t->d->of[C] == TN_I32) {
			expected[i] = wrapped(t, i, sum);
			continue;
		}
		scale *= args->a_scale ? t->host[A_SCALE][i / n % m] : 1;
		scale *= args->b_scale ? t->host[B_SCALE][i % n] : 1;
		double old = args->beta != 0 ? args->beta * t->host[C][i] : 0;
		double bias = args->has_bias ? t->host[BIAS][i % n] : 0;
		double error = t->is_whole ? 6 * epsilon
					   : kit_family_error(kit, TN_FAMILY_MATMUL, t->d->of[A],
							      (double)t->p->k, 6);
		expected[i] = scale * sum + old + bias;
		tolerance[i] = error * fabs(scale) * (t->is_whole ? fabs(sum) : magnitude) +
			       epsilon * 4 * (fabs(old) + fabs(bias));
	}
	array_compare(c, expected, tolerance);
	free(expected);
	free(tolerance);
}

/* 0: the backend refuses it. */
static int multiplies(struct kit *kit, const struct dtypes *d, const struct product *p,
		      unsigned form)
{
	struct trial t = {.p = p, .d = d};
	kit_case(kit, TN_SLOT_MATMUL,
		 "matmul: %s x %s to %s, batch %lld, %lld x %lld x %lld, form %u",
		 tn_dtype_name(d->of[A]), tn_dtype_name(d->of[B]), tn_dtype_name(d->of[C]),
		 (long long)p->batch, (long long)p->m, (long long)p->n, (long long)p->k, form);
	make(kit, &t, form);
	int computes = !kit_run(kit, &t.args, t.all, OPERANDS);
	if (computes)
		compare(kit, &t);
	for (int i = 0; i < OPERANDS; i++) {
		free(t.host[i]);
		array_free(&t.data[i]);
	}
	return computes;
}

/* Each axis in turn has a length near each power of two, while the others are short. */
static void sweeps(struct kit *kit, const struct dtypes *d)
{
	enum { AXES = 4, LOWEST = 4, POWERS = 18 };
	static const int highest[AXES] = {10, 14, 14, 17};
	for (int i = 0; i < AXES * POWERS; i++) {
		const int axis = i / POWERS, power = i % POWERS;
		int64_t length[AXES] = {1, 3, 5, 7};
		if (power < LOWEST || power > highest[axis] || !kit_takes(kit))
			continue;
		length[axis] = (INT64_C(1) << power) + 1;
		if (power < highest[axis])
			length[axis] -= (int64_t)(kit_random(kit) % 3);
		const struct product p = {length[0], length[1], length[2], length[3]};
		unsigned form = forms[kit_random(kit) % FORMS];
		if (!d->has_scales)
			form &= ~(unsigned)(HAS_A_SCALE | HAS_B_SCALE);
		multiplies(kit, d, &p, form | WHOLE);
	}
}

void check_matmul_mixed(struct kit *kit)
{
	if (!kit->description.matmul_dtypes)
		return kit_skip(kit, "it supports no matmul");
	for (int d = 0; d < N_DTYPES; d++) {
		if (multiplies(kit, &dtypes[d], &products[0], 0))
			sweeps(kit, &dtypes[d]);
		for (int i = 0; i < N_PRODUCTS * FORMS; i++) {
			unsigned form = forms[i / N_PRODUCTS];
			if (dtypes[d].has_scales || !(form & (HAS_A_SCALE | HAS_B_SCALE)))
				multiplies(kit, &dtypes[d], &products[i % N_PRODUCTS], form);
		}
	}
}
