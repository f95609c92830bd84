/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Values put and combined at indices by either way: the backend's scatter with a mode, and what it
 * is composed of; both give the same bits.
 */
#include "device/device.h"
#include "nn_backends.h"

enum { N = 6, COLUMNS = 3, PUT = 8, MOST = 16 * N * COLUMNS };

static tn_context *context;

static const int64_t repeated[PUT] = {4, 1, -2, 1, 0, 4, 1, -6}, distinct[] = {4, 1, -1, 0};

/* A call on `a` (N, COLUMNS) with values (PUT, COLUMNS), or as many rows as distinct indices. */
static const struct row {
	const char *ufunc; /* NULL: tn_index_put with a mode */
	enum tn_index_mode mode;
	int is_distinct, is_mask;
	int scatters; /* where the slot takes the dtype */
} rows[] = {
	{.mode = TN_PUT_ASSIGN, .scatters = 1},
	{.mode = TN_PUT_ASSIGN, .is_mask = 1, .scatters = 1},
	{.mode = TN_PUT_MIN, .scatters = 1},
	{.mode = TN_PUT_MAX, .scatters = 1},
	{.mode = TN_PUT_MAX, .is_distinct = 1, .scatters = 1},
	{.mode = TN_PUT_ADD},
	{.ufunc = "multiply", .scatters = 1},
	{.ufunc = "maximum", .scatters = 1},
	{.ufunc = "minimum", .scatters = 1},
	{.ufunc = "fmax"},
	{.ufunc = "add"},
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static const tn_dtype dtypes[] = {TN_F32, TN_F16, TN_F64, TN_I8, TN_U16, TN_U64, TN_BOOL, TN_C64};
enum { DTYPES = sizeof(dtypes) / sizeof(dtypes[0]) };

/* Powers of two of both signs, so that products in any order are exact, and a NaN where there is
 * one. */
static tn_array *numbers(int64_t rows_of_it, int seed, tn_dtype dtype)
{
	float data[PUT * COLUMNS];
	const int has_nan = dtype == TN_F32 || dtype == TN_F16 || dtype == TN_F64;
	for (int i = 0; i < rows_of_it * COLUMNS; i++)
		data[i] = ldexpf(i % 3 == seed ? -1 : 1, (i * 5 + seed) % 4 - 1);
	if (has_nan)
		data[7 + seed] = NAN;
	return tn_astype(
		tn_from_host(context, TN_F32, 2, (const int64_t[]){rows_of_it, COLUMNS}, data),
		dtype);
}

static tn_status put(const struct row *row, tn_array *a, tn_dtype dtype)
{
	const int64_t n = row->is_distinct || row->is_mask ? 4 : PUT;
	const tn_array *values = numbers(n, 1, dtype);
	tn_array *indices =
		tn_from_host(context, TN_I64, 1, &n, row->is_distinct ? distinct : repeated);
	if (row->ufunc)
		return tn_ufunc_at(tn_ufunc_find(row->ufunc), a, indices, values);
	if (row->is_mask)
		indices = tn_from_host(context, TN_BOOL, 1, (const int64_t[]){N},
				       (const unsigned char[]){1, 0, 1, 1, 0, 1});
	return tn_index_put(a, 1, &TN_BY(indices), values, row->mode);
}

/* Complex numbers have no extremes. */
static int is_refused(const struct row *row, tn_dtype dtype)
{
	const int is_sum = row->ufunc
				   ? !strcmp(row->ufunc, "add") || !strcmp(row->ufunc, "multiply")
				   : row->mode == TN_PUT_ASSIGN || row->mode == TN_PUT_ADD;
	return dtype == TN_C64 && !is_sum;
}

static uint64_t native_runs(const char *operation)
{
	struct tn_ledger_row row = {.struct_size = sizeof(row)};
	for (size_t i = 0; tn_ledger_at(context, i, &row) == TN_OK; i++) {
		if (!strcmp(row.operation, operation))
			return row.native;
	}
	return 0;
}

/* The bytes of the array afterwards; returns how many calls scattered. */
static uint64_t run(const struct row *row, tn_dtype dtype, unsigned char *bytes)
{
	memset(bytes, 0, MOST);
	assert_ok(tn_scope_begin(context));
	tn_array *a = numbers(N, 0, dtype);
	tn_ledger_reset(context);
	const tn_status status = put(row, a, dtype);
	if (status)
		fail_msg("%s in %s: %s", row->ufunc ? row->ufunc : "put", tn_dtype_name(dtype),
			 tn_error(context)->text);
	const uint64_t runs = native_runs("scatter");
	assert_ok(tn_to_host(a, bytes, (size_t)tn_array_size(a) * tn_dtype_size(dtype)));
	tn_scope_end(context, NULL);
	return runs;
}

static void use_slot(int has_it)
{
	const tn_array *any = tn_zeros(context, TN_F32, 0, NULL);
	struct tn_backend *backend = (struct tn_backend *)(uintptr_t)tn_array_device(any)->backend;
	backend->native[TN_SLOT_SCATTER] = (unsigned char)has_it;
}

static unsigned char composed[ROWS][DTYPES][MOST];

static void compare(const struct row *row, tn_dtype dtype, const unsigned char *found,
		    const unsigned char *expected)
{
	if (memcmp(found, expected, MOST) != 0)
		fail_msg("%s (mode %d) in %s", row->ufunc ? row->ufunc : "put", (int)row->mode,
			 tn_dtype_name(dtype));
}

static void the_reference_scatters(void **state)
{
	unsigned char found[MOST];
	(void)state;
	context = open_backend("reference!");
	for (int i = 0; i < ROWS * DTYPES; i++) {
		const struct row *row = &rows[i / DTYPES];
		const tn_dtype dtype = dtypes[i % DTYPES];
		if (is_refused(row, dtype))
			continue;
		/* Elements of any dtype are assigned, but only numbers are combined; truth values
		 * are combined first, then assigned. */
		const int assigns = !row->ufunc && (row->mode == TN_PUT_ASSIGN || dtype == TN_BOOL);
		const int is_number = dtype != TN_BOOL && dtype != TN_C64;
		const int takes = assigns || (row->scatters && is_number);
		use_slot(0);
		assert_int_equal(run(row, dtype, composed[i / DTYPES][i % DTYPES]), 0);
		use_slot(1);
		const uint64_t runs = run(row, dtype, found);
		if (runs != (uint64_t)takes)
			fail_msg("%s (mode %d) in %s: %d scatters", row->ufunc ? row->ufunc : "put",
				 (int)row->mode, tn_dtype_name(dtype), (int)runs);
		compare(row, dtype, found, composed[i / DTYPES][i % DTYPES]);
	}
	tn_context_close(context);
}

static void other_backends_agree(void **state)
{
	static const char *const backends[] = {"auto", "mock"};
	unsigned char found[MOST];
	(void)state;
	for (int b = 0; b < 2; b++) {
		context = open_backend(backends[b]);
		for (int i = 0; i < ROWS * DTYPES; i++) {
			const struct row *row = &rows[i / DTYPES];
			if (is_refused(row, dtypes[i % DTYPES]))
				continue;
			run(row, dtypes[i % DTYPES], found);
			compare(row, dtypes[i % DTYPES], found, composed[i / DTYPES][i % DTYPES]);
		}
		tn_context_close(context);
	}
}

/* Values and indices may be views of the array. */
static void what_is_put_may_overlap(void **state)
{
	(void)state;
	context = open_backend("reference!");
	for (int has_slot = 0; has_slot < 2; has_slot++) {
		int64_t found[4];
		use_slot(has_slot);
		tn_array *a = tn_from_host(context, TN_I64, 1, (const int64_t[]){4},
					   (const int64_t[]){3, 2, 0, 1});
		assert_ok(tn_index_put(a, 1, &TN_BY(a), tn_slice(a, 0, INT64_MIN, INT64_MIN, -1),
				       TN_PUT_ASSIGN));
		assert_ok(tn_to_host(a, found, sizeof(found)));
		/* a[3] = 1, a[2] = 0, a[0] = 2, a[1] = 3 */
		assert_int_equal(found[0], 2);
		assert_int_equal(found[1], 3);
		assert_int_equal(found[2], 0);
		assert_int_equal(found[3], 1);
	}
	tn_context_close(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_reference_scatters),
		cmocka_unit_test(other_backends_agree),
		cmocka_unit_test(what_is_put_may_overlap),
	};
	keep_plugin_path();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
