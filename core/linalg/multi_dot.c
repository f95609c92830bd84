/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The product of a chain of matrices, in the order of the fewest multiplications: that of the
 * matrices i to j is the best over the places of its last product (Cormen, Leiserson, Rivest,
 * Stein, Introduction to Algorithms, matrix-chain multiplication).
 */
#include <tenon/linalg.h>

#include <inttypes.h>
#include <math.h>

#include "array/make.h"
#include "array/result_type.h"
#include "array/shape.h"
#include "base/memory.h"

enum { MOST_MATRICES = 1024 };

struct chain {
	int n;
	const tn_array **arrays; /* of one dtype */
	int16_t *last; /* [i * n + j]: the last product of i to j is that of i to it and the rest */
	double *costs; /* [i * n + j] */
};

/* ---- Checks ----------------------------------------------------------------------------------*/

/* The ends may be vectors. */
static tn_status check_rank(int i, int n, const tn_array *a)
{
	const int is_end = i == 0 || i == n - 1;
	char text[TN_SHAPE_TEXT];
	if (a->rank == 2 || (is_end && a->rank == 1))
		return TN_OK;
	return tn_runtime_fail(a->runtime, TN_SHAPE, "multi_dot",
			       "arrays[%d]: expected a matrix%s, found shape %s", i,
			       is_end ? " or a vector" : "", tn_array_text(a, text));
}

static int64_t rows(const tn_array *a, int i)
{
	return a->rank == 1 && i == 0 ? 1 : a->shape[0];
}

static int64_t columns(const tn_array *a, int i)
{
	return a->rank == 1 ? (i == 0 ? a->shape[0] : 1) : a->shape[1];
}

static tn_status check(int n, const tn_array *const *arrays)
{
	struct tn_runtime *runtime = arrays[0]->runtime;
	char left[TN_SHAPE_TEXT], right[TN_SHAPE_TEXT];
	if (n < 2)
		return tn_runtime_fail(runtime, TN_INVALID_ARGUMENT, "multi_dot",
				       "n: expected 2 or more arrays, found %d", n);
	if (n > MOST_MATRICES)
		return tn_runtime_fail(runtime, TN_LIMIT, "multi_dot",
				       "n: expected at most %d arrays, found %d", MOST_MATRICES, n);
	for (int i = 0; i < n; i++) {
		tn_status status = check_rank(i, n, arrays[i]);
		if (status)
			return status;
		if (i && columns(arrays[i - 1], i - 1) != rows(arrays[i], i))
			return tn_runtime_fail(runtime, TN_SHAPE, "multi_dot",
					       "cannot multiply arrays[%d] and [%d], of shapes %s "
					       "and %s",
					       i - 1, i, tn_array_text(arrays[i - 1], left),
					       tn_array_text(arrays[i], right));
	}
	return TN_OK;
}

/* ---- The order -------------------------------------------------------------------------------*/

static void find_last(struct chain *chain, int i, int j)
{
	const int n = chain->n;
	double least = INFINITY;
	for (int k = i; k < j; k++) {
		const double cost = chain->costs[i * n + k] + chain->costs[(k + 1) * n + j] +
				    (double)rows(chain->arrays[i], i) *
					    (double)columns(chain->arrays[k], k) *
					    (double)columns(chain->arrays[j], j);
		if (cost < least) {
			least = cost;
			chain->last[i * n + j] = (int16_t)k;
		}
	}
	chain->costs[i * n + j] = least;
}

static void find_order(struct chain *chain)
{
	for (int i = 0; i < chain->n; i++)
		chain->costs[i * chain->n + i] = 0;
	for (int length = 1; length < chain->n; length++) {
		for (int i = 0; i + length < chain->n; i++)
			find_last(chain, i, i + length);
	}
}

/* The product of the matrices i to j; those in between are freed. */
static const tn_array *multiply(const struct chain *chain, int i, int j)
{
	if (i == j)
		return chain->arrays[i];
	const int k = chain->last[i * chain->n + j];
	const tn_array *a = multiply(chain, i, k), *b = multiply(chain, k + 1, j);
	const tn_array *product = a && b ? tn_matmul(a, b) : NULL;
	if (k > i)
		tn_array_discard(tn_array_const_cast(a));
	if (k + 1 < j)
		tn_array_discard(tn_array_const_cast(b));
	return product;
}

static tn_status make_chain(struct chain *chain, struct tn_runtime *runtime, int n)
{
	const size_t n_pairs = (size_t)n * (size_t)n;
	chain->n = n;
	chain->arrays = tn_mem_zeroed((size_t)n, sizeof(*chain->arrays));
	chain->last = tn_mem_zeroed(n_pairs, sizeof(*chain->last));
	chain->costs = tn_mem_zeroed(n_pairs, sizeof(*chain->costs));
	if (chain->arrays && chain->last && chain->costs)
		return TN_OK;
	return tn_runtime_fail(runtime, TN_OUT_OF_MEMORY, "multi_dot",
			       "no host memory for the order of %d arrays", n);
}

static void convert(struct chain *chain, const tn_array *const *arrays)
{
	tn_dtype dtype = TN_BOOL;
	for (int i = 0; i < chain->n; i++)
		dtype = i ? tn_result_type(dtype, arrays[i]->dtype) : arrays[0]->dtype;
	for (int i = 0; i < chain->n; i++)
		chain->arrays[i] =
			arrays[i]->dtype == dtype ? arrays[i] : tn_astype(arrays[i], dtype);
}

tn_array *tn_multi_dot(int n, const tn_array *const *arrays)
{
	if (n < 1 || !arrays)
		return NULL;
	struct tn_runtime *runtime = tn_begin((uint32_t)n, arrays, "multi_dot");
	struct chain chain = {.n = 0};
	const tn_array *product = NULL;
	if (!runtime || check(n, arrays) || tn_scope_begin(runtime->context))
		return NULL;
	tn_status status = make_chain(&chain, runtime, n);
	if (!status) {
		convert(&chain, arrays);
		status = runtime->error.status;
	}
	if (!status) {
		find_order(&chain);
		product = multiply(&chain, 0, n - 1);
	}
	tn_mem_free(chain.arrays);
	tn_mem_free(chain.last);
	tn_mem_free(chain.costs);
	return tn_scope_end(runtime->context, tn_array_const_cast(product));
}
