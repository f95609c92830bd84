/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Elementwise operations.
 */
#include <math.h>

#include "base/dtype.h"
#include "doctor.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

typedef tn_array *unary(const tn_array *a);
typedef tn_array *binary(const tn_array *a, const tn_array *b);

struct shapes {
	int rank_a, rank_b;
	int64_t a[4], b[4];
};

static const struct shapes broadcasts[] = {
	{1, 1, {1000}, {1000}},
	{2, 1, {33, 65}, {65}},
	{3, 3, {4, 1, 5}, {1, 3, 1}},
	{0, 2, {0}, {7, 9}},
};

static const struct {
	const char *name;
	binary *run;
	double roundings; /* 0: the same bits */
} pairs[] = {
	{"add", tn_add, 0},       {"subtract", tn_subtract, 0}, {"multiply", tn_multiply, 0},
	{"divide", tn_divide, 0}, {"maximum", tn_maximum, 0},   {"minimum", tn_minimum, 0},
	{"power", tn_power, 64},
};

void doctor_arithmetic(struct doctor_run *run)
{
	static const struct {
		const char *name;
		unary *run;
	} singles[] = {{"negative", tn_negative}, {"abs", tn_abs},     {"sign", tn_sign},
		       {"square", tn_square},     {"sqrt", tn_sqrt},   {"floor", tn_floor},
		       {"ceil", tn_ceil},         {"round", tn_round}, {"relu", tn_relu},
		       {"relu6", tn_relu6}};
	for (size_t s = 0; s < COUNT(broadcasts); s++) {
		const struct shapes *shapes = &broadcasts[s];
		tn_array *a = doctor_reals(run, 0.25, 8, shapes->rank_a, shapes->a);
		tn_array *b = doctor_reals(run, -3, 3, shapes->rank_b, shapes->b);
		for (size_t i = 0; i < COUNT(pairs); i++)
			doctor_give(run, pairs[i].run(a, b),
				    pairs[i].roundings > 0 ? DOCTOR_OF_VALUE : DOCTOR_EXACT,
				    pairs[i].roundings, "%s, shapes %zu", pairs[i].name, s);
	}
	tn_array *x = doctor_reals(run, -8, 8, 1, (int64_t[]){1021});
	for (size_t i = 0; i < COUNT(singles); i++)
		doctor_give(run, singles[i].run(x), DOCTOR_EXACT, 0, "%s", singles[i].name);
}

void doctor_functions(struct doctor_run *run)
{
	static const struct {
		const char *name;
		unary *run;
		double low, high;
		enum doctor_bound bound; /* cancellation: relative to the largest element */
	} functions[] = {
		{"exp", tn_exp, -80, 80, DOCTOR_OF_VALUE},
		{"log", tn_log, 1e-6, 1e4, DOCTOR_OF_VALUE},
		{"sin", tn_sin, -30, 30, DOCTOR_OF_VALUE},
		{"cos", tn_cos, -30, 30, DOCTOR_OF_VALUE},
		{"tanh", tn_tanh, -9, 9, DOCTOR_OF_VALUE},
		{"erf", tn_erf, -4, 4, DOCTOR_OF_VALUE},
		{"sigmoid", tn_sigmoid, -30, 30, DOCTOR_OF_VALUE},
		{"silu", tn_silu, -9, 9, DOCTOR_OF_VALUE},
		{"gelu", tn_gelu, -4, 4, DOCTOR_OF_LARGEST},
		{"gelu_tanh", tn_gelu_tanh, -4, 4, DOCTOR_OF_LARGEST},
		{"hardswish", tn_hardswish, -5, 5, DOCTOR_OF_LARGEST},
		{"hardsigmoid", tn_hardsigmoid, -5, 5, DOCTOR_OF_LARGEST},
		{"log_sigmoid", tn_log_sigmoid, -30, 30, DOCTOR_OF_LARGEST},
		{"mish", tn_mish, -9, 9, DOCTOR_OF_LARGEST},
		{"selu", tn_selu, -9, 9, DOCTOR_OF_LARGEST},
		{"softsign", tn_softsign, -30, 30, DOCTOR_OF_LARGEST},
	};
	for (size_t i = 0; i < COUNT(functions); i++) {
		tn_array *x = doctor_reals(run, functions[i].low, functions[i].high, 2,
					   (int64_t[]){37, 41});
		doctor_give(run, functions[i].run(x), functions[i].bound, 16, "%s",
			    functions[i].name);
	}
}

static int stores(const struct doctor_run *run, tn_dtype dtype)
{
	return (int)(run->storage_dtypes >> dtype & 1);
}

void doctor_integers(struct doctor_run *run)
{
	static const tn_dtype dtypes[] = {TN_I8, TN_I16, TN_I32, TN_I64, TN_U8, TN_U16, TN_U32};
	static binary *const operations[] = {tn_add, tn_subtract, tn_multiply, tn_maximum};
	for (size_t d = 0; d < COUNT(dtypes); d++) {
		if (!stores(run, dtypes[d]))
			continue;
		int wide = dtypes[d] == TN_I64;
		tn_array *a = doctor_whole(run, dtypes[d], wide ? -(INT64_C(1) << 62) : -300,
					   wide ? INT64_C(1) << 62 : 300, 1, (int64_t[]){517});
		tn_array *b = doctor_whole(run, dtypes[d], -7, 90, 1, (int64_t[]){517});
		for (size_t i = 0; i < COUNT(operations); i++)
			doctor_give(run, operations[i](a, b), DOCTOR_EXACT, 0, "%s operation %zu",
				    tn_dtype_name(dtypes[d]), i);
		doctor_give(run, tn_negative(a), DOCTOR_EXACT, 0, "%s negative",
			    tn_dtype_name(dtypes[d]));
	}
}

void doctor_comparisons(struct doctor_run *run)
{
	static const struct {
		const char *name;
		binary *run;
	} operations[] = {{"equal", tn_equal},     {"not_equal", tn_not_equal},
			  {"less", tn_less},       {"less_equal", tn_less_equal},
			  {"greater", tn_greater}, {"greater_equal", tn_greater_equal},
			  {"maximum", tn_maximum}, {"minimum", tn_minimum}};
	static const float special[] = {0, -0.0f, 1, -1, NAN, INFINITY, -INFINITY, 2.5f};
	tn_array *row = doctor_given(run, COUNT(special), special);
	tn_array *column = tn_expand_dims(row, 1);
	for (size_t i = 0; i < COUNT(operations); i++)
		doctor_give(run, operations[i].run(column, row), DOCTOR_EXACT, 0, "%s",
			    operations[i].name);
	doctor_give(run, tn_where(tn_less(column, row), column, row), DOCTOR_EXACT, 0, "where");
}

/* Complex numbers are only stored. */
void doctor_casts(struct doctor_run *run)
{
	static const float special[] = {0,     -0.0f,    0.5f,   1.5f,  2.5f,   -1.5f,    254.7f,
					65504, 70000,    -70000, 3e9f,  -3e9f,  1e20f,    -1e20f,
					NAN,   INFINITY, 1e-7f,  6e-8f, 1.001f, 1.00391f, 16777216};
	tn_array *x = doctor_given(run, COUNT(special), special);
	/* Whole numbers up to 256 are numbers of bf16 and f16. */
	const int64_t low = run->compute == TN_F32 ? -400 : -256;
	const int64_t high = run->compute == TN_F32 ? 70000 : 256;
	tn_array *whole = doctor_whole(run, TN_I64, low, high, 1, (int64_t[]){301});
	for (tn_dtype from = 1; from < TN_DTYPES; from++) {
		if (!tn_compute_dtype(from) || !stores(run, from))
			continue;
		doctor_give(run, tn_astype(x, from), DOCTOR_EXACT, 0, "f32 to %s",
			    tn_dtype_name(from));
		tn_array *source = tn_astype(whole, from);
		for (tn_dtype to = 1; to < TN_DTYPES; to++) {
			if (tn_compute_dtype(to) && stores(run, to))
				doctor_give(run, tn_astype(source, to), DOCTOR_EXACT, 0, "%s to %s",
					    tn_dtype_name(from), tn_dtype_name(to));
		}
	}
}

void doctor_long_maps(struct doctor_run *run)
{
	const int64_t n = (1 << 20) + 77;
	tn_array *x = tn_arange(run->context, TN_I32, 0, (double)n, 1);
	doctor_give(run, tn_affine(tn_astype(x, TN_F32), 2, 1), DOCTOR_EXACT, 0,
		    "2 x + 1 of %lld elements", (long long)n);
	doctor_give(run, tn_multiply(x, x), DOCTOR_EXACT, 0, "x x of %lld elements", (long long)n);
}
