/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Products of any size with packed factors, and with a bias and an activation.  As in
 * sweep_conv2d.c, C is compared by sums over its columns: C v = A (B v) for random signs v, which
 * see every element, and for one column.  An activation is then compared with what the product
 * without it gave.
 */
#include <stdio.h>

#include "base/dtype.h"
#include "packing.h"
#include "sweep_layers.h"

enum axis { BATCH, M, N, K, AXES };
enum operand { A, B, C, BIAS, OPERANDS };

struct trial {
	struct kit *kit;
	const int64_t *n; /* lengths */
	double epsilon;
	struct array data[OPERANDS], *all[OPERANDS];
	double *host[OPERANDS]; /* before the first call */
	struct tn_matmul_args args;
};

static uint64_t bytes(tn_dtype dtype, const int64_t *l)
{
	const int64_t matrices[3][3] = {
		{l[BATCH], l[M], l[K]}, {l[BATCH], l[K], l[N]}, {l[BATCH], l[M], l[N]}};
	uint64_t most = 0;
	for (int i = 0; i < 3; i++) {
		uint64_t size = layer_bytes(dtype, 3, matrices[i]);
		if (!size)
			return 0;
		most = size > most ? size : most;
	}
	return most;
}

static double work(const int64_t *l)
{
	const double m = (double)l[M], n = (double)l[N], k = (double)l[K];
	return (double)l[BATCH] *
	       (LAYER_PRODUCT / 8 * m * n * k + LAYER_VISIT / 4 * (m * n + m * k + n * k));
}

static int claims(const struct kit *kit, tn_dtype dtype)
{
	return tn_is_floating(dtype) && kit_claims_matmul(kit, dtype);
}

static void begin(struct kit *kit, struct trial *t, const struct sweep *sweep, tn_dtype dtype,
		  const int64_t *l)
{
	const int64_t shape[3][3] = {
		{l[BATCH], l[M], l[K]}, {l[BATCH], l[K], l[N]}, {l[BATCH], l[M], l[N]}};
	const int first_is_signed = (int)sweep_draw(kit, sweep, dtype, l, 0, 2);
	*t = (struct trial){
		.kit = kit, .n = l, .epsilon = kit_family_epsilon(kit, TN_FAMILY_MATMUL, dtype)};
	sweep_case(kit, sweep, dtype, l, "factor %d signed", !first_is_signed);
	for (int i = 0; i < OPERANDS; i++) {
		array_make(kit, &t->data[i], i == C ? OUTPUT : INPUT, dtype, i == BIAS ? 1 : 3,
			   i == BIAS ? &l[N] : shape[i], COMPACT);
		t->host[i] = i < C ? layer_fill_factor(&t->data[i], (i == A) == first_is_signed)
				   : layer_fill(&t->data[i], -4, 4);
		t->all[i] = &t->data[i];
	}
	t->args = (struct tn_matmul_args){.call = CALL(struct tn_matmul_args),
					  .a = t->data[A].operand,
					  .b = t->data[B].operand,
					  .c = t->data[C].operand,
					  .alpha = 1,
					  .bias = t->data[BIAS].operand};
}

static void end(struct trial *t)
{
	for (int i = 0; i < OPERANDS; i++) {
		free(t->host[i]);
		array_free(&t->data[i]);
	}
}

/* ---- Comparison ------------------------------------------------------------------------------*/

/* The rows of a matrix times v. */
static double *times(const double *matrix, int64_t rows, int64_t columns, const double *v)
{
	double *sums = numbers((size_t)rows);
	for (int64_t i = 0; i < rows; i++)
		for (int64_t j = 0; j < columns; j++)
			sums[i] += matrix[i * columns + j] * v[j];
	return sums;
}

/* Elements may begin with beta times their old value, and are rounded as they are stored. */
static double tolerance_of(const struct trial *t, double stored)
{
	double tolerance =
		layer_product_tolerance(t->epsilon, (double)t->n[K], 4 * fabs(t->args.beta));
	if (tn_is_narrow(t->args.c.dtype))
		tolerance += tn_half_unit(t->args.c.dtype) * fabs(stored) + 0x1p-25;
	return tolerance;
}

/* Of element i of C without what it began with; a device that computes in a narrower type rounds
 * it together with that. */
static double tolerance_at(const struct trial *t, const double *found, int64_t i)
{
	const double stored = found[i] + t->args.beta * t->host[C][i];
	return tolerance_of(t, stored) +
	       kit_rounding(t->kit, TN_FAMILY_MATMUL, t->args.c.dtype, stored);
}

/* Matrix number `at` of C, times v; found[i] is without what it began with. */
static void compare_times(const struct trial *t, int64_t at, const double *found, const double *v,
			  double deviations, const char *what)
{
	const int64_t m = t->n[M], n = t->n[N], k = t->n[K];
	double *bv = times(t->host[B] + at * k * n, k, n, v);
	double *expected = times(t->host[A] + at * m * k, m, k, bv);
	double *sums = times(found + at * m * n, m, n, v), *squares = numbers((size_t)m);
	for (int64_t i = 0; i < m; i++) {
		expected[i] *= t->args.alpha;
		for (int64_t j = 0; j < n; j++)
			squares[i] += pow(v[j] * tolerance_at(t, found, (at * m + i) * n + j), 2);
	}
	layer_compare_sums(t->kit, (size_t)m, sums, expected, squares, deviations, what);
	free(bv);
	free(expected);
	free(sums);
	free(squares);
}

static void compare(const struct trial *t)
{
	const int64_t n = t->n[N], column = (int64_t)(kit_random(t->kit) % (uint64_t)n);
	double *found = layer_numbers(&t->data[C]), *v = numbers((size_t)n);
	char text[60];
	for (uint64_t i = 0; i < t->data[C].count; i++)
		found[i] -= t->args.beta * t->host[C][i];
	for (int64_t at = 0; at < t->n[BATCH] && !t->kit->case_failed; at++) {
		for (int64_t j = 0; j < n; j++)
			v[j] = kit_random(t->kit) >> 40 & 1 ? 1 : -1;
		snprintf(text, sizeof(text), "matrix %lld, columns with random signs",
			 (long long)at);
		compare_times(t, at, found, v, RANDOM_SIGNS, text);
		for (int64_t j = 0; j < n; j++)
			v[j] = j == column;
		snprintf(text, sizeof(text), "matrix %lld, column %lld", (long long)at,
			 (long long)column);
		compare_times(t, at, found, v, ONE_ELEMENT, text);
	}
	free(found);
	free(v);
}

/* activation(what a call without it found + bias) */
static void compare_activated(const struct trial *t, const double *sums)
{
	const struct array *c = &t->data[C];
	double *expected = numbers(c->count), *tolerance = numbers(c->count);
	for (uint64_t i = 0; i < c->count; i++) {
		expected[i] = sums[i] + t->host[BIAS][i % (uint64_t)t->n[N]];
		tolerance[i] = layer_product_tolerance(t->epsilon, (double)t->n[K], 8) +
			       tolerance_of(t, sums[i]);
		kit_activate_within(t->args.activation, t->epsilon, &expected[i], &tolerance[i]);
	}
	array_narrow(c, expected, tolerance);
	layer_compare(c, expected, tolerance);
	free(expected);
	free(tolerance);
}

/* ---- Cases -----------------------------------------------------------------------------------*/

static void runs_packed(struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
			const int64_t *lengths)
{
	struct trial t;
	uint64_t size, workspace_size;
	const struct packing packing = {.kit = kit,
					.weights = &t.data[B],
					.matmul = &t.args,
					.call = &t.args.call,
					.packed = &t.args.packed};
	begin(kit, &t, sweep, dtype, lengths);
	size = packing_size(&packing, &workspace_size);
	if (size) {
		t.args.packed = (struct tn_packed){packing_room(kit, size), PACKING_GUARD, size};
		packing_fill(&packing, size, workspace_size);
		kit->slot = TN_SLOT_MATMUL;
		if (!kit->case_failed && !kit_run(kit, &t.args, t.all, OPERANDS))
			compare(&t);
		kit->slot = TN_SLOT_MATMUL_PREPACK;
		if (!kit->case_failed)
			kit_pass(kit);
		packing_release(kit, t.args.packed.buffer);
	}
	end(&t);
}

static void runs_epilogue(struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
			  const int64_t *lengths)
{
	struct trial t;
	begin(kit, &t, sweep, dtype, lengths);
	t.args.alpha = sweep_draw(kit, sweep, dtype, lengths, 1, 2) ? 1 : -0.5;
	t.args.beta = sweep_draw(kit, sweep, dtype, lengths, 2, 3) ? 0 : 0.75;
	if (!kit_run(kit, &t.args, t.all, OPERANDS)) {
		double *sums = layer_numbers(&t.data[C]);
		compare(&t);
		sweep_store(&t.data[C], t.host[C]);
		t.args.has_bias = 1;
		t.args.activation =
			sweep_draw(kit, sweep, dtype, lengths, 3, TN_ACTIVATION_GELU + 1);
		if (!kit->case_failed && !kit_run(kit, &t.args, t.all, OPERANDS))
			compare_activated(&t, sums);
		free(sums);
	}
	end(&t);
}

/* ---- The sweeps ------------------------------------------------------------------------------*/

static void sweep_of(struct kit *kit, int slot, const char *name,
		     void (*run)(struct kit *kit, const struct sweep *sweep, tn_dtype dtype,
				 const int64_t *lengths))
{
	const struct sweep sweep = {
		.slot = slot,
		.name = name,
		.n_axes = AXES,
		.axes = {{"batch", 1, 0}, {"m", 3, 0}, {"n", 4, 0}, {"k", 5, 0}},
		.claims = claims,
		.bytes = bytes,
		.work = work,
		.run = run};
	sweep_axes(kit, &sweep);
}

void check_sizes_matmul_prepack(struct kit *kit)
{
	sweep_of(kit, TN_SLOT_MATMUL_PREPACK, "matmul, packed", runs_packed);
}

void check_sizes_matmul_epilogue(struct kit *kit)
{
	sweep_of(kit, TN_SLOT_MATMUL, "matmul with epilogue", runs_epilogue);
}
