/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Matrix products of integers and of bool compared with plain loops modulo 2^64, for tests on
 * several backends.
 */
#ifndef TN_TESTS_INTEGER_CHECKS_H
#define TN_TESTS_INTEGER_CHECKS_H

#include <stdlib.h>
#include <tenon/tenon.h>

#include "check.h"

enum { BATCH = 3, M = 5, N = 7, K = 300 };

static inline uint64_t next_bits(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed ^ *seed >> 29;
}

/* Stores the low bytes of a number, which of bool is 0 or 1. */
static inline void put_bits(void *data, tn_dtype dtype, int64_t i, uint64_t bits)
{
	size_t size = tn_dtype_size(dtype);
	if (dtype == TN_BOOL)
		bits = bits != 0;
	for (size_t k = 0; k < size; k++)
		((unsigned char *)data)[(size_t)i * size + k] = (unsigned char)(bits >> 8 * k);
}

/* As i64, sign-extended or not as the type is. */
static inline uint64_t get_bits(const void *data, tn_dtype dtype, int64_t i)
{
	const int is_signed = dtype >= TN_I8 && dtype <= TN_I64;
	size_t size = tn_dtype_size(dtype);
	uint64_t bits = 0;
	for (size_t k = 0; k < size; k++)
		bits |= (uint64_t)((const unsigned char *)data)[(size_t)i * size + k] << 8 * k;
	if (is_signed && size < 8 && bits >> (8 * size - 1))
		bits |= ~UINT64_C(0) << 8 * size;
	return bits;
}

/* Numbers of every magnitude; of bool one in sixteen is true. */
static inline void *make_bits(tn_dtype dtype, uint64_t seed, int64_t n)
{
	void *data = calloc((size_t)n + 1, tn_dtype_size(dtype));
	for (int64_t i = 0; i < n; i++) {
		uint64_t bits = next_bits(&seed);
		put_bits(data, dtype, i, dtype == TN_BOOL ? bits % 16 == 0 : bits);
	}
	return data;
}

/* c := alpha a b + beta c in plain loops, modulo 2^64. */
static inline void multiply_bits(tn_dtype dtype, const void *a, const void *b, void *c, int64_t k,
				 int64_t alpha, int64_t beta)
{
	for (int64_t i = 0; i < BATCH * M; i++) {
		for (int64_t j = 0; j < N; j++) {
			uint64_t sum = 0, old = get_bits(c, dtype, i * N + j);
			for (int64_t x = 0; x < k; x++) {
				uint64_t term = get_bits(a, dtype, i * k + x) *
						get_bits(b, dtype, (i / M * k + x) * N + j);
				sum = dtype == TN_BOOL ? sum | term : sum + term;
			}
			sum *= (uint64_t)alpha;
			if (beta && dtype == TN_BOOL)
				sum |= old;
			else if (beta)
				sum += (uint64_t)beta * old;
			put_bits(c, dtype, i * N + j, sum);
		}
	}
}

static inline void check_bits(const tn_array *found, tn_dtype dtype, const void *expected,
			      const char *name)
{
	size_t size = (size_t)tn_array_size(found) * tn_dtype_size(dtype);
	char *data = calloc(1, size + 1);
	assert_int_equal(tn_array_dtype(found), dtype);
	assert_ok(tn_to_host(found, data, size));
	for (size_t i = 0; i < size / tn_dtype_size(dtype); i++) {
		if (get_bits(data, dtype, (int64_t)i) != get_bits(expected, dtype, (int64_t)i))
			fail_msg("%s of %s, element %zu: expected %lld, found %lld", name,
				 tn_dtype_name(dtype), i,
				 (long long)get_bits(expected, dtype, (int64_t)i),
				 (long long)get_bits(data, dtype, (int64_t)i));
	}
	free(data);
}

static inline void check_integer_products_of(tn_context *context, tn_dtype dtype)
{
	const int64_t a_shape[] = {BATCH, M, K}, b_shape[] = {BATCH, K, N};
	const int64_t c_shape[] = {BATCH, M, N}, wide_shape[] = {BATCH, M, 2 * N};
	const int is_bool = dtype == TN_BOOL;
	const int64_t alpha = is_bool ? 1 : -3, beta = is_bool ? 1 : 7;
	void *a_data = make_bits(dtype, 1, BATCH * M * K);
	void *b_data = make_bits(dtype, 2, BATCH * K * N);
	void *c_data = make_bits(dtype, 3, BATCH * M * N);
	assert_ok(tn_scope_begin(context));
	tn_array *a = tn_from_host(context, dtype, 3, a_shape, a_data);
	tn_array *b = tn_from_host(context, dtype, 3, b_shape, b_data);
	tn_array *c = tn_from_host(context, dtype, 3, c_shape, c_data);
	tn_array *wide = tn_zeros(context, dtype, 3, wide_shape);
	tn_array *strided = tn_slice(wide, 2, 1, 2 * N, 2);
	assert_ok(tn_assign(strided, c));
	/* With C, into a compact array and into every second column. */
	multiply_bits(dtype, a_data, b_data, c_data, K, alpha, beta);
	assert_ok(tn_matmul_into(c, a, 0, b, 0, (double)alpha, (double)beta));
	check_bits(c, dtype, c_data, "a product with C");
	assert_ok(tn_matmul_into(strided, a, 0, b, 0, (double)alpha, (double)beta));
	check_bits(strided, dtype, c_data, "a product into columns");
	/* Operands of other strides: transposed, reversed. */
	multiply_bits(dtype, a_data, b_data, c_data, K, 1, 0);
	check_bits(tn_matmul(a, b), dtype, c_data, "a product");
	tn_array *a_turned = tn_copy(tn_transpose(a, (const int[]){0, 2, 1}));
	tn_array *b_turned = tn_copy(tn_transpose(b, (const int[]){0, 2, 1}));
	assert_ok(tn_matmul_into(c, a_turned, 1, b_turned, 1, 1, 0));
	check_bits(c, dtype, c_data, "a product of transposed operands");
	tn_array *a_back = tn_slice(tn_copy(tn_slice(a, 2, INT64_MIN, INT64_MIN, -1)), 2, INT64_MIN,
				    INT64_MIN, -1);
	check_bits(tn_matmul(a_back, b), dtype, c_data, "a product of a reversed operand");
	/* Nothing to sum. */
	tn_array *none = tn_slice(a, 2, 0, 0, 1), *nothing = tn_slice(b, 1, 0, 0, 1);
	multiply_bits(dtype, a_data, b_data, c_data, 0, 1, beta);
	assert_ok(tn_matmul_into(c, none, 0, nothing, 0, 1, (double)beta));
	check_bits(c, dtype, c_data, "an empty product with C");
	multiply_bits(dtype, a_data, b_data, c_data, 0, 1, 0);
	check_bits(tn_matmul(none, nothing), dtype, c_data, "an empty product");
	assert_null(tn_error(context));
	tn_scope_end(context, NULL);
	free(a_data);
	free(b_data);
	free(c_data);
}

static inline void check_integer_products(tn_context *context)
{
	for (tn_dtype dtype = TN_BOOL; dtype <= TN_U64; dtype++)
		check_integer_products_of(context, dtype);
}

#endif
