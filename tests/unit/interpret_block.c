/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Every portable kernel against the scalar semantics, on edge values and random ones.
 */
#include "interpret_fixture.h"

#include "base/bits.h"
#include "interpret/block.h"
#include "program/opcode.h"

static const tn_dtype compute[] = {TN_BOOL, TN_I32, TN_U32, TN_I64, TN_F32, TN_F64};
#define N_COMPUTE 6

/* Values at the limits of every range and around rounding boundaries, as doubles; the others are
 * random. */
static const double edges[] = {0,
			       -0.0,
			       1,
			       -1,
			       0.5,
			       -0.5,
			       1.5,
			       2.5,
			       -2.5,
			       3,
			       31,
			       32,
			       33,
			       63,
			       64,
			       127.5,
			       128,
			       -128,
			       -129,
			       255,
			       256,
			       32767,
			       32768,
			       65504,
			       65519.99,
			       65520,
			       65535,
			       65536,
			       2147483647.0,
			       2147483648.0,
			       -2147483648.0,
			       -2147483649.0,
			       4294967295.0,
			       4294967296.0,
			       9223372036854774784.0,
			       9223372036854775808.0,
			       -9223372036854775808.0,
			       18446744073709549568.0,
			       18446744073709551616.0,
			       1e-45,
			       1e-40,
			       6.1e-5,
			       5.9e-8,
			       2.9e-8,
			       3.0e-8,
			       1e38,
			       3.5e38,
			       -3.5e38,
			       1e308,
			       1e-320,
			       88.7,
			       -104,
			       710,
			       -746,
			       INFINITY,
			       -INFINITY,
			       NAN};
#define N_EDGES (sizeof(edges) / sizeof(*edges))
#define N_VALUES 160

/* Value i of a dtype's list: edges, then random bits and random small numbers. */
static uint64_t listed(tn_dtype dtype, uint64_t stream, size_t i)
{
	uint64_t bits;
	if (i < N_EDGES) {
		memcpy(&bits, &edges[i], sizeof(bits));
		return tn_cast_bits(TN_F64, dtype, bits);
	}
	if (i % 2 || dtype == TN_BOOL)
		return value_of(dtype, stream, i);
	bits = (uint64_t)tn_random(5, stream, i) << 32 | tn_random(6, stream, i);
	return tn_cast_bits(dtype, dtype, bits);
}

static void put(void *block, tn_dtype dtype, size_t i, uint64_t bits)
{
	size_t size = tn_dtype_size(dtype);
	memcpy((char *)block + i * size, &bits, size);
}

static uint64_t get(const void *block, tn_dtype dtype, size_t i)
{
	uint64_t bits = 0;
	size_t size = tn_dtype_size(dtype);
	memcpy(&bits, (const char *)block + i * size, size);
	return bits;
}

/* Arithmetic is exact.  libm's functions are within 2 ulp for f32 and f64 both (its manual, "Known
 * Maximum Errors"), the evaluator's f32 results within 1/2, and its f64 ones are libm's own;
 * 1 / sqrt is rounded twice. */
static double ulps_of(uint16_t op)
{
	if (op == TN_OP_RSQRT)
		return 1.5;
	return tn_op_information(op)->flags & TN_IS_INEXACT ? 3 : 0;
}

static tn_dtype result_of(uint16_t op, tn_dtype typed)
{
	if (op == TN_OP_RANDOM)
		return TN_U32;
	if (op == TN_OP_NORMAL)
		return TN_F32;
	return tn_op_information(op)->flags & TN_GIVES_BOOL ? TN_BOOL : typed;
}

static void check_kernel(uint16_t op, tn_dtype typed, tn_block_fn fn, int in_place)
{
	_Alignas(64) uint64_t a[N_VALUES], b[N_VALUES], c[N_VALUES], d[N_VALUES + 1], old[N_VALUES];
	tn_dtype dtype = result_of(op, typed);
	tn_dtype first = op == TN_OP_SELECT ? TN_BOOL : typed;
	int arity = tn_op_information(op)->arity;
	for (size_t i = 0; i < N_VALUES; i++) {
		/* Edges against all edges over a few shifts; the last list is plain. */
		put(a, first, i, listed(first, 1, i));
		put(b, typed, i, listed(typed, 2, (i * 7 + op) % N_VALUES));
		put(c, typed, i, listed(typed, 3, (i * 11 + 3) % N_VALUES));
	}
	memcpy(old, a, sizeof(old));
	memset(d, SENTINEL, sizeof(d));
	void *result = in_place ? (void *)a : (void *)d;
	size_t n = N_VALUES - 3;
	fn(result, a, arity > 1 ? b : NULL, arity > 2 ? c : NULL, n);
	for (size_t i = 0; i < n; i++) {
		uint64_t x = get(old, first, i), y = arity > 1 ? get(b, typed, i) : 0;
		uint64_t z = arity > 2 ? get(c, typed, i) : 0;
		uint64_t expected = tn_op_evaluate(op, dtype, typed, x, y, z);
		uint64_t found = get(result, dtype, i);
		if (!values_agree(dtype, found, expected, ulps_of(op),
				  dtype == TN_F32 ? 0x1p-126 : 0x1p-1022))
			fail_msg("%s of dtype %d at %zu: %#llx %#llx %#llx gave %#llx, not %#llx",
				 tn_op_information(op)->name, typed, i, (unsigned long long)x,
				 (unsigned long long)y, (unsigned long long)z,
				 (unsigned long long)found, (unsigned long long)expected);
	}
	if (!in_place)
		assert_int_equal(get(d, dtype, n) & 0xff, SENTINEL);
}

static void every_operation_is_the_evaluators(void **state)
{
	unsigned checked = 0;
	(void)state;
	for (uint16_t op = 0; op < TN_OP_COUNT; op++) {
		for (int column = 0; column < TN_COLUMNS; column++) {
			tn_block_fn fn = tn_block_operation(op, column);
			if (!fn || op == TN_OP_BITCAST)
				continue;
			tn_dtype dtype = result_of(op, compute[column]);
			check_kernel(op, compute[column], fn, 0);
			if (op != TN_OP_SELECT &&
			    tn_dtype_size(dtype) == tn_dtype_size(compute[column]))
				check_kernel(op, compute[column], fn, 1);
			checked++;
		}
	}
	assert_true(checked > 150);
}

/* The table has exactly the operations that programs allow. */
static void the_table_holds_what_opcodes_allow(void **state)
{
	(void)state;
	for (uint16_t op = 0; op < TN_OP_COUNT; op++) {
		const struct tn_op_info *info = tn_op_information(op);
		if (!info->name || op == TN_OP_CAST || op == TN_OP_BITCAST ||
		    (info->flags & TN_HAS_ONE_TYPE))
			continue;
		for (int column = 0; column < TN_COLUMNS; column++) {
			unsigned needs = column == TN_COLUMN_BOOL ? TN_TAKES_BOOL
					 : column < TN_COLUMN_F32 ? TN_TAKES_INTEGERS
								  : TN_TAKES_FLOATS;
			int allowed = (info->flags & needs) != 0;
			if (allowed != (tn_block_operation(op, column) != NULL))
				fail_msg("%s, column %d", info->name, column);
		}
	}
	assert_null(tn_block_operation(TN_OP_COUNT, 0));
	assert_null(tn_block_operation(TN_OP_ADD, -1));
	assert_null(tn_block_operation(TN_OP_ADD, TN_COLUMNS));
	assert_null(tn_block_operation(0, 0));
}

static void check_cast(tn_dtype from, tn_dtype to)
{
	_Alignas(64) uint64_t source[N_VALUES], target[N_VALUES];
	tn_block_fn fn = tn_block_cast((uint32_t)from, (uint32_t)to);
	assert_non_null(fn);
	for (size_t i = 0; i < N_VALUES; i++)
		put(source, from, i, listed(from, 4, i));
	fn(target, source, NULL, NULL, N_VALUES);
	for (size_t i = 0; i < N_VALUES; i++) {
		uint64_t bits = get(source, from, i), found = get(target, to, i);
		uint64_t expected = tn_cast_bits(from, to, bits);
		/* The payload of a NaN is not compared. */
		if (found != expected &&
		    !(isnan(number_of_bits(to, found)) && isnan(number_of_bits(to, expected))))
			fail_msg("cast %d to %d of %#llx gave %#llx, not %#llx", from, to,
				 (unsigned long long)bits, (unsigned long long)found,
				 (unsigned long long)expected);
	}
}

static void every_cast_is_the_evaluators(void **state)
{
	(void)state;
	for (tn_dtype from = 1; from < TN_DTYPES; from++) {
		for (tn_dtype to = 1; to < TN_DTYPES; to++) {
			if (from != to && tn_compute_dtype(from) && tn_compute_dtype(to))
				check_cast(from, to);
		}
	}
	assert_null(tn_block_cast(TN_F32, TN_F32));
	assert_null(tn_block_cast(TN_C64, TN_F32));
	assert_null(tn_block_cast(TN_F32, TN_C128));
	assert_null(tn_block_cast(99, TN_F32));
}

/* Exhaustive where it is cheap: all halves, and all f32 that round to them. */
static void half_formats_are_exact(void **state)
{
	(void)state;
	for (uint32_t h = 0; h < 65536; h++) {
		uint16_t half = (uint16_t)h, back;
		float value, neighbours[4];
		uint16_t rounded[4];
		tn_block_cast(TN_F16, TN_F32)(&value, &half, NULL, NULL, 1);
		assert_true(tn_bits_of_f32(value) == tn_bits_of_f32(tn_f32_of_f16(half)));
		uint32_t bits = (uint32_t)tn_bits_of_f32(value);
		for (int k = 0; k < 4; k++)
			neighbours[k] = tn_f32_of_bits(bits + 0xfffu + (uint32_t)k);
		tn_block_cast(TN_F32, TN_F16)(rounded, neighbours, NULL, NULL, 4);
		for (int k = 0; k < 4; k++)
			assert_int_equal(rounded[k], tn_f16_of_f32(neighbours[k]));
		tn_block_cast(TN_BF16, TN_F32)(&value, &half, NULL, NULL, 1);
		tn_block_cast(TN_F32, TN_BF16)(&back, &value, NULL, NULL, 1);
		assert_int_equal(back, tn_bf16_of_f32(value));
	}
}

static const uint16_t opcode_of[] = {0, TN_OP_ADD, TN_OP_MUL, TN_OP_MAX, TN_OP_MIN};

/* A fold must equal combining one by one: exactly, except for the rounding of floating sums and
 * products, at most n - 1 times half an ulp of the sum of magnitudes. */
static void check_fold(uint32_t combiner, int column, size_t n, int with_nan)
{
	tn_dtype dtype = compute[column];
	tn_fold_fn fn = tn_block_fold(combiner, column);
	uint64_t block[256], acc = 0, expected;
	double magnitude = 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t bits = value_of(dtype, 8, i);
		if (with_nan && i == n / 2)
			bits = listed(dtype, 0, N_EDGES - 1);
		put(block, dtype, i, bits);
		magnitude += fabs(number_of_bits(dtype, bits));
	}
	acc = expected = value_of(dtype, 9, 0);
	for (size_t i = 0; i < n; i++)
		expected = tn_op_evaluate(opcode_of[combiner], dtype, dtype, expected,
					  get(block, dtype, i), 0);
	fn(&acc, block, n);
	double scale = combiner == TN_REDUCE_SUM ? magnitude + 9 : 0;
	double ulps = combiner > TN_REDUCE_PRODUCT ? 0 : (double)(n + 16);
	if (!values_agree(dtype, acc, expected, ulps, scale))
		fail_msg("fold %u of dtype %d, %zu values: %#llx, not %#llx", combiner, dtype, n,
			 (unsigned long long)acc, (unsigned long long)expected);
}

static void folds_join_all_values(void **state)
{
	(void)state;
	for (uint32_t combiner = TN_REDUCE_SUM; combiner <= TN_REDUCE_MIN; combiner++) {
		for (int column = TN_COLUMN_I32; column < TN_COLUMNS; column++) {
			for (size_t n = 1; n < 200; n += n < 40 ? 1 : 13) {
				check_fold(combiner, column, n, 0);
				check_fold(combiner, column, n, column >= TN_COLUMN_F32);
			}
		}
	}
}

static void random_kernel_finds_runs(void **state)
{
	uint64_t seed[100], stream[100], index[100];
	uint32_t words[100];
	(void)state;
	for (size_t i = 0; i < 100; i++) {
		seed[i] = i < 30 ? 1 : 2;
		stream[i] = i < 71 ? 5 : UINT64_MAX;
		index[i] = i % 17 == 16 ? 3 : i + 1000;
	}
	tn_block_random(words, seed, stream, index, 100);
	for (size_t i = 0; i < 100; i++)
		assert_int_equal(words[i], tn_random(seed[i], stream[i], index[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_operation_is_the_evaluators),
		cmocka_unit_test(the_table_holds_what_opcodes_allow),
		cmocka_unit_test(every_cast_is_the_evaluators),
		cmocka_unit_test(half_formats_are_exact),
		cmocka_unit_test(folds_join_all_values),
		cmocka_unit_test(random_kernel_finds_runs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
