/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * The properties of every dtype; other numbers have none.
 */
#include "base/dtype.h"

#include <math.h>
#include <tenon/status.h>

#include "check.h"

static const struct {
	tn_dtype dtype;
	const char *name;
	size_t size;
	unsigned kind;
	tn_dtype compute;
	int digits;
} rows[] = {
	{TN_BOOL, "bool", 1, TN_KIND_BOOL, TN_BOOL, 0},
	{TN_I8, "i8", 1, TN_KIND_SIGNED, TN_I32, 0},
	{TN_I16, "i16", 2, TN_KIND_SIGNED, TN_I32, 0},
	{TN_I32, "i32", 4, TN_KIND_SIGNED, TN_I32, 0},
	{TN_I64, "i64", 8, TN_KIND_SIGNED, TN_I64, 0},
	{TN_U8, "u8", 1, TN_KIND_UNSIGNED, TN_I32, 0},
	{TN_U16, "u16", 2, TN_KIND_UNSIGNED, TN_I32, 0},
	{TN_U32, "u32", 4, TN_KIND_UNSIGNED, TN_U32, 0},
	{TN_U64, "u64", 8, TN_KIND_UNSIGNED, TN_I64, 0},
	{TN_F16, "f16", 2, TN_KIND_FLOATING, TN_F32, 11},
	{TN_BF16, "bf16", 2, TN_KIND_FLOATING, TN_F32, 8},
	{TN_F32, "f32", 4, TN_KIND_FLOATING, TN_F32, 24},
	{TN_F64, "f64", 8, TN_KIND_FLOATING, TN_F64, 53},
	{TN_C64, "c64", 8, TN_KIND_COMPLEX, 0, 0},
	{TN_C128, "c128", 16, TN_KIND_COMPLEX, 0, 0},
};
enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

static void every_dtype_has_its_row(void **state)
{
	(void)state;
	for (int i = 0; i < N_ROWS; i++) {
		const tn_dtype dtype = rows[i].dtype;
		const unsigned kind = rows[i].kind;
		assert_string_equal(tn_dtype_name(dtype), rows[i].name);
		assert_int_equal(tn_dtype_size(dtype), rows[i].size);
		assert_int_equal(tn_dtype_information(dtype)->kind, kind);
		assert_int_equal(tn_compute_dtype(dtype), rows[i].compute);
		assert_int_equal(tn_is_floating(dtype), kind == TN_KIND_FLOATING);
		assert_int_equal(tn_is_complex(dtype), kind == TN_KIND_COMPLEX);
		assert_int_equal(tn_is_unsigned(dtype), kind == TN_KIND_UNSIGNED);
		assert_int_equal(tn_is_integer(dtype),
				 kind == TN_KIND_SIGNED || kind == TN_KIND_UNSIGNED);
		assert_int_equal(tn_dtype_information(dtype)->digits, rows[i].digits);
		assert_true(tn_half_unit(dtype) ==
			    (tn_is_floating(dtype) ? ldexp(1, -rows[i].digits) : 0));
		assert_int_equal(tn_is_narrow(dtype), dtype == TN_F16 || dtype == TN_BF16);
		assert_int_equal(tn_dtype_information(dtype)->value_of != NULL,
				 tn_is_floating(dtype));
		assert_int_equal(tn_dtype_information(dtype)->bits_of != NULL,
				 tn_is_floating(dtype));
		assert_int_equal(tn_is_compute_dtype(dtype), rows[i].compute == dtype);
	}
}

/* A row missing from this test would be an untested dtype. */
static void the_table_has_no_other_rows(void **state)
{
	int n = 0;
	(void)state;
	for (tn_dtype dtype = 0; dtype < TN_DTYPES; dtype++) {
		const struct tn_dtype_info *row = &tn_dtype_table[dtype];
		n += row->kind != 0;
		assert_non_null(row->name);
		assert_int_equal(row->kind != 0, tn_dtype_size(dtype) != 0);
		if (row->compute) /* what is computed in is computed in itself */
			assert_true(tn_is_compute_dtype(row->compute));
	}
	assert_int_equal(n, N_ROWS);
}

static void other_numbers_are_no_dtypes(void **state)
{
	static const tn_dtype others[] = {
		0,         -1,           TN_DTYPES,       TN_DTYPES + TN_F32,
		255,       256 + TN_F32, TN_DTYPE_VENDOR, TN_DTYPE_VENDOR + TN_F32,
		INT32_MIN, INT32_MAX};
	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		assert_string_equal(tn_dtype_name(others[i]), "unknown");
		assert_int_equal(tn_dtype_size(others[i]), 0);
		assert_int_equal(tn_dtype_information(others[i])->kind, 0);
		assert_int_equal(tn_compute_dtype(others[i]), 0);
		assert_false(tn_is_floating(others[i]));
		assert_false(tn_is_complex(others[i]));
		assert_false(tn_is_unsigned(others[i]));
		assert_false(tn_is_integer(others[i]));
		assert_false(tn_is_compute_dtype(others[i]));
		assert_false(tn_is_narrow(others[i]));
		assert_true(tn_half_unit(others[i]) == 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_dtype_has_its_row),
		cmocka_unit_test(the_table_has_no_other_rows),
		cmocka_unit_test(other_numbers_are_no_dtypes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
