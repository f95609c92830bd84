/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The CPU plugin's exact kernels (arithmetic, comparison, bits, choice, conversion, folds, random
 * numbers), in every variant that this processor runs, against the core's evaluation of single
 * values: the same bits, and a NaN for a NaN.  Lengths include tails after whole vectors.
 */
#include "check.h"
#include "kernels/kernels.h"
#include "program/cast.h"
#include "program/evaluate.h"
#include "program/opcode.h"
#include "program/random.h"

#define N 211

static const tn_dtype column_dtype[TN_COLUMNS] = {TN_BOOL, TN_I32, TN_U32, TN_I64, TN_F32, TN_F64};

/* Patterns that are special in some type, and random ones. */
static const uint64_t patterns[] = {
	0,
	1,
	2,
	0x3f800000u,
	0xbf800000u,
	0x7f800000u,
	0xff800000u,
	0x7fc00000u,
	0x80000000u,
	0x7fffffffu,
	0xffffffffu,
	0x4f000000u, /* 2^31 as f32 */
	0xcf000001u,
	0x3f000000u, /* 0.5 */
	0x40200000u, /* 2.5 */
	0x477ff000u, /* rounds to infinity in f16 */
	0x33000001u, /* rounds to the least f16 */
	0x3ff0000000000000u,
	0xbff8000000000000u,
	0x7ff0000000000000u,
	0x7ff8000000000000u,
	0x8000000000000000u,
	0x7fffffffffffffffu,
	0x0000000100000000u,
	0x4004000000000000u, /* 2.5 as f64 */
	0x36a0000000000000u, /* 2^-149 */
};

static uint64_t noise(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	uint64_t bits = *state ^ *state >> 29;
	if (*state >> 62 == 0)
		return patterns[bits % (sizeof(patterns) / sizeof(*patterns))];
	return *state >> 62 == 1 ? bits & 63 : bits * UINT64_C(0x9e3779b97f4a7c15);
}

static void fill(char *block, tn_dtype dtype, uint64_t *state)
{
	size_t size = tn_dtype_size(dtype);
	for (size_t i = 0; i < N; i++) {
		uint64_t bits = noise(state);
		if (dtype == TN_BOOL)
			bits &= 1;
		memcpy(block + i * size, &bits, size);
	}
}

static uint64_t element(const char *block, tn_dtype dtype, size_t i)
{
	uint64_t bits = 0;
	size_t size = tn_dtype_size(dtype);
	memcpy(&bits, block + i * size, size);
	return bits;
}

static int is_nan(tn_dtype dtype, uint64_t bits)
{
	return tn_is_floating(dtype) && isnan(tn_f64_of_bits(tn_cast_bits(dtype, TN_F64, bits)));
}

static int agree(tn_dtype dtype, uint64_t found, uint64_t expected)
{
	return found == expected || (is_nan(dtype, found) && is_nan(dtype, expected));
}

static int is_function(uint16_t op)
{
	return (tn_op_information(op)->flags & TN_IS_INEXACT) != 0;
}

static tn_dtype result_dtype(uint16_t op, tn_dtype operand)
{
	if (tn_op_information(op)->flags & TN_GIVES_BOOL)
		return TN_BOOL;
	return op == TN_OP_RANDOM ? TN_U32 : operand;
}

static void check_row(const struct cpu_kernels *kernels, const struct cpu_row *row, uint64_t *state)
{
	char a[N * 8], b[N * 8], c[N * 8], found[N * 8];
	tn_dtype operand = column_dtype[row->column], result = result_dtype(row->op, operand);
	tn_dtype first = row->op == TN_OP_SELECT ? TN_BOOL : operand;
	fill(a, first, state);
	fill(b, operand, state);
	fill(c, operand, state);
	row->fn(found, a, b, c, N);
	for (size_t i = 0; i < N; i++) {
		uint64_t x = element(a, first, i), y = element(b, operand, i),
			 z = element(c, operand, i), bits = element(found, result, i);
		uint64_t expected = tn_op_evaluate(row->op, result, operand, x, y, z);
		if (!agree(result, bits, expected))
			fail_msg("%s: opcode %u of dtype %d of %llx, %llx, %llx: %llx, expected "
				 "%llx",
				 kernels->name, row->op, operand, (unsigned long long)x,
				 (unsigned long long)y, (unsigned long long)z,
				 (unsigned long long)bits, (unsigned long long)expected);
	}
}

static void rows_agree_with_the_evaluation_of_single_values(void **unused)
{
	(void)unused;
	const struct cpu_kernels *kernels;
	uint64_t state = 1;
	for (unsigned v = 0; (kernels = cpu_kernels_variant(v)); v++)
		for (const struct cpu_row *const *list = kernels->rows; *list; list++)
			for (const struct cpu_row *row = *list; row->op; row++) {
				for (int round = 0; round < 20 && !is_function(row->op); round++)
					check_row(kernels, row, &state);
			}
}

static void check_cast(const struct cpu_kernels *kernels, const struct cpu_cast_row *row,
		       uint64_t *state)
{
	char a[N * 8], found[N * 8];
	tn_dtype from = row->from, to = row->to;
	fill(a, from, state);
	row->fn(found, a, NULL, NULL, N);
	for (size_t i = 0; i < N; i++) {
		uint64_t bits = element(found, to, i);
		uint64_t expected = tn_cast_bits(from, to, element(a, from, i));
		if (!agree(to, bits, expected))
			fail_msg("%s: dtype %d to %d of %llx: %llx, expected %llx", kernels->name,
				 from, to, (unsigned long long)element(a, from, i),
				 (unsigned long long)bits, (unsigned long long)expected);
	}
}

static void casts_agree_with_the_rules(void **unused)
{
	(void)unused;
	const struct cpu_kernels *kernels;
	uint64_t state = 2;
	for (unsigned v = 0; (kernels = cpu_kernels_variant(v)); v++)
		for (const struct cpu_cast_row *row = kernels->casts; row->from; row++)
			for (int round = 0; round < 20; round++)
				check_cast(kernels, row, &state);
}

static tn_fold_fn fold(const struct cpu_kernels *kernels, uint32_t combiner, uint32_t column)
{
	static struct cpu_block_table table;
	cpu_block_table_fill(&table, kernels);
	return table.folds[combiner][column];
}

/* Small integers, whose sums are exact in any order. */
static void sums_and_extremes_are_exact_on_integers(void **unused)
{
	(void)unused;
	const struct cpu_kernels *kernels;
	for (unsigned v = 0; (kernels = cpu_kernels_variant(v)); v++)
		for (size_t n = 0; n < 300; n += 7) {
			float x[300], sum = 3, largest = -2, least = 2, product = 1;
			int64_t whole[300], total = 3;
			float expected = 3, top = -2, bottom = 2;
			for (size_t i = 0; i < n; i++) {
				x[i] = (float)((int)(i * 37 % 101) - 50);
				whole[i] = (int64_t)x[i];
				expected += x[i];
				top = x[i] > top ? x[i] : top;
				bottom = x[i] < bottom ? x[i] : bottom;
			}
			fold(kernels, TN_REDUCE_SUM, TN_COLUMN_F32)(&sum, x, n);
			fold(kernels, TN_REDUCE_SUM, TN_COLUMN_I64)(&total, whole, n);
			fold(kernels, TN_REDUCE_MAX, TN_COLUMN_F32)(&largest, x, n);
			fold(kernels, TN_REDUCE_MIN, TN_COLUMN_F32)(&least, x, n);
			assert_close(sum, expected, 0);
			assert_close(total, expected, 0);
			assert_close(largest, top, 0);
			assert_close(least, bottom, 0);
			for (size_t i = 0; i < n; i++)
				x[i] = i % 3 ? 1 : -1;
			fold(kernels, TN_REDUCE_PRODUCT, TN_COLUMN_F32)(&product, x, n);
			assert_close(product, (n + 2) / 3 % 2 ? -1 : 1, 0);
		}
}

static void one_nan_anywhere_is_the_extreme(void **unused)
{
	(void)unused;
	const struct cpu_kernels *kernels;
	for (unsigned v = 0; (kernels = cpu_kernels_variant(v)); v++)
		for (size_t place = 0; place < 130; place++) {
			float x[130], largest = -INFINITY, least = NAN;
			for (size_t i = 0; i < 130; i++)
				x[i] = i == place ? NAN : (float)i;
			fold(kernels, TN_REDUCE_MAX, TN_COLUMN_F32)(&largest, x, 130);
			assert_true(isnan(largest));
			fold(kernels, TN_REDUCE_MIN, TN_COLUMN_F32)(&least, x, place);
			assert_true(isnan(least));
		}
}

/* Runs of numbers with any start, and jumps. */
static void random_numbers_have_the_bits_of_the_core(void **unused)
{
	(void)unused;
	enum { COUNT = 500 };
	uint64_t seed[COUNT], stream[COUNT], index[COUNT];
	uint32_t found[COUNT];
	const struct cpu_kernels *kernels;
	for (unsigned v = 0; (kernels = cpu_kernels_variant(v)); v++) {
		static struct cpu_block_table table;
		cpu_block_table_fill(&table, kernels);
		for (uint64_t start = 0; start < 9; start++) {
			for (size_t i = 0; i < COUNT; i++) {
				seed[i] = UINT64_C(0x123456789abcdef0) + (i > 400);
				stream[i] = UINT64_C(0xffffffff00000001);
				index[i] = start + i - (start == 8 ? 20 : 0) + (i > 300 ? 999 : 0);
			}
			table.operations[TN_OP_RANDOM][TN_COLUMN_I64](found, seed, stream, index,
								      COUNT);
			for (size_t i = 0; i < COUNT; i++)
				assert_int_equal(found[i], tn_random(seed[i], stream[i], index[i]));
		}
	}
}

enum jump { NOWHERE, OF_SEED, OF_STREAM, OF_INDEX };

/* n numbers, one run except for a jump at the last one. */
static void check_run(tn_block_fn random, uint64_t start, size_t n, enum jump jump)
{
	enum { MOST = 300 };
	uint64_t seed[MOST], stream[MOST], index[MOST];
	uint32_t found[MOST];
	for (size_t i = 0; i < n; i++) {
		int is_last = i + 1 == n;
		seed[i] = UINT64_C(0xfedcba9876543210) - (is_last && jump == OF_SEED);
		stream[i] = UINT64_C(0x8000000000000003) + (is_last && jump == OF_STREAM);
		index[i] = start + i + (is_last && jump == OF_INDEX);
	}
	random(found, seed, stream, index, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(found[i], tn_random(seed[i], stream[i], index[i]));
}

static void a_run_of_random_numbers_may_break_off_at_its_end(void **unused)
{
	(void)unused;
	const uint64_t starts[] = {0, 1, 3, 0x3fffffff0u, UINT64_MAX - 70};
	const struct cpu_kernels *kernels;
	for (unsigned v = 0; (kernels = cpu_kernels_variant(v)); v++) {
		static struct cpu_block_table table;
		cpu_block_table_fill(&table, kernels);
		tn_block_fn random = table.operations[TN_OP_RANDOM][TN_COLUMN_I64];
		for (size_t s = 0; s < sizeof(starts) / sizeof(*starts); s++)
			for (size_t n = 1; n <= 300; n += n < 20 ? 1 : 35)
				for (int jump = NOWHERE; jump <= OF_INDEX; jump++)
					check_run(random, starts[s], n, (enum jump)jump);
	}
}

static void the_streaming_copy_copies(void **unused)
{
	(void)unused;
	const struct cpu_kernels *kernels;
	for (unsigned v = 0; (kernels = cpu_kernels_variant(v)); v++)
		for (size_t start = 0; start < 70; start++)
			for (size_t n = 0; n < 400; n += 29) {
				char in[600], out[600], expected[600];
				for (size_t i = 0; i < sizeof(in); i++)
					in[i] = (char)(i * 7);
				memset(out, 0x5a, sizeof(out));
				memset(expected, 0x5a, sizeof(expected));
				memcpy(expected + start, in + 5, n);
				kernels->stream_copy(out + start, in + 5, n);
				assert_memory_equal(out, expected, sizeof(out));
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_agree_with_the_evaluation_of_single_values),
		cmocka_unit_test(casts_agree_with_the_rules),
		cmocka_unit_test(sums_and_extremes_are_exact_on_integers),
		cmocka_unit_test(one_nan_anywhere_is_the_extreme),
		cmocka_unit_test(random_numbers_have_the_bits_of_the_core),
		cmocka_unit_test(a_run_of_random_numbers_may_break_off_at_its_end),
		cmocka_unit_test(the_streaming_copy_copies),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
