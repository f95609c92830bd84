/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Sorting and scans on the CUDA backend, compared with the reference: lines for one block and for
 * several, adjacent and strided elements, one line and many.
 */
#include <math.h>
#include <unistd.h>

#include "base/dtype.h"
#include "cuda_fixture.h"

enum { MOST = 140000 };

/* The built-in backend is the last. */
static tn_array *to_reference(const tn_array *array)
{
	tn_context *context = tn_array_context(array);
	return tn_to(array, tn_context_device(context, tn_context_device_count(context) - 1));
}

static uint64_t random_bits(void)
{
	static uint64_t state = 88172645463325252u;
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Half of the numbers are from few values, so that ties occur; some floating ones are NaN. */
static tn_array *numbers(tn_context *context, tn_dtype dtype, int64_t lines, int64_t n)
{
	static const double few[] = {0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, 2.5};
	static uint64_t whole[MOST];
	static double real[MOST];
	const int64_t shape[] = {lines, n};
	assert_true(lines * n <= MOST);
	for (int64_t i = 0; i < lines * n; i++) {
		uint64_t bits = random_bits();
		whole[i] = bits & 1 ? bits >> 1 : bits >> 1 & 7;
		real[i] = bits & 1 ? (double)(int64_t)bits / 1e15 : few[bits >> 1 & 7];
	}
	if (tn_is_floating(dtype))
		return tn_astype(tn_from_host(context, TN_F64, 2, shape, real), dtype);
	return tn_astype(tn_from_host(context, TN_U64, 2, shape, whole), dtype);
}

static void assert_same(const tn_array *found, const tn_array *expected, const char *what)
{
	static char a[MOST * 8], b[MOST * 8];
	const size_t size = (size_t)tn_array_size(found) * tn_dtype_size(tn_array_dtype(found));
	assert_ok(tn_to_host(found, a, size));
	assert_ok(tn_to_host(expected, b, size));
	if (memcmp(a, b, size) != 0)
		fail_msg("%s: not what the reference says", what);
}

/* All that ran was native. */
static void assert_native(tn_context *context, const char *operation)
{
	struct tn_ledger_row row = {.struct_size = sizeof(row)};
	for (size_t i = 0; i < tn_ledger_count(context); i++) {
		assert_ok(tn_ledger_at(context, i, &row));
		if (!strcmp(row.operation, operation) && row.native && !row.host)
			return;
	}
	fail_msg("%s did not run on the device", operation);
}

/* ---- Order -----------------------------------------------------------------------------------*/

static void order(const tn_array *x, int axis, int descending, int64_t k)
{
	char what[128];
	const tn_array *y = to_reference(x);
	snprintf(what, sizeof(what), "%s, %lld x %lld, axis %d, descending %d, %lld of them",
		 tn_dtype_name(tn_array_dtype(x)), (long long)tn_array_shape(x)[0],
		 (long long)tn_array_shape(x)[1], axis, descending, (long long)k);
	if (k) {
		tn_array *at = NULL, *expected = NULL;
		assert_same(tn_topk(x, k, axis, descending, &at),
			    tn_topk(y, k, axis, descending, &expected), what);
		assert_same(at, expected, what);
		return;
	}
	assert_same(tn_sort(x, axis, descending), tn_sort(y, axis, descending), what);
	assert_same(tn_argsort(x, axis, descending), tn_argsort(y, axis, descending), what);
}

static void lines_of_every_length_are_in_order(void **state)
{
	static const int64_t shapes[][2] = {{1, 1},    {700, 2}, {3, 5},    {70, 33}, {2, 300},
					    {5, 2048}, {1, 100}, {3, 2049}, {2, 9000}};
	(void)state;
	tn_context *context = open_deferred();
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		tn_scope_begin(context);
		tn_array *x = numbers(context, TN_F32, shapes[i][0], shapes[i][1]);
		order(x, 1, i % 2 == 0, 0);
		order(tn_transpose(x, NULL), 0, i % 2, 0);
		order(tn_transpose(tn_copy(tn_transpose(x, NULL)), NULL), 1, 0, 1);
		order(tn_slice(x, 1, INT64_MIN, INT64_MIN, -1), 1, 1, (shapes[i][1] + 1) / 2);
		tn_scope_end(context, NULL);
	}
	assert_native(context, "sort");
	tn_context_close(context);
}

static void every_dtype_has_its_order(void **state)
{
	static const tn_dtype one_of_each_size[] = {TN_I8, TN_I16, TN_I32, TN_I64};
	(void)state;
	tn_context *context = open_cuda(NULL);
	for (tn_dtype dtype = 1; dtype < TN_DTYPES; dtype++) {
		if (!tn_compute_dtype(dtype))
			continue;
		tn_scope_begin(context);
		order(numbers(context, dtype, 3, 77), 1, 0, 0);
		order(numbers(context, dtype, 77, 3), 0, 1, 0);
		tn_scope_end(context, NULL);
	}
	for (int i = 0; i < 4; i++)
		order(numbers(context, one_of_each_size[i], 2, 5000), 1, i % 2, 0);
	/* More parts than a warp has threads. */
	order(numbers(context, TN_U8, 1, 140000), 1, 1, 0);
	assert_native(context, "sort");
	tn_context_close(context);
}

/* ---- Running reductions ----------------------------------------------------------------------*/

typedef tn_array *running(const tn_array *a, int axis);

/* Numbers with few bits, whose sums are exact. */
static tn_array *small_numbers(tn_context *context, tn_dtype dtype, int64_t lines, int64_t n)
{
	static double values[MOST];
	assert_true(lines * n <= MOST);
	for (int64_t i = 0; i < lines * n; i++)
		values[i] = (double)(random_bits() % 9) - 4;
	return tn_astype(tn_from_host(context, TN_F64, 2, (int64_t[]){lines, n}, values), dtype);
}

static void scan(running *run, const tn_array *x, int axis, const char *name)
{
	char what[128];
	snprintf(what, sizeof(what), "%s of %s, %lld x %lld, axis %d", name,
		 tn_dtype_name(tn_array_dtype(x)), (long long)tn_array_shape(x)[0],
		 (long long)tn_array_shape(x)[1], axis);
	assert_same(run(x, axis), run(to_reference(x), axis), what);
}

static void lines_of_every_length_are_summed(void **state)
{
	static const int64_t shapes[][2] = {{1, 1},    {700, 2},  {3, 5},    {70, 33},
					    {2, 300},  {5, 4096}, {1, 1025}, {3, 12289},
					    {600, 60}, {1, 40000}};
	(void)state;
	tn_context *context = open_deferred();
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		tn_scope_begin(context);
		tn_array *x = small_numbers(context, TN_F32, shapes[i][0], shapes[i][1]);
		scan(tn_cumsum, x, 1, "sum");
		scan(tn_cumsum, tn_transpose(tn_copy(tn_transpose(x, NULL)), NULL), 1, "sum");
		scan(tn_cumsum, tn_slice(x, 1, INT64_MIN, INT64_MIN, -1), 1, "sum");
		tn_scope_end(context, NULL);
	}
	assert_native(context, "cumsum");
	tn_context_close(context);
}

static void every_dtype_is_combined(void **state)
{
	(void)state;
	tn_context *context = open_cuda(NULL);
	for (tn_dtype dtype = 1; dtype < TN_DTYPES; dtype++) {
		if (!tn_compute_dtype(dtype))
			continue;
		tn_scope_begin(context);
		tn_array *x = small_numbers(context, dtype, 3, 50);
		scan(tn_cumsum, x, 1, "sum");
		scan(tn_cumprod, x, 0, "product");
		scan(tn_cummin, x, 1, "min");
		scan(tn_cummax, x, 0, "max");
		tn_scope_end(context, NULL);
	}
	/* NaN stays, in later parts too. */
	tn_array *x = tn_affine(small_numbers(context, TN_F32, 1, 20000), 1, 0.5);
	(void)tn_fill(tn_slice(x, 1, 3000, 3001, 1), NAN);
	double last = 0;
	for (int is_min = 0; is_min < 2; is_min++) {
		tn_array *y = is_min ? tn_cummin(x, 1) : tn_cummax(x, 1);
		assert_ok(tn_item(tn_slice(y, 1, 2999, 3000, 1), &last));
		assert_true(last == (is_min ? -3.5 : 4.5));
		assert_ok(tn_item(tn_sum(tn_slice(y, 1, 3000, 20000, 1), TN_ALL_AXES, NULL, 0),
				  &last));
		assert_true(isnan(last));
		assert_ok(tn_item(tn_slice(y, 1, 19999, 20000, 1), &last));
		assert_true(isnan(last));
	}
	tn_context_close(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_every_length_are_in_order),
		cmocka_unit_test(every_dtype_has_its_order),
		cmocka_unit_test(lines_of_every_length_are_summed),
		cmocka_unit_test(every_dtype_is_combined),
	};
	if (access(SIMCUDA_REAL "/libnvrtc.so.13", R_OK))
		return TEST_SKIPPED;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
