/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The error of sums in f32: at most 8 x 2^-23 of the sum of magnitudes, however many terms there
 * are.  Plain addition in a loop loses much more; sums by pieces, in pairs or with compensation do
 * not.
 */
#include "programs.h"
#include "slots.h"

enum terms {
	TENTHS,      /* all 0.1: every rounding has the same sign for a long time */
	POSITIVE,    /* uniform in [0, 1] */
	SIGNED,      /* uniform in [-1, 1] */
	ALTERNATING, /* x, -x, with a small difference from pair to pair */
	GRADED,      /* 1, 1/2, 1/3, ... */
	TERMS,
};
static const char *const terms_names[TERMS] = {"tenths", "positive", "signed", "alternating",
					       "graded"};

static double term(struct kit *kit, enum terms terms, uint64_t i)
{
	switch (terms) {
	case TENTHS:
		return 0.1;
	case POSITIVE:
		return kit_uniform(kit, 0, 1);
	case SIGNED:
		return kit_uniform(kit, -1, 1);
	case ALTERNATING:
		return (i % 2 ? -1 : 1) * (1 + (double)(i % 1001) * 1e-4);
	default:
		return 1 / (double)(1 + i);
	}
}

/* The sums of `n` terms in each of `rows` rows. */
static void adds(struct kit *kit, enum terms terms, int64_t rows, int64_t n, enum layout layout)
{
	const double bound = 8 * 0x1p-23;
	const int64_t shape[2] = {rows, n};
	if (!kit_reaches(kit, (uint64_t)n))
		return;
	struct array in, out, *all[2] = {&in, &out};
	struct tn_program *program = identity_program(TN_F32, 1);
	double *expected = numbers((size_t)rows), *tolerance = numbers((size_t)rows);
	kit_case(kit, TN_SLOT_REDUCE, "reduce: %s, %lld rows of %lld, %s", terms_names[terms],
		 (long long)rows, (long long)n, layout_names[layout]);
	array_make(kit, &in, INPUT, TN_F32, 2, shape, layout);
	array_make(kit, &out, OUTPUT, TN_F32, 1, shape, COMPACT);
	for (uint64_t i = 0; i < in.count; i++) {
		array_set_number(&in, i, kit_representable(kit, term(kit, terms, i % (uint64_t)n)));
		double x = array_number(&in, i);
		expected[i / (uint64_t)n] += x;
		tolerance[i / (uint64_t)n] += bound * fabs(x);
	}
	for (int64_t i = 0; i < rows; i++)
		tolerance[i] += kit_rounding(kit, TN_FAMILY_REDUCE, TN_F32, expected[i]);
	struct tn_reduce_args args = {.call = CALL(struct tn_reduce_args),
				      .prologue = program,
				      .inputs = &in.operand,
				      .outputs = &out.operand,
				      .n_reduced = 1,
				      .n_values = 1,
				      .combiners = {TN_REDUCE_SUM}};
	if (kit_run_ok(kit, &args, all, 2))
		array_compare(&out, expected, tolerance);
	array_free(&in);
	array_free(&out);
	free(expected);
	free(tolerance);
	tn_program_destroy(program);
}

void check_reduce_error(struct kit *kit)
{
	static const int64_t lengths[] = {100, 1009, 10007, 100003};
	static const enum layout layouts[] = {COMPACT, REVERSED, SPACED};
	if (!kit->description.program_dtypes)
		return kit_skip(kit, "it supports no programs");
	for (int t = 0; t < TERMS; t++) {
		for (int i = 0; i < 4; i++) {
			for (int l = 0; l < 3; l++)
				adds(kit, (enum terms)t, 3, lengths[i], layouts[l]);
		}
		adds(kit, (enum terms)t, 1, 2000003, COMPACT);
	}
	adds(kit, TENTHS, 1, 20000000, COMPACT);
}
